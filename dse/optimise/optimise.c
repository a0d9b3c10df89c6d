/* Best first: the hierarchy with the lowest bound is priced next, its proved optima bound the smaller ones
 * (energy_cuts.h), until no bound is below the best. Of each group, the hierarchies with the same levels, a
 * machine that none of them is better than is solved first. */
#include "dse/optimise/optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dse/optimise/optimise_parts.h"
#include "results/front/pareto_front.h"

/* Layers of a hierarchy are searched so many at a time, whatever the number of threads. */
enum { AT_A_TIME_LEAST = 2, AT_A_TIME_OF = 16, AT_A_TIME_MOST = 16 };

/* One hierarchy during the search. */
struct candidate {
    struct hierarchy_bound least; /* a bound until it is priced */
    uint64_t n_search;            /* searches that the bound knows */
    bool priced, passed;
    struct cut_row *row; /* of its own optima */
};

static void place_of(const struct optimise *o, uint32_t h, const struct hierarchy_bound *least, double *place)
{
    place[FRONT_ENERGY] = least->energy_j;
    place[FRONT_LATENCY] = least->latency_s;
    place[FRONT_ONCHIP] = o->all->list[h].onchip_byte;
    place[FRONT_AREA] = architecture_area_mm2(&o->all->list[h].arch);
}

static bool has_front(const struct optimise_goal *goal)
{
    bool has = false;
    for (int a = 0; a < FRONT_AXES; a++)
        has = has || goal->front[a] != 0;
    return has;
}

/* Nothing that the goal asks for can be hierarchy h. */
static bool is_beaten(const struct optimise *o, const struct optimise_goal *goal,
                      const struct candidate *candidate, uint32_t h, double best_j)
{
    double own[FRONT_AXES], other[FRONT_AXES];
    struct hierarchy_bound least = candidate[h].least;
    least.energy_j *= OPTIMISE_SLACK;
    if (goal->every)
        return false;
    if (!has_front(goal) || isinf(least.energy_j))
        return least.energy_j > best_j || isinf(least.energy_j);
    place_of(o, h, &least, own);
    for (uint32_t i = 0; i < o->all->n; i++) {
        place_of(o, i, &candidate[i].least, other);
        if (candidate[i].priced && pareto_compare(other, own, goal->front, FRONT_AXES) < 0)
            return true;
    }
    return false;
}

/* The problems of a goal by what is still known least of them. */
struct share {
    double share_j;
    uint32_t p;
};

static int compare_shares(const void *a, const void *b)
{
    const struct share *one = a, *two = b;
    return one->share_j > two->share_j ? -1 : one->share_j < two->share_j ? 1 : one->p < two->p ? -1 : 1;
}

/* The next few problems of a hierarchy that have no price, those with most energy first. */
static uint32_t next_problems(const struct optimise *o, const struct optimise_goal *goal, uint32_t h,
                              const double *bound_j, struct share *share, uint32_t *next)
{
    const uint32_t most = AT_A_TIME_LEAST + o->n_problem / AT_A_TIME_OF < AT_A_TIME_MOST
                              ? AT_A_TIME_LEAST + o->n_problem / AT_A_TIME_OF
                              : AT_A_TIME_MOST;
    uint32_t n = 0;
    for (uint32_t p = 0; p < o->n_problem; p++)
        if (goal->weight[p] > 0 && !o->price[(size_t)h * o->n_problem + p].known)
            share[n++] = (struct share){bound_j[p], p};
    qsort(share, n, sizeof *share, compare_shares);
    n = n < most ? n : most;
    for (uint32_t i = 0; i < n; i++)
        next[i] = share[i].p;
    return n;
}

/* The hierarchy with the largest innermost level of those that have the same others. What that level costs
 * is the same for all mappings and stands apart, so its optima bound the others best. */
