/* From the network that is given to the one that is scheduled. */
#include "engines/soma/scheduled.h"

#include "costmodel/model/network_graph.h"
#include "engines/soma/notation/graph.h"

enum dse_status soma_scheduled_network(const struct network *given, uint32_t batch, bool compat,
                                       struct arena *arena, struct soma_scheduled *out, struct dse_error *err)
{
    *out = (struct soma_scheduled){given, batch ? batch : 1};
    if (!given->is_graph) {
        struct network *graph = arena_alloc(arena, 1, sizeof *graph);
        DSE_TRY(arena_check(arena, "a network", err));
        DSE_TRY(network_as_graph(given, batch, arena, graph, &out->batch, err));
        out->network = graph;
    }
    return soma_graph_check(out->network, compat, err);
}
