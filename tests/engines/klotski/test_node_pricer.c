/* Tests: node_pricer.c.
 * What uops cost on a node of any machine: by hand on a machine with one MAC unit, as the mapper prices the
 * same tile elsewhere, and as schedules of whole layers on one node add it up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/uop/node_machine.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_task.h"
#include "engines/klotski/node_pricer.h"
#include "engines/soma/machine/core_choice.h"
#include "engines/soma/machine/quick_tile.h"
#include "tests/support/schedule_run.h"

#define NETWORK(NAME) "experiments/networks/" NAME ".yaml"

/* One MAC unit below a buffer: it takes an operand of each from there for every MAC, reads what it adds to
 * but for the first time, and writes every sum back. */
static const char tiny[] = "architecture: tiny\n"
                           "clock: 1 GHz\n"
                           "hierarchy:\n"
                           "- {storage: DRAM, kind: dram, word: 8 bit, access_energy: 100 pJ}\n"
                           "- {storage: Buffer, word: 8 bit, capacity: 64 word, read_energy: 2 pJ, "
                           "write_energy: 3 pJ, update_energy: 5 pJ}\n"
                           "- {macs: MAC, word: 8 bit, energy: 7 pJ}\n";

static void check_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g instead of %.17g", value, expected);
}

struct priced {
    struct architecture arch;
    struct kc_machine machine;
    struct node_pricer *pricer;
    struct arena arena;
};

static void open_text(struct priced *p, const char *text)
{
    struct yaml_doc doc;
    struct dse_error err;
    arena_init(&p->arena);
    if (yaml_parse(&doc, "tiny.yaml", text, strlen(text), &err) != DSE_OK ||
        architecture_build(&doc, NULL, 0, &p->arch, &err) != DSE_OK ||
        node_pricer_new(&p->arch, NULL, NULL, &p->arena, &p->machine, &p->pricer, &err) != DSE_OK)
        fail_msg("%s", err.text);
    yaml_doc_free(&doc);
}

