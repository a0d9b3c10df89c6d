/* The default rules: every tile has its own range of samples, channels, rows and columns. */
#include "engines/soma/notation/tile_plan.h"

enum outcome { CUT, CONFLICT, EMPTY, NO_MEMORY };

/* A group while its tiles are found. */
struct cutter {
    struct soma_plan *plan;
    struct arena *arena;
    uint32_t flc, start, stop; /* positions of its layers in the computing order */
    uint32_t bad_layer;
};

static uint32_t extent_of(const struct soma_plan *plan, const struct layer *layer, int dim)
{
    const uint32_t extent[SOMA_N_DIM] = {plan->context->batch, layer->k, layer->p, layer->q};
    return extent[dim];
}

static void set_whole(struct soma_layer_plan *layer, int dim, uint32_t extent)
{
    layer->axis[dim] = SOMA_ONE;
    layer->whole[dim] = (struct soma_range){0, extent};
    layer->range[dim] = &layer->whole[dim];
}

static struct soma_range *room_for(const struct cutter *cutter, struct soma_layer_plan *layer, int dim)
{
    uint32_t n = cutter->plan->grid[cutter->flc].part[layer->axis[dim]];
    struct soma_range *range =
        n == 1 ? &layer->whole[dim] : arena_alloc_unset(cutter->arena, n, sizeof *range);
    layer->range[dim] = range;
    return range;
}

/* ---- outputs ---- */

static enum outcome cut_output(const struct cutter *cutter, uint32_t l)
{
    static const uint8_t axis[SOMA_N_DIM] = {SOMA_SAMPLES, SOMA_ONE, SOMA_ROWS, SOMA_COLUMNS};
    struct soma_layer_plan *layer = &cutter->plan->layer[l];
    const struct soma_grid *grid = &cutter->plan->grid[cutter->flc];
    for (int d = 0; d < SOMA_N_DIM; d++) {
        uint32_t n = grid->part[axis[d]];
        uint32_t extent = extent_of(cutter->plan, &cutter->plan->graph->network->layer[l], d);
        layer->axis[d] = n > 1 ? axis[d] : SOMA_ONE;
        struct soma_range *range = room_for(cutter, layer, d);
        if (range == NULL)
            return NO_MEMORY;
        for (uint32_t i = 0; i < n; i++)
            range[i] = soma_piece(extent, n, i);
    }
    return CUT;
}

/* ---- the rest ---- */

/* A dimension that follows one axis for one consumer and another one for the next has no range per axis; only
 * transposes make such. */
static bool find_axes(const struct soma_plan *plan, uint32_t l, bool all[SOMA_N_DIM])
{
    struct soma_layer_plan *layer = &plan->layer[l];
    bool conflict[SOMA_N_DIM] = {false};
    for (int d = 0; d < SOMA_N_DIM; d++) {
        layer->axis[d] = SOMA_ONE;
        all[d] = false;
    }
    for (uint32_t u = plan->graph->first_use[l]; u < plan->graph->first_use[l + 1]; u++) {
        const struct soma_operand *operand = &plan->graph->operand[plan->graph->use[u]];
        const struct soma_layer_plan *consumer = &plan->layer[operand->layer];
        if (consumer->flc != layer->flc)
            continue;
        for (int d = 0; d < SOMA_N_DIM; d++) {
            uint8_t axis = operand->from[d] == SOMA_N_DIM ? SOMA_ONE : consumer->axis[operand->from[d]];
            all[d] |= operand->from[d] == SOMA_N_DIM;
            conflict[d] |= layer->axis[d] != SOMA_ONE && axis != SOMA_ONE && axis != layer->axis[d];
            layer->axis[d] = axis != SOMA_ONE ? axis : layer->axis[d];
        }
    }
    for (int d = 0; d < SOMA_N_DIM; d++)
        if (conflict[d] && !all[d])
            return false;
    return true;
}

/* What all consumers in the group need in dimension `dim`, piece by piece. */
static void unite(const struct cutter *cutter, uint32_t l, int dim, struct soma_range *range)
{
    const struct soma_plan *plan = cutter->plan;
    const struct soma_graph *graph = plan->graph;
    const struct soma_layer_plan *layer = &plan->layer[l];
    uint32_t n = plan->grid[cutter->flc].part[layer->axis[dim]];
    for (uint32_t i = 0; i < n; i++)
        range[i] = (struct soma_range){UINT32_MAX, 0};
    for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++) {
        const struct soma_operand *operand = &graph->operand[graph->use[u]];
        const struct soma_layer_plan *consumer = &plan->layer[operand->layer];
        if (consumer->flc != layer->flc)
            continue;
        const struct soma_range *of = consumer->range[operand->from[dim]];
        uint32_t step = consumer->axis[operand->from[dim]] != SOMA_ONE;
        soma_unite_needs(graph->network, operand, (enum soma_dim)dim, of, step, n, range);
    }
}

/* Someone outside the group reads the layer, so its tiles together must be all of it: what lies between two
 * tiles goes to the first of them. */
static void close_gaps(struct soma_range *range, uint32_t n, uint32_t extent)
{
    range[0].begin = 0;
    for (uint32_t i = n - 1; i > 0; i--)
        if (range[i].begin < range[i - 1].begin)
            range[i - 1].begin = range[i].begin;
    for (uint32_t i = 0; i + 1 < n; i++) {
        if (range[i].end < range[i + 1].begin)
            range[i].end = range[i + 1].begin;
        if (range[i + 1].end < range[i].end)
            range[i + 1].end = range[i].end;
    }
    range[n - 1].end = extent;
}

