/* One search for each distinct layer, all at once, then the rows as a point of a sweep has them. */
#include "dse/solve/map_layers.h"

#include <string.h>

#include "dse/solve/each_dataflow.h"
#include "dse/solve/exact_front.h"

enum dse_status map_layers_constrain(struct solve_settings *settings, const struct yaml_doc *doc,
                                     const struct ynode *list, const struct workload *workload,
                                     const struct architecture *arch, struct dse_error *err)
{
    struct mapspace_constraints tried;
    settings->doc = doc;
    settings->constraints = list;
    for (uint32_t p = 0; p < workload->n_problem; p++)
        DSE_TRY(solve_constraints(settings, &workload->problem[p], arch, &tried, err));
    return DSE_OK;
}

/* The best mapping of each problem. */
static enum dse_status solve_each(const struct solve_settings *settings, const struct workload *workload,
                                  const struct architecture *arch, int n_thread, const atomic_int *cancel,
                                  struct arena *arena, struct map_layers *out, struct dse_error *err)
{
    const int n_problem = (int)workload->n_problem;
    int n_cut = 0; /* searches that were interrupted */
    out->result = arena_alloc(arena, workload->n_problem, sizeof *out->result);
    DSE_TRY(arena_check(arena, "the results", err));
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_thread) reduction(+ : n_cut)
    for (int p = 0; p < n_problem; p++) {
        struct arena own;
        const bool over = cancel && atomic_load_explicit(cancel, memory_order_relaxed);
        arena_init(&own);
        n_cut += over || solve_task(settings, &workload->problem[p], arch, cancel, &own, &out->result[p]);
        arena_free(&own);
    }
    if (settings->front) {
        out->each = out->result;
        out->n_each = workload->n_problem;
    }
    return n_cut ? dse_fail(err, DSE_INTERRUPTED, "interrupted") : DSE_OK;
}

/* A row for each point of the layers' fronts; of several layers the network's front as well. */
static enum dse_status use_fronts(struct workload *workload, const struct architecture *arch,
                                  struct arena *arena, struct map_layers *out, struct dse_error *err)
{
    bool ok = workload->n_layer > 1;
    for (uint32_t p = 0; p < out->n_each; p++)
        ok = ok && out->each[p].n_front > 0;
    const struct solve_result **each = arena_alloc(arena, out->n_each, sizeof *each);
    DSE_TRY(arena_check(arena, "the fronts", err));
    for (uint32_t p = 0; p < out->n_each; p++)
        each[p] = &out->each[p];
    if (ok)
        DSE_TRY(network_front_make(workload, each, arch, arena, &out->network_front, err));
    return exact_front_spread(workload, out->each, arena, &out->result, err);
}

static enum dse_status make_rows(const struct solve_settings *settings, const struct workload *workload,
                                 const struct architecture *arch, struct arena *arena, struct map_layers *out,
                                 struct dse_error *err)
{
    const char *level[ARCH_LEVEL_MAX];
    const struct solve_result **view = arena_alloc(arena, workload->n_problem, sizeof *view);
    out->layer = arena_alloc(arena, workload->n_layer, sizeof *out->layer);
    DSE_TRY(arena_check(arena, "the results", err));
    for (uint32_t p = 0; p < workload->n_problem; p++)
        view[p] = &out->result[p];
    for (uint32_t l = 0; l < arch->n_level; l++)
        level[l] = arch->level[l].name;
    const struct record_source source = {.workload = workload,
                                         .arch = arch,
                                         .result = view,
                                         .n_level = arch->n_level,
                                         .level = level,
                                         .accounting = solve_accounting(settings, arch)->name,
                                         .texts = true,
                                         .measure = &settings->measure};
    return record_make(&source, arena, &out->point, out->layer, err);
}

enum dse_status map_layers(const struct solve_settings *settings, struct workload *workload,
                           const struct architecture *arch, bool each_dataflow, int n_thread,
                           const atomic_int *cancel, struct arena *arena, struct map_layers *out,
                           struct dse_error *err)
{
    memset(out, 0, sizeof *out);
    if (each_dataflow)
        DSE_TRY(each_dataflow_solve(settings, workload, arch, n_thread, arena, &out->result, err));
    else
        DSE_TRY(solve_each(settings, workload, arch, n_thread, cancel, arena, out, err));
    if (settings->front)
        DSE_TRY(use_fronts(workload, arch, arena, out, err));
    return make_rows(settings, workload, arch, arena, out, err);
}

void map_layers_clear(struct map_layers *layers)
{
    for (uint32_t p = 0; p < layers->n_each; p++)
        solve_result_clear(&layers->each[p]);
    layers->n_each = 0;
}
