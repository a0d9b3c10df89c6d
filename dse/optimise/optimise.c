/* Best first: the hierarchy with the lowest bound is priced next, its proved optima bound the smaller ones
 * (energy_cuts.h), until no bound is below the best. Of each group, the hierarchies with the same levels, a
 * machine that none of them is better than is solved first. */
#include "dse/optimise/optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dse/optimise/dataflow_schedule.h"
#include "dse/optimise/energy_cuts.h"
#include "results/front/pareto_front.h"

/* Bounds are sums and products of many numbers; energies that close count as equal. */
static const double slack = 1 - 1e-9;

/* Layers of a hierarchy are searched so many at a time, whatever the number of threads. */
enum { AT_A_TIME_LEAST = 2, AT_A_TIME_OF = 16, AT_A_TIME_MOST = 16 };

/* The optima of one machine. */
struct cut_row {
    uint32_t group;
    struct architecture arch;
    bool *known;                             /* (n_problem) */
    double *least_j, *fixed_j, *innermost_j; /* (n_problem) */
};

struct optimise_cuts {
    uint32_t n, capacity;
    struct cut_row **row;                   /* (n) */
    bool *any_dataflow[1 << SIZE_AXIS_MAX]; /* [group](n_problem) the dataflow has no mapping of this layer */
    struct cut_row *root[1 << SIZE_AXIS_MAX];
};

/* ---------------------------------------- searches */

static enum dse_status search(const struct optimise *o, const struct architecture *arch, uint32_t p,
                              bool any_dataflow, struct arena *arena, struct solve_result *result,
                              struct dse_error *err)
{
    struct solve_settings settings = *o->settings;
    struct yaml_doc doc = {0};
    struct text_buffer text;
    enum dse_status status = DSE_OK;
    text_init(&text);
    if (o->dataflow && !any_dataflow && dataflow_schedule(o->dataflow, o->problem[p], arch, &text)) {
        status = text_check(&text, "a schedule", err);
        if (status == DSE_OK)
            status = yaml_parse(&doc, "the dataflow", text.data, text.length, err);
        settings.doc = &doc;
        settings.constraints = doc.root;
    }
    if (status == DSE_OK)
        status = solve_task(&settings, o->problem[p], arch, o->cancel, arena, result);
    if (status == DSE_OK && result->outcome != RESULT_OK && result->outcome != RESULT_INFEASIBLE)
        status = dse_fail(err, DSE_BAD_INPUT, "%.60s on %.60s: %s", o->problem[p]->name, arch->name,
                          result->reason);
    yaml_doc_free(&doc);
    text_free(&text);
    return status;
}

/* Whether the innermost level serves every operand whatever the mapping. */
static bool innermost_is_fixed(const struct architecture *arch)
{
    return arch->mac.capacity == 0;
}

static void note_cut(const struct solve_result *result, struct cut_row *row, uint32_t p)
{
    const struct engine_result *found = &result->found;
    row->known[p] = true;
    row->least_j[p] = found->feasible ? found->bound : INFINITY;
    row->fixed_j[p] = found->feasible ? found->evaluation.energy_mac_j : 0;
    row->innermost_j[p] =
        found->feasible && innermost_is_fixed(&row->arch) ? found->evaluation.level_energy_j[0] : 0;
}

/* Problem p on the machine of a row, and into it; `price` NULL: it is a relaxed one. */
static enum dse_status solve_one(struct optimise *o, struct cut_row *row, uint32_t p,
                                 struct layer_price *price, struct dse_error *err)
{
    struct arena arena;
    struct solve_result *result = malloc(sizeof *result);
    bool *any = &o->cuts->any_dataflow[row->group][p];
    if (!result)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a search");
    arena_init(&arena);
    enum dse_status status = search(o, &row->arch, p, *any, &arena, result, err);
    if (status == DSE_OK && !price && !result->found.feasible && o->dataflow && !*any) {
        *any = true; /* not even on the relaxed machine: it takes any dataflow on all */
        arena_reset(&arena);
        status = search(o, &row->arch, p, true, &arena, result, err);
    }
    if (status == DSE_OK)
        note_cut(result, row, p);
    if (status == DSE_OK && price)
        *price =
            (struct layer_price){true, result->found.feasible ? result->found.evaluation.energy_j : INFINITY,
                                 result->found.evaluation.latency_cycle};
    if (status == DSE_OK && result->found.feasible && result->found.stop != STOP_OPTIMAL) {
#pragma omp atomic write
        o->unproved = true;
    }
    arena_free(&arena);
    free(result);
    return status;
}

