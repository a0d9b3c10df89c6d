/* The incremental evaluator against fused_evaluate after every step of random walks: published schedules and
 * random ones.
 * Tests: fused_occupancy.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/fused/fused_incremental.h"
#include "tests/support/fused_oracle.h"
#include "tests/support/fused_plain.h"

enum { N_RANDOM = 300, N_RANDOM_STEP = 150, N_ORACLE_STEP = 2500, N_FAULT = FUSED_OVERLAP + 1 };

struct walk {
    struct arena arena, scratch;
    struct fused_schedule schedule; /* the same changes, made by hand */
    struct fused_machine machine;
    struct fused_trace trace;
    struct fused_incremental *state;
    struct random_stream stream;
    int n_fault[N_FAULT];
};

struct change {
    uint32_t tensor, from, to;
    int32_t start, end;
};

static void apply(struct fused_schedule *schedule, const struct change *change)
{
    uint32_t *order = schedule->dram_order;
    schedule->tensor[change->tensor].start = change->start;
    schedule->tensor[change->tensor].end = change->end;
    for (uint32_t k = change->from; k < change->to; k++)
        order[k] = order[k + 1];
    for (uint32_t k = change->from; k > change->to; k--)
        order[k] = order[k - 1];
    if (schedule->tensor[change->tensor].kind != FUSED_LOCAL)
        order[change->to] = change->tensor;
}

static int32_t nudge(struct random_stream *stream, int32_t value)
{
    uint32_t kind = random_below(stream, 8);
    int32_t span = kind == 0 ? 60 : 4;
    return value + (int32_t)random_below(stream, (uint32_t)(2 * span + 1)) - span;
}

/* Order, duration or both of any tensor; some of it is unsound. */
static struct change draw(struct walk *w)
{
    struct change c = {.tensor = random_below(&w->stream, w->schedule.n_tensor)};
    const struct fused_tensor *tensor = &w->schedule.tensor[c.tensor];
    uint32_t kind = random_below(&w->stream, 4);
    c.start = tensor->start;
    c.end = tensor->end;
    if (tensor->kind != FUSED_LOCAL) {
        int32_t to;
        c.from = c.to = fused_incremental_place(w->state, c.tensor);
        to = nudge(&w->stream, (int32_t)c.from);
        if (kind < 2 && to >= 0 && to < (int32_t)w->schedule.n_dram)
            c.to = (uint32_t)to;
    }
    if (kind > 0 && (tensor->kind == FUSED_IFMAP || tensor->kind == FUSED_WEIGHT || kind == 3))
        c.start = nudge(&w->stream, c.start);
    if (kind > 0 && (tensor->kind == FUSED_OFMAP || tensor->kind == FUSED_LOCAL || kind == 3))
        c.end = nudge(&w->stream, c.end);
    if (c.start < -1 && random_below(&w->stream, 8) > 0)
        c.start = -1;
    return c;
}

static void check_state(struct walk *w, const struct fused_outcome *have, const struct fused_result *want)
{
    const struct fused_schedule *schedule = &w->schedule;
    if (have->fault != want->fault || have->fault_tensor != want->fault_tensor ||
        have->cycle != want->cycle || have->buffer_max_byte != want->buffer_max_byte)
        fail_msg("fault %d of %u, %llu cycles, %llu bytes; anew %d of %u, %llu, %llu", (int)have->fault,
                 have->fault_tensor, (unsigned long long)have->cycle,
                 (unsigned long long)have->buffer_max_byte, (int)want->fault, want->fault_tensor,
                 (unsigned long long)want->cycle, (unsigned long long)want->buffer_max_byte);
    assert_memory_equal(fused_incremental_order(w->state), schedule->dram_order,
                        schedule->n_dram * sizeof *schedule->dram_order);
    for (uint32_t p = 0; p < schedule->n_tile; p++)
        assert_true(fused_incremental_tile_finish(w->state, p) == w->trace.tile_finish[p]);
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &fused_incremental_tensor(w->state)[i];
        assert_true(tensor->start == schedule->tensor[i].start && tensor->end == schedule->tensor[i].end);
    }
}

