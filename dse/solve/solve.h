/* One task of a sweep: one mapper on one loop nest, or one scheduler on one network, and one architecture.
 * What comes out depends on nothing else, so it can be shared by all points that ask for the same. */
#ifndef DSE_SOLVE_SOLVE_H
#define DSE_SOLVE_SOLVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/accounting/accounting.h"
#include "dse/solve/measure_settings.h"
#include "dse/solve/workload.h"
#include "engines/driver/engine.h"
#include "engines/driver/objective.h"
#include "engines/mapspace/mapspace_constraints.h"
#include "results/record/schema.h"

struct known_bounds; /* engines/driver/known_bounds.h */
struct option_files; /* dse/solve/option_files.h */
struct solve_cache;  /* dse/solve/solve_cache.h */

enum { SOLVE_OPTION_MAX = 64, SOLVE_REASON_MAX = 512 };

/* The objective of what no other mapping beats in energy and latency: of engines that prove a front. */
#define OBJECTIVE_FRONT "pareto"

/* How to search. */
struct solve_settings {
    const struct engine *engine;
    double option[SOLVE_OPTION_MAX];     /* (engine->n_option) */
    uint64_t option_set;                 /* bit i: option i was set by its name */
    struct option_files *files;          /* those that options name, borrowed; NULL: they may name none */
    const struct accounting *accounting; /* chosen; NULL: the engine's first that takes the machine */
    struct objective objective;
    bool front; /* the objective pareto; then `objective` is what one point stands for all by, the edp */
    uint64_t cycle_limit;        /* of one search for a front (dse/solve/exact_front.h); 0: none */
    const struct mapping *start; /* within it; NULL: none */
    uint64_t seed;
    enum bound_effort bound_effort;  /* for the lower bounds of mappings */
    uint64_t max_evaluations;        /* per task; 0: the engine's own rule ends it */
    double max_seconds;              /* per task; 0: no limit */
    double point_max_seconds;        /* what max_seconds is an even share of; 0: of nothing */
    const struct yaml_doc *doc;      /* of the constraints; NULL: none */
    const struct ynode *constraints; /* a list in doc; NULL: none */
    const struct ynode *further;     /* another list in doc, added to the first; NULL: none */
    const struct unrolling
        *dataflow; /* of the array below level dataflow_level, on top of these; NULL: none */
    uint32_t dataflow_level;
    struct measure_settings measure; /* what is computed of the mapping found */
};

/* What was found for one task. */
struct solve_result {
    enum result_status outcome;
    char reason[SOLVE_REASON_MAX]; /* why not ok; of what is ok a note (solve_note), or "" */
    double beaten;                 /* how many times better the note's mapping is; 0: no note */
    struct engine_result found;    /* set for ok, infeasible, timeout */
    struct lower_bound bound;
    bool bounded; /* the bound holds for the mapping found */
    struct measure_values measured;
    /* scheduler: the text form, which found.schedule has as well; owned, NULL when there is none */
    char *schedule;
    /* (n_front) with settings->front, of a result that is ok: the points, the fastest first; owned. `found`
     * is then the one of the least edp, with the effort of all searches and the weakest of their stops */
    struct solve_result *front;
    uint32_t n_front;
};

/* What tasks of one run share, without any effect on results. */
struct solve_shared {
    struct core_cache *core_cache; /* costs of tiles; may be NULL */
    struct known_bounds *known;    /* of mappings; may be NULL */
    int n_thread;                  /* for one task; at least 1 */
    struct solve_cache *cache;     /* of this thread, for the machine at hand; NULL: none */
};

/* Any engine. Fills the defaults. DSE_BAD_INPUT: unknown, with the nearest; DSE_LIMIT: its table is too
 * long. */
DSE_MUST_CHECK enum dse_status solve_settings_init(struct solve_settings *settings, const char *engine,
                                                   struct dse_error *err);

/* Set an option of the engine from text. DSE_BAD_INPUT as of engine_option_set; of a file as of
 * option_files_value. */
DSE_MUST_CHECK enum dse_status solve_settings_option(struct solve_settings *settings, const char *name,
                                                     const char *text, struct dse_error *err);

/* Set what is minimised: a text of objective_parse, or OBJECTIVE_FRONT. DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status solve_settings_objective(struct solve_settings *settings, const char *text,
                                                        struct dse_error *err);

/* Its canonical text. Returns `buffer`. */
char *solve_settings_objective_print(const struct solve_settings *settings, char *buffer, size_t size);

/* All is set: the accounting chosen, if any, sets the option that is the same choice. DSE_BAD_INPUT: it is
 * none of the engine's, or that option was set to say otherwise. May be called again. */
DSE_MUST_CHECK enum dse_status solve_settings_settle(struct solve_settings *settings, struct dse_error *err);

/* What prices a search on this machine; NULL: a scheduler's own rules. */
const struct accounting *solve_accounting(const struct solve_settings *settings,
                                          const struct architecture *arch);

