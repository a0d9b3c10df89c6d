/* No valid mapping beats the lower bounds; some meet them.
 * Tests: lower_bound_need.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/loopnest/lower_bound_need.h"
#include "tests/support/random_case.h"

/* -D LEAKING=10000 makes more machines that leak. */
#ifndef LEAKING
#define LEAKING 600
#endif

enum { N_MACHINE = 3000, N_MAPPING = 20, SEED = 4711 };

static void conv(struct problem *problem, const uint32_t *bound)
{
    random_case_dims(problem, "conv", "NCKRSPQ", bound);
    random_case_tensor(problem, "Weights", TENSOR_WEIGHT, "C K R S");
    random_case_tensor(problem, "Inputs", TENSOR_INPUT, "N C P+R Q+S");
    random_case_tensor(problem, "Outputs", TENSOR_OUTPUT, "N K P Q");
}

/* One unlimited level of storage that feeds `x` by `y` MACs: 1 J a read, 10 J a write, 100 J an update, 1000
 * J a MAC. */
static void flat_machine(uint64_t x, uint64_t y, struct architecture *arch)
{
    memset(arch, 0, sizeof *arch);
    arch->clock_hz = 1;
    arch->strict_fanout = true;
    arch->n_level = 1;
    arch->level[0] = (struct storage_level){.name = "DRAM",
                                            .is_dram = true,
                                            .keep_role = 7,
                                            .word_bit = 8,
                                            .block_word = 1,
                                            .cluster_size = 1,
                                            .size_word = ARCH_UNLIMITED,
                                            .multiple_buffering = 1,
                                            .instances = 1,
                                            .mesh_x = 1,
                                            .mesh_y = 1,
                                            .read_bandwidth_word_per_cycle = INFINITY,
                                            .write_bandwidth_word_per_cycle = INFINITY,
                                            .shared_bandwidth_word_per_cycle = INFINITY,
                                            .read_energy_j = 1,
                                            .write_energy_j = 10,
                                            .update_energy_j = 100};
    arch->mac = (struct mac_array){
        .name = "MAC", .word_bit = 8, .instances = x * y, .mesh_x = x, .mesh_y = y, .energy_j = 1000};
}

struct ratios {
    double latency, energy, edp; /* lowest value / bound seen */
    long n_mapping;
};

static void try_mapping(const struct evaluator *evaluator, const struct mapping *mapping, struct arena *arena,
                        const struct lower_bound *bound, struct ratios *lowest)
{
    struct evaluation_detail detail;
    struct dse_error err;
    assert_int_equal(evaluator_detail(evaluator, mapping, arena, &detail, &err), DSE_OK);
    arena_reset(arena);
    if (detail.total.fit.what != FITS)
        return;
    assert_true(
        lower_bound_applies(evaluator_problem(evaluator), evaluator_architecture(evaluator), mapping));
    assert_true(detail.total.latency_s >= bound->latency_s);
    assert_true(detail.total.energy_j >= bound->energy_j);
    assert_true(detail.total.edp_js >= bound->edp_js);
    lowest->latency = fmin(lowest->latency, detail.total.latency_s / bound->latency_s);
    lowest->energy = fmin(lowest->energy, detail.total.energy_j / bound->energy_j);
    lowest->edp = fmin(lowest->edp, detail.total.edp_js / bound->edp_js);
    lowest->n_mapping++;
}

/* The property: random machines (links, capacities, bandwidths, roles and network energies on and off),
 * random problems from a handful of iterations (where random mappings are often the best ones) to
 * thousands. */
static void try_machines(uint64_t n, bool leaks)
{
    struct ratios lowest = {INFINITY, INFINITY, INFINITY, 0};
    struct arena arena;
    arena_init(&arena);
    for (uint64_t i = 0; i < n; i++) {
        static const uint64_t macs_max[] = {12, 100, 4000};
        struct random_stream stream = random_stream_make(SEED + leaks, i, RANDOM_TEST);
        struct random_case_options options = {i % 2, i / 2 % 2, i / 4 % 2, i / 8 % 2};
        struct problem problem;
        struct architecture arch;
        struct evaluator *evaluator;
        struct lower_bound bound;
        struct mapping mapping;
        struct dse_error err;
        random_case_problem(&stream, macs_max[i % 3], &problem);
        random_case_architecture(&stream, &options, &arch);
        if (leaks)
            random_case_leakage(&stream, &arch);
        assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_OK);
        lower_bound_compute(&problem, &arch, &bound);
        assert_true(bound.latency_s > 0 && bound.energy_j >= 0 && isfinite(bound.edp_js));
        assert_true(bound.edp_js >= bound.latency_s * bound.energy_j);
        for (uint32_t k = 0; k < N_MAPPING; k++) {
            random_case_mapping(&stream, &problem, &arch, true, &mapping);
            try_mapping(evaluator, &mapping, &arena, &bound, &lowest);
        }
        evaluator_delete(evaluator);
    }
    arena_free(&arena);
    print_message("%ld valid mappings; lowest value / bound: latency %.6f, energy %.6f, edp %.6f\n",
                  lowest.n_mapping, lowest.latency, lowest.energy, lowest.edp);
    assert_true(lowest.n_mapping >= 20000 * (long)n / N_MACHINE);
    /* The bounds are met, so they cannot be raised for every machine. */
    assert_true(lowest.latency < 1 + 1e-9);
    assert_true(lowest.energy < 1 + 1e-9);
    assert_true(lowest.edp < 1 + 1e-9);
}

static void test_bound_is_never_beaten(void **state)
{
    (void)state;
    try_machines(N_MACHINE, false);
}

static void test_bound_is_never_beaten_where_parts_leak(void **state)
{
    (void)state;
    try_machines(LEAKING, true);
}

