/* Every accounting of schedules of the registry, and one more of the tests, on a schedule that is counted by
 * hand: one layer in one tile, its inputs and weights loaded before and its outputs stored behind it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/fused/accounting_soma.h"
#include "costmodel/fused/schedule_pricer.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "tests/support/accounting_two_loads.h"

/* A_conv3x3 of tiny6: 3 x 32 x 32 inputs, 16 x 3 x 3 x 3 weights, 16 x 32 x 32 outputs, one byte each. */
enum { IN_BYTE = 3072, WEIGHT_BYTE = 432, OUT_BYTE = 16384, N_BYTE = IN_BYTE + WEIGHT_BYTE + OUT_BYTE };

struct pricer_case {
    struct architecture arch;
    struct network network;
    struct schedule_task task;
    struct schedule_pricer *pricer;
    struct fused_tile tile;
    struct fused_tensor tensor[3];
    uint32_t order[3];
    struct fused_schedule schedule;
    struct arena arena;
    struct dse_error err;
};

static void open_case(struct pricer_case *c)
{
    *c = (struct pricer_case){.order = {0, 1, 2}};
    arena_init(&c->arena);
    assert_int_equal(architecture_read("experiments/architectures/soma_edge.yaml", &c->arch, &c->err),
                     DSE_OK);
    assert_int_equal(network_read("tests/known/soma/tiny6.yaml", &c->network, &c->err), DSE_OK);
    c->task = (struct schedule_task){.arch = &c->arch, .network = &c->network, .batch = 1};
    assert_int_equal(core_cache_new(1000, &c->task.cache, &c->err), DSE_OK);
}

static void close_case(struct pricer_case *c)
{
    core_cache_free(c->task.cache);
    network_free(&c->network);
    arena_free(&c->arena);
}

/* The schedule, with what the compiled accounting says the tile costs. */
static void make_schedule(struct pricer_case *c)
{
    const struct core_tile asked = core_tile_of(&c->network.layer[0], 1, 16, 32, 32);
    struct core_cost cost;
    assert_int_equal(c->pricer->tile.cost(c->pricer->tile.self, &asked, &cost, &c->err), DSE_OK);
    c->tile = (struct fused_tile){
        .b = 1, .k = 16, .h = 32, .w = 32, .cycle = cost.cycle, .energy_j = cost.energy_j};
    const struct fused_tensor in = {.kind = FUSED_IFMAP,
                                    .source = -1,
                                    .byte = IN_BYTE,
                                    .dram_byte = IN_BYTE,
                                    .start = -1,
                                    .end = 1,
                                    .producer_tile = -1};
    c->tensor[0] = c->tensor[1] = c->tensor[2] = in;
    c->tensor[1].kind = FUSED_WEIGHT;
    c->tensor[1].byte = c->tensor[1].dram_byte = WEIGHT_BYTE;
    c->tensor[2] = (struct fused_tensor){.kind = FUSED_OFMAP,
                                         .byte = OUT_BYTE,
                                         .dram_byte = OUT_BYTE,
                                         .start = 0,
                                         .end = 1,
                                         .first_use = -1,
                                         .last_use = -1};
    c->schedule = (struct fused_schedule){.n_tile = 1,
                                          .n_tensor = 3,
                                          .n_dram = 3,
                                          .tile = &c->tile,
                                          .tensor = c->tensor,
                                          .dram_order = c->order};
}

static uint64_t moving(const struct pricer_case *c, uint64_t byte)
{
    uint64_t rate = c->pricer->machine.dram_rate.byte;
    return (byte + rate - 1) / rate;
}

static void check_metrics(struct pricer_case *c, const struct fused_result *result, double byte_j)
{
    struct metrics m;
    assert_int_equal(schedule_metrics(c->pricer, &c->schedule, result, &m, &c->err), DSE_OK);
    assert_int_equal(m.latency_cycle, result->cycle);
    assert_true(m.latency_s == (double)result->cycle / c->arch.clock_hz);
    assert_true(fabs(m.energy_dram_j / (N_BYTE * byte_j) - 1) < 1e-12);
    assert_true(fabs((m.energy_mac_j + m.energy_buffer_j + m.energy_noc_j + m.energy_dram_j) / m.energy_j -
                     1) < 1e-12);
    assert_int_equal(m.n_mac, network_macs(&c->network, 1));
}

