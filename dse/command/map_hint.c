/* A short try of the engine that starts from the answers of the one asked for. */
#include "dse/command/map_hint.h"

#include <stdio.h>
#include <stdlib.h>

#include "dse/solve/solve_note.h"

/* Less is not worth a sentence. */
static const double worth = 1.1;

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
    if (!settings->engine->better || n == 0 || settings->measure.n_choice)
        return DSE_OK;
    DSE_TRY(solve_settings_other(settings, settings->engine->better, settings->engine->better_evaluations,
                                 &next, err));
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
