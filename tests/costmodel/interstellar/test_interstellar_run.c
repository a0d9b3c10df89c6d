/* Tests: interstellar_run.c, interstellar_fit.c, interstellar_checker.c, interstellar_bound.c,
 * interstellar_compiled.c. On random machines and mappings the fast version equals the plain one, the checker
 * says what the fit says, and nothing is below the bound; and value tests of the rules one by one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/interstellar/accounting_interstellar.h"
#include "costmodel/interstellar/interstellar_compiled.h"
#include "costmodel/interstellar/points.h"
#include "tests/engines/small_cases.h"
#include "tests/support/interstellar_case.h"
#include "tests/support/random_case.h"

static const struct accounting *const both[] = {&accounting_interstellar, &accounting_interstellar_compat};

/* What random_case_architecture does not draw. */
static void draw_links(struct random_stream *stream, struct architecture *arch)
{
    arch->mac.capacity = (uint32_t)random_below(stream, 2);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        struct storage_level *level = &arch->level[l];
        level->link = (uint32_t)random_below(stream, ARRAY_LINK_COUNT);
        level->min_utilization = random_below(stream, 4) ? 0 : 0.5;
        if (l + 1 < arch->n_level && level->size_word != ARCH_UNLIMITED && level->size_word > 8 &&
            random_below(stream, 3) == 0) {
            level->n_part = 1 + (uint32_t)random_below(stream, 2);
            level->part[0] = (struct storage_part){level->size_word, 1e-12};
            if (level->n_part == 2) {
                level->part[0].size_word = level->size_word / 3;
                level->part[1] = (struct storage_part){level->size_word - level->part[0].size_word, 2e-12};
                level->part_of[random_below(stream, TENSOR_ROLE_COUNT)] = 1;
            }
        }
    }
}

/* Groups have no memories side by side and no least use. */
static void draw_banks(struct random_stream *stream, const struct problem *problem, struct architecture *arch)
{
    for (uint32_t l = 0; l < arch->n_level; l++) {
        arch->level[l].n_part = 0;
        arch->level[l].min_utilization = 0;
    }
    random_case_banks(stream, problem, arch);
}

/* More iterations than the bound, further array dimensions, at times a broken order. */
static void disturb(struct random_stream *stream, struct mapping *mapping)
{
    struct mapping_level *level = &mapping->level[random_below(stream, mapping->n_level)];
    uint32_t d = (uint32_t)random_below(stream, mapping->n_dim);
    if (random_below(stream, 3) == 0)
        level->temporal[d] += (uint32_t)random_below(stream, 3);
    if (random_below(stream, 3) == 0 && level->split + 1u < mapping->n_dim)
        level->further = (uint16_t)(1u << (level->split + 1u));
    if (random_below(stream, 50) == 0)
        level->temporal_order[0] = level->temporal_order[mapping->n_dim - 1];
    if (random_below(stream, 50) == 0)
        level->temporal[d] = 1;
}

static void assert_same(double fast, double plain)
{
    assert_true(fabs(fast - plain) <= 1e-12 * fabs(plain));
}

static void compare(const struct evaluation *fast, const struct evaluation *plain, uint32_t n_level)
{
    for (uint32_t l = 0; l < n_level; l++) {
        assert_same(fast->level_energy_j[l], plain->level_energy_j[l]);
        assert_same(fast->network_energy_j[l], plain->network_energy_j[l]);
        assert_same(fast->level_byte[l], plain->level_byte[l]);
    }
    assert_same(fast->energy_j, plain->energy_j);
    assert_same(fast->energy_leakage_j, plain->energy_leakage_j);
    assert_same((double)fast->latency_cycle, (double)plain->latency_cycle);
    assert_true(fast->n_mac_used == plain->n_mac_used);
    assert_same(fast->edp_js, plain->edp_js);
}

