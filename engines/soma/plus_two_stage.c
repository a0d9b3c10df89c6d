#include "engines/soma/plus_two_stage.h"

#include <math.h>

#include "engines/soma/offer.h"

/* Engine soma's defaults; a test compares what they find. */
static const struct soma_allocator_options options = {
    .lfa = {.moves = SOMA_MOVES_PAPER, .first_temperature = 0.1, .alpha = 8, .return_share = 0.9},
    .first = SOMA_MOVES_PAPER,
    .dlsa = {.first_temperature = 0.1,
             .alpha = 8,
             .return_share = 0.9,
             .order_share = 0.5,
             .time_share = 0.5,
             .above_bound = true},
    .round_per_layer = 100,
    .round_per_tensor = 1000,
    .dlsa_round_max = 5000000,
    .step = 0.1,
};

static enum dse_status advance(void *memory, uint32_t i, uint64_t n, bool *done, struct dse_error *err)
{
    const struct plus_two_stage *t = memory;
    return soma_allocator_step(t->allocator[i], n, done, err);
}

static uint64_t rounds_of(const void *memory, uint32_t i)
{
    const struct plus_two_stage *t = memory;
    return soma_allocator_rounds(t->allocator[i]);
}

static enum dse_status report(void *memory, uint32_t i, struct engine_context *context, struct dse_error *err)
{
    struct plus_two_stage *t = memory;
    const struct soma_allocation *best = soma_allocator_best(t->allocator[i]);
    if (!best->found || !(best->price.cost < t->offered[i]))
        return DSE_OK;
    const struct soma_stage1 stage1 = {best->stage1.cycle, best->stage1.energy_j,
                                       best->stage1_buffer_average_byte};
    t->offered[i] = best->price.cost;
    arena_reset(&t->scratch);
    return soma_offer(context, t->task, &best->lfa, &best->schedule, &stage1, &t->scratch, err);
}

static const struct soma_starts_hooks hooks = {.step = advance, .rounds = rounds_of, .report = report};

enum dse_status plus_two_stage_init(struct plus_two_stage *t, const struct soma_task *task, uint32_t n,
                                    struct engine_context *context, struct dse_error *err)
{
    const struct engine_task *of = engine_context_task(context);
    struct arena *arena = engine_context_arena(context);
    *t = (struct plus_two_stage){.task = task};
    arena_init(&t->scratch);
    t->allocator = arena_alloc(arena, (size_t)n + 1, sizeof(*t->allocator));
    t->offered = arena_alloc(arena, (size_t)n + 1, sizeof *t->offered);
    if (!t->allocator || !t->offered)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u searches", n);
    DSE_TRY(soma_starts_init(&t->starts, &hooks, t, UINT64_MAX, n, arena, err));
    for (uint32_t i = 0; i < n; i++) {
        t->offered[i] = INFINITY;
        DSE_TRY(soma_allocator_new(&task->search, &options, of->seed, of->key, i, &t->allocator[i], err));
    }
    return DSE_OK;
}

void plus_two_stage_free(struct plus_two_stage *t)
{
    for (uint32_t i = 0; i < t->starts.n; i++)
        soma_allocator_free(t->allocator[i]);
    arena_free(&t->scratch);
}

enum dse_status plus_two_stage_step(struct plus_two_stage *t, struct engine_context *context, bool *done,
                                    struct dse_error *err)
{
    return soma_starts_step(&t->starts, context, done, err);
}

enum dse_status plus_two_stage_settle(struct plus_two_stage *t, struct engine_context *context,
                                      struct dse_error *err)
{
    for (uint32_t i = 0; i < t->starts.n; i++) {
        DSE_TRY(soma_allocator_settle(t->allocator[i], err));
        DSE_TRY(report(t, i, context, err));
    }
    return DSE_OK;
}

const struct soma_allocation *plus_two_stage_best(const struct plus_two_stage *t)
{
    const struct soma_allocation *best = NULL;
    for (uint32_t i = 0; i < t->starts.n; i++) {
        const struct soma_allocation *one = soma_allocator_best(t->allocator[i]);
        if (one->found && (!best || one->price.cost < best->price.cost))
            best = one;
    }
    return best;
}
