/* The engines of the SoMa family. */
#ifndef ENGINES_SOMA_SOMA_ENGINES_H
#define ENGINES_SOMA_SOMA_ENGINES_H

#include "engines/driver/engine.h"
#include "engines/driver/schedule_format.h"
#include "engines/soma/allocator.h"

extern const struct engine engine_cocco;
extern const struct engine engine_soma;
extern const struct engine engine_soma_plus;
extern const struct engine engine_unfused;

/* The schedules that they find. */
extern const struct schedule_format schedule_format_soma;

/* What engine soma searches with by default. */
struct soma_allocator_options soma_default_options(void);

#endif
