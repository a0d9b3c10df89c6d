/* Numbers the choices of the whole space and of its narrow part, and descends in both in turn: where levels
 * of one tensor each lie side by side good mappings are found sooner in the narrow part, some only in the
 * whole. What is nearest to the end of a descent is improved by the moves of greedy descent, priced by the
 * relaxed model too. */
#include "engines/gradient/gradient_starts.h"

#include <stdlib.h>
#include <string.h>

#include "engines/driver/price_memo.h"
#include "engines/mapspace/mapspace_descent.h"
#include "engines/mapspace/mapspace_narrow.h"

/* In the end the time is nearly the largest of all. */
static const struct relaxed_terms nearly_exact = {.sharpness = 6};

/* The orders of one level: each leaves another tensor in place as long as it can. */
struct stationary {
    uint32_t n;
    uint8_t order[PROBLEM_TENSOR_MAX][PROBLEM_DIM_MAX]; /* (n, n_dim) innermost first */
};

/* The space, or its narrow part. */
struct part {
    const struct mapspace *space;
    struct relaxed *model;
    struct stationary stationary[ARCH_LEVEL_MAX]; /* (n_level) */
    double n_choice;
    uint32_t n_made, n_max; /* descents */
};

struct gradient_starts {
    const struct problem *problem;
    const struct architecture *arch;
    struct gradient_setting setting;
    uint32_t n_part;
    struct part part[2];
    uint32_t n_made, n_refined, n;
    bool refining, sorted;
    struct descent descent;
    struct gradient_start *start; /* (n) of (descents) */
};

/* ---------------------------------------- choices */

static bool moves(const struct tensor *tensor, uint32_t d)
{
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        for (uint32_t i = 0; i < tensor->rank[r].n_term; i++)
            if (tensor->rank[r].term[i].dim == d)
                return true;
    return false;
}

/* Loops that leave tensor t in place first, behind those whose place is fixed. */
static void add_order(struct part *part, const struct problem *problem, uint32_t l, uint32_t t)
{
    struct stationary *list = &part->stationary[l];
    uint8_t all[PROBLEM_DIM_MAX], *order = list->order[list->n];
    uint32_t n = mapspace_fixed_order(part->space, l, all), first = n;
    memcpy(order, all, n);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = first; i < problem->n_dim; i++)
            if (moves(&problem->tensor[t], all[i]) == (pass == 1))
                order[n++] = all[i];
    for (uint32_t i = 0; i < list->n; i++)
        if (memcmp(list->order[i], order, problem->n_dim) == 0)
            return;
    list->n++;
}

/* At a level without free temporal loops, or with nothing inside it that could stay, one order will do. */
static void list_choices(struct part *part, const struct problem *problem)
{
    uint32_t n, inside = 0;
    const struct mapspace_place *place = relaxed_places(part->model, &n);
    part->n_choice = 1;
    for (uint32_t s = n; s-- > 0;) {
        uint32_t l = place[s].level;
        if (place[s].spatial)
            continue;
        for (uint32_t t = 0; t < problem->n_tensor && place[s].open; t++)
            if (inside >> t & 1u)
                add_order(part, problem, l, t);
        if (part->stationary[l].n == 0)
            add_order(part, problem, l, 0);
        inside |= mapspace_keeps(part->space, l);
        part->n_choice *= part->stationary[l].n;
        part->n_choice *= (double)(1u << __builtin_popcount(mapspace_optional(part->space, l)));
    }
}

/* One of `n`: a digit of the choice's number, or random when that is below 0. */
static uint32_t digit(double *number, uint32_t n, struct random_stream *stream)
{
    if (*number < 0)
        return random_below(stream, n);
    uint64_t whole = (uint64_t)*number;
    *number = (double)(whole / n);
    return (uint32_t)(whole % n);
}

/* The keeps and orders of the next descent. */
static void choose(struct part *part, uint32_t n_level, struct random_stream *stream, struct mapping *mapping)
{
    bool all = part->n_choice <= part->n_max;
    double number = all ? (double)(part->n_made % (uint32_t)part->n_choice) : -1;
    part->n_made++;
    memset(mapping, 0, sizeof *mapping);
    for (uint32_t l = 0; l < n_level; l++) {
        struct mapping_level *level = &mapping->level[l];
        const struct stationary *list = &part->stationary[l];
        level->keep = (uint8_t)mapspace_keeps(part->space, l);
        for (uint32_t rest = mapspace_optional(part->space, l); rest; rest &= rest - 1)
            if (digit(&number, 2, stream) == 1)
                level->keep &= (uint8_t) ~(rest & (~rest + 1u));
        memcpy(level->temporal_order, list->order[digit(&number, list->n, stream)],
               sizeof level->temporal_order);
    }
}

