/* Point by point: the least energy, the least energy of what is faster than that, and so on down to the least
 * latency, which is found first. Searches begin with it, or with the best energy-delay product where that is
 * fast enough. */
#include "dse/solve/exact_front.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { POINT_MAX = 10000 };

/* The searches for one front. */
struct front_search {
    const struct solve_settings *settings;
    const struct problem *problem;
    const struct architecture *arch;
    const struct solve_shared *shared;
    const atomic_int *cancel;
    struct arena arena;                         /* of one search */
    struct solve_result fastest, middle, found; /* the least latency, the least edp, the last one */
    struct lower_bound bound;                   /* what these prove of all mappings */
    struct solve_result *point;                 /* (n) the most energy, and the least latency, last; owned */
    size_t n, room;
    uint64_t n_evaluation, n_draw; /* of all searches */
    double seconds;
    enum engine_stop stop; /* the weakest, or STOP_OPTIMAL */
    enum bound_kind bound_kind;
};

/* What is left of the limits, half of it where others follow; false: nothing. */
static bool take_share(const struct front_search *s, bool others_follow, struct solve_settings *one)
{
    const uint64_t most = one->max_evaluations;
    if (most > 0 && s->n_evaluation >= most)
        return false;
    if (one->max_seconds > 0 && one->max_seconds - s->seconds < 1e-3 * one->max_seconds)
        return false;
    if (most > 0)
        one->max_evaluations = (most - s->n_evaluation + others_follow) / (others_follow ? 2 : 1);
    if (one->max_seconds > 0)
        one->max_seconds = (one->max_seconds - s->seconds) / (others_follow ? 2 : 1);
    return true;
}

/* A search with these exponents and this limit; without a budget for it `result` is a timeout. */
static enum dse_status search(struct front_search *s, struct objective objective, uint64_t cycle_limit,
                              const struct mapping *start, struct solve_result *result)
{
    struct solve_settings one = *s->settings;
    one.objective = objective;
    one.cycle_limit = cycle_limit;
    one.start = start;
    if (!take_share(s, start != NULL, &one)) {
        result->outcome = RESULT_TIMEOUT;
        s->stop = one.max_seconds > 0 && s->stop == STOP_OPTIMAL ? STOP_MAX_SECONDS : s->stop;
        s->stop = s->stop == STOP_OPTIMAL ? STOP_MAX_EVALUATIONS : s->stop;
        return DSE_OK;
    }
    arena_reset(&s->arena);
    DSE_TRY(solve_single(&one, s->problem, s->arch, s->shared, s->cancel, &s->arena, result));
    if (result->outcome == RESULT_FAILED)
        return DSE_OK;
    s->n_evaluation += result->found.n_evaluation;
    s->n_draw += result->found.n_draw;
    s->seconds += result->found.seconds;
    if (result->found.stop != STOP_OPTIMAL && s->stop != STOP_MAX_SECONDS)
        s->stop = result->found.stop;
    return DSE_OK;
}

/* Add a point that is faster than those before it, in place of those that need no less energy. */
static enum dse_status add(struct front_search *s, const struct solve_result *result, struct dse_error *err)
{
    const struct evaluation *evaluation = &result->found.evaluation;
    while (s->n > 0 &&
           evaluation->energy_j * (1 - EXACT_FRONT_SAME) <= s->point[s->n - 1].found.evaluation.energy_j)
        s->n--;
    if (s->n == POINT_MAX)
        return dse_fail(err, DSE_LIMIT, "a front of more than %d points", POINT_MAX);
    void *grown = array_grow(s->point, s->n + 1, &s->room, sizeof *s->point);
    if (!grown)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for the points of a front");
    s->point = grown;
    s->point[s->n++] = *result;
    return DSE_OK;
}

/* The least energy, and so on, the points in `s`. */
static enum dse_status find_points(struct front_search *s, struct dse_error *err)
{
    const struct objective energy = {.energy_exponent = 1};
    const struct solve_result *known[2] = {&s->middle, &s->fastest};
    const uint64_t least = s->fastest.found.evaluation.latency_cycle;
    uint64_t limit = 0;
    bool ended = false, more = true;
    while (more) {
        const bool fits = s->middle.found.evaluation.latency_cycle <= limit || limit == 0;
        const struct solve_result *start = s->middle.outcome == RESULT_OK && fits ? &s->middle : &s->fastest;
        DSE_TRY(search(s, energy, limit, &start->found.mapping, &s->found));
        ended = s->found.outcome != RESULT_OK;
        if (ended)
            break;
        if (limit == 0) {
            s->bound.energy_j = s->found.bound.energy_j;
            s->bound_kind =
                s->found.found.bound_kind < s->bound_kind ? s->found.found.bound_kind : s->bound_kind;
        }
        DSE_TRY(add(s, &s->found, err));
        more = s->found.found.evaluation.latency_cycle > least;
        limit = s->found.found.evaluation.latency_cycle - 1;
    }
    if (s->found.outcome == RESULT_FAILED)
        return dse_fail(err, DSE_INTERNAL, "%.400s", s->found.reason);
    /* where there was no time for more: what is known to be faster */
    for (size_t i = 0; ended && i < 2; i++)
        if (known[i]->outcome == RESULT_OK &&
            (s->n == 0 ||
             known[i]->found.evaluation.latency_cycle < s->point[s->n - 1].found.evaluation.latency_cycle))
            DSE_TRY(add(s, known[i], err));
    return DSE_OK;
}

