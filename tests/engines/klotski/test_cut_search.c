/* Tests: cut_search.c, cut_price.c, engine_klotski_plus.c, klotski_others.c.
 * Prices against the engine klotski's, which orders the same partition by the same rule; partitions that the
 * walk finds against the rules; known cycles of a plain local search by another program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/klotski/cut_search.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_metrics.h"
#include "engines/klotski/partition.h"
#include "tests/support/schedule_run.h"

static void open_on(struct schedule_run *run, const struct engine *engine, const char *network,
                    const char *mesh)
{
    const struct arch_override set = {"Core.mesh", mesh};
    schedule_run_open_on(run, engine, network, "klotski", &set, 1);
    run->task.objective = (struct objective){0, 1};
}

static struct klotski_metrics own_of(const struct schedule_run *run)
{
    struct klotski_metrics own;
    memcpy(&own, run->result.schedule.own, sizeof own);
    return own;
}

static uint64_t uops_of(const struct klotski_task *task, const struct uop_cut *cut, uint32_t batch)
{
    uint64_t n = 0;
    for (uint32_t l = 0; l < task->network.n_layer; l++)
        n += uop_cut_count(&task->network.layer[l].whole, cut[l]);
    return n * batch;
}

static void test_the_price_is_that_of_a_list_schedule(void **state)
{
    const struct tile_rules rules = {.batch = 1, .max_uops = 1500};
    struct schedule_run run;
    struct klotski_task task;
    struct uop_cut cut[128];
    struct dse_error err;
    uint64_t cycle;
    (void)state;
    open_on(&run, &engine_klotski, "experiments/networks/resnet50.yaml", "3x3");
    schedule_run_set(&run, "partition", "fixed");
    schedule_run_set(&run, "h", "14");
    schedule_run_set(&run, "w", "14");
    schedule_run_set(&run, "ic", "516");
    schedule_run_set(&run, "oc", "140");
    schedule_run_set(&run, "schedule", "list");
    schedule_run_solve(&run);
    assert_int_equal(klotski_task_of(&run.task, UOP_FUSED, &run.arena, &task, &err), DSE_OK);
    for (uint32_t l = 0; l < task.network.n_layer; l++)
        cut[l] = uop_cut_clip(&task.network.layer[l].whole, (struct uop_cut){14, 14, 516, 140});
    struct arena scratch;
    struct cut_pricer pricer = {.task = &task, .rules = &rules, .scratch = &scratch};
    arena_init(&scratch);
    assert_int_equal(cut_price(&pricer, cut, UINT64_MAX, &cycle, &err), DSE_OK);
    /* the engine orders segment by segment, so it may be shorter, by what crosses their ends: nothing here */
    assert_int_equal(cycle, run.result.schedule.latency_cycle);
    assert_int_equal(cut_price(&pricer, cut, cycle + 1, &cycle, &err), DSE_OK);
    assert_int_equal(cycle, run.result.schedule.latency_cycle);
    assert_int_equal(cut_price(&pricer, cut, cycle, &cycle, &err), DSE_OK);
    assert_true(cycle == UINT64_MAX);
    arena_free(&scratch);
    schedule_run_close(&run);
}

/* A walk of some rounds: every best partition keeps the rules and has the price that is said; those that were
 * best before are remembered, each with more cycles. */
