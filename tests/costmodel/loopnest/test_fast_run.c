/* The fast evaluation against the plain one on random mappings of the reference's machines and problems
 * (capacities lifted), with random bypasses and switches, with and without link transfers.
 * Tests: fast_nest.c, fast_traffic.c, fast_mesh.c, fast_hops.c,
 * accounting_timeloop.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/random.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "tests/support/random_case.h"

static const char *const machines[] = {"simba16",         "simba-lanes", "eyeriss168",
                                       "mindmappings256", "flat-2level", "gb-rf-4x4",
                                       "cluster-5level",  "only-dram",   "tpu_128x128"};
static const char *const problems[] = {"resnet50-conv4-3x3", "alexnet-conv2-5x5",   "dilated-3x3-d2",
                                       "asym-3x5-s2x1-d1x2", "gemm-128x768x3072",   "mttkrp-64x96x32x48",
                                       "dw-3x3s2-g96-n2",    "resnet50-conv1-7x7s2"};

enum { N_MACHINE = sizeof machines / sizeof machines[0], N_PROBLEM = sizeof problems / sizeof problems[0] };

static void load(const char *machine, const char *problem_name, struct architecture *arch,
                 struct problem *problem)
{
    char path[256];
    struct dse_error err;
    bool shipped = strcmp(machine, "tpu_128x128") == 0; /* wide rows, often not full */
    snprintf(path, sizeof path,
             shipped ? "experiments/architectures/%s.yaml" : "tests/known/timeloop/archs/%s.yaml", machine);
    assert_int_equal(architecture_read(path, arch, &err), DSE_OK);
    snprintf(path, sizeof path, "tests/known/timeloop/problems/%s.yaml", problem_name);
    assert_int_equal(problem_read(path, problem, &err), DSE_OK);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        arch->level[l].size_word = ARCH_UNLIMITED;
        arch->level[l].min_utilization = 0;
    }
}

static void shuffle(uint8_t *order, uint32_t n, struct random_stream *stream)
{
    for (uint32_t k = n; k > 1; k--) {
        uint32_t other = random_below(stream, k);
        uint8_t swap = order[k - 1];
        order[k - 1] = order[other];
        order[other] = swap;
    }
}

static uint8_t random_mask(struct random_stream *stream, uint32_t n_tensor, uint32_t one_in)
{
    uint8_t mask = 0;
    for (uint32_t t = 0; t < n_tensor; t++)
        mask = (uint8_t)(mask | (random_below(stream, one_in) == 0) << t);
    return mask;
}

/* Each prime factor to a random level, sometimes spatial; nothing here cares whether the mapping fits. */
static void random_mapping(const struct problem *problem, const struct architecture *arch,
                           struct random_stream *stream, struct mapping *mapping)
{
    mapping_init(mapping, problem, arch);
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        uint32_t left = problem->bound[d];
        mapping->level[arch->n_level - 1].temporal[d] = 1;
        for (uint32_t prime = 2; left > 1; prime += left % prime != 0)
            while (left % prime == 0) {
                struct mapping_level *level = &mapping->level[random_below(stream, arch->n_level)];
                uint64_t x, y;
                architecture_fanout(arch, (uint32_t)(level - mapping->level), &x, &y);
                if (x * y > 1 && random_below(stream, 2) && level->spatial[d] * (uint64_t)prime <= x * y)
                    level->spatial[d] *= prime;
                else
                    level->temporal[d] *= prime;
                left /= prime;
            }
    }
    bool switches = random_below(stream, 3) == 0;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        struct mapping_level *level = &mapping->level[l];
        shuffle(level->temporal_order, problem->n_dim, stream);
        shuffle(level->spatial_order, problem->n_dim, stream);
        level->split = (uint8_t)random_below(stream, problem->n_dim + 1);
        if (l + 1 < arch->n_level || random_below(stream, 20) == 0)
            level->keep = (uint8_t)(level->keep & ~random_mask(stream, problem->n_tensor, 3));
        if (switches) {
            level->no_temporal_reuse = random_mask(stream, problem->n_tensor, 4);
            level->no_link_transfer = random_mask(stream, problem->n_tensor, 4);
            level->no_multicast = random_mask(stream, problem->n_tensor, 4);
        }
    }
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-11 * fmax(fabs(a), fabs(b));
}

