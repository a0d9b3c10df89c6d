/* The engines over the CoSA formulation (docs/cosa.md). */
#ifndef ENGINES_COSA_COSA_ENGINES_H
#define ENGINES_COSA_COSA_ENGINES_H

#include "costmodel/model/measure.h"
#include "engines/driver/engine.h"
#include "engines/driver/engine_command.h"

/* One mapping by one solve (and repairs): the optimum of CoSA's objective, which is not the task's. */
extern const struct engine engine_cosa;

/* The same mapping, then variants of the formulation, other loop orders and local search, all priced for the
 * task's objective. By default only what needs neither more cycles nor more energy than the first counts. */
extern const struct engine engine_cosa_best;

/* The weights of its objective for a machine. */
extern const struct engine_command engine_command_calibrate;

/* The terms of the objective, of any mapping: metrics cosa_util, cosa_comp, cosa_traf, cosa_objective. */
extern const struct measure measure_cosa;

#endif
