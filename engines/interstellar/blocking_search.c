/* What the searches of blockings share. */
#include "engines/interstellar/blocking_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOKS = 64,          /* a look at the clock for so many questions */
    NODES_MOST = 2000000 /* some 300 MiB with what a proof keeps of each */
};

bool blocking_search_is_over(struct blocking_search *search)
{
    if (!search->over && search->n_look++ % LOOKS == 0)
        search->over =
            blocking_limits_met(&search->limits) ||
            (!search->found && !search->limits.answered && blocking_limits_time(search->limits.hurry_at_s));
    search->spent =
        search->spent || (search->limits.most_try > 0 && search->n_try >= search->limits.most_try);
    search->over = search->over || search->spent;
    return search->over;
}

static bool node_list_add(void *payload, const struct blocking_node *node)
{
    struct node_list *list = payload;
    list->too_many = list->n == NODES_MOST;
    if (list->too_many || blocking_search_is_over(list->search))
        return false;
    if (list->n == list->capacity) {
        uint32_t larger = list->capacity ? list->capacity * 2 : 256;
        struct blocking_node *moved =
            larger > list->capacity ? realloc(list->node, larger * sizeof *moved) : NULL;
        list->failed = !moved;
        if (!moved)
            return false;
        list->node = moved;
        list->capacity = larger;
    }
    list->node[list->n++] = *node;
    return true;
}

enum dse_status node_list_fill(struct blocking_search *search, uint32_t v, struct node_list *out,
                               struct dse_error *err)
{
    *out = (struct node_list){.search = search};
    (void)space_list(search->space, v, NULL, node_list_add, out);
    if (out->too_many)
        return dse_fail(
            err, DSE_LIMIT,
            "the space is too large for engine interstellar: more than %d blockings of one memory "
            "level; take descent",
            NODES_MOST);
    if (out->failed)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u blockings of a level", out->n);
    return DSE_OK;
}

void space_innermost(const struct blocking_space *space, const struct blocking_node *from,
                     struct blocking_node *out)
{
    const uint32_t y = layer_tile(&space->model, 0);
    for (uint32_t d = 0; d < space->model.n_dim; d++) {
        out->state[d] = 0;
        while (from && !step_leads(&space->path[d].layer[y], from->state[d], out->state[d]))
            out->state[d]++;
    }
}

void space_served(const struct blocking_space *space, uint32_t v, const struct blocking_node *node,
                  double *served)
{
    const uint32_t y = layer_tile(&space->model, v);
    space_outer(space, y, node, served);
    for (uint32_t d = 0; d < space->model.n_dim && v == 0 && !space->model.mac_holds; d++)
        served[d] = ceil((double)space->model.problem->bound[d] / space_state(space, y, d, node)->tile);
}

void space_iterations(const struct blocking_space *space, uint32_t v, const struct blocking_node *from,
                      const struct blocking_node *to, double *outside, double *inside)
{
    for (uint32_t d = 0; d < space->model.n_dim; d++)
        outside[d] = 1;
    if (from)
        space_outer(space, layer_tile(&space->model, v) - 1, from, outside);
    space_served(space, v, to, inside);
}

uint32_t space_level_energies(const struct blocking_space *space, uint32_t v, const double *outside,
                              const double *inside, const struct blocking_debt *debt, double *energy_j,
                              double count[][PROBLEM_TENSOR_MAX])
{
    const struct blocking_model *model = &space->model;
    const uint32_t n = v > 0 || model->mac_holds ? model->n_order : 1;
    for (uint32_t k = 0; k < n; k++) {
        blocking_counts(model, v, k, outside, inside, count[k]);
        energy_j[k] = 0;
        for (uint32_t t = 0; t < model->n_tensor; t++)
            energy_j[k] += blocking_visit_energy(model, v, t, count[k][t], 0);
        for (uint32_t t = 0; t < model->n_tensor && debt->n > 0; t++) {
            double product[PROBLEM_DIM_MAX];
            blocking_product(model, v, k, t, outside, inside, product);
            energy_j[k] += blocking_debt_energy(model, v, t, debt, product);
        }
    }
    return n;
}

enum dse_status blocking_search_step(struct blocking_search *search, struct dse_error *err)
{
    if (!search->walk && !search->proof) /* its space was not listed in time */
        return DSE_OK;
    return search->walk ? blocking_walk_step(search, err) : blocking_proof_step(search, err);
}

void blocking_search_free(struct blocking_search *search)
{
    blocking_walk_free(search->walk);
    blocking_proof_free(search->proof);
    search->walk = NULL;
    search->proof = NULL;
}