static bool same(const struct evaluation *fast, const struct evaluation *plain, uint32_t n_level)
{
    if (fast->fit.what != plain->fit.what || fast->fit.level != plain->fit.level)
        return false;
    if (plain->fit.what != FITS)
        return fast->fit.needed == plain->fit.needed && fast->fit.available == plain->fit.available;
    bool equal = fast->latency_cycle == plain->latency_cycle && fast->compute_cycle == plain->compute_cycle &&
                 fast->n_mac_used == plain->n_mac_used && close_to(fast->energy_j, plain->energy_j) &&
                 close_to(fast->energy_leakage_j, plain->energy_leakage_j) &&
                 close_to(fast->utilization, plain->utilization) && close_to(fast->edp_js, plain->edp_js);
    for (uint32_t l = 0; l < n_level; l++)
        equal = equal && close_to(fast->level_energy_j[l], plain->level_energy_j[l]) &&
                close_to(fast->network_energy_j[l], plain->network_energy_j[l]) &&
                fast->level_byte[l] == plain->level_byte[l];
    return equal;
}

static void compare(const struct problem *problem, const struct architecture *arch, uint32_t n_draw,
                    struct random_stream *stream, uint32_t *n_fit)
{
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct dse_error err;
    struct arena arena;
    arena_init(&arena);
    if (evaluator_new(&accounting_timeloop, problem, arch, &evaluator, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
    for (uint32_t n = 0; n < n_draw; n++) {
        struct mapping mapping;
        struct evaluation fast;
        struct evaluation_detail detail;
        random_mapping(problem, arch, stream, &mapping);
        arena_reset(&arena);
        if (evaluator_detail(evaluator, &mapping, &arena, &detail, &err) != DSE_OK)
            fail_msg("%s", err.text);
        evaluator_run(evaluator, workspace, &mapping, &fast);
        *n_fit += detail.total.fit.what == FITS;
        if (!same(&fast, &detail.total, arch->n_level)) {
            struct text_buffer text;
            text_init(&text);
            mapping_write_yaml(&mapping, problem, arch, &text);
            print_error("%s fast %d: %.17g J %llu cycles, plain %d: %.17g J %llu cycles\n%s", arch->name,
                        fast.fit.what, fast.energy_j, (unsigned long long)fast.latency_cycle,
                        detail.total.fit.what, detail.total.energy_j,
                        (unsigned long long)detail.total.latency_cycle, text.data);
            text_free(&text);
            fail();
        }
    }
    eval_workspace_delete(workspace);
    evaluator_delete(evaluator);
    arena_free(&arena);
}

static void compare_all(bool links, bool network_costs, bool leaks, uint32_t n_draw)
{
    struct random_stream stream = random_stream_make(7, links + 2u * network_costs + 4u * leaks, RANDOM_TEST);
    uint32_t n_fit = 0;
    for (int m = 0; m < N_MACHINE; m++)
        for (int p = 0; p < N_PROBLEM; p++) {
            struct architecture arch;
            struct problem problem;
            load(machines[m], problems[p], &arch, &problem);
            arch.link_transfers = links;
            if (leaks)
                random_case_leakage(&stream, &arch);
            for (uint32_t l = 0; network_costs && l < arch.n_level; l++) {
                arch.level[l].hop_energy_j = 0.14e-12;
                arch.level[l].router_energy_j = 0.07e-12;
                arch.level[l].ingress_energy_j = 0.03e-12;
                arch.level[l].address_energy_j = 0.02e-12;
            }
            compare(&problem, &arch, n_draw, &stream, &n_fit);
        }
    print_message("%u mappings fitted\n", n_fit);
    assert_true(n_fit > N_MACHINE * N_PROBLEM * n_draw / 8);
}

static void test_fast_run_equals_plain(void **state)
{
    (void)state;
    compare_all(false, false, false, 1000);
}

static void test_fast_run_equals_plain_with_network_energy(void **state)
{
    (void)state;
    compare_all(false, true, false, 400);
}

static void test_fast_run_equals_plain_with_links(void **state)
{
    (void)state;
    compare_all(true, true, false, 400);
}

static void test_fast_run_equals_plain_with_leakage(void **state)
{
    (void)state;
    compare_all(false, false, true, 100);
}

/* By hand: 4 x 4 x 4 on 16 MACs of which 4 are in use, cycles of 1 ns. All 16 register files leak 1 W each
 * and the buffer 5 W; with power gating four of the files. */
static void test_leakage_is_power_by_time(void **state)
{
    (void)state;
    for (int gating = 0; gating < 2; gating++) {
        struct architecture arch;
        struct problem problem;
        struct mapping mapping;
        struct evaluator *evaluator;
        struct eval_workspace *workspace;
        struct evaluation with, without;
        struct dse_error err;
        load("gb-rf-4x4", "gemm-128x768x3072", &arch, &problem);
        problem.bound[0] = problem.bound[1] = problem.bound[2] = 4;
        mapping_init(&mapping, &problem, &arch);
        mapping.level[1].spatial[0] = 4;
        mapping.level[arch.n_level - 1].temporal[0] = 1;
        for (int leaks = 0; leaks < 2; leaks++) {
            arch.power_gating = gating;
            arch.level[0].leakage_w = leaks;
            arch.level[1].leakage_w = 5 * leaks;
            assert_int_equal(arch.level[0].instances, 16);
            assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_OK);
            assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
            assert_true(evaluator_run(evaluator, workspace, &mapping, leaks ? &with : &without));
            eval_workspace_delete(workspace);
            evaluator_delete(evaluator);
        }
        assert_int_equal(with.latency_cycle, without.latency_cycle);
        const double watt = gating ? 4 + 5 : 16 + 5;
        assert_true(without.energy_leakage_j == 0);
        assert_true(close_to(with.energy_leakage_j, watt * (double)with.latency_cycle * 1e-9));
        assert_true(close_to(with.energy_j, without.energy_j + with.energy_leakage_j));
        assert_true(close_to(with.edp_js, with.energy_j * with.latency_s));
    }
}

static void test_fast_run_explains_misfits(void **state)
{
    (void)state;
    struct architecture arch;
    struct problem problem;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct mapping mapping;
    struct evaluation out;
    struct dse_error err;
    char reason[512];
    load("gb-rf-4x4", "gemm-128x768x3072", &arch, &problem);
    arch.level[0].size_word =
        100; /* all of the GEMM in the innermost level: 128*768 + 768*3072 + 128*3072 words */
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_OK);
    assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
    mapping_init(&mapping, &problem, &arch);
    for (uint32_t d = 0; d < problem.n_dim; d++) {
        mapping.level[0].temporal[d] = problem.bound[d];
        mapping.level[arch.n_level - 1].temporal[d] = 1;
    }
    assert_false(evaluator_run(evaluator, workspace, &mapping, &out));
    assert_int_equal(out.fit.what, MISFIT_CAPACITY);
    assert_int_equal(out.fit.needed, 128 * 768 + 768 * 3072 + 128 * 3072);
    misfit_print(&out.fit, &problem, &arch, reason, sizeof reason);
    assert_string_equal(reason, "RF needs 5,701,632 B for A+B+Z, has 200 B");
    mapping.level[0].temporal[0] = 1;
    assert_false(evaluator_run(evaluator, workspace, &mapping, &out));
    assert_int_equal(out.fit.what, MISFIT_FACTORS);
    eval_workspace_delete(workspace);
    evaluator_delete(evaluator);
}

