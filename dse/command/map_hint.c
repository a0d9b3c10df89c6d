/* A short try of the engine that starts from the answers of the one asked for. */
#include "dse/command/map_hint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Less is not worth a sentence. */
static const double worth = 1.1;

/* The same search by the successor, with the options that both have. */
static enum dse_status succeed(const struct solve_settings *settings, struct solve_settings *next,
                               struct dse_error *err)
{
    const struct engine *engine = settings->engine;
    DSE_TRY(solve_settings_init(next, engine->better, err));
    const struct engine *better = next->engine;
    *next = *settings;
    next->engine = better;
    next->option_set = 0;
    next->max_evaluations = engine->better_evaluations;
    memset(&next->measure, 0, sizeof next->measure);
    engine_option_defaults(better, next->option);
    for (size_t i = 0; i < engine->n_option; i++)
        for (size_t j = 0; j < better->n_option; j++)
            if (strcmp(engine->option[i].name, better->option[j].name) == 0) {
                next->option[j] = settings->option[i];
                next->option_set |= (settings->option_set >> i & 1) << j;
            }
    return solve_settings_settle(next, err);
}

static double try_layer(const struct solve_settings *next, const struct problem *problem,
                        const struct architecture *arch, const struct solve_result *found)
{
    struct arena arena;
    struct solve_result *again = malloc(sizeof *again);
    double ratio = 1;
    arena_init(&arena);
    if (again && solve_task(next, problem, arch, NULL, &arena, again) == DSE_OK &&
        again->outcome == RESULT_OK && again->found.cost > 0)
        ratio = found->found.cost / again->found.cost;
    arena_free(&arena);
    free(again);
    return ratio;
}

enum dse_status map_hint(const struct solve_settings *settings, const struct workload *workload,
                         const struct architecture *arch, const struct solve_result *result, int n_thread,
                         char *text, size_t size, struct dse_error *err)
{
    struct solve_settings next;
    int n = (int)workload->n_problem, best = 0, n_better = 0;
    text[0] = '\0';
    if (!settings->engine->better || n == 0)
        return DSE_OK;
    DSE_TRY(succeed(settings, &next, err));
    double *ratio = calloc((size_t)n, sizeof *ratio);
    if (!ratio)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for the layers' comparison");
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_thread)
    for (int p = 0; p < n; p++)
        if (result[p].outcome == RESULT_OK)
            ratio[p] = try_layer(&next, &workload->problem[p], arch, &result[p]);
    for (int p = 0; p < n; p++) {
        n_better += ratio[p] >= worth;
        best = ratio[p] > ratio[best] ? p : best;
    }
    if (ratio[best] >= worth)
        (void)snprintf(
            text, size,
            "%s is better here, at least %.3g times on layer %s, and by a tenth or more on %d of %d "
            "different layers: --engine %s",
            next.engine->name, ratio[best], workload->problem[best].name, n_better, n, next.engine->name);
    free(ratio);
    return DSE_OK;
}