static void open_file(struct priced *p, const char *name)
{
    char path[128] = "experiments/architectures/";
    struct dse_error err;
    arena_init(&p->arena);
    if (architecture_read(strcat(strcat(path, name), ".yaml"), &p->arch, &err) != DSE_OK ||
        node_pricer_new(&p->arch, NULL, NULL, &p->arena, &p->machine, &p->pricer, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void close_priced(struct priced *p)
{
    node_pricer_delete(p->pricer);
    arena_free(&p->arena);
}

static struct uop_cost cost_of(const struct priced *p, const struct kc_tile *tile)
{
    struct uop_cost cost;
    struct dse_error err;
    if (p->machine.pricer.cost(p->machine.pricer.self, tile, &cost, &err) != DSE_OK)
        fail_msg("%s", err.text);
    return cost;
}

/* 4 pixels of 3 output channels over 2 input channels: 24 MACs, a cycle each. Reads: 24 of weights, 24 of
 * inputs, 24 - 12 of sums; writes: 24. In any order of loops, as nothing is kept between two MACs. */
static void test_a_uop_by_hand(void **state)
{
    static const struct kc_tile tile = {
        .r = 1, .s = 1, .stride_v = 1, .stride_h = 1, .p = 4, .q = 1, .c = 2, .k = 3, .g = 1};
    struct priced p;
    (void)state;
    open_text(&p, tiny);
    const struct uop_cost cost = cost_of(&p, &tile);
    assert_int_equal(cost.cycle, 24);
    check_near(cost.mac_j, 24 * 7e-12);
    check_near(cost.memory_j, (24 + 24 + 12) * 2e-12 + 24 * 5e-12);
    assert_true(cost.network_j == 0);
    assert_int_equal(p.machine.pricer.guess(p.machine.pricer.self, &tile), 24);
    close_priced(&p);
}

/* The same mapper behind a cache of its own, on the machine inside the DRAM whose buffer holds all. */
static struct core_cost by_mapper(const struct architecture *given, const struct core_tile *tile)
{
    struct architecture arch = *given;
    struct core_split split;
    struct mapper_core core;
    struct core_cost cost;
    struct dse_error err;
    arch.fused.keeps_all = true;
    if (core_machine_split(&arch, &split, &err) != DSE_OK ||
        mapper_core_init(&split, engine_find("descent"), NULL, SOMA_CORE_EVALUATIONS, &core, &err) != DSE_OK)
        fail_msg("%s", err.text);
    core.quick = true;
    const struct core_tile canonical = quick_tile_canonical(tile);
    if (mapper_core_cost(&core, &canonical, &cost, &err) != DSE_OK)
        fail_msg("%s", err.text);
    return cost;
}

static void test_costs_are_the_mappers(void **state)
{
    static const struct {
        struct kc_tile uop;
        struct core_tile tile;
    } row[] = {
        {{.r = 3, .s = 3, .stride_v = 2, .stride_h = 2, .p = 7, .q = 14, .c = 32, .k = 48, .g = 1},
         {.b = 1,
          .k = 48,
          .c = 32,
          .h = 7,
          .w = 14,
          .r = 3,
          .s = 3,
          .stride_h = 2,
          .stride_w = 2,
          .groups = 1}},
        /* four groups of 8 to 8 channels */
        {{.r = 1, .s = 3, .stride_v = 1, .stride_h = 1, .p = 5, .q = 9, .c = 8, .k = 8, .g = 4},
         {.b = 1,
          .k = 32,
          .c = 32,
          .h = 5,
          .w = 9,
          .r = 1,
          .s = 3,
          .stride_h = 1,
          .stride_w = 1,
          .groups = 4}},
    };
    static const char *const machine[] = {"simba", "eyeriss_12x14", "soma_edge"};
    (void)state;
    for (size_t m = 0; m < sizeof machine / sizeof *machine; m++) {
        struct priced p;
        open_file(&p, machine[m]);
        assert_string_equal(node_accounting(&p.machine), "maestro-kc-quick");
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            const struct uop_cost cost = cost_of(&p, &row[i].uop);
            const struct core_cost expected = by_mapper(&p.arch, &row[i].tile);
            assert_int_equal(cost.cycle, expected.cycle);
            check_near(cost.mac_j + cost.memory_j + cost.network_j, expected.energy_j);
            assert_true(cost.cycle * p.machine.n_mac >= kc_macs(&row[i].uop));
        }
        close_priced(&p);
    }
}

/* A guess is that of a tile, whatever was guessed before, and never less than MACs allow. */
static void test_guesses_are_functions_of_the_tile(void **state)
{
    struct priced one, other;
    uint64_t guess[40];
    struct random_stream random = random_stream_make(1, 2, RANDOM_INIT);
    struct kc_tile tile[40];
    (void)state;
    open_file(&one, "simba");
    open_file(&other, "simba");
    for (int i = 0; i < 40; i++) {
        tile[i] =
            (struct kc_tile){.r = 1 + 2 * random_below(&random, 2), .s = 1, .stride_v = 1, .stride_h = 1};
        tile[i].p = 1 + random_below(&random, 60);
        tile[i].q = 1 + random_below(&random, 60);
        tile[i].c = 1 + random_below(&random, 300);
        tile[i].k = 1 + random_below(&random, 300);
        tile[i].g = 1 + random_below(&random, 2);
        guess[i] = one.machine.pricer.guess(one.machine.pricer.self, &tile[i]);
        assert_int_equal(kc_cycle(&one.machine, &tile[i]), guess[i]);
        assert_true(guess[i] * one.machine.n_mac >= kc_macs(&tile[i]));
    }
    for (int i = 40; i-- > 0;)
        assert_int_equal(other.machine.pricer.guess(other.machine.pricer.self, &tile[i]), guess[i]);
    close_priced(&one);
    close_priced(&other);
}

/* A mesh of one node that runs whole layers, one after the other: cycles and energy of the layers' own
 * tiles, with nothing for messages. */
static void test_one_node_runs_layers_as_the_mapper_prices_them(void **state)
{
    static const struct arch_override set[] = {{"noc.mesh", "1x1"}};
    struct schedule_run run;
    uint64_t cycle = 0;
    double energy_j = 0;
    (void)state;
    schedule_run_open_on(&run, &engine_tangram, NETWORK("resnet18"), "simba", set, 1);
    schedule_run_solve(&run);
    assert_true(run.result.feasible);
    for (uint32_t l = 0; l < run.network.n_layer; l++) {
        const struct layer *layer = &run.network.layer[l];
        if (layer->type != LAYER_CONV && layer->type != LAYER_LINEAR)
            continue;
        struct core_tile tile = core_tile_of(layer, 1, layer->k, layer->p, layer->q);
        tile.operation = CORE_MATRIX;
        const struct core_cost cost = by_mapper(&run.arch, &tile);
        cycle += cost.cycle;
        energy_j += cost.energy_j;
    }
    assert_int_equal(run.result.schedule.latency_cycle, cycle);
    check_near(run.result.schedule.energy_j, energy_j);
    assert_true(isnan(run.result.schedule.onchip_byte));
    assert_string_equal(run.result.schedule.accounting, "maestro-kc-quick");
    schedule_run_close(&run);
}

/* On more nodes a message is read once where it begins and written where it arrives, besides its hops; with a
 * DRAM words are written into the nodes that they come to, and read from where they leave. */
static void test_messages_pay_for_both_memories(void **state)
{
    static const struct arch_override set[] = {{"noc.mesh", "2x1"}};
    static const char two[] = "network: two\ninput: {C: 4, H: 4, W: 4}\nlayers:\n"
                              "- {name: a, type: conv, C: 4, K: 8, P: 4, Q: 4, R: 1, S: 1, from: input}\n"
                              "- {name: b, type: conv, C: 8, K: 4, P: 4, Q: 4, R: 1, S: 1, from: a}\n";
    static const char plan[] =
        "uops: 1\nnetwork: two\n%spartition:\n"
        "- {layer: a, h: 4, w: 4, ic: 4, oc: 8}\n- {layer: b, h: 4, w: 4, ic: 8, oc: 4}\n"
        "cores:\n- [a/0]\n- [b/0]\n";
    static const struct {
        const char *options;
        double dram_word, sent, received;
    } row[] = {
        /* a's 128 outputs go from one node to the other */
        {"", 0, 128, 128},
        /* and the input, 64 words, and weights, 32 of each layer, come from the DRAM; b's 64 go there */
        {"options: {memory: dram}\n", 64 + 32 + 32 + 64, 128 + 64, 128 + 64 + 32 + 32},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct priced p;
        struct network network;
        struct uop_network uops;
        struct uop_plan read;
        struct uop_outcome o;
        struct yaml_doc doc;
        struct dse_error err;
        char text[512];
        double chip_j = 0;
        open_file(&p, "simba");
        node_pricer_delete(p.pricer);
        assert_int_equal(yaml_read(&doc, "experiments/architectures/simba.yaml", &err), DSE_OK);
        assert_int_equal(architecture_build(&doc, set, 1, &p.arch, &err), DSE_OK);
        yaml_doc_free(&doc);
        assert_int_equal(node_pricer_new(&p.arch, NULL, NULL, &p.arena, &p.machine, &p.pricer, &err), DSE_OK);
        assert_int_equal(network_parse("two.yaml", two, strlen(two), &network, &err), DSE_OK);
        assert_int_equal(uop_network_of(&network, UOP_FUSED, &p.arena, &uops, &err), DSE_OK);
        (void)snprintf(text, sizeof text, plan, row[i].options);
        if (uop_plan_read("plan.yaml", text, strlen(text), &uops, 1, &p.arena, &read, &err) != DSE_OK ||
            uop_plan_evaluate(&uops, &p.machine, &read, "plan.yaml", NULL, &p.arena, &o, &err) != DSE_OK)
            fail_msg("%s", err.text);
        for (uint32_t l = 0; l < 2; l++)
            chip_j += cost_of(&p, &uops.layer[l].whole).memory_j;
        const double access_j = 29.62814070e-12 / 8; /* simba.yaml, a word of its buffer either way */
        check_near(o.buffer_energy_j, chip_j + (row[i].sent + row[i].received) * access_j);
        if (row[i].dram_word > 0)
            check_near(o.dram_energy_j, row[i].dram_word * 100e-12);
        network_free(&network);
        close_priced(&p);
    }
}

/* Every engine on nodes: what is offered is read back and priced again by the driver; threads and the cache
 * of others change nothing. */
static void test_engines_on_nodes(void **state)
{
    static const struct engine *const engine[] = {&engine_tangram, &engine_atomic, &engine_klotski,
                                                  &engine_klotski_plus};
    static const struct arch_override set[] = {{"noc.mesh", "2x2"}, {"noc.flit", "128 bit"}};
    (void)state;
    for (size_t i = 0; i < sizeof engine / sizeof *engine; i++) {
        struct schedule_run run;
        struct engine_result again;
        struct dse_error err;
        schedule_run_open_on(&run, engine[i], NETWORK("alexnet_one_tower"), "simba_fused", set, 2);
        schedule_run_set(&run, "transport", "links");
        schedule_run_set(&run, "memory", "dram");
        run.task.budget.max_evaluations = 30;
        schedule_run_solve(&run);
        if (!run.result.feasible)
            fail_msg("%s: %s", engine[i]->name, run.result.reason);
        assert_true(run.result.cost >= run.result.bound);
        assert_int_equal(core_cache_new(1 << 14, &run.task.core_cache, &err), DSE_OK);
        run.task.n_thread = 3;
        assert_int_equal(engine_solve(engine[i], &run.task, &run.arena, &again, &err), DSE_OK);
        assert_string_equal(again.schedule.text, run.result.schedule.text);
        core_cache_free(run.task.core_cache);
        schedule_run_close(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_uop_by_hand),
        cmocka_unit_test(test_costs_are_the_mappers),
        cmocka_unit_test(test_guesses_are_functions_of_the_tile),
        cmocka_unit_test(test_one_node_runs_layers_as_the_mapper_prices_them),
        cmocka_unit_test(test_messages_pay_for_both_memories),
        cmocka_unit_test(test_engines_on_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
