/* fused_evaluate against tests/support/fused_plain.c, which follows the events, over random schedules, sound
 * and faulty.
 * Tests: fused_evaluate.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/fused_oracle.h"
#include "tests/support/fused_plain.h"

enum { N_RANDOM = 6000, N_TILE_MAX = 40, N_FAULT = FUSED_OVERLAP + 1 };

static bool equal(uint32_t n, const uint64_t *a, const uint64_t *b)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

static void check_equal(int draw, const struct fused_schedule *schedule, const struct fused_result *have,
                        const struct fused_trace *trace, const struct fused_result *want,
                        const struct fused_trace *plain)
{
    if (have->fault != want->fault || have->fault_tensor != want->fault_tensor ||
        have->fault_position != want->fault_position || have->cycle != want->cycle ||
        have->buffer_max_byte != want->buffer_max_byte)
        fail_msg("draw %d: fault %d of %u at %d, %llu cycles, %llu bytes; plainly %d of %u at %d, %llu, %llu",
                 draw, (int)have->fault, have->fault_tensor, have->fault_position,
                 (unsigned long long)have->cycle, (unsigned long long)have->buffer_max_byte, (int)want->fault,
                 want->fault_tensor, want->fault_position, (unsigned long long)want->cycle,
                 (unsigned long long)want->buffer_max_byte);
    assert_true(equal(schedule->n_tile, trace->tile_start, plain->tile_start));
    assert_true(equal(schedule->n_tile, trace->tile_finish, plain->tile_finish));
    assert_true(equal(schedule->n_tensor, trace->tensor_start, plain->tensor_start));
    assert_true(equal(schedule->n_tensor, trace->tensor_finish, plain->tensor_finish));
    assert_true(equal(schedule->n_tile + 1, trace->living_byte, plain->living_byte));
}

/* The stalls are the gaps between tiles, and the lower bound is one. */
static void check_sums(const struct fused_schedule *schedule, const struct fused_trace *trace,
                       const struct fused_result *result)
{
    uint64_t stall = 0, finish = 0;
    if (result->cycle == FUSED_NEVER)
        return;
    for (uint32_t p = 0; p < schedule->n_tile; p++) {
        assert_true(trace->tile_stall[p] == trace->tile_start[p] - finish);
        finish = trace->tile_finish[p];
        stall += trace->tile_stall[p];
    }
    assert_true(result->stall_cycle == stall);
    assert_true(result->cycle >= result->compute_cycle && result->cycle >= result->dram_cycle);
    assert_true(result->buffer_average_byte <= (double)result->buffer_max_byte * (1 + 1e-12));
}

static void test_fused_evaluate_equals_plain_events(void **state)
{
    struct random_stream stream = random_stream_make(1, 4, RANDOM_TEST);
    struct arena arena;
    struct dse_error err;
    int n_fault[N_FAULT] = {0};
    (void)state;
    arena_init(&arena);
    for (int draw = 0; draw < N_RANDOM; draw++) {
        static const uint32_t disorder[] = {0, 2, 5, 15, 60};
        struct fused_schedule schedule;
        struct fused_machine machine;
        struct fused_trace trace, plain;
        struct fused_result have, want;
        assert_true(fused_random(&stream, N_TILE_MAX, disorder[draw % 5], &arena, &schedule, &machine));
        assert_true(fused_trace_allocate(&schedule, &arena, &trace));
        assert_true(fused_trace_allocate(&schedule, &arena, &plain));
        if (fused_evaluate(&schedule, &machine, &arena, &trace, &have, &err) != DSE_OK)
            fail_msg("draw %d: %s", draw, err.text);
        assert_true(fused_plain(&schedule, &machine, &arena, &plain, &want));
        check_equal(draw, &schedule, &have, &trace, &want, &plain);
        check_sums(&schedule, &trace, &have);
        assert_true(disorder[draw % 5] > 0 || have.fault == FUSED_OK || have.fault == FUSED_BUFFER);
        n_fault[have.fault]++;
        arena_reset(&arena);
    }
    for (int f = 0; f < N_FAULT;
         f++) /* each kind was there; a load that begins right where a store ends is rare */
        if (n_fault[f] < (f == FUSED_OVERLAP ? N_RANDOM / 300 : N_RANDOM / 100))
            fail_msg("fault %d: only %d of %d", f, n_fault[f], N_RANDOM);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fused_evaluate_equals_plain_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
