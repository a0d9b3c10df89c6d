/* Which tiles an LFA has: positions, validity, shapes. */
#include "engines/soma/notation/tile_plan.h"

static bool fail(struct soma_fault_info *fault, enum soma_fault what, uint32_t layer)
{
    *fault = (struct soma_fault_info){what, layer};
    return false;
}

static bool check_groups(const struct soma_lfa *lfa, struct soma_fault_info *fault)
{
    if (lfa->n_flc == 0 || lfa->flc[0] != 0 || !lfa->dram_cut[0])
        return fail(fault, SOMA_GROUPS, 0);
    for (uint32_t g = 0; g < lfa->n_flc; g++)
        if (lfa->tiling[g] == 0 || lfa->flc[g] >= lfa->n_layer || (g > 0 && lfa->flc[g] <= lfa->flc[g - 1]))
            return fail(fault, SOMA_GROUPS, g);
    return true;
}

/* A permutation with every layer behind its sources. Layers not seen yet have n_tile 0. */
static bool check_order(const struct soma_plan *plan, struct soma_fault_info *fault)
{
    const struct soma_lfa *lfa = plan->lfa;
    uint32_t n_layer = plan->graph->network->n_layer;
    if (plan->part ? lfa->n_layer > n_layer : lfa->n_layer != n_layer)
        return fail(fault, SOMA_ORDER, 0);
    for (uint32_t i = 0; i < lfa->n_layer; i++) {
        uint32_t l = lfa->order[i];
        if (l >= n_layer || plan->layer[l].n_tile != 0)
            return fail(fault, SOMA_ORDER, l);
        if (plan->part) {
            plan->layer[l].n_tile = 1;
            continue;
        }
        for (uint32_t o = plan->graph->first_operand[l]; o < plan->graph->first_operand[l + 1]; o++) {
            int32_t source = plan->graph->operand[o].source;
            if (source >= 0 && plan->layer[source].n_tile == 0)
                return fail(fault, SOMA_ORDER, l);
        }
        plan->layer[l].n_tile = 1;
    }
    return true;
}

/* Compat: a classifier, with the pools right before it, is a layer group of its own. */
static bool check_alone(const struct soma_plan *plan, struct soma_fault_info *fault)
{
    const struct soma_lfa *lfa = plan->lfa;
    for (uint32_t g = 0, start = 0; g < lfa->n_flc; g++) {
        if (lfa->dram_cut[g])
            start = lfa->flc[g];
        uint32_t stop = soma_group_stop(lfa, g);
        bool cut_behind = g + 1 == lfa->n_flc || lfa->dram_cut[g + 1];
        for (uint32_t at = lfa->flc[g]; at < stop; at++) {
            if (!plan->graph->classifier[lfa->order[at]])
                continue;
            uint32_t first = at;
            while (first > 0 && plan->graph->network->layer[lfa->order[first - 1]].type == LAYER_POOL)
                first--;
            if (start != first || at + 1 != stop || !cut_behind)
                return fail(fault, SOMA_ALONE, lfa->order[at]);
        }
    }
    return true;
}

/* A block that is searched once is repeated as a whole. */
static bool check_blocks(const struct soma_plan *plan, struct soma_fault_info *fault)
{
    const struct soma_lfa *lfa = plan->lfa;
    const struct network_fold *fold = plan->graph->fold;
    for (uint32_t g = 0, first = 0; fold != NULL && g < lfa->n_flc; g++) {
        if (lfa->dram_cut[g])
            first = lfa->flc[g];
        for (uint32_t at = lfa->flc[g]; at < soma_group_stop(lfa, g); at++)
            if (fold->segment[lfa->order[at]] != fold->segment[lfa->order[first]])
                return fail(fault, SOMA_BLOCK, lfa->order[at]);
    }
    return true;
}

/* A map stays in the buffer for a layer of its own layer group: as an output, and as what that takes it
 * for. */
static bool check_apart(const struct soma_plan *plan, struct soma_fault_info *fault)
{
    const struct soma_graph *graph = plan->graph;
    for (uint32_t i = 0; graph->streams && i < plan->lfa->n_layer; i++) {
        uint32_t l = plan->lfa->order[i];
        for (uint32_t o = graph->first_operand[l]; o < graph->first_operand[l + 1]; o++) {
            const struct soma_operand *operand = &graph->operand[o];
            if (operand->source >= 0 &&
                plan->layer[operand->source].layer_group == plan->layer[l].layer_group &&
                (soma_streams(graph, TENSOR_OUTPUT) || soma_streams(graph, soma_operand_role(operand))))
                return fail(fault, SOMA_APART, l);
        }
    }
    return true;
}

/* Who reads what a layer makes. */
static void mark_readers(struct soma_plan *plan)
{
    const struct soma_graph *graph = plan->graph;
    for (uint32_t i = 0; i < plan->lfa->n_layer; i++) {
        uint32_t l = plan->lfa->order[i];
        struct soma_layer_plan *layer = &plan->layer[l];
        layer->outside = graph->first_use[l] == graph->first_use[l + 1];
        for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++)
            if (plan->layer[graph->operand[graph->use[u]].layer].flc == layer->flc)
                layer->inside = true;
            else
                layer->outside = true;
    }
}

