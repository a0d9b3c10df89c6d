/* The registry: every engine, in the order help shows them, and every measure. */
#include <string.h>

#include "costmodel/noc/noc_measure.h"
#include "engines/baseline/baseline.h"
#include "engines/cosa/cosa_engines.h"
#include "engines/drill/drill.h"
#include "engines/driver/engine.h"
#include "engines/soma/soma_engines.h"

static const struct engine *const registry[] = {
    &engine_random,     &engine_hybrid,    &engine_descent,   &engine_annealing, &engine_genetic,
    &engine_exhaustive, &engine_cosa,      &engine_cosa_best, &engine_unfused,   &engine_cocco,
    &engine_soma,       &engine_soma_plus, &engine_drill,
};

static const struct engine_command *const command[] = {&engine_command_calibrate};

const struct engine *const *engine_all(size_t *n)
{
    *n = sizeof registry / sizeof registry[0];
    return registry;
}

static const struct measure *const measures[] = {&measure_noc, &measure_cosa};

const struct measure *const *measure_all(size_t *n)
{
    *n = sizeof measures / sizeof measures[0];
    return measures;
}

const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; i < sizeof registry / sizeof registry[0]; i++)
        if (strcmp(registry[i]->name, name) == 0)
            return registry[i];
    return NULL;
}

const struct engine_command *const *engine_command_all(size_t *n)
{
    *n = sizeof command / sizeof command[0];
    return command;
}

const struct engine_command *engine_command_find(const char *name)
{
    for (size_t i = 0; i < sizeof command / sizeof command[0]; i++)
        if (strcmp(command[i]->name, name) == 0)
            return command[i];
    return NULL;
}

bool engine_is_untrusted(const struct engine *engine, const double *option)
{
    return engine->untrusted && engine->untrusted(option);
}
