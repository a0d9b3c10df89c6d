/* The engine `gradient`. */
#ifndef ENGINES_GRADIENT_GRADIENT_ENGINE_H
#define ENGINES_GRADIENT_GRADIENT_ENGINE_H

#include "engines/driver/engine.h"

extern const struct engine engine_gradient;

#endif
