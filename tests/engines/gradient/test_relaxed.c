/* The relaxed model: its gradient against finite differences, its value where it must be exact, and whether
 * it ranks mappings as the accounting does. Tests: relaxed.c, relaxed_nest.c, relaxed_words.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/gradient/relaxed.h"
#include "tests/engines/small_cases.h"
#include "tests/support/conv4_case.h"

static const struct relaxed_terms smooth = {.sharpness = 3, .penalty = 2};

/* A random problem, machine, choice and point. */
struct point {
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct relaxed *model;
    relaxed_factors factor;
};

static void draw_point(struct random_stream *stream, int i, struct point *point)
{
    const struct random_case_options options = {
        .limits = i % 2, .roles = i % 3 == 0, .network_cost = i % 5 < 2};
    const struct objective objective = {i % 3, i % 3 == 0 ? 1 : i % 4};
    const struct mapspace *space;
    struct mapping choice;
    struct dse_error err;
    uint32_t n;
    arena_init(&point->arena);
    random_case_problem(stream, 100000, &point->problem);
    random_case_architecture(stream, &options, &point->arch);
    random_case_mapping(stream, &point->problem, &point->arch, i % 4 == 0, &choice);
    assert_int_equal(mapspace_new(&point->problem, &point->arch, NULL, true, &point->arena, &space, &err),
                     DSE_OK);
    assert_int_equal(
        relaxed_new(&point->problem, &point->arch, space, &objective, &point->arena, &point->model, &err),
        DSE_OK);
    relaxed_choose(point->model, &choice);
    const struct mapspace_place *place = relaxed_places(point->model, &n);
    memset(point->factor, 0, sizeof point->factor);
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t d = 0; d < point->problem.n_dim; d++)
            if ((place[s].open >> d & 1u) && point->problem.bound[d] > 1)
                point->factor[s][d] = 1.5 * random_unit(stream);
}

static double central(struct point *point, uint32_t s, uint32_t d, double step)
{
    double at = point->factor[s][d];
    point->factor[s][d] = at + step;
    double above = relaxed_value(point->model, point->factor, &smooth, NULL);
    point->factor[s][d] = at - step;
    double below = relaxed_value(point->model, point->factor, &smooth, NULL);
    point->factor[s][d] = at;
    return (above - below) / (2 * step);
}

/* Every slope, to 1e-4, but for points at a kink (the first access of an output, a cluster just full), where
 * two widths of the difference disagree. */
static void test_slopes_are_finite_differences(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(14, 7, RANDOM_TEST);
    uint32_t n_slope = 0, n_kink = 0;
    for (int i = 0; i < 400; i++) {
        struct point point;
        relaxed_factors slope;
        uint32_t n;
        draw_point(&stream, i, &point);
        const struct mapspace_place *place = relaxed_places(point.model, &n);
        (void)relaxed_value(point.model, point.factor, &smooth, slope);
        for (uint32_t s = 0; s < n; s++)
            for (uint32_t d = 0; d < point.problem.n_dim; d++) {
                if (!(place[s].open >> d & 1u) || point.problem.bound[d] == 1)
                    continue;
                double fine = central(&point, s, d, 1e-5), coarse = central(&point, s, d, 2e-5);
                double allowed = 1e-4 * fmax(1e-2, fabs(fine));
                n_slope++;
                if (fabs(fine - coarse) > allowed)
                    n_kink++;
                else if (fabs(fine - slope[s][d]) > allowed)
                    fail_msg("case %d, place %u, dimension %u: slope %.9g, difference %.9g", i, s, d,
                             slope[s][d], fine);
            }
        arena_free(&point.arena);
    }
    assert_true(n_slope > 5000 && n_kink < n_slope / 100);
}

/* A matrix product on one lane: Z[m,n] += A[m,k] B[k,n], M 8, N 4, K 6, all loops in DRAM, from inside K,
 * N, M, Registers holding one word of each tensor. Counted by hand: A's 48 words come again for each of N's
 * 4 trips, which weigh 1 - exp(-2 log 6) = 1 - 1/36; B's 24 words for each of M's 8 trips, which weigh 1 -
 * 1/576; Z stays under K, so its 32 words come once, and as first visits cost no fill and no read of DRAM.
 * Registers are read 192 times for A, for B and, less the 32 first ones, for Z, which is updated 192 times
 * there and 32 times in DRAM. */
