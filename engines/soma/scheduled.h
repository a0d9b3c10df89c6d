/* What of a network the engines of the SoMa family schedule: a graph made of it where it is none. The same
 * for the searches and for whoever reads a schedule's text. */
#ifndef ENGINES_SOMA_SCHEDULED_H
#define ENGINES_SOMA_SCHEDULED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/network.h"

struct soma_scheduled {
    const struct network *network; /* a graph: the one that is given, or in the arena */
    uint32_t batch;                /* samples of it */
};

/* A list of layers becomes a graph without connections (network_as_graph), in the list's order; batch 0 is
 * its own. `compat`: by the published program's rules. Memory from `arena`; `given` must outlive the result.
 * Errors of network_as_graph and soma_graph_check. */
DSE_MUST_CHECK enum dse_status soma_scheduled_network(const struct network *given, uint32_t batch,
                                                      bool compat, struct arena *arena,
                                                      struct soma_scheduled *out, struct dse_error *err);

#endif