/* Load, load, compute, store, one after the other. */
static void walk(const struct accounting *accounting, double byte_j)
{
    struct pricer_case c;
    struct fused_result result;
    struct schedule_detail detail;
    open_case(&c);
    if (schedule_pricer_new(accounting, &c.task, &c.arena, &c.pricer, &c.err) != DSE_OK)
        fail_msg("%s: %s", accounting->name, c.err.text);
    assert_ptr_equal(c.pricer->accounting, accounting);
    make_schedule(&c);
    uint64_t loads = moving(&c, IN_BYTE) + moving(&c, WEIGHT_BYTE), store = moving(&c, OUT_BYTE);
    assert_int_equal(schedule_price(c.pricer, &c.schedule, &c.arena, &result, &c.err), DSE_OK);
    assert_int_equal(result.fault, FUSED_OK);
    assert_int_equal(result.cycle, loads + c.tile.cycle + store);
    check_metrics(&c, &result, byte_j);
    assert_int_equal(schedule_price_detail(c.pricer, &c.schedule, &c.arena, &detail, &c.err), DSE_OK);
    assert_int_equal(detail.result.cycle, result.cycle);
    assert_int_equal(detail.trace.tile_start[0], loads);
    assert_int_equal(detail.trace.tensor_start[2], loads + c.tile.cycle);
    assert_int_equal(detail.tiles.cycle, c.tile.cycle);
    assert_true(detail.tiles.energy_j == c.tile.energy_j);
    uint64_t moved = loads + store, larger = c.tile.cycle > moved ? c.tile.cycle : moved;
    assert_int_equal(detail.bound_cycle, accounting->schedule->bound_cycle ? larger : 0);
    close_case(&c);
}

/* What a byte of soma_edge's DRAM costs: 84 pJ (tests/known/soma/public.csv and its file say the same). */
static void test_every_accounting_of_schedules_prices_what_is_counted_by_hand(void **state)
{
    size_t n;
    const struct accounting *const *all = accounting_all(&n);
    (void)state;
    for (size_t i = 0; i < n; i++) {
        assert_true(all[i]->kind == ACCOUNTING_SCHEDULE || !all[i]->schedule);
        if (all[i]->schedule) /* of fused ones */
            walk(all[i], 84e-12);
    }
    walk(&accounting_two_loads, 2 * 84e-12);
}

static enum dse_status seven_cycles(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                    struct dse_error *err)
{
    (void)self;
    (void)tile;
    (void)err;
    *cost = (struct core_cost){.cycle = 7, .mac_energy_j = 1e-9, .energy_j = 1e-9};
    return DSE_OK;
}

static void test_tiles_can_be_priced_by_another_scheduler_where_the_rules_allow(void **state)
{
    struct pricer_case c;
    struct fused_result result;
    (void)state;
    open_case(&c);
    c.task.tile.cost = seven_cycles;
    assert_int_equal(schedule_pricer_new(&accounting_soma, &c.task, &c.arena, &c.pricer, &c.err), DSE_OK);
    make_schedule(&c);
    assert_int_equal(schedule_price(c.pricer, &c.schedule, &c.arena, &result, &c.err), DSE_OK);
    assert_int_equal(result.compute_cycle, 7);
    assert_int_equal(schedule_pricer_new(&accounting_soma_compat, &c.task, &c.arena, &c.pricer, &c.err),
                     DSE_BAD_USAGE);
    assert_int_equal(schedule_pricer_new(&accounting_timeloop, &c.task, &c.arena, &c.pricer, &c.err),
                     DSE_BAD_USAGE);
    assert_string_equal(c.err.text, "accounting timeloop prices no fused schedules of a network");
    close_case(&c);
}

static uint64_t bound_too_high(const struct schedule_pricer *pricer, const struct fused_result *result)
{
    (void)pricer;
    return result->cycle + 1;
}

static void test_price_below_its_own_bound_is_told(void **state)
{
    struct pricer_case c;
    struct fused_result result;
    struct schedule_accounting hooks = *accounting_two_loads.schedule;
    struct accounting wrong = accounting_two_loads;
    (void)state;
    hooks.bound_cycle = bound_too_high;
    wrong.schedule = &hooks;
    open_case(&c);
    assert_int_equal(schedule_pricer_new(&wrong, &c.task, &c.arena, &c.pricer, &c.err), DSE_OK);
    make_schedule(&c);
    assert_int_equal(schedule_price(c.pricer, &c.schedule, &c.arena, &result, &c.err), DSE_INTERNAL);
    assert_non_null(strstr(c.err.text, "is below its bound of"));
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_accounting_of_schedules_prices_what_is_counted_by_hand),
        cmocka_unit_test(test_tiles_can_be_priced_by_another_scheduler_where_the_rules_allow),
        cmocka_unit_test(test_price_below_its_own_bound_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
