/* Measures the tiles of a group (shapes seen before are remembered) and runs core array and DRAM over them
 * from the first tile on. */
#include "engines/soma/search/lfa_group.h"

#include <string.h>

#include "costmodel/fused/fused_rule.h"
#include "engines/soma/notation/tile_plan.h"

enum { MEMO_WAYS = 16 };

#define BYTE_MAX 9007199254740992.0 /* the parser's limit of a tensor */

struct tile_cost {
    struct soma_shape shape; /* b 0: empty */
    uint64_t cycle;
    double energy_j;
};

/* What a tile streams. */
struct tile_stream {
    double times[TENSOR_ROLE_COUNT], share; /* struct core_cost's, as the next */
    uint32_t pieces;
    uint64_t byte, cycle; /* of its loads past the buffer */
    uint64_t ahead;       /* so much before the last of them is over it may begin, when that is late */
    uint32_t n_kept;      /* tensors that the tile before, of its layer, has loaded for it */
    bool stays;           /* weights do so, */
    bool second_stays;    /* and the second operand */
};

struct memo_row {
    struct tile_stream *stream; /* (MEMO_WAYS); NULL: nothing streams */
    struct tile_cost cost[MEMO_WAYS];
};

struct soma_tile_memo {
    struct memo_row **row; /* (n_layer) of layers that were looked at: all may be gigabytes */
    struct arena *arena;
    struct soma_layer_plan *room;
    bool missed; /* something was not there that was not to be asked for */
};

struct soma_tile_memo *soma_tile_memo_new(uint32_t n_layer, struct arena *arena)
{
    struct soma_tile_memo *memo = arena_alloc(arena, 1, sizeof *memo);
    struct memo_row **row = arena_alloc(arena, n_layer, sizeof *row);
    struct soma_layer_plan *room = soma_plan_room(n_layer, arena);
    if (!arena->failed)
        *memo = (struct soma_tile_memo){.row = row, .arena = arena, .room = room};
    return arena->failed ? NULL : memo;
}

static enum dse_status make_row(struct soma_tile_memo *memo, uint32_t l, bool streams, struct dse_error *err)
{
    if (memo->row[l])
        return DSE_OK;
    struct memo_row *row = arena_alloc(memo->arena, 1, sizeof *row);
    struct tile_stream *stream = arena_alloc(memo->arena, streams ? MEMO_WAYS : 0, sizeof *stream);
    DSE_TRY(arena_check(memo->arena, "the costs of tiles", err));
    row->stream = streams ? stream : NULL;
    memo->row[l] = row;
    return DSE_OK;
}

/* What a tile does. With the compat rules one serves all tiles of a layer. */
struct group_tile {
    uint64_t cycle, load_cycle, store_cycle;
    uint64_t load_byte, output_byte, store_byte; /* loads and output: that live in the buffer */
    uint64_t largest_load_byte;
    uint64_t weight_cycle; /* of its layer */
    double energy_j;
    uint32_t n_load;
    bool stored;
    uint32_t end_step; /* a tile's output lives until so many positions behind its own, */
    uint32_t end_past; /* and at least until this one */
};

