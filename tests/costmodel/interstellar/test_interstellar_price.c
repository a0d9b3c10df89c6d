/* Tests: interstellar_price.c, interstellar_fit.c, interstellar_detail.c. Each rule on its own, on points of
 * tests/known/interstellar or changes of them; expected values by hand from docs/interstellar.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/interstellar/accounting_interstellar.h"
#include "costmodel/interstellar/interstellar_compiled.h"
#include "costmodel/interstellar/points.h"
#include "tests/support/interstellar_case.h"

enum { I, O, W };

struct fixture {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct evaluator *evaluator;
    struct interstellar_prices prices;
    struct evaluation total;
    int tensor[3];
};

/* Read a line for a machine whose quantities are set already. */
static void price(struct fixture *f, const struct accounting *accounting, const char *line)
{
    struct dse_error err;
    static const char *const names[] = {"Inputs", "Outputs", "Weights"};
    if (points_read_line(line, strlen(line), "test", 1, &f->problem, &f->arch, &f->mapping, &err) != DSE_OK ||
        evaluator_new(accounting, &f->problem, &f->arch, &f->evaluator, &err) != DSE_OK)
        fail_msg("%s", err.text);
    interstellar_price(interstellar_of(f->evaluator), &f->mapping, &f->prices);
    interstellar_sum(interstellar_of(f->evaluator), &f->mapping, &f->prices, &f->total);
    evaluator_delete(f->evaluator);
    for (int i = 0; i < 3; i++)
        f->tensor[i] = problem_find_tensor(&f->problem, names[i]);
}

static void make(struct fixture *f, const char *machine, const uint32_t layer[8])
{
    interstellar_layer(layer, &f->problem);
    interstellar_machine(machine, &f->arch);
}

static double count(const struct fixture *f, uint32_t l, int tensor)
{
    return f->prices.level[l].access[f->tensor[tensor]].count;
}

static const struct interstellar_hops *hops(const struct fixture *f, int tensor)
{
    return &f->prices.level[1].hops[f->tensor[tensor]];
}

static const uint32_t conv1[8] = {16, 96, 3, 56, 56, 11, 11, 4}, conv3[8] = {16, 384, 256, 13, 13, 3, 3, 1};
static const char p01[] = "[IC:8 OC:2 OY:13] / [OC:2 FX:3 OX:13] / [OC:6 FY:3 ON:16 IC:2] ; L0 OC:16 | IC:16";
static const char p17[] = "[IC:1 OX:1 FY:11 OC:1 FX:11] / [OX:2 OC:2 ON:8] / [OY:56 OX:7 OC:3 ON:2] ; "
                          "L0 IC:3 OX:4 | OC:16";

/* P17: the authors' inputs are read 726, 0 and 0 times; soundly a stride of 4 takes at most a filter's reuse,
 * which is all inside level 0, so OC's 2 * 3 and 3 are left. */
static void test_a_stride_takes_no_more_than_the_reuse_along_its_axis(void **state)
{
    (void)state;
    struct fixture f;
    make(&f, "eyeriss512", conv1);
    price(&f, &accounting_interstellar_compat, p17);
    assert_true(count(&f, 0, I) == 726 && count(&f, 1, I) == 0 && count(&f, 2, I) == 0);
    price(&f, &accounting_interstellar, p17);
    assert_true(count(&f, 0, I) == 726 && count(&f, 1, I) == 6 && count(&f, 2, I) == 3);
    assert_true(count(&f, 1, O) == 1 && count(&f, 1, W) == 6272);
}

/* P01: weights are read 2704, 208 and 16 times. If SRAM does not keep them, DRAM serves its 208; for a
 * machine that cannot keep them the authors still charge 16. */
static void test_bypass_is_not_free(void **state)
{
    (void)state;
    struct fixture f;
    make(&f, "eyeriss512", conv3);
    price(&f, &accounting_interstellar, p01);
    assert_true(count(&f, 1, W) == 208 && count(&f, 2, W) == 16);
    static const char bypass[] =
        "[IC:8 OC:2 OY:13] / [OC:2 FX:3 OX:13 -Weights] / [OC:6 FY:3 ON:16 IC:2] ; L0 OC:16 | IC:16";
    price(&f, &accounting_interstellar, bypass);
    assert_true(count(&f, 2, W) == 208 && count(&f, 2, I) == 1);
    assert_true(f.prices.level[1].access[f.tensor[W]].energy_j == 0);
    price(&f, &accounting_interstellar_compat, bypass);
    assert_true(count(&f, 2, W) == 208);
    f.arch.level[1].keep_role &= ~(1u << TENSOR_WEIGHT);
    price(&f, &accounting_interstellar_compat, p01);
    assert_true(count(&f, 2, W) == 16);
    price(&f, &accounting_interstellar, p01);
    assert_true(count(&f, 2, W) == 208);
    /* past an array: SRAM takes every sum of FX, FY and IC, of which the array adds up 16 on the way */
    price(&f, &accounting_interstellar,
          "[IC:8 OC:2 OY:13 -Outputs] / [OC:2 FX:3 OX:13] / [OC:6 FY:3 ON:16 IC:2] ; L0 OC:16 | IC:16");
    assert_true(count(&f, 1, O) == 144);
}

