/* The insides of the driver, shared by its files. */
#ifndef ENGINES_DRIVER_DRIVER_PRIVATE_H
#define ENGINES_DRIVER_DRIVER_PRIVATE_H

#include "base/text.h"
#include "engines/driver/driver.h"
#include "engines/driver/shortlist.h"

enum { N_MISFIT = MISFIT_ORDER + 1 };

/* How often candidates did not fit for one reason at one level, with one sample: the one that missed
 * least. */
struct misfit_count {
    uint64_t n;
    struct misfit_info sample;
};

struct engine_context {
    const struct engine *engine;
    const struct engine_task *task;
    const struct problem *problem;
    const struct architecture *arch;
    struct arena *arena;
    const struct evaluator *evaluator;    /* the task's, or `padded` */
    struct evaluator *padded;             /* owned; NULL when nothing is padded */
    double useful_macs;                   /* of the task's problem */
    struct eval_workspace *workspace;     /* the task's, or: */
    struct eval_workspace *own_workspace; /* owned; NULL when the task has one */
    const struct mapspace *space;
    struct engine_result *result;
    struct evaluation last; /* of the mapping priced last */
    uint64_t cycle_limit;   /* what the best may need at most */
    double energy_limit_j;
    double start_s;                 /* of clock_thread_s */
    double start_wall_s;            /* of clock_wall_s */
    double reserved_s;              /* of the budget's seconds, for what follows the search */
    double good_enough;             /* the bound with its tolerance; nothing better can be found */
    char reason[ENGINE_REASON_MAX]; /* the engine's own */
    struct text_buffer text;        /* of the best schedule */
    struct shortlist *shortlist;    /* of the best mappings, for the task's slow price; NULL: it has none */
    uint64_t n_misfit_total;
    bool counted; /* `misfit` is set; what stands before it is zeroed at the start */
    struct misfit_count misfit[N_MISFIT][ARCH_LEVEL_MAX + 1]; /* [what][level + 1] */
};

/* Price with `evaluator` from now on: the task's, or the padded one. */
DSE_MUST_CHECK enum dse_status driver_use_evaluator(struct engine_context *context,
                                                    const struct evaluator *evaluator, struct dse_error *err);

/* Was the task cancelled? Has the search had its seconds? */
bool driver_is_cancelled(const struct engine_context *context);
bool driver_time_is_up(const struct engine_context *context);

/* Raise the lower bounds of the mapping found by what the search knows, and as far as the task's bound effort
 * goes. DSE_NO_MEMORY; DSE_INTERNAL: the mapping is below them. */
DSE_MUST_CHECK enum dse_status driver_bound(struct engine_context *context, struct dse_error *err);

/* A mapping was priced (context->last): offer it to the shortlist. */
void driver_list(struct engine_context *context, const struct mapping *mapping);

/* The task's slow price, if it has one, chooses among the best mappings; `stop` is why the search ended.
 * Until max_seconds after `start_s` (of clock_wall_s), but one at least. Errors: those of its hooks. */
DSE_MUST_CHECK enum dse_status driver_choose(struct engine_context *context, double start_s,
                                             struct dse_error *err);

#endif
