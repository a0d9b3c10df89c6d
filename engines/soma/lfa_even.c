#include "engines/soma/lfa_even.h"

#include "engines/soma/plan.h"

enum { MEMO_WAYS = 16 };

#define BYTE_MAX 9007199254740992.0 /* the parser's limit of a tensor */

struct tile_cost {
    struct soma_shape shape; /* b 0: empty */
    uint64_t cycle;
    double energy_j;
};

struct soma_tile_memo {
    uint32_t n_layer;
    struct tile_cost *cost; /* (n_layer MEMO_WAYS) */
};

struct soma_tile_memo *soma_tile_memo_new(uint32_t n_layer, struct arena *arena)
{
    struct soma_tile_memo *memo = arena_alloc(arena, 1, sizeof *memo);
    if (!memo)
        return NULL;
    memo->n_layer = n_layer;
    memo->cost = arena_alloc(arena, (size_t)n_layer * MEMO_WAYS, sizeof *memo->cost);
    return memo->cost ? memo : NULL;
}

/* What is the same for all tiles of a layer. */
struct even_layer {
    uint64_t cycle, load_cycle, store_cycle; /* of a tile */
    uint64_t load_byte, output_byte;
    uint64_t weight_cycle, weight_byte;
    double energy_j;
    bool stored;
    uint32_t end_step; /* a tile's output lives until so many positions behind its own, */
    uint32_t end_past; /* and at least until this one */
};

struct even_group {
    const struct soma_search *search;
    struct soma_plan plan;
    struct even_layer *layer; /* (n_layer) by place in the part */
    uint64_t *wait;           /* (n_tile + 1) when the stores that end before this tile are over */
    uint64_t *dead_byte;      /* (n_tile + 1) that are no longer alive from this tile on */
    uint64_t *weight_byte;    /* (n_tile + 1) that are alive from this tile on */
};

static uint64_t transfer_cycle(const struct even_group *group, uint64_t byte)
{
    uint64_t rate = group->search->machine.dram_byte_per_cycle;
    return byte / rate + (byte % rate != 0);
}

/* False: more than the parser takes. */
static bool bytes_of(const struct soma_graph *graph, const struct soma_shape *shape, uint64_t *byte)
{
    *byte = (uint64_t)shape->b * shape->k * shape->h * shape->w * graph->word_byte;
    return (double)shape->b * shape->k * shape->h * shape->w <= BYTE_MAX;
}

static enum dse_status tile_cost(const struct even_group *group, uint32_t l, struct soma_tile_memo *memo,
                                 struct even_layer *even, bool *valid, struct dse_error *err)
{
    const struct soma_shape *shape = &group->plan.layer[l].tile;
    uint32_t way = (shape->h * 5 + shape->w * 3 + shape->b + shape->k) % MEMO_WAYS;
    struct tile_cost *kept = &memo->cost[(size_t)l * MEMO_WAYS + way];
    if (kept->shape.b != shape->b || kept->shape.k != shape->k || kept->shape.h != shape->h ||
        kept->shape.w != shape->w) {
        const struct core_scheduler *core = &group->search->context.core;
        struct core_tile tile = soma_core_tile(&group->plan.graph->network->layer[l], shape);
        struct core_cost cost;
        enum dse_status status = core->cost(core->self, &tile, &cost, err);
        *valid = status == DSE_OK;
        if (status != DSE_OK)
            return status == DSE_BAD_INPUT ? DSE_OK : status;
        *kept = (struct tile_cost){*shape, cost.cycle, cost.energy_j};
    }
    even->cycle = kept->cycle;
    even->energy_j = kept->energy_j;
    return DSE_OK;
}

