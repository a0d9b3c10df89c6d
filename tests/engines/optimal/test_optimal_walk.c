/* The walk of one spread against every mapping that has it, and what a limit leaves out.
 * Tests: optimal_leaf.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/mapspace/mapspace_enumerate.h"
#include "engines/mapspace/mapspace_order.h"
#include "engines/optimal/optimal_walk.h"
#include "tests/engines/optimal/optimal_case.h"

struct priced {
    const struct evaluator *evaluator;
    struct eval_workspace *workspace;
    const struct optimal_spread *spread;
    double best;
    uint64_t n;
};

static bool price(void *self, const struct mapping *mapping)
{
    struct priced *priced = self;
    struct evaluation evaluation;
    for (uint32_t l = 0; l < mapping->n_level; l++)
        for (uint32_t d = 0; d < mapping->n_dim; d++)
            if (mapping->level[l].spatial[d] != priced->spread->factor[l][d])
                return true;
    assert_true(evaluator_run(priced->evaluator, priced->workspace, mapping, &evaluation));
    priced->best = fmin(priced->best, evaluation.energy_j);
    priced->n++;
    return true;
}

static void all_mappings(const struct mapspace *space, struct arena *arena, struct priced *priced)
{
    struct mapspace_enumerator *enumerator;
    struct order_walk walk;
    struct mapping mapping;
    struct dse_error err;
    assert_int_equal(mapspace_enumerator_new(space, arena, &enumerator, &err), DSE_OK);
    while (mapspace_enumerator_next(enumerator, UINT32_MAX, &mapping, NULL) == ENUMERATE_FOUND) {
        bool more = true;
        for ((void)order_walk_start(&walk, space, &mapping, true); more;
             more = order_walk_next(&walk, &mapping))
            (void)price(priced, &mapping);
    }
}

static void check_case(uint64_t i, uint32_t *n_found)
{
    struct problem problem;
    struct architecture arch;
    struct optimal_model model;
    struct optimal_sweep *sweep;
    struct optimal_walk *walk;
    struct optimal_spread spread;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    const struct mapspace *space;
    struct mapping drawn;
    struct arena arena;
    struct dse_error err;
    double swept;
    struct random_stream stream = random_stream_make(4, i, RANDOM_INIT);
    arena_init(&arena);
    optimal_case(i, 16, &problem, &arch);
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_OK);
    assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    assert_int_equal(optimal_model_new(&problem, &arch, NULL, &arena, &model, &err), DSE_OK);
    assert_int_equal(optimal_sweep_new(&model, &arena, &sweep, &err), DSE_OK);
    if (i % 2) /* the table of open events is full */
        sweep->most_masks = 1 + (uint32_t)i % 7;
    assert_int_equal(optimal_walk_new(sweep, &arena, &walk, &err), DSE_OK);
    if (!mapspace_is_empty(space) && mapspace_size(space).log10_total < 6 &&
        mapspace_draw(space, &stream, &drawn, NULL, NULL)) {
        memset(&spread, 0, sizeof spread);
        for (uint32_t l = 0; l < arch.n_level; l++)
            memcpy(spread.factor[l], drawn.level[l].spatial, sizeof spread.factor[l]);
        optimal_spread_complete(&model, &spread);
        struct priced all = {evaluator, workspace, &spread, INFINITY, 0}, walked = all, none = all;
        all_mappings(space, &arena, &all);
        assert_int_equal(
            optimal_sweep_run(sweep, &spread, (struct optimal_price){.joule = 1}, INFINITY, &swept, &err),
            DSE_OK);
        walk->visit = price;
        walk->self = &walked;
        for (optimal_walk_start(walk, all.best * (1 + 1e-9)); optimal_walk_next(walk);)
            continue;
        assert_int_equal(walk->at, arch.n_level);
        assert_true(fabs(walked.best - all.best) <= 1e-12 * all.best);
        walk->self = &none;
        for (optimal_walk_start(walk, swept * (1 - 1e-9)); optimal_walk_next(walk);)
            continue;
        assert_true(none.n == 0 || i % 2);
        ++*n_found;
    }
    eval_workspace_delete(workspace);
    evaluator_delete(evaluator);
    arena_free(&arena);
}

static void test_it_meets_the_best_mapping_of_a_spread(void **state)
{
    (void)state;
    uint32_t n = 0;
    for (uint64_t i = 0; i < 150; i++)
        check_case(i, &n);
    assert_true(n > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_meets_the_best_mapping_of_a_spread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
