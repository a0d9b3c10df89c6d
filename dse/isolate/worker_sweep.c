/* Workers for the searches of a sweep. */
#include <stdlib.h>

#include "costmodel/fused/core_cache.h"
#include "dse/isolate/worker_pool.h"

enum { CORE_COST_MAX = 1 << 18 }; /* costs of tiles that a worker keeps; about 120 bytes each */

/* Each worker has its own. */
struct sweep_search {
    const struct sweep *sweep;
    struct core_cache *core_cache; /* made when it is needed; kept until the worker ends */
};

static enum dse_status search_sweep(void *user, size_t p, uint32_t task, int n_thread, struct arena *arena,
                                    struct solve_result *result, struct dse_error *err)
{
    struct sweep_search *search = user;
    struct sweep_point point;
    struct architecture arch;
    sweep_point(search->sweep, p, &point);
    DSE_TRY(sweep_point_build(&point, &arch, err));
    if (solve_is_scheduler(&point.settings) && !search->core_cache)
        DSE_TRY(core_cache_new(CORE_COST_MAX, &search->core_cache, err));
    const struct solve_shared shared = {.core_cache = search->core_cache, .n_thread = n_thread};
    return sweep_point_solve(&point, task, &arch, &shared, NULL, arena, result);
}

enum dse_status worker_pool_new(const struct sweep *sweep, size_t n_slot, const struct worker_limits *limits,
                                struct worker_pool **pool, struct dse_error *err)
{
    struct sweep_search *search = calloc(1, sizeof *search);
    *pool = NULL;
    if (!search)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu workers", n_slot);
    search->sweep = sweep;
    enum dse_status status = worker_pool_new_for(search_sweep, search, n_slot, limits, pool, err);
    free(search); /* the fork server has a copy */
    return status;
}
