/* Tests: uop_plan.c, klotski_fit.c, klotski_others.c.
 * Uops in slices as schedules: against the schedule whose uops are the slices, run one after the other; what
 * the engines find where memories ask for more uops than there may be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_metrics.h"
#include "engines/klotski/klotski_task.h"
#include "tests/support/schedule_run.h"

#define NETWORK(NAME) "experiments/networks/" NAME ".yaml"

static void check_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g instead of %.17g", value, expected);
}

static void open_with(struct schedule_run *run, struct klotski_task *task, const char *network,
                      const char *machine, const struct arch_override *set, size_t n)
{
    struct dse_error err;
    schedule_run_open_on(run, &engine_klotski, network, machine, set, n);
    if (klotski_task_of(&run->task, UOP_FUSED, &run->arena, task, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void close_with(struct schedule_run *run, struct klotski_task *task)
{
    klotski_task_free(task);
    schedule_run_close(run);
}

/* All uops of that partition in their order on one core of one. */
static void evaluate(const struct schedule_run *run, const struct klotski_task *task,
                     const struct uop_cut *cut, enum uop_sram sram, struct arena *arena,
                     struct uop_outcome *out)
{
    struct uop_cut_layer *layer = arena_alloc(arena, task->network.n_all, sizeof *layer);
    struct dse_error err;
    uint64_t n_uop;
    if (uop_layout_of(&task->network, cut, UOP_SUMS_CHAIN, 1, layer, &n_uop, &err) != DSE_OK)
        fail_msg("%s", err.text);
    uint32_t *first = arena_alloc(arena, 2, sizeof *first), *order = arena_alloc(arena, n_uop, sizeof *order);
    for (uint32_t u = 0; u < n_uop; u++)
        order[u] = u;
    first[1] = (uint32_t)n_uop;
    const struct uop_plan plan = {.sums = UOP_SUMS_CHAIN,
                                  .sram = sram,
                                  .batch = 1,
                                  .cut = cut,
                                  .schedule = {UOP_STATIC, 1, first, order}};
    (void)run;
    if (uop_plan_evaluate(&task->network, &task->machine, &plan, "plan", NULL, arena, out, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

/* Whole layers in slices, and uops that are these slices: the same cycles, MACs, accesses and energies. */
static void check_machine(const char *network, const char *machine, const struct arch_override *set, size_t n)
{
    struct schedule_run run;
    struct klotski_task task;
    struct uop_outcome sliced, by_hand;
    uint64_t n_slice = 0;
    open_with(&run, &task, network, machine, set, n);
    const uint32_t n_layer = task.network.n_layer;
    struct uop_cut *whole = arena_alloc(&run.arena, n_layer, sizeof *whole);
    struct uop_cut *slice = arena_alloc(&run.arena, n_layer, sizeof *slice);
    for (uint32_t l = 0; l < n_layer; l++) {
        const struct kc_tile *tile = &task.network.layer[l].whole;
        whole[l] = (struct uop_cut){tile->p, tile->q, tile->c, tile->k * tile->g};
        assert_true(uop_slice_cut(&task.machine, tile, &slice[l]));
        const uint64_t so = uop_cut_count(tile, slice[l]);
        n_slice += so > 1 ? so : 0;
    }
    evaluate(&run, &task, whole, UOP_SRAM_SLICES, &run.arena, &sliced);
    evaluate(&run, &task, slice, UOP_SRAM_ALL, &run.arena, &by_hand);
    assert_int_equal(sliced.graph.n_uop, n_layer);
    assert_true(by_hand.graph.n_uop > 2 * n_layer);
    assert_int_equal(sliced.n_slice, n_slice);
    assert_int_equal(by_hand.n_slice, 0);
    assert_int_equal(sliced.times.cycle, by_hand.times.cycle);
    assert_int_equal(sliced.work_cycle, by_hand.work_cycle);
    assert_int_equal(sliced.n_mac, by_hand.n_mac);
    check_near(sliced.mac_energy_j, by_hand.mac_energy_j);
    check_near(sliced.buffer_energy_j, by_hand.buffer_energy_j);
    if (by_hand.noc_energy_j > 0)
        check_near(sliced.noc_energy_j, by_hand.noc_energy_j);
    if (!isnan(by_hand.sram_byte))
        check_near(sliced.sram_byte, by_hand.sram_byte);
    assert_true(sliced.partition_bound_cycle <= sliced.times.cycle);
    close_with(&run, &task);
}

static void test_slices_are_uops_one_after_the_other(void **state)
{
    const struct arch_override small[] = {{"Core.mesh", "1x1"}, {"SRAM.capacity", "128 KiB"}};
    (void)state;
    check_machine(NETWORK("mobilenet_v1"), "klotski", small, 2);
    check_machine(NETWORK("alexnet"), "simba", NULL, 0);
}

/* Of a layer that waits for all of the one before, on two cores: a ends with its last slice, b begins. 4 x 4
 * pixels of 4 by 4 channels are 64 + 64 + 16 = 144 words; half the rows are 32 + 32 + 16 = 80, 17 cycles
 * (test_uop_plan.c). */
static void test_two_layers_by_hand(void **state)
{
    static const char text[] = "network: two\ninput: {C: 4, H: 4, W: 4}\nlayers:\n"
                               "- {name: a, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: input}\n"
                               "- {name: b, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: a}\n";
    static const char schedule[] =
        "uops: 1\nnetwork: two\n"
        "options: {sums: all, sram: slices, memory: free, transport: ideal, firing: static}\n"
        "partition:\n"
        "- {layer: a, h: 4, w: 4, ic: 4, oc: 4}\n"
        "- {layer: b, h: 4, w: 4, ic: 4, oc: 4}\n"
        "cores:\n"
        "- [a/0]\n"
        "- [b/0]\n";
    struct network network;
    struct schedule_run run;
    struct klotski_task task;
    struct uop_network uops;
    struct uop_plan plan;
    struct uop_outcome o;
    struct text_buffer written;
    struct dse_error err = {0};
    (void)state;
    const struct arch_override set[] = {{"Core.mesh", "2x1"}, {"SRAM.capacity", "320 B"}};
    open_with(&run, &task, NETWORK("lstm_m"), "klotski", set, 2);
    assert_int_equal(network_parse("two.yaml", text, strlen(text), &network, &err), DSE_OK);
    assert_int_equal(uop_network_of(&network, UOP_FUSED, &run.arena, &uops, &err), DSE_OK);
    assert_int_equal(uop_plan_read("p", schedule, strlen(schedule), &uops, 1, &run.arena, &plan, &err),
                     DSE_OK);
    assert_int_equal(uop_plan_evaluate(&uops, &task.machine, &plan, "p", NULL, &run.arena, &o, &err), DSE_OK);
    assert_int_equal(o.times.start[1], 34);
    assert_int_equal(o.times.cycle, 68);
    assert_int_equal(o.bound_cycle, 68);
    assert_int_equal(o.n_slice, 4);
    assert_int_equal(o.n_message, 1); /* all 64 words of a at once */
    assert_true(o.byte_hop == 256);
    text_init(&written);
    uop_plan_write(&o.graph, &plan, &written);
    assert_string_equal(written.data, schedule);
    text_free(&written);
    plan.memory = UOP_DRAM;
    assert_int_equal(uop_plan_evaluate(&uops, &task.machine, &plan, "p", NULL, &run.arena, &o, &err),
                     DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "take sram=all or memory=free"));
    plan.memory = UOP_FREE;
    task.machine.sram_word = 23; /* of 4 + 4 + 16 for a pixel */
    assert_int_equal(uop_plan_evaluate(&uops, &task.machine, &plan, "p", NULL, &run.arena, &o, &err),
                     DSE_BAD_INPUT);
    assert_int_equal(err.line, 5);
    assert_non_null(
        strstr(err.text, "the smallest slice of a uop of layer a does not fit: it has 4 outputs"));
    network_free(&network);
    close_with(&run, &task);
}

/* dlrm needs 2,000 uops and more on 900 words (test_klotski_fit.c); of 100 all are in slices, and none of
 * tangram's whole layers, which pass over the memories, is taken for one. Mesh 3 x 3. */
static void test_engines_take_slices_where_uops_are_too_many(void **state)
{
    static const struct engine *const engine[] = {&engine_klotski, &engine_atomic, &engine_klotski_plus};
    (void)state;
    for (size_t i = 0; i < sizeof engine / sizeof engine[0]; i++) {
        const struct arch_override set = {"SRAM.capacity", "3600 B"};
        struct schedule_run run;
        struct klotski_metrics own;
        schedule_run_open_on(&run, engine[i], NETWORK("dlrm"), "klotski", &set, 1);
        schedule_run_set(&run, "evaluations", "10");
        schedule_run_set(&run, "max_uops", "100");
        schedule_run_solve(&run);
        assert_true(run.result.feasible);
        memcpy(&own, run.result.schedule.own, sizeof own);
        assert_true(own.n_uop <= 100 && own.partition_bound_cycle <= run.result.schedule.latency_cycle);
        assert_non_null(strstr(run.result.schedule.text, "sram: slices"));
        schedule_run_close(&run);
    }
}

/* GPT-2 on 4,096 words: more than a graph has. Its 12 blocks are searched once. */
static void test_blocks_in_slices(void **state)
{
    const struct arch_override set = {"SRAM.capacity", "16 KiB"};
    struct schedule_run run;
    struct klotski_metrics own;
    (void)state;
    schedule_run_open_on(&run, &engine_klotski, NETWORK("gpt2"), "klotski", &set, 1);
    schedule_run_set(&run, "evaluations", "1");
    schedule_run_set(&run, "tries", "1");
    schedule_run_set(&run, "moves", "1");
    schedule_run_solve(&run);
    assert_true(run.result.feasible);
    memcpy(&own, run.result.schedule.own, sizeof own);
    assert_true(own.n_repeated_uop > own.n_uop / 2);
    assert_non_null(strstr(run.result.schedule.text, "sram: slices"));
    schedule_run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_are_uops_one_after_the_other),
        cmocka_unit_test(test_two_layers_by_hand),
        cmocka_unit_test(test_engines_take_slices_where_uops_are_too_many),
        cmocka_unit_test(test_blocks_in_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
