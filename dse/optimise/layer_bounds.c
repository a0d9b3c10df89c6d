/* What is known of layers on hierarchies before they are searched there: optima of machines that hold theirs,
 * of each group's relaxed one first. */
#include "dse/optimise/optimise_parts.h"

#include <stdlib.h>

#include "dse/optimise/energy_cuts.h"

static void free_row(struct cut_row *row)
{
    if (row) {
        free(row->known);
        free(row->timed);
        free(row->least_cycle);
        free(row->least_j);
        free(row->fixed_j);
        free(row->innermost_j);
    }
    free(row);
}

enum dse_status optimise_add_row(struct optimise *o, const struct architecture *arch, uint32_t group,
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
        row->timed = calloc(o->n_problem, sizeof *row->timed);
        row->least_cycle = calloc(o->n_problem, sizeof *row->least_cycle);
        row->least_j = calloc(o->n_problem, sizeof *row->least_j);
        row->fixed_j = calloc(o->n_problem, sizeof *row->fixed_j);
        row->innermost_j = calloc(o->n_problem, sizeof *row->innermost_j);
    }
    if (!row || cuts->n == cuts->capacity || !row->known || !row->timed || !row->least_cycle ||
        !row->least_j || !row->fixed_j || !row->innermost_j) {
        free_row(row);
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the bounds of hierarchies");
    }
    cuts->row[cuts->n++] = *out = row;
    return DSE_OK;
}

/* The problems of the goal on a relaxed machine that are not known of it yet: their energy, or their time. */
static enum dse_status solve_root(struct optimise *o, const struct optimise_goal *goal, struct cut_row *root,
                                  bool time, struct dse_error *err)
{
    const bool *known = time ? root->timed : root->known;
    uint32_t n = 0, *open = calloc(o->n_problem, sizeof *open);
    if (!open)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u layers", o->n_problem);
    for (uint32_t p = 0; p < o->n_problem; p++)
        if (goal->weight[p] > 0 && !known[p])
            open[n++] = p;
    enum dse_status status = optimise_search(o, open, n, root, NULL, time, err);
    free(open);
    return status;
}

enum dse_status optimise_relaxed(struct optimise *o, const struct optimise_goal *goal, struct dse_error *err)
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
            DSE_TRY(optimise_add_row(o, &relaxed, group, &cuts->root[group], err));
        DSE_TRY(solve_root(o, goal, cuts->root[group], false, err));
        if (goal->front[FRONT_LATENCY] != 0 && !goal->every)
            DSE_TRY(solve_root(o, goal, cuts->root[group], true, err));
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

enum dse_status optimise_bound(const struct optimise *o, const struct optimise_goal *goal, uint32_t h,
                               double *share, struct hierarchy_bound *bound, struct dse_error *err)
{
    const struct hierarchy *one = &o->all->list[h];
    const struct cut_row *root = o->cuts->root[one->group];
    bool *holds = calloc(o->cuts->n + 1, sizeof *holds);
    double cycles = 0;
    if (!holds)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the bounds of hierarchies");
    for (uint32_t i = 0; i < o->cuts->n; i++)
        holds[i] = o->cuts->row[i]->group == one->group && machine_holds(&o->cuts->row[i]->arch, &one->arch);
    bound->energy_j = 0;
    for (uint32_t p = 0; p < o->n_problem; p++) {
        const struct layer_price *price = &o->price[(size_t)h * o->n_problem + p];
        const double own = goal->weight[p] > 0 ? goal->weight[p] * bound_one(o, h, p, holds) : 0;
        bound->energy_j += own;
        if (goal->weight[p] > 0)
            cycles += goal->weight[p] * (price->known ? (double)price->latency_cycle : root->least_cycle[p]);
        if (share)
            share[p] = own;
    }
    bound->latency_s = cycles / one->arch.clock_hz;
    free(holds);
    return DSE_OK;
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
