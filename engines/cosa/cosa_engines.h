/* The engines over the CoSA formulation (docs/cosa.md). */
#ifndef ENGINES_COSA_COSA_ENGINES_H
#define ENGINES_COSA_COSA_ENGINES_H

#include "engines/engine.h"

/* One mapping by one solve (and repairs): the optimum of CoSA's objective, which is not the task's. */
extern const struct engine engine_cosa;

#endif