/* These problems (n) on a machine, by all threads. */
static enum dse_status solve_some(struct optimise *o, const uint32_t *problem, uint32_t n,
                                  struct cut_row *row, struct layer_price *price, struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    const int most = (int)n;
#pragma omp parallel for schedule(dynamic, 1) num_threads(o->n_thread)
    for (int i = 0; i < most; i++) {
        const uint32_t p = problem[i];
        struct dse_error own = {0};
        enum dse_status last = solve_one(o, row, p, price ? &price[p] : NULL, &own);
        if (last != DSE_OK) {
#pragma omp critical
            {
                if (status == DSE_OK)
                    *err = own;
                status = last;
            }
        }
    }
    o->n_search += n;
    o->n_relaxed += price ? 0 : n;
    return status;
}

/* ---------------------------------------- cuts */

static void free_row(struct cut_row *row)
{
    if (row) {
        free(row->known);
        free(row->least_j);
        free(row->fixed_j);
        free(row->innermost_j);
    }
    free(row);
}

/* A new row for a machine, without any optimum yet. */
static enum dse_status add_row(struct optimise *o, const struct architecture *arch, uint32_t group,
                               struct cut_row **out, struct dse_error *err)
{
    struct optimise_cuts *cuts = o->cuts;
    struct cut_row *row = calloc(1, sizeof *row);
    if (cuts->n == cuts->capacity && row) {
        const uint32_t larger = cuts->capacity ? 2 * cuts->capacity : 64;
        struct cut_row **moved = realloc(cuts->row, larger * sizeof(*moved));
        cuts->row = moved ? moved : cuts->row;
        cuts->capacity = moved ? larger : cuts->capacity;
    }
    if (row) {
        row->group = group;
        row->arch = *arch;
        row->known = calloc(o->n_problem, sizeof *row->known);
        row->least_j = calloc(o->n_problem, sizeof *row->least_j);
        row->fixed_j = calloc(o->n_problem, sizeof *row->fixed_j);
        row->innermost_j = calloc(o->n_problem, sizeof *row->innermost_j);
    }
    if (!row || cuts->n == cuts->capacity || !row->known || !row->least_j || !row->fixed_j ||
        !row->innermost_j) {
        free_row(row);
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the bounds of hierarchies");
    }
    cuts->row[cuts->n++] = *out = row;
    return DSE_OK;
}

static enum dse_status solve_root(struct optimise *o, const struct optimise_goal *goal, struct cut_row *root,
                                  struct dse_error *err)
{
    uint32_t n = 0, *open = calloc(o->n_problem, sizeof *open);
    if (!open)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u layers", o->n_problem);
    for (uint32_t p = 0; p < o->n_problem; p++)
        if (goal->weight[p] > 0 && !root->known[p])
            open[n++] = p;
    enum dse_status status = solve_some(o, open, n, root, NULL, err);
    free(open);
    return status;
}

/* The relaxed machine of each group, for the problems of the goal. */
static enum dse_status solve_roots(struct optimise *o, const struct optimise_goal *goal,
                                   struct dse_error *err)
{
    for (uint32_t i = 0; i < o->all->n; i++) {
        const uint32_t group = o->all->list[i].group;
        struct optimise_cuts *cuts = o->cuts;
        struct architecture relaxed;
        if (!cuts->any_dataflow[group])
            cuts->any_dataflow[group] = calloc(o->n_problem, sizeof(bool));
        if (!cuts->any_dataflow[group])
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u layers", o->n_problem);
        hierarchies_relax(o->all, group, &relaxed);
        if (!cuts->root[group])
            DSE_TRY(add_row(o, &relaxed, group, &cuts->root[group], err));
        DSE_TRY(solve_root(o, goal, cuts->root[group], err));
    }
    return DSE_OK;
}