/* MACs / 256 of the Mind Mappings paper's problems (its "algorithmic minimum" of cycles, ASPLOS'21, as
 * coded). The same cycles are reached by published mappings. */
static void test_bound_meets_mind_mappings_cycles(void **state)
{
    (void)state;
    static const struct {
        uint32_t bound[7]; /* N C K R S P Q */
        double cycles;
    } known[] = {{{16, 128, 128, 3, 3, 28, 28}, 7225344},   {{16, 256, 256, 3, 3, 14, 14}, 7225344},
                 {{32, 192, 192, 3, 3, 56, 56}, 130056192}, {{16, 64, 128, 3, 3, 112, 112}, 57802752},
                 {{8, 96, 256, 5, 5, 27, 27}, 13996800},    {{8, 384, 384, 3, 3, 13, 13}, 7008768}};
    struct architecture arch;
    flat_machine(16, 16, &arch);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct problem problem;
        struct lower_bound bound;
        conv(&problem, known[i].bound);
        lower_bound_compute(&problem, &arch, &bound);
        assert_true(bound.latency_s == known[i].cycles);
    }
}

/* Only whole factors can be spread over 4 x 4 MACs, by hand: 7 x 5 iterations keep 1 busy, 6 x 5 keep 3 x 2,
 * 8 x 4 all, 9 x 3 keep 3 x 3, 16 all. */
static void test_bound_uses_whole_factors_only(void **state)
{
    (void)state;
    static const struct {
        uint32_t m, k;
        double cycles;
    } known[] = {{7, 5, 35}, {6, 5, 5}, {8, 4, 2}, {9, 3, 3}, {16, 1, 1}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct problem problem;
        struct architecture arch;
        struct lower_bound bound;
        uint32_t extent[] = {known[i].m, 1, known[i].k};
        random_case_dims(&problem, "gemm", "MNK", extent);
        random_case_tensor(&problem, "A", TENSOR_INPUT, "M K");
        random_case_tensor(&problem, "Weights", TENSOR_WEIGHT, "K N");
        random_case_tensor(&problem, "Z", TENSOR_OUTPUT, "M N");
        flat_machine(4, 4, &arch);
        lower_bound_compute(&problem, &arch, &bound);
        assert_true(bound.latency_s == known[i].cycles);
    }
}

/* By hand: a 4 x 4 x 4 GEMM on 1 MAC costs 64 * 1000 (MACs) + 2 * 64 * 1 (operand reads) + 64 * 100 (updates)
 * + (64 - 16) * 1 (partial sums read back). */
static void test_bound_counts_energy_of_one_mac(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct lower_bound bound;
    uint32_t extent[] = {4, 4, 4};
    random_case_dims(&problem, "gemm", "MNK", extent);
    random_case_tensor(&problem, "A", TENSOR_INPUT, "M K");
    random_case_tensor(&problem, "Weights", TENSOR_WEIGHT, "K N");
    random_case_tensor(&problem, "Z", TENSOR_OUTPUT, "M N");
    flat_machine(1, 1, &arch);
    lower_bound_compute(&problem, &arch, &bound);
    assert_float_equal(bound.energy_j, 64000 + 128 + 6400 + 48, 1e-6);
    assert_float_equal(bound.edp_js, bound.energy_j * 64, 1e-3);
    arch.level[0].shared_bandwidth_word_per_cycle =
        1; /* 2 * 64 reads + 64 updates a word each: 192 cycles at least */
    lower_bound_compute(&problem, &arch, &bound);
    assert_true(bound.latency_s == 192);
}

/* Words of the input 2P + R, P = 5, R = 3: 0..10 all touched; 3P + R, R = 2: 10 of 14. */
static void test_bound_counts_touched_words_only(void **state)
{
    (void)state;
    static const struct {
        const char *ranks;
        uint32_t p, r;
        uint64_t box, touched, anchored;
    } known[] = {{"P*2+R", 5, 3, 11, 11, 5},
                 {"P*3+R", 5, 2, 14, 10, 5},
                 {"P*2", 5, 1, 9, 5, 5},
                 {"P+R", 4, 4, 7, 7, 4}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct problem problem;
        uint32_t extent[] = {known[i].p, known[i].r};
        random_case_dims(&problem, "conv1d", "PR", extent);
        random_case_tensor(&problem, "Inputs", TENSOR_INPUT, known[i].ranks);
        struct tensor_need need = bound_tensor_need(&problem, 0);
        assert_int_equal(need.box_word, known[i].box);
        assert_int_equal(need.touched_word, known[i].touched);
        assert_int_equal(need.anchored_word, known[i].anchored);
    }
}

static void test_bound_does_not_apply_without_the_outermost_level(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(SEED, N_MACHINE, RANDOM_TEST);
    struct random_case_options options = {0};
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    random_case_problem(&stream, 1000, &problem);
    random_case_architecture(&stream, &options, &arch);
    random_case_mapping(&stream, &problem, &arch, false, &mapping);
    assert_true(lower_bound_applies(&problem, &arch, &mapping));
    mapping.level[arch.n_level - 1].keep = 0;
    assert_false(lower_bound_applies(&problem, &arch, &mapping));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_is_never_beaten),
        cmocka_unit_test(test_bound_is_never_beaten_where_parts_leak),
        cmocka_unit_test(test_bound_meets_mind_mappings_cycles),
        cmocka_unit_test(test_bound_uses_whole_factors_only),
        cmocka_unit_test(test_bound_counts_energy_of_one_mac),
        cmocka_unit_test(test_bound_counts_touched_words_only),
        cmocka_unit_test(test_bound_does_not_apply_without_the_outermost_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
