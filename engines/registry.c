/* The registry: every engine, in the order help shows them, and every measure. */
#include <string.h>

#include "base/yaml.h"
#include "costmodel/noc/noc.h"
#include "engines/baseline/baseline.h"
#include "engines/cosa/cosa_engines.h"
#include "engines/drill/drill.h"
#include "engines/driver/engine.h"
#include "engines/driver/schedule_format.h"
#include "engines/driver/vector_format.h"
#include "engines/gradient/gradient_engine.h"
#include "engines/interstellar/interstellar_engine.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/mindmappings/mm_engines.h"
#include "engines/mindmappings/mm_format.h"
#include "engines/mindmappings/training/train_command.h"
#include "engines/optimal/optimal_engine.h"
#include "engines/soma/soma_engines.h"

static const struct engine *const registry[] = {
    &engine_random,    &engine_hybrid,       &engine_descent,      &engine_annealing,
    &engine_genetic,   &engine_gradient,     &engine_exhaustive,   &engine_optimal,
    &engine_cosa,      &engine_cosa_best,    &engine_unfused,      &engine_cocco,
    &engine_soma,      &engine_soma_plus,    &engine_interstellar, &engine_mindmappings,
    &engine_mm_random, &engine_mm_annealing, &engine_mm_genetic,   &engine_mm_policy,
    &engine_klotski,   &engine_tangram,      &engine_atomic,       &engine_klotski_plus,
    &engine_drill,
};

static const struct engine_command *const command[] = {&engine_command_calibrate, &engine_command_train};

static const struct schedule_format *const format[] = {&schedule_format_soma, &schedule_format_klotski};

static const struct vector_format *const vectors[] = {&vector_format_mm};

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

const struct schedule_format *const *schedule_format_all(size_t *n)
{
    *n = sizeof format / sizeof format[0];
    return format;
}

/* Whether the text is YAML with this key at the top, or broken YAML with a line that begins so. */
static bool has_key(const char *key, const char *text, size_t length)
{
    struct yaml_doc doc;
    size_t n = strlen(key);
    if (yaml_parse(&doc, "schedule", text, length, NULL) == DSE_OK) {
        bool found = yaml_find(doc.root, key) != NULL;
        yaml_doc_free(&doc);
        return found;
    }
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && line[n] == ':')
            return true;
    }
    return false;
}

const struct schedule_format *schedule_format_of(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof format / sizeof format[0]; i++)
        if (has_key(format[i]->key, text, length))
            return format[i];
    return NULL;
}

enum dse_status vector_format_of(const struct architecture *arch, const struct vector_format **out,
                                 struct dse_error *err)
{
    struct dse_error other;
    enum dse_status status = DSE_OK;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        *out = vectors[i];
        enum dse_status now = vectors[i]->accepts(arch, i ? &other : err);
        if (now == DSE_OK)
            return DSE_OK;
        status = i ? status : now;
    }
    return status;
}

bool engine_is_untrusted(const struct engine *engine, const double *option)
{
    return engine->untrusted && engine->untrusted(option);
}
