/* Tests: atomic_order.c, engine_atomic.c.
 * Every choice of the order is repeated from its rules; the annealed target against all targets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/klotski/atomic_order.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_metrics.h"
#include "engines/klotski/klotski_task.h"
#include "engines/klotski/partition.h"
#include "tests/support/schedule_run.h"

struct fixture {
    struct schedule_run run;
    struct kc_machine machine;
    struct uop_network network;
    struct uop_graph graph;
    uint64_t *start, cycle;
    uint32_t *core, n_core;
    uint32_t depth[256]; /* by layer */
};

static uint32_t place_of(const struct fixture *f, uint32_t core)
{
    const uint32_t row = core / f->machine.columns, column = core % f->machine.columns;
    return row * f->machine.columns + (row % 2 ? f->machine.columns - 1 - column : column);
}

static void find_depths(struct fixture *f)
{
    assert_true(f->network.n_layer <= 256);
    for (uint32_t l = 0; l < f->network.n_layer; l++) {
        f->depth[l] = 0;
        for (uint32_t i = 0; i < f->network.layer[l].n_source; i++) {
            const int32_t from = f->network.source[f->network.layer[l].first_source + i].layer;
            if (from >= 0 && f->depth[from] >= f->depth[l])
                f->depth[l] = f->depth[from] + 1;
        }
    }
}

static void open_graph(struct fixture *f, const char *network, const char *mesh, uint32_t batch)
{
    const struct arch_override set = {"Core.mesh", mesh};
    struct dse_error err;
    schedule_run_open_on(&f->run, &engine_atomic, network, "klotski", &set, 1);
    struct arena *arena = &f->run.arena;
    assert_int_equal(kc_machine_of(&f->run.arch, &f->machine, &err), DSE_OK);
    assert_int_equal(uop_network_of(&f->run.network, UOP_FUSED, arena, &f->network, &err), DSE_OK);
    struct uop_cut *cut = arena_alloc(arena, f->network.n_layer, sizeof *cut);
    for (uint32_t l = 0; l < f->network.n_layer; l++)
        cut[l] = (struct uop_cut){14, 28, 132, 112};
    assert_int_equal(uop_graph_of(&f->network, &f->machine, cut, UOP_SUMS_ALL, batch, arena, &f->graph, &err),
                     DSE_OK);
    f->n_core = f->machine.columns * f->machine.rows;
    f->start = arena_alloc(arena, f->graph.n_uop, sizeof *f->start);
    f->core = arena_alloc(arena, f->graph.n_uop, sizeof *f->core);
    assert_int_equal(atomic_order(&f->graph, &f->machine, false, arena, f->start, f->core, &f->cycle, &err),
                     DSE_OK);
    find_depths(f);
}

static uint64_t end_of(const struct fixture *f, uint32_t u)
{
    return f->start[u] + f->graph.uop[u].cycle;
}

static bool could_start(const struct fixture *f, uint32_t u, uint64_t now)
{
    for (uint32_t k = f->graph.first_producer[u]; k < f->graph.first_producer[u + 1]; k++)
        if (end_of(f, f->graph.producer[k]) > now)
            return false;
    return true;
}

/* What is smaller comes first: begun layers, the sample, the depth, the layer, the uop. */
static void rank(const struct fixture *f, const bool *is_begun, uint32_t u, uint32_t out[5])
{
    const struct uop *uop = &f->graph.uop[u];
    const uint32_t rank_of[5] = {!is_begun[uop->sample * f->network.n_layer + uop->layer], uop->sample,
                                 f->depth[uop->layer], uop->layer, u};
    for (int i = 0; i < 5; i++)
        out[i] = rank_of[i];
}

static bool is_before(const uint32_t a[5], const uint32_t b[5])
{
    int i = 0;
    while (i < 4 && a[i] == b[i])
        i++;
    return a[i] < b[i];
}

static void test_every_choice_is_by_the_rules(void **state)
{
    struct fixture f;
    (void)state;
    open_graph(&f, "experiments/networks/googlenet.yaml", "3x3", 2);
    const uint32_t n = f.graph.n_uop;
    bool *done = arena_alloc(&f.run.arena, n, sizeof *done);
    bool *is_begun = arena_alloc(&f.run.arena, (size_t)2 * f.network.n_layer, sizeof *is_begun);
    uint64_t work = 0, last = 0, *free_at = arena_alloc(&f.run.arena, f.n_core, sizeof *free_at);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t u = UINT32_MAX, mine[5], other[5];
        for (uint32_t v = 0; v < n; v++) /* starts at one time go along the zig-zag */
            if (!done[v] && (u == UINT32_MAX || f.start[v] < f.start[u] ||
                             (f.start[v] == f.start[u] && place_of(&f, f.core[v]) < place_of(&f, f.core[u]))))
                u = v;
        assert_true(could_start(&f, u, f.start[u]) && free_at[f.core[u]] <= f.start[u]);
        rank(&f, is_begun, u, mine);
        for (uint32_t v = 0; v < n; v++) {
            if (done[v] || v == u || !could_start(&f, v, f.start[u]))
                continue;
            rank(&f, is_begun, v, other);
            assert_true(is_before(mine, other));
        }
        done[u] = true;
        is_begun[f.graph.uop[u].sample * f.network.n_layer + f.graph.uop[u].layer] = true;
        free_at[f.core[u]] = end_of(&f, u);
        last = end_of(&f, u) > last ? end_of(&f, u) : last;
        work += f.graph.uop[u].cycle;
    }
    assert_int_equal(last, f.cycle);
    /* Graham: no core is idle while a uop could start */
    assert_true(f.cycle < 2 * uop_bound(&f.graph, f.n_core, &f.run.arena));
    assert_true(f.cycle >= work / f.n_core);
    schedule_run_close(&f.run);
}

