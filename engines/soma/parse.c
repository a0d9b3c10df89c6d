/* Tiles and tensors of an LFA. */
#include "engines/soma/default_order.h"
#include "engines/soma/plan.h"

#define BYTE_MAX 9007199254740992.0 /* 2^53: the bytes of one tensor stay exact in a double */

struct maker {
    const struct soma_plan *plan;
    struct fused_schedule *schedule;
    struct soma_fault_info *fault;
    uint32_t n_read;
};

const char *soma_fault_text(enum soma_fault fault)
{
    switch (fault) {
    case SOMA_OK:
        return "valid";
    case SOMA_ORDER:
        return "the computing order is not every layer once, each behind its producers";
    case SOMA_GROUPS:
        return "groups do not start at ascending positions from 0, the first behind a DRAM cut, with a "
               "tiling "
               "number of at least 1";
    case SOMA_TILING:
        return "an output of a group cannot be cut into that many tiles";
    case SOMA_ALONE:
        return "a classifier is not a layer group of its own, together with the pools right before it";
    case SOMA_COST:
        return "the core array's scheduler has no mapping for a tile of it";
    }
    return "unknown fault";
}

/* Whether the operand comes from the DRAM: from a layer group before, or from outside. */
static bool is_loaded(const struct soma_plan *plan, const struct soma_operand *operand)
{
    return operand->source < 0 ||
           plan->layer[operand->source].layer_group != plan->layer[operand->layer].layer_group;
}

static uint32_t tile_position(const struct soma_layer_plan *layer, uint32_t tile)
{
    return layer->first + tile * layer->step;
}

static uint64_t byte_of(const struct soma_shape *shape)
{
    return (uint64_t)shape->b * shape->k * shape->h * shape->w;
}

static bool too_large(const struct soma_shape *shape)
{
    return (double)shape->b * shape->k * shape->h * shape->w > BYTE_MAX;
}

static struct soma_shape least(struct soma_shape a, uint32_t k, uint32_t h, uint32_t w)
{
    a.k = a.k < k ? a.k : k;
    a.h = a.h < h ? a.h : h;
    a.w = a.w < w ? a.w : w;
    return a;
}

/* ---- room ---- */

static enum dse_status count(struct maker *maker, struct dse_error *err)
{
    const struct soma_plan *plan = maker->plan;
    uint64_t n_tensor = 0, n_read = 0;
    for (uint32_t i = 0; i < plan->lfa->n_layer; i++) {
        uint32_t l = plan->lfa->order[i];
        const struct soma_layer_plan *layer = &plan->layer[l];
        uint64_t n_load = 0, n_weight = plan->graph->weight_byte[l] > 0;
        for (uint32_t o = plan->graph->first_operand[l]; o < plan->graph->first_operand[l + 1]; o++)
            n_load += is_loaded(plan, &plan->graph->operand[o]);
        n_tensor += (n_load + 1) * layer->n_tile + n_weight;
        n_read += (n_load + n_weight) * layer->n_tile;
        if (n_tensor > SOMA_TENSOR_MAX || n_read > SOMA_TENSOR_MAX)
            return dse_fail(err, DSE_LIMIT,
                            "a SoMa schedule of more than %d tensors; use smaller tiling numbers",
                            SOMA_TENSOR_MAX);
        if (too_large(&layer->tile))
            return dse_fail(err, DSE_LIMIT, "layer %s: a tile of more than 2^53 bytes; use a smaller batch",
                            plan->graph->network->layer[l].name);
    }
    maker->schedule->n_tile = plan->n_tile;
    maker->schedule->n_tensor = (uint32_t)n_tensor;
    maker->n_read = (uint32_t)n_read;
    return DSE_OK;
}

