/* Work on a machine that a family of engines brings along besides its searches. dse/command makes a command
 * of each: `dse NAME ARCH`. */
#ifndef ENGINES_DRIVER_ENGINE_COMMAND_H
#define ENGINES_DRIVER_ENGINE_COMMAND_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/report.h"
#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "engines/driver/objective.h"

/* What a command works on; borrowed. */
struct engine_command_task {
    const struct architecture *architecture;
    struct objective objective;
    int n_thread;
    const atomic_int *cancel; /* polled: set, it is to end with DSE_INTERRUPTED */
};

struct engine_command {
    const char *name;
    const char *summary; /* one sentence */
    const char *help;    /* paragraphs and examples after the options */
    /* Fill the report (initialized); its foot is what --output FILE writes. */
    enum dse_status (*run)(const struct engine_command_task *task, struct report *report,
                           struct dse_error *err);
};

/* Registry (engines/registry.c): every command of an engine; find by name (NULL if none). */
const struct engine_command *const *engine_command_all(size_t *n);
const struct engine_command *engine_command_find(const char *name);

#endif
