/* Bounds of branch and bound: what a level and those inside or outside it cost at least, for the tiles of its
 * list. */
#include <math.h>
#include <stdlib.h>

#include "engines/interstellar/proof.h"

/* Is all reuse of tensor t exclusive by order k at level v, so that the inner tile does not count? */
static bool is_free(const struct blocking_model *model, uint32_t v, uint32_t k, uint32_t t)
{
    return (v > 0 || model->mac_holds) && model->order[k].exclusive[t] &&
           !(model->reuse.tensor[t].reuse & ~model->order[k].exclusive[t] & model->loops);
}

/* What tensor t costs at level v with these iterations, and what is settled of the debts: with at least the
 * hops that no choice spares. */
static double tensor_energy(const struct blocking_space *space, uint32_t v, uint32_t t,
                            const struct blocking_debt *debt, const double *product)
{
    const struct blocking_model *model = &space->model;
    const double hops = blocking_has_array(model, v) ? space->array[v].least_hop[t] : 0;
    const double count = reuse_count(&model->reuse.tensor[t], model->rule, product);
    return blocking_visit_energy(model, v, t, count, isfinite(hops) ? hops : 0) +
           blocking_debt_energy(model, v, t, debt, product);
}

/* The part of order k's energy at level v that the node in front decides. */
double proof_outer_part(const struct blocking_space *space, uint32_t v, uint32_t k, const double *outer,
                        const struct blocking_debt *debt)
{
    const struct blocking_model *model = &space->model;
    double sum = 0;
    for (uint32_t t = 0; t < model->n_tensor; t++)
        if (is_free(model, v, k, t))
            sum += tensor_energy(space, v, t, debt, outer);
    return sum;
}

/* The part that the node behind decides, at least. */
static double inner_part(const struct blocking_space *space, uint32_t v, uint32_t k, const double *outer)
{
    const struct blocking_model *model = &space->model;
    const bool ordered = v > 0 || model->mac_holds;
    double sum = 0, product[PROBLEM_DIM_MAX];
    for (uint32_t t = 0; t < model->n_tensor; t++) {
        const uint32_t exclusive = ordered ? model->order[k].exclusive[t] : 0;
        if (is_free(model, v, k, t))
            continue;
        for (uint32_t d = 0; d < model->n_dim; d++)
            product[d] = exclusive >> d & 1 ? 1 : outer[d];
        sum += tensor_energy(space, v, t, &space->least_debt[v], product);
    }
    return sum;
}

/* At least the energy of level v and all inside it, from a node with these iterations outside and debts: that
 * of the best tile, wherever it comes from, and that of no more visits than the iterations outside make.
 * Those that level 0 serves MACs without operands of their own are other iterations. */
double proof_bound_from(const struct blocking_search *search, uint32_t v, const double *outer,
                        const struct blocking_debt *debt)
{
    const struct blocking_space *space = search->space;
    const struct proof_level *level = &search->proof->level[v];
    double least = INFINITY, visits = 0;
    for (uint32_t k = 0; k < level->n_order; k++)
        least = fmin(least, level->least_key[k] + proof_outer_part(space, v, k, outer, debt));
    if (v == 0 && !space->model.mac_holds)
        return least;
    for (uint32_t t = 0; t < space->model.n_tensor; t++)
        visits += tensor_energy(space, v, t, debt, outer);
    return fmax(least,
                visits + (v > 0 ? proof_bound_from(search, v - 1, outer, &space->least_debt[v - 1]) : 0));
}

/* Leave out tiles that no choice for the array below level v suits. */
static void drop_closed(const struct blocking_space *space, uint32_t v, struct node_list *list)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->n; i++)
        for (uint32_t w = 0; w < space->array[v].n_word; w++)
            if (space_open_choices(space, v, &list->node[i], w)) {
                list->node[kept++] = list->node[i];
                break;
            }
    list->n = kept;
}

enum dse_status proof_list_level(struct blocking_search *search, uint32_t v, struct dse_error *err)
{
    const struct blocking_space *space = search->space;
    struct proof_level *level = &search->proof->level[v];
    double outer[PROBLEM_DIM_MAX];
    level->n_order = v > 0 || space->model.mac_holds ? space->model.n_order : 1;
    DSE_TRY(node_list_fill(search, v, &level->list, err));
    if (blocking_has_array(&space->model, v))
        drop_closed(space, v, &level->list);
    level->key = malloc(((size_t)level->list.n * level->n_order + 1) * sizeof *level->key);
    level->ways =
        blocking_has_array(&space->model, v) ? calloc(level->list.n + 1, sizeof *level->ways) : NULL;
    level->inside = malloc(((size_t)level->list.n + 1) * sizeof *level->inside);
    if (!level->key || !level->inside || (blocking_has_array(&space->model, v) && !level->ways))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u blockings of a level", level->list.n);
    for (uint32_t k = 0; k < level->n_order; k++)
        level->least_key[k] = INFINITY;
    for (uint32_t i = 0; i < level->list.n && !blocking_search_is_over(search); i++) {
        space_served(space, v, &level->list.node[i], outer);
        const double inside = v > 0 ? proof_bound_from(search, v - 1, outer, &space->least_debt[v - 1]) : 0;
        level->inside[i] = inside;
        for (uint32_t k = 0; k < level->n_order; k++) {
            double key = inner_part(space, v, k, outer) + inside;
            level->key[(size_t)k * level->list.n + i] = key;
            level->least_key[k] = fmin(level->least_key[k], key);
        }
    }
    return DSE_OK;
}

/* The energy that levels further out than v cost at least. */
void proof_bound_outside(struct blocking_search *search)
{
    struct blocking_proof *proof = search->proof;
    const struct blocking_space *space = search->space;
    double outer[PROBLEM_DIM_MAX], sum = space->model.mac_j;
    for (uint32_t d = 0; d < space->model.n_dim; d++)
        outer[d] = 1;
    for (uint32_t v = space->model.n_level; v-- > 0;) {
        double least = INFINITY;
        proof->slack_j[v] = sum;
        for (uint32_t k = 0; k < space->model.n_order; k++)
            least = fmin(least, proof_outer_part(space, v, k, outer, &space->least_debt[v]) +
                                    inner_part(space, v, k, outer));
        sum += least;
    }
}
