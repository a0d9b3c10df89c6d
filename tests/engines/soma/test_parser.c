/* soma_parse against the event-level oracles of the reference: every figure of every tile and tensor. The oracles lie in
 * tests/known/soma/oracles (columns: see its README). */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engines/soma/notation.h"

enum { FIELD_MAX = 512, LINE_MAX_BYTE = 8192 };

/* One oracle file, its machine, and what the parser makes of its encoding. */
struct oracle_case {
    struct network network;
    struct soma_graph graph;
    struct core_array core;
    struct soma_context context;
    struct soma_lfa lfa;
    struct fused_schedule schedule;
    struct arena arena;
    struct dse_error err;
    FILE *file;
    char line[LINE_MAX_BYTE];
    const char *field[FIELD_MAX];
    size_t n_field;
};

static enum dse_status core_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                 struct dse_error *err)
{
    return core_array_cost(self, tile, true, cost, err);
}

static void check_ok(const struct oracle_case *c, enum dse_status status)
{
    if (status != DSE_OK)
        fail_msg("%s", c->err.text);
}

/* The next line, split at commas; empty fields count. */
static int next_line(struct oracle_case *c)
{
    do {
        if (fgets(c->line, sizeof(c->line), c->file) == NULL)
            return 0;
        c->line[strcspn(c->line, "\r\n")] = '\0';
    } while (c->line[0] == '#');
    char *rest = c->line;
    c->n_field = 0;
    while (rest != NULL && c->n_field < FIELD_MAX)
        c->field[c->n_field++] = strsep(&rest, ",");
    return 1;
}

static int64_t number(const struct oracle_case *c, size_t field)
{
    assert_true(field < c->n_field);
    return strtoll(c->field[field], NULL, 10);
}

static uint32_t *read_list(struct oracle_case *c, const char *key, uint32_t *n)
{
    assert_true(next_line(c));
    assert_string_equal(c->field[0], key);
    *n = (uint32_t)c->n_field - 1;
    uint32_t *list = arena_alloc(&c->arena, *n, sizeof(*list));
    assert_non_null(list);
    for (uint32_t i = 0; i < *n; i++)
        list[i] = (uint32_t)number(c, i + 1);
    return list;
}

static void read_encoding(struct oracle_case *c)
{
    uint32_t n_cut, n_tiling;
    c->lfa.order = read_list(c, "order", &c->lfa.n_layer);
    uint32_t *cut = read_list(c, "groups", &n_cut);
    c->lfa.flc = read_list(c, "fine", &c->lfa.n_flc);
    c->lfa.tiling = read_list(c, "tiling", &n_tiling);
    assert_int_equal(n_tiling, c->lfa.n_flc);
    c->lfa.dram_cut = arena_alloc(&c->arena, c->lfa.n_flc, sizeof(*c->lfa.dram_cut));
    for (uint32_t g = 0, i = 0; g < c->lfa.n_flc; g++)
        if (i < n_cut && cut[i] == c->lfa.flc[g]) {
            c->lfa.dram_cut[g] = true;
            i++;
        }
}

static struct oracle_case *oracle_open(const char *network, const char *name)
{
    char path[256];
    struct oracle_case *c = calloc(1, sizeof(*c));
    arena_init(&c->arena);
    check_ok(c, network_read(network, &c->network, &c->err));
    check_ok(c, soma_graph_init(&c->network, &c->arena, &c->graph, &c->err));
    snprintf(path, sizeof(path), "tests/known/soma/oracles/%s.csv", name);
    c->file = fopen(path, "r");
    if (c->file == NULL)
        fail_msg("%s is missing", path);
    read_encoding(c);
    assert_true(next_line(c)); /* totals,buffer bytes,... */
    struct core_array_size size = {512, 4, 4, (uint64_t)number(c, 1), 256};
    check_ok(c, core_array_init(&size, &c->core, &c->err));
    c->context = (struct soma_context){&c->network, &c->graph, 1, {&c->core, core_cost}, true};
    struct soma_fault_info fault;
    check_ok(c, soma_parse(&c->context, &c->lfa, &c->arena, &c->schedule, &fault, &c->err));
    if (fault.what != SOMA_OK)
        fail_msg("%s: %s (layer %u)", name, soma_fault_text(fault.what), fault.layer);
    assert_true(next_line(c));
    return c;
}

static void oracle_close(struct oracle_case *c)
{
    fclose(c->file);
    network_free(&c->network);
    arena_free(&c->arena);
    free(c);
}

/* tile,layer,index,layer group,flc,b,k,h,w,cycles,pJ,... */
static void check_tiles(struct oracle_case *c)
{
    uint32_t n = 0;
    for (int more = 1; more && strcmp(c->field[0], "tile") == 0; more = next_line(c), n++) {
        assert_true(n < c->schedule.n_tile);
        const struct fused_tile *tile = &c->schedule.tile[n];
        const uint64_t got[9] = {tile->layer, tile->index, tile->layer_group, tile->flc,  tile->b,
                                 tile->k,     tile->h,     tile->w,           tile->cycle};
        for (size_t i = 0; i < 9; i++)
            if (got[i] != (uint64_t)number(c, i + 1))
                fail_msg("tile %u, column %zu: %" PRIu64 " is not %s", n, i + 1, got[i], c->field[i + 1]);
        double energy = strtod(c->field[10], NULL) * 1e-12;
        assert_true(fabs(tile->energy_j - energy) <= 1e-6 * energy);
    }
    assert_int_equal(n, c->schedule.n_tile);
}

