/* buffer_allocate: hand-made cases, and every oracle and random schedules against a checker that compares all
 * pairs; and that what it lets share bytes never does so at one time.
 * Tests: buffer_pack.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/machine/buffer_allocate.h"
#include "tests/support/fused_oracle.h"
#include "tests/support/fused_plain.h"

enum { SMALL_EFFORT = 2000000, ORACLE_EFFORT = 20000000 };

struct allocate_case {
    struct arena arena;
    struct fused_schedule schedule;
    struct buffer_allocation allocation;
    uint32_t *place;
    struct dse_error err;
};

static void open_case(struct allocate_case *c)
{
    *c = (struct allocate_case){0};
    arena_init(&c->arena);
}

static void allocate(struct allocate_case *c, uint64_t alignment, uint64_t buffer_byte, uint64_t effort)
{
    const struct buffer_allocate_options options = {alignment, buffer_byte, effort};
    if (buffer_allocate(&c->schedule, &options, &c->arena, &c->allocation, &c->err) != DSE_OK)
        fail_msg("%s", c->err.text);
    c->place = arena_alloc(&c->arena, (size_t)c->schedule.n_tensor + 1, sizeof *c->place);
    assert_non_null(c->place);
    for (uint32_t i = 0; i < c->schedule.n_tensor; i++)
        c->place[i] = UINT32_MAX;
    for (uint32_t k = 0; k < c->schedule.n_dram; k++)
        c->place[c->schedule.dram_order[k]] = k;
}

/* Another statement of who may not share bytes: alive at one position, looked at one by one; or a load whose
 * start is the end of a transfer behind it. */
static bool must_differ(const struct allocate_case *c, uint32_t i, uint32_t j)
{
    const struct fused_tensor *a = &c->schedule.tensor[i], *b = &c->schedule.tensor[j];
    for (int32_t p = a->start; p < a->end; p++)
        if (b->start <= p && p < b->end)
            return true;
    bool a_load = a->kind == FUSED_IFMAP || a->kind == FUSED_WEIGHT;
    bool b_load = b->kind == FUSED_IFMAP || b->kind == FUSED_WEIGHT;
    return (a_load && b->kind != FUSED_LOCAL && a->start == b->end && c->place[i] < c->place[j]) ||
           (b_load && a->kind != FUSED_LOCAL && b->start == a->end && c->place[j] < c->place[i]);
}

static void check(const struct allocate_case *c, uint64_t alignment, uint64_t buffer_byte)
{
    const struct fused_schedule *s = &c->schedule;
    const struct buffer_allocation *a = &c->allocation;
    uint64_t peak = 0;
    for (uint32_t i = 0; i < s->n_tensor; i++) {
        uint64_t end = a->offset[i] + s->tensor[i].byte;
        if (s->tensor[i].byte == 0)
            continue;
        assert_int_equal(a->offset[i] % alignment, 0);
        peak = end > peak ? end : peak;
        for (uint32_t j = 0; j < i; j++)
            if (s->tensor[j].byte > 0 && a->offset[i] < a->offset[j] + s->tensor[j].byte &&
                a->offset[j] < end && must_differ(c, i, j))
                fail_msg("tensors %u and %u share bytes", i, j);
    }
    assert_true(peak <= a->peak_byte && a->peak_byte < peak + alignment);
    assert_int_equal(a->fits, a->peak_byte <= buffer_byte);
    assert_int_equal(a->n_outside > 0, !a->fits);
    assert_true(a->peak_byte >= a->need_byte && a->need_byte >= a->living_byte);
}

/* A schedule of `n_tile` tiles from a table: kind, bytes, start, end, producer. Loads are used at end - 1.
 * The order is that of the table. */
struct row {
    enum fused_tensor_kind kind;
    uint64_t byte;
    int32_t start, end, producer;
};

