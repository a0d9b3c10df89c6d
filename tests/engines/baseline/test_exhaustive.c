/* The exhaustive mapper against a brute force that shares nothing with the map space: every prime to every
 * place, every order of the non-unit loops, whatever the checker accepts. And the other mappers against the
 * exhaustive one.
 * Tests: annealing_mapper.c, genetic_mapper.c, hybrid.c, mapping_search.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "tests/engines/small_cases.h"

enum { PLACE_MAX = 3 * ARCH_LEVEL_MAX, OPTION_MAX = 16 };

struct brute {
    const struct problem *problem;
    const struct architecture *arch;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct objective objective;
    bool bypass, all_spatial_orders;
    uint32_t prime[64], dim[64], n_prime;          /* every prime of every dimension */
    uint32_t x[ARCH_LEVEL_MAX], y[ARCH_LEVEL_MAX]; /* dimensions on X, on Y */
    struct mapping mapping;
    double best;
    uint64_t n_valid;
};

static void brute_price(struct brute *b)
{
    struct evaluation evaluation;
    if (!checker_accepts(b->problem, b->arch, &b->mapping, NULL, 0))
        return;
    assert_true(evaluator_run(b->evaluator, b->workspace, &b->mapping, &evaluation));
    b->best = fmin(b->best, objective_cost(&b->objective, &evaluation));
    b->n_valid++;
}

static void brute_order(struct brute *b, uint32_t l, uint32_t n);

/* All orders of the X loops and the Y loops of level l, from place n on. */
static void brute_spatial(struct brute *b, uint32_t l, uint32_t n)
{
    struct mapping_level *level = &b->mapping.level[l];
    uint32_t all = b->x[l] | b->y[l];
    for (uint32_t i = 0; i < n; i++)
        all &= ~(1u << level->spatial_order[i]);
    if (all == 0 || !b->all_spatial_orders) {
        brute_order(b, l + 1, 0);
        return;
    }
    for (uint32_t d = 0; d < b->problem->n_dim; d++)
        if ((n < level->split ? b->x[l] & all : all) >> d & 1u) {
            uint8_t saved[PROBLEM_DIM_MAX];
            memcpy(saved, level->spatial_order, sizeof saved);
            for (uint32_t i = n; i < b->problem->n_dim; i++)
                if (level->spatial_order[i] == d) {
                    level->spatial_order[i] = level->spatial_order[n];
                    level->spatial_order[n] = (uint8_t)d;
                }
            brute_spatial(b, l, n + 1);
            memcpy(level->spatial_order, saved, sizeof saved);
        }
}

/* All orders of the temporal loops of level l, from place n on; then the next level. */
static void brute_order(struct brute *b, uint32_t l, uint32_t n)
{
    if (l == b->arch->n_level) {
        brute_price(b);
        return;
    }
    struct mapping_level *level = &b->mapping.level[l];
    uint32_t n_loop = 0;
    for (uint32_t d = 0; d < b->problem->n_dim; d++)
        n_loop += level->temporal[d] > 1;
    if (n == 0) { /* non-unit loops first, so that places from n_loop on do not matter */
        uint32_t k = 0;
        for (int unit = 0; unit < 2; unit++)
            for (uint32_t d = 0; d < b->problem->n_dim; d++)
                if ((level->temporal[d] == 1) == unit)
                    level->temporal_order[k++] = (uint8_t)d;
    }
    if (n >= n_loop) {
        brute_spatial(b, l, 0);
        return;
    }
    for (uint32_t i = n; i < n_loop; i++) {
        uint8_t first = level->temporal_order[n];
        uint8_t saved[PROBLEM_DIM_MAX];
        memcpy(saved, level->temporal_order, sizeof saved);
        level->temporal_order[n] = level->temporal_order[i];
        level->temporal_order[i] = first;
        brute_order(b, l, n + 1);
        memcpy(level->temporal_order, saved, sizeof saved);
    }
}

static void brute_keeps(struct brute *b, uint32_t l)
{
    if (l + 1 >= b->arch->n_level) {
        brute_order(b, 0, 0);
        return;
    }
    for (uint32_t keep = b->bypass ? 0 : 7; keep < 8; keep++) {
        b->mapping.level[l].keep = (uint8_t)keep;
        brute_keeps(b, l + 1);
    }
    b->mapping.level[l].keep = 7;
}