struct group_state {
    const struct soma_search *search;
    struct soma_plan plan;
    struct group_tile *tile;    /* compat: (n_layer) by place in the part; else (n_tile) by position */
    struct tile_stream *stream; /* (n_tile) by position; NULL: nothing streams */
    enum fused_way store_way;
    uint64_t *wait;                  /* (n_tile + 1) when the stores that end before this tile are over */
    uint64_t *dead_byte;             /* (n_tile + 1) that are no longer alive from this tile on */
    uint64_t *weight_byte;           /* (n_tile + 1) that are alive from this tile on */
    bool known_only;                 /* no tile is asked for: one that is not remembered has no price */
    const struct soma_shape *before; /* the shape of the layer's tile before the one that is measured */
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t load_cycle(const struct group_state *group, uint64_t byte)
{
    return fused_byte_cycle(byte, false, &group->search->machine);
}

/* False: more than the parser takes. */
static bool bytes_of(const struct soma_graph *graph, const struct soma_shape *shape, uint64_t *byte)
{
    *byte = soma_byte(graph, (uint64_t)shape->b * shape->k * shape->h * shape->w);
    return (double)shape->b * shape->k * shape->h * shape->w <= BYTE_MAX;
}

static struct tile_stream stream_of(const struct core_cost *cost)
{
    struct tile_stream stream = {.share = cost->stream_share, .pieces = (uint32_t)cost->stream_pieces};
    memcpy(stream.times, cost->stream_times, sizeof stream.times);
    return stream;
}

/* Ask for the tile and keep what it costs in a way of its layer's row. */
static enum dse_status ask(const struct group_state *group, uint32_t l, const struct soma_shape *shape,
                           struct memo_row *row, uint32_t way, bool *valid, struct dse_error *err)
{
    const struct core_scheduler *core = &group->search->context.core;
    struct core_tile tile = soma_core_tile(&group->plan.graph->network->layer[l], shape);
    struct core_cost cost;
    enum dse_status status = core->cost(core->self, &tile, &cost, err);
    *valid = status == DSE_OK;
    if (status != DSE_OK)
        return status == DSE_BAD_INPUT ? DSE_OK : status;
    row->cost[way] = (struct tile_cost){*shape, cost.cycle, cost.energy_j};
    if (row->stream)
        row->stream[way] = stream_of(&cost);
    return DSE_OK;
}

/* `stream`: NULL where nothing does. */
static inline enum dse_status tile_cost(const struct group_state *group, uint32_t l,
                                        const struct soma_shape *shape, struct soma_tile_memo *memo,
                                        struct group_tile *made, struct tile_stream *stream, bool *valid,
                                        struct dse_error *err)
{
    const uint32_t way = (shape->h * 5 + shape->w * 3 + shape->b + shape->k) % MEMO_WAYS;
    struct memo_row *row = memo->row[l];
    const struct tile_cost *kept = &row->cost[way];
    if (kept->shape.b != shape->b || kept->shape.k != shape->k || kept->shape.h != shape->h ||
        kept->shape.w != shape->w) {
        memo->missed = true;
        if (group->known_only)
            return DSE_OK;
        DSE_TRY(ask(group, l, shape, row, way, valid, err));
        if (!*valid)
            return DSE_OK;
    }
    made->cycle = kept->cycle;
    made->energy_j = kept->energy_j;
    if (stream)
        *stream = row->stream[way];
    return DSE_OK;
}

/* A load that goes past the buffer. */
static void add_stream(const struct group_state *group, enum tensor_role role, uint64_t byte,
                       struct group_tile *made, struct tile_stream *stream)
{
    byte = soma_times(byte, stream->times[role]);
    stream->byte += byte;
    stream->cycle += load_cycle(group, byte);
    if (role == TENSOR_WEIGHT) /* they come last */
        stream->ahead = fused_ahead(stream->pieces, load_cycle(group, byte), made->cycle);
    made->n_load++;
}

static bool is_loaded(const struct soma_plan *plan, const struct soma_operand *operand)
{
    return operand->source < 0 ||
           plan->layer[operand->source].layer_group != plan->layer[operand->layer].layer_group;
}

/* Whether its tiles load any operand, or streamed weights. */
static bool has_loads(const struct soma_plan *plan, uint32_t l)
{
    const struct soma_graph *graph = plan->graph;
    bool any = graph->weight_word[l] > 0 && soma_streams(graph, TENSOR_WEIGHT);
    for (uint32_t o = graph->first_operand[l]; o < graph->first_operand[l + 1] && !any; o++)
        any = is_loaded(plan, &graph->operand[o]);
    return any;
}

/* False: more bytes than the parser takes. */
static bool add_loads(const struct group_state *group, uint32_t l, const struct soma_place *place,
                      struct group_tile *made, struct tile_stream *stream)
{
    const struct soma_plan *plan = &group->plan;
    const struct soma_graph *graph = plan->graph;
    for (uint32_t o = graph->first_operand[l]; o < graph->first_operand[l + 1]; o++) {
        const struct soma_operand *operand = &graph->operand[o];
        struct soma_shape need;
        uint64_t byte;
        if (!is_loaded(plan, operand) || !soma_tile_load(plan, operand, place, &need))
            continue;
        if (!bytes_of(graph, &need, &byte))
            return false;
        if (stream && operand->second && stream->second_stays) {
            stream->n_kept++;
            continue;
        }
        if (stream && soma_streams(graph, soma_operand_role(operand))) {
            add_stream(group, soma_operand_role(operand), byte, made, stream);
            continue;
        }
        made->load_byte += byte;
        made->largest_load_byte = later(made->largest_load_byte, byte);
        made->load_cycle += load_cycle(group, byte);
        made->n_load++;
    }
    if (stream && graph->weight_word[l] > 0 && soma_streams(graph, TENSOR_WEIGHT)) {
        if (stream->stays)
            stream->n_kept++;
        else
            add_stream(group, TENSOR_WEIGHT, soma_byte(graph, graph->weight_word[l]), made, stream);
    }
    return true;
}

/* What of a layer's weights the buffer holds. */
static uint64_t held_weight_byte(const struct soma_graph *graph, uint32_t l)
{
    return soma_streams(graph, TENSOR_WEIGHT) ? 0 : soma_byte(graph, graph->weight_word[l]);
}

/* Who reads the outputs, and how long they live for it. */
static void add_uses(const struct group_state *group, uint32_t l, struct group_tile *made)
{
    const struct soma_plan *plan = &group->plan;
    const struct soma_graph *graph = plan->graph;
    const struct soma_layer_plan *layer = &plan->layer[l];
    made->stored = graph->first_use[l] == graph->first_use[l + 1];
    made->end_step = 1;
    for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++) {
        const struct soma_layer_plan *reader = &plan->layer[graph->operand[graph->use[u]].layer];
        if (reader->layer_group != layer->layer_group) {
            made->stored = true;
        } else if (reader->flc == layer->flc) {
            if (made->end_step < reader->first - layer->first + 1)
                made->end_step = reader->first - layer->first + 1;
        } else {
            uint32_t last = reader->first + (reader->n_tile - 1) * reader->step;
            if (made->end_past < last + 1)
                made->end_past = last + 1;
        }
    }
    if (made->stored && made->end_step < 2)
        made->end_step = 2;
}