/* Boxes along an axis are together a box when only one of their dimensions follows it. */
static void make_complete(const struct cutter *cutter, uint32_t l, struct soma_range *range[SOMA_N_DIM])
{
    struct soma_layer_plan *layer = &cutter->plan->layer[l];
    bool followed[SOMA_N_AXIS] = {false};
    for (int d = SOMA_K; d < SOMA_N_DIM; d++) {
        uint32_t extent = extent_of(cutter->plan, &cutter->plan->graph->network->layer[l], d);
        uint8_t axis = layer->axis[d];
        if (axis == SOMA_ONE || followed[axis])
            set_whole(layer, d, extent);
        else
            close_gaps(range[d], cutter->plan->grid[cutter->flc].part[axis], extent);
        followed[axis] = true;
    }
}

/* A layer of several groups of channels computes whole ones. */
static void round_to_groups(const struct layer *layer, struct soma_range *range, uint32_t n)
{
    uint32_t k = layer->k / layer->groups;
    for (uint32_t i = 0; i < n; i++)
        if (range[i].end > range[i].begin)
            range[i] = (struct soma_range){range[i].begin / k * k, (range[i].end + k - 1) / k * k};
}

static enum outcome cut_inner(struct cutter *cutter, uint32_t l)
{
    struct soma_plan *plan = cutter->plan;
    const struct layer *of = &plan->graph->network->layer[l];
    struct soma_layer_plan *layer = &plan->layer[l];
    const uint32_t *part = plan->grid[cutter->flc].part;
    bool all[SOMA_N_DIM];
    struct soma_range *range[SOMA_N_DIM];
    cutter->bad_layer = l;
    if (!find_axes(plan, l, all))
        return CONFLICT;
    for (int d = 0; d < SOMA_N_DIM; d++) {
        range[d] = &layer->whole[d];
        if (all[d]) {
            set_whole(layer, d, extent_of(plan, of, d));
            continue;
        }
        range[d] = room_for(cutter, layer, d);
        if (range[d] == NULL)
            return NO_MEMORY;
        unite(cutter, l, d, range[d]);
    }
    if (of->groups > 1)
        round_to_groups(of, range[SOMA_K], part[layer->axis[SOMA_K]]);
    if (layer->outside)
        make_complete(cutter, l, range);
    for (int d = 0; d < SOMA_N_DIM; d++)
        for (uint32_t i = 0; i < part[layer->axis[d]]; i++)
            if (layer->range[d][i].end <= layer->range[d][i].begin)
                return EMPTY;
    return CUT;
}

/* ---- groups ---- */

static struct soma_outputs outputs_of(struct cutter *cutter)
{
    const struct soma_plan *plan = cutter->plan;
    struct soma_outputs outputs = {0, 0, UINT32_MAX, UINT32_MAX};
    for (uint32_t at = cutter->start; at < cutter->stop; at++) {
        uint32_t l = plan->lfa->order[at];
        const struct layer *layer = &plan->graph->network->layer[l];
        if (plan->layer[l].inside)
            continue;
        if ((uint64_t)layer->p * layer->q > (uint64_t)outputs.h * outputs.w) {
            outputs.h = layer->p;
            outputs.w = layer->q;
        }
        if (layer->p < outputs.least_h || layer->q < outputs.least_w)
            cutter->bad_layer = l;
        outputs.least_h = layer->p < outputs.least_h ? layer->p : outputs.least_h;
        outputs.least_w = layer->q < outputs.least_w ? layer->q : outputs.least_w;
    }
    return outputs;
}

static enum outcome cut_group(struct cutter *cutter)
{
    for (uint32_t at = cutter->stop; at > cutter->start; at--) {
        uint32_t l = cutter->plan->lfa->order[at - 1];
        enum outcome outcome = cutter->plan->layer[l].inside ? cut_inner(cutter, l) : cut_output(cutter, l);
        if (outcome != CUT)
            return outcome;
    }
    return CUT;
}

/* Rows and columns are cut, or only rows, or only columns, whichever is first without a conflict. */
static enum outcome cut_somehow(struct cutter *cutter, enum soma_fault *fault)
{
    struct soma_plan *plan = cutter->plan;
    struct soma_outputs outputs = outputs_of(cutter);
    *fault = SOMA_TILING;
    for (int way = 0; way < 3; way++) {
        if (!soma_choose_grid(plan->context->batch, &outputs, plan->lfa->tiling[cutter->flc], way != 2,
                              way != 1, &plan->grid[cutter->flc])) {
            if (way == 0)
                return EMPTY;
            continue;
        }
        enum outcome outcome = cut_group(cutter);
        if (outcome == EMPTY)
            *fault = SOMA_EMPTY;
        if (outcome != CONFLICT)
            return outcome;
    }
    return EMPTY;
}

enum dse_status soma_plan_ranges(struct soma_plan *plan, struct arena *arena, struct soma_fault_info *fault,
                                 struct dse_error *err)
{
    const struct soma_lfa *lfa = plan->lfa;
    plan->grid = arena_alloc(arena, lfa->n_flc, sizeof(*plan->grid));
    DSE_TRY(arena_check(arena, "the grids of groups", err));
    for (uint32_t g = 0; g < lfa->n_flc; g++) {
        struct cutter cutter = {plan, arena, g, lfa->flc[g], soma_group_stop(lfa, g), 0};
        enum soma_fault what;
        switch (cut_somehow(&cutter, &what)) {
        case CUT:
            break;
        case NO_MEMORY:
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for the tiles of %u groups", lfa->n_flc);
        default:
            *fault = (struct soma_fault_info){what, cutter.bad_layer};
            return DSE_OK;
        }
    }
    return DSE_OK;
}
