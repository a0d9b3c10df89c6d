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
static void evaluate(const struct uop_network *network, const struct kc_machine *machine,
                     const struct uop_cut *cut, enum uop_sram sram, enum uop_memory memory,
                     struct arena *arena, struct uop_outcome *out)
{
    struct uop_cut_layer *layer = arena_alloc(arena, network->n_all, sizeof *layer);
    struct dse_error err;
    uint64_t n_uop;
    if (uop_layout_of(network, cut, UOP_SUMS_CHAIN, 1, layer, &n_uop, &err) != DSE_OK)
        fail_msg("%s", err.text);
    uint32_t *first = arena_alloc(arena, 2, sizeof *first), *order = arena_alloc(arena, n_uop, sizeof *order);
    for (uint32_t u = 0; u < n_uop; u++)
        order[u] = u;
    first[1] = (uint32_t)n_uop;
    const struct uop_plan plan = {.sums = UOP_SUMS_CHAIN,
                                  .sram = sram,
                                  .memory = memory,
                                  .batch = 1,
                                  .cut = cut,
                                  .schedule = {UOP_STATIC, 1, first, order}};
    if (uop_plan_evaluate(network, machine, &plan, "plan", NULL, arena, out, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

/* Whole layers in slices, and uops that are these slices: the same MACs, accesses and energies. */
static void compare(const struct uop_network *network, const struct kc_machine *machine,
                    enum uop_memory memory, struct arena *arena, struct uop_outcome *sliced_out,
                    struct uop_outcome *by_hand_out)
{
    struct uop_outcome sliced, by_hand;
    uint64_t n_slice = 0;
    const uint32_t n_layer = network->n_layer;
    struct uop_cut *whole = arena_alloc(arena, n_layer, sizeof *whole);
    struct uop_cut *slice = arena_alloc(arena, n_layer, sizeof *slice);
    for (uint32_t l = 0; l < n_layer; l++) {
        const struct kc_tile *tile = &network->layer[l].whole;
        whole[l] = (struct uop_cut){tile->p, tile->q, tile->c, tile->k * tile->g};
        assert_true(uop_slice_cut(machine, tile, &slice[l]));
        const uint64_t so = uop_cut_count(tile, slice[l]);
        n_slice += so > 1 ? so : 0;
    }
    evaluate(network, machine, whole, UOP_SRAM_SLICES, memory, arena, &sliced);
    evaluate(network, machine, slice, UOP_SRAM_ALL, memory, arena, &by_hand);
    assert_int_equal(sliced.graph.n_uop, n_layer);
    assert_true(n_slice > 0);
    assert_int_equal(sliced.n_slice, n_slice);
    assert_int_equal(by_hand.n_slice, 0);
    assert_int_equal(sliced.work_cycle, by_hand.work_cycle);
    assert_int_equal(sliced.n_mac, by_hand.n_mac);
    check_near(sliced.mac_energy_j, by_hand.mac_energy_j);
    check_near(sliced.buffer_energy_j, by_hand.buffer_energy_j);
    if (by_hand.noc_energy_j > 0)
        check_near(sliced.noc_energy_j, by_hand.noc_energy_j);
    if (!isnan(by_hand.sram_byte))
        check_near(sliced.sram_byte, by_hand.sram_byte);
    assert_true(sliced.partition_bound_cycle <= sliced.times.cycle);
    assert_true(sliced.bound_cycle <= sliced.times.cycle);
    *sliced_out = sliced;
    *by_hand_out = by_hand;
}

static void check_machine(const char *network, const char *machine, const struct arch_override *set, size_t n)
{
    struct schedule_run run;
    struct klotski_task task;
    struct uop_outcome sliced, by_hand;
    open_with(&run, &task, network, machine, set, n);
    compare(&task.network, &task.machine, UOP_FREE, &run.arena, &sliced, &by_hand);
    assert_true(by_hand.graph.n_uop > 2 * task.network.n_layer);
    assert_int_equal(sliced.times.cycle, by_hand.times.cycle);
    close_with(&run, &task);
}

static void test_slices_are_uops_one_after_the_other(void **state)
{
    const struct arch_override small[] = {{"Core.mesh", "1x1"}, {"SRAM.capacity", "128 KiB"}};
    (void)state;
    check_machine(NETWORK("mobilenet_v1"), "klotski", small, 2);
    check_machine(NETWORK("alexnet"), "simba", NULL, 0);
}

/* With a DRAM a uop in slices takes an accelerator that is empty before and after: a single layer takes the
 * cycles of its slices as uops, and reads and writes their words in as many requests. Each weight and input
 * `once`; with `spills` partial sums pass, too. */
static void check_layer(const char *text, const char *machine, const struct arch_override *set, uint64_t once,
                        bool spills)
{
    struct schedule_run run;
    struct klotski_task task;
    struct network network;
    struct uop_network uops;
    struct uop_outcome sliced, by_hand;
    struct dse_error err = {0};
    open_with(&run, &task, NETWORK("lstm_m"), machine, set, 2);
    if (network_parse("one.yaml", text, strlen(text), &network, &err) != DSE_OK ||
        uop_network_of(&network, UOP_FUSED, &run.arena, &uops, &err) != DSE_OK)
        fail_msg("%s", err.text);
    compare(&uops, &task.machine, UOP_DRAM, &run.arena, &sliced, &by_hand);
    assert_int_equal(sliced.times.cycle, by_hand.times.cycle);
    assert_int_equal(sliced.dram_read_byte, by_hand.dram_read_byte);
    assert_int_equal(sliced.dram_written_byte, by_hand.dram_written_byte);
    assert_int_equal(sliced.spilled_byte, by_hand.spilled_byte);
    assert_int_equal(sliced.times.dram.busy_cycle, by_hand.times.dram.busy_cycle);
    assert_int_equal(sliced.n_message, by_hand.n_message);
    check_near(sliced.dram_energy_j, by_hand.dram_energy_j);
    check_near(sliced.energy_j, by_hand.energy_j);
    const struct kc_tile *tile = &uops.layer[0].whole;
    assert_true(sliced.dram_read_byte > once * task.machine.word_byte);
    assert_int_equal(sliced.spilled_byte > 0, spills);
    assert_int_equal(sliced.dram_written_byte - sliced.spilled_byte,
                     (uint64_t)tile->p * tile->q * tile->k * tile->g * task.machine.word_byte);
    assert_int_equal(sliced.bound_cycle, sliced.times.cycle);
    network_free(&network);
    close_with(&run, &task);
}

/* Windows with halos, groups, one channel each, fully connected, two operands; by MAESTRO's counts and by the
 * mapper. */
#define ONE(LAYER)                                                                                           \
    "network: one\ninput: {C: 24, H: 19, W: 17}\nlayers:\n- {name: a, " LAYER ", from: input}\n"

static void test_a_layer_in_slices_from_the_dram(void **state)
{
    static const struct arch_override set[][2] = {
        {{"Core.mesh", "1x1"}, {"SRAM.capacity", "12 KiB"}},
        {{"Core.mesh", "1x1"}, {"SRAM.capacity", "9 KiB"}},
        {{"Core.mesh", "1x1"}, {"SRAM.capacity", "4 KiB"}},
        {{"DRAM.bandwidth", "8 GB/s"}, {"GlobalBuffer.capacity", "1 KiB"}}};
    const uint64_t map = 24 * 19 * 17;
    (void)state;
    check_layer(ONE("type: conv, C: 24, K: 40, P: 19, Q: 17, R: 3, S: 3, pad: 1"), "klotski", set[0],
                24 * 40 * 9 + map, true);
    check_layer(ONE("type: conv, C: 24, K: 40, P: 10, Q: 9, R: 3, S: 3, stride: 2, pad: 1"), "klotski",
                set[1], 24 * 40 * 9 + map, true);
    check_layer(ONE("type: conv, C: 24, K: 48, P: 19, Q: 17, R: 1, S: 1, groups: 4"), "klotski", set[2],
                6 * 48 + map, false);
    check_layer(ONE("type: depthwise, C: 24, P: 19, Q: 17, R: 3, S: 3, pad: 1"), "simba", set[3],
                24 * 9 + map, false);
    check_layer("network: one\ninput: {C: 700, H: 3, W: 1}\nlayers:\n"
                "- {name: a, type: linear, C: 700, K: 90, P: 3, from: input}\n",
                "klotski", set[2], 700 * 90 + 3 * 700, true);
    check_layer("network: one\ninputs: {x: {C: 64, H: 50, W: 1}, y: {C: 64, H: 70, W: 1}}\nlayers:\n"
                "- {name: a, type: matmul, C: 64, K: 140, P: 50, groups: 2, from: x, weights_from: y}\n",
                "klotski", set[2], 64 * (50 + 70), false);
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
    plan.transport = UOP_LINKS;
    assert_int_equal(uop_plan_evaluate(&uops, &task.machine, &plan, "p", NULL, &run.arena, &o, &err),
                     DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "take transport=ideal, sram=all or memory=free"));
    plan.memory = UOP_FREE;
    plan.transport = UOP_IDEAL;
    task.machine.sram_word = 23; /* of 4 + 4 + 16 for a pixel */
    assert_int_equal(uop_plan_evaluate(&uops, &task.machine, &plan, "p", NULL, &run.arena, &o, &err),
                     DSE_BAD_INPUT);
    assert_int_equal(err.line, 5);
    assert_non_null(
        strstr(err.text, "the smallest slice of a uop of layer a does not fit: it has 4 outputs"));
    network_free(&network);
    close_with(&run, &task);
}

/* dlrm needs 2,000 uops and more on 900 words (test_klotski_fit.c), so 200 on 9,000; of 100 and 40 all are in
 * slices, and none of tangram's whole layers, which pass over free memories, is taken for one. Mesh 3 x 3. */
static void test_engines_take_slices_where_uops_are_too_many(void **state)
{
    static const struct engine *const engine[] = {&engine_klotski, &engine_atomic, &engine_klotski_plus};
    static const struct {
        struct arch_override set;
        const char *memory, *most;
    } of[] = {{{"SRAM.capacity", "3600 B"}, "free", "100"}, {{"SRAM.capacity", "36000 B"}, "dram", "40"}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof engine / sizeof engine[0]; i++) {
        struct schedule_run run;
        struct klotski_metrics own;
        schedule_run_open_on(&run, engine[i / 2], NETWORK("dlrm"), "klotski", &of[i % 2].set, 1);
        schedule_run_set(&run, "memory", of[i % 2].memory);
        schedule_run_set(&run, "evaluations", "10");
        schedule_run_set(&run, "max_uops", of[i % 2].most);
        schedule_run_solve(&run);
        assert_true(run.result.feasible);
        memcpy(&own, run.result.schedule.own, sizeof own);
        assert_true(own.n_uop <= (i % 2 ? 40 : 100));
        assert_true(own.partition_bound_cycle <= run.result.schedule.latency_cycle);
        assert_non_null(
            strstr(run.result.schedule.text, i % 2 ? "sram: slices, memory: dram" : "sram: slices"));
        schedule_run_close(&run);
    }
}

/* GPT-2 on 4,096 words: more than a graph has. Its 12 blocks are searched once. tangram's layers are one uop
 * each; the sums behind its blocks, too. */
static void test_blocks_in_slices(void **state)
{
    struct arch_override set = {"SRAM.capacity", "16 KiB"};
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
    set.value = "40 KiB";
    schedule_run_open_on(&run, &engine_tangram, NETWORK("gpt2"), "klotski", &set, 1);
    schedule_run_set(&run, "memory", "dram");
    schedule_run_solve(&run);
    assert_true(run.result.feasible);
    assert_non_null(strstr(run.result.schedule.text, "sram: slices, memory: dram"));
    assert_non_null(strstr(run.result.schedule.text, "vector: blocks"));
    schedule_run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_are_uops_one_after_the_other),
        cmocka_unit_test(test_a_layer_in_slices_from_the_dram),
        cmocka_unit_test(test_two_layers_by_hand),
        cmocka_unit_test(test_engines_take_slices_where_uops_are_too_many),
        cmocka_unit_test(test_blocks_in_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
