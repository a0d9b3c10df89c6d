/* The hooks by which starts.c drives one Buffer Allocator per start. */
#include "engines/soma/two_stage.h"

#include <math.h>

#include "engines/soma/offer.h"

struct soma_two_stage_start {
    struct soma_allocator *allocator;
    double offered; /* cost */
    bool early;
};

static enum dse_status advance(void *memory, uint32_t i, uint64_t n, bool *done, struct dse_error *err)
{
    const struct soma_two_stage *t = memory;
    struct soma_two_stage_start *start = &t->start[i];
    uint64_t rounds = soma_allocator_rounds(start->allocator);
    if (t->end_rounds && !start->early && rounds >= t->end_rounds) {
        soma_allocator_end_early(start->allocator);
        start->early = true;
    }
    if (t->end_rounds && !start->early && n > t->end_rounds - rounds)
        n = t->end_rounds - rounds;
    return soma_allocator_step(start->allocator, n, done, err);
}

static uint64_t rounds_of(const void *memory, uint32_t i)
{
    const struct soma_two_stage *t = memory;
    return soma_allocator_rounds(t->start[i].allocator);
}

/* The published Buffer Allocator compares times, so what it takes for better may cost more. */
static enum dse_status report(void *memory, uint32_t i, struct engine_context *context, struct dse_error *err)
{
    struct soma_two_stage *t = memory;
    struct soma_two_stage_start *start = &t->start[i];
    const struct soma_allocation *best = soma_allocator_best(start->allocator);
    if (!best->found || !(best->price.cost < start->offered || best->price.cost > start->offered))
        return DSE_OK;
    const struct soma_stage1 stage1 = {best->stage1.cycle, best->stage1.energy_j,
                                       best->stage1_buffer_average_byte,
                                       best->stage1_buffer_average_compute_byte};
    start->offered = best->price.cost;
    if (best->is_vast)
        return soma_offer_lfa(context, t->task, &best->lfa, &t->scratch, err);
    arena_reset(&t->scratch);
    return soma_offer(context, t->task, &best->lfa, &best->schedule, &stage1, &t->scratch, err);
}

static const struct soma_starts_hooks hooks = {.step = advance, .rounds = rounds_of, .report = report};

enum dse_status soma_two_stage_init(struct soma_two_stage *t, const struct soma_task *task,
                                    const struct soma_allocator_options *options, uint64_t end_rounds,
                                    uint32_t n, struct engine_context *context, struct dse_error *err)
{
    const struct engine_task *of = engine_context_task(context);
    struct arena *arena = engine_context_arena(context);
    *t = (struct soma_two_stage){.task = task, .end_rounds = end_rounds};
    arena_init(&t->scratch);
    t->start = arena_alloc(arena, n, sizeof *t->start);
    soma_starts_init(&t->starts, &hooks, t, UINT64_MAX, n, arena);
    DSE_TRY(arena_check(arena, "the searches", err));
    for (uint32_t i = 0; i < n; i++) {
        t->start[i].offered = INFINITY;
        DSE_TRY(
            soma_allocator_new(&task->search, options, of->seed, of->key, i, &t->start[i].allocator, err));
    }
    return DSE_OK;
}

void soma_two_stage_begin_at(struct soma_two_stage *t, const struct soma_lfa *lfa,
                             const struct soma_price *price)
{
    if (!soma_search_is_large(&t->task->search) || !isfinite(price->cost))
        return;
    t->only_better = true;
    for (uint32_t i = 0; i < t->starts.n; i++)
        soma_allocator_begin_at(t->start[i].allocator, lfa, price);
}

void soma_two_stage_free(struct soma_two_stage *t)
{
    for (uint32_t i = 0; i < t->starts.n; i++)
        soma_allocator_free(t->start[i].allocator);
    arena_free(&t->scratch);
}

enum dse_status soma_two_stage_step(struct soma_two_stage *t, struct engine_context *context, bool *done,
                                    struct dse_error *err)
{
    for (uint32_t i = 0; i < t->starts.n && t->only_better; i++)
        soma_allocator_limit(t->start[i].allocator, engine_context_best_cost(context));
    return soma_starts_step(&t->starts, context, done, err);
}

/* Only the best is made and offered: the time may be over. */
enum dse_status soma_two_stage_settle(struct soma_two_stage *t, struct engine_context *context,
                                      struct dse_error *err)
{
    double least = engine_context_best_cost(context);
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < t->starts.n; i++) {
        double cost = soma_allocator_cost(t->start[i].allocator);
        if (!(cost < least))
            continue;
        least = cost;
        best = i;
    }
    if (best == UINT32_MAX)
        return DSE_OK;
    DSE_TRY(soma_allocator_settle(t->start[best].allocator, err));
    return report(t, best, context, err);
}

const struct soma_allocation *soma_two_stage_found(const struct soma_two_stage *t, uint32_t i)
{
    const struct soma_allocation *found = soma_allocator_best(t->start[i].allocator);
    return found->found ? found : NULL;
}