/* P01: near hops 288/288/208. A bus brings the same to each PE; of a tree's 16 partial sums come 16 + 15. */
static void test_links_buses_and_trees(void **state)
{
    (void)state;
    struct fixture f;
    make(&f, "eyeriss512", conv3);
    price(&f, &accounting_interstellar, p01);
    assert_true(hops(&f, I)->near == 288 && hops(&f, O)->near == 288 && hops(&f, W)->near == 208);
    f.arch.level[1].link = ARRAY_TREE;
    price(&f, &accounting_interstellar, p01);
    assert_true(hops(&f, I)->near == 288 && hops(&f, O)->near == 18 * 31 && hops(&f, W)->near == 208);
    /* the paper's Fig. 3: 4 near PEs of C, and K copies 4 PEs apart */
    make(&f, "eyeriss512", conv3);
    price(&f, &accounting_interstellar,
          "[FX:3 FY:3] / [OX:13 OY:13] / [ON:16 IC:64 OC:48] ; L0 IC:4 OC:4 ON:2");
    const double reads = count(&f, 1, I);
    assert_true(hops(&f, I)->near == reads && hops(&f, I)->far[0] == 4 * reads);
    assert_int_equal(f.prices.level[1].distance[0], 4);
    /* ON's copies lie 4 * 4 apart */
    assert_true(hops(&f, W)->far[0] == 4 * 2 * count(&f, 1, W));
    assert_true(hops(&f, O)->near == 4 * count(&f, 1, O) && hops(&f, O)->far[0] == 0);
    f.arch.level[1].link = ARRAY_BROADCAST;
    price(&f, &accounting_interstellar,
          "[FX:3 FY:3] / [OX:13 OY:13] / [ON:16 IC:64 OC:48] ; L0 IC:4 OC:4 ON:2");
    assert_true(hops(&f, I)->near == 4 * reads && f.prices.level[1].distance[0] == 0);
}

/* Steps are those of padded loops, MACs and energy of the layer. P37 has OX and OY 16 for 13. */
static void test_time(void **state)
{
    (void)state;
    struct fixture f;
    make(&f, "eyeriss512", conv3);
    price(&f, &accounting_interstellar,
          "[OX:1 ON:8 OC:16 OY:1] / [FY:3 OX:2 ON:2] / [IC:256 OC:24 FX:3 OY:2] ; L0 OX:8 | OY:8");
    assert_int_equal(f.total.compute_cycle, 8 * 16 * (3 * 2 * 2) * (256 * 24 * 3 * 2));
    assert_int_equal(f.total.latency_cycle, f.total.compute_cycle);
    assert_true(f.total.n_compute == 2392326144.0);
    assert_true(fabs(f.total.utilization - 2392326144.0 / (256 * 56623104.0)) < 1e-15);
    /* a DRAM of 2 words a cycle: I 72, W 2 times, O 2 * 3 - 1, of 921600, 884736 and 1038336 words */
    f.arch.level[2].shared_bandwidth_word_per_cycle = 2;
    f.arch.level[2].fill_latency_cycle = 7;
    price(&f, &accounting_interstellar,
          "[OX:1 ON:8 OC:16 OY:1] / [FY:3 OX:2 ON:2] / [IC:256 OC:24 FX:3 OY:2] ; L0 OX:8 | OY:8");
    assert_int_equal(f.total.compute_cycle, 56623104);
    assert_int_equal(f.total.latency_cycle, 56623104 + 7); /* 73,297,152 words take 36,648,576 */
    f.arch.level[2].shared_bandwidth_word_per_cycle = 1;
    price(&f, &accounting_interstellar,
          "[OX:1 ON:8 OC:16 OY:1] / [FY:3 OX:2 ON:2] / [IC:256 OC:24 FX:3 OY:2] ; L0 OX:8 | OY:8");
    assert_int_equal(f.total.latency_cycle, 921600 * 72 + 884736 * 2 + 1038336 * 5 + 7);
}

/* MACs that hold their operands: P39, where IC inside OC leaves 9, 575 and 2704 visits of a register. */
static void test_macs_that_hold_operands(void **state)
{
    (void)state;
    struct fixture f;
    make(&f, "eyeriss512", conv3);
    f.arch.mac.capacity = 1;
    price(&f, &accounting_interstellar,
          "[IC:8 OC:24] / [OY:13] / [ON:16 FY:3 FX:3 IC:2 OX:13] ; L0 OC:16 | IC:16");
    assert_true(count(&f, 0, O) == 288); /* 2 * 288 - 1 = 575 */
    assert_true(count(&f, 0, I) == 3456);
}

