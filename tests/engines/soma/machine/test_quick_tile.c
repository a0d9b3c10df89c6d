/* The quick mapper of tiles: which tiles are one, that a canonical tile is the same work, and that a cost is
 * a function of tile and machine alone and as good as that of the long search, whatever the buffer and the
 * DRAM cost.
 * Tests: quick_tile.c, quick_nest.c, tile_fill.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/soma/machine/quick_nest.h"
#include "engines/soma/machine/quick_tile.h"
#include "engines/soma/machine/tile_fill.h"
#include "tests/support/core_fixture.h"

enum { BUDGET = 2000 };

static struct core_tile make(uint32_t b, uint32_t k, uint32_t c, uint32_t h, uint32_t w, uint32_t r,
                             uint32_t s, uint32_t stride)
{
    return (struct core_tile){.b = b,
                              .k = k,
                              .c = c,
                              .h = h,
                              .w = w,
                              .r = r,
                              .s = s,
                              .stride_h = stride,
                              .stride_w = stride,
                              .groups = 1,
                              .dilation_h = 1,
                              .dilation_w = 1};
}

static struct core_tile as_product(struct core_tile tile)
{
    tile.weights_from_layer = true;
    return tile;
}

static struct core_tile as_groups(struct core_tile tile, uint32_t groups)
{
    tile.groups = groups;
    return tile;
}

static void check_same(struct core_tile a, struct core_tile b)
{
    const uint32_t field[][2] = {{a.b, b.b},
                                 {a.k, b.k},
                                 {a.c, b.c},
                                 {a.h, b.h},
                                 {a.w, b.w},
                                 {a.r, b.r},
                                 {a.s, b.s},
                                 {a.stride_h, b.stride_h},
                                 {a.stride_w, b.stride_w},
                                 {a.groups, b.groups},
                                 {a.dilation_h, b.dilation_h},
                                 {a.dilation_w, b.dilation_w},
                                 {a.weights_from_layer, b.weights_from_layer}};
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        assert_int_equal(field[i][0], field[i][1]);
}

static void test_one_tile_stands_for_many(void **state)
{
    const struct {
        struct core_tile tile, one;
    } known[] = {
        {make(1, 8, 4, 9, 7, 1, 1, 1), make(1, 8, 4, 63, 1, 1, 1, 1)},
        {make(2, 8, 4, 3, 7, 1, 1, 1), make(1, 8, 4, 42, 1, 1, 1, 1)},
        /* weights of their own for each sample; strides jump over rows and columns */
        {as_product(make(2, 8, 4, 3, 7, 1, 1, 1)), as_product(make(2, 8, 4, 21, 1, 1, 1, 1))},
        {make(2, 8, 4, 3, 7, 1, 1, 2), make(2, 8, 4, 7, 3, 1, 1, 2)},
        /* but over nothing where there is but one */
        {make(3, 8, 4, 1, 1, 1, 1, 2), make(1, 8, 4, 3, 1, 1, 1, 1)},
        {make(1, 8, 4, 7, 9, 3, 3, 1), make(1, 8, 4, 9, 7, 3, 3, 1)},
        {make(1, 8, 4, 9, 7, 3, 3, 1), make(1, 8, 4, 9, 7, 3, 3, 1)},
        /* a window of one row leaves rows and samples to each other */
        {make(2, 8, 4, 9, 5, 1, 7, 1), make(1, 8, 4, 5, 18, 7, 1, 1)},
        {make(2, 8, 4, 5, 9, 7, 1, 1), make(1, 8, 4, 5, 18, 7, 1, 1)},
        {as_groups(make(1, 8, 8, 5, 9, 3, 3, 2), 8), as_groups(make(1, 8, 8, 9, 5, 3, 3, 2), 8)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct problem a, b;
        struct dse_error err;
        check_same(quick_tile_canonical(&known[i].tile), known[i].one);
        check_same(quick_tile_canonical(&known[i].one), known[i].one);
        assert_int_equal(mapper_core_problem(&known[i].tile, &a, &err), DSE_OK);
        assert_int_equal(mapper_core_problem(&known[i].one, &b, &err), DSE_OK);
        assert_int_equal(problem_macs(&a), problem_macs(&b));
    }
    struct core_tile vector = make(1, 8, 8, 3, 9, 1, 1, 1);
    vector.operation = CORE_VECTOR;
    check_same(quick_tile_canonical(&vector), vector);
}

/* No product beyond 2^32 - 1. */
static void test_extents_too_large_to_merge_stay(void **state)
{
    const struct core_tile tile = make(1, 8, 4, 1 << 20, 1 << 12, 1, 1, 1);
    (void)state;
    check_same(quick_tile_canonical(&tile), tile);
}

