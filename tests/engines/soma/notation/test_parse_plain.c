/* The parser's default rules against the element-by-element program, on random schemes of random small
 * networks.
 * Tests: parse.c, parse_tiles.c, tile_plan.c, need.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/text.h"
#include "tests/support/soma_plain.h"

enum { N_NETWORK = 1900, N_NETWORK_CUT = 600, N_SCHEME = 5 };

static enum dse_status no_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                               struct dse_error *err)
{
    (void)self, (void)tile, (void)err;
    *cost = (struct core_cost){.cycle = 1, .energy_j = 1e-9};
    return DSE_OK;
}

/* What has been looked at. */
struct seen {
    uint32_t n_valid, n_empty, n_tiling, n_tile, n_overlap, n_part;
};

static void check(enum dse_status status, const struct dse_error *err, const char *network)
{
    if (status != DSE_OK)
        fail_msg("%s\n%s", err->text, network);
}

/* Groups first .. past-1 of an LFA, which are whole layer groups. */
static struct soma_lfa part_of(const struct soma_lfa *lfa, uint32_t first, uint32_t past, uint32_t *flc)
{
    uint32_t begin = lfa->flc[first], end = past < lfa->n_flc ? lfa->flc[past] : lfa->n_layer;
    for (uint32_t g = first; g < past; g++)
        flc[g - first] = lfa->flc[g] - begin;
    return (struct soma_lfa){.n_layer = end - begin,
                             .order = lfa->order + begin,
                             .n_flc = past - first,
                             .flc = flc,
                             .tiling = lfa->tiling + first,
                             .dram_cut = lfa->dram_cut + first};
}

static bool same_tensor(const struct fused_tensor *a, const struct fused_tensor *b, int32_t offset)
{
    return a->kind == b->kind && a->layer == b->layer && a->index == b->index && a->source == b->source &&
           a->byte == b->byte && a->dram_byte == b->dram_byte && a->start == b->start + offset &&
           a->end == b->end + offset;
}

/* Layer groups parsed on their own, one after the other, are the whole. */
static void check_parts(const struct soma_context *context, const struct soma_lfa *lfa, struct arena *arena,
                        const struct fused_schedule *whole)
{
    uint32_t n_tile = 0, n_tensor = 0;
    uint32_t *flc = arena_alloc(arena, lfa->n_flc, sizeof *flc);
    assert_non_null(flc);
    for (uint32_t g = 0, past; g < lfa->n_flc; g = past) {
        for (past = g + 1; past < lfa->n_flc && !lfa->dram_cut[past];)
            past++;
        struct soma_lfa part = part_of(lfa, g, past, flc);
        struct fused_schedule made;
        struct soma_fault_info fault;
        struct dse_error err = {0};
        check(soma_parse_part(context, &part, arena, &made, &fault, &err), &err, "part");
        assert_int_equal(fault.what, SOMA_OK);
        assert_true(n_tile + made.n_tile <= whole->n_tile && n_tensor + made.n_tensor <= whole->n_tensor);
        for (uint32_t i = 0; i < made.n_tile; i++) {
            const struct fused_tile *a = &whole->tile[n_tile + i], *b = &made.tile[i];
            assert_true(a->layer == b->layer && a->index == b->index && a->b == b->b && a->k == b->k &&
                        a->h == b->h && a->w == b->w);
        }
        for (uint32_t i = 0; i < made.n_tensor; i++)
            assert_true(same_tensor(&whole->tensor[n_tensor + i], &made.tensor[i], (int32_t)n_tile));
        n_tile += made.n_tile;
        n_tensor += made.n_tensor;
    }
    assert_int_equal(n_tile, whole->n_tile);
    assert_int_equal(n_tensor, whole->n_tensor);
}

static void check_scheme(const struct soma_context *context, const struct soma_lfa *lfa, struct arena *arena,
                         const char *network, struct seen *seen)
{
    struct fused_schedule schedule;
    struct fused_result result;
    struct soma_fault_info fault;
    struct dse_error err = {0};
    const struct fused_machine machine = {
        .buffer_byte = UINT64_MAX / 2, .dram_rate = {16, 1}, .dram_energy_j = 84e-12};
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
    check_parts(context, lfa, arena, &schedule);
    seen->n_valid++;
    seen->n_tile += schedule.n_tile;
    for (uint32_t i = 0; i < schedule.n_tensor; i++)
        seen->n_overlap +=
            schedule.tensor[i].kind == FUSED_OFMAP && schedule.tensor[i].dram_byte < schedule.tensor[i].byte;
}

/* Random schemes of n_network networks; `cut`: with layers in parts. */
static struct seen look_at(uint32_t n_network, bool cut)
{
    struct seen seen = {0};
    for (uint32_t n = 0; n < n_network; n++) {
        struct random_stream stream = random_stream_make(11, n, RANDOM_TEST);
        struct network network, parts;
        struct soma_graph graph;
        struct text_buffer text;
        struct arena arena, cuts;
        struct dse_error err = {0};
        text_init(&text);
        arena_init(&arena);
        arena_init(&cuts);
        soma_random_network(&stream, &text);
        check(network_parse("random", text.data, text.length, &network, &err), &err, text.data);
        parts = network;
        if (cut)
            soma_random_cut(&stream, &network, &cuts, &parts);
        seen.n_part += parts.n_layer - network.n_layer;
        for (uint32_t i = 0; i < N_SCHEME; i++) {
            arena_reset(&arena);
            check(soma_graph_init(&parts, &arena, &graph, &err), &err, text.data);
            const struct soma_context context = {.network = &parts,
                                                 .graph = &graph,
                                                 .batch = 1 + random_below(&stream, 3),
                                                 .core = {NULL, no_cost}};
            struct soma_lfa lfa = soma_random_lfa(&stream, &graph, &arena);
            check_scheme(&context, &lfa, &arena, text.data, &seen);
        }
        network_free(&network);
        arena_free(&arena);
        arena_free(&cuts);
        text_free(&text);
    }
    print_message("%u schemes of %u, %u tiles, %u stored ones overlap; %u tiling, %u empty; %u more parts\n",
                  seen.n_valid, n_network * N_SCHEME, seen.n_tile, seen.n_overlap, seen.n_tiling,
                  seen.n_empty, seen.n_part);
    return seen;
}

/* More than 5,000 of the 9,500 schemes can be cut, and stored tiles that overlap are among them. */
static void test_parse_agrees_with_elements(void **state)
{
    (void)state;
    const struct seen seen = look_at(N_NETWORK, false);
    assert_true(seen.n_valid > 5000);
    assert_true(seen.n_overlap > 300);
}

/* The same of networks with layers in parts. */
static void test_parse_agrees_with_elements_in_parts(void **state)
{
    (void)state;
    const struct seen seen = look_at(N_NETWORK_CUT, true);
    assert_true(seen.n_valid > 1000);
    assert_true(seen.n_part > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_agrees_with_elements),
        cmocka_unit_test(test_parse_agrees_with_elements_in_parts),
    };
    return cmocka_run_group_tests_name("soma elements", tests, NULL, NULL);
}
