/* Work on a machine that a family of engines brings along besides its searches. dse/command makes a command
 * of each: `dse NAME ARCH`. */
#ifndef ENGINES_DRIVER_ENGINE_COMMAND_H
#define ENGINES_DRIVER_ENGINE_COMMAND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cli_option.h"
#include "base/report.h"
#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/network.h"
#include "engines/driver/objective.h"

/* What a command works on; borrowed. */
struct engine_command_task {
    const struct architecture *architecture;
    struct objective objective; /* of the option "objective"; latency when it has none */
    int n_thread;
    const atomic_int *cancel; /* polled: set, it is to end with DSE_INTERRUPTED */
    /* What the user gave an option of the command's, or NULL. */
    const char *(*value)(const void *args, const char *name);
    const void *args;
    /* A network by name or path; release with network_free. */
    enum dse_status (*network)(const char *name, struct network *network, struct dse_error *err);
    /* Tell people how far it is: a line that stays (`lasting`), or that the next one may take the place
     * of. */
    void (*say)(void *user, bool lasting, const char *line);
    void *user;
};

struct engine_command {
    const char *name;
    const char *summary;             /* one sentence */
    const char *help;                /* paragraphs and examples after the options */
    const struct cli_option *option; /* (n_option); set, ert, jobs and objective are read for it */
    size_t n_option;
    bool writes; /* its own file --output; else that gets the report's foot */
    /* Fill the report (initialized). */
    enum dse_status (*run)(const struct engine_command_task *task, struct report *report,
                           struct dse_error *err);
};

/* Registry (engines/registry.c): every command of an engine; find by name (NULL if none). */
const struct engine_command *const *engine_command_all(size_t *n);
const struct engine_command *engine_command_find(const char *name);

#endif