static enum dse_status place(struct soma_plan *plan, struct dse_error *err)
{
    const struct soma_lfa *lfa = plan->lfa;
    uint64_t position = 0;
    for (uint32_t g = 0, layer_group = 0; g < lfa->n_flc; g++) {
        uint32_t step = soma_group_stop(lfa, g) - lfa->flc[g];
        layer_group += g > 0 && lfa->dram_cut[g];
        for (uint32_t i = 0; i < step; i++)
            plan->layer[lfa->order[lfa->flc[g] + i]] = (struct soma_layer_plan){
                .flc = g,
                .layer_group = layer_group,
                .first = (uint32_t)position + i,
                .step = step,
                .n_tile = lfa->tiling[g],
            };
        position += (uint64_t)step * lfa->tiling[g];
        if (position > SOMA_TILE_MAX)
            return dse_fail(err, DSE_LIMIT,
                            "a SoMa schedule of more than %d tiles; use smaller tiling numbers",
                            SOMA_TILE_MAX);
        plan->group_end[g] = (uint32_t)position;
    }
    for (uint32_t g = lfa->n_flc - 1; g > 0; g--)
        if (!lfa->dram_cut[g])
            plan->group_end[g - 1] = plan->group_end[g];
    plan->n_tile = (uint32_t)position;
    mark_readers(plan);
    return DSE_OK;
}

static const struct soma_layer_plan outside = {.flc = UINT32_MAX, .layer_group = UINT32_MAX};

struct soma_layer_plan *soma_plan_room(uint32_t n_layer, struct arena *arena)
{
    struct soma_layer_plan *room = arena_alloc(arena, n_layer, sizeof *room);
    for (uint32_t l = 0; room && l < n_layer; l++)
        room[l] = outside;
    return room;
}

void soma_plan_leave_room(const struct soma_plan *plan)
{
    for (uint32_t i = 0; i < plan->lfa->n_layer; i++)
        plan->layer[plan->lfa->order[i]] = outside;
}

enum dse_status soma_plan_positions(struct soma_plan *plan, struct arena *arena,
                                    struct soma_fault_info *fault, struct dse_error *err)
{
    *fault = (struct soma_fault_info){SOMA_OK, 0};
    if (!check_groups(plan->lfa, fault))
        return DSE_OK;
    if (!plan->layer)
        plan->layer = soma_plan_room(plan->graph->network->n_layer, arena);
    plan->group_end = arena_alloc(arena, plan->lfa->n_flc, sizeof(*plan->group_end));
    DSE_TRY(arena_check(arena, "a SoMa schedule", err));
    if (!check_order(plan, fault) || (plan->context->compat && !check_alone(plan, fault)) ||
        !check_blocks(plan, fault))
        return DSE_OK;
    DSE_TRY(place(plan, err));
    (void)check_apart(plan, fault);
    return DSE_OK;
}

/* ---- shapes ---- */

struct split_rule {
    bool may_split_h, may_split_w;
};

/* A transpose of something made in its own group needs all of what becomes, or was, channels. */
static struct split_rule group_rule(const struct soma_plan *plan, uint32_t start, uint32_t stop)
{
    struct split_rule rule = {true, true};
    for (uint32_t at = start; at < stop; at++) {
        uint32_t l = plan->lfa->order[at];
        const struct layer *layer = &plan->graph->network->layer[l];
        if (layer->type != LAYER_TRANSPOSE)
            continue;
        for (uint32_t o = plan->graph->first_operand[l]; o < plan->graph->first_operand[l + 1]; o++) {
            int32_t source = plan->graph->operand[o].source;
            if (source < 0 || plan->layer[source].flc != plan->layer[l].flc)
                continue;
            rule.may_split_h &= layer->permute[0] != 'H' && layer->permute[1] != 'C';
            rule.may_split_w &= layer->permute[0] != 'W' && layer->permute[2] != 'C';
        }
    }
    return rule;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The largest need of the layer's consumers in its group; false when it has none there. */
static bool needed_shape(const struct soma_plan *plan, uint32_t l, struct soma_shape *tile)
{
    bool found = false;
    *tile = (struct soma_shape){0};
    for (uint32_t u = plan->graph->first_use[l]; u < plan->graph->first_use[l + 1]; u++) {
        const struct soma_operand *operand = &plan->graph->operand[plan->graph->use[u]];
        const struct soma_layer_plan *consumer = &plan->layer[operand->layer];
        if (consumer->flc != plan->layer[l].flc)
            continue;
        struct soma_shape need = soma_need(plan->graph->network, operand, &consumer->tile);
        tile->b = larger(tile->b, need.b);
        tile->k = larger(tile->k, need.k);
        tile->h = larger(tile->h, need.h);
        tile->w = larger(tile->w, need.w);
        found = true;
    }
    return found;
}

bool soma_plan_tiles(struct soma_plan *plan, struct soma_fault_info *fault)
{
    const struct soma_lfa *lfa = plan->lfa;
    for (uint32_t g = 0; g < lfa->n_flc; g++) {
        uint32_t start = lfa->flc[g], stop = soma_group_stop(lfa, g);
        struct split_rule rule = group_rule(plan, start, stop);
        for (uint32_t at = stop; at > start; at--) {
            uint32_t l = lfa->order[at - 1];
            const struct layer *layer = &plan->graph->network->layer[l];
            struct soma_shape *tile = &plan->layer[l].tile;
            if (needed_shape(plan, l, tile))
                continue;
            tile->k = layer->k;
            if (!soma_split(plan->context->batch, layer->p, layer->q, lfa->tiling[g], rule.may_split_h,
                            rule.may_split_w, tile))
                return fail(fault, SOMA_TILING, l);
        }
    }
    return true;
}
