/* One search per problem and dataflow, all at once; then those that found nothing are dropped. */
#include "dse/solve/each_dataflow.h"

#include <string.h>

#include "costmodel/interstellar/unrolling.h"

/* All searches, problem by problem. */
struct searches {
    const struct solve_settings *settings;
    const struct architecture *arch;
    struct workload *workload;
    struct engine_dataflows *of; /* (n_problem) */
    uint32_t *problem;           /* (n) of each search */
    const struct unrolling **dataflow;
    struct solve_result *result; /* (n) */
    size_t n;
};

static enum dse_status list_all(struct searches *s, struct arena *arena, struct dse_error *err)
{
    const uint32_t n_problem = s->workload->n_problem;
    s->of = arena_alloc(arena, n_problem, sizeof *s->of);
    DSE_TRY(arena_check(arena, "the dataflows", err));
    for (uint32_t p = 0; p < n_problem; p++) {
        DSE_TRY(solve_dataflows(s->settings, &s->workload->problem[p], s->arch, arena, &s->of[p], err));
        if (s->of[p].n == 0)
            return dse_fail(err, DSE_BAD_USAGE,
                            "layer %s has no dataflow on %s: no loops use as much of its array as asked for",
                            s->workload->problem[p].name, s->arch->name);
        s->n += s->of[p].n;
    }
    s->problem = arena_alloc(arena, s->n, sizeof *s->problem);
    s->dataflow = arena_alloc(arena, s->n, sizeof *s->dataflow);
    s->result = arena_alloc(arena, s->n, sizeof *s->result);
    DSE_TRY(arena_check(arena, "the results", err));
    size_t n = 0;
    for (uint32_t p = 0; p < n_problem; p++)
        for (size_t i = 0; i < s->of[p].n; i++) {
            s->problem[n] = p;
            s->dataflow[n++] = &s->of[p].list[i];
        }
    return DSE_OK;
}

static void solve_one(struct searches *s, size_t i)
{
    struct solve_settings settings = *s->settings;
    struct arena arena;
    arena_init(&arena);
    settings.dataflow = s->dataflow[i];
    settings.dataflow_level = s->of[s->problem[i]].level;
    enum dse_status status =
        solve_task(&settings, &s->workload->problem[s->problem[i]], s->arch, NULL, &arena, &s->result[i]);
    (void)status; /* interrupted is not possible without a cancel flag */
    arena_free(&arena);
}

/* Results that count move to the front; times[p] (n_problem): how many of each problem. */
static void keep(struct searches *s, uint32_t *times)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t p = s->problem[i];
        const bool last = i + 1 == s->n || s->problem[i + 1] != p;
        if (s->result[i].outcome == RESULT_INFEASIBLE && !(last && times[p] == 0))
            continue;
        if (n < i)
            s->result[n] = s->result[i];
        n++;
        times[p]++;
    }
}

enum dse_status each_dataflow_solve(const struct solve_settings *settings, struct workload *workload,
                                    const struct architecture *arch, int n_thread, struct arena *arena,
                                    struct solve_result **result, struct dse_error *err)
{
    struct searches searches = {.settings = settings, .arch = arch, .workload = workload};
    DSE_TRY(list_all(&searches, arena, err));
    uint32_t *times = arena_alloc(arena, workload->n_problem, sizeof *times);
    DSE_TRY(arena_check(arena, "the results", err));
    memset(times, 0, workload->n_problem * sizeof *times);
    int n = (int)searches.n;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_thread)
    for (int i = 0; i < n; i++)
        solve_one(&searches, (size_t)i);
    keep(&searches, times);
    *result = searches.result;
    return workload_repeat(workload, times, err);
}
