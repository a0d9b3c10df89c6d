/* One mapping: solve, check the exact tiles, tighten what was too large, and with the safe halo if that does
 * not help. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "engines/cosa/cosa_gpu.h"
#include "engines/cosa/formulation.h"
#include "engines/mapspace/mapspace.h"

/* Beyond what the exact tile exceeds, in bits (docs/cosa.md, repair). */
#define REPAIR_MARGIN_BITS 0.01

enum { REPAIR_NODES = 1000, FALLBACK_DRAWS = 100 };

struct attempt {
    const struct mapspace *space;
    struct cosa_shape shape;
    struct cosa_model model;
    struct cosa_settings settings;
    struct arena *arena;
    struct cosa_solution *solution;
};

static uint64_t tile_words(const struct attempt *attempt, uint32_t l, uint32_t t)
{
    const struct mapping *mapping = &attempt->solution->mapping;
    uint32_t extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < mapping->n_dim; d++) {
        extent[d] = 1;
        for (uint32_t i = 0; i <= l; i++)
            extent[d] *= mapping->level[i].temporal[d] * mapping->level[i].spatial[d];
    }
    return problem_tile_words(attempt->shape.problem, t, extent);
}

static bool tighten(struct attempt *attempt, uint32_t l, uint32_t t, double factor)
{
    struct cosa_model *model = &attempt->model;
    for (uint32_t c = 0; c < model->n_capacity; c++)
        if (model->capacity[c].level == l && model->capacity[c].tensor == t) {
            double highest = milp_row_highest(model->milp, model->capacity[c].row);
            milp_set_row_bounds(model->milp, model->capacity[c].row, -INFINITY,
                                highest - log2(factor) - REPAIR_MARGIN_BITS);
            cosa_add_tile_patterns(model, &model->capacity[c]);
            return true;
        }
    return false;
}

/* Tighten the rows of level l whose exact tiles are too large. False when no row can help. */
static bool repair_level(struct attempt *attempt, uint32_t l)
{
    uint32_t n_tensor = attempt->shape.problem->n_tensor, keep = attempt->shape.keep[l];
    double usable = (double)attempt->shape.usable[l];
    double sum = 0;
    bool changed = false, exceeded = false;
    for (uint32_t t = 0; t < n_tensor; t++) {
        if (!(keep >> t & 1u))
            continue;
        double words = (double)tile_words(attempt, l, t);
        sum += words;
        if (words > attempt->shape.room[l][t]) {
            exceeded = true;
            changed = tighten(attempt, l, t, words / attempt->shape.room[l][t]) || changed;
        }
    }
    for (uint32_t t = 0; t < n_tensor && !exceeded && sum > usable; t++)
        if (keep >> t & 1u)
            changed = tighten(attempt, l, t, sum / usable) || changed;
    return changed;
}

/* The same for what did not fit: a level, or all storages that share its banks. */
static bool repair(struct attempt *attempt, const struct misfit_info *fit)
{
    const struct architecture *arch = attempt->shape.arch;
    const uint32_t of = (uint32_t)fit->level;
    bool changed = false;
    if (fit->what != MISFIT_CAPACITY && fit->what != MISFIT_BANKS)
        return false;
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (l == of || (fit->what == MISFIT_BANKS && arch->level[l].bank_group == arch->level[of].bank_group))
            changed = repair_level(attempt, l) || changed;
    return changed;
}

/* ---------------------------------------- reasons */

static void say_infeasible(struct attempt *attempt)
{
    struct cosa_solution *solution = attempt->solution;
    solution->misfit = (struct misfit_info){.what = FITS};
    const char *what = attempt->shape.constraints ? "the constraints and the capacities as it counts them"
                                                  : "the capacities as it counts them";
    if (solution->milp_status == MILP_NOT_SOLVED)
        (void)snprintf(solution->reason, sizeof solution->reason,
                       "the MILP had no solution yet when its limit ended it after %llu nodes",
                       (unsigned long long)solution->n_node);
    else
        (void)snprintf(solution->reason, sizeof solution->reason,
                       "the MILP is %s: no mapping keeps to %s (not proved that none exists)",
                       milp_status_text(solution->milp_status), what);
}

