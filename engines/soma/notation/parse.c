/* Tiles and tensors of an LFA. */
#include "engines/soma/notation/parse_private.h"

#include "base/clock.h"
#include "costmodel/fused/fused_rule.h"

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
    case SOMA_EMPTY:
        return "one of its tiles would be empty, since its readers need nothing of it there";
    case SOMA_BLOCK:
        return "its layer group is part of a repeated block and part of what is around it";
    case SOMA_COST:
        return "the core array's scheduler has no mapping for a tile of it";
    case SOMA_OVER:
        return "there was no time to make it";
    case SOMA_APART:
        return "it reads a map of its own layer group, which the buffer of this machine does not keep for it";
    }
    return "unknown fault";
}

bool soma_context_is_over(const struct soma_context *context)
{
    return (context->cancel && atomic_load_explicit(context->cancel, memory_order_relaxed)) ||
           (context->end_s > 0 && clock_wall_s() >= context->end_s);
}

bool soma_maker_goes_on(struct soma_maker *maker, uint32_t n)
{
    maker->n_made += n;
    if (soma_context_gives_up(maker->plan->context, maker->n_made))
        *maker->fault = (struct soma_fault_info){SOMA_OVER, 0};
    return maker->fault->what != SOMA_OVER;
}

/* Whether the operand comes from the DRAM: from a layer group before, or from outside. */
static bool is_loaded(const struct soma_plan *plan, const struct soma_operand *operand)
{
    return operand->source < 0 ||
           plan->layer[operand->source].layer_group != plan->layer[operand->layer].layer_group;
}

static uint64_t n_element(const struct soma_shape *shape)
{
    return (uint64_t)shape->b * shape->k * shape->h * shape->w;
}

/* ---- room ---- */

static enum dse_status count(struct soma_maker *maker, struct dse_error *err)
{
    const struct soma_plan *plan = maker->plan;
    uint64_t n_tensor = 0, n_read = 0;
    for (uint32_t i = 0; i < plan->lfa->n_layer; i++) {
        uint32_t l = plan->lfa->order[i];
        const struct soma_layer_plan *layer = &plan->layer[l];
        uint64_t n_load = 0, n_weight = plan->graph->weight_word[l] > 0;
        for (uint32_t o = plan->graph->first_operand[l]; o < plan->graph->first_operand[l + 1]; o++)
            n_load += is_loaded(plan, &plan->graph->operand[o]);
        bool each = soma_streams(plan->graph, TENSOR_WEIGHT); /* tile has its own transfer of the weights */
        n_tensor += (n_load + 1) * layer->n_tile + n_weight * (each ? layer->n_tile : 1);
        n_read += (n_load + n_weight) * layer->n_tile;
        if (n_tensor > SOMA_TENSOR_MAX || n_read > SOMA_TENSOR_MAX)
            return dse_fail(err, DSE_LIMIT,
                            "a SoMa schedule of more than %d tensors; use smaller tiling numbers",
                            SOMA_TENSOR_MAX);
    }
    maker->schedule->n_tile = plan->n_tile;
    maker->schedule->n_tensor = (uint32_t)n_tensor;
    maker->n_read = (uint32_t)n_read;
    return DSE_OK;
}

static enum dse_status make_room(struct soma_maker *maker, struct arena *arena, struct dse_error *err)
{
    struct fused_schedule *s = maker->schedule;
    s->tile = arena_alloc_unset(arena, s->n_tile, sizeof(*s->tile));
    s->n_read = arena_alloc(arena, s->n_tile, sizeof(*s->n_read));
    s->first_read = arena_alloc_unset(arena, s->n_tile, sizeof(*s->first_read));
    s->tensor = arena_alloc_unset(arena, s->n_tensor, sizeof(*s->tensor));
    s->dram_order = arena_alloc_unset(arena, s->n_tensor, sizeof(*s->dram_order));
    s->read = arena_alloc(arena, (size_t)maker->n_read + 1, sizeof(*s->read));
    if (maker->plan->graph->streams)
        maker->stream = arena_alloc(arena, s->n_tile, sizeof(*maker->stream));
    DSE_TRY(arena_check(arena, "a SoMa schedule", err));
    s->n_tensor = 0;
    maker->n_read = 0;
    return DSE_OK;
}

