/* soma_parse against the event-level oracles of the reference (tests/known/soma/oracles): every figure of
 * every tile and tensor, and the time of the parsed schedule.
 * Tests: parse_tiles.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/soma_case.h"

static void check_tiles(const struct fused_schedule *got, const struct fused_schedule *want)
{
    assert_int_equal(got->n_tile, want->n_tile);
    for (uint32_t i = 0; i < got->n_tile; i++) {
        const struct fused_tile *a = &got->tile[i], *b = &want->tile[i];
        if (a->layer != b->layer || a->index != b->index || a->layer_group != b->layer_group ||
            a->flc != b->flc)
            fail_msg("tile %u is %u of layer %u, not %u of %u", i, a->index, a->layer, b->index, b->layer);
        if (a->b != b->b || a->k != b->k || a->h != b->h || a->w != b->w)
            fail_msg("tile %u (layer %u): %u %u %u %u is not %u %u %u %u", i, a->layer, a->b, a->k, a->h,
                     a->w, b->b, b->k, b->h, b->w);
        assert_int_equal(a->cycle, b->cycle);
        assert_true(fabs(a->energy_j - b->energy_j) <= 1e-6 * b->energy_j);
    }
}

static void check_tensors(const struct fused_schedule *got, const struct fused_schedule *want)
{
    assert_int_equal(got->n_tensor, want->n_tensor);
    assert_int_equal(got->n_dram, want->n_dram);
    for (uint32_t i = 0; i < got->n_dram; i++)
        assert_int_equal(got->dram_order[i], want->dram_order[i]);
    for (uint32_t i = 0; i < got->n_tensor; i++) {
        const struct fused_tensor *a = &got->tensor[i], *b = &want->tensor[i];
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->layer, b->layer);
        assert_int_equal(a->index, b->index);
        if (a->kind == FUSED_IFMAP)
            assert_int_equal(a->source, b->source);
        assert_int_equal(a->byte, b->byte);
        if (a->start != b->start || a->end != b->end)
            fail_msg("tensor %u (layer %u) lives from %d to %d, not from %d to %d", i, a->layer, a->start,
                     a->end, b->start, b->end);
        assert_int_equal(a->producer_tile, b->producer_tile);
        assert_int_equal(a->first_use, b->first_use);
        assert_int_equal(a->last_use, b->last_use);
    }
}

/* The oracle's reader lists what each tile waits for from kind, layer and uses. */
static void check_reads(const struct fused_schedule *got, const struct fused_schedule *want)
{
    for (uint32_t p = 0; p < got->n_tile; p++) {
        assert_int_equal(got->n_read[p], want->n_read[p]);
        for (uint32_t i = 0; i < got->n_read[p]; i++) {
            uint32_t n = 0;
            for (uint32_t j = 0; j < want->n_read[p]; j++)
                n += got->read[got->first_read[p] + i] == want->read[want->first_read[p] + j];
            assert_int_equal(n, 1);
        }
    }
}

static void check_time(struct soma_case *c, const struct fused_oracle *oracle)
{
    struct fused_result result;
    assert_int_equal(fused_evaluate(&c->schedule, &oracle->machine, &c->arena, NULL, &result, &c->err),
                     DSE_OK);
    /* In this one the published program ended two stores before the tiles of their own layer group had read
     * them. */
    bool too_short = strcmp(oracle->name, "r50_coccolfa_8MB_16GBs_s2") == 0;
    assert_int_equal(result.fault, too_short ? FUSED_LIFETIME : FUSED_OK);
    assert_int_equal(result.cycle, oracle->cycle);
    assert_int_equal(result.buffer_max_byte, oracle->buffer_max_byte);
    assert_int_equal(result.dram_byte, oracle->dram_byte);
}

/* Oracles after stage 2 bring a DLSA of their own. */
static void check_oracle(const char *network, const char *name)
{
    struct soma_case c;
    struct arena arena;
    struct fused_oracle *oracle = test_malloc(sizeof(*oracle));
    arena_init(&arena);
    if (fused_oracle_read(name, &arena, oracle, &c.err) != DSE_OK)
        fail_msg("%s", c.err.text);
    soma_case_open(&c, network, oracle->machine.buffer_byte);
    struct soma_lfa lfa = soma_case_oracle_lfa(&c, oracle);
    if (!soma_case_parse(&c, &lfa))
        fail_msg("%s: %s (layer %u)", name, soma_fault_text(c.fault.what), c.fault.layer);
    if (strcmp(name + strlen(name) - 3, "_s2") == 0) {
        struct soma_dlsa dlsa = soma_case_oracle_dlsa(&c, oracle);
        if (soma_apply(&dlsa, &c.schedule, &c.err) != DSE_OK)
            fail_msg("%s: %s", name, c.err.text);
    }
    check_tiles(&c.schedule, &oracle->schedule);
    check_tensors(&c.schedule, &oracle->schedule);
    check_reads(&c.schedule, &oracle->schedule);
    check_time(&c, oracle);
    soma_case_close(&c);
    arena_free(&arena);
    test_free(oracle);
}

static void test_parse_equals_every_oracle(void **state)
{
    (void)state;
    for (int i = 0; i < FUSED_N_ORACLE; i++) {
        const char *name = fused_oracle_name[i];
        check_oracle(name[0] == 't'   ? "tests/known/soma/tiny6.yaml"
                     : name[0] == 'r' ? "experiments/networks/resnet50_soma.yaml"
                     : name[0] == 'i' ? "experiments/networks/inception_resnet_v1.yaml"
                                      : "experiments/networks/gpt2_small_prefill512.yaml",
                     name);
    }
}

/* A 3x3 convolution of 1 to 3 channels on 5 x 5 without padding: 25, 27 and 27 elements. */
static void test_tensors_are_of_whole_bytes(void **state)
{
    static const struct {
        uint32_t word_bit;
        uint64_t input, weight, output;
    } row[] = {
        {8, 25, 27, 27}, {16, 50, 54, 54}, {12, 38, 41, 41}, /* 37.5, 40.5 */
        {4, 13, 14, 14},                                     /* 12.5, 13.5 */
        {1, 4, 4, 4},                                        /* 3.125, 3.375 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct soma_case c;
        soma_case_open(&c, "tests/known/soma/conv_odd.yaml", 1 << 20);
        c.context.compat = false;
        c.graph.word_bit = row[i].word_bit;
        const struct soma_lfa lfa = soma_case_lfa(&c, "cut 1 A");
        assert_true(soma_case_parse(&c, &lfa));
        assert_int_equal(c.schedule.n_tensor, 3);
        const uint64_t byte[] = {
            [FUSED_IFMAP] = row[i].input, [FUSED_WEIGHT] = row[i].weight, [FUSED_OFMAP] = row[i].output};
        for (uint32_t t = 0; t < 3; t++) {
            assert_int_equal(c.schedule.tensor[t].byte, byte[c.schedule.tensor[t].kind]);
            assert_int_equal(c.schedule.tensor[t].dram_byte, byte[c.schedule.tensor[t].kind]);
        }
        soma_case_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_equals_every_oracle),
        cmocka_unit_test(test_tensors_are_of_whole_bytes),
    };
    return cmocka_run_group_tests_name("soma parser", tests, NULL, NULL);
}