static void check_walk(enum uop_transport transport, bool in_blocks)
{
    struct schedule_run run;
    struct klotski_task task;
    struct tile_lists lists;
    struct cut_search *search;
    struct dse_error err;
    struct arena scratch;
    uint64_t start, before, cycle, again;
    bool is_over = false;
    open_on(&run, &engine_klotski_plus, "experiments/networks/googlenet.yaml", "3x3");
    run.task.batch = 2;
    assert_int_equal(klotski_task_of(&run.task, UOP_FUSED, &run.arena, &task, &err), DSE_OK);
    const struct tile_rules rules = {.sram = UOP_SRAM_ALL, .batch = 2, .max_uops = 400};
    struct uop_cut *cut = arena_alloc(&run.arena, task.network.n_layer, sizeof *cut);
    assert_int_equal(tile_lists_of_parts(&task.network, &task.machine, &rules, &run.arena, &lists, &err),
                     DSE_OK);
    assert_true(partition_target(&lists, 12, &rules, cut) <= 400);
    struct cut_pricer pricer = {&task, &rules, {.transport = transport}, in_blocks, &scratch};
    arena_init(&scratch);
    task.machine.noc.flit_bit = 64;
    assert_int_equal(cut_price(&pricer, cut, UINT64_MAX, &start, &err), DSE_OK);
    assert_int_equal(cut_search_new(&pricer, &lists, cut, start, false, 600,
                                    random_stream_make(3, 0, RANDOM_MOVE), &run.arena, &search, &err),
                     DSE_OK);
    before = start;
    for (int i = 0; !is_over; i++) {
        assert_true(i < 7);
        assert_int_equal(cut_search_step(search, 100, &is_over, &err), DSE_OK);
        const struct uop_cut *best = cut_search_best(search, 0, &cycle);
        assert_true(cycle <= before && uops_of(&task, best, 2) <= 400);
        for (uint32_t l = 0; l < task.network.n_layer; l++) {
            const struct uop_need need = uop_cut_need(&task.network.layer[l].whole, best[l]);
            assert_true(uop_need_fits(&need, UOP_SRAM_ALL, &task.machine));
        }
        assert_int_equal(cut_price(&pricer, best, UINT64_MAX, &again, &err), DSE_OK);
        assert_int_equal(again, cycle);
        before = cycle;
    }
    assert_true(cycle < start);
    for (uint32_t i = 1; cut_search_best(search, i, &before); i++) {
        assert_true(i < CUT_SEARCH_BESTS && before > cycle);
        cycle = before;
    }
    arena_free(&scratch);
    schedule_run_close(&run);
}

static void test_the_walk_keeps_the_rules(void **state)
{
    (void)state;
    check_walk(UOP_IDEAL, false);
    check_walk(UOP_FLITS, false);
    check_walk(UOP_FLITS, true);
}

static const struct engine *const other[] = {&engine_klotski, &engine_atomic, &engine_tangram};

static uint64_t solve_with(const struct engine *engine, const char *network, const char *mesh,
                           const char *flit, const char *transport)
{
    const struct arch_override set[] = {{"Core.mesh", mesh}, {"noc.flit", flit}};
    struct schedule_run run;
    schedule_run_open_on(&run, engine, network, "klotski", set, 2);
    run.task.objective = (struct objective){0, 1};
    schedule_run_set(&run, "transport", transport);
    if (engine == &engine_klotski_plus)
        schedule_run_set(&run, "evaluations", "50");
    if (engine == &engine_klotski_plus || engine == &engine_klotski) {
        schedule_run_set(&run, "tries", "20");
        schedule_run_set(&run, "moves", "2");
    }
    schedule_run_solve(&run);
    assert_true(run.result.feasible);
    const uint64_t cycle = run.result.schedule.latency_cycle;
    schedule_run_close(&run);
    return cycle;
}

/* However little it searches itself, and whatever the network. */
static void test_never_worse_than_the_others(void **state)
{
    static const struct {
        const char *network, *mesh, *flit, *transport;
    } row[] = {{"experiments/networks/googlenet.yaml", "2x2", "64 bit", "flits"},
               {"experiments/networks/googlenet.yaml", "3x2", "4096 bit", "flits"},
               {"experiments/networks/googlenet.yaml", "2x2", "4096 bit", "ideal"}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const uint64_t cycle =
            solve_with(&engine_klotski_plus, row[i].network, row[i].mesh, row[i].flit, row[i].transport);
        for (size_t k = 0; k < sizeof other / sizeof other[0]; k++)
            assert_true(cycle <=
                        solve_with(other[k], row[i].network, row[i].mesh, row[i].flit, row[i].transport));
    }
}

/* By 64 bit the best of the others, atomic, takes 31.6 million cycles. */
static void test_a_slow_network_is_searched_for(void **state)
{
    const struct arch_override set[] = {{"Core.mesh", "5x5"}, {"noc.flit", "64 bit"}};
    struct schedule_run run;
    (void)state;
    schedule_run_open_on(&run, &engine_klotski_plus, "experiments/networks/resnet50.yaml", "klotski", set, 2);
    run.task.objective = (struct objective){0, 1};
    schedule_run_set(&run, "transport", "links");
    schedule_run_set(&run, "evaluations", "200");
    schedule_run_set(&run, "tries", "50");
    schedule_run_set(&run, "moves", "5");
    schedule_run_solve(&run);
    assert_true(run.result.schedule.latency_cycle < 4000000);
    schedule_run_close(&run);
}

