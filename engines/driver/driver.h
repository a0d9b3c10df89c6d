/* What the driver lends to a running engine: the task, cost-model calls that are counted and keep the best,
 * random streams, the budget, and a place for the reasons why candidates do not fit. One context per
 * engine_solve; not shared by threads. */
#ifndef ENGINES_DRIVER_DRIVER_H
#define ENGINES_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"
#include "engines/driver/engine.h"
#include "engines/mapspace/mapspace.h"

enum {
    ENGINE_BATCH = 1000
}; /* evaluations in one step, about: a millisecond between two looks at clock and cancel flag */

const struct engine_task *engine_context_task(const struct engine_context *context);

/* Memory that lives as long as the search. */
struct arena *engine_context_arena(struct engine_context *context);

/* What prices the search: the accounting that was chosen, or the engine's first for the machine. NULL: a
 * scheduler by rules of its own. */
const struct accounting *engine_context_accounting(const struct engine_context *context);

/* The value of option number `index` of the engine's table. */
double engine_context_option(const struct engine_context *context, size_t index);

/* What the engine made of the file that option number `index` names; NULL: none is named. */
const void *engine_context_file(const struct engine_context *context, size_t index);

/* The stream (seed, key, use) of the task; streams with different `use` are independent. */
struct random_stream engine_context_stream(const struct engine_context *context, enum random_use use);

/* Search a padded problem instead of the task's: the same loop nest with the bounds `bound` (n_dim), each at
 * least the task's. Only in init, before anything is priced or a map space asked for. From then on the
 * problem, the map space, every price, the lower bound and the final check are those of the padded problem.
 * Cycles and energy are those of the padded loops, which is the work the machine really does;
 * evaluation.n_compute and utilization count the useful MACs, those of the task's problem. The task's own
 * lower bound would not hold: it knows that spatial loops divide the bounds, and padded bounds have other
 * divisors. Bounds equal to the task's change nothing. DSE_BAD_USAGE: a smaller bound, or too late;
 * DSE_BAD_INPUT, DSE_LIMIT: the padded problem does not check; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status engine_context_pad(struct engine_context *context, const uint32_t *bound,
                                                  struct dse_error *err);

/* The problem that is searched: the task's, or the padded one. */
const struct problem *engine_context_problem(const struct engine_context *context);

/* The task's map space, compiled on the first call. Never an error when it is empty; see
 * mapspace_is_empty. */
DSE_MUST_CHECK enum dse_status engine_context_mapspace(struct engine_context *context, bool search_bypass,
                                                       const struct mapspace **space, struct dse_error *err);

/* Price a mapping: counts one evaluation, remembers the best (of equal costs the lower energy-delay
 * product, then the first). False when it does not fit (counted as
 * such, `*cost` unset) or the budget is used up (nothing counted). */
bool engine_context_evaluate(struct engine_context *context, const struct mapping *mapping, double *cost);

/* Price a mapping as a trial, which sets up a search and is no part of it: counts a draw and no evaluation,
 * and never becomes the best. False when it does not fit. */
bool engine_context_try(struct engine_context *context, const struct mapping *mapping, double *cost);

/* `n` trials were part of the search after all: as many evaluations more. */
void engine_context_trials_count(struct engine_context *context, uint64_t n);

/* The evaluation of the mapping priced last; valid after engine_context_evaluate has returned true. */
const struct evaluation *engine_context_last(const struct engine_context *context);

/* From now on a mapping becomes the best only if it needs no more than these cycles and this energy (within
 * 1e-12 of it). What became the best before stays. Prices are given as ever. */
void engine_context_limit(struct engine_context *context, uint64_t cycle, double energy_j);

/* Count `n` candidates that were thrown away before pricing, with one reason (may be NULL). */
void engine_context_reject(struct engine_context *context, uint64_t n, const struct misfit_info *fit);

/* Why nothing can be found, in the engine's own words; said when no candidate was rejected with a reason. */
void engine_context_explain(struct engine_context *context, const char *reason);

/* Add to that reason what would help. */
void engine_context_advise(struct engine_context *context, const char *advice);

/* Evaluations left in the budget; 0 also when the best has reached the lower bound. UINT64_MAX without limit.
 * For mappers and schedulers. */
uint64_t engine_context_left(const struct engine_context *context);

/* Is this the last step, as the task was cancelled or its seconds are used up? For steps that may take long:
 * when it has become true they can be left off in the middle, and no other follows. */
bool engine_context_over(const struct engine_context *context);

/* The best so far: NULL and INFINITY when there is none. */
const struct mapping *engine_context_best(const struct engine_context *context);
double engine_context_best_cost(const struct engine_context *context);

/* The evaluations so far. */
uint64_t engine_context_evaluations(const struct engine_context *context);

/* What a scheduler uses besides engine_context_task, _arena, _option, _stream, _left, _explain, _best_cost
 * and _evaluations. */

/* Count `n` evaluations: schedules that were priced, valid or not. */
void engine_context_count(struct engine_context *context, uint64_t n);

/* A schedule was found: everything in it is set, its text is copied. It becomes the best when its cost by the
 * task's objective is lower (of equal costs the first stays). Counts nothing, and is taken also when the
 * budget is used up. DSE_NO_MEMORY; DSE_INTERNAL without text or with numbers that cannot be. */
DSE_MUST_CHECK enum dse_status engine_context_offer(struct engine_context *context,
                                                    const struct engine_schedule *schedule,
                                                    struct dse_error *err);

/* What follows the search, the check of the best so far above all, takes about so many seconds: the limit of
 * seconds ends the search by so much earlier. The last call counts. */
void engine_context_reserve(struct engine_context *context, double seconds);

/* Where that is kept, 0 at first: for a search that looks at the clock itself. */
const double *engine_context_reserved(const struct engine_context *context);

/* No schedule of this task costs less than `cost`. The highest of several counts; when the best reaches it,
 * the search ends as optimal. Not below zero, not NaN: else nothing. */
void engine_context_bound(struct engine_context *context, double cost);

#endif
