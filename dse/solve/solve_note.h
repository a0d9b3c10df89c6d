/* What a row says of a search that another engine beats at once. */
#ifndef DSE_SOLVE_SOLVE_NOTE_H
#define DSE_SOLVE_SOLVE_NOTE_H

#include "dse/solve/solve.h"

/* The same search by the engine called `name`, with the options that both have and a budget of evaluations;
 * nothing is measured. As solve_settings_init and solve_settings_settle. */
DSE_MUST_CHECK enum dse_status solve_settings_other(const struct solve_settings *settings, const char *name,
                                                    uint64_t max_evaluations, struct solve_settings *other,
                                                    struct dse_error *err);

/* Where the engine has a probe (engine.probe) and the mapping of `result`, which is ok, is far from its lower
 * bound: how much better the probe's mapping is, as result->beaten and a sentence in result->reason. Nothing
 * where it is not, or where a measure chose the mapping. Takes a fraction of a millisecond of a layer, and
 * decides nothing by a clock. Memory from `arena`. DSE_INTERRUPTED as solve_task; a probe that fails says
 * nothing. */
DSE_MUST_CHECK enum dse_status solve_note(const struct solve_settings *settings,
                                          const struct problem *problem, const struct architecture *arch,
                                          const struct solve_shared *shared, const atomic_int *cancel,
                                          struct arena *arena, struct solve_result *result);

#endif