static enum dse_status make_room(struct maker *maker, struct arena *arena, struct dse_error *err)
{
    struct fused_schedule *s = maker->schedule;
    s->tile = arena_alloc(arena, s->n_tile, sizeof(*s->tile));
    s->n_read = arena_alloc(arena, s->n_tile, sizeof(*s->n_read));
    s->first_read = arena_alloc(arena, s->n_tile, sizeof(*s->first_read));
    s->tensor = arena_alloc(arena, s->n_tensor, sizeof(*s->tensor));
    s->dram_order = arena_alloc(arena, s->n_tensor, sizeof(*s->dram_order));
    s->read = arena_alloc(arena, (size_t)maker->n_read + 1, sizeof(*s->read));
    if (s->tile == NULL || s->n_read == NULL || s->first_read == NULL || s->tensor == NULL ||
        s->dram_order == NULL || s->read == NULL)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a SoMa schedule of %u tiles and %u tensors",
                        s->n_tile, s->n_tensor);
    s->n_tensor = 0;
    maker->n_read = 0;
    return DSE_OK;
}

/* ---- tiles ---- */

struct core_tile soma_core_tile(const struct layer *layer, const struct soma_shape *tile)
{
    struct core_tile core = {
        .operation = layer_has_macs(layer) ? CORE_MATRIX : CORE_VECTOR,
        .b = tile->b,
        .k = tile->k,
        .c = layer->c,
        .h = tile->h,
        .w = tile->w,
        .r = layer->r,
        .s = layer->s,
        .stride_h = layer->stride[0],
        .stride_w = layer->stride[1],
        .groups = layer->groups,
        .group_k = layer->groups > 1 ? layer->k / layer->groups : 0, /* tile->k may be more than layer->k */
        .weights_from_layer = layer->weight_producer != LAYER_NO_PRODUCER,
        .operands = layer->n_operand,
    };
    return core;
}

static enum dse_status make_tiles(struct maker *maker, uint32_t l, struct dse_error *err)
{
    const struct soma_plan *plan = maker->plan;
    const struct core_scheduler *scheduler = &plan->context->core;
    const struct soma_layer_plan *layer = &plan->layer[l];
    struct core_tile core = soma_core_tile(&plan->graph->network->layer[l], &layer->tile);
    struct core_cost cost = {0};
    enum dse_status status = scheduler->cost(scheduler->self, &core, &cost, err);
    if (status == DSE_BAD_INPUT)
        *maker->fault = (struct soma_fault_info){SOMA_COST, l};
    if (status != DSE_OK)
        return status;
    for (uint32_t i = 0; i < layer->n_tile; i++)
        maker->schedule->tile[tile_position(layer, i)] = (struct fused_tile){
            .layer = l,
            .index = i,
            .layer_group = layer->layer_group,
            .flc = layer->flc,
            .b = layer->tile.b,
            .k = layer->tile.k,
            .h = layer->tile.h,
            .w = layer->tile.w,
            .cycle = cost.cycle,
            .energy_j = cost.energy_j,
        };
    return DSE_OK;
}

/* ---- tensors, with the double-buffer living durations ---- */

static uint32_t add_tensor(struct maker *maker, enum fused_tensor_kind kind, uint32_t layer, uint32_t index,
                           uint64_t byte)
{
    uint32_t id = maker->schedule->n_tensor++;
    maker->schedule->tensor[id] = (struct fused_tensor){
        .kind = kind,
        .layer = layer,
        .index = index,
        .source = INT32_MIN,
        .byte = byte,
        .dram_byte = kind == FUSED_LOCAL ? 0 : byte,
        .producer_tile = -1,
        .first_use = -1,
        .last_use = -1,
    };
    return id;
}

static void add_read(struct maker *maker, uint32_t tile, uint32_t tensor)
{
    maker->schedule->read[maker->schedule->first_read[tile] + maker->schedule->n_read[tile]++] = tensor;
}

