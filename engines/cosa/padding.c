/* Rounds bounds up to the next ones without a large prime, so that a mapping has factors to choose from: as
 * asked, or where that halves the cost. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "engines/cosa/cosa_options.h"

/* Beyond this the next smooth bound may be too far to look for one by one. */
enum { PAD_BOUND_MAX = 1 << 24 };

/* Is no prime factor of n above `largest`? */
static bool is_smooth(uint32_t n, uint32_t largest)
{
    for (uint32_t p = 2; p <= largest && (uint64_t)p * p <= n; p++)
        while (n % p == 0)
            n /= p;
    return n <= largest;
}

bool cosa_pad_bounds(const struct problem *problem, uint32_t largest_prime, uint32_t *padded)
{
    bool changed = false;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        padded[d] = problem->bound[d];
        if (largest_prime < 2 || padded[d] > PAD_BOUND_MAX)
            continue;
        while (!is_smooth(padded[d], largest_prime)) /* ends at the next power of two at the latest */
            padded[d]++;
        changed = changed || padded[d] != problem->bound[d];
    }
    return changed;
}

/* ---------------------------------------- where it pays */

enum { TRIAL_NODES = 200, TRIAL_REPAIRS = 3 }; /* of one trial */

/* Primes that the bounds may keep. */
static const uint32_t largest_primes[] = {13, 7};

struct trials {
    const struct engine_task *task;
    const struct cosa_settings *settings;
    const struct problem *problem; /* of the task */
    struct arena scratch;          /* of one trial */
    bool timed_out;                /* one of them */
};

static enum dse_status price(const struct trials *all, const struct problem *problem,
                             const struct mapping *mapping, double *cost, struct dse_error *err)
{
    const struct accounting *accounting = evaluator_accounting(all->task->evaluator);
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct evaluation e;
    DSE_TRY(evaluator_new(accounting, problem, all->task->architecture, &evaluator, err));
    enum dse_status status = eval_workspace_new(evaluator, &workspace, err);
    if (status == DSE_OK && evaluator_run(evaluator, workspace, mapping, &e))
        *cost = objective_cost(&all->task->objective, &e);
    if (status == DSE_OK)
        eval_workspace_delete(workspace);
    evaluator_delete(evaluator);
    return status;
}

/* What CoSA's mapping of these bounds costs; INFINITY without one. */
static enum dse_status try_bounds(struct trials *all, const uint32_t *bound, double *cost,
                                  struct dse_error *err)
{
    struct problem problem = *all->problem;
    struct cosa_solution solution;
    *cost = INFINITY;
    memcpy(problem.bound, bound, problem.n_dim * sizeof *bound);
    enum dse_status status = cosa_map(&problem, all->task->architecture, all->task->constraints,
                                      all->settings, &all->scratch, &solution, err);
    all->timed_out = all->timed_out || (status == DSE_OK && solution.timed_out);
    if (status == DSE_OK && solution.feasible && !solution.drawn)
        status = price(all, &problem, &solution.mapping, cost, err);
    arena_reset(&all->scratch);
    return status;
}

/* A factor that the user fixed may not divide another bound. */
static bool is_fixed(const struct trials *all, uint32_t d)
{
    const struct mapspace_constraints *constraints = all->task->constraints;
    for (uint32_t l = 0; constraints && l < all->task->architecture->n_level; l++)
        if (constraints->level[l].temporal.fixed[d] > 1 || constraints->level[l].spatial.fixed[d] > 1)
            return true;
    return false;
}

static bool pad_free_bounds(const struct trials *all, uint32_t largest_prime, uint32_t *padded)
{
    bool changed = false;
    (void)cosa_pad_bounds(all->problem, largest_prime, padded);
    for (uint32_t d = 0; d < all->problem->n_dim; d++) {
        padded[d] = is_fixed(all, d) ? all->problem->bound[d] : padded[d];
        changed = changed || padded[d] != all->problem->bound[d];
    }
    return changed;
}

/* The cheapest bounds, if they cost at most `*best`, which becomes their cost. */
static enum dse_status choose_primes(struct trials *all, uint32_t *padded, double *best,
                                     struct dse_error *err)
{
    for (size_t i = 0; i < sizeof largest_primes / sizeof largest_primes[0]; i++) {
        uint32_t next[PROBLEM_DIM_MAX];
        double cost = INFINITY;
        if (pad_free_bounds(all, largest_primes[i], next))
            DSE_TRY(try_bounds(all, next, &cost, err));
        if (cost > *best)
            continue;
        *best = cost;
        memcpy(padded, next, all->problem->n_dim * sizeof *padded);
    }
    return DSE_OK;
}

/* Whatever needs no padding to be as cheap gets none. */
static enum dse_status take_back(struct trials *all, uint32_t *padded, double best, struct dse_error *err)
{
    for (uint32_t d = 0; d < all->problem->n_dim; d++) {
        uint32_t keep = padded[d];
        double cost;
        if (keep == all->problem->bound[d])
            continue;
        padded[d] = all->problem->bound[d];
        DSE_TRY(try_bounds(all, padded, &cost, err));
        if (cost > best)
            padded[d] = keep;
        else
            best = cost;
    }
    return DSE_OK;
}

static enum dse_status pad(struct trials *all, uint32_t *padded, struct dse_error *err)
{
    uint32_t next[PROBLEM_DIM_MAX];
    double cost;
    if (!pad_free_bounds(all, largest_primes[1], next))
        return DSE_OK;
    DSE_TRY(try_bounds(all, all->problem->bound, &cost, err));
    cost /= 2;
    if (isinf(cost))
        return DSE_OK;
    DSE_TRY(choose_primes(all, padded, &cost, err));
    return take_back(all, padded, cost, err);
}

enum dse_status cosa_pad_where_it_pays(const struct engine_task *task, struct cosa_settings *settings,
                                       uint32_t *padded, struct dse_error *err)
{
    struct cosa_settings quick = *settings; /* a factor of two needs no last digit */
    if (settings->limits.stop_at_s > 0)     /* the solve itself comes after */
        quick.limits.stop_at_s = (clock_wall_s() + settings->limits.stop_at_s) / 2;
    quick.limits.relative_gap = fmax(quick.limits.relative_gap, 1e-3);
    if (quick.limits.max_nodes == 0 || quick.limits.max_nodes > TRIAL_NODES)
        quick.limits.max_nodes = TRIAL_NODES;
    quick.max_repairs = quick.max_repairs < TRIAL_REPAIRS ? quick.max_repairs : TRIAL_REPAIRS;
    struct trials all = {.task = task, .settings = &quick, .problem = evaluator_problem(task->evaluator)};
    memcpy(padded, all.problem->bound, all.problem->n_dim * sizeof *padded);
    arena_init(&all.scratch);
    enum dse_status status = pad(&all, padded, err);
    arena_free(&all.scratch);
    settings->hurried = all.timed_out && milp_is_over(&quick.limits);
    return status;
}
