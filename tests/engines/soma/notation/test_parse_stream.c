/* Streamed weights and second operands that stay for tiles in a row, by hand. Tests: parse.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/soma_case.h"

/* Ten rows and, of a second layer, eight, of which each sample has a second operand. */
static const char path[] = "tests/known/soma/stays.yaml";

/* Every tile takes ten cycles and has this share of its level. */
static enum dse_status cost_of(const void *self, const struct core_tile *tile, struct core_cost *cost,
                               struct dse_error *err)
{
    (void)tile, (void)err;
    *cost = (struct core_cost){.cycle = 10, .energy_j = 1e-9, .stream_share = *(const double *)self};
    cost->stream_times[TENSOR_WEIGHT] = 1;
    return DSE_OK;
}

static void parse(struct soma_case *c, const char *groups, uint32_t batch, const double *share)
{
    soma_case_open(c, path, 1 << 20);
    c->context.compat = false;
    c->context.batch = batch;
    c->context.core = (struct core_scheduler){share, cost_of};
    c->graph.streams = 1u << TENSOR_WEIGHT;
    const struct soma_lfa lfa = soma_case_lfa(c, groups);
    if (!soma_case_parse(c, &lfa))
        fail_msg("%s", soma_fault_text(c->fault.what));
}

/* First and last tiles that read what layer l streams, one load after the other; {-1, -1}: no more. */
static void expect(const struct soma_case *c, const char *layer, enum fused_tensor_kind kind,
                   const int32_t (*use)[2])
{
    const uint32_t l = (uint32_t)network_find_layer(&c->network, layer);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->schedule.n_tensor; i++) {
        const struct fused_tensor *tensor = &c->schedule.tensor[i];
        if (tensor->layer != l || tensor->kind != kind || !tensor->streamed)
            continue;
        assert_int_equal(tensor->first_use, use[n][0]);
        assert_int_equal(tensor->last_use, use[n][1]);
        assert_int_equal(tensor->end, use[n][1] + 1);
        assert_int_equal(tensor->byte, 0);
        n++;
    }
    assert_int_equal(use[n][0], -1);
}

/* Four tiles of 3, 3, 2 and 2 rows: one load for each shape where the weights are there as a whole, else for
 * each tile. */
static void test_weights_stay_for_tiles_of_one_shape(void **state)
{
    static const double share[] = {0.5, 1, 2};
    static const int32_t stays[][2] = {{0, 1}, {2, 3}, {-1, -1}},
                         goes[][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {-1, -1}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct soma_case c;
        parse(&c, "cut 4 A, cut 1 B, cut 1 M", 1, &share[i]);
        expect(&c, "A", FUSED_WEIGHT, i < 2 ? stays : goes);
        assert_int_equal(c.schedule.n_read[1], 2); /* inputs, and what the tile before has loaded */
        soma_case_close(&c);
    }
}

/* Tiles of two layers take turns: none is right behind one of its own. */
static void test_nothing_stays_behind_a_tile_of_another_layer(void **state)
{
    static const double share = 0.5;
    static const int32_t a[][2] = {{0, 0}, {2, 2}, {-1, -1}}, b[][2] = {{1, 1}, {3, 3}, {-1, -1}};
    struct soma_case c;
    (void)state;
    parse(&c, "cut 2 A B, cut 1 M", 1, &share);
    expect(&c, "A", FUSED_WEIGHT, a);
    expect(&c, "B", FUSED_WEIGHT, b);
    soma_case_close(&c);
}

/* Two samples in two tiles each: the second operand is another one for the second sample. */
static void test_second_operands_stay_for_one_sample(void **state)
{
    static const double share = 0.5;
    static const int32_t use[][2] = {{2, 3}, {4, 5}, {-1, -1}};
    struct soma_case c;
    (void)state;
    parse(&c, "cut 1 A, cut 1 B, cut 4 M", 2, &share);
    expect(&c, "M", FUSED_IFMAP, use);
    soma_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_stay_for_tiles_of_one_shape),
        cmocka_unit_test(test_nothing_stays_behind_a_tile_of_another_layer),
        cmocka_unit_test(test_second_operands_stay_for_one_sample),
    };
    return cmocka_run_group_tests_name("streams of parsed schedules", tests, NULL, NULL);
}