/* ---- tensors, with the double-buffer living durations ---- */

static uint32_t add_tensor(struct soma_maker *maker, enum fused_tensor_kind kind, uint32_t layer,
                           uint32_t index, uint64_t element)
{
    uint32_t id = maker->schedule->n_tensor++;
    uint64_t byte = soma_byte(maker->plan->graph, element);
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
        .last_read = -1,
    };
    return id;
}

static void add_read(struct soma_maker *maker, uint32_t tile, uint32_t tensor)
{
    maker->schedule->read[maker->schedule->first_read[tile] + maker->schedule->n_read[tile]++] = tensor;
}

/* ---- what streams ---- */

/* Whether what tile p streams has room beside what the tile before it does. */
static bool is_beside(const struct soma_maker *maker, uint32_t p)
{
    return p == 0 || soma_is_beside(maker->stream[p - 1].share, maker->stream[p].share);
}

/* Whether what tile i of the layer, at position p, streams as weights is there from the tile before. */
static bool stays(const struct soma_maker *maker, const struct soma_layer_plan *layer, uint32_t i, uint32_t p)
{
    if (i == 0 || !soma_streams(maker->plan->graph, TENSOR_WEIGHT))
        return false;
    const struct fused_tile *tile = &maker->schedule->tile[p], *before = tile - 1;
    return soma_stays(layer, &(struct soma_shape){before->b, before->k, before->h, before->w},
                      &(struct soma_shape){tile->b, tile->k, tile->h, tile->w}, maker->stream[p].share);
}

/* A further tile reads what stays. */
static void use_again(struct soma_maker *maker, uint32_t p, uint32_t id)
{
    struct fused_tensor *tensor = &maker->schedule->tensor[id];
    tensor->last_use = (int32_t)p;
    tensor->end = (int32_t)p + 1;
    add_read(maker, p, id);
}

/* A load that goes past the buffer begins when its tile is next, or the one before where there is room. */
static void stream_in(const struct soma_maker *maker, uint32_t p, enum tensor_role role,
                      struct fused_tensor *tensor)
{
    if (!soma_streams(maker->plan->graph, role))
        return;
    bool pieces = tensor->kind == FUSED_WEIGHT && maker->stream[p].pieces > 1;
    tensor->streamed = pieces ? maker->stream[p].pieces : 1;
    tensor->byte = 0;
    tensor->dram_byte = soma_times(tensor->dram_byte, maker->stream[p].times[role]);
    tensor->start = tensor->limit = (int32_t)p - is_beside(maker, p);
}

/* A store that does is over before the next tile begins, or the one behind it. */
static void stream_out(const struct soma_maker *maker, uint32_t p, struct fused_tensor *tensor)
{
    if (!soma_streams(maker->plan->graph, TENSOR_OUTPUT))
        return;
    bool beside = p + 1 < maker->schedule->n_tile && is_beside(maker, p + 1);
    tensor->streamed = 1;
    tensor->byte = 0;
    tensor->dram_byte = soma_times(tensor->dram_byte, maker->stream[p].times[TENSOR_OUTPUT]);
    tensor->limit = (int32_t)p + 1 + beside;
    if (tensor->end > tensor->limit)
        tensor->end = tensor->limit;
}

