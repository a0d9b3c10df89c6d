/* The bounds of engine optimal on random cases: the fast sweep against the plain form over all pairs of
 * tiles, and both bounds against drawn mappings of their spread.
 * Tests: optimal_model.c, optimal_price.c, optimal_places.c, optimal_spreads.c, optimal_step.c,
 * optimal_sweep_events.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/mapspace/mapspace.h"
#include "engines/optimal/optimal_places.h"
#include "engines/optimal/optimal_spreads.h"
#include "engines/optimal/optimal_sweep.h"
#include "tests/engines/optimal/optimal_case.h"

#ifndef OPTIMAL_CASES
#define OPTIMAL_CASES 120
#endif

#ifndef OPTIMAL_DRAWS
#define OPTIMAL_DRAWS 30
#endif

enum { BOUNDS_MAX = 64, STATE_MAX = 256 };

struct plain_state {
    uint32_t mask;
    double value;
};

struct plain_node {
    uint32_t n;
    struct plain_state state[STATE_MAX];
};

static void reach(struct plain_node *node, uint32_t mask, double value)
{
    uint32_t i = 0;
    while (i < node->n && node->state[i].mask != mask)
        i++;
    if (i == node->n) {
        assert_true(node->n < STATE_MAX);
        node->state[node->n++] = (struct plain_state){mask, value};
    }
    node->state[i].value = fmin(node->state[i].value, value);
}

/* The dynamic programme as it is said: every level, every pair of tiles, every choice. */
static double plain_sweep(const struct optimal_model *model, const struct optimal_spread *spread,
                          struct optimal_price price, struct arena *arena)
{
    const struct lattice *tiles = spread->tiles;
    struct plain_node *in = arena_alloc(arena, tiles->n, sizeof *in);
    double least = INFINITY;
    reach(&in[0], 0, optimal_fixed_price(model, spread, price));
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        struct plain_node *out = arena_alloc(arena, tiles->n, sizeof *out);
        for (uint32_t i = 0; i < tiles->n; i++) {
            const double spatial = optimal_spatial_price(model, spread, price, l, i);
            for (uint32_t s = 0; s < in[i].n; s++)
                for (uint32_t to = 0; to < tiles->n; to++) {
                    struct optimal_choice choice[OPTIMAL_CHOICE_MAX];
                    uint32_t extent[PROBLEM_DIM_MAX];
                    for (uint32_t d = 0; d < model->problem->n_dim; d++)
                        extent[d] = tiles->extent[d][to] * spread->span[l][d];
                    if (!model->fits[l][lattice_node(&model->lattice, extent)] ||
                        !lattice_divides(tiles, i, to))
                        continue;
                    uint32_t n = optimal_step(model, spread, price, l, in[i].state[s].mask, i, to, choice);
                    while (n-- > 0)
                        reach(&out[to], optimal_mask_open(model, l, choice[n].mask),
                              in[i].state[s].value + spatial + choice[n].price);
                }
        }
        in = out;
    }
    for (uint32_t s = 0; s < in[tiles->n - 1].n; s++)
        least = fmin(least, in[tiles->n - 1].state[s].value +
                                optimal_rest_price(model, spread, price, in[tiles->n - 1].state[s].mask));
    return least;
}

struct bench {
    struct problem problem;
    struct architecture arch;
    struct optimal_model model;
    struct optimal_places places;
    struct optimal_sweep *sweep;
    struct optimal_price price[OPTIMAL_PRICE_MAX];
    uint32_t n_price;
    struct arena arena;
};

static void bench_init(struct bench *bench, uint64_t i, uint64_t macs)
{
    struct dse_error err;
    arena_init(&bench->arena);
    optimal_case(i, macs, &bench->problem, &bench->arch);
    assert_int_equal(
        optimal_model_new(&bench->problem, &bench->arch, NULL, &bench->arena, &bench->model, &err), DSE_OK);
    assert_int_equal(optimal_places_new(&bench->model, &bench->arena, &bench->places, &err), DSE_OK);
    assert_int_equal(optimal_sweep_new(&bench->model, &bench->arena, &bench->sweep, &err), DSE_OK);
    bench->n_price = optimal_prices(&bench->arch, bench->price);
}

/* A sweep by a limit finds `value`, the least, if that is below the limit, and else nothing less. */
static void check_limits(struct bench *bench, const struct optimal_spread *spread, struct optimal_price price,
                         double value)
{
    static const double share[] = {0.5, 0.9, 1 - 1e-9, 1 + 1e-9, 1.01, 1.5};
    for (uint32_t i = 0; i < sizeof share / sizeof share[0]; i++) {
        struct dse_error err;
        double found;
        assert_int_equal(optimal_sweep_run(bench->sweep, spread, price, share[i] * value, &found, &err),
                         DSE_OK);
        if (share[i] > 1 ? found != value : found < value)
            fail_msg("by a limit of %g of it a sweep finds %.17g instead of %.17g", share[i], found, value);
    }
}

