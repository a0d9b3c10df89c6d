/* Buffer Allocators from several starts: the search of engine soma, and the first part of soma-plus. */
#ifndef ENGINES_SOMA_TWO_STAGE_H
#define ENGINES_SOMA_TWO_STAGE_H

#include "engines/soma/allocator.h"
#include "engines/soma/search/starts.h"
#include "engines/soma/task.h"

struct soma_two_stage_start;

struct soma_two_stage {
    const struct soma_task *task; /* borrowed */
    uint64_t end_rounds;          /* of a start, behind which it ends early; 0: never */
    bool only_better;             /* leave out what cannot get below the best that was offered so far */
    struct soma_starts starts;
    struct soma_two_stage_start *start; /* (starts.n) */
    struct arena scratch;
};

/* The first n starts of the task. `t` is borrowed by its own parts: it must not move. Release with
 * soma_two_stage_free, also after a failure; zeroed is fine too. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_two_stage_init(struct soma_two_stage *t, const struct soma_task *task,
                                                   const struct soma_allocator_options *options,
                                                   uint64_t end_rounds, uint32_t n,
                                                   struct engine_context *context, struct dse_error *err);

/* Where tiles are many (soma_search_is_large), let every first stage whose buffer holds it begin with this
 * fusion, which stays the caller's, and leave out second stages that cannot get below the best so far. */
void soma_two_stage_begin_at(struct soma_two_stage *t, const struct soma_lfa *lfa,
                             const struct soma_price *price);
void soma_two_stage_free(struct soma_two_stage *t);

/* A step of every start, and offers of what is better than before. *done when all are over. */
DSE_MUST_CHECK enum dse_status soma_two_stage_step(struct soma_two_stage *t, struct engine_context *context,
                                                   bool *done, struct dse_error *err);

/* Let the best that the starts have so far count; nothing may be stepped behind it. */
DSE_MUST_CHECK enum dse_status soma_two_stage_settle(struct soma_two_stage *t, struct engine_context *context,
                                                     struct dse_error *err);

/* The best of one start; NULL: none. */
const struct soma_allocation *soma_two_stage_found(const struct soma_two_stage *t, uint32_t i);

#endif
