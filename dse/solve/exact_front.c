/* Point by point: the least energy, the least energy of what is faster than that, and so on down to the least
 * latency, which is found first. Searches begin with it, or with the best energy-delay product where that is
 * fast enough. */
#include "dse/solve/exact_front.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { POINT_MAX = 10000 };

/* Energies that differ less are equal, as proofs are no closer. */
static const double same_energy = 1e-11;

struct points {
    size_t n, room;
    struct solve_result *result; /* (n) the most energy, and the least latency, last */
};

static enum dse_status add(struct points *points, const struct solve_result *result, const char *layer,
                           struct dse_error *err)
{
    if (points->n == POINT_MAX)
        return dse_fail(err, DSE_LIMIT, "layer %s has a front of more than %d points", layer, POINT_MAX);
    void *grown = array_grow(points->result, points->n + 1, &points->room, sizeof *points->result);
    if (!grown)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for the points of a front");
    points->result = grown;
    points->result[points->n++] = *result;
    return DSE_OK;
}

/* A search with these exponents and this limit. */
static enum dse_status search(const struct solve_settings *settings, struct objective objective,
                              uint64_t cycle_limit, const struct mapping *start,
                              const struct problem *problem, const struct architecture *arch,
                              struct solve_result *result)
{
    struct solve_settings one = *settings;
    struct arena arena;
    one.objective = objective;
    one.cycle_limit = cycle_limit;
    one.start = start;
    arena_init(&arena);
    enum dse_status status = solve_task(&one, problem, arch, NULL, &arena, result);
    arena_free(&arena);
    return status;
}

/* The front of one problem, the least energy first. */
static enum dse_status find_points(const struct solve_settings *settings, const struct problem *problem,
                                   const struct architecture *arch, struct points *points,
                                   struct dse_error *err)
{
    const struct objective energy = {1, 0}, latency = {0, 1}, edp = {1, 1};
    struct solve_result *fastest = malloc(3 * sizeof *fastest);
    if (!fastest)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for a front");
    struct solve_result *middle = fastest + 1, *found = fastest + 2;
    uint64_t limit = 0;
    enum dse_status status = search(settings, latency, 0, NULL, problem, arch, fastest);
    if (status == DSE_OK && fastest->outcome == RESULT_OK)
        status = search(settings, edp, 0, &fastest->found.mapping, problem, arch, middle);
    const uint64_t least = fastest->found.evaluation.latency_cycle;
    bool more = status == DSE_OK && fastest->outcome == RESULT_OK;
    if (status == DSE_OK && !more)
        status = add(points, fastest, problem->name, err);
    while (status == DSE_OK && more) {
        const bool fits = middle->found.evaluation.latency_cycle <= limit || limit == 0;
        const struct solve_result *start = middle->outcome == RESULT_OK && fits ? middle : fastest;
        status = search(settings, energy, limit, &start->found.mapping, problem, arch, found);
        if (status != DSE_OK || found->outcome != RESULT_OK)
            break;
        const struct evaluation *evaluation = &found->found.evaluation;
        if (points->n > 0 && evaluation->energy_j * (1 - same_energy) <=
                                 points->result[points->n - 1].found.evaluation.energy_j)
            points->n--; /* no more energy, and faster */
        status = add(points, found, problem->name, err);
        more = evaluation->latency_cycle > least;
        limit = evaluation->latency_cycle - 1;
    }
    free(fastest);
    return status;
}

/* All points into one list, the fastest of each problem first. */
static enum dse_status collect(struct points *points, uint32_t n, uint32_t *times, struct arena *arena,
                               struct solve_result **out, struct dse_error *err)
{
    size_t all = 0, at = 0;
    for (uint32_t p = 0; p < n; p++)
        all += points[p].n;
    struct solve_result *result = arena_alloc(arena, all, sizeof *result);
    DSE_TRY(arena_check(arena, "the points of fronts", err));
    for (uint32_t p = 0; p < n; p++) {
        times[p] = (uint32_t)points[p].n;
        for (size_t i = points[p].n; i-- > 0;)
            result[at++] = points[p].result[i];
    }
    *out = result;
    return DSE_OK;
}

enum dse_status exact_front_solve(const struct solve_settings *settings, struct workload *workload,
                                  const struct architecture *arch, int n_thread, struct arena *arena,
                                  struct solve_result **result, struct dse_error *err)
{
    const uint32_t n = workload->n_problem;
    if (!settings->engine->strengthen)
        return dse_fail(err, DSE_BAD_USAGE,
                        "a front needs an engine that proves what it finds: optimal; not "
                        "%s",
                        settings->engine->name);
    struct points *points = arena_alloc(arena, n, sizeof *points);
    enum dse_status *status = arena_alloc(arena, n, sizeof *status);
    struct dse_error *why = arena_alloc(arena, n, sizeof *why);
    uint32_t *times = arena_alloc(arena, n, sizeof *times);
    DSE_TRY(arena_check(arena, "the fronts", err));
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_thread)
    for (uint32_t p = 0; p < n; p++)
        status[p] = find_points(settings, &workload->problem[p], arch, &points[p], &why[p]);
    enum dse_status first = DSE_OK;
    for (uint32_t p = 0; p < n && first == DSE_OK; p++) {
        first = status[p];
        if (first != DSE_OK)
            *err = why[p];
    }
    if (first == DSE_OK)
        first = collect(points, n, times, arena, result, err);
    for (uint32_t p = 0; p < n; p++)
        free(points[p].result);
    return first == DSE_OK ? workload_repeat(workload, times, err) : first;
}