static void add_store(const struct group_state *group, uint32_t l, const struct soma_place *place,
                      struct group_tile *made, const struct tile_stream *stream)
{
    const struct soma_plan *plan = &group->plan;
    const struct soma_layer_plan *layer = &plan->layer[l];
    made->store_byte = made->output_byte;
    if (!plan->context->compat && layer->inside) {
        struct soma_shape share = soma_tile_share(&plan->grid[layer->flc], layer, place);
        (void)bytes_of(plan->graph, &share, &made->store_byte);
    }
    if (stream && soma_streams(plan->graph, TENSOR_OUTPUT)) {
        made->store_byte = soma_times(made->store_byte, stream->times[TENSOR_OUTPUT]);
        made->output_byte = 0;
    }
    made->store_cycle = fused_byte_cycle(made->store_byte, true, &group->search->machine);
}

/* What the tile finds from the one before it, of its layer. */
static void find_stays(const struct group_state *group, uint32_t l, const struct soma_shape *shape,
                       const struct soma_place *place, struct tile_stream *stream)
{
    const struct soma_layer_plan *layer = &group->plan.layer[l];
    if (!soma_streams(group->plan.graph, TENSOR_WEIGHT))
        return;
    stream->stays = soma_stays(layer, group->before, shape, stream->share);
    stream->second_stays = stream->stays && soma_same_samples(layer, place);
}

/* The tile of this shape at `place`. `made` holds what all tiles of the layer have in common; `loads` is
 * has_loads of it. */
static inline enum dse_status measure_tile(const struct group_state *group, uint32_t l, bool loads,
                                           const struct soma_shape *shape, const struct soma_place *place,
                                           struct soma_tile_memo *memo, struct group_tile *made,
                                           struct tile_stream *stream, bool *valid, struct dse_error *err)
{
    *valid = bytes_of(group->plan.graph, shape, &made->output_byte);
    if (*valid) /* it says how much is to be streamed */
        DSE_TRY(tile_cost(group, l, shape, memo, made, stream, valid, err));
    if (stream && group->before)
        find_stays(group, l, shape, place, stream);
    if (*valid && loads)
        *valid = add_loads(group, l, place, made, stream);
    if (*valid && made->stored)
        add_store(group, l, place, made, stream);
    return DSE_OK;
}