/* False: more bytes than the parser takes. */
static bool add_loads(const struct even_group *group, uint32_t l, struct even_layer *even,
                      struct soma_group_times *times)
{
    const struct soma_plan *plan = &group->plan;
    const struct soma_graph *graph = plan->graph;
    for (uint32_t o = graph->first_operand[l]; o < graph->first_operand[l + 1]; o++) {
        const struct soma_operand *operand = &graph->operand[o];
        if (operand->source >= 0 && plan->layer[operand->source].layer_group == plan->layer[l].layer_group)
            continue;
        struct soma_shape need = soma_need(graph->network, operand, &plan->layer[l].tile);
        uint64_t byte;
        need.k = need.k < operand->k ? need.k : operand->k;
        need.h = need.h < operand->h ? need.h : operand->h;
        need.w = need.w < operand->w ? need.w : operand->w;
        if (!bytes_of(graph, &need, &byte))
            return false;
        even->load_byte += byte;
        even->load_cycle += transfer_cycle(group, byte);
        times->n_tensor += plan->layer[l].n_tile;
        times->n_read += plan->layer[l].n_tile;
    }
    return true;
}

/* Who reads the outputs, and how long they live for it. */
static void add_uses(const struct even_group *group, uint32_t l, struct even_layer *even)
{
    const struct soma_plan *plan = &group->plan;
    const struct soma_graph *graph = plan->graph;
    const struct soma_layer_plan *layer = &plan->layer[l];
    even->stored = graph->first_use[l] == graph->first_use[l + 1];
    even->end_step = 1;
    for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++) {
        const struct soma_layer_plan *reader = &plan->layer[graph->operand[graph->use[u]].layer];
        if (reader->layer_group != layer->layer_group) {
            even->stored = true;
        } else if (reader->flc == layer->flc) {
            if (even->end_step < reader->first - layer->first + 1)
                even->end_step = reader->first - layer->first + 1;
        } else {
            uint32_t last = reader->first + (reader->n_tile - 1) * reader->step;
            if (even->end_past < last + 1)
                even->end_past = last + 1;
        }
    }
    if (even->stored && even->end_step < 2)
        even->end_step = 2;
}

static enum dse_status measure_layer(struct even_group *group, uint32_t l, struct soma_tile_memo *memo,
                                     struct even_layer *even, struct soma_group_times *times, bool *valid,
                                     struct dse_error *err)
{
    const struct soma_layer_plan *layer = &group->plan.layer[l];
    *valid =
        bytes_of(group->plan.graph, &layer->tile, &even->output_byte) && add_loads(group, l, even, times);
    if (!*valid)
        return DSE_OK;
    even->weight_byte = group->plan.graph->weight_byte[l] * group->plan.graph->word_byte;
    even->weight_cycle = transfer_cycle(group, even->weight_byte);
    add_uses(group, l, even);
    even->store_cycle = even->stored ? transfer_cycle(group, even->output_byte) : 0;
    times->n_tensor += layer->n_tile + (even->weight_byte > 0);
    times->n_read += even->weight_byte > 0 ? layer->n_tile : 0;
    times->dram_byte +=
        even->weight_byte + layer->n_tile * (even->load_byte + (even->stored ? even->output_byte : 0));
    DSE_TRY(tile_cost(group, l, memo, even, valid, err));
    times->core_energy_j += even->energy_j * layer->n_tile;
    if (*valid && even->weight_byte > 0) {
        uint32_t past = layer->first + (layer->n_tile - 1) * layer->step + 1;
        group->weight_byte[layer->first > 0 ? layer->first - 1 : 0] += even->weight_byte;
        group->dead_byte[past] += even->weight_byte;
    }
    return DSE_OK;
}