/* A lower bound of problem p's energy on a hierarchy, by the root and the last cuts that hold it; `holds` (n
 * cuts). */
static double bound_one(const struct optimise *o, uint32_t h, uint32_t p, const bool *holds)
{
    const struct layer_price *price = &o->price[(size_t)h * o->n_problem + p];
    struct energy_cut cut[ENERGY_CUT_MAX];
    uint32_t n = 0;
    if (price->known)
        return price->energy_j;
    for (uint32_t i = o->cuts->n; i-- > 0;) {
        const struct cut_row *row = o->cuts->row[i];
        const bool is_root = row == o->cuts->root[row->group];
        if (holds[i] && row->known[p] && (is_root || n < ENERGY_CUT_MAX - 1))
            cut[n++] = (struct energy_cut){&row->arch, row->least_j[p], row->fixed_j[p], row->innermost_j[p]};
    }
    return n ? energy_cuts_bound(&o->all->list[h].arch, cut, n) : 0;
}

/* The sum, and each one's share[p] (n_problem; may be NULL). */
static enum dse_status bound_all(const struct optimise *o, const struct optimise_goal *goal, uint32_t h,
                                 double *share, double *bound_j, struct dse_error *err)
{
    const struct hierarchy *one = &o->all->list[h];
    bool *holds = calloc(o->cuts->n + 1, sizeof *holds);
    double sum = 0;
    if (!holds)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the bounds of hierarchies");
    for (uint32_t i = 0; i < o->cuts->n; i++)
        holds[i] = o->cuts->row[i]->group == one->group && machine_holds(&o->cuts->row[i]->arch, &one->arch);
    for (uint32_t p = 0; p < o->n_problem; p++) {
        const double own = goal->weight[p] > 0 ? goal->weight[p] * bound_one(o, h, p, holds) : 0;
        sum += own;
        if (share)
            share[p] = own;
    }
    *bound_j = sum;
    free(holds);
    return DSE_OK;
}

/* ---------------------------------------- hierarchies */

/* One hierarchy during the search. */
struct candidate {
    double energy_j;   /* a bound until it is priced */
    uint64_t n_search; /* searches that the bound knows */
    bool priced, passed;
    struct cut_row *row; /* of its own optima */
};

enum { FRONT_AXES = 2 };
static const int front_direction[FRONT_AXES] = {-1, -1};

static void place_of(const struct optimise *o, uint32_t h, double energy_j, double *place)
{
    place[0] = energy_j;
    place[1] = o->all->list[h].onchip_byte;
}

/* Nothing that the goal asks for can be hierarchy h. */
static bool is_beaten(const struct optimise *o, const struct optimise_goal *goal,
                      const struct candidate *candidate, uint32_t h, double best_j)
{
    double own[FRONT_AXES], other[FRONT_AXES];
    const double bound_j = candidate[h].energy_j * slack;
    if (goal->every)
        return false;
    if (!goal->front || isinf(bound_j))
        return bound_j > best_j || isinf(bound_j);
    place_of(o, h, bound_j, own);
    for (uint32_t i = 0; i < o->all->n; i++) {
        place_of(o, i, candidate[i].energy_j, other);
        if (candidate[i].priced && pareto_dominates(other, own, front_direction, FRONT_AXES))
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
    double *bound_j;     /* (n_problem) */
    struct share *share; /* (n_problem) */
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
        DSE_TRY(add_row(o, &one->arch, one->group, &own->row, err));
    return solve_some(o, open, *n_solved, own->row, price, err);
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
        DSE_TRY(bound_all(o, f->goal, h, f->bound_j, &own->energy_j, err));
        own->passed = is_beaten(o, f->goal, f->candidate, h, f->best_j);
        n = next_problems(o, f->goal, h, f->bound_j, f->share, next);
        if (own->passed || n == 0)
            break;
        DSE_TRY(solve_on(o, f, wide, next, n, &n_solved, err));
        if (n_solved == 0)
            DSE_TRY(solve_on(o, f, h, next, n, &n_solved, err));
    }
    own->priced = n == 0;
    if (own->priced)
        f->best_j = fmin(f->best_j, own->energy_j);
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
        if (found < 0 || candidate[h].energy_j < candidate[found].energy_j ||
            (candidate[h].energy_j == candidate[found].energy_j &&
             o->all->list[h].onchip_byte > o->all->list[found].onchip_byte))
            found = h;
    }
    return found;
}