/* Position of every tensor in the DRAM order; -1 when it is not in it. */
static int64_t *dram_places(struct oracle_case *c)
{
    const struct fused_schedule *s = &c->schedule;
    int64_t *place = arena_alloc(&c->arena, s->n_tensor, sizeof(*place));
    for (uint32_t i = 0; i < s->n_tensor; i++)
        place[i] = -1;
    for (uint32_t i = 0; i < s->n_dram; i++)
        place[s->dram_order[i]] = i;
    return place;
}

/* tensor,kind,layer,index,source,bytes,place in the DRAM order,start,end,producer,first use,last use,... */
static void check_tensors(struct oracle_case *c)
{
    const int64_t *place = dram_places(c);
    uint32_t n = 0;
    for (int more = 1; more && strcmp(c->field[0], "tensor") == 0; more = next_line(c), n++) {
        assert_true(n < c->schedule.n_tensor);
        const struct fused_tensor *t = &c->schedule.tensor[n];
        assert_int_equal(c->field[1][0], "IWOL"[t->kind]);
        const int64_t source = c->field[4][0] == '\0' ? INT32_MIN : number(c, 4);
        const int64_t got[8] = {(int64_t)t->byte, place[n],     t->start,   t->end,
                                t->producer_tile, t->first_use, t->last_use};
        assert_int_equal(t->layer, number(c, 2));
        assert_int_equal(t->index, number(c, 3));
        assert_int_equal(t->source, source);
        for (size_t i = 0; i < 7; i++)
            if (got[i] != number(c, i + 5))
                fail_msg("tensor %u (layer %u, tile %u), column %zu: %" PRId64 " is not %s", n, t->layer,
                         t->index, i + 5, got[i], c->field[i + 5]);
    }
    assert_int_equal(n, c->schedule.n_tensor);
}

/* Each tile waits for the loads and weights whose uses cover its position and whose layer is its own. */
static void check_reads(const struct oracle_case *c)
{
    const struct fused_schedule *s = &c->schedule;
    uint64_t n_read = 0, n_expected = 0;
    for (uint32_t p = 0; p < s->n_tile; p++) {
        n_read += s->n_read[p];
        for (uint32_t i = 0; i < s->n_read[p]; i++) {
            const struct fused_tensor *t = &s->tensor[s->read[s->first_read[p] + i]];
            assert_true(t->kind == FUSED_IFMAP || t->kind == FUSED_WEIGHT);
            assert_int_equal(t->layer, s->tile[p].layer);
            assert_true(t->kind == FUSED_WEIGHT || t->index == s->tile[p].index);
        }
    }
    for (uint32_t i = 0; i < s->n_tensor; i++) {
        const struct fused_tensor *t = &s->tensor[i];
        for (uint32_t p = 0; p < s->n_tile && t->kind <= FUSED_WEIGHT; p++)
            n_expected +=
                s->tile[p].layer == t->layer && (t->kind == FUSED_WEIGHT || t->index == s->tile[p].index);
    }
    assert_int_equal(n_read, n_expected);
}

static void check_default(const char *network, const char *name)
{
    struct oracle_case *c = oracle_open(network, name);
    check_tiles(c);
    check_tensors(c);
    check_reads(c);
    oracle_close(c);
}

static void test_parse_makes_tiles_and_tensors_of_tiny6(void **state)
{
    (void)state;
    check_default("tests/known/soma/tiny6.yaml", "tiny_flg_s1");
    check_default("tests/known/soma/tiny6.yaml", "tiny_fused_s1");
    check_default("tests/known/soma/tiny6.yaml", "tiny_cocco_s1");
}

static void test_parse_makes_tiles_and_tensors_of_resnet50(void **state)
{
    (void)state;
    check_default("experiments/networks/resnet50_soma.yaml", "r50_4MB_16GBs_s1");
    check_default("experiments/networks/resnet50_soma.yaml", "r50_8MB_16GBs_s1");
    check_default("experiments/networks/resnet50_soma.yaml", "r50_8MB_16GBs_cocco");
}

static void test_parse_gives_concat_producers_all_channels(void **state)
{
    (void)state;
    check_default("experiments/networks/inception_resnet_v1.yaml", "ires_8MB_16GBs_s1");
}

static void test_parse_loads_a_second_operand_whole(void **state)
{
    (void)state;
    check_default("experiments/networks/gpt2_small_prefill512.yaml", "gpt2_small_prefill_8MB_16GBs_s1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_makes_tiles_and_tensors_of_tiny6),
        cmocka_unit_test(test_parse_makes_tiles_and_tensors_of_resnet50),
        cmocka_unit_test(test_parse_gives_concat_producers_all_channels),
        cmocka_unit_test(test_parse_loads_a_second_operand_whole),
    };
    return cmocka_run_group_tests_name("soma parser", tests, NULL, NULL);
}