static void test_the_sweep_is_never_above_its_plain_form(void **state)
{
    (void)state;
    uint32_t n = 0, same = 0;
    for (uint64_t i = 0; i < OPTIMAL_CASES; i++) {
        struct bench bench;
        struct optimal_spreads spreads;
        struct optimal_spread spread;
        struct dse_error err;
        uint16_t place[ARCH_LEVEL_MAX];
        bool over = false;
        bench_init(&bench, i, 24);
        if (i % 8 == 0) /* the table of open events is full */
            bench.sweep->most_masks = 1 + (uint32_t)i % 7;
        assert_int_equal(optimal_spreads_init(&spreads, &bench.model, &err), DSE_OK);
        for (uint32_t k = 0; k < 3 && !over; k++) {
            if (!optimal_spreads_next(&spreads, 1000, &spread, place, &over))
                continue;
            const struct optimal_price price = bench.price[(i + k) % bench.n_price];
            double fast;
            optimal_spread_complete(&bench.model, &spread);
            assert_int_equal(optimal_sweep_run(bench.sweep, &spread, price, INFINITY, &fast, &err), DSE_OK);
            if (i % 8 != 0 && fast > 0 && fast < INFINITY)
                check_limits(&bench, &spread, price, fast);
            spread = bench.sweep->spread;
            const double tabled = k > 0 ? 0 : plain_sweep(&bench.model, &spread, price, &bench.arena);
            spread.close = NULL;
            const double plain = plain_sweep(&bench.model, &spread, price, &bench.arena);
            assert_true(k > 0 || tabled == plain || fabs(tabled - plain) <= plain * 1e-12);
            assert_true(fast <= plain * (1 + 1e-12));
            assert_int_equal(fast == INFINITY, plain == INFINITY);
            n++;
            same += fast == plain || fast >= plain * (1 - 1e-12);
        }
        optimal_spreads_free(&spreads);
        arena_free(&bench.arena);
    }
    assert_true(same > n / 2);
}

static bool is_worth(void *self, const struct optimal_place *place)
{
    (void)self;
    return place != NULL;
}

/* No table has more sets of open events than are said to be possible. */
static void check_masks(const struct optimal_sweep *sweep)
{
    const double most = optimal_most_masks(sweep->model);
    for (uint32_t l = 0; l <= sweep->model->arch->n_level; l++)
        assert_true(sweep->at[l].n <= most && !sweep->at[l].full);
    assert_true(sweep->run.n <= most && sweep->turned[0].n <= most && sweep->turned[1].n <= most);
}

/* The least energy of the spread with its loops at their best places, level by level. */
static double least_of_places(struct bench *bench, struct optimal_spread *spread, bool exact, uint32_t l)
{
    struct dse_error err;
    double least = INFINITY;
    if (l == bench->arch.n_level) {
        assert_int_equal(optimal_sweep_run(bench->sweep, spread, bench->price[0], INFINITY, &least, &err),
                         DSE_OK);
        return fmax(least, optimal_quick_price(&bench->model, spread, bench->price[0]));
    }
    struct optimal_place *place = arena_alloc(&bench->arena, OPTIMAL_PLACE_MAX, sizeof *place);
    uint32_t n = optimal_places_list(&bench->places, l, spread->factor[l], place);
    assert_true(n > 0);
    if (exact && optimal_is_diagonal(&bench->model, spread, 1u << l)) {
        struct optimal_place *diagonal = arena_alloc(&bench->arena, OPTIMAL_PLACE_MAX, sizeof *diagonal);
        bool all;
        const uint32_t n_diagonal =
            optimal_places_diagonal(&bench->places, spread, l, is_worth, NULL, &all, diagonal);
        if (all)
            memcpy(place, diagonal, (n = n_diagonal) * sizeof *place);
    }
    for (uint32_t i = 0; i < n; i++) {
        spread->place[l] = &place[i];
        least = fmin(least, least_of_places(bench, spread, exact, l + 1));
    }
    return least;
}

/* Lower bounds of the spreads that came up. */
struct bounds {
    uint32_t n;
    struct optimal_spread spread[BOUNDS_MAX];    /* (n) */
    double price[BOUNDS_MAX][OPTIMAL_PRICE_MAX]; /* (n, n_price) */
};

