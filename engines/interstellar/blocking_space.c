/* The space of blockings: compiled from problem, machine and rules, listed layer by layer. */
#include "engines/interstellar/blocking_space.h"

#include <math.h>
#include <string.h>

/* The place of factor f among those of dimension d, which become one more if it is new. `kinds`: (n) those so
 * far. */
static uint16_t kind_of_factor(uint32_t *kinds, uint16_t *n, uint32_t f)
{
    uint16_t i = 0;
    while (i < *n && kinds[i] != f)
        i++;
    if (i == *n)
        kinds[(*n)++] = f;
    return i;
}

/* Where factor number `kind` of dimension d leads from each state, and which choices are open there. */
static void fill_steps(const struct blocking_space *space, uint32_t v, uint32_t d, const uint32_t *kinds,
                       struct blocking_array *array)
{
    const uint32_t y = layer_bank(&space->model, v);
    const struct loop_layer *from = &space->path[d].layer[y - 1], *to = &space->path[d].layer[y];
    for (uint32_t i = 0; i < from->n && !blocking_limits_met(space->model.limits); i++) {
        uint16_t *step = array->step[d] + (size_t)i * array->n_kind[d];
        for (uint32_t k = 0; k < array->n_kind[d]; k++)
            step[k] = BLOCKING_NO_STEP;
        for (uint32_t j = 0; j < to->n; j++) {
            const uint32_t factor = step_factor(&space->path[d], y, i, j);
            for (uint32_t k = 0; factor && k < array->n_kind[d]; k++)
                if (kinds[k] == factor)
                    step[k] = (uint16_t)j;
        }
        for (uint32_t c = 0; c < array->list.n; c++)
            if (step[array->kind[(size_t)c * space->model.n_dim + d]] != BLOCKING_NO_STEP)
                array->open[d][(size_t)i * array->n_word + c / 64] |= 1ull << c % 64;
    }
}

/* The iterations of a choice that index a tensor's words. */
static double shares_of(const struct blocking_box *box, const struct array_choice *choice)
{
    double shares = 1;
    for (uint32_t i = 0; i < box->begin[box->n_rank]; i++)
        shares *= choice->factor[box->dim[i]];
    return shares;
}

static enum dse_status index_array(const struct blocking_space *space, uint32_t v, struct arena *arena,
                                   struct blocking_array *array, struct dse_error *err)
{
    const uint32_t n_dim = space->model.n_dim, n = array->list.n;
    uint32_t *kinds = arena_alloc(arena, (size_t)n + 1, sizeof *kinds);
    array->kind = arena_alloc_unset(arena, (size_t)n * n_dim + 1, sizeof *array->kind);
    array->n_word = (n + 63) / 64;
    DSE_TRY(arena_check(arena, "the choices for an array", err));
    for (uint32_t t = 0; t < space->model.n_tensor; t++) {
        array->least_hop[t] = n ? INFINITY : 0;
        array->share[t] = arena_alloc_unset(arena, (size_t)n + 1, sizeof *array->share[t]);
        array->least_share[t] = arena_alloc_unset(arena, (size_t)array->n_word + 1, sizeof(float));
        DSE_TRY(arena_check(arena, "the choices for an array", err));
        for (uint32_t c = 0; c < n; c++) {
            const float share = (float)(1 / shares_of(&space->model.box[t], &array->list.choice[c]));
            float *least = &array->least_share[t][c / 64];
            array->least_hop[t] = fmin(array->least_hop[t], array->list.choice[c].hop[t]);
            array->share[t][c] = share;
            *least = c % 64 == 0 || share < *least ? share : *least;
        }
    }
    for (uint32_t d = 0; d < n_dim; d++) {
        const uint32_t n_state = space->path[d].layer[layer_tile(&space->model, v)].n;
        array->n_kind[d] = 0;
        for (uint32_t c = 0; c < n; c++)
            array->kind[(size_t)c * n_dim + d] =
                kind_of_factor(kinds, &array->n_kind[d], array->list.choice[c].factor[d]);
        array->step[d] = arena_alloc(arena, (size_t)n_state * array->n_kind[d] + 1, sizeof *array->step[d]);
        array->open[d] = arena_alloc(arena, (size_t)n_state * array->n_word + 1, sizeof *array->open[d]);
        DSE_TRY(arena_check(arena, "the choices for an array", err));
        fill_steps(space, v, d, kinds, array);
    }
    return DSE_OK;
}

/* Does the schedule file leave it open whether dimension d lies on an array too, or wider than it says? */
static bool may_share(const struct interstellar_hint *hint, const struct blocking_model *model, uint32_t d)
{
    bool listed = false, room = false;
    for (uint32_t i = 0; i < hint->n_partition_loop; i++)
        listed = listed || hint->partition_loop[i] == d;
    for (uint32_t v = 1; v < model->n_level; v++) {
        double product = 1;
        for (uint32_t e = 0; e < model->n_dim; e++)
            if (hint->loop[e].present && hint->loop[e].level + 1u == v)
                product *= hint->loop[e].partition;
        room = room || (double)model->level[v].side[0] * model->level[v].side[1] >= 2 * product;
    }
    return listed && room;
}