/* ---------------------------------------- */

enum dse_status gradient_starts_new(const struct mapspace *space, const struct problem *problem,
                                    const struct architecture *arch, const struct objective *objective,
                                    const struct gradient_setting *setting, struct arena *arena,
                                    struct gradient_starts **out, struct dse_error *err)
{
    const struct mapspace *narrow;
    struct gradient_starts *starts = arena_alloc(arena, 1, sizeof *starts);
    struct gradient_start *start = arena_alloc_unset(arena, setting->descents, sizeof *start);
    DSE_TRY(arena_check(arena, "the starts of a search", err));
    DSE_TRY(mapspace_new_narrow(space, arena, &narrow, err));
    starts->problem = problem;
    starts->arch = arch;
    starts->setting = *setting;
    starts->start = start;
    starts->part[starts->n_part++].space = space;
    if (narrow)
        starts->part[starts->n_part++].space = narrow;
    for (uint32_t i = 0; i < starts->n_part; i++) {
        struct part *part = &starts->part[i];
        part->n_max = setting->descents / starts->n_part;
        DSE_TRY(relaxed_new(problem, arch, part->space, objective, arena, &part->model, err));
        list_choices(part, problem);
    }
    *out = starts;
    return DSE_OK;
}

/* What a mapping costs by the relaxed model (a descent_price). */
static bool guess(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    struct relaxed *model = self;
    relaxed_factors factor;
    relaxed_choose(model, mapping);
    relaxed_factors_of(model, mapping, factor);
    *cost = relaxed_value(model, factor, &nearly_exact, NULL);
    *tie = 0;
    return true;
}

/* A descent, and the mapping nearest to its end, unless that is known. */
static void descend(struct gradient_starts *starts, struct random_stream *stream)
{
    relaxed_factors factor;
    double tie;
    uint32_t i = starts->n_made++ % starts->n_part;
    struct part *part = &starts->part[i];
    struct gradient_start *start = &starts->start[starts->n];
    start->part = (uint8_t)i;
    choose(part, starts->arch->n_level, stream, &start->mapping);
    relaxed_choose(part->model, &start->mapping);
    relaxed_descend(part->model, starts->problem, &starts->setting.schedule, stream, factor);
    if (!mapspace_project(part->space, factor, &start->mapping))
        return;
    (void)guess(part->model, &start->mapping, &start->value, &tie);
    start->hash = price_memo_hash(&start->mapping, true);
    for (uint32_t k = 0; k < starts->n; k++)
        if (starts->start[k].hash == start->hash)
            return;
    starts->n++;
    starts->sorted = false;
}

/* A block of the greedy descent from the next mapping. */
static void refine(struct gradient_starts *starts, struct random_stream *stream)
{
    struct gradient_start *start = &starts->start[starts->n_refined];
    const struct part *part = &starts->part[start->part];
    if (!starts->refining)
        descent_start(&starts->descent, part->space, &start->mapping, start->value, 0, stream);
    starts->refining = descent_block(&starts->descent, guess, part->model);
    if (starts->refining)
        return;
    start->value = starts->descent.cost;
    start->hash = price_memo_hash(&start->mapping, true);
    starts->sorted = false;
    starts->n_refined++;
}

bool gradient_starts_step(struct gradient_starts *starts, struct random_stream *stream)
{
    uint32_t n;
    if (starts->n_made < starts->setting.descents) {
        descend(starts, stream);
        return true;
    }
    if (starts->n_refined == 0 && !starts->refining)
        (void)gradient_starts_best(starts, &n);
    if (starts->n_refined == starts->n || starts->n_refined == starts->setting.refined)
        return false;
    refine(starts, stream);
    return true;
}

static int by_value(const void *a, const void *b)
{
    const struct gradient_start *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

const struct gradient_start *gradient_starts_best(struct gradient_starts *starts, uint32_t *n)
{
    if (!starts->sorted)
        qsort(starts->start, starts->n, sizeof starts->start[0], by_value);
    starts->sorted = true;
    *n = starts->n;
    return starts->start;
}