/* So many tiles like this one, with what it streams (NULL: nothing), in the sums. */
static void add_up(const struct group_state *group, const struct group_tile *tile,
                   const struct tile_stream *stream, uint64_t n, struct soma_group_times *times)
{
    times->dram_byte[FUSED_LOADED] += n * tile->load_byte;
    times->dram_byte[group->store_way] += n * tile->store_byte;
    times->dram_byte[FUSED_STREAMED_IN] += stream ? n * stream->byte : 0;
    times->n_tensor += n * (tile->n_load + 1);
    times->n_read += n * (tile->n_load + (stream ? stream->n_kept : 0));
}

/* All of the layer at a place of the part. */
static enum dse_status measure_layer(struct group_state *group, uint32_t at, struct soma_tile_memo *memo,
                                     struct soma_group_times *times, bool *valid, struct dse_error *err)
{
    uint32_t l = group->plan.lfa->order[at];
    const struct soma_layer_plan *layer = &group->plan.layer[l];
    struct soma_place place = {{0}};
    struct soma_shape before;
    struct group_tile common = {0};
    const bool loads = has_loads(&group->plan, l);
    uint64_t weight_byte = held_weight_byte(group->plan.graph, l);
    common.weight_cycle = load_cycle(group, weight_byte);
    add_uses(group, l, &common);
    times->dram_byte[FUSED_LOADED] += weight_byte;
    times->n_tensor += weight_byte > 0;
    times->n_read += weight_byte > 0 ? layer->n_tile : 0;
    if (weight_byte > 0) {
        uint32_t past = layer->first + (layer->n_tile - 1) * layer->step + 1;
        group->weight_byte[layer->first > 0 ? layer->first - 1 : 0] += weight_byte;
        group->dead_byte[past] += weight_byte;
    }
    if (group->plan.context->compat) {
        group->tile[at] = common;
        DSE_TRY(
            measure_tile(group, l, loads, &layer->tile, &place, memo, &group->tile[at], NULL, valid, err));
        add_up(group, &group->tile[at], NULL, layer->n_tile, times);
        return DSE_OK;
    }
    for (uint32_t i = 0, p = layer->first; i < layer->n_tile && *valid; i++, p += layer->step) {
        struct soma_shape shape = soma_tile_shape(layer, &place);
        struct tile_stream *stream = group->stream ? &group->stream[p] : NULL;
        group->tile[p] = common;
        DSE_TRY(measure_tile(group, l, loads, &shape, &place, memo, &group->tile[p], stream, valid, err));
        add_up(group, &group->tile[p], stream, 1, times);
        soma_next_place(&group->plan.grid[layer->flc], &place);
        if (stream) {
            before = shape;
            group->before = &before;
        }
    }
    group->before = NULL;
    return DSE_OK;
}

/* Where both engines stand, tile by tile. */
struct clock {
    uint64_t dram, before, now; /* finish of the DRAM, of the tile before the last, of the last */
    uint64_t barrier;           /* all that the next tile waits for is over */
    uint64_t living_byte;       /* outputs and weights */
    uint64_t peak_byte;
    const struct group_tile *last;
    uint32_t last_end;
};

/* So many cycles of loads that may begin when the time `from` is over. */
static void load(struct clock *clock, uint64_t from, uint64_t cycle)
{
    if (cycle > 0)
        clock->barrier = clock->dram = later(clock->dram, from) + cycle;
}

/* The store of the last tile; tile `end` waits for it. */
static void store(struct group_state *group, struct clock *clock, uint32_t end)
{
    clock->dram = later(clock->dram, clock->now) + clock->last->store_cycle;
    group->wait[end] = clock->dram;
}

/* What stands between the last tile and tile p of a machine that streams. What has no room beside the last
 * tile goes between the two, and then its store before the loads that do not stream. Returns how much before
 * the last load is over the tile may begin. */
static uint64_t transfer_streams(struct group_state *group, const struct group_tile *tile,
                                 uint64_t weight_cycle, uint32_t p, struct clock *clock)
{
    const struct tile_stream *stream = &group->stream[p];
    const bool beside = soma_is_beside(group->stream[p - 1].share, stream->share);
    const uint64_t early = weight_cycle + (beside ? stream->cycle : 0), late = beside ? 0 : stream->cycle;
    const bool first = !beside && clock->last->stored && soma_streams(group->plan.graph, TENSOR_OUTPUT);
    if (first) {
        load(clock, clock->before, early); /* weights stand before all */
        store(group, clock, p);
        load(clock, clock->before, tile->load_cycle);
    } else {
        load(clock, clock->before, early + tile->load_cycle);
    }
    load(clock, clock->now, late);
    if (clock->last->stored && !first)
        store(group, clock, clock->last_end);
    return late > 0 ? stream->ahead : 0;
}