/* The points into the result, the fastest first, and what stands for all of them. */
static void finish(struct front_search *s, struct solve_result *result)
{
    size_t best = 0;
    for (size_t i = 0; i < s->n / 2; i++) {
        const struct solve_result moved = s->point[i];
        s->point[i] = s->point[s->n - 1 - i];
        s->point[s->n - 1 - i] = moved;
    }
    for (size_t i = 0; i < s->n; i++) {
        s->point[i].bound = s->bound;
        s->point[i].found.bound_kind = s->bound_kind;
        if (s->point[i].found.evaluation.edp_js < s->point[best].found.evaluation.edp_js)
            best = i;
    }
    *result = s->point[best];
    result->front = s->point;
    result->n_front = (uint32_t)s->n;
    result->found.n_evaluation = s->n_evaluation;
    result->found.n_draw = s->n_draw;
    result->found.seconds = s->seconds;
    result->found.stop = s->stop;
    result->found.n_trace = 0;
}

static enum dse_status solve(struct front_search *s, struct solve_result *result)
{
    const struct objective latency = {.delay_exponent = 1}, edp = {.energy_exponent = 1, .delay_exponent = 1};
    struct dse_error err;
    DSE_TRY(search(s, latency, 0, NULL, &s->fastest));
    if (s->fastest.outcome != RESULT_OK) {
        *result = s->fastest;
        return DSE_OK;
    }
    s->bound = s->fastest.bound;
    s->bound_kind = s->fastest.found.bound_kind;
    DSE_TRY(search(s, edp, 0, &s->fastest.found.mapping, &s->middle));
    if (s->middle.outcome == RESULT_OK) {
        s->bound.edp_js = s->middle.bound.edp_js;
        s->bound_kind =
            s->middle.found.bound_kind < s->bound_kind ? s->middle.found.bound_kind : s->bound_kind;
    }
    enum dse_status status = find_points(s, &err);
    if (status == DSE_INTERRUPTED)
        return status;
    if (status == DSE_OK) {
        finish(s, result);
        s->point = NULL;
        return DSE_OK;
    }
    *result = s->fastest;
    result->outcome = RESULT_FAILED;
    (void)snprintf(result->reason, sizeof result->reason, "%.500s", err.text);
    return DSE_OK;
}

enum dse_status exact_front_solve(const struct solve_settings *settings, const struct problem *problem,
                                  const struct architecture *arch, const struct solve_shared *shared,
                                  const atomic_int *cancel, struct arena *arena, struct solve_result *result)
{
    struct front_search *s = calloc(1, sizeof *s);
    (void)arena; /* that of a caller would hold all searches */
    if (!s) {
        *result = (struct solve_result){.outcome = RESULT_FAILED, .reason = "no memory for a front"};
        return DSE_OK;
    }
    s->settings = settings;
    s->problem = problem;
    s->arch = arch;
    s->shared = shared;
    s->cancel = cancel;
    arena_init(&s->arena);
    s->stop = STOP_OPTIMAL;
    enum dse_status status = solve(s, result);
    arena_free(&s->arena);
    free(s->point);
    free(s);
    return status;
}

enum dse_status exact_front_spread(struct workload *workload, const struct solve_result *result,
                                   struct arena *arena, struct solve_result **out, struct dse_error *err)
{
    const uint32_t n = workload->n_problem;
    uint32_t *times = arena_alloc(arena, n, sizeof *times);
    size_t all = 0, at = 0;
    for (uint32_t p = 0; times && p < n; p++)
        all += times[p] = result[p].n_front ? result[p].n_front : 1;
    *out = arena_alloc(arena, all, sizeof **out);
    DSE_TRY(arena_check(arena, "the points of fronts", err));
    for (uint32_t p = 0; p < n; p++)
        for (uint32_t i = 0; i < times[p]; i++)
            (*out)[at++] = result[p].n_front ? result[p].front[i] : result[p];
    return workload_repeat(workload, times, err);
}
