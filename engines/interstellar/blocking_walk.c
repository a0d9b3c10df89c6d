/* Enumeration: every blocking with every choice for the arrays, each with the best loop order of each level.
 * What breaks a memory's rule further out is not followed inwards. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/interstellar/blocking_search.h"

struct blocking_walk {
    struct node_list outermost;
    struct blocking_debt debt[ARCH_LEVEL_MAX];
    uint32_t next; /* of these */
};

enum { POINTS_AT_A_TIME = 4096 };

/* A place within the walk: level v is to be blocked; what lies further out is in `point`, costs outer_j. */
struct place {
    struct blocking_search *search;
    struct blocking_point point;
    uint32_t v;
    double outer_j;
    struct blocking_debt *debt;     /* [v] in front of level v */
    uint32_t banks[ARCH_GROUP_MAX]; /* taken by levels further out */
};

static bool enter(struct place *place);

/* A whole point is there. */
static bool finish_point(struct place *place)
{
    struct blocking_search *search = place->search;
    search->n_point++;
    if (place->outer_j < search->best_j) {
        search->best_j = place->outer_j;
        search->best = place->point;
        search->found = true;
    }
    return search->n_point < search->most_point && !blocking_search_is_over(search);
}

/* Onwards from behind the array of the place's level. */
static bool go_inwards(struct place *place, double energy_j)
{
    const double outer_j = place->outer_j;
    uint32_t banks[ARCH_GROUP_MAX];
    bool more = true;
    place->outer_j += energy_j;
    memcpy(banks, place->banks, sizeof banks);
    if (place->v == 0) {
        more = finish_point(place);
    } else {
        place->v--;
        if (space_take_banks(place->search->space, place->v, &place->point.bank[place->v + 1], place->banks))
            more = enter(place);
        place->v++;
    }
    memcpy(place->banks, banks, sizeof banks);
    place->outer_j = outer_j;
    return more;
}

/* Every choice for the array below the place's level, whose temporal loops end in `node`. */
static bool visit(void *payload, const struct blocking_node *node)
{
    struct place *place = payload;
    const struct blocking_space *space = place->search->space;
    const uint32_t v = place->v;
    const bool outermost = v + 1 == space->model.n_level;
    double energy_j[BLOCKING_ORDER_MAX], count[BLOCKING_ORDER_MAX][PROBLEM_TENSOR_MAX];
    double outside[PROBLEM_DIM_MAX], inside[PROBLEM_DIM_MAX];
    space_iterations(space, v, outermost ? NULL : &place->point.bank[v + 1], node, outside, inside);
    const uint32_t n_order =
        space_level_energies(space, v, outside, inside, &place->debt[v], energy_j, count);
    const struct blocking_array *array = &space->array[v];
    bool more = true;
    place->point.tile[v] = place->point.bank[v] = *node;
    for (uint32_t c = 0; more && c < (blocking_has_array(&space->model, v) ? array->list.n : 1); c++) {
        double best = INFINITY;
        if (blocking_has_array(&space->model, v) && !space_choose(space, v, c, node, &place->point.bank[v]))
            continue;
        for (uint32_t k = 0; k < n_order; k++) {
            double sum = energy_j[k];
            for (uint32_t t = 0; t < space->model.n_tensor && blocking_has_array(&space->model, v); t++)
                sum += space->model.level[v].hop_j[t] * count[k][t] * array->list.choice[c].hop[t];
            if (sum < best) {
                best = sum;
                place->point.order[v] = k;
            }
        }
        place->point.choice[v] = c;
        if (v > 0 && space->model.owes)
            space_debt(space, v, c, &place->debt[v], &place->debt[v - 1]);
        more = go_inwards(place, best);
    }
    return more;
}

/* Block the place's level in every way. */
static bool enter(struct place *place)
{
    const struct blocking_space *space = place->search->space;
    struct blocking_node last;
    if (place->v > 0 || blocking_has_array(&space->model, 0))
        return space_list(space, place->v, &place->point.bank[place->v + 1], visit, place);
    space_innermost(space, &place->point.bank[1], &last);
    return visit(place, &last);
}

enum dse_status blocking_enumerate(const struct blocking_space *space, struct blocking_search *out,
                                   struct dse_error *err)
{
    *out = (struct blocking_search){
        .space = space, .limits = out->limits, .best_j = INFINITY, .most_point = UINT64_MAX};
    out->walk = calloc(1, sizeof *out->walk);
    if (!out->walk)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a walk over blockings");
    return node_list_fill(out, space->model.n_level - 1, &out->walk->outermost, err);
}

enum dse_status blocking_walk_step(struct blocking_search *search, struct dse_error *err)
{
    struct blocking_walk *walk = search->walk;
    struct place place = {.search = search,
                          .v = search->space->model.n_level - 1,
                          .outer_j = search->space->model.mac_j,
                          .debt = walk->debt};
    const uint64_t enough = search->n_point + POINTS_AT_A_TIME;
    bool more = true;
    (void)err;
    for (uint32_t i = 0; more && i < 256 && walk->next < walk->outermost.n && search->n_point < enough; i++)
        more = visit(&place, &walk->outermost.node[walk->next++]);
    search->done = more && walk->next == walk->outermost.n && !search->over;
    if (search->done)
        search->bound_j = search->best_j;
    return DSE_OK;
}

void blocking_walk_free(struct blocking_walk *walk)
{
    if (walk)
        free(walk->outermost.node);
    free(walk);
}