/* As many uops as there are accelerators, or all that are ready; the lists run so again, and no two rounds
 * overlap. */
static void test_rounds_take_all_that_fit(void **state)
{
    struct fixture f;
    struct dse_error err;
    struct uop_schedule schedule;
    char reason[128];
    (void)state;
    open_graph(&f, "experiments/networks/googlenet.yaml", "3x3", 2);
    const uint32_t n = f.graph.n_uop;
    const uint64_t dataflow = f.cycle;
    struct uop_times times = {.start = arena_alloc(&f.run.arena, n, sizeof *times.start),
                              .finish = arena_alloc(&f.run.arena, n, sizeof *times.finish)};
    struct uop_link *link = arena_alloc(&f.run.arena, (size_t)f.n_core * UOP_SIDES, sizeof *link);
    assert_int_equal(atomic_order(&f.graph, &f.machine, true, &f.run.arena, f.start, f.core, &f.cycle, &err),
                     DSE_OK);
    for (uint32_t u = 0; u < n; u++) {
        uint32_t beside = 0;
        for (uint32_t v = 0; v < n; v++)
            beside += f.start[v] == f.start[u];
        for (uint32_t v = 0; v < n && beside < f.n_core; v++)
            assert_true(f.start[v] <= f.start[u] || !could_start(&f, v, f.start[u]));
    }
    assert_int_equal(klotski_lists(f.start, f.core, n, f.n_core, &f.run.arena, &schedule, &err), DSE_OK);
    schedule.firing = UOP_ROUNDS;
    assert_int_equal(uop_run(&f.graph, &f.machine, &schedule, &(struct uop_setting){.transport = UOP_IDEAL},
                             &f.run.arena, &times, link, &err),
                     DSE_OK);
    assert_memory_equal(times.start, f.start, n * sizeof *f.start);
    assert_int_equal(times.cycle, f.cycle);
    assert_true(f.cycle > dataflow);
    assert_true(uop_times_check(&f.graph, &schedule, &times, &f.run.arena, reason, sizeof reason));
    schedule.firing = UOP_STATIC; /* as soon as it can, the same lists overlap */
    assert_int_equal(uop_run(&f.graph, &f.machine, &schedule, &(struct uop_setting){.transport = UOP_IDEAL},
                             &f.run.arena, &times, link, &err),
                     DSE_OK);
    schedule.firing = UOP_ROUNDS;
    assert_false(uop_times_check(&f.graph, &schedule, &times, &f.run.arena, reason, sizeof reason));
    assert_non_null(strstr(reason, "starts before the round before it has ended"));
    schedule_run_close(&f.run);
}

/* Over the targets that are allowed the variance of the layers' latencies spans six powers of ten. */
static double variance_of(const struct tile_lists *lists, double target)
{
    double sum = 0, squares = 0;
    for (uint32_t l = 0; l < lists->n_layer; l++) {
        const double cycle = (double)lists->tile[lists->first[l] + tile_nearest(lists, l, target)].cycle;
        sum += cycle;
        squares += cycle * cycle;
    }
    return squares / lists->n_layer - sum / lists->n_layer * sum / lists->n_layer;
}

static void test_the_annealed_target(void **state)
{
    const struct tile_rules rules = {.batch = 1, .max_uops = 1500};
    struct fixture f;
    struct tile_lists lists;
    struct dse_error err;
    struct klotski_metrics own;
    double low, high, least = INFINITY, found = INFINITY;
    (void)state;
    open_graph(&f, "experiments/networks/resnet50.yaml", "3x3", 1);
    struct arena *arena = &f.run.arena;
    assert_int_equal(tile_lists_of_grid(&f.network, &f.machine, &rules, arena, &lists, &err), DSE_OK);
    schedule_run_solve(&f.run);
    assert_true(f.run.result.feasible && f.run.result.n_evaluation <= 50);
    memcpy(&own, f.run.result.schedule.own, sizeof own);
    assert_true(own.n_uop <= 1500);
    struct uop_cut *cut = arena_alloc(arena, f.network.n_layer, sizeof *cut);
    partition_target_range(&lists, &low, &high);
    for (double target = low; target <= high; target += 1e-3) {
        const uint64_t n = partition_target(&lists, target, &rules, cut);
        if (n > 1500)
            continue;
        least = fmin(least, variance_of(&lists, target));
        if (n == own.n_uop)
            found = fmin(found, variance_of(&lists, target));
    }
    assert_true(found <= 2 * least);
    schedule_run_close(&f.run);
}

static void test_nothing_can_be_cut_so(void **state)
{
    struct fixture f;
    struct dse_error err;
    (void)state;
    open_graph(&f, "experiments/networks/vgg16.yaml", "3x3", 1);
    schedule_run_set(&f.run, "max_uops", "15"); /* of 16 layers */
    assert_int_equal(engine_solve(f.run.engine, &f.run.task, &f.run.arena, &f.run.result, &err),
                     DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "max_uops = 15"));
    schedule_run_close(&f.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_choice_is_by_the_rules),
        cmocka_unit_test(test_rounds_take_all_that_fit),
        cmocka_unit_test(test_the_annealed_target),
        cmocka_unit_test(test_nothing_can_be_cut_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