static void test_bounds_are_filled_up(void **state)
{
    const struct core_tile tile = make(3, 35, 4, 33, 21, 3, 3, 1);
    struct problem problem;
    struct dse_error err;
    (void)state;
    assert_int_equal(mapper_core_problem(&tile, &problem, &err), DSE_OK);
    assert_true(tile_fill(&problem, "Q", false));
    assert_int_equal(problem.bound[problem_find_dim(&problem, "Q")], 24);
    assert_int_equal(problem.bound[problem_find_dim(&problem, "P")], 33);
    assert_false(tile_fill(&problem, "QN", true)); /* 24 is smooth, 3 below 5 */
    assert_true(tile_fill(&problem, "PQNCK", true));
    assert_int_equal(problem.bound[problem_find_dim(&problem, "P")], 36);
    assert_int_equal(problem.bound[problem_find_dim(&problem, "K")], 36);
    assert_int_equal(problem.bound[problem_find_dim(&problem, "C")], 4);
}

struct fixture {
    struct core_fixture on;
    struct core_cache *cache;
    struct core_cached cached, searched;
};

static void join(struct fixture *f)
{
    f->on.core.quick = true;
    if (mapper_core_join(f->cache, &f->on.core, &f->cached, &f->on.err) != DSE_OK ||
        mapper_core_join_quick(f->cache, &f->on.core, &f->searched, &f->on.err) != DSE_OK)
        fail_msg("%s", f->on.err.text);
}

/* On f->on.arch, which was changed. */
static void open_machine(struct fixture *f)
{
    if (core_machine_split(&f->on.arch, &f->on.split, &f->on.err) != DSE_OK ||
        mapper_core_init(&f->on.split, engine_find("descent"), NULL, BUDGET, &f->on.core, &f->on.err) !=
            DSE_OK)
        fail_msg("%s", f->on.err.text);
    join(f);
}

static void open_quick(struct fixture *f, const char *arch)
{
    core_fixture_open(&f->on, arch, "descent", BUDGET);
    if (core_cache_new(1 << 12, &f->cache, &f->on.err) != DSE_OK)
        fail_msg("%s: %s", arch, f->on.err.text);
    join(f);
}

static void close_quick(struct fixture *f)
{
    core_cache_free(f->cache);
    arena_free(&f->on.arena);
}

static struct core_cost cost_of(struct fixture *f, const struct core_tile *tile)
{
    struct core_cost cost;
    if (mapper_core_cost(&f->on.core, tile, &cost, &f->on.err) != DSE_OK)
        fail_msg("%s", f->on.err.text);
    return cost;
}

static const uint32_t extents[][2] = {{14, 14}, {9, 13}, {13, 9}, {7, 5}, {33, 31}, {1, 1}};

enum { N_EXTENT = sizeof extents / sizeof *extents };

static struct core_tile conv(uint32_t i)
{
    return make(1, 64, 48, extents[i][0], extents[i][1], 3, 3, 1);
}

/* What it says of the mapping is what the plain cost model says, and the checker takes it. */
static void test_mapping_costs_what_is_said(void **state)
{
    static struct fixture f;
    (void)state;
    open_quick(&f, "simba_fused");
    for (uint32_t i = 0; i < N_EXTENT; i++) {
        const struct core_tile tile = conv(i);
        struct problem problem;
        struct evaluator *evaluator;
        struct evaluation_detail *plain = arena_alloc(&f.on.arena, 1, sizeof *plain);
        struct engine_result *result = arena_alloc(&f.on.arena, 1, sizeof *result);
        char reason[256];
        assert_int_equal(mapper_core_solve(&f.on.core, &tile, &f.on.arena, &problem, result, &f.on.err),
                         DSE_OK);
        assert_true(result->feasible && result->n_evaluation > 0);
        assert_int_equal(
            evaluator_new(&accounting_timeloop, &problem, &f.on.split.core, &evaluator, &f.on.err), DSE_OK);
        assert_true(evaluator_check(evaluator, &result->mapping, reason, sizeof reason));
        assert_int_equal(evaluator_detail(evaluator, &result->mapping, &f.on.arena, plain, &f.on.err),
                         DSE_OK);
        assert_int_equal(plain->total.latency_cycle, result->evaluation.latency_cycle);
        assert_true(fabs(plain->total.energy_j - result->evaluation.energy_j) < 1e-9 * plain->total.energy_j);
        assert_true(problem_macs(&problem) >= 9ull * 64 * 48 * tile.h * tile.w);
        evaluator_delete(evaluator);
    }
    close_quick(&f);
}