void space_debt(const struct blocking_space *space, uint32_t v, uint32_t c, const struct blocking_debt *in,
                struct blocking_debt *out)
{
    const bool has = blocking_has_array(&space->model, v);
    struct debt_array array;
    if (has)
        debt_array_of(&space->model, &space->array[v].list.choice[c], &array);
    blocking_debt_pass(&space->model, v, has ? &array : NULL, in, out);
}

/* What is owed in front of each level at least. */
static void bound_debts(struct blocking_space *space)
{
    for (uint32_t v = space->model.n_level - 1; v > 0 && space->model.owes; v--) {
        const bool has = blocking_has_array(&space->model, v) && space->array[v].list.n > 0;
        struct debt_array least;
        if (has)
            debt_array_least(&space->model, &space->array[v].list, &least);
        blocking_debt_pass(&space->model, v, has ? &least : NULL, &space->least_debt[v],
                           &space->least_debt[v - 1]);
    }
}

static uint32_t count_arrays(const struct blocking_model *model)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < model->n_level; v++)
        n += blocking_has_array(model, v);
    return n;
}

/* Instances in use at most, and whether they have to be told apart: levels between arrays have as many times
 * their bandwidth, and several arrays share the steps. */
static void bound_uses(struct blocking_space *space)
{
    const struct blocking_model *model = &space->model;
    double most = 1;
    bool limited = false, inside = false;
    for (uint32_t v = 0; v < model->n_level; v++) {
        double own = 1;
        inside = inside || (limited && blocking_has_array(model, v));
        limited = limited || model->level[v].limited;
        for (uint32_t c = 0; c < space->array[v].list.n; c++)
            own = fmax(own, space_use(space, &space->array[v].list.choice[c]));
        space->most_use[v] = most *= own;
    }
    space->counts_use = isfinite(space->most_cycle) && (inside || count_arrays(model) > 1);
}

enum dse_status blocking_space_build(const struct problem *problem, const struct architecture *arch,
                                     const struct interstellar_hint *hint,
                                     const struct blocking_settings *settings, struct arena *arena,
                                     struct blocking_space *out, struct dse_error *err)
{
    const struct blocking_model *model = &out->model;
    const struct blocking_rules rules = {settings->rule, settings->half_full,
                                         (hint && hint->present) || settings->pad > 1,
                                         settings->most_cycle > 0};
    struct array_rule rule = settings->array;
    blocking_model_compile(problem, arch, &rules, &out->model);
    out->model.limits = settings->limits;
    out->most_cycle = settings->most_cycle > 0 ? settings->most_cycle : INFINITY;
    if (count_arrays(model) == 1)
        rule.least_use = (double)problem_macs(problem) / out->most_cycle;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        const bool hinted = hint && hint->present;
        const struct loop_wish wish = {hinted ? &hint->loop[d] : NULL, !hinted || may_share(hint, model, d),
                                       settings->pad};
        DSE_TRY(loop_paths_build(model, d, &wish, arena, &out->path[d], err));
    }
    for (uint32_t v = 0; v < model->n_level; v++) {
        if (!blocking_has_array(model, v))
            continue;
        DSE_TRY(array_choices_list(model, out->path, v, hint, &rule, &out->array[v].list, err));
        if (blocking_limits_met(settings->limits))
            return DSE_OK;
        DSE_TRY(index_array(out, v, arena, &out->array[v], err));
    }
    bound_debts(out);
    bound_uses(out);
    return DSE_OK;
}

void blocking_space_free(struct blocking_space *space)
{
    for (uint32_t v = 0; v < ARCH_LEVEL_MAX; v++)
        array_choices_free(&space->array[v].list);
}

void space_outer(const struct blocking_space *space, uint32_t layer, const struct blocking_node *node,
                 double *outer)
{
    for (uint32_t d = 0; d < space->model.n_dim; d++)
        outer[d] = space_state(space, layer, d, node)->outer;
}

void space_tile_words(const struct blocking_space *space, uint32_t layer, const struct blocking_node *node,
                      double *words)
{
    uint32_t extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < space->model.n_dim; d++)
        extent[d] = space_state(space, layer, d, node)->tile;
    for (uint32_t t = 0; t < space->model.n_tensor; t++)
        words[t] = (double)blocking_tile_words(&space->model.box[t], extent, true);
}

bool space_choose(const struct blocking_space *space, uint32_t v, uint32_t c,
                  const struct blocking_node *from, struct blocking_node *to)
{
    const struct blocking_array *array = &space->array[v];
    const uint32_t n_dim = space->model.n_dim, y = layer_bank(&space->model, v);
    uint32_t extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < n_dim; d++) {
        const uint16_t kind = array->kind[(size_t)c * n_dim + d];
        to->state[d] = array->step[d][(size_t)from->state[d] * array->n_kind[d] + kind];
        if (to->state[d] == BLOCKING_NO_STEP)
            return false;
        extent[d] = space_state(space, y, d, to)->tile;
    }
    return v == 0 || blocking_fits(&space->model, v - 1, extent, 1, true);
}