static int try_mapping(const struct evaluator *evaluator, struct eval_workspace *workspace,
                       const struct mapping *mapping, int number)
{
    struct evaluation fast;
    struct evaluation_detail plain;
    struct arena arena;
    struct dse_error err;
    struct lower_bound bound;
    char reason[256];
    bool fits = evaluator_run(evaluator, workspace, mapping, &fast);
    arena_init(&arena);
    assert_int_equal(evaluator_detail(evaluator, mapping, &arena, &plain, &err), DSE_OK);
    arena_free(&arena);
    assert_int_equal(fits, plain.total.fit.what == FITS);
    if (evaluator_check(evaluator, mapping, reason, sizeof reason) != fits)
        fail_msg("case %d: the checker says '%s', the fit is %d", number, reason, (int)fast.fit.what);
    assert_int_equal(reason[0] == '\0', fits);
    if (!fits)
        return 0;
    compare(&fast, &plain.total, mapping->n_level);
    evaluator_bound(evaluator, &bound);
    if (evaluator_bound_applies(evaluator, mapping) &&
        (fast.energy_j < bound.energy_j || fast.latency_s < bound.latency_s || fast.edp_js < bound.edp_js))
        fail_msg("case %d: %g J, %g s is below the bound of %g J, %g s", number, fast.energy_j,
                 fast.latency_s, bound.energy_j, bound.latency_s);
    return 1;
}

static void test_fast_is_plain_and_the_checker_agrees(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(11, 1, RANDOM_TEST);
    int n_fit = 0, n_case = 0, n_bank_fit = 0, n_bank = 0;
    for (int i = 0; i < 1500; i++) {
        struct random_case_options options = {.limits = i % 2, .roles = i % 3 == 0, .network_cost = true};
        struct problem problem;
        struct architecture arch;
        struct dse_error err;
        random_case_problem(&stream, i % 4 ? 20000 : 64, &problem); /* small ones come near their bound */
        random_case_architecture(&stream, &options, &arch);
        draw_links(&stream, &arch);
        if (i % 5 == 4)
            draw_banks(&stream, &problem, &arch);
        if (i % 5 == 2)
            random_case_leakage(&stream, &arch);
        for (size_t k = 0; k < (arch.n_tensor_name ? 1 : 2); k++) { /* compat knows no names and banks */
            struct evaluator *evaluator;
            struct eval_workspace *workspace;
            if (evaluator_new(both[k], &problem, &arch, &evaluator, &err) != DSE_OK)
                fail_msg("case %d: %s", i, err.text);
            assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
            for (int m = 0; m < (i % 4 ? 12 : 60); m++, n_case++) {
                struct mapping mapping;
                random_case_mapping(&stream, &problem, &arch, false, &mapping);
                disturb(&stream, &mapping);
                const int fits = try_mapping(evaluator, workspace, &mapping, n_case);
                n_fit += fits;
                n_bank += arch.n_group > 0;
                n_bank_fit += arch.n_group > 0 && fits;
            }
            eval_workspace_delete(workspace);
            evaluator_delete(evaluator);
        }
    }
    assert_true(n_fit > 5000 && n_fit < n_case - 5000);
    assert_true(n_bank_fit > 200 && n_bank_fit < n_bank - 200);
}

static double bound_energy_pj(const struct accounting *accounting, const struct problem *problem,
                              const struct architecture *arch, double *latency_s)
{
    struct evaluator *evaluator;
    struct lower_bound bound;
    struct dse_error err;
    assert_int_equal(evaluator_new(accounting, problem, arch, &evaluator, &err), DSE_OK);
    evaluator_bound(evaluator, &bound);
    evaluator_delete(evaluator);
    *latency_s = bound.latency_s;
    return bound.energy_j * 1e12;
}

/* One PE shares nothing: every operand from its register, each word once from DRAM, every MAC a step. With
 * 256 PEs the bound is less, but more than if each tensor had all of them for itself. */