/* Tile p. While the tile before was next, the DRAM began to load what this one needs, weights first; behind
 * that stands the store of the tile before. Each starts when it may (docs/fused-schedule.md). */
static void run_tile(struct group_state *group, const struct group_tile *tile, bool first, uint32_t p,
                     struct clock *clock, struct soma_group_times *times)
{
    const uint64_t weight_cycle = first ? tile->weight_cycle : 0;
    uint64_t ahead = 0;
    if (p > 0) {
        const uint64_t before = clock->living_byte + tile->load_byte + clock->last->load_byte;
        clock->peak_byte = later(clock->peak_byte, before);
        if (group->stream) {
            ahead = transfer_streams(group, tile, weight_cycle, p, clock);
        } else {
            load(clock, clock->before, weight_cycle + tile->load_cycle);
            if (clock->last->stored)
                store(group, clock, clock->last_end);
        }
    }
    uint64_t start = later(later(clock->barrier - ahead, group->wait[p]), clock->now);
    clock->barrier = later(clock->barrier, group->wait[p]);
    clock->before = clock->now;
    clock->now = start + tile->cycle;
    clock->living_byte += tile->output_byte + group->weight_byte[p] - group->dead_byte[p];
    uint32_t end = p + tile->end_step;
    end = end > tile->end_past ? end : tile->end_past;
    clock->last_end = end < group->plan.n_tile ? end : group->plan.n_tile;
    group->dead_byte[clock->last_end] += tile->output_byte;
    if (clock->last_end == group->plan.n_tile)
        times->last_largest_byte = later(times->last_largest_byte, tile->output_byte);
    clock->last = tile;
    times->core_energy_j += tile->energy_j;
}

static void run(struct group_state *group, struct soma_group_times *times)
{
    const struct soma_lfa *part = group->plan.lfa;
    const bool compat = group->plan.context->compat;
    struct clock clock = {.dram = group->stream ? group->stream[0].ahead : 0};
    for (uint32_t g = 0, p = 0; g < part->n_flc; g++) {
        uint32_t stop = soma_group_stop(part, g);
        for (uint32_t i = 0; i < part->tiling[g]; i++)
            for (uint32_t at = part->flc[g]; at < stop; at++, p++)
                run_tile(group, &group->tile[compat ? at : p], i == 0, p, &clock, times);
    }
    times->last_byte = clock.living_byte + clock.last->load_byte;
    times->last_largest_byte = later(times->last_largest_byte, clock.last->largest_load_byte);
    times->inner_byte = clock.peak_byte;
    times->peak_byte = later(clock.peak_byte, times->last_byte);
    times->before_last = clock.before;
    times->last = clock.now;
    times->moved = clock.dram;
    times->store_cycle = clock.last->store_cycle;
}

static void allocate(struct group_state *group, struct arena *scratch)
{
    size_t n = (size_t)group->plan.n_tile + 1;
    size_t n_tile = group->plan.context->compat ? group->plan.lfa->n_layer : group->plan.n_tile;
    group->tile = arena_alloc_unset(scratch, n_tile, sizeof *group->tile);
    if (group->plan.graph->streams)
        group->stream = arena_alloc(scratch, n, sizeof *group->stream);
    group->store_way = soma_streams(group->plan.graph, TENSOR_OUTPUT) ? FUSED_STREAMED_OUT : FUSED_STORED;
    group->wait = arena_alloc(scratch, n, sizeof *group->wait);
    group->dead_byte = arena_alloc(scratch, n, sizeof *group->dead_byte);
    group->weight_byte = arena_alloc(scratch, n, sizeof *group->weight_byte);
}