static void brute_axes(struct brute *b)
{
    for (uint32_t l = 0; l < b->arch->n_level; l++) {
        struct mapping_level *level = &b->mapping.level[l];
        uint32_t n = 0;
        for (int part = 0; part < 3; part++) {
            for (uint32_t d = 0; d < b->problem->n_dim; d++) {
                int where = b->x[l] >> d & 1u ? 0 : b->y[l] >> d & 1u ? 1 : 2;
                if (where == part)
                    level->spatial_order[n++] = (uint8_t)d;
            }
            if (part == 0)
                level->split = (uint8_t)n;
        }
    }
    brute_keeps(b, 0);
}

/* Give prime number i to every place. */
static void brute_place(struct brute *b, uint32_t i)
{
    if (i == b->n_prime) {
        brute_axes(b);
        return;
    }
    uint32_t d = b->dim[i], p = b->prime[i];
    for (uint32_t l = 0; l < b->arch->n_level; l++) {
        struct mapping_level *level = &b->mapping.level[l];
        level->temporal[d] *= p;
        brute_place(b, i + 1);
        level->temporal[d] /= p;
        for (int axis = 0; axis < 2; axis++) {
            uint32_t *mine = axis ? &b->y[l] : &b->x[l], *other = axis ? &b->x[l] : &b->y[l], saved = *mine;
            if (*other >> d & 1u)
                continue;
            level->spatial[d] *= p;
            *mine |= 1u << d;
            brute_place(b, i + 1);
            *mine = saved;
            level->spatial[d] /= p;
        }
    }
}

static double brute_force(const struct problem *problem, const struct architecture *arch,
                          const char *objective, bool bypass)
{
    struct dse_error err;
    struct brute b = {.problem = problem, .arch = arch, .bypass = bypass, .best = INFINITY};
    assert_int_equal(objective_parse(objective, &b.objective, &err), DSE_OK);
    assert_int_equal(evaluator_new(&accounting_timeloop, problem, arch, &b.evaluator, &err), DSE_OK);
    assert_int_equal(eval_workspace_new(b.evaluator, &b.workspace, &err), DSE_OK);
    mapping_init(&b.mapping, problem, arch);
    b.all_spatial_orders = arch->link_transfers || arch->level[1].hop_energy_j > 0;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        uint32_t rest = problem->bound[d];
        b.mapping.level[arch->n_level - 1].temporal[d] = 1;
        for (uint32_t p = 2; p <= rest; p++)
            for (; rest % p == 0; rest /= p) {
                b.dim[b.n_prime] = d;
                b.prime[b.n_prime++] = p;
            }
    }
    brute_place(&b, 0);
    assert_true(b.n_valid > 0);
    eval_workspace_delete(b.workspace);
    evaluator_delete(b.evaluator);
    return b.best;
}

static void solve(const char *name, const struct problem *problem, const struct architecture *arch,
                  const char *objective, bool bypass, uint64_t seed, struct engine_result *result)
{
    const struct engine *engine = engine_find(name);
    struct evaluator *evaluator;
    struct arena arena;
    struct dse_error err;
    double option[OPTION_MAX];
    arena_init(&arena);
    assert_non_null(engine);
    engine_option_defaults(engine, option);
    assert_int_equal(engine_option_set(engine, "search_bypass", bypass ? "true" : "false", option, &err),
                     DSE_OK);
    assert_int_equal(evaluator_new(&accounting_timeloop, problem, arch, &evaluator, &err), DSE_OK);
    struct engine_task task = {
        .evaluator = evaluator, .architecture = arch, .batch = 1, .option = option, .seed = seed, .key = 11};
    assert_int_equal(objective_parse(objective, &task.objective, &err), DSE_OK);
    if (engine_solve(engine, &task, &arena, result, &err) != DSE_OK)
        fail_msg("%s: %s", name, err.text);
    evaluator_delete(evaluator);
    arena_free(&arena);
}

static void check_optimum(const struct problem *problem, const struct architecture *arch,
                          const char *objective, bool bypass)
{
    struct engine_result result;
    solve("exhaustive", problem, arch, objective, bypass, 1, &result);
    double best = brute_force(problem, arch, objective, bypass);
    assert_true(result.feasible);
    assert_int_equal(result.stop, STOP_OPTIMAL);
    if (!(fabs(result.cost - best) <= 1e-12 * best))
        fail_msg("%s %s: exhaustive %.17g, brute force %.17g", problem->name, objective, result.cost, best);
    assert_true(result.bound <= result.cost * (1 + 1e-12));
}