/* Found by fuzzing: counts and cycles that no 64-bit number holds. A convolution with K = 2^31, N = 2^13, P =
 * 4 and a stride of 2^32 - 1 can be mapped so that each of 2^44 visits brings the whole box of 3 (2^32 - 1) +
 * 1 inputs: 2^77.6 words. */
static void test_fast_run_refuses_counts_beyond_64_bits(void **state)
{
    (void)state;
    struct architecture arch;
    struct problem problem;
    struct evaluator *evaluator;
    struct dse_error err;
    load("gb-rf-4x4", "resnet50-conv4-3x3", &arch, &problem);
    arch.level[1].shared_bandwidth_word_per_cycle = 1e-12; /* 4.6e8 iterations, some 1e22 cycles */
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_LIMIT);
    assert_non_null(strstr(err.text, "GB: with 1e-12 words per cycle"));
    arch.level[1].shared_bandwidth_word_per_cycle = 1e-6;
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_OK);
    evaluator_delete(evaluator);
    arch.level[1].shared_bandwidth_word_per_cycle = INFINITY;
    for (uint32_t d = 0; d < problem.n_dim; d++)
        problem.bound[d] = 1;
    problem.bound[problem_find_dim(&problem, "K")] = 1u << 31;
    problem.bound[problem_find_dim(&problem, "N")] = 1u << 13;
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_OK);
    evaluator_delete(evaluator);
    uint32_t p = (uint32_t)problem_find_dim(&problem, "P");
    struct tensor *input = &problem.tensor[problem_find_tensor(&problem, "Inputs")];
    for (uint32_t r = 0; r < input->n_rank; r++)
        for (uint32_t k = 0; k < input->rank[r].n_term; k++)
            if (input->rank[r].term[k].dim == p)
                input->rank[r].term[k].coefficient = UINT32_MAX;
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err),
                     DSE_OK); /* P is 1: no stride is taken */
    evaluator_delete(evaluator);
    problem.bound[p] = 4;
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_LIMIT);
    assert_non_null(strstr(err.text, "a mapping could move"));
}

