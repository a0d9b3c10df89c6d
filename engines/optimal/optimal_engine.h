/* The mapper `optimal`. */
#ifndef ENGINES_OPTIMAL_OPTIMAL_ENGINE_H
#define ENGINES_OPTIMAL_OPTIMAL_ENGINE_H

#include "engines/driver/engine.h"

extern const struct engine engine_optimal;

#endif
