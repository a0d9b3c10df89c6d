/* Evaluations of fused schedules per second on one thread: fused_evaluate anew, and moves of the incremental
 * evaluator as a search makes them (a tensor's place, its time or both; accepted when the schedule fits and
 * is not slower, else taken back). On ResNet-50 of tests/known/soma/oracles: 72 tiles with 58 DRAM tensors,
 * 282 tiles with 160. The fastest of several runs counts. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "costmodel/fused/fused_incremental.h"
#include "tests/support/fused_oracle.h"

enum { N_EVALUATION = 20000, N_MOVE = 500000, N_RUN = 5 };

/* Uniform in what lies within `span` of `value` and between `least` and `most`. */
static int32_t nudge(struct random_stream *stream, int32_t value, int32_t span, int32_t least, int32_t most)
{
    int32_t low = value - span < least ? least : value - span,
            high = value + span > most ? most : value + span;
    return low + (int32_t)random_below(stream, (uint32_t)(high - low + 1));
}

/* Change place, time or both of a random tensor: by a few steps, or `far`: to any time before its use or
 * after its producer, and by up to a quarter of the DRAM order. */
static struct fused_outcome move(struct fused_incremental *state, const struct fused_schedule *schedule,
                                 bool far, struct random_stream *stream)
{
    int32_t n_dram = (int32_t)schedule->n_dram, n_tile = (int32_t)schedule->n_tile;
    uint32_t kind = random_below(stream, 10), place = random_below(stream, schedule->n_dram);
    uint32_t i = fused_incremental_order(state)[place];
    const struct fused_tensor *tensor = &fused_incremental_tensor(state)[i];
    int32_t start = tensor->start, end = tensor->end;
    if (kind < 6) /* .1 order, .5 both, .4 time */
        place = (uint32_t)nudge(stream, (int32_t)place, far ? n_dram / 4 : 4, 0, n_dram - 1);
    if (kind > 0 && tensor->kind == FUSED_OFMAP)
        end = nudge(stream, end, far ? n_tile : 4, tensor->producer_tile + 1, n_tile);
    else if (kind > 0)
        start = nudge(stream, start, far ? n_tile : 4, -1, tensor->first_use);
    return fused_move(state, i, place, start, end);
}

static double moves_per_s(const struct fused_oracle *oracle, bool far, struct arena *arena,
                          uint64_t *accepted, uint64_t *refused)
{
    struct random_stream stream = random_stream_make(1, 3, RANDOM_TEST);
    struct fused_incremental *state;
    struct dse_error err;
    if (fused_incremental_new(&oracle->schedule, &oracle->machine, arena, &state, &err) != DSE_OK)
        return -1;
    uint64_t cycle = oracle->cycle;
    *accepted = *refused = 0;
    double start_s = clock_thread_s();
    for (int i = 0; i < N_MOVE; i++) {
        struct fused_outcome outcome = move(state, &oracle->schedule, far, &stream);
        if (outcome.fault == FUSED_OK && outcome.cycle <= cycle) {
            cycle = outcome.cycle;
            ++*accepted;
        } else {
            *refused += outcome.fault != FUSED_OK && outcome.fault != FUSED_BUFFER;
            fused_undo(state);
        }
    }
    return N_MOVE / (clock_thread_s() - start_s);
}

static double evaluations_per_s(const struct fused_oracle *oracle, struct arena *scratch)
{
    struct fused_result result;
    struct dse_error err;
    double start_s = clock_thread_s();
    for (int i = 0; i < N_EVALUATION; i++) {
        arena_reset(scratch);
        if (fused_evaluate(&oracle->schedule, &oracle->machine, scratch, NULL, &result, &err) != DSE_OK ||
            result.cycle != oracle->cycle)
            return -1;
    }
    return N_EVALUATION / (clock_thread_s() - start_s);
}

static int run_moves(const struct fused_oracle *oracle, bool far, struct arena *arena)
{
    const char *what = far ? "far" : "near";
    uint64_t accepted = 0, refused = 0;
    double best = 0;
    for (int r = 0; r < N_RUN; r++) {
        double rate = moves_per_s(oracle, far, arena, &accepted, &refused);
        if (rate < 0)
            return 1;
        best = rate > best ? rate : best;
    }
    printf("fused/%s/%s,%.0f,move/s\n", what, oracle->name, best);
    printf("fused/%s/%s/accepted,%.3f,1\n", what, oracle->name, (double)accepted / N_MOVE);
    printf("fused/%s/%s/refused,%.3f,1\n", what, oracle->name, (double)refused / N_MOVE);
    return 0;
}

static int run(const char *name, struct fused_oracle *oracle)
{
    struct arena arena, scratch;
    struct dse_error err;
    double best = 0;
    arena_init(&arena);
    arena_init(&scratch);
    int failed = fused_oracle_read(name, &arena, oracle, &err) != DSE_OK;
    for (int r = 0; r < N_RUN && !failed; r++) {
        double rate = evaluations_per_s(oracle, &scratch);
        failed = rate < 0;
        best = rate > best ? rate : best;
    }
    printf("fused/evaluate/%s,%.0f,evaluation/s\n", name, best);
    for (int far = 0; far <= 1 && !failed; far++)
        failed = run_moves(oracle, far, &arena);
    arena_free(&arena);
    arena_free(&scratch);
    return failed;
}

int main(void)
{
    static const char *const name[] = {"r50_8MB_16GBs_s1", "r50_8MB_16GBs_s2", "r50_8MB_16GBs_cocco"};
    struct fused_oracle *oracle = malloc(sizeof *oracle);
    int failed = !oracle;
    for (size_t i = 0; i < sizeof name / sizeof name[0] && oracle; i++)
        failed |= run(name[i], oracle);
    free(oracle);
    return failed;
}
