/* The insides of the driver, shared by its files. */
#ifndef ENGINES_DRIVER_DRIVER_PRIVATE_H
#define ENGINES_DRIVER_DRIVER_PRIVATE_H

#include "base/text.h"
#include "engines/driver/driver.h"

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
    double good_enough;             /* the bound with its tolerance; nothing better can be found */
    char reason[ENGINE_REASON_MAX]; /* the engine's own */
    struct text_buffer text;        /* of the best schedule */
    uint64_t n_misfit_total;
    bool counted; /* `misfit` is set; what stands before it is zeroed at the start */
    struct misfit_count misfit[N_MISFIT][ARCH_LEVEL_MAX + 1]; /* [what][level + 1] */
};

/* A number that was said, and what comes out when it is computed another way. */
struct driver_compared {
    const char *name; /* its unit, "J of MACs" */
    double found, again;
};

/* DSE_INTERNAL: "the engine's answer does not hold: ...; this is a fault of the engine". */
__attribute__((format(printf, 2, 3))) enum dse_status driver_refuse(struct dse_error *err, const char *format,
                                                                    ...);

/* Refuse the answer when one of the n pairs differs; `who` computed `again`. */
DSE_MUST_CHECK enum dse_status driver_compare(const struct driver_compared *all, size_t n, const char *who,
                                              struct dse_error *err);

/* Refuse a cost that is not `cost`, that of what was found, or, when the bound holds for it, below it. */
DSE_MUST_CHECK enum dse_status driver_check_cost(const struct engine_context *context, double cost,
                                                 bool bounded, struct dse_error *err);

/* A better cost was found after so many evaluations as are counted now; sets it and adds it to the trace. */
void driver_improve(struct engine_context *context, double cost);

/* The best schedule's text into the arena, then its text form read back and evaluated again: DSE_INTERNAL
 * when it disagrees. */
DSE_MUST_CHECK enum dse_status driver_confirm_schedule(struct engine_context *context, struct dse_error *err);

#endif
