/* The engines of the SoMa family. */
#ifndef ENGINES_SOMA_SOMA_ENGINES_H
#define ENGINES_SOMA_SOMA_ENGINES_H

#include "engines/engine.h"

extern const struct engine engine_cocco;
extern const struct engine engine_soma;
extern const struct engine engine_soma_plus;
extern const struct engine engine_unfused;

#endif