static enum misfit fit_of(struct fixture *f, const struct accounting *accounting, const char *line)
{
    struct misfit_info fit;
    struct dse_error err;
    assert_int_equal(
        points_read_line(line, strlen(line), "test", 1, &f->problem, &f->arch, &f->mapping, &err), DSE_OK);
    assert_int_equal(evaluator_new(accounting, &f->problem, &f->arch, &f->evaluator, &err), DSE_OK);
    (void)interstellar_fits(interstellar_of(f->evaluator), &f->mapping, &fit);
    evaluator_delete(f->evaluator);
    return fit.what;
}

/* What mappers see of the machine. */
static double minimum_of(struct fixture *f, const struct accounting *accounting, uint32_t l)
{
    struct dse_error err;
    assert_int_equal(evaluator_new(accounting, &f->problem, &f->arch, &f->evaluator, &err), DSE_OK);
    double minimum = evaluator_architecture(f->evaluator)->level[l].min_utilization;
    evaluator_delete(f->evaluator);
    return minimum;
}

/* P02 holds 8 + 16 + 32 words of a register of 256: less than half. */
static void test_half_full_is_the_authors_rule_alone(void **state)
{
    (void)state;
    struct fixture f;
    static const char p02[] =
        "[IC:4 ON:2 OC:8] / [ON:8 IC:2 FY:3] / [OX:13 OY:13 IC:2 FX:3 OC:3] ; L0 OC:16 | IC:16";
    make(&f, "eyeriss512", conv3);
    assert_int_equal(fit_of(&f, &accounting_interstellar, p02), FITS);
    assert_int_equal(fit_of(&f, &accounting_interstellar_compat, p02), MISFIT_UTILIZATION);
    f.arch.level[1].min_utilization = 0;
    f.arch.level[0].size_word = 2 * (8 + 16 + 32); /* exactly half full is enough ... */
    assert_int_equal(fit_of(&f, &accounting_interstellar_compat, p02), FITS);
    assert_true(minimum_of(&f, &accounting_interstellar, 0) == 0); /* nor do mappers keep to it */
    assert_true(minimum_of(&f, &accounting_interstellar_compat, 0) == 0.5);
    f.arch.level[0].n_part = 2; /* of several side by side it is not asked for either */
    f.arch.level[0].part[0] = f.arch.level[0].part[1] =
        (struct storage_part){f.arch.level[0].size_word / 2, 1e-12};
    assert_true(minimum_of(&f, &accounting_interstellar_compat, 0) == 0);
    f.arch.level[0].n_part = 1; /* ... but not for one memory in a list ... */
    f.arch.level[0].part[0] = (struct storage_part){f.arch.level[0].size_word, 1e-12};
    assert_int_equal(fit_of(&f, &accounting_interstellar_compat, p02), MISFIT_UTILIZATION);
    f.arch.level[1].keep_role &= ~(1u << TENSOR_WEIGHT); /* ... unless the next level lacks a tensor */
    assert_int_equal(fit_of(&f, &accounting_interstellar_compat, p02), FITS);
}

static void test_what_does_not_fit(void **state)
{
    (void)state;
    struct fixture f;
    make(&f, "eyeriss512", conv3);
    const struct accounting *sane = &accounting_interstellar;
    static const char rest[] = " / [] / [FX:3 FY:3 OX:13 OY:13 IC:256 OC:384 ON:16]";
    char line[256];
    snprintf(line, sizeof line, "[IC:16 OC:16]%s", rest);
    assert_int_equal(fit_of(&f, sane, line), MISFIT_CAPACITY); /* 16 + 16 + 256 of 256 words */
    snprintf(line, sizeof line, "[IC:14 OC:16]%s", rest);
    assert_int_equal(fit_of(&f, sane, line), FITS);              /* 14 + 16 + 224 */
    snprintf(line, sizeof line, "[]%s ; L0 OY:28 | FY:9", rest); /* wider than 16, but 252 PEs */
    assert_int_equal(fit_of(&f, sane, line), FITS);
    snprintf(line, sizeof line, "[]%s ; L0 OY:28 | FY:10", rest);
    assert_int_equal(fit_of(&f, sane, line), MISFIT_INSTANCES);
    snprintf(line, sizeof line, "[]%s ; L1 OY:2", rest);
    assert_int_equal(fit_of(&f, sane, line), MISFIT_FANOUT);
    assert_int_equal(fit_of(&f, sane, "[] / [] / [FX:3 FY:3 OX:13 OY:13 IC:255 OC:384 ON:16]"),
                     MISFIT_FACTORS);
    assert_int_equal(fit_of(&f, sane, "[] / [] / [FX:4294967295]"), MISFIT_FACTORS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stride_takes_no_more_than_the_reuse_along_its_axis),
        cmocka_unit_test(test_bypass_is_not_free),
        cmocka_unit_test(test_links_buses_and_trees),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_macs_that_hold_operands),
        cmocka_unit_test(test_half_full_is_the_authors_rule_alone),
        cmocka_unit_test(test_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
