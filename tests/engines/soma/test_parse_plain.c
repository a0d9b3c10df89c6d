/* The parser's default rules against the element-by-element program, on random schemes of random small networks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/text.h"
#include "tests/support/soma_plain.h"

enum { N_NETWORK = 1900, N_SCHEME = 5 };

static enum dse_status no_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                               struct dse_error *err)
{
    (void)self, (void)tile, (void)err;
    *cost = (struct core_cost){.cycle = 1, .energy_j = 1e-9};
    return DSE_OK;
}

/* What has been looked at. */
struct seen {
    uint32_t n_valid, n_empty, n_tiling, n_tile, n_overlap;
};

static void check(enum dse_status status, const struct dse_error *err, const char *network)
{
    if (status != DSE_OK)
        fail_msg("%s\n%s", err->text, network);
}

static void check_scheme(const struct soma_context *context, const struct soma_lfa *lfa, struct arena *arena,
                         const char *network, struct seen *seen)
{
    struct fused_schedule schedule;
    struct fused_result result;
    struct soma_fault_info fault;
    struct dse_error err = {0};
    const struct fused_machine machine = {UINT64_MAX / 2, 16, 84e-12};
    char message[256];
    check(soma_parse(context, lfa, arena, &schedule, &fault, &err), &err, network);
    seen->n_empty += fault.what == SOMA_EMPTY;
    seen->n_tiling += fault.what == SOMA_TILING;
    if (fault.what != SOMA_OK) {
        assert_true(fault.what == SOMA_EMPTY || fault.what == SOMA_TILING);
        return;
    }
    struct soma_plan plan = {.context = context, .graph = context->graph, .lfa = lfa};
    check(soma_plan_positions(&plan, arena, &fault, &err), &err, network);
    check(soma_plan_ranges(&plan, arena, &fault, &err), &err, network);
    if (!soma_plain_agrees(&plan, &schedule, arena, message, sizeof message))
        fail_msg("%s\n%s", message, network);
    check(fused_evaluate(&schedule, &machine, arena, NULL, &result, &err), &err, network);
    assert_int_equal(result.fault, FUSED_OK);
    seen->n_valid++;
    seen->n_tile += schedule.n_tile;
    for (uint32_t i = 0; i < schedule.n_tensor; i++)
        seen->n_overlap +=
            schedule.tensor[i].kind == FUSED_OFMAP && schedule.tensor[i].dram_byte < schedule.tensor[i].byte;
}

/* More than 5,000 of the 9,500 schemes can be cut, and stored tiles that overlap are among them. */
static void test_parse_agrees_with_elements(void **state)
{
    struct seen seen = {0};
    (void)state;
    for (uint32_t n = 0; n < N_NETWORK; n++) {
        struct random_stream stream = random_stream_make(11, n, RANDOM_TEST);
        struct network network;
        struct soma_graph graph;
        struct text_buffer text;
        struct arena arena;
        struct dse_error err = {0};
        text_init(&text);
        arena_init(&arena);
        soma_random_network(&stream, &text);
        check(network_parse("random", text.data, text.length, &network, &err), &err, text.data);
        for (uint32_t i = 0; i < N_SCHEME; i++) {
            arena_reset(&arena);
            check(soma_graph_init(&network, &arena, &graph, &err), &err, text.data);
            const struct soma_context context = {
                &network, &graph, 1 + random_below(&stream, 3), {NULL, no_cost}, false};
            struct soma_lfa lfa = soma_random_lfa(&stream, &graph, &arena);
            check_scheme(&context, &lfa, &arena, text.data, &seen);
        }
        network_free(&network);
        arena_free(&arena);
        text_free(&text);
    }
    print_message("%u schemes of %u, %u tiles, %u stored ones overlap; %u tiling, %u empty\n", seen.n_valid,
                  (unsigned)N_NETWORK * N_SCHEME, seen.n_tile, seen.n_overlap, seen.n_tiling, seen.n_empty);
    assert_true(seen.n_valid > 5000);
    assert_true(seen.n_overlap > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_agrees_with_elements),
    };
    return cmocka_run_group_tests_name("soma elements", tests, NULL, NULL);
}
