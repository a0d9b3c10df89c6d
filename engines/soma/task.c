#include "engines/soma/task.h"

#include <string.h>

#include "costmodel/core_machine.h"

enum { OWN_COST_MAX = 1 << 18 };

/* The core array, seen through the task's cache or one of its own. */
static enum dse_status join_core(struct soma_task *made, struct dse_error *err)
{
    struct core_cache *cache = made->task->core_cache;
    if (!cache) {
        DSE_TRY(core_cache_new(OWN_COST_MAX, &made->own, err));
        cache = made->own;
    }
    DSE_TRY(core_cache_join_array(cache, &made->array, &made->cached, err));
    made->search.context.core = core_cached_scheduler(&made->cached);
    return DSE_OK;
}

enum dse_status soma_task_prepare(const struct engine_task *task, bool compat, struct arena *arena,
                                  struct soma_task *made, struct dse_error *err)
{
    struct core_array_size size;
    memset(made, 0, sizeof *made);
    made->task = task;
    made->array.compat = compat;
    DSE_TRY(core_machine_of(task->architecture, &size, &made->search.machine, err));
    DSE_TRY(core_array_init(&size, &made->array.core, err));
    DSE_TRY(soma_graph_init(task->network, arena, &made->graph, err));
    made->search.objective = task->objective;
    made->search.clock_hz = task->architecture->clock_hz;
    made->search.context.network = task->network;
    made->search.context.graph = &made->graph;
    made->search.context.batch = task->batch;
    made->search.context.compat = compat;
    made->search.parallel = (struct soma_parallel){made->array.core.lane_c, made->array.core.lane_k,
                                                   size.pe_rows, size.pe_columns};
    return join_core(made, err);
}

void soma_task_free(struct soma_task *made)
{
    core_cache_free(made->own);
    made->own = NULL;
}