/* Does that accounting price the machine? DSE_BAD_INPUT with the reason that the result would have. */
DSE_MUST_CHECK enum dse_status solve_accepts(const struct solve_settings *settings,
                                             const struct architecture *arch, struct dse_error *err);

/* Does the engine take the machine, whatever the network? DSE_BAD_INPUT or DSE_BAD_USAGE: why not, in the
 * sentence that a row would have. */
DSE_MUST_CHECK enum dse_status solve_takes_machine(const struct solve_settings *settings,
                                                   const struct architecture *arch, struct dse_error *err);

/* Does it take all of the point: the whole network, or every one of the layers that it would search? Asks
 * without a search; errors as above and of solve_constraints, the sentence names the layer. DSE_INTERRUPTED
 * soon after `cancel` (may be NULL) is set. */
DSE_MUST_CHECK enum dse_status solve_takes(const struct solve_settings *settings,
                                           const struct workload *workload, const struct architecture *arch,
                                           const atomic_int *cancel, struct dse_error *err);

bool solve_is_scheduler(const struct solve_settings *settings);

/* Share the limits of a point evenly over its `n_search` searches: each of the two limits becomes the smaller
 * of itself and of the share, at least one evaluation. 0 is no limit. */
void solve_settings_share(struct solve_settings *settings, uint64_t point_max_evaluations,
                          double point_max_seconds, uint32_t n_search);

/* The constraints of both lists on one loop nest and machine. DSE_BAD_INPUT with file and line. */
DSE_MUST_CHECK enum dse_status solve_constraints(const struct solve_settings *settings,
                                                 const struct problem *problem,
                                                 const struct architecture *arch,
                                                 struct mapspace_constraints *constraints,
                                                 struct dse_error *err);

/* Everything about the search on the machine (NULL: there is none) that determines a result; 0 when out of
 * memory. */
uint64_t solve_settings_key(const struct solve_settings *settings, const struct architecture *arch);

/* The machine with its level names, as constraints and result columns name levels; 0 when out of memory. */
uint64_t solve_arch_key(const struct architecture *arch);

/* The key of a task from those of its parts (problem_hash for the loop nest): equal keys, equal results. 0
 * when out of memory. */
uint64_t solve_key(uint64_t settings_key, uint64_t problem_key, uint64_t arch_key);

/* The dataflows that a mapper lists for a loop nest and a machine; the list is in `arena`. DSE_BAD_USAGE: it
 * lists none; errors of the engine and of solve_constraints. */
DSE_MUST_CHECK enum dse_status solve_dataflows(const struct solve_settings *settings,
                                               const struct problem *problem, const struct architecture *arch,
                                               struct arena *arena, struct engine_dataflows *out,
                                               struct dse_error *err);

/* Search. Never fails as a whole: what goes wrong is the outcome with its reason. Memory from `arena` (may be
 * reset afterwards). Release a front with solve_result_clear. Returns DSE_INTERRUPTED when `cancel` ended the
 * search or what is measured of its mapping (then there is no result), else DSE_OK. */
DSE_MUST_CHECK enum dse_status solve_task(const struct solve_settings *settings,
                                          const struct problem *problem, const struct architecture *arch,
                                          const atomic_int *cancel, struct arena *arena,
                                          struct solve_result *result);

/* The same with what `shared` keeps. */
DSE_MUST_CHECK enum dse_status solve_task_shared(const struct solve_settings *settings,
                                                 const struct problem *problem,
                                                 const struct architecture *arch,
                                                 const struct solve_shared *shared, const atomic_int *cancel,
                                                 struct arena *arena, struct solve_result *result);

/* One search by settings->objective, also where it is for a front. */
DSE_MUST_CHECK enum dse_status solve_single(const struct solve_settings *settings,
                                            const struct problem *problem, const struct architecture *arch,
                                            const struct solve_shared *shared, const atomic_int *cancel,
                                            struct arena *arena, struct solve_result *result);

/* The same as solve_task for a scheduler and a whole network. Release the result with solve_result_clear. */
DSE_MUST_CHECK enum dse_status solve_network(const struct solve_settings *settings,
                                             const struct workload *workload, const struct architecture *arch,
                                             const struct solve_shared *shared, const atomic_int *cancel,
                                             struct arena *arena, struct solve_result *result);

/* A schedule on a machine that it was not searched for. */
struct solve_priced {
    bool fits;                       /* else it is none for the machine, and nothing more is set */
    double cost;                     /* by the objective */
    struct engine_schedule schedule; /* as of engine_price, with the machine's area */
};

/* Price a schedule that another search of the network has found, `text`. One does not fit a machine that may
 * not be built. Memory from `arena`. DSE_INTERRUPTED, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status solve_price(const struct solve_settings *settings,
                                           const struct workload *workload, const struct architecture *arch,
                                           const struct solve_shared *shared, const atomic_int *cancel,
                                           const char *text, struct arena *arena, struct solve_priced *priced,
                                           struct dse_error *err);

/* Free what the result owns, a schedule or a front, not the result; nothing for NULL. */
void solve_result_clear(struct solve_result *result);

#endif