static void test_the_bound_of_alexnet_conv3(void **state)
{
    (void)state;
    static const uint32_t conv3[8] = {16, 384, 256, 13, 13, 3, 3, 1};
    const double macs = 2392326144.0, in = 921600, out = 1038336, weight = 884736;
    const double dram = 200 * (in + out + weight);
    const double registers = 0.96 * (3456 * in + (2 * 2304 - 1) * out + 2704 * weight);
    struct problem problem;
    struct architecture arch;
    double latency_s;
    interstellar_layer(conv3, &problem);
    interstellar_machine("eyeriss512", &arch);
    double many = bound_energy_pj(&accounting_interstellar, &problem, &arch, &latency_s);
    assert_true(fabs(latency_s * 400e6 / (macs / 256) - 1) < 1e-8);
    const double hops = 0.035 * (in + out + weight);
    /* SRAM serves all from 256 PEs: 13.5, 9 and 10.5625 reads of each word */
    const double apart = 20 * (13.5 * in + 17 * out + 10.5625 * weight) + 0.075 * macs + hops + dram;
    assert_true(many > 1.5 * apart && many < registers + 0.075 * macs + hops + dram);
    for (uint32_t l = 0; l < arch.n_level; l++)
        arch.level[l].mesh_x = arch.level[l].mesh_y = arch.level[l].instances = 1;
    arch.mac.mesh_x = arch.mac.mesh_y = arch.mac.instances = 1;
    double one = bound_energy_pj(&accounting_interstellar, &problem, &arch, &latency_s);
    assert_true(fabs(one / (registers + 0.075 * macs + dram) - 1) < 1e-8);
    assert_true(fabs(latency_s * 400e6 / macs - 1) < 1e-8);
    double compat = bound_energy_pj(&accounting_interstellar_compat, &problem, &arch, &latency_s);
    assert_true(fabs(compat / one - 1) < 1e-12);
}

/* A register and a buffer share 4 banks of 2 words. One MAC's words, a weight, an input and an output, are 3
 * at least: 2 banks each. A loop more at the register wants 3 of it. */
static void test_storages_share_banks(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct dse_error err;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct evaluation priced, alone;
    struct mapping mapping;
    char reason[256];
    small_gemm(&problem, 2, 2, 2);
    small_machine(&arch, 4, 4);
    for (uint32_t l = 0; l < arch.n_level; l++)
        arch.level[l].mesh_x = arch.level[l].mesh_y = arch.level[l].instances = 1;
    arch.mac.mesh_x = arch.mac.mesh_y = arch.mac.instances = 1;
    mapping_init(&mapping, &problem, &arch);
    assert_int_equal(evaluator_new(&accounting_interstellar, &problem, &arch, &evaluator, &err), DSE_OK);
    assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
    assert_true(evaluator_run(evaluator, workspace, &mapping, &alone));
    eval_workspace_delete(workspace);
    evaluator_delete(evaluator);

    arch.n_group = 1;
    arch.group[0] = (struct bank_group){.name = "Shared", .banks = 4};
    for (uint32_t l = 0; l < 2; l++) {
        arch.level[l].bank_group = 1;
        arch.level[l].bank_word = 2;
        arch.level[l].size_word = 6;
    }
    assert_int_equal(evaluator_new(&accounting_interstellar, &problem, &arch, &evaluator, &err), DSE_OK);
    assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
    assert_true(evaluator_run(evaluator, workspace, &mapping, &priced));
    assert_true(priced.energy_j == alone.energy_j && priced.latency_cycle == alone.latency_cycle);
    mapping.level[2].temporal[0] = 1;
    mapping.level[1].temporal[0] = 2; /* 5 words in the buffer: 3 banks, and 2 of the register */
    assert_false(evaluator_run(evaluator, workspace, &mapping, &priced));
    assert_int_equal(priced.fit.what, MISFIT_BANKS);
    assert_int_equal(priced.fit.level, 1);
    assert_int_equal(priced.fit.needed, 5);
    assert_false(evaluator_check(evaluator, &mapping, reason, sizeof reason));
    assert_string_equal(reason, "the storages of Shared need 5 banks together, it has 4");
    eval_workspace_delete(workspace);
    evaluator_delete(evaluator);

    assert_int_equal(evaluator_new(&accounting_interstellar_compat, &problem, &arch, &evaluator, &err),
                     DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "share banks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_is_plain_and_the_checker_agrees),
        cmocka_unit_test(test_the_bound_of_alexnet_conv3),
        cmocka_unit_test(test_storages_share_banks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