/* Whatever was asked before, and with a cache or without: the same cost. A transposed tile costs the same. */
static void test_cost_is_a_function_of_the_tile(void **state)
{
    static struct fixture f;
    struct core_cost alone[N_EXTENT];
    (void)state;
    open_quick(&f, "simba_fused");
    for (uint32_t i = 0; i < N_EXTENT; i++) {
        const struct core_tile tile = conv(i);
        alone[i] = cost_of(&f, &tile);
    }
    f.on.core.shared = &f.searched;
    const struct core_scheduler scheduler = quick_tile_scheduler(&f.cached);
    for (uint32_t i = N_EXTENT; i-- > 0;) {
        const struct core_tile tile = conv(i);
        struct core_cost cost;
        assert_int_equal(scheduler.cost(scheduler.self, &tile, &cost, &f.on.err), DSE_OK);
        assert_memory_equal(&cost, &alone[i], sizeof cost);
    }
    assert_memory_equal(&alone[1], &alone[2], sizeof *alone);
    close_quick(&f);
}

/* Energy x time of all tiles together, by the long search and by the quick one. */
static void sum_tiles(struct fixture *f, double sum[2])
{
    for (int quick = 0; quick < 2; quick++) {
        f->on.core.quick = quick;
        sum[quick] = 0;
        for (uint32_t i = 0; i < N_EXTENT; i++) {
            const struct core_tile tile = conv(i);
            const struct core_cost cost = cost_of(f, &tile);
            sum[quick] += cost.energy_j * (double)cost.cycle;
        }
    }
}

/* Energy x time in all, against the search that takes as many evaluations for every nest of every tile. */
static void test_it_is_as_good_as_the_long_search(void **state)
{
    static const char *const arch[] = {"simba_fused", "soma_edge"};
    static struct fixture f;
    (void)state;
    for (size_t a = 0; a < sizeof arch / sizeof *arch; a++) {
        double sum[2];
        open_quick(&f, arch[a]);
        sum_tiles(&f, sum);
        if (sum[1] > 1.05 * sum[0])
            fail_msg("%s: %g J cycles, by the long search %g", arch[a], sum[1], sum[0]);
        close_quick(&f);
    }
}

/* The tiles of a network count together: a quarter of the rows of each different convolution of ResNet-50.
 * The sum is no worse than that of the long search; single tiles of odd extents, above, may be: there the
 * quick one goes down from few starts. */
static void test_sum_over_resnet50_is_that_of_the_long_search(void **state)
{
    static struct fixture f;
    struct network net;
    double sum[2] = {0};
    (void)state;
    open_quick(&f, "simba_fused");
    if (network_read("experiments/networks/resnet50.yaml", &net, &f.on.err) != DSE_OK)
        fail_msg("%s", f.on.err.text);
    for (int quick = 0; quick < 2; quick++) {
        f.on.core.quick = quick;
        for (uint32_t l = 0; l < net.n_layer; l++) {
            const struct layer *layer = &net.layer[l];
            bool is_new = layer_has_macs(layer);
            for (uint32_t k = 0; k < l && is_new; k++)
                is_new = !layer_same_problem(layer, &net.layer[k]);
            if (!is_new)
                continue;
            const struct core_tile tile = core_tile_of(layer, 1, layer->k, (layer->p + 3) / 4, layer->q);
            const struct core_cost cost = cost_of(&f, &tile);
            sum[quick] += cost.energy_j * (double)cost.cycle;
        }
    }
    if (sum[1] > 1.01 * sum[0])
        fail_msg("%g J cycles, by the long search %g", sum[1], sum[0]);
    network_free(&net);
    close_quick(&f);
}

/* Accesses that cost `share` times as much. */
static void set_energies(struct storage_level *level, const struct storage_level *from, double share)
{
    level->read_energy_j = share * from->read_energy_j;
    level->write_energy_j = share * from->write_energy_j;
    level->update_energy_j = share * from->update_energy_j;
}

/* Machines that differ in what the buffer and the DRAM take share searches: the second pays a few evaluations
 * for a tile, and each tile costs what it does where nothing was asked before. */