bool space_take_banks(const struct blocking_space *space, uint32_t v, const struct blocking_node *node,
                      uint32_t *taken)
{
    uint32_t extent[PROBLEM_DIM_MAX];
    if (space->model.level[v].group == 0)
        return true;
    for (uint32_t d = 0; d < space->model.n_dim; d++)
        extent[d] = space_state(space, layer_tile(&space->model, v) - 1, d, node)->tile;
    return blocking_take_banks(&space->model, v, extent, taken);
}

/* A walk over the loops of one layer. */
struct listing {
    const struct blocking_space *space;
    uint32_t v, layer;
    double instances;
    bool least;
    const struct blocking_node *from;
    space_visit *visit;
    void *payload;
    struct blocking_node node;
    uint32_t extent[PROBLEM_DIM_MAX]; /* of loops not yet chosen: 1 */
};

/* Whether a step leads to state j of dimension d. */
static bool leads_to(const struct listing *listing, uint32_t d, uint32_t j)
{
    const struct loop_paths *path = &listing->space->path[d];
    if (listing->from)
        return step_leads(&path->layer[listing->layer], listing->from->state[d], j);
    for (uint32_t i = 0; i < path->layer[listing->layer - 1].n; i++)
        if (step_leads(&path->layer[listing->layer], i, j))
            return true;
    return false;
}

static bool list_from(struct listing *listing, uint32_t d)
{
    const struct blocking_space *space = listing->space;
    if (d == space->model.n_dim) {
        if (listing->v > 0 && !blocking_fits(&space->model, listing->v - 1, listing->extent,
                                             listing->instances, listing->least))
            return true;
        return listing->visit(listing->payload, &listing->node);
    }
    const struct loop_layer *layer = &space->path[d].layer[listing->layer];
    bool more = true;
    for (uint32_t j = 0; more && j < layer->n; j++) {
        if (!leads_to(listing, d, j))
            continue;
        listing->node.state[d] = (uint16_t)j;
        listing->extent[d] = layer->state[j].tile;
        if (layer->state[j].tile > 1 && listing->v > 0 &&
            !blocking_fits(&space->model, listing->v - 1, listing->extent, listing->instances, false))
            continue;
        more = list_from(listing, d + 1);
    }
    listing->extent[d] = 1;
    return more;
}

bool space_list(const struct blocking_space *space, uint32_t v, const struct blocking_node *from,
                space_visit *visit, void *payload)
{
    const uint32_t *side = space->model.level[v].side;
    struct listing listing = {.space = space,
                              .v = v,
                              .layer = layer_tile(&space->model, v),
                              .instances = (double)side[0] * side[1],
                              .least = !blocking_has_array(&space->model, v),
                              .from = from,
                              .visit = visit,
                              .payload = payload};
    for (uint32_t d = 0; d < space->model.n_dim; d++)
        listing.extent[d] = 1;
    return list_from(&listing, 0);
}

/* The spatial loops of the array below level v. */
static void write_array(const struct blocking_space *space, const struct array_choice *choice, bool only_y,
                        struct mapping_level *level)
{
    uint32_t at = 0, sides = 0, used = 0;
    level->split = (uint8_t)choice->n;
    level->further = 0;
    for (uint32_t i = 0; i < choice->n; i++) {
        if (choice->begins >> i & 1 && sides++ == 1)
            level->split = (uint8_t)at;
        else if (choice->begins >> i & 1 && sides > 2)
            level->further |= (uint16_t)(1u << at);
        level->spatial_order[at++] = choice->loop[i];
        used |= 1u << choice->loop[i];
    }
    for (uint32_t d = 0; d < space->model.n_dim; d++) {
        level->spatial[d] = choice->factor[d];
        if (!(used >> d & 1))
            level->spatial_order[at++] = (uint8_t)d;
    }
    if (sides <= 1)
        level->split = only_y ? 0 : (uint8_t)at;
}

void blocking_point_mapping(const struct blocking_space *space, const struct architecture *arch,
                            const struct blocking_point *point, struct mapping *out)
{
    const struct blocking_model *model = &space->model;
    mapping_init(out, model->problem, arch);
    for (uint32_t v = model->n_level; v-- > 0;) {
        struct mapping_level *level = &out->level[v];
        for (uint32_t d = 0; d < model->n_dim; d++) {
            const struct loop_state *here = space_state(space, layer_tile(model, v), d, &point->tile[v]);
            const bool last = v + 1 == model->n_level;
            level->temporal[d] =
                last ? here->outer
                     : here->outer /
                           space_state(space, layer_bank(model, v + 1), d, &point->bank[v + 1])->outer;
        }
        memcpy(level->temporal_order, model->order[point->order[v]].place, model->n_dim);
        if (blocking_has_array(model, v))
            write_array(space, &space->array[v].list.choice[point->choice[v]], model->level[v].only_y, level);
    }
}
