/* buffer_split: random schedules fit if and only if the bytes in use at one time do, by a checker that
 * compares all pairs of pieces; and what fits as a whole is not split. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/random.h"
#include "engines/soma/machine/buffer_split.h"

enum { N_TENSOR = 40, N_TILE = 12, N_ROUND = 300 };

struct split_case {
    struct arena arena;
    struct fused_schedule schedule;
    uint32_t place[N_TENSOR];
    struct buffer_split split;
    struct dse_error err;
};

/* Tensors of every kind with any duration, in any DRAM order. */
static void draw(struct split_case *c, struct random_stream *random)
{
    struct fused_schedule *s = &c->schedule;
    *c = (struct split_case){.schedule = {.n_tile = N_TILE, .n_tensor = N_TENSOR}};
    arena_init(&c->arena);
    s->tensor = arena_alloc(&c->arena, N_TENSOR, sizeof *s->tensor);
    s->dram_order = arena_alloc(&c->arena, N_TENSOR, sizeof *s->dram_order);
    assert_true(s->tensor && s->dram_order);
    for (uint32_t i = 0; i < N_TENSOR; i++) {
        static const enum fused_tensor_kind kind[] = {FUSED_IFMAP, FUSED_WEIGHT, FUSED_OFMAP, FUSED_LOCAL};
        struct fused_tensor *t = &s->tensor[i];
        t->kind = kind[random_below(random, 4)];
        t->byte = random_below(random, 8) ? random_below(random, 100) : 0;
        t->start = (int32_t)random_below(random, N_TILE);
        t->end = t->start + 1 + (int32_t)random_below(random, N_TILE - (uint32_t)t->start);
        c->place[i] = UINT32_MAX;
        if (t->kind == FUSED_LOCAL)
            continue;
        uint32_t at = random_below(random, ++s->n_dram);
        s->dram_order[s->n_dram - 1] = s->dram_order[at];
        s->dram_order[at] = i;
    }
    for (uint32_t k = 0; k < s->n_dram; k++)
        c->place[s->dram_order[k]] = k;
}

static uint64_t need(struct split_case *c, uint64_t alignment, bool *whole)
{
    struct buffer_allocation allocation;
    const struct buffer_allocate_options options = {alignment, 0, 0};
    assert_int_equal(buffer_allocate(&c->schedule, &options, &c->arena, &allocation, &c->err), DSE_OK);
    *whole = allocation.peak_byte == allocation.need_byte;
    return allocation.need_byte;
}

static void split(struct split_case *c, uint64_t alignment, uint64_t buffer_byte)
{
    const struct buffer_allocate_options options = {alignment, buffer_byte, 0};
    assert_int_equal(buffer_split(&c->schedule, &options, &c->arena, &c->split, &c->err), DSE_OK);
}

static void check_pair(const struct split_case *c, uint32_t i, uint32_t j)
{
    const struct buffer_split *s = &c->split;
    const struct fused_tensor *tensor = c->schedule.tensor;
    if (i != j && !buffer_conflict(&tensor[i], c->place[i], &tensor[j], c->place[j]))
        return;
    for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++)
        for (uint32_t m = s->first[j]; m < s->first[j + 1]; m++)
            if (k != m && s->piece[k].offset < s->piece[m].offset + s->piece[m].byte &&
                s->piece[m].offset < s->piece[k].offset + s->piece[k].byte)
                fail_msg("tensors %u and %u share bytes", i, j);
}

static void check(const struct split_case *c, uint64_t alignment, uint64_t buffer_byte)
{
    const struct buffer_split *s = &c->split;
    uint32_t n_split = 0;
    for (uint32_t i = 0; i < N_TENSOR; i++) {
        uint64_t sum = 0;
        for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++) {
            assert_int_equal(s->piece[k].offset % alignment, 0);
            assert_true(s->piece[k].offset + s->piece[k].byte <= buffer_byte);
            sum += s->piece[k].byte;
        }
        assert_int_equal(sum, c->schedule.tensor[i].byte);
        assert_true(s->first[i + 1] > s->first[i]);
        n_split += s->first[i + 1] - s->first[i] > 1;
        for (uint32_t j = 0; j <= i; j++)
            check_pair(c, i, j);
    }
    assert_int_equal(n_split, s->n_split);
    assert_true(s->peak_byte <= buffer_byte);
}

static void test_buffer_split_fits_where_the_bytes_do(void **state)
{
    struct random_stream random = random_stream_make(7, 1, RANDOM_TEST);
    uint32_t n_with_split = 0;
    (void)state;
    for (uint32_t round = 0; round < N_ROUND; round++) {
        static const uint64_t aligned[] = {1, 4, 7};
        uint64_t alignment = aligned[round % 3];
        struct split_case c;
        bool whole;
        draw(&c, &random);
        uint64_t bytes = need(&c, alignment, &whole);
        split(&c, alignment, bytes);
        assert_true(c.split.fits);
        check(&c, alignment, bytes);
        n_with_split += c.split.n_split > 0;
        split(&c, alignment, bytes - 1);
        assert_false(c.split.fits);
        split(&c, alignment, 100 * N_TENSOR * alignment); /* room for all */
        assert_true(c.split.fits && c.split.n_split == 0);
        check(&c, alignment, 100 * N_TENSOR * alignment);
        arena_free(&c.arena);
    }
    assert_true(n_with_split > N_ROUND / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffer_split_fits_where_the_bytes_do),
    };
    return cmocka_run_group_tests_name("rooms of several pieces", tests, NULL, NULL);
}