/* Where both engines stand, tile by tile. */
struct clock {
    uint64_t dram, before, now; /* finish of the DRAM, of the tile before the last, of the last */
    uint64_t barrier;           /* all that the next tile waits for is over */
    uint64_t living_byte;       /* outputs and weights */
    const struct even_layer *last;
    uint32_t last_end;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Tile p of `layer`. While the tile before was next, the DRAM began to load what this one needs, weights first; behind that stands the
 * store of the tile before. Each starts when it may (docs/fused-schedule.md). */
static void run_tile(struct even_group *group, const struct even_layer *layer, bool first, uint32_t p,
                     struct clock *clock, struct soma_group_times *times)
{
    uint64_t load_cycle = layer->load_cycle + (first ? layer->weight_cycle : 0);
    if (p > 0) {
        if (load_cycle > 0)
            clock->barrier = clock->dram = later(clock->dram, clock->before) + load_cycle;
        uint64_t before = clock->living_byte + layer->load_byte + clock->last->load_byte;
        times->peak_byte = later(times->peak_byte, before);
        if (clock->last->stored) {
            clock->dram = later(clock->dram, clock->now) + clock->last->store_cycle;
            group->wait[clock->last_end] = clock->dram;
        }
    }
    uint64_t start = later(later(clock->barrier, group->wait[p]), clock->now);
    clock->barrier = later(clock->barrier, group->wait[p]);
    clock->before = clock->now;
    clock->now = start + layer->cycle;
    clock->living_byte += layer->output_byte + group->weight_byte[p] - group->dead_byte[p];
    uint32_t end = p + layer->end_step;
    end = end > layer->end_past ? end : layer->end_past;
    clock->last_end = end < group->plan.n_tile ? end : group->plan.n_tile;
    group->dead_byte[clock->last_end] += layer->output_byte;
    clock->last = layer;
}

static void run(struct even_group *group, struct soma_group_times *times)
{
    const struct soma_lfa *part = group->plan.lfa;
    struct clock clock = {0};
    for (uint32_t g = 0, p = 0; g < part->n_flc; g++) {
        uint32_t stop = g + 1 < part->n_flc ? part->flc[g + 1] : part->n_layer;
        for (uint32_t i = 0; i < part->tiling[g]; i++)
            for (uint32_t at = part->flc[g]; at < stop; at++, p++)
                run_tile(group, &group->layer[at], i == 0, p, &clock, times);
    }
    times->last_byte = clock.living_byte + clock.last->load_byte;
    times->peak_byte = later(times->peak_byte, times->last_byte);
    times->before_last = clock.before;
    times->last = clock.now;
    times->moved = clock.dram;
    times->store_cycle = clock.last->store_cycle;
}

static bool allocate(struct even_group *group, struct arena *scratch)
{
    size_t n = (size_t)group->plan.n_tile + 1;
    group->layer = arena_alloc(scratch, group->plan.lfa->n_layer, sizeof *group->layer);
    group->wait = arena_alloc(scratch, n, sizeof *group->wait);
    group->dead_byte = arena_alloc(scratch, n, sizeof *group->dead_byte);
    group->weight_byte = arena_alloc(scratch, n, sizeof *group->weight_byte);
    return group->layer && group->wait && group->dead_byte && group->weight_byte;
}

enum dse_status soma_even_times(const struct soma_search *search, const struct soma_lfa *part,
                                struct soma_tile_memo *memo, struct arena *scratch,
                                struct soma_group_times *times, struct dse_error *err)
{
    struct even_group group = {
        .search = search,
        .plan = {.context = &search->context, .graph = search->context.graph, .lfa = part, .part = true}};
    struct soma_fault_info fault;
    bool valid = true;
    enum dse_status status = soma_plan_positions(&group.plan, scratch, &fault, err);
    if (status == DSE_LIMIT)
        return DSE_OK;
    if (status != DSE_OK)
        return status;
    if (fault.what != SOMA_OK || !soma_plan_tiles(&group.plan, &fault))
        return DSE_OK;
    if (!allocate(&group, scratch))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a layer group of %u tiles", group.plan.n_tile);
    for (uint32_t i = 0; i < part->n_layer && valid; i++)
        DSE_TRY(measure_layer(&group, part->order[i], memo, &group.layer[i], times, &valid, err));
    if (!valid)
        return DSE_OK;
    times->n_tile = group.plan.n_tile;
    times->head_weight_cycle = group.layer[0].weight_cycle;
    times->head_input_cycle = group.layer[0].load_cycle;
    times->head_byte = group.layer[0].weight_byte + group.layer[0].load_byte;
    run(&group, times);
    times->valid = true;
    return DSE_OK;
}