static void evaluate(struct walk *w, struct fused_result *result)
{
    struct dse_error err;
    arena_reset(&w->scratch);
    if (fused_evaluate(&w->schedule, &w->machine, &w->scratch, &w->trace, result, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void check_now(struct walk *w)
{
    struct fused_result want;
    struct fused_outcome have = fused_incremental_outcome(w->state);
    evaluate(w, &want);
    check_state(w, &have, &want);
}

static struct fused_outcome make(struct walk *w, const struct change *c)
{
    const struct fused_tensor *tensor = &w->schedule.tensor[c->tensor];
    if (c->start == tensor->start && c->end == tensor->end)
        return fused_move_order(w->state, c->from, c->to);
    return fused_move(w->state, c->tensor, c->to, c->start, c->end);
}

static void step(struct walk *w)
{
    struct change c = draw(w);
    struct change back = {c.tensor, c.to, c.from, w->schedule.tensor[c.tensor].start,
                          w->schedule.tensor[c.tensor].end};
    struct fused_outcome have = make(w, &c);
    struct fused_result want;
    apply(&w->schedule, &c);
    evaluate(w, &want);
    w->n_fault[have.fault]++;
    if (have.fault == FUSED_OK || have.fault == FUSED_BUFFER) {
        check_state(w, &have, &want);
        if (random_below(&w->stream, 2) == 0)
            return;
    } else {
        assert_int_equal(have.fault, want.fault);
        assert_int_equal(have.fault_tensor, want.fault_tensor);
    }
    fused_undo(w->state);
    if (random_below(&w->stream, 4) == 0)
        fused_undo(w->state); /* nothing is left to take back */
    apply(&w->schedule, &back);
    check_now(w);
}

static void walk(struct walk *w, int n_step)
{
    struct dse_error err;
    assert_true(fused_trace_allocate(&w->schedule, &w->arena, &w->trace));
    if (fused_incremental_new(&w->schedule, &w->machine, &w->arena, &w->state, &err) != DSE_OK)
        fail_msg("%s", err.text);
    check_now(w);
    for (int i = 0; i < n_step; i++)
        step(w);
    arena_reset(&w->arena);
}

static void check_each_kind_was_there(const struct walk *w)
{
    for (int f = 0; f < N_FAULT; f++)
        if (w->n_fault[f] < (f == FUSED_OVERLAP ? 25 : 50))
            fail_msg("outcome %d: only %d times", f, w->n_fault[f]);
}

static void walk_init(struct walk *w, uint64_t key)
{
    memset(w, 0, sizeof *w);
    arena_init(&w->arena);
    arena_init(&w->scratch);
    w->stream = random_stream_make(1, key, RANDOM_TEST);
}

static void walk_free(struct walk *w)
{
    arena_free(&w->arena);
    arena_free(&w->scratch);
}

static void test_fused_incremental_walks_published_schedules(void **state)
{
    struct fused_oracle oracle;
    struct dse_error err;
    struct walk w;
    (void)state;
    walk_init(&w, 5);
    for (size_t i = 0; i < FUSED_N_ORACLE; i++) {
        if (strcmp(fused_oracle_name[i], "r50_coccolfa_8MB_16GBs_s2") == 0)
            continue; /* not sound: test_fused_oracles.c */
        if (fused_oracle_read(fused_oracle_name[i], &w.arena, &oracle, &err) != DSE_OK)
            fail_msg("%s", err.text);
        w.schedule = oracle.schedule;
        w.machine = oracle.machine;
        walk(&w, N_ORACLE_STEP);
    }
    check_each_kind_was_there(&w);
    walk_free(&w);
}

static void test_fused_incremental_walks_random_schedules(void **state)
{
    struct walk w;
    (void)state;
    walk_init(&w, 6);
    for (int i = 0; i < N_RANDOM; i++) {
        assert_true(fused_random(&w.stream, i % 3 == 0 ? 6 : 70, 0, &w.arena, &w.schedule, &w.machine));
        walk(&w, N_RANDOM_STEP);
    }
    check_each_kind_was_there(&w);
    walk_free(&w);
}

static void test_fused_incremental_refuses_a_faulty_start(void **state)
{
    struct dse_error err;
    struct walk w;
    (void)state;
    walk_init(&w, 7);
    assert_true(fused_random(&w.stream, 6, 0, &w.arena, &w.schedule, &w.machine));
    w.schedule.tensor[0].end = w.schedule.tensor[0].start;
    assert_int_equal(fused_incremental_new(&w.schedule, &w.machine, &w.arena, &w.state, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "tensor 0"));
    walk_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused_incremental_walks_published_schedules),
        cmocka_unit_test(test_fused_incremental_walks_random_schedules),
        cmocka_unit_test(test_fused_incremental_refuses_a_faulty_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