/* Each tile loads what it needs just before it is computed; halos are loaded again. */
static enum dse_status make_loads(struct soma_maker *maker, uint32_t l, uint32_t tile,
                                  const struct soma_place *place, struct dse_error *err)
{
    const struct soma_plan *plan = maker->plan;
    const struct soma_layer_plan *layer = &plan->layer[l];
    int32_t at = (int32_t)soma_tile_position(layer, tile);
    for (uint32_t o = plan->graph->first_operand[l]; o < plan->graph->first_operand[l + 1]; o++) {
        const struct soma_operand *operand = &plan->graph->operand[o];
        struct soma_shape need;
        if (!is_loaded(plan, operand) || !soma_tile_load(plan, operand, place, &need))
            continue;
        if (soma_too_large(&need))
            return dse_fail(err, DSE_LIMIT, "layer %s: it loads more than 2^53 bytes; use a smaller batch",
                            plan->graph->network->layer[l].name);
        if (operand->second && stays(maker, layer, tile, (uint32_t)at) && soma_same_samples(layer, place)) {
            use_again(maker, (uint32_t)at, maker->second);
            continue;
        }
        uint32_t id = add_tensor(maker, FUSED_IFMAP, l, tile, n_element(&need));
        maker->second = operand->second ? id : maker->second;
        struct fused_tensor *tensor = &maker->schedule->tensor[id];
        tensor->source = operand->source;
        tensor->start = at - 1;
        tensor->end = at + 1;
        tensor->first_use = tensor->last_use = at;
        if (maker->stream)
            stream_in(maker, (uint32_t)at, soma_operand_role(operand), tensor);
        add_read(maker, (uint32_t)at, id);
    }
    return DSE_OK;
}

/* Weights that no buffer keeps come anew for each tile that does not find them in their own level. */
static void make_streamed_weights(struct soma_maker *maker, uint32_t l)
{
    const struct soma_layer_plan *layer = &maker->plan->layer[l];
    for (uint32_t i = 0; i < layer->n_tile; i++) {
        uint32_t p = soma_tile_position(layer, i);
        if (stays(maker, layer, i, p)) {
            use_again(maker, p, maker->schedule->n_tensor - 1);
            continue;
        }
        uint32_t id = add_tensor(maker, FUSED_WEIGHT, l, i, maker->plan->graph->weight_word[l]);
        struct fused_tensor *tensor = &maker->schedule->tensor[id];
        tensor->first_use = tensor->last_use = (int32_t)p;
        tensor->end = (int32_t)p + 1;
        stream_in(maker, p, TENSOR_WEIGHT, tensor);
        add_read(maker, p, id);
    }
}

/* All tiles of the layer share its weights. */
static void make_weights(struct soma_maker *maker, uint32_t l)
{
    const struct soma_layer_plan *layer = &maker->plan->layer[l];
    if (soma_streams(maker->plan->graph, TENSOR_WEIGHT)) {
        make_streamed_weights(maker, l);
        return;
    }
    uint32_t id = add_tensor(maker, FUSED_WEIGHT, l, 0, maker->plan->graph->weight_word[l]);
    struct fused_tensor *tensor = &maker->schedule->tensor[id];
    tensor->first_use = (int32_t)layer->first;
    tensor->last_use = (int32_t)soma_tile_position(layer, layer->n_tile - 1);
    tensor->start = tensor->first_use - 1;
    tensor->end = tensor->last_use + 1;
    for (uint32_t i = 0; i < layer->n_tile; i++)
        add_read(maker, soma_tile_position(layer, i), id);
}

/* Tiles `first` to `last` read it; `use`: which of them counts as the last. */
static void note_use(struct fused_tensor *tensor, uint32_t first, uint32_t use, uint32_t last)
{
    if (tensor->first_use < 0 || (int32_t)first < tensor->first_use)
        tensor->first_use = (int32_t)first;
    if ((int32_t)use > tensor->last_use)
        tensor->last_use = (int32_t)use;
    if ((int32_t)last > tensor->last_read)
        tensor->last_read = (int32_t)last;
    if ((int32_t)last >= tensor->end)
        tensor->end = (int32_t)last + 1;
}

/* A reader in the same group takes the tile of its own index. One in a later group of the same layer group
 * waits with its first tile for all of the producer's, and keeps them until its last. Compat: only the
 * producer's last tile counts as used that long, but all are read. */
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
            uint32_t at = soma_tile_position(reader, tile);
            note_use(tensor, at, at, at);
        } else {
            uint32_t last = soma_tile_position(reader, reader->n_tile - 1);
            bool to_first = plan->context->compat && tile + 1 < layer->n_tile;
            note_use(tensor, reader->first, to_first ? reader->first : last, last);
        }
    }
    return stored;
}

