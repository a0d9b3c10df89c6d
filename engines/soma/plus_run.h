/* The search of soma-plus over one network in some parts: where it begins, and what is carried over from
 * others (docs/soma-search.md, "soma-plus"). */
#ifndef ENGINES_SOMA_PLUS_RUN_H
#define ENGINES_SOMA_PLUS_RUN_H

#include "engines/soma/plus_walks.h"
#include "engines/soma/two_stage.h"
#include "engines/soma/unfused.h"

enum { PLUS_CAP = 4, PLUS_TWO_STAGE = 4, PLUS_SEED = PLUS_CAP + 2 + PLUS_TWO_STAGE };

enum plus_phase { PLUS_BEGIN, PLUS_TWO_STAGES, PLUS_JOINT };

/* Where a search may begin. */
struct plus_seed {
    struct soma_lfa lfa;
    struct soma_price price;
};

struct plus_run {
    struct soma_task task;
    enum plus_phase phase;
    struct soma_unfused unfused;
    struct soma_two_stage two_stage;
    struct plus_walks walks;
    struct plus_seed seed[PLUS_SEED + 1]; /* by price, and room for one more */
    uint32_t n_seed;
    struct arena scratch;
};

/* Room for the seeds, behind its task, in the context's arena. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plus_run_prepare(struct plus_run *run, struct engine_context *context,
                                                struct dse_error *err);
void plus_run_free(struct plus_run *run);

/* The seed behind the last, which is filled in, goes to its place, unless it has no price. */
void plus_run_sort_in(struct plus_run *run);

/* Layer by layer with few to many tiles, and the start of the paper; where none of them fits, with as many
 * tiles as can be, and where that does not either what loads latest (it is offered). Errors of plus_price. */
DSE_MUST_CHECK enum dse_status plus_run_find_seeds(struct plus_run *run, struct engine_context *context,
                                                   struct dse_error *err);

/* What the two-stage searches have found are seeds, too, but for what is vast. Errors of plus_price. */
DSE_MUST_CHECK enum dse_status plus_run_add_two_stage(struct plus_run *run, struct engine_context *context,
                                                      struct dse_error *err);

/* What another run has found, in the parts of this one: layers that both have whole need not be searched
 * twice. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plus_run_add_guests(struct plus_run *to, const struct plus_run *from,
                                                   struct engine_context *context, struct dse_error *err);

#endif