/* The layers of the layer group, as an LFA of their own. */
static enum dse_status cut_out(const struct soma_lfa *lfa, uint32_t first, uint32_t past,
                               struct arena *scratch, struct soma_lfa *part, struct dse_error *err)
{
    uint32_t begin = lfa->flc[first], end = past < lfa->n_flc ? lfa->flc[past] : lfa->n_layer;
    *part = (struct soma_lfa){.n_layer = end - begin, .order = lfa->order + begin, .n_flc = past - first};
    part->tiling = lfa->tiling + first;
    part->flc = arena_alloc(scratch, part->n_flc, sizeof *part->flc);
    part->dram_cut = arena_alloc(scratch, part->n_flc, sizeof *part->dram_cut);
    DSE_TRY(arena_check(scratch, "a layer group", err));
    for (uint32_t g = first; g < past; g++)
        part->flc[g - first] = lfa->flc[g] - begin;
    part->dram_cut[0] = true;
    return DSE_OK;
}

static enum dse_status time_tiles(struct group_state *group, struct soma_tile_memo *memo,
                                  struct arena *scratch, struct soma_group_times *times,
                                  struct dse_error *err)
{
    const struct soma_lfa *part = group->plan.lfa;
    bool valid = true;
    allocate(group, scratch);
    DSE_TRY(arena_check(scratch, "a layer group", err));
    for (uint32_t i = 0; i < part->n_layer && valid; i++) {
        DSE_TRY(make_row(memo, part->order[i], group->stream != NULL, err));
        DSE_TRY(measure_layer(group, i, memo, times, &valid, err));
    }
    if (!valid)
        return DSE_OK;
    times->n_tile = group->plan.n_tile;
    times->head_weight_cycle = group->tile[0].weight_cycle;
    times->head_input_cycle = group->tile[0].load_cycle;
    if (group->stream)
        times->head_input_cycle += group->stream[0].cycle - group->stream[0].ahead;
    times->head_byte = held_weight_byte(group->plan.graph, part->order[0]) + group->tile[0].load_byte;
    times->head_largest_byte = group->tile[0].largest_load_byte;
    run(group, times);
    times->valid = true;
    return DSE_OK;
}

/* With `*group` placed. */
static enum dse_status time_placed(struct group_state *group, struct soma_tile_memo *memo,
                                   struct arena *scratch, struct soma_group_times *times,
                                   struct dse_error *err)
{
    const struct soma_search *search = group->search;
    struct soma_fault_info fault = {SOMA_OK, 0};
    if (search->context.compat)
        (void)soma_plan_tiles(&group->plan, &fault);
    else
        DSE_TRY(soma_plan_ranges(&group->plan, scratch, &fault, err));
    if (fault.what != SOMA_OK)
        return DSE_OK;
    if (search->slow_tiles) {
        const struct soma_group_times empty = *times;
        group->known_only = true;
        memo->missed = false;
        DSE_TRY(time_tiles(group, memo, scratch, times, err));
        if (!memo->missed || !times->valid || times->peak_byte > search->machine.buffer_byte)
            return DSE_OK;
        group->known_only = false;
        *times = empty;
    }
    return time_tiles(group, memo, scratch, times, err);
}

static enum dse_status time_part(const struct soma_search *search, const struct soma_lfa *part,
                                 struct soma_tile_memo *memo, struct arena *scratch,
                                 struct soma_group_times *times, struct dse_error *err)
{
    struct group_state group = {.search = search,
                                .plan = {.context = &search->context,
                                         .graph = search->context.graph,
                                         .lfa = part,
                                         .part = true,
                                         .layer = memo->room}};
    struct soma_fault_info fault;
    enum dse_status status = soma_plan_positions(&group.plan, scratch, &fault, err);
    if (status == DSE_OK && fault.what == SOMA_OK)
        status = time_placed(&group, memo, scratch, times, err);
    else if (status == DSE_LIMIT)
        status = DSE_OK;
    soma_plan_leave_room(&group.plan);
    return status;
}

enum dse_status soma_group_times(const struct soma_search *search, const struct soma_lfa *lfa, uint32_t first,
                                 uint32_t past, struct soma_tile_memo *memo, struct arena *scratch,
                                 struct soma_group_times *times, struct dse_error *err)
{
    struct soma_lfa part;
    *times = (struct soma_group_times){0};
    DSE_TRY(cut_out(lfa, first, past, scratch, &part, err));
    for (uint32_t i = 0; search->context.compat && i < part.n_layer; i++)
        times->alone |= search->context.graph->classifier[part.order[i]];
    return time_part(search, &part, memo, scratch, times, err);
}