/* An output tile that is stored has one tile's time for it, none behind the last tile of its layer group.
 * Where it overlaps earlier tiles of its layer it takes room again, but is stored already. */
static void make_output(struct soma_maker *maker, uint32_t l, uint32_t tile, const struct soma_place *place)
{
    const struct soma_plan *plan = maker->plan;
    const struct soma_layer_plan *layer = &plan->layer[l];
    uint32_t at = soma_tile_position(layer, tile);
    const struct fused_tile *made = &maker->schedule->tile[at];
    struct soma_shape shape = {made->b, made->k, made->h, made->w};
    uint32_t id = add_tensor(maker, FUSED_LOCAL, l, tile, n_element(&shape));
    struct fused_tensor *tensor = &maker->schedule->tensor[id];
    tensor->producer_tile = (int32_t)at;
    tensor->start = (int32_t)at;
    tensor->end = (int32_t)at + 1;
    if (note_uses(plan, l, tile, tensor)) {
        if (!plan->context->compat && layer->inside)
            shape = soma_tile_share(soma_grid_of(plan, layer), layer, place);
        tensor->kind = FUSED_OFMAP;
        tensor->dram_byte = soma_byte(plan->graph, n_element(&shape));
        if (at + 1 < plan->group_end[layer->flc] && tensor->end < (int32_t)at + 2)
            tensor->end = (int32_t)at + 2;
        if (maker->stream)
            stream_out(maker, at, tensor);
    }
}

/* The tensors of a layer; its tiles and its neighbours' are there. */
static enum dse_status make_layer(struct soma_maker *maker, uint32_t l, struct dse_error *err)
{
    const struct soma_plan *plan = maker->plan;
    const struct soma_layer_plan *layer = &plan->layer[l];
    const struct soma_grid one = {{1, 1, 1, 1}},
                           *grid = plan->context->compat ? &one : soma_grid_of(plan, layer);
    struct soma_place place = {{0}};
    uint32_t n_read = plan->graph->weight_word[l] > 0;
    if (!soma_maker_goes_on(maker, layer->n_tile))
        return DSE_OK;
    for (uint32_t o = plan->graph->first_operand[l]; o < plan->graph->first_operand[l + 1]; o++)
        n_read += is_loaded(plan, &plan->graph->operand[o]);
    for (uint32_t i = 0; i < layer->n_tile; i++, maker->n_read += n_read, soma_next_place(grid, &place)) {
        maker->schedule->first_read[soma_tile_position(layer, i)] = maker->n_read;
        DSE_TRY(make_loads(maker, l, i, &place, err));
    }
    if (plan->graph->weight_word[l] > 0)
        make_weights(maker, l);
    if (!soma_maker_goes_on(maker, layer->n_tile))
        return DSE_OK;
    for (uint32_t i = 0; i < layer->n_tile; i++, soma_next_place(grid, &place))
        make_output(maker, l, i, &place);
    return DSE_OK;
}

/* Streamed only when its tile is next. It stands among what starts a tile earlier, behind the loads that may
 * begin before it and before the stores that can wait. */
static bool is_tight(const struct fused_tensor *tensor)
{
    return tensor->streamed && fused_is_load(tensor) && tensor->start == tensor->first_use;
}

/* What stays in its own level past its first tile takes no room here for it. */
static int32_t end_in_order(const struct fused_tensor *tensor)
{
    return tensor->streamed && fused_is_load(tensor) ? tensor->first_use + 1 : tensor->end;
}

/* Among tensors of one start. */
static bool comes_before(const struct fused_tensor *a, const struct fused_tensor *b)
{
    bool a_weight = a->kind == FUSED_WEIGHT && !a->streamed,
         b_weight = b->kind == FUSED_WEIGHT && !b->streamed;
    if (a_weight != b_weight)
        return a_weight;
    if (end_in_order(a) != end_in_order(b))
        return end_in_order(a) < end_in_order(b);
    if (is_tight(a) != is_tight(b))
        return is_tight(a) ? !fused_is_load(b) : fused_is_load(a);
    return a->kind < b->kind;
}