static void make(struct allocate_case *c, uint32_t n_tile, const struct row *row, uint32_t n)
{
    struct fused_schedule *s = &c->schedule;
    s->n_tile = n_tile;
    s->tile = arena_alloc(&c->arena, n_tile, sizeof *s->tile);
    s->tensor = arena_alloc(&c->arena, n, sizeof *s->tensor);
    s->dram_order = arena_alloc(&c->arena, n, sizeof *s->dram_order);
    assert_true(s->tile && s->tensor && s->dram_order);
    for (uint32_t i = 0; i < n; i++) {
        bool load = row[i].producer < 0;
        s->tensor[s->n_tensor++] = (struct fused_tensor){
            .kind = row[i].kind,
            .source = INT32_MIN,
            .byte = row[i].byte,
            .dram_byte = row[i].kind == FUSED_LOCAL ? 0 : row[i].byte,
            .start = row[i].start,
            .end = row[i].end,
            .producer_tile = row[i].producer,
            .first_use = load ? row[i].end - 1 : -1,
            .last_use = load ? row[i].end - 1 : -1,
        };
        if (row[i].kind != FUSED_LOCAL)
            s->dram_order[s->n_dram++] = i;
    }
}

/* Two of 10 at 0 and 1, one of 10 after the first: 20 bytes are enough, and are needed. */
static void test_buffer_allocate_uses_room_again(void **state)
{
    static const struct row row[] = {
        {FUSED_LOCAL, 10, 0, 1, 0}, {FUSED_LOCAL, 10, 0, 2, 0}, {FUSED_LOCAL, 10, 1, 2, 1}};
    struct allocate_case c;
    (void)state;
    open_case(&c);
    make(&c, 2, row, 3);
    allocate(&c, 1, 20, 0);
    check(&c, 1, 20);
    assert_int_equal(c.allocation.peak_byte, 20);
    assert_int_equal(c.allocation.living_byte, 20);
    assert_true(c.allocation.fits && c.allocation.fragmentation == 0);
    assert_int_equal(c.allocation.offset[2], c.allocation.offset[0]);
    arena_free(&c.arena);
}

/* By start, A (1 byte) comes before B (2) and C (2) and ends before D (3): first fit leaves 1 byte below B
 * and 2 bytes above. With other orders all 5 bytes are enough. */
static void test_buffer_allocate_tries_other_orders(void **state)
{
    static const struct row row[] = {{FUSED_LOCAL, 1, 0, 2, 0},
                                     {FUSED_LOCAL, 2, 1, 4, 1},
                                     {FUSED_LOCAL, 2, 1, 2, 1},
                                     {FUSED_LOCAL, 3, 2, 3, 2}};
    struct allocate_case c;
    (void)state;
    open_case(&c);
    make(&c, 4, row, 4);
    allocate(&c, 1, 5, SMALL_EFFORT);
    check(&c, 1, 5);
    assert_int_equal(c.allocation.peak_byte, 5);
    /* A with B and C, B with C and D: four pairs */
    allocate(&c, 1, 5, 4);
    assert_int_equal(c.allocation.peak_byte, 5);
    allocate(&c, 1, 5, 3);
    assert_true(!c.allocation.fits && c.allocation.peak_byte == UINT64_MAX && c.allocation.need_byte == 5);
    arena_free(&c.arena);
}

/* 3 and 5 bytes at once, in units of 4: 4 + 8. */
static void test_buffer_allocate_aligns(void **state)
{
    static const struct row row[] = {{FUSED_LOCAL, 3, 0, 1, 0}, {FUSED_LOCAL, 5, 0, 1, 0}};
    struct allocate_case c;
    (void)state;
    open_case(&c);
    make(&c, 1, row, 2);
    allocate(&c, 4, 12, 0);
    check(&c, 4, 12);
    assert_int_equal(c.allocation.peak_byte, 12);
    assert_int_equal(c.allocation.living_byte, 12);
    const struct buffer_allocate_options none = {0, 12, 0};
    assert_int_equal(buffer_allocate(&c.schedule, &none, &c.arena, &c.allocation, &c.err), DSE_BAD_USAGE);
    arena_free(&c.arena);
}

