/* One step: shares the rounds out, advances every search on the threads there are, and reports to the
 * driver in the order of the searches. */
#include "engines/soma/search/starts.h"

struct soma_start {
    uint64_t n_counted; /* rounds that the driver knows of */
    uint64_t share;     /* rounds of this step */
    bool done;
    enum dse_status status;
    struct dse_error err;
};

void soma_starts_init(struct soma_starts *starts, const struct soma_starts_hooks *hooks, void *engine,
                      uint64_t round_max, uint32_t n, struct arena *arena)
{
    *starts = (struct soma_starts){.hooks = hooks, .engine = engine, .round_max = round_max};
    starts->start = arena_alloc(arena, n, sizeof *starts->start);
    starts->n = arena->failed ? 0 : n; /* so that none is released that never was */
}

/* Share the rounds that are left out among the searches that are not over; how many these are. */
static uint32_t share_out(struct soma_starts *starts, uint64_t left)
{
    uint32_t n_live = 0;
    for (uint32_t i = 0; i < starts->n; i++)
        n_live += !starts->start[i].done;
    for (uint32_t i = 0, rank = 0; i < starts->n; i++) {
        struct soma_start *start = &starts->start[i];
        uint64_t fair = start->done ? 0 : left / n_live + (rank++ < left % n_live);
        start->share = fair < starts->round_max ? fair : starts->round_max;
    }
    return n_live;
}

static enum dse_status take(struct soma_starts *starts, uint32_t i, struct engine_context *context,
                            struct dse_error *err)
{
    struct soma_start *start = &starts->start[i];
    if (start->status != DSE_OK) {
        if (err)
            *err = start->err;
        return start->status;
    }
    uint64_t n = starts->hooks->rounds(starts->engine, i);
    engine_context_count(context, n - start->n_counted);
    start->n_counted = n;
    return starts->hooks->report ? starts->hooks->report(starts->engine, i, context, err) : DSE_OK;
}

enum dse_status soma_starts_step(struct soma_starts *starts, struct engine_context *context, bool *done,
                                 struct dse_error *err)
{
    int n_thread = engine_context_task(context)->n_thread;
    uint32_t n_live = share_out(starts, engine_context_left(context));
#pragma omp parallel for schedule(dynamic)                                                                   \
    num_threads(n_thread > 0 ? n_thread : 1) if (n_thread > 1 && n_live > 1)
    for (uint32_t i = 0; i < starts->n; i++) {
        struct soma_start *start = &starts->start[i];
        if (start->share > 0)
            start->status = starts->hooks->step(starts->engine, i, start->share, &start->done, &start->err);
    }
    *done = true;
    for (uint32_t i = 0; i < starts->n; i++) {
        DSE_TRY(take(starts, i, context, err));
        *done &= starts->start[i].done;
    }
    return DSE_OK;
}

struct random_stream soma_start_stream(uint64_t seed, uint64_t key, uint32_t i, uint32_t use)
{
    return random_stream_make(seed, key + 0x9e3779b97f4a7c15U * i, use);
}
