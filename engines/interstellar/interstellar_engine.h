/* The engine interstellar. */
#ifndef ENGINES_INTERSTELLAR_INTERSTELLAR_ENGINE_H
#define ENGINES_INTERSTELLAR_INTERSTELLAR_ENGINE_H

#include "engines/driver/engine.h"

extern const struct engine engine_interstellar;

#endif