/* Both schedules have at most 8 bytes alive: a store that ends at 1, and a load that starts at 1. With the
 * load behind the store in the DRAM order, both may use the same 8 bytes; with the load before it, it may
 * begin while the store has not: 16. */
static void test_buffer_allocate_keeps_a_store_from_a_load_before_it(void **state)
{
    static const struct row behind[] = {{FUSED_OFMAP, 8, 0, 1, 0}, {FUSED_WEIGHT, 8, 1, 2, -1}};
    static const struct row before[] = {{FUSED_WEIGHT, 8, 1, 2, -1}, {FUSED_OFMAP, 8, 0, 1, 0}};
    struct allocate_case c;
    (void)state;
    open_case(&c);
    make(&c, 2, behind, 2);
    allocate(&c, 1, 8, 0);
    check(&c, 1, 8);
    assert_int_equal(c.allocation.peak_byte, 8);
    assert_int_equal(c.allocation.n_hazard, 0);
    arena_free(&c.arena);
    open_case(&c);
    make(&c, 2, before, 2);
    allocate(&c, 1, 8, 0);
    check(&c, 1, 8);
    assert_int_equal(c.allocation.living_byte, 8);
    assert_int_equal(c.allocation.need_byte, 16);
    assert_int_equal(c.allocation.peak_byte, 16);
    assert_int_equal(c.allocation.n_hazard, 1);
    assert_false(c.allocation.fits);
    assert_int_equal(c.allocation.n_outside, 1);
    assert_int_equal(c.allocation.offset[c.allocation.outside], 8);
    arena_free(&c.arena);
}

/* The bytes alive are the evaluator's; at the published schedules' own capacity all fit. The peak is within 2
 * % of what is alive at this effort, those of double buffering at it. */
static void test_buffer_allocate_fits_every_published_schedule(void **state)
{
    (void)state;
    for (size_t i = 0; i < FUSED_N_ORACLE; i++) {
        struct allocate_case c;
        struct fused_oracle oracle;
        open_case(&c);
        if (fused_oracle_read(fused_oracle_name[i], &c.arena, &oracle, &c.err) != DSE_OK)
            fail_msg("%s", c.err.text);
        c.schedule = oracle.schedule;
        allocate(&c, 1, oracle.machine.buffer_byte, ORACLE_EFFORT);
        check(&c, 1, oracle.machine.buffer_byte);
        assert_int_equal(c.allocation.living_byte, oracle.buffer_max_byte);
        assert_int_equal(c.allocation.need_byte, c.allocation.living_byte);
        assert_true(c.allocation.fits);
        assert_true(c.allocation.fragmentation <= 0.02);
        bool double_buffer = fused_oracle_name[i][strlen(fused_oracle_name[i]) - 1] == '1';
        assert_true(!double_buffer || c.allocation.fragmentation == 0);
        allocate(&c, 64, oracle.machine.buffer_byte, SMALL_EFFORT);
        check(&c, 64, oracle.machine.buffer_byte);
        arena_free(&c.arena);
    }
}

static void test_buffer_allocate_never_overlaps_in_random_schedules(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 400; round++) {
        struct random_stream random = random_stream_make(11, round, RANDOM_TEST);
        struct allocate_case c;
        struct fused_machine machine;
        struct fused_result result;
        uint64_t alignment = 1u << random_below(&random, 5);
        open_case(&c);
        assert_true(fused_random(&random, 40, round % 2 ? 30 : 0, &c.arena, &c.schedule, &machine));
        machine.buffer_byte = UINT64_MAX / 2;
        assert_int_equal(fused_evaluate(&c.schedule, &machine, &c.arena, NULL, &result, &c.err), DSE_OK);
        if (result.fault == FUSED_OK) {
            allocate(&c, alignment, result.buffer_max_byte, 20000);
            check(&c, alignment, result.buffer_max_byte);
            assert_true(alignment > 1 || c.allocation.living_byte == result.buffer_max_byte);
        }
        arena_free(&c.arena);
    }
}

