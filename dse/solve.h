/* One task of a sweep: one engine on one loop nest and one architecture. What comes out depends on nothing else, so it
 * can be shared by all points that ask for the same. */
#ifndef DSE_SOLVE_H
#define DSE_SOLVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/bound.h"
#include "engines/engine.h"
#include "engines/objective.h"
#include "results/schema.h"

enum { SOLVE_OPTION_MAX = 64, SOLVE_REASON_MAX = 512 };

/* How to search. */
struct solve_settings {
    const struct engine *engine;
    double option[SOLVE_OPTION_MAX]; /* (engine->n_option) */
    struct objective objective;
    uint64_t seed;
    uint64_t max_evaluations;        /* per task; 0: the engine's own rule ends it */
    double max_seconds;              /* per task; 0: no limit */
    const struct yaml_doc *doc;      /* of the constraints; NULL: none */
    const struct ynode *constraints; /* a list in doc; NULL: none */
};

/* What was found for one task. */
struct solve_result {
    enum result_status outcome;
    char reason[SOLVE_REASON_MAX]; /* why not ok */
    struct engine_result found;    /* set for ok, infeasible, timeout */
    struct lower_bound bound;
    bool bounded; /* the bound holds for the mapping found */
};

/* Refuse engines that cannot map a layer (schedulers) and tables that are too long. Fills the defaults. DSE_BAD_USAGE. */
DSE_MUST_CHECK enum dse_status solve_settings_init(struct solve_settings *settings, const char *engine,
                                                   struct dse_error *err);

/* Feed everything about the search that determines a result (not the architecture or the loop nest). */
void solve_settings_hash(const struct solve_settings *settings, struct hash_state *state);

/* The key of a task, 0 when out of memory: equal keys, equal results. The level names count, as constraints name levels. */
uint64_t solve_key(const struct solve_settings *settings, uint64_t problem_key,
                   const struct architecture *arch);

/* Search. Never fails as a whole: what goes wrong is the outcome with its reason. Memory from `arena` (may be reset afterwards).
 * Returns DSE_INTERRUPTED when `cancel` ended the search (then there is no result), else DSE_OK. */
DSE_MUST_CHECK enum dse_status solve_task(const struct solve_settings *settings,
                                          const struct problem *problem, const struct architecture *arch,
                                          const atomic_int *cancel, struct arena *arena,
                                          struct solve_result *result);

#endif
