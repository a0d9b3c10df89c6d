/* The engines over Mind Mappings' map space, for the registry (docs/mindmappings.md). */
#ifndef ENGINES_MINDMAPPINGS_MM_ENGINES_H
#define ENGINES_MINDMAPPINGS_MM_ENGINES_H

#include "engines/driver/engine.h"

extern const struct engine engine_mindmappings, engine_mm_random, engine_mm_annealing, engine_mm_genetic,
    engine_mm_policy;

#endif
