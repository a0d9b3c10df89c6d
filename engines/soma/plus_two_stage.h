/* Starts of the engine soma as the first part of soma-plus: what it finds is never worse than what soma finds with as many starts, its
 * other options as by default and the same seed, and they give the joint search a place to start from. */
#ifndef ENGINES_SOMA_PLUS_TWO_STAGE_H
#define ENGINES_SOMA_PLUS_TWO_STAGE_H

#include "engines/soma/allocator.h"
#include "engines/soma/starts.h"
#include "engines/soma/task.h"

struct plus_two_stage {
    const struct soma_task *task; /* borrowed */
    struct soma_starts starts;
    struct soma_allocator **allocator; /* (starts.n) */
    double *offered;                   /* (starts.n) cost */
    struct arena scratch;
};

/* The first n starts that engine soma has with its default options. `t` is borrowed by its own parts: it must not move. Release with
 * plus_two_stage_free, also after a failure. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plus_two_stage_init(struct plus_two_stage *t, const struct soma_task *task,
                                                   uint32_t n, struct engine_context *context,
                                                   struct dse_error *err);
void plus_two_stage_free(struct plus_two_stage *t);

/* A step of every start, and offers of what is better than before. *done when all are over. */
DSE_MUST_CHECK enum dse_status plus_two_stage_step(struct plus_two_stage *t, struct engine_context *context,
                                                   bool *done, struct dse_error *err);

/* Let what the starts have so far count; nothing may be stepped behind it. */
DSE_MUST_CHECK enum dse_status plus_two_stage_settle(struct plus_two_stage *t, struct engine_context *context,
                                                     struct dse_error *err);

/* The cheapest that was found; NULL: none. */
const struct soma_allocation *plus_two_stage_best(const struct plus_two_stage *t);

#endif