/* The double-buffer DRAM order: all tensors that are not local into schedule->dram_order (room for n_tensor)
 * by start, weights first, end, loads before stores, number; sets n_dram. A stable counting sort by start
 * with an insertion sort within each: linear in tiles and tensors when few start at one position. */
static enum dse_status order_transfers(struct fused_schedule *schedule, struct arena *arena,
                                       struct dse_error *err)
{
    uint32_t *begin = arena_alloc(arena, (size_t)schedule->n_tile + 2, sizeof(*begin)); /* by start + 1 */
    uint32_t *n = arena_alloc(arena, (size_t)schedule->n_tile + 2, sizeof(*n));
    DSE_TRY(arena_check(arena, "the DRAM order of tensors", err));
    for (uint32_t i = 0; i < schedule->n_tensor; i++)
        if (schedule->tensor[i].kind != FUSED_LOCAL)
            begin[schedule->tensor[i].start - is_tight(&schedule->tensor[i]) + 2]++;
    for (uint32_t p = 0; p <= schedule->n_tile; p++)
        begin[p + 1] += begin[p];
    schedule->n_dram = begin[schedule->n_tile + 1];
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[i];
        if (tensor->kind == FUSED_LOCAL)
            continue;
        uint32_t bucket = (uint32_t)(tensor->start - is_tight(tensor) + 1);
        uint32_t *list = schedule->dram_order + begin[bucket];
        uint32_t at = n[bucket]++;
        for (; at > 0 && comes_before(tensor, &schedule->tensor[list[at - 1]]); at--)
            list[at] = list[at - 1];
        list[at] = i;
    }
    return DSE_OK;
}

static enum dse_status parse(const struct soma_context *context, const struct soma_lfa *lfa, bool part,
                             struct arena *arena, struct fused_schedule *schedule,
                             struct soma_fault_info *fault, struct dse_error *err)
{
    struct soma_graph graph;
    struct soma_plan plan = {.context = context, .graph = context->graph, .lfa = lfa, .part = part};
    struct soma_maker maker = {.plan = &plan, .schedule = schedule, .fault = fault};

    *schedule = (struct fused_schedule){0};
    *fault = (struct soma_fault_info){SOMA_OK, 0};
    if (context->batch == 0)
        return dse_fail(err, DSE_BAD_USAGE, "SoMa parser: the batch is 0; it must be at least 1");
    if (plan.graph == NULL) {
        DSE_TRY(soma_graph_init(context->network, arena, &graph, err));
        plan.graph = &graph;
    }
    DSE_TRY(soma_plan_positions(&plan, arena, fault, err));
    if (fault->what == SOMA_OK && context->compat)
        (void)soma_plan_tiles(&plan, fault);
    else if (fault->what == SOMA_OK)
        DSE_TRY(soma_plan_ranges(&plan, arena, fault, err));
    if (fault->what != SOMA_OK)
        return DSE_OK;
    DSE_TRY(count(&maker, err));
    DSE_TRY(make_room(&maker, arena, err));
    for (uint32_t i = 0; i < lfa->n_layer; i++) {
        enum dse_status status = soma_make_tiles(&maker, lfa->order[i], err);
        if (fault->what != SOMA_OK) { /* such a scheme does not work; others may */
            *schedule = (struct fused_schedule){0};
            return DSE_OK;
        }
        if (status != DSE_OK)
            return status;
    }
    for (uint32_t i = 0; i < lfa->n_layer && fault->what == SOMA_OK; i++)
        DSE_TRY(make_layer(&maker, lfa->order[i], err));
    if (!soma_maker_goes_on(&maker, 0)) {
        *schedule = (struct fused_schedule){0};
        return DSE_OK;
    }
    return order_transfers(schedule, arena, err);
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