static void say_misfit(struct attempt *attempt, const struct misfit_info *fit)
{
    char text[160];
    attempt->solution->misfit = *fit;
    (void)misfit_print(fit, attempt->shape.problem, attempt->shape.arch, text, sizeof text);
    (void)snprintf(attempt->solution->reason, sizeof attempt->solution->reason,
                   "%s after %u solves (not proved that no mapping exists)", text,
                   attempt->solution->n_solve);
}

/* ---------------------------------------- the attempts */

static enum dse_status build(struct attempt *attempt, enum cosa_halo halo, struct dse_error *err)
{
    struct cosa_solution *solution = attempt->solution;
    DSE_TRY(cosa_model_build(&attempt->model, &attempt->shape, &attempt->settings, halo, false,
                             attempt->arena, err));
    solution->halo = halo;
    solution->n_variable = milp_variable_count(attempt->model.milp);
    solution->n_integer = milp_integer_count(attempt->model.milp);
    solution->n_row = milp_row_count(attempt->model.milp);
    return DSE_OK;
}

/* The nodes that are left of the limit; a repair gets a tenth of it and enough for a first solution all the
 * same. */
static uint64_t nodes_left(const struct attempt *attempt)
{
    uint64_t limit = attempt->settings.limits.max_nodes, used = attempt->solution->n_node;
    uint64_t least = limit < REPAIR_NODES ? limit : limit / 10 > REPAIR_NODES ? limit / 10 : REPAIR_NODES;
    if (limit == 0)
        return 0;
    return used + least < limit ? limit - used : least;
}

/* One solve; `fit` says whether the mapping fits, MISFIT_FACTORS when there is none. */
static enum dse_status solve(struct attempt *attempt, struct misfit_info *fit, struct dse_error *err)
{
    struct cosa_solution *solution = attempt->solution;
    struct milp_result result;
    *fit = (struct misfit_info){.what = MISFIT_FACTORS};
    struct milp_limits limits = attempt->settings.limits;
    limits.max_nodes = nodes_left(attempt);
    DSE_TRY(milp_solve(attempt->model.milp, &limits, attempt->arena, &result, err));
    solution->n_solve++;
    solution->n_node += result.n_node;
    solution->timed_out = result.timed_out;
    solution->milp_status = result.status;
    if (result.status != MILP_OPTIMAL && result.status != MILP_FEASIBLE)
        return DSE_OK;
    solution->milp_objective = result.objective;
    if (solution->n_solve == 1)
        solution->first_objective = result.objective;
    cosa_extract(&attempt->model, result.value, &solution->mapping);
    fit->what = FITS;
    (void)mapspace_contains(attempt->space, &solution->mapping, fit);
    return DSE_OK;
}

/* Solve with one halo rule and repair. True in `*done` when there is nothing left to try. */
static enum dse_status attempt_halo(struct attempt *attempt, enum cosa_halo halo, bool *done,
                                    struct dse_error *err)
{
    struct cosa_solution *solution = attempt->solution;
    *done = false;
    DSE_TRY(build(attempt, halo, err));
    for (uint32_t n = 0;; n++) {
        struct misfit_info fit;
        DSE_TRY(solve(attempt, &fit, err));
        if (fit.what == FITS) {
            solution->feasible = *done = true;
            solution->proved = solution->n_repair == 0 && solution->milp_status == MILP_OPTIMAL;
            return DSE_OK;
        }
        bool solved = solution->milp_status == MILP_OPTIMAL || solution->milp_status == MILP_FEASIBLE;
        if (solved)
            say_misfit(attempt, &fit);
        else
            say_infeasible(attempt);
        if (!solved || n == attempt->settings.max_repairs || !repair(attempt, &fit))
            return DSE_OK;
        solution->n_repair++;
    }
}

/* The last resort where fixed shares leave no mapping (a user's constraint may need more of one tensor):
 * every tensor may take the whole level, and the repairs take back what is too much. False when no level is
 * shared. */
