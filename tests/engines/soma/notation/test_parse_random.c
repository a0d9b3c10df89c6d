/* Random layer-fusion schemes of every network: what the parser makes is a schedule that the evaluator
 * accepts, with sums that follow from the network.
 * Tests: parse.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/random.h"
#include "tests/support/soma_case.h"

/* One cycle per tile: the shapes are what is looked at. */
static enum dse_status no_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                               struct dse_error *err)
{
    (void)self, (void)tile, (void)err;
    *cost = (struct core_cost){.cycle = 1, .energy_j = 1e-9};
    return DSE_OK;
}

/* A random order in which each layer stands behind its sources. */
static void draw_order(struct soma_case *c, struct random_stream *random, uint32_t *order)
{
    uint32_t n = c->network.n_layer;
    uint32_t *missing = arena_alloc(&c->arena, n, sizeof(*missing));
    uint32_t *ready = arena_alloc(&c->arena, n, sizeof(*ready)), n_ready = 0;
    for (uint32_t l = 0; l < n; l++) {
        for (uint32_t o = c->graph.first_operand[l]; o < c->graph.first_operand[l + 1]; o++)
            missing[l] += c->graph.operand[o].source >= 0;
        if (missing[l] == 0)
            ready[n_ready++] = l;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pick = random_below(random, n_ready), l = ready[pick];
        ready[pick] = ready[--n_ready];
        order[i] = l;
        for (uint32_t u = c->graph.first_use[l]; u < c->graph.first_use[l + 1]; u++) {
            uint32_t reader = c->graph.operand[c->graph.use[u]].layer;
            if (--missing[reader] == 0)
                ready[n_ready++] = reader;
        }
    }
}

/* Whether a DRAM cut must stand before this place: a classifier and the pool before it are alone. */
static bool must_cut(const struct soma_case *c, const uint32_t *order, uint32_t at)
{
    const struct layer *layer = c->network.layer;
    bool pool_before = at > 0 && layer[order[at - 1]].type == LAYER_POOL;
    if (at > 0 && c->graph.classifier[order[at - 1]])
        return true;
    if (c->graph.classifier[order[at]])
        return !pool_before;
    return layer[order[at]].type == LAYER_POOL && !pool_before && at + 1 < c->network.n_layer &&
           c->graph.classifier[order[at + 1]];
}

static struct soma_lfa draw_lfa(struct soma_case *c, struct random_stream *random)
{
    uint32_t n = c->network.n_layer;
    struct soma_lfa lfa = {.n_layer = n};
    lfa.order = arena_alloc(&c->arena, n, sizeof(*lfa.order));
    lfa.flc = arena_alloc(&c->arena, n, sizeof(*lfa.flc));
    lfa.tiling = arena_alloc(&c->arena, n, sizeof(*lfa.tiling));
    lfa.dram_cut = arena_alloc(&c->arena, n, sizeof(*lfa.dram_cut));
    draw_order(c, random, lfa.order);
    uint32_t sparse = 1 + random_below(random, 6);
    for (uint32_t at = 0; at < n; at++) {
        bool tail = must_cut(c, lfa.order, at);
        if (at > 0 && !tail && (c->graph.classifier[lfa.order[at]] || random_below(random, sparse) != 0))
            continue;
        lfa.flc[lfa.n_flc] = at;
        lfa.tiling[lfa.n_flc] = tail ? 1 : 1u << random_below(random, 5);
        lfa.dram_cut[lfa.n_flc++] = at == 0 || tail || random_below(random, 2) == 0;
    }
    return lfa;
}

/* Weights are loaded once; a whole schedule stores every network output at least once. */
static void check_schedule(struct soma_case *c)
{
    const struct fused_machine machine = {
        .buffer_byte = UINT64_MAX / 2, .dram_rate = {16, 1}, .dram_energy_j = 84e-12};
    struct fused_result result;
    uint64_t weight_byte = 0;
    assert_int_equal(fused_evaluate(&c->schedule, &machine, &c->arena, NULL, &result, &c->err), DSE_OK);
    if (result.fault != FUSED_OK)
        fail_msg("%s: fault %d, tensor %u", c->network.name, (int)result.fault, result.fault_tensor);
    for (uint32_t i = 0; i < c->schedule.n_tensor; i++)
        if (c->schedule.tensor[i].kind == FUSED_WEIGHT)
            weight_byte += c->schedule.tensor[i].byte;
    assert_int_equal(weight_byte, network_weight_words(&c->network));
    assert_int_equal(result.compute_cycle, c->schedule.n_tile);
}

static uint32_t try_network(const char *name, bool compat, uint64_t seed, uint32_t rounds)
{
    char path[128];
    struct soma_case c;
    struct random_stream random;
    uint32_t n_valid = 0;
    snprintf(path, sizeof(path), "experiments/networks/%s.yaml", name);
    for (uint32_t round = 0; round < rounds; round++) {
        soma_case_open(&c, path, 8 << 20);
        random = random_stream_make(seed, round, RANDOM_TEST);
        c.context.core.cost = no_cost;
        c.context.compat = compat;
        c.context.batch = 1u << random_below(&random, 4);
        struct soma_lfa lfa = draw_lfa(&c, &random);
        if (soma_case_parse(&c, &lfa)) {
            n_valid++;
            check_schedule(&c);
        } else {
            assert_true(c.fault.what == SOMA_TILING || c.fault.what == (compat ? SOMA_ALONE : SOMA_EMPTY));
        }
        soma_case_close(&c);
    }
    return n_valid;
}

/* By both rules. Decoding has one row: most draws cannot be cut, hence only more than half of the 196 are
 * expected to be valid. */
static void test_parse_makes_schedules_that_can_run(void **state)
{
    static const char *const name[] = {"resnet50_soma",     "inception_resnet_v1",   "randwire_small",
                                       "randwire_large",    "gpt2_small_prefill512", "gpt2_small_decode513",
                                       "gpt2_xl_decode1025"};
    (void)state;
    for (int compat = 0; compat < 2; compat++) {
        uint32_t n_valid = 0;
        for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
            n_valid += try_network(name[i], compat == 1, 7 + i, 28);
        assert_true(n_valid > 105);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_makes_schedules_that_can_run),
    };
    return cmocka_run_group_tests_name("soma random schemes", tests, NULL, NULL);
}