/* Those of a mapping's spread. */
static uint32_t bounds_of(struct bench *bench, const struct mapping *mapping, struct bounds *bounds)
{
    struct optimal_spread spread;
    struct dse_error err;
    memset(&spread, 0, sizeof spread);
    for (uint32_t l = 0; l < bench->arch.n_level; l++)
        memcpy(spread.factor[l], mapping->level[l].spatial, sizeof spread.factor[l]);
    for (uint32_t i = 0; i < bounds->n; i++)
        if (memcmp(bounds->spread[i].factor, spread.factor, sizeof spread.factor) == 0)
            return i;
    const uint32_t i = bounds->n < BOUNDS_MAX ? bounds->n++ : BOUNDS_MAX - 1;
    optimal_spread_complete(&bench->model, &spread);
    bounds->spread[i] = spread;
    for (uint32_t k = 0; k < bench->n_price; k++) {
        const double quick = optimal_quick_price(&bench->model, &spread, bench->price[k]);
        double swept;
        assert_int_equal(optimal_sweep_run(bench->sweep, &spread, bench->price[k], INFINITY, &swept, &err),
                         DSE_OK);
        bounds->price[i][k] = fmax(quick, swept);
        check_masks(bench->sweep);
    }
    const double rough = least_of_places(bench, &spread, false, 0);
    const double exact = least_of_places(bench, &spread, true, 0);
    assert_true(rough <= exact * (1 + 1e-12));
    bounds->price[i][0] = fmax(bounds->price[i][0], exact);
    return i;
}

/* Of one drawn mapping; false: it does not fit. */
static bool check_mapping(struct bench *bench, const struct evaluator *evaluator,
                          struct eval_workspace *workspace, const struct mapping *mapping,
                          struct bounds *bounds)
{
    struct evaluation evaluation;
    if (!evaluator_run(evaluator, workspace, mapping, &evaluation)) {
        assert_true(bench->arch.gpu.present); /* of which draws do not know all limits */
        return false;
    }
    const uint32_t i = bounds_of(bench, mapping, bounds);
    assert_true(bounds->spread[i].cycles == (double)evaluation.compute_cycle);
    assert_true(bounds->price[i][0] <= evaluation.energy_j * (1 + 1e-12));
    for (uint32_t k = 1; k < bench->n_price; k++)
        assert_true(bounds->price[i][k] <=
                    (double)(evaluation.latency_cycle - bench->model.latency) * (1 + 1e-12));
    return true;
}

static void test_no_drawn_mapping_is_below_the_bounds(void **state)
{
    (void)state;
    uint32_t n = 0;
    struct bounds *bounds = malloc(sizeof *bounds);
    assert_non_null(bounds);
    for (uint64_t i = 1000; i < 1000 + OPTIMAL_CASES; i++) {
        struct bench bench;
        struct evaluator *evaluator;
        struct eval_workspace *workspace;
        const struct mapspace *space;
        struct mapping mapping;
        struct dse_error err;
        struct random_stream stream = random_stream_make(3, i, RANDOM_INIT);
        bench_init(&bench, i, 200);
        assert_int_equal(evaluator_new(&accounting_timeloop, &bench.problem, &bench.arch, &evaluator, &err),
                         DSE_OK);
        assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
        assert_int_equal(mapspace_new(evaluator_problem(evaluator), evaluator_architecture(evaluator), NULL,
                                      false, &bench.arena, &space, &err),
                         DSE_OK);
        bounds->n = 0;
        for (uint32_t k = 0; k < OPTIMAL_DRAWS && !mapspace_is_empty(space); k++)
            if (mapspace_draw(space, &stream, &mapping, NULL, NULL))
                n += check_mapping(&bench, evaluator, workspace, &mapping, bounds);
        eval_workspace_delete(workspace);
        evaluator_delete(evaluator);
        arena_free(&bench.arena);
    }
    free(bounds);
    print_message("%u mappings\n", n);
    assert_true(n > OPTIMAL_CASES * OPTIMAL_DRAWS / 2);
}

static bool is_over(const void *never)
{
    return !*(const bool *)never;
}

/* Then 0, which bounds anything, and no state. */
static void test_a_sweep_leaves_off_when_the_search_is_over(void **state)
{
    (void)state;
    struct bench bench;
    struct optimal_spreads spreads;
    struct optimal_spread spread;
    struct dse_error err;
    uint16_t place[ARCH_LEVEL_MAX];
    bool over = false, never = true;
    double value;
    bench_init(&bench, 1, 24);
    assert_int_equal(optimal_spreads_init(&spreads, &bench.model, &err), DSE_OK);
    assert_true(optimal_spreads_next(&spreads, 1000, &spread, place, &over));
    optimal_spread_complete(&bench.model, &spread);
    struct optimal_watch watch = {.over = is_over, .self = &never, .work = 1u << 31};
    bench.sweep->watch = &watch;
    assert_int_equal(optimal_sweep_run(bench.sweep, &spread, bench.price[0], INFINITY, &value, &err), DSE_OK);
    assert_true(value > 0 && bench.sweep->at[1].n > 0 && watch.work < 1u << 31);
    watch.work = 1u << 31;
    never = false;
    assert_int_equal(optimal_sweep_run(bench.sweep, &spread, bench.price[0], INFINITY, &value, &err), DSE_OK);
    assert_true(value == 0 && bench.sweep->at[1].n == 0 && watch.ended);
    optimal_spreads_free(&spreads);
    arena_free(&bench.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_sweep_is_never_above_its_plain_form),
        cmocka_unit_test(test_no_drawn_mapping_is_below_the_bounds),
        cmocka_unit_test(test_a_sweep_leaves_off_when_the_search_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