static uint32_t widest(const struct optimise *o, uint32_t h)
{
    const struct hierarchy *one = &o->all->list[h];
    uint32_t found = h;
    for (uint32_t i = 0; i < o->all->n; i++) {
        const struct hierarchy *other = &o->all->list[i];
        bool same = other->group == one->group &&
                    other->arch.level[0].size_word > o->all->list[found].arch.level[0].size_word;
        for (uint32_t v = 1; v < one->arch.n_level && same; v++)
            same = other->arch.level[v].size_word == one->arch.level[v].size_word;
        found = same ? i : found;
    }
    return found;
}

struct find {
    const struct optimise_goal *goal;
    struct candidate *candidate; /* (hierarchies) */
    double best_j;
    size_t point_before, task_before; /* of the progress */
    double *bound_j;                  /* (n_problem) */
    struct share *share;              /* (n_problem) */
};

/* Search these problems on hierarchy h, those that have no price. */
static enum dse_status solve_on(struct optimise *o, struct find *f, uint32_t h, const uint32_t *next,
                                uint32_t n, uint32_t *n_solved, struct dse_error *err)
{
    const struct hierarchy *one = &o->all->list[h];
    struct candidate *own = &f->candidate[h];
    struct layer_price *price = &o->price[(size_t)h * o->n_problem];
    uint32_t open[AT_A_TIME_MOST];
    *n_solved = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!price[next[i]].known)
            open[(*n_solved)++] = next[i];
    if (!own->row)
        DSE_TRY(optimise_add_row(o, &one->arch, one->group, &own->row, err));
    return optimise_search(o, open, *n_solved, own->row, price, false, err);
}

/* Of a hierarchy that is decided all layers are done, whether they were searched or not. */
static void tell_progress(const struct optimise *o, const struct find *f)
{
    size_t n_decided = 0, n_task = 0;
    for (uint32_t h = 0; h < o->all->n && o->progress; h++) {
        const bool decided = f->candidate[h].priced || f->candidate[h].passed;
        n_decided += decided;
        for (uint32_t p = 0; p < o->n_problem; p++)
            n_task += f->goal->weight[p] > 0 && (decided || o->price[(size_t)h * o->n_problem + p].known);
    }
    if (!o->progress)
        return;
    atomic_store(&o->progress->point_done, f->point_before + n_decided);
    atomic_store(&o->progress->task_done, f->task_before + n_task);
}

/* Price hierarchy h, layer by layer, until it is beaten. */
static enum dse_status price(struct optimise *o, struct find *f, uint32_t h, struct dse_error *err)
{
    struct candidate *own = &f->candidate[h];
    const uint32_t wide = widest(o, h);
    uint32_t next[AT_A_TIME_MOST], n, n_solved;
    if (own->priced || own->passed)
        return DSE_OK;
    for (;;) {
        DSE_TRY(optimise_bound(o, f->goal, h, f->bound_j, &own->least, err));
        own->passed = is_beaten(o, f->goal, f->candidate, h, f->best_j);
        n = next_problems(o, f->goal, h, f->bound_j, f->share, next);
        if (own->passed || n == 0)
            break;
        DSE_TRY(solve_on(o, f, wide, next, n, &n_solved, err));
        if (n_solved == 0)
            DSE_TRY(solve_on(o, f, h, next, n, &n_solved, err));
        tell_progress(o, f);
    }
    own->priced = n == 0;
    if (own->priced)
        f->best_j = fmin(f->best_j, own->least.energy_j);
    tell_progress(o, f);
    return DSE_OK;
}

/* The hierarchy with the same choices but that of axis a, or -1. */
static int64_t beside(const struct hierarchies *all, uint32_t h, uint32_t a, int by)
{
    struct hierarchy wanted = all->list[h];
    wanted.choice[a] = (uint8_t)(wanted.choice[a] + by);
    for (uint32_t i = 0; i < all->n; i++)
        if (memcmp(all->list[i].choice, wanted.choice, sizeof wanted.choice) == 0)
            return i;
    return -1;
}

