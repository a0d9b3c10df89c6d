/* The engines of Klotski's family. */
#ifndef ENGINES_KLOTSKI_KLOTSKI_ENGINES_H
#define ENGINES_KLOTSKI_KLOTSKI_ENGINES_H

#include "engines/driver/engine.h"
#include "engines/driver/schedule_format.h"

extern const struct engine engine_klotski;
extern const struct engine engine_tangram;
extern const struct engine engine_atomic;
extern const struct engine engine_klotski_plus;

/* The schedules that they find. */
extern const struct schedule_format schedule_format_klotski;

#endif