/* ---- bytes in time ---- */

/* From the first to the last time at which an engine touches the tensor. */
static void in_use(const struct fused_schedule *s, const struct fused_trace *trace, uint32_t i,
                   uint64_t *from, uint64_t *to)
{
    const struct fused_tensor *t = &s->tensor[i];
    bool made = t->producer_tile >= 0;
    *from = made ? trace->tile_start[t->producer_tile] : trace->tensor_start[i];
    *to = made ? trace->tile_finish[t->producer_tile] : trace->tensor_finish[i];
    if (t->kind != FUSED_LOCAL && trace->tensor_finish[i] > *to)
        *to = trace->tensor_finish[i];
    if (t->last_use >= 0 && trace->tile_finish[t->last_use] > *to)
        *to = trace->tile_finish[t->last_use];
}

/* docs/instructions.md: two tensors that may share bytes are never in use at one time; and the rule of the
 * load before the store is needed: without it, some would be. */
static void test_buffer_conflict_is_what_time_asks_for(void **state)
{
    uint32_t n_hazard = 0, n_overwritten = 0, n_pair = 0;
    (void)state;
    for (uint32_t round = 0; round < 3000; round++) {
        struct random_stream random = random_stream_make(12, round, RANDOM_TEST);
        struct allocate_case c;
        struct fused_machine machine;
        struct fused_result result;
        struct fused_trace trace = {0};
        open_case(&c);
        assert_true(fused_random(&random, 12, 60, &c.arena, &c.schedule, &machine));
        assert_true(fused_trace_allocate(&c.schedule, &c.arena, &trace));
        machine.buffer_byte = UINT64_MAX / 2;
        assert_int_equal(fused_evaluate(&c.schedule, &machine, &c.arena, &trace, &result, &c.err), DSE_OK);
        bool ends = result.fault == FUSED_OK || result.fault == FUSED_OVERLAP;
        if (ends)
            allocate(&c, 1, machine.buffer_byte, 0);
        for (uint32_t i = 0; ends && i < c.schedule.n_tensor; i++)
            for (uint32_t j = 0; j < i; j++) {
                const struct fused_tensor *a = &c.schedule.tensor[i], *b = &c.schedule.tensor[j];
                uint64_t from_a, to_a, from_b, to_b;
                in_use(&c.schedule, &trace, i, &from_a, &to_a);
                in_use(&c.schedule, &trace, j, &from_b, &to_b);
                bool together = from_a < to_b && from_b < to_a;
                bool meet = a->start < b->end && b->start < a->end;
                bool conflict = buffer_conflict(a, c.place[i], b, c.place[j]);
                n_pair++;
                n_hazard += conflict && !meet;
                n_overwritten += conflict && !meet && together;
                assert_true(conflict || !together);
            }
        arena_free(&c.arena);
    }
    assert_true(n_pair > 10000 && n_hazard > 0 && n_overwritten > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffer_allocate_uses_room_again),
        cmocka_unit_test(test_buffer_allocate_tries_other_orders),
        cmocka_unit_test(test_buffer_allocate_aligns),
        cmocka_unit_test(test_buffer_allocate_keeps_a_store_from_a_load_before_it),
        cmocka_unit_test(test_buffer_allocate_fits_every_published_schedule),
        cmocka_unit_test(test_buffer_allocate_never_overlaps_in_random_schedules),
        cmocka_unit_test(test_buffer_conflict_is_what_time_asks_for),
    };
    return cmocka_run_group_tests_name("buffer allocation", tests, NULL, NULL);
}