/* Each tile loads what it needs just before it is computed; halos are loaded again. */
static enum dse_status make_loads(struct maker *maker, uint32_t l, uint32_t tile, struct dse_error *err)
{
    const struct soma_plan *plan = maker->plan;
    const struct soma_layer_plan *layer = &plan->layer[l];
    int32_t at = (int32_t)tile_position(layer, tile);
    for (uint32_t o = plan->graph->first_operand[l]; o < plan->graph->first_operand[l + 1]; o++) {
        const struct soma_operand *operand = &plan->graph->operand[o];
        if (!is_loaded(plan, operand))
            continue;
        struct soma_shape need = soma_need(plan->graph->network, operand, &layer->tile);
        need = least(need, operand->k, operand->h, operand->w);
        if (too_large(&need))
            return dse_fail(err, DSE_LIMIT, "layer %s: it loads more than 2^53 bytes; use a smaller batch",
                            plan->graph->network->layer[l].name);
        uint32_t id = add_tensor(maker, FUSED_IFMAP, l, tile, byte_of(&need));
        struct fused_tensor *tensor = &maker->schedule->tensor[id];
        tensor->source = operand->source;
        tensor->start = at - 1;
        tensor->end = at + 1;
        tensor->first_use = tensor->last_use = at;
        add_read(maker, (uint32_t)at, id);
    }
    return DSE_OK;
}

/* All tiles of the layer share its weights. */
static void make_weights(struct maker *maker, uint32_t l)
{
    const struct soma_layer_plan *layer = &maker->plan->layer[l];
    uint32_t id = add_tensor(maker, FUSED_WEIGHT, l, 0, maker->plan->graph->weight_byte[l]);
    struct fused_tensor *tensor = &maker->schedule->tensor[id];
    tensor->first_use = (int32_t)layer->first;
    tensor->last_use = (int32_t)tile_position(layer, layer->n_tile - 1);
    tensor->start = tensor->first_use - 1;
    tensor->end = tensor->last_use + 1;
    for (uint32_t i = 0; i < layer->n_tile; i++)
        add_read(maker, tile_position(layer, i), id);
}

static void note_use(struct fused_tensor *tensor, uint32_t first, uint32_t last, uint32_t end)
{
    if (tensor->first_use < 0 || (int32_t)first < tensor->first_use)
        tensor->first_use = (int32_t)first;
    if ((int32_t)last > tensor->last_use)
        tensor->last_use = (int32_t)last;
    if ((int32_t)end > tensor->end)
        tensor->end = (int32_t)end;
}

/* A reader in the same group takes the tile of its own index. One in a later group of the same layer group waits with its first
 * tile for all of the producer's, and keeps them until its last; only the producer's last tile counts as read that long. */
static bool note_uses(const struct soma_plan *plan, uint32_t l, uint32_t tile, struct fused_tensor *tensor)
{
    const struct soma_layer_plan *layer = &plan->layer[l];
    const struct soma_graph *graph = plan->graph;
    bool stored = graph->first_use[l] == graph->first_use[l + 1];
    for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++) {
        const struct soma_layer_plan *reader = &plan->layer[graph->operand[graph->use[u]].layer];
        if (reader->layer_group != layer->layer_group) {
            stored = true;
        } else if (reader->flc == layer->flc) {
            uint32_t at = tile_position(reader, tile);
            note_use(tensor, at, at, at + 1);
        } else {
            uint32_t last = tile_position(reader, reader->n_tile - 1);
            note_use(tensor, reader->first, tile + 1 == layer->n_tile ? last : reader->first, last + 1);
        }
    }
    return stored;
}