static enum dse_status find(struct optimise *o, struct find *f, struct dse_error *err)
{
    DSE_TRY(solve_roots(o, f->goal, err));
    DSE_TRY(descend(o, f, err));
    for (int64_t h; (h = lowest(o, f->candidate)) >= 0;) {
        struct candidate *next = &f->candidate[h];
        if (next->n_search == o->n_search) {
            DSE_TRY(price(o, f, (uint32_t)h, err));
            continue;
        }
        DSE_TRY(bound_all(o, f->goal, (uint32_t)h, NULL, &next->energy_j, err));
        next->n_search = o->n_search;
    }
    return DSE_OK;
}

static enum dse_status answer_of(const struct optimise *o, const struct optimise_goal *goal,
                                 const struct candidate *candidate, struct optimise_answer *answer,
                                 struct dse_error *err)
{
    double *place = calloc((size_t)o->all->n * FRONT_AXES, sizeof *place);
    answer->on_front = calloc(o->all->n, sizeof *answer->on_front);
    if (!place || !answer->on_front) {
        free(place);
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u hierarchies", o->all->n);
    }
    answer->best = -1;
    answer->energy_j = INFINITY;
    for (uint32_t h = 0; h < o->all->n; h++) {
        place_of(o, h, candidate[h].priced ? candidate[h].energy_j : INFINITY,
                 &place[(size_t)h * FRONT_AXES]);
        answer->n_priced += candidate[h].priced;
        if (candidate[h].priced && candidate[h].energy_j < answer->energy_j) {
            answer->energy_j = candidate[h].energy_j;
            answer->best = (int32_t)h;
        }
    }
    if (goal->front)
        pareto_front(place, o->all->n, front_direction, FRONT_AXES, answer->on_front);
    free(place);
    return DSE_OK;
}

enum dse_status optimise_find(struct optimise *o, const struct optimise_goal *goal,
                              struct optimise_answer *answer, struct dse_error *err)
{
    struct find f = {goal, calloc(o->all->n, sizeof *f.candidate), INFINITY,
                     calloc(o->n_problem, sizeof *f.bound_j), calloc(o->n_problem, sizeof *f.share)};
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

enum dse_status optimise_map(const struct optimise *o, uint32_t hierarchy, uint32_t p, struct arena *arena,
                             struct solve_result *result, struct dse_error *err)
{
    const struct hierarchy *one = &o->all->list[hierarchy];
    return search(o, &one->arch, p, o->cuts->any_dataflow[one->group][p], arena, result, err);
}

enum dse_status optimise_begin(struct optimise *o, struct dse_error *err)
{
    o->price = calloc((size_t)o->all->n * o->n_problem, sizeof *o->price);
    o->cuts = calloc(1, sizeof *o->cuts);
    o->n_search = o->n_relaxed = 0;
    o->unproved = false;
    return o->price && o->cuts ? DSE_OK
                               : dse_fail(err, DSE_NO_MEMORY, "out of memory for %u hierarchies", o->all->n);
}

void optimise_free(struct optimise *o)
{
    for (uint32_t i = 0; o->cuts && i < o->cuts->n; i++)
        free_row(o->cuts->row[i]);
    for (uint32_t g = 0; o->cuts && g < 1u << SIZE_AXIS_MAX; g++)
        free(o->cuts->any_dataflow[g]);
    if (o->cuts)
        free(o->cuts->row);
    free(o->cuts);
    free(o->price);
    o->cuts = NULL;
    o->price = NULL;
}
