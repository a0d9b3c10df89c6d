/* One individual per step: generation 0 is drawn, later ones are the elite and children; a child that
 * equals its parent is moved before it is priced. */
#include "engines/search/genetic.h"

#include <math.h>
#include <string.h>

enum { FIRST_POINT_TRIES = 1000, MUTATION_MAX = 8 };

struct genetic {
    const struct search_space *space;
    struct genetic_options options;
    struct random_stream stream;
    uint32_t generation;
    uint32_t n_born;   /* individuals of the generation in the making; generation 0 is drawn */
    uint32_t n_failed; /* draws in a row that gave nothing */
    unsigned char *old, *young, *spare; /* (n_population, point_byte) twice, and one point */
    double *old_cost, *young_cost;      /* (n_population) */
    uint32_t *rank;                     /* (n_population) of the old: the elite so far, then the others */
};

static void *point(const struct genetic *g, unsigned char *population, uint32_t i)
{
    return population + (size_t)i * g->space->point_byte;
}

enum dse_status genetic_new(const struct search_space *space, const struct genetic_options *options,
                            struct random_stream stream, struct arena *arena, struct genetic **out,
                            struct dse_error *err)
{
    if (options->n_elite >= options->n_population)
        return dse_fail(err, DSE_BAD_USAGE, "elite is %u, it must be less than the population of %u",
                        options->n_elite, options->n_population);
    struct genetic *g = arena_alloc(arena, 1, sizeof *g);
    if (g) {
        g->old = arena_alloc_unset(arena, options->n_population, space->point_byte);
        g->young = arena_alloc_unset(arena, options->n_population, space->point_byte);
        g->spare = arena_alloc(arena, 1, space->point_byte);
        g->old_cost = arena_alloc(arena, options->n_population, sizeof *g->old_cost);
        g->young_cost = arena_alloc(arena, options->n_population, sizeof *g->young_cost);
        g->rank = arena_alloc(arena, options->n_population, sizeof *g->rank);
    }
    DSE_TRY(arena_check(arena, "a population", err));
    g->space = space;
    g->options = *options;
    g->stream = stream;
    *out = g;
    return DSE_OK;
}

/* The best of some random members of the old generation. */
static uint32_t select_parent(struct genetic *g)
{
    uint32_t best = random_below(&g->stream, g->options.n_population);
    for (uint32_t i = 1; i < g->options.n_tournament; i++) {
        uint32_t other = random_below(&g->stream, g->options.n_population);
        if (g->old_cost[other] < g->old_cost[best])
            best = other;
    }
    return best;
}

/* To a neighbour, which lies in `spare` then. */
static bool step_aside(struct genetic *g, void *child)
{
    if (!g->space->neighbour(g->space->self, &g->stream, child, g->spare))
        return false;
    memcpy(child, g->spare, g->space->point_byte);
    return true;
}

/* To neighbours. A copy of one parent is always moved: pricing it again would tell nothing. */
static void move(struct genetic *g, void *child, bool crossed)
{
    bool moved = false;
    for (int i = 0; i < MUTATION_MAX; i++) {
        bool last = random_unit(&g->stream) >= g->options.mutation_chance;
        if (last && (crossed || moved))
            break;
        moved = step_aside(g, child) || moved;
        if (last)
            break;
    }
}

static void mutate_parts(struct genetic *g, void *child, bool crossed)
{
    const struct search_space *space = g->space;
    if (space->mutate(space->self, &g->stream, g->options.mutation_chance, child, g->spare))
        memcpy(child, g->spare, space->point_byte);
    else if (!crossed)
        (void)step_aside(g, child);
}

static void make_child(struct genetic *g, void *child)
{
    const struct search_space *space = g->space;
    uint32_t a = select_parent(g), b = select_parent(g);
    bool crossed = a != b && random_unit(&g->stream) < g->options.crossover_chance &&
                   space->crossover(space->self, &g->stream, point(g, g->old, a), point(g, g->old, b), child);
    if (!crossed)
        memcpy(child, point(g, g->old, a), space->point_byte);
    if (space->mutate)
        mutate_parts(g, child, crossed);
    else
        move(g, child, crossed);
}

/* The best of the old generation that is not in the young one yet goes there. One at a time, as a child is:
 * looking for all of a large elite at once would take a step longer than a limit of time may wait. */
static void keep_next_best(struct genetic *g)
{
    uint32_t *rank = g->rank, best = g->n_born;
    for (uint32_t i = g->n_born + 1; i < g->options.n_population; i++)
        if (g->old_cost[rank[i]] < g->old_cost[rank[best]])
            best = i;
    uint32_t chosen = rank[best];
    rank[best] = rank[g->n_born];
    rank[g->n_born] = chosen;
    memcpy(point(g, g->young, g->n_born), point(g, g->old, chosen), g->space->point_byte);
    g->young_cost[g->n_born++] = g->old_cost[chosen];
}

static void next_generation(struct genetic *g)
{
    unsigned char *population = g->old;
    double *cost = g->old_cost;
    g->old = g->young;
    g->old_cost = g->young_cost;
    g->young = population;
    g->young_cost = cost;
    g->generation++;
    g->n_born = 0;
    for (uint32_t i = 0; i < g->options.n_population; i++)
        g->rank[i] = i;
}

/* One individual; false when the space is over or gives no points. */
static bool give_birth(struct genetic *g)
{
    void *child = point(g, g->young, g->n_born);
    double cost = INFINITY;
    if (g->generation == 0) {
        if (!g->space->draw(g->space->self, &g->stream, child))
            return ++g->n_failed < FIRST_POINT_TRIES;
    } else {
        make_child(g, child);
    }
    enum search_outcome outcome = g->space->evaluate(g->space->self, child, &cost);
    if (outcome == SEARCH_OVER)
        return false;
    if (outcome == SEARCH_INFEASIBLE) {
        if (g->generation == 0)
            return ++g->n_failed < FIRST_POINT_TRIES;
        cost = INFINITY;
    }
    g->n_failed = 0;
    g->young_cost[g->n_born++] = cost;
    return true;
}

bool genetic_step(struct genetic *g, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (g->n_born == g->options.n_population) {
            if (g->generation == g->options.n_generation)
                return false;
            next_generation(g);
        }
        if (g->generation > 0 && g->n_born < g->options.n_elite)
            keep_next_best(g);
        else if (!give_birth(g))
            return false;
    }
    return true;
}