/* An output tile that is stored has one tile's time for it, none behind the last tile of its layer group. */
static void make_output(struct maker *maker, uint32_t l, uint32_t tile)
{
    const struct soma_plan *plan = maker->plan;
    const struct soma_layer_plan *layer = &plan->layer[l];
    uint32_t at = tile_position(layer, tile);
    uint32_t id = add_tensor(maker, FUSED_LOCAL, l, tile, byte_of(&layer->tile));
    struct fused_tensor *tensor = &maker->schedule->tensor[id];
    tensor->producer_tile = (int32_t)at;
    tensor->start = (int32_t)at;
    tensor->end = (int32_t)at + 1;
    if (note_uses(plan, l, tile, tensor)) {
        tensor->kind = FUSED_OFMAP;
        tensor->dram_byte = tensor->byte;
        if (at + 1 < plan->group_end[layer->flc] && tensor->end < (int32_t)at + 2)
            tensor->end = (int32_t)at + 2;
    }
}

static enum dse_status make_layer(struct maker *maker, uint32_t l, struct dse_error *err)
{
    const struct soma_plan *plan = maker->plan;
    const struct soma_layer_plan *layer = &plan->layer[l];
    uint32_t n_read = plan->graph->weight_byte[l] > 0;
    for (uint32_t o = plan->graph->first_operand[l]; o < plan->graph->first_operand[l + 1]; o++)
        n_read += is_loaded(plan, &plan->graph->operand[o]);
    DSE_TRY(make_tiles(maker, l, err));
    for (uint32_t i = 0; i < layer->n_tile; i++, maker->n_read += n_read) {
        maker->schedule->first_read[tile_position(layer, i)] = maker->n_read;
        DSE_TRY(make_loads(maker, l, i, err));
    }
    if (plan->graph->weight_byte[l] > 0)
        make_weights(maker, l);
    for (uint32_t i = 0; i < layer->n_tile; i++)
        make_output(maker, l, i);
    return DSE_OK;
}

static enum dse_status parse(const struct soma_context *context, const struct soma_lfa *lfa, bool part,
                             struct arena *arena, struct fused_schedule *schedule,
                             struct soma_fault_info *fault, struct dse_error *err)
{
    struct soma_graph graph;
    struct soma_plan plan = {.context = context, .graph = context->graph, .lfa = lfa, .part = part};
    struct maker maker = {.plan = &plan, .schedule = schedule, .fault = fault};

    *schedule = (struct fused_schedule){0};
    *fault = (struct soma_fault_info){SOMA_OK, 0};
    if (!context->compat)
        return dse_fail(err, DSE_BAD_USAGE,
                        "SoMa parser: only compat rules are implemented so far; set compat (--compat)");
    if (context->batch == 0)
        return dse_fail(err, DSE_BAD_USAGE, "SoMa parser: the batch is 0; it must be at least 1");
    if (plan.graph == NULL) {
        DSE_TRY(soma_graph_init(context->network, arena, &graph, err));
        plan.graph = &graph;
    }
    DSE_TRY(soma_plan_positions(&plan, arena, fault, err));
    if (fault->what != SOMA_OK || !soma_plan_tiles(&plan, fault))
        return DSE_OK;
    DSE_TRY(count(&maker, err));
    DSE_TRY(make_room(&maker, arena, err));
    for (uint32_t i = 0; i < lfa->n_layer; i++) {
        enum dse_status status = make_layer(&maker, lfa->order[i], err);
        if (fault->what == SOMA_COST) { /* such a scheme does not work; others may */
            *schedule = (struct fused_schedule){0};
            return DSE_OK;
        }
        if (status != DSE_OK)
            return status;
    }
    return soma_default_order(schedule, arena, err);
}

enum dse_status soma_parse(const struct soma_context *context, const struct soma_lfa *lfa,
                           struct arena *arena, struct fused_schedule *schedule,
                           struct soma_fault_info *fault, struct dse_error *err)
{
    return parse(context, lfa, false, arena, schedule, fault, err);
}

enum dse_status soma_parse_part(const struct soma_context *context, const struct soma_lfa *part,
                                struct arena *arena, struct fused_schedule *schedule,
                                struct soma_fault_info *fault, struct dse_error *err)
{
    return parse(context, part, true, arena, schedule, fault, err);
}