static void test_machines_of_other_energies_share_searches(void **state)
{
    static const char *const name[] = {"simba_fused", "simba"}; /* weights of the latter come from the DRAM */
    static const double share[] = {1, 1.0 / 16, 16, 3};
    static struct fixture f;
    (void)state;
    for (size_t a = 0; a < sizeof name / sizeof *name; a++) {
        open_quick(&f, name[a]);
        const struct architecture arch = f.on.arch;
        const uint32_t dram = arch.n_level - 1, buffer = f.on.split.buffer;
        for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
            const struct core_tile tile = conv(1);
            struct problem problem;
            struct engine_result *result = arena_alloc(&f.on.arena, 1, sizeof *result);
            set_energies(&f.on.arch.level[buffer], &arch.level[buffer], share[i]);
            set_energies(&f.on.arch.level[dram], &arch.level[dram], 1 / share[i]);
            open_machine(&f);
            const struct core_cost alone = cost_of(&f, &tile);
            f.on.core.shared = &f.searched;
            assert_int_equal(mapper_core_solve(&f.on.core, &tile, &f.on.arena, &problem, result, &f.on.err),
                             DSE_OK);
            assert_true(i == 0 ? result->n_evaluation > 500 : result->n_evaluation < 50);
            const struct core_cost cost = cost_of(&f, &tile);
            assert_memory_equal(&cost, &alone, sizeof cost);
        }
        close_quick(&f);
    }
}

/* And the mappings are as good there as those that the long search finds on each machine by itself. */
static void test_shared_searches_are_good_at_any_energy(void **state)
{
    static const double share[] = {1.0 / 8, 8};
    static struct fixture f;
    (void)state;
    for (size_t s = 0; s < sizeof share / sizeof *share; s++) {
        double sum[2];
        open_quick(&f, "simba_fused");
        struct storage_level *buffer = &f.on.arch.level[f.on.split.buffer];
        const struct storage_level as_it_is = *buffer;
        set_energies(buffer, &as_it_is, share[s]);
        open_machine(&f);
        sum_tiles(&f, sum);
        if (sum[1] > 1.05 * sum[0])
            fail_msg("%g times the energy: %g J cycles, by the long search %g", share[s], sum[1], sum[0]);
        close_quick(&f);
    }
}

/* A list of mappings is what it was when it was packed. */
static void test_lists_are_packed_and_unpacked(void **state)
{
    static struct fixture f;
    static struct quick_list list, back, packed;
    struct problem problem;
    const struct core_tile tile = conv(0);
    (void)state;
    open_quick(&f, "simba");
    assert_int_equal(mapper_core_problem(&tile, &problem, &f.on.err), DSE_OK);
    for (list.n = 0; list.n < QUICK_LIST_MAX; list.n++) {
        memset(&back, 0, sizeof back);
        const size_t length = quick_list_pack(&list, &packed);
        assert_true(length <= sizeof packed / 2 || list.n == 0);
        quick_list_unpack(&packed, &back);
        assert_memory_equal(&back, &list, sizeof list);
        list.value = 1.5 * list.n;
        mapping_init(&list.mapping[list.n], &problem, &f.on.core.arch);
        list.mapping[list.n].level[1].temporal[3] = 7 + list.n;
    }
    close_quick(&f);
}

static void test_cancelled_search_has_no_cost(void **state)
{
    static struct fixture f;
    const atomic_int cancel = 1;
    const struct core_tile tile = conv(0);
    struct core_cost cost;
    (void)state;
    open_quick(&f, "simba_fused");
    f.on.core.shared = &f.searched;
    f.on.core.cancel = &cancel;
    assert_int_equal(mapper_core_cost(&f.on.core, &tile, &cost, &f.on.err), DSE_BAD_INPUT);
    assert_non_null(strstr(f.on.err.text, "the time was over before"));
    f.on.core.cancel = NULL; /* and nothing half done was kept */
    const struct core_cost shared = cost_of(&f, &tile);
    f.on.core.shared = NULL;
    cost = cost_of(&f, &tile);
    assert_memory_equal(&shared, &cost, sizeof cost);
    close_quick(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_tile_stands_for_many),
        cmocka_unit_test(test_extents_too_large_to_merge_stay),
        cmocka_unit_test(test_bounds_are_filled_up),
        cmocka_unit_test(test_mapping_costs_what_is_said),
        cmocka_unit_test(test_cost_is_a_function_of_the_tile),
        cmocka_unit_test(test_it_is_as_good_as_the_long_search),
        cmocka_unit_test(test_sum_over_resnet50_is_that_of_the_long_search),
        cmocka_unit_test(test_machines_of_other_energies_share_searches),
        cmocka_unit_test(test_shared_searches_are_good_at_any_energy),
        cmocka_unit_test(test_lists_are_packed_and_unpacked),
        cmocka_unit_test(test_cancelled_search_has_no_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