static void test_exhaustive_finds_the_optimum_of_gemm(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    small_gemm(&problem, 4, 2, 4);
    small_machine(&arch, 6, 20);
    check_optimum(&problem, &arch, "edp", false);
    check_optimum(&problem, &arch, "energy", false);
    check_optimum(&problem, &arch, "latency", false);
}

static void test_exhaustive_finds_the_optimum_of_conv(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    small_conv(&problem, 3, 2, 2, 2);
    small_machine(&arch, 8, 30);
    check_optimum(&problem, &arch, "edp", false);
    check_optimum(&problem, &arch, "energy", false);
}

static void test_exhaustive_finds_the_optimum_with_link_transfers(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    small_conv(&problem, 3, 2, 1, 2);
    small_machine(&arch, 8, 30);
    arch.link_transfers = true;
    check_optimum(&problem, &arch, "energy", false);
}

static void test_exhaustive_finds_the_optimum_with_hops(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    small_gemm(&problem, 4, 2, 2);
    small_machine(&arch, 6, 20);
    arch.level[1].hop_energy_j = 3e-12;
    arch.level[1].router_energy_j = 1e-12;
    check_optimum(&problem, &arch, "energy", false);
}

static void test_exhaustive_finds_the_optimum_with_bypass(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    small_gemm(&problem, 2, 2, 4);
    small_machine(&arch, 2, 9);
    check_optimum(&problem, &arch, "energy", true);
    check_optimum(&problem, &arch, "edp", true);
}

/* A space as large as this is refused with its size. */
static void test_exhaustive_refuses_a_large_space(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct evaluator *evaluator;
    struct arena arena;
    struct dse_error err;
    struct engine_result result;
    const struct engine *engine = engine_find("exhaustive");
    double option[OPTION_MAX];
    arena_init(&arena);
    small_conv(&problem, 3, 64, 64, 64);
    small_machine(&arch, 64, 1024);
    engine_option_defaults(engine, option);
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_OK);
    struct engine_task task = {
        .evaluator = evaluator, .architecture = &arch, .option = option, .objective = {1, 1}};
    assert_int_equal(engine_solve(engine, &task, &arena, &result, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "too large for exhaustive"));
    evaluator_delete(evaluator);
    arena_free(&arena);
}

/* The searches that improve step by step reach the proved optimum of small spaces; random draws come near. */
static void test_other_mappers_reach_the_optimum(void **state)
{
    (void)state;
    static const char *const exact[] = {"descent", "annealing", "genetic"};
    static const char *const near[] = {"random", "hybrid"};
    for (int c = 0; c < 3; c++) {
        struct problem problem;
        struct architecture arch;
        struct engine_result best, result;
        if (c == 0)
            small_gemm(&problem, 8, 4, 8);
        else
            small_conv(&problem, 3, 4, c == 1 ? 4 : 2, 4);
        small_machine(&arch, c == 2 ? 16 : 8, c == 2 ? 128 : 48);
        solve("exhaustive", &problem, &arch, "edp", false, 1, &best);
        assert_int_equal(best.stop, STOP_OPTIMAL);
        for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
            solve(exact[i], &problem, &arch, "edp", false, 3, &result);
            if (!(fabs(result.cost - best.cost) <= 1e-9 * best.cost))
                fail_msg("case %d: %s found %.10g, the optimum is %.10g", c, exact[i], result.cost,
                         best.cost);
        }
        for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
            solve(near[i], &problem, &arch, "edp", false, 3, &result);
            if (!(result.cost >= best.cost * (1 - 1e-9) && result.cost <= 1.5 * best.cost))
                fail_msg("case %d: %s found %.10g, the optimum is %.10g", c, near[i], result.cost, best.cost);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive_finds_the_optimum_of_gemm),
        cmocka_unit_test(test_exhaustive_finds_the_optimum_of_conv),
        cmocka_unit_test(test_exhaustive_finds_the_optimum_with_link_transfers),
        cmocka_unit_test(test_exhaustive_finds_the_optimum_with_hops),
        cmocka_unit_test(test_exhaustive_finds_the_optimum_with_bypass),
        cmocka_unit_test(test_exhaustive_refuses_a_large_space),
        cmocka_unit_test(test_other_mappers_reach_the_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