static void test_value_of_a_product_counted_by_hand(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    struct relaxed *model;
    relaxed_factors factor;
    const struct objective energy = {1, 0};
    small_gemm(&problem, 8, 4, 6);
    small_machine(&arch, 64, 4096);
    arch.n_level = 2;
    for (uint32_t l = 0; l < 2; l++) {
        struct storage_level *level = &arch.level[l];
        small_level(level, l ? "DRAM" : "Registers", ARCH_UNLIMITED, 1, 1, l ? 100 : 1);
        level->write_energy_j = 2 * level->read_energy_j;
        level->update_energy_j = 4 * level->read_energy_j;
    }
    arch.mac.instances = arch.mac.mesh_x = arch.mac.mesh_y = 1;
    arch.mac.energy_j = 1000;
    arena_init(&arena);
    mapping_init(&mapping, &problem, &arch);
    mapping.level[1].temporal_order[0] = 2;
    mapping.level[1].temporal_order[2] = 0;
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    assert_int_equal(relaxed_new(&problem, &arch, space, &energy, &arena, &model, &err), DSE_OK);
    relaxed_choose(model, &mapping);
    relaxed_factors_of(model, &mapping, factor);
    double filled = 48 * pow(4, 1 - 1 / 36.0) + 24 * pow(8, 1 - 1 / 576.0);
    double registers = (192 + 192 + 160) * 1 + filled * 2 + 192 * 4;
    double all = 192 * 1000 + registers + filled * 100 + 32 * 400;
    assert_true(fabs(relaxed_value(model, factor, &smooth, NULL) - log(all)) < 1e-12);
    arena_free(&arena);
}

/* Pearson's coefficient of logarithms over random mappings of a convolution: 1 would be the same cost up to a
 * factor. What it does not know is how windows slide. */
static void test_value_follows_the_accounting(void **state)
{
    (void)state;
    static const char *const path[] = {"experiments/architectures/mindmappings.yaml",
                                       "experiments/architectures/simba.yaml",
                                       "experiments/architectures/eyeriss_12x14.yaml"};
    static const struct relaxed_terms exact = {.sharpness = 6};
    const struct objective edp = {1, 1};
    enum { N = 1000 };
    for (size_t m = 0; m < 3; m++) {
        struct conv4_case conv4;
        struct dse_error err;
        struct relaxed *model;
        struct random_stream stream = random_stream_make(14, m, RANDOM_TEST);
        double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
        assert_int_equal(conv4_case_init(&conv4, path[m], false, &err), DSE_OK);
        assert_int_equal(
            relaxed_new(&conv4.problem, &conv4.arch, conv4.space, &edp, &conv4.arena, &model, &err), DSE_OK);
        for (int i = 0; i < N; i++) {
            struct mapping mapping = {0};
            struct evaluation evaluation;
            relaxed_factors factor;
            assert_true(mapspace_draw(conv4.space, &stream, &mapping, NULL, NULL));
            assert_true(evaluator_run(conv4.evaluator, conv4.workspace, &mapping, &evaluation));
            relaxed_choose(model, &mapping);
            relaxed_factors_of(model, &mapping, factor);
            double a = relaxed_value(model, factor, &exact, NULL), b = log(evaluation.edp_js);
            x += a;
            y += b;
            xx += a * a;
            yy += b * b;
            xy += a * b;
        }
        double r = (N * xy - x * y) / sqrt((N * xx - x * x) * (N * yy - y * y));
        if (!(r > 0.98))
            fail_msg("%s: %.4f", path[m], r);
        conv4_case_free(&conv4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slopes_are_finite_differences),
        cmocka_unit_test(test_value_of_a_product_counted_by_hand),
        cmocka_unit_test(test_value_follows_the_accounting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