/* An output with a stride, O[4 p] for p = 0, 1: its box has 5 words, the two points write 2 of them. Every
 * write is the first one of its word, so nothing is read back: 2 - 5 reads would be below 0. (Timeloop's
 * count is not defined there.) */
static void test_fast_run_reads_no_old_value_of_untouched_outputs(void **state)
{
    (void)state;
    struct architecture arch;
    struct problem problem;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct mapping mapping;
    struct evaluation_detail detail;
    struct evaluation fast;
    struct dse_error err;
    struct arena arena;
    load("only-dram", "gemm-128x768x3072", &arch, &problem);
    problem = (struct problem){.name = "strided output", .n_dim = 1, .n_tensor = 2, .bound = {2}};
    strcpy(problem.dim_name[0], "P");
    problem.tensor[0] = (struct tensor){.name = "I", .role = TENSOR_INPUT, .n_rank = 1};
    problem.tensor[0].rank[0] = (struct tensor_rank){1, {{0, 1}}};
    problem.tensor[1] = (struct tensor){.name = "O", .role = TENSOR_OUTPUT, .read_write = true, .n_rank = 1};
    problem.tensor[1].rank[0] = (struct tensor_rank){1, {{0, 4}}};
    mapping_init(&mapping, &problem, &arch);
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_OK);
    assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
    arena_init(&arena);
    assert_int_equal(evaluator_detail(evaluator, &mapping, &arena, &detail, &err), DSE_OK);
    assert_int_equal(detail.level[0].tensor[1].capacity_word, 5);
    assert_int_equal(detail.level[0].tensor[1].updates, 2);
    assert_int_equal(detail.level[0].tensor[1].reads, 0);
    assert_true(detail.level[0].network[1].ingresses == 2); /* once in, never back */
    assert_true(evaluator_run(evaluator, workspace, &mapping, &fast));
    assert_true(same(&fast, &detail.total, arch.n_level));
    arena_free(&arena);
    eval_workspace_delete(workspace);
    evaluator_delete(evaluator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_run_equals_plain),
        cmocka_unit_test(test_fast_run_equals_plain_with_network_energy),
        cmocka_unit_test(test_fast_run_equals_plain_with_links),
        cmocka_unit_test(test_fast_run_equals_plain_with_leakage),
        cmocka_unit_test(test_leakage_is_power_by_time),
        cmocka_unit_test(test_fast_run_explains_misfits),
        cmocka_unit_test(test_fast_run_refuses_counts_beyond_64_bits),
        cmocka_unit_test(test_fast_run_reads_no_old_value_of_untouched_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