/* 2,639,000 cycles by 6 to 15 s of local search with another program; the best shared size: 3,077,504. */
static void test_tile_sizes_per_layer(void **state)
{
    struct schedule_run run;
    (void)state;
    open_on(&run, &engine_klotski_plus, "experiments/networks/resnet50.yaml", "4x4");
    schedule_run_set(&run, "evaluations", "400");
    schedule_run_set(&run, "tries", "200");
    schedule_run_set(&run, "moves", "5");
    schedule_run_solve(&run);
    const uint64_t cycle = run.result.schedule.latency_cycle;
    assert_true(own_of(&run).n_uop <= 1500);
    assert_true(cycle < 2750000);
    assert_true(cycle >= own_of(&run).partition_bound_cycle);
    assert_true(run.result.bound > 0 && run.result.cost >= run.result.bound);
    schedule_run_solve(&run);
    assert_int_equal(run.result.schedule.latency_cycle, cycle);
    run.task.budget.max_evaluations = 40; /* in the middle of the starts */
    schedule_run_solve(&run);
    assert_true(run.result.feasible && run.result.n_evaluation <= 40);
    schedule_run_close(&run);
}

/* Between one size for all and a size for each layer; the text has the same sizes for the same maps. */
static void test_tile_sizes_per_map(void **state)
{
    struct schedule_run run;
    struct klotski_task task;
    struct dse_error err;
    const struct uop_cut *cut;
    (void)state;
    open_on(&run, &engine_klotski_plus, "experiments/networks/resnet50.yaml", "4x4");
    schedule_run_set(&run, "partition", "group");
    schedule_run_set(&run, "evaluations", "400");
    schedule_run_set(&run, "tries", "200");
    schedule_run_set(&run, "moves", "5");
    schedule_run_solve(&run);
    assert_true(run.result.schedule.latency_cycle < 3077504);
    assert_int_equal(klotski_task_of(&run.task, UOP_FUSED, &run.arena, &task, &err), DSE_OK);
    assert_int_equal(uop_partition_read("found", run.result.schedule.text, run.result.schedule.text_length,
                                        &task.network, &run.arena, &cut, &err),
                     DSE_OK);
    for (uint32_t l = 0; l < task.network.n_layer; l++)
        for (uint32_t i = 0; i < l; i++) {
            const struct kc_tile *a = &task.network.layer[l].whole, *b = &task.network.layer[i].whole;
            if (a->p != b->p || a->q != b->q)
                continue;
            assert_true(cut[l].h == cut[i].h && cut[l].w == cut[i].w);
            assert_true(cut[l].ic == cut[i].ic || cut[l].ic == a->c || cut[i].ic == b->c);
            assert_true(cut[l].oc == cut[i].oc || cut[l].oc == a->k || cut[i].oc == b->k);
        }
    schedule_run_close(&run);
}

static void test_the_partition_of_another(void **state)
{
    struct schedule_run run;
    (void)state;
    open_on(&run, &engine_klotski_plus, "experiments/networks/googlenet.yaml", "3x3");
    schedule_run_set(&run, "evaluations", "0");
    schedule_run_set(&run, "tries", "10");
    schedule_run_set(&run, "moves", "5");
    schedule_run_solve(&run);
    const struct klotski_metrics own = own_of(&run);
    const uint64_t cycle = run.result.schedule.latency_cycle;
    schedule_run_give(&run, "partition_from", run.result.schedule.text);
    schedule_run_solve(&run);
    assert_int_equal(own_of(&run).n_uop, own.n_uop);
    schedule_run_set(&run, "evaluations", "200");
    schedule_run_solve(&run);
    assert_true(run.result.schedule.latency_cycle <= cycle);
    schedule_run_close(&run);
}

static void test_nothing_fits(void **state)
{
    struct schedule_run run;
    struct dse_error err;
    (void)state;
    open_on(&run, &engine_klotski_plus, "experiments/networks/vgg16.yaml", "3x3");
    schedule_run_set(&run, "max_uops", "15"); /* of 16 layers */
    assert_int_equal(engine_solve(run.engine, &run.task, &run.arena, &run.result, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "max_uops = 15"));
    schedule_run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_price_is_that_of_a_list_schedule),
        cmocka_unit_test(test_the_walk_keeps_the_rules),
        cmocka_unit_test(test_tile_sizes_per_layer),
        cmocka_unit_test(test_tile_sizes_per_map),
        cmocka_unit_test(test_the_partition_of_another),
        cmocka_unit_test(test_nothing_fits),
        cmocka_unit_test(test_never_worse_than_the_others),
        cmocka_unit_test(test_a_slow_network_is_searched_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