/* A good one to begin with: from the middle of the list to better neighbours. */
static enum dse_status descend(struct optimise *o, struct find *f, struct dse_error *err)
{
    int64_t at = o->all->n / 2, next = at;
    DSE_TRY(price(o, f, (uint32_t)at, err));
    do {
        at = next;
        for (uint32_t a = 0; a < o->all->n_axis; a++)
            for (int by = -1; by <= 1; by += 2) {
                const int64_t h = beside(o->all, (uint32_t)at, a, by);
                const double before = f->best_j;
                if (h < 0)
                    continue;
                DSE_TRY(price(o, f, (uint32_t)h, err));
                next = f->best_j < before ? h : next;
            }
    } while (next != at);
    return DSE_OK;
}

/* The open hierarchy with the lowest bound, of equals the one with most bytes; -1: none. */
static int64_t lowest(const struct optimise *o, const struct candidate *candidate)
{
    int64_t found = -1;
    for (uint32_t h = 0; h < o->all->n; h++) {
        if (candidate[h].priced || candidate[h].passed)
            continue;
        if (found < 0 || candidate[h].least.energy_j < candidate[found].least.energy_j ||
            (candidate[h].least.energy_j == candidate[found].least.energy_j &&
             o->all->list[h].onchip_byte > o->all->list[found].onchip_byte))
            found = h;
    }
    return found;
}

static enum dse_status find(struct optimise *o, struct find *f, struct dse_error *err)
{
    DSE_TRY(optimise_relaxed(o, f->goal, err));
    DSE_TRY(descend(o, f, err));
    for (int64_t h; (h = lowest(o, f->candidate)) >= 0;) {
        struct candidate *next = &f->candidate[h];
        if (next->n_search == o->n_search) {
            DSE_TRY(price(o, f, (uint32_t)h, err));
            continue;
        }
        DSE_TRY(optimise_bound(o, f->goal, (uint32_t)h, NULL, &next->least, err));
        next->n_search = o->n_search;
    }
    return DSE_OK;
}

static enum dse_status answer_of(const struct optimise *o, const struct optimise_goal *goal,
                                 const struct candidate *candidate, struct optimise_answer *answer,
                                 struct dse_error *err)
{
    double *place = calloc((size_t)o->all->n * FRONT_AXES, sizeof *place);
    answer->front = calloc(o->all->n, sizeof *answer->front);
    if (!place || !answer->front) {
        free(place);
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u hierarchies", o->all->n);
    }
    answer->best = -1;
    answer->energy_j = INFINITY;
    for (uint32_t h = 0; h < o->all->n; h++) {
        const struct hierarchy_bound nothing = {INFINITY, INFINITY}, *least = &candidate[h].least;
        place_of(o, h, candidate[h].priced ? least : &nothing, &place[(size_t)h * FRONT_AXES]);
        answer->n_priced += candidate[h].priced;
        if (candidate[h].priced && least->energy_j < answer->energy_j) {
            answer->energy_j = least->energy_j;
            answer->best = (int32_t)h;
        }
    }
    enum dse_status status = DSE_OK;
    if (has_front(goal))
        status = pareto_front(place, o->all->n, goal->front, FRONT_AXES, PARETO_APART, answer->front,
                              &answer->n_front, err);
    free(place);
    return status;
}

enum dse_status optimise_find(struct optimise *o, const struct optimise_goal *goal,
                              struct optimise_answer *answer, struct dse_error *err)
{
    struct find f = {.goal = goal,
                     .candidate = calloc(o->all->n, sizeof *f.candidate),
                     .best_j = INFINITY,
                     .point_before = o->progress ? atomic_load(&o->progress->point_done) : 0,
                     .task_before = o->progress ? atomic_load(&o->progress->task_done) : 0,
                     .bound_j = calloc(o->n_problem, sizeof *f.bound_j),
                     .share = calloc(o->n_problem, sizeof *f.share)};
    enum dse_status status = DSE_OK;
    memset(answer, 0, sizeof *answer);
    if (!f.candidate || !f.bound_j || !f.share)
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for %u hierarchies", o->all->n);
    if (status == DSE_OK)
        status = find(o, &f, err);
    if (status == DSE_OK)
        status = answer_of(o, goal, f.candidate, answer, err);
    free(f.candidate);
    free(f.bound_j);
    free(f.share);
    return status;
}