static bool widen_rooms(struct cosa_shape *shape)
{
    bool shared = false;
    for (uint32_t l = 0; l < shape->outermost; l++) {
        uint64_t usable = architecture_usable_words(&shape->arch->level[l]);
        if (usable == ARCH_UNLIMITED || __builtin_popcount(shape->keep[l]) < 2 ||
            shape->arch->level[l].n_part > 1)
            continue;
        shared = true;
        for (uint32_t t = 0; t < shape->problem->n_tensor; t++)
            if (shape->keep[l] >> t & 1u)
                shape->room[l][t] = (double)usable;
    }
    return shared;
}

/* Without a mapping from the solver (its limit came first; a minimum utilisation, which has no row): of
 * random mappings of the space the one with the best objective. False when no draw is valid. */
static bool fall_back(struct attempt *attempt)
{
    struct cosa_solution *solution = attempt->solution;
    const struct cosa_shape *shape = &attempt->shape;
    struct random_stream stream = random_stream_make(0, 0, RANDOM_INIT);
    struct mapping mapping;
    double best = INFINITY;
    for (int i = 0; i < FALLBACK_DRAWS; i++) {
        struct cosa_terms terms;
        if (!mapspace_draw(attempt->space, &stream, &mapping, NULL, NULL) ||
            !mapspace_contains(attempt->space, &mapping, NULL)) /* a draw does not look at a GPU's threads */
            continue;
        cosa_terms_of(shape->problem, shape->arch, &attempt->settings, &mapping, &terms);
        if (!solution->drawn || terms.objective < best) {
            best = terms.objective;
            solution->mapping = mapping;
        }
        solution->drawn = true;
    }
    return solution->drawn;
}

enum dse_status cosa_map(const struct problem *problem, const struct architecture *arch,
                         const struct mapspace_constraints *constraints, const struct cosa_settings *settings,
                         struct arena *arena, struct cosa_solution *solution, struct dse_error *err)
{
    double start_s = clock_thread_s();
    memset(solution, 0, sizeof *solution);
    struct attempt *attempt = arena_alloc(arena, 1, sizeof *attempt);
    DSE_TRY(arena_check(arena, "CoSA", err));
    attempt->settings = *settings;
    if (settings->solver_seconds > 0) {
        struct milp_limits *limits = &attempt->settings.limits;
        double stop_at_s = clock_wall_s() + settings->solver_seconds;
        limits->stop_at_s = limits->stop_at_s > 0 ? fmin(limits->stop_at_s, stop_at_s) : stop_at_s;
    }
    attempt->settings.stationary = cosa_gpu_stationary(problem, arch, settings->stationary);
    attempt->arena = arena;
    attempt->solution = solution;
    DSE_TRY(mapspace_new(problem, arch, constraints, false, arena, &attempt->space, err));
    const char *empty = mapspace_is_empty(attempt->space);
    if (empty) {
        solution->proved = true;
        solution->milp_status = MILP_INFEASIBLE;
        (void)snprintf(solution->reason, sizeof solution->reason, "%s", empty);
        return DSE_OK;
    }
    cosa_shape_init(&attempt->shape, problem, arch, constraints, settings);
    bool done;
    DSE_TRY(attempt_halo(attempt, settings->halo, &done, err));
    if (!done && settings->halo != COSA_HALO_SAFE) {
        solution->n_repair++;
        DSE_TRY(attempt_halo(attempt, COSA_HALO_SAFE, &done, err));
    }
    if (!done && widen_rooms(&attempt->shape)) {
        solution->n_repair++;
        DSE_TRY(attempt_halo(attempt, COSA_HALO_SAFE, &done, err));
    }
    if (!done && fall_back(attempt))
        solution->feasible = true;
    if (solution->feasible) {
        solution->reason[0] = '\0';
        solution->misfit = (struct misfit_info){.what = FITS};
        cosa_terms_of(problem, arch, settings, &solution->mapping, &solution->terms);
    }
    solution->cpu_s = clock_thread_s() - start_s;
    return DSE_OK;
}
