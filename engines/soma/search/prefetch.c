/* Places one transfer after the other at its earliest time, runs tiles as far as they can, and holds
 * stores back where room allows; bytes per position are kept up to date. */
#include "engines/soma/search/prefetch.h"

#include <string.h>

#include "base/clock.h"
#include "costmodel/fused/fused_rule.h"
#include "engines/soma/search/living.h"

enum { PLACED_AT_ONCE = 256 }; /* transfers between two looks at the clock */

/* A run under way when the search ends may go on for so long: then what it prices still counts. */
static const double patience_s = 0.1;

/* Each tensor's room while it cannot be elsewhere is taken beforehand: loads at the tiles that use them,
 * stores from their tile to their last use in the buffer. What a transfer needs beyond that is added when it
 * is placed, so a schedule that fits so far can always be finished. Tiles run as soon as nothing that is
 * still to be placed can hold them up. */
struct soma_prefetcher {
    const struct fused_tensor *tensor; /* the schedule's; what a run changes is not read */
    const struct fused_tile *tile;
    const struct soma_search *search;
    const struct fused_machine *machine;
    const struct soma_prefetch_options *options; /* of the run */
    uint64_t limit;
    uint32_t n_tile, n_load, n_store, layer_max;
    uint64_t core_cycle, dram_cycle; /* of all tiles, of all loads and stores */
    uint32_t *by_need;               /* (n_load) tensors by first use */
    uint32_t *store;                 /* (n_store) tensors by producing tile */
    /* (n_store) the first position without need for it in the buffer, once it is stored */
    uint32_t *store_end;
    /* (layer_max + 1) so many stores have to be placed before a load of that layer's result */
    uint32_t *n_before;
    struct soma_living reserved; /* (n_tile) bytes at positions 0 .. in any case */
    /* Of one run. */
    const uint32_t *load; /* (n_load) tensors in the order in which they are to be moved */
    uint32_t *at;         /* (tensors) where a load stands in that; UINT32_MAX: it is placed */
    /* (n_load + 1) of a load that is not placed, by its place in `load`: those before and behind it */
    uint32_t *before, *behind;
    int32_t *start; /* (tensors) of loads */
    uint32_t *held; /* (n_store) of stores that are placed: their end */
    /* (n_tile + 1) bytes of waiting stores (ready, not placed) by store_end, where that is behind n_held */
    uint64_t *ends;
    uint64_t late; /* bytes of the other waiting stores */
    /* waiting stores have room up to before this position, or before their store_end if that is behind it */
    uint32_t n_held;
    struct soma_living living; /* (n_tile) bytes at positions 0 .. */
    uint64_t *finish;          /* (n_tile + 1) of tiles, from 1; [0] is 0 */
    uint64_t *wait;            /* (n_tile + 1) when what a tile waits for is over, as far as placed */
    uint32_t *order;           /* (n_placed) the DRAM order */
    uint32_t n_placed;
    uint32_t next_load;            /* the first of `load` that is not placed; n_load: none */
    uint32_t next_need;            /* the first of `by_need` that is not placed */
    uint32_t next_store;           /* stores are placed in their order */
    uint32_t n_ready;              /* stores whose tile has run */
    uint32_t last_start;           /* of the loads that are placed */
    uint32_t n_run;                /* tiles whose times are known */
    uint32_t n_over;               /* of them, those over when the DRAM is free */
    uint64_t free;                 /* when the DRAM is */
    uint64_t core_left, dram_left; /* cycles of the tiles that have not run, of what is not placed */
};

static const struct fused_tensor *store_of(const struct soma_prefetcher *p, uint32_t place)
{
    return &p->tensor[p->store[place]];
}

static uint64_t tile_start(const struct soma_prefetcher *p, uint32_t tile)
{
    return p->finish[tile] > p->wait[tile] ? p->finish[tile] : p->wait[tile];
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- preparation ---- */

static void allocate(struct soma_prefetcher *p, uint32_t n_tensor, struct arena *arena)
{
    size_t n_tile = (size_t)p->n_tile + 1, n_load = (size_t)p->n_load + 1, n_store = (size_t)p->n_store + 1;
    p->by_need = arena_alloc(arena, n_load, sizeof(*p->by_need));
    p->store = arena_alloc(arena, n_store, sizeof(*p->store));
    p->store_end = arena_alloc(arena, n_store, sizeof(*p->store_end));
    p->held = arena_alloc(arena, n_store, sizeof(*p->held));
    p->ends = arena_alloc(arena, n_tile, sizeof(*p->ends));
    p->n_before = arena_alloc(arena, (size_t)p->layer_max + 1, sizeof(*p->n_before));
    soma_living_new(p->n_tile, arena, &p->reserved);
    soma_living_new(p->n_tile, arena, &p->living);
    p->finish = arena_alloc(arena, n_tile, sizeof(*p->finish));
    p->wait = arena_alloc(arena, n_tile, sizeof(*p->wait));
    p->at = arena_alloc(arena, (size_t)n_tensor + 1, sizeof(*p->at));
    p->before = arena_alloc(arena, n_load, sizeof(*p->before));
    p->behind = arena_alloc(arena, n_load, sizeof(*p->behind));
    p->start = arena_alloc(arena, (size_t)n_tensor + 1, sizeof(*p->start));
    p->order = arena_alloc(arena, n_load + n_store, sizeof(*p->order));
}

/* Loads by first use, of one tile weights first, and stores by tile: counting sorts. `at` (n_tile + 2 each,
 * zero). */
static void sort(struct soma_prefetcher *p, uint32_t n_tensor, uint32_t *load_at, uint32_t *store_at)
{
    for (uint32_t i = 0; i < n_tensor; i++) {
        if (fused_is_load(&p->tensor[i]))
            load_at[p->tensor[i].first_use + 1]++;
        else if (p->tensor[i].kind == FUSED_OFMAP)
            store_at[p->tensor[i].producer_tile + 1]++;
    }
    for (uint32_t x = 0; x < p->n_tile; x++) {
        load_at[x + 1] += load_at[x];
        store_at[x + 1] += store_at[x];
    }
    for (int weights = 1; weights >= 0; weights--)
        for (uint32_t i = 0; i < n_tensor; i++) {
            const struct fused_tensor *tensor = &p->tensor[i];
            bool first = tensor->kind == FUSED_WEIGHT && !tensor->streamed;
            if (fused_is_load(tensor) && first == (weights != 0))
                p->by_need[load_at[tensor->first_use]++] = i;
            else if (tensor->kind == FUSED_OFMAP && weights)
                p->store[store_at[tensor->producer_tile]++] = i;
        }
    for (uint32_t i = 0; i < p->n_store; i++) {
        const struct fused_tensor *store = store_of(p, i);
        p->n_before[store->layer] = i + 1;
        p->store_end[i] = store->first_use < 0 ? (uint32_t)store->producer_tile + 1 : (uint32_t)store->end;
    }
}

/* The room that every tensor needs in any case. The first tile at which it is too much; n_tile: none. */
static uint32_t reserve(struct soma_prefetcher *p, uint32_t n_tensor)
{
    uint64_t *change = p->reserved.byte, living = 0;
    for (uint32_t i = 0; i < n_tensor; i++) {
        const struct fused_tensor *tensor = &p->tensor[i];
        int32_t start = fused_is_load(tensor) ? tensor->first_use : tensor->start;
        if (tensor->kind == FUSED_OFMAP)
            continue;
        change[start < 0 ? 0 : start] += tensor->byte; /* unsigned wrap cancels out */
        change[tensor->end] -= tensor->byte;
    }
    for (uint32_t i = 0; i < p->n_store; i++) {
        change[store_of(p, i)->start] += store_of(p, i)->byte;
        change[p->store_end[i]] -= store_of(p, i)->byte;
    }
    for (uint32_t x = 0; x < p->n_tile; x++) {
        uint64_t *most = &p->reserved.most[x / SOMA_LIVING_BLOCK];
        living = change[x] += living;
        *most = later(*most, living);
        if (living > p->limit)
            return x;
    }
    return p->n_tile;
}

static bool is_given_up(const struct soma_prefetcher *p)
{
    return soma_context_gives_up(&p->search->context, p->n_tile);
}

enum dse_status soma_prefetcher_new(const struct fused_schedule *schedule, const struct soma_search *search,
                                    struct arena *arena, struct soma_prefetcher **made, uint32_t *full,
                                    struct dse_error *err)
{
    struct soma_prefetcher *p = arena_alloc(arena, 1, sizeof *p);
    uint32_t *load_at = arena_alloc(arena, (size_t)schedule->n_tile + 2, sizeof(*load_at));
    uint32_t *store_at = arena_alloc(arena, (size_t)schedule->n_tile + 2, sizeof(*store_at));
    *made = NULL;
    DSE_TRY(arena_check(arena, "prefetching", err));
    p->tensor = schedule->tensor;
    p->tile = schedule->tile;
    p->search = search;
    p->machine = &search->machine;
    p->limit = search->machine.buffer_byte;
    p->n_tile = schedule->n_tile;
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[i];
        p->n_load += fused_is_load(tensor);
        p->n_store += tensor->kind == FUSED_OFMAP;
        if (tensor->kind != FUSED_LOCAL)
            p->dram_cycle += fused_transfer_cycle(tensor, p->machine);
        if (tensor->layer > p->layer_max)
            p->layer_max = tensor->layer;
    }
    for (uint32_t x = 0; x < p->n_tile; x++)
        p->core_cycle += p->tile[x].cycle;
    *full = 0;
    if (is_given_up(p))
        return DSE_OK;
    allocate(p, schedule->n_tensor, arena);
    DSE_TRY(arena_check(arena, "prefetching", err));
    if (is_given_up(p))
        return DSE_OK;
    sort(p, schedule->n_tensor, load_at, store_at);
    if (is_given_up(p))
        return DSE_OK;
    *full = reserve(p, schedule->n_tensor);
    if (*full == p->n_tile)
        *made = p;
    return DSE_OK;
}

/* ---- tiles ---- */

/* A store begins to wait for the DRAM, or its wait is over. */
static void count_waiting(struct soma_prefetcher *p, uint32_t place, bool waits)
{
    uint64_t byte = store_of(p, place)->byte,
             *sum = p->store_end[place] <= p->n_held ? &p->late : &p->ends[p->store_end[place]];
    *sum += waits ? byte : 0 - byte;
}

/* Keep the stores that wait for the DRAM while tile x runs, or when a load that may begin before it needs
 * `more` bytes there. False: no room. x is at most n_run, so n_held is x or there is nothing to do. */
static bool hold_stores(struct soma_prefetcher *p, uint32_t x, uint64_t more)
{
    bool held = p->n_held > x;
    if (soma_living_at(&p->living, x) + (held ? 0 : p->late) + more > p->limit)
        return false;
    if (held)
        return true;
    if (p->late > 0)
        soma_living_add(&p->living, x, x + 1, p->late);
    p->late += p->ends[++p->n_held];
    return true;
}

/* The first tile that waits for a load that is not placed; n_tile: none. */
static uint32_t next_need(const struct soma_prefetcher *p)
{
    return p->next_need < p->n_load ? (uint32_t)p->tensor[p->by_need[p->next_need]].first_use : p->n_tile;
}

/* Whether the next store, whose tile is over, has to be placed before tile x runs: its level has room for no
 * more. The ones behind it may wait longer. */
static bool store_is_due(const struct soma_prefetcher *p, uint32_t x)
{
    return p->next_store < p->n_ready && store_of(p, p->next_store)->streamed &&
           store_of(p, p->next_store)->limit <= (int32_t)x;
}

/* Run the next tile when it is over by `until`. False also when it waits for a load that is not placed, or
 * for room that a store has to leave. */
static bool run_tile(struct soma_prefetcher *p, uint64_t until)
{
    uint32_t x = p->n_run;
    if (x >= p->n_tile || x >= next_need(p) || store_is_due(p, x))
        return false;
    uint64_t finish = tile_start(p, x) + p->tile[x].cycle;
    if (finish > until || !hold_stores(p, x, 0))
        return false;
    p->finish[++p->n_run] = finish;
    p->core_left -= p->tile[x].cycle;
    while (p->n_ready < p->n_store && store_of(p, p->n_ready)->producer_tile == (int32_t)x)
        count_waiting(p, p->n_ready++, true);
    return true;
}

static bool run_until(struct soma_prefetcher *p, uint32_t n_tile)
{
    while (p->n_run < n_tile)
        if (!run_tile(p, FUSED_NEVER))
            return false;
    return true;
}

/* ---- placing ---- */

static void place(struct soma_prefetcher *p, uint32_t tensor, uint64_t finish)
{
    p->order[p->n_placed++] = tensor;
    p->free = finish;
    for (;;) {
        while (p->n_over < p->n_run && p->finish[p->n_over + 1] <= finish)
            p->n_over++;
        if (p->n_over < p->n_run || !run_tile(p, finish))
            return;
    }
}

/* Of the loads that are not placed. */
static void take_out(struct soma_prefetcher *p, uint32_t load)
{
    uint32_t at = p->at[load], before = p->before[at], behind = p->behind[at];
    p->before[behind] = before;
    if (at == p->next_load)
        p->next_load = behind;
    else
        p->behind[before] = behind;
    p->at[load] = UINT32_MAX;
}

/* The load's room is taken already (add_living). */
static void place_load(struct soma_prefetcher *p, uint32_t id, uint32_t start)
{
    const struct fused_tensor *tensor = &p->tensor[id];
    uint32_t first_use = (uint32_t)tensor->first_use;
    uint64_t cycle = fused_transfer_cycle(tensor, p->machine);
    uint64_t finish = later(p->finish[start], p->free) + cycle;
    p->dram_left -= cycle;
    p->start[id] = (int32_t)start;
    p->last_start = start > p->last_start ? start : p->last_start;
    p->wait[first_use] =
        later(p->wait[first_use], finish - fused_ahead(tensor->streamed, cycle, p->tile[first_use].cycle));
    take_out(p, id);
    while (p->next_need < p->n_load && p->at[p->by_need[p->next_need]] == UINT32_MAX)
        p->next_need++;
    place(p, id, finish);
}

/* The store lives until the first tile that starts after it without waiting, or that finds no room beside it;
 * and longer than up to where a load starts that stands before it, for which it was held. */
static void place_store(struct soma_prefetcher *p)
{
    uint32_t at = p->next_store, end = p->store_end[at];
    const struct fused_tensor *tensor = store_of(p, at);
    uint64_t cycle = fused_transfer_cycle(tensor, p->machine);
    uint64_t finish = later(p->finish[tensor->producer_tile + 1], p->free) + cycle;
    p->dram_left -= cycle;
    end = end > p->last_start ? end : p->last_start + 1;
    uint32_t most = tensor->streamed ? (uint32_t)tensor->limit : p->n_tile;
    while (end < most) {
        if (end < p->n_run) {
            if (p->finish[end + 1] - p->tile[end].cycle >= finish)
                break;
            end++;
        } else if (tile_start(p, p->n_run) >= finish || !run_tile(p, FUSED_NEVER)) {
            break;
        }
    }
    uint32_t held = p->store_end[at] > p->n_held ? p->store_end[at] : p->n_held;
    soma_living_add(&p->living, end, held, 0 - tensor->byte);
    count_waiting(p, at, false);
    p->held[at] = end;
    p->wait[end] = later(p->wait[end], finish);
    p->next_store++;
    place(p, p->store[at], finish);
}

/* ---- decisions ---- */

/* The first position from which there is room up to the first use, not before the tile that is next when the
 * DRAM is free. */
static uint32_t earliest_start(const struct soma_prefetcher *p, const struct fused_tensor *tensor)
{
    uint32_t first_use = (uint32_t)tensor->first_use;
    if (tensor->byte > p->limit)
        return first_use;
    if (tensor->streamed)
        return tensor->limit > (int32_t)p->n_over ? (uint32_t)tensor->limit : p->n_over;
    return soma_living_back(&p->living, p->n_over, first_use, p->limit - tensor->byte);
}

static bool waits_for_store(const struct soma_prefetcher *p, const struct fused_tensor *load)
{
    return load->kind == FUSED_IFMAP && load->source >= 0 && (uint32_t)load->source <= p->layer_max &&
           p->n_before[load->source] > p->next_store;
}

/* Take the room of a load from `start` to its first use, or give it back. */
static void add_living(struct soma_prefetcher *p, const struct fused_tensor *tensor, uint32_t start, bool add)
{
    soma_living_add(&p->living, start, (uint32_t)tensor->first_use, add ? tensor->byte : 0 - tensor->byte);
}

/* Whether there is room for a load from when the DRAM is free to its first use. `*seen` and `*most`: the
 * positions up to there were looked at, for loads before this one, and so much is alive at them at most. */
static bool has_room(const struct soma_prefetcher *p, const struct fused_tensor *load, uint32_t *seen,
                     uint64_t *most)
{
    if (load->byte > p->limit)
        return (uint32_t)load->first_use <= p->n_over;
    if (load->streamed)
        return load->limit <= (int32_t)p->n_over;
    if ((uint32_t)load->first_use < *seen)
        return earliest_start(p, load) <= p->n_over;
    uint64_t room = p->limit - load->byte;
    return *most <= room && soma_living_below(&p->living, seen, (uint32_t)load->first_use, room, most);
}

/* Move a load into the time before `until`, which the DRAM would wait for `but`. */
static bool fill_gap(struct soma_prefetcher *p, uint32_t but, uint64_t until)
{
    if (until <= p->free || store_is_due(p, p->n_over))
        return false;
    uint32_t seen = p->n_over;
    uint64_t most = 0;
    uint32_t need = p->options->fill_rule == SOMA_FILL_ANY ? UINT32_MAX : next_need(p), n = 0;
    for (uint32_t at = p->next_load; at < p->n_load && n < p->options->look_ahead; at = p->behind[at]) {
        const struct fused_tensor *tensor = &p->tensor[p->load[at]];
        if (p->load[at] == but)
            continue;
        n++;
        if (waits_for_store(p, tensor) ||
            ((uint32_t)tensor->first_use > need &&
             p->free + fused_transfer_cycle(tensor, p->machine) > until) ||
            !has_room(p, tensor, &seen, &most) ||
            !hold_stores(p, p->n_over, p->n_over < (uint32_t)tensor->first_use ? tensor->byte : 0))
            continue;
        add_living(p, tensor, p->n_over, true);
        place_load(p, p->load[at], p->n_over);
        return true;
    }
    return false;
}

/* The next store has to go first, when its tile is over. */
static void force_store(struct soma_prefetcher *p)
{
    uint32_t tile = (uint32_t)store_of(p, p->next_store)->producer_tile;
    (void)run_until(p, tile + 1);
    if (!fill_gap(p, UINT32_MAX, p->finish[tile + 1]))
        place_store(p);
}

static bool store_goes_first(const struct soma_prefetcher *p, uint64_t load_start)
{
    if (p->next_store == p->n_ready)
        return false;
    const struct fused_tensor *store = store_of(p, p->next_store);
    uint64_t start = later(p->free, p->finish[store->producer_tile + 1]);
    if (p->options->store_rule == SOMA_STORE_SOON)
        return start <= load_start;
    return start + fused_transfer_cycle(store, p->machine) <= load_start;
}

/* The next load of the order, or the one that holds up the tiles when those have to run first. */
static uint32_t pick_load(const struct soma_prefetcher *p, uint32_t *start)
{
    uint32_t id = p->load[p->next_load];
    *start = earliest_start(p, &p->tensor[id]);
    if (*start > next_need(p) || waits_for_store(p, &p->tensor[id])) {
        id = p->by_need[p->next_need];
        *start = earliest_start(p, &p->tensor[id]);
    }
    return id;
}

static void place_next(struct soma_prefetcher *p)
{
    if (p->next_load == p->n_load) {
        force_store(p);
        return;
    }
    uint32_t start, id = pick_load(p, &start);
    const struct fused_tensor *load = &p->tensor[id];
    if (waits_for_store(p, load) || !run_until(p, start)) {
        force_store(p);
        return;
    }
    uint64_t time = later(p->free, p->finish[start]);
    if (store_goes_first(p, time) || store_is_due(p, start)) {
        place_store(p);
        return;
    }
    add_living(p, load, start, true);
    bool filled = time > p->free && p->options->look_ahead > 0 && fill_gap(p, id, time);
    if (!filled && hold_stores(p, start, 0)) {
        place_load(p, id, start);
        return;
    }
    add_living(p, load, start, false);
    if (!filled)
        place_store(p);
}

static bool is_too_late(const struct soma_prefetcher *p, double *until_s)
{
    if (!soma_search_is_over(p->search))
        return false;
    double now_s = clock_wall_s();
    *until_s = *until_s > 0 ? *until_s : now_s + patience_s;
    return now_s >= *until_s;
}

/* Whether what is left takes the whole beyond so many cycles. */
static bool is_too_long(const struct soma_prefetcher *p, uint64_t most)
{
    return p->free + p->dram_left > most || p->finish[p->n_run] + p->core_left > most;
}

uint64_t soma_prefetcher_run(struct soma_prefetcher *p, const struct soma_prefetch_options *options,
                             const uint32_t *load_order, uint64_t most)
{
    p->options = options;
    p->load = load_order ? load_order : p->by_need;
    p->n_placed = p->next_load = p->next_need = p->next_store = p->n_ready = p->n_run = p->n_over = 0;
    p->last_start = p->n_held = 0;
    p->free = p->late = 0;
    p->core_left = p->core_cycle;
    p->dram_left = p->dram_cycle;
    for (uint32_t i = 0; i < p->n_load; i++) {
        p->at[p->load[i]] = i;
        p->before[i] = i - 1; /* of the first, never asked for */
        p->behind[i] = i + 1;
    }
    memset(p->ends, 0, ((size_t)p->n_tile + 1) * sizeof *p->ends);
    soma_living_copy(&p->reserved, &p->living);
    memset(p->wait, 0, ((size_t)p->n_tile + 1) * sizeof *p->wait);
    double until_s = 0;
    for (uint32_t n = 1; p->n_placed < p->n_load + p->n_store; n++) {
        place_next(p);
        if (is_too_long(p, most) || (n % PLACED_AT_ONCE == 0 && is_too_late(p, &until_s)))
            return FUSED_NEVER;
    }
    (void)run_until(p, p->n_tile);
    return later(p->free, p->finish[p->n_tile]);
}

void soma_prefetcher_save(const struct soma_prefetcher *p, struct fused_schedule *schedule)
{
    schedule->n_dram = p->n_placed;
    memcpy(schedule->dram_order, p->order, p->n_placed * sizeof *p->order);
    for (uint32_t i = 0; i < p->n_load; i++)
        schedule->tensor[p->by_need[i]].start = p->start[p->by_need[i]];
    for (uint32_t i = 0; i < p->n_store; i++)
        schedule->tensor[p->store[i]].end = (int32_t)p->held[i];
}

const uint32_t *soma_prefetcher_loads(const struct soma_prefetcher *p, uint32_t *n)
{
    *n = p->n_load;
    return p->by_need;
}

/* One step of an insertion sort: load i of those by need, with its key, among those before. */
static void insert(const struct soma_prefetcher *p, uint32_t i, double k, uint32_t *order, double *key)
{
    uint32_t at = i;
    for (; at > 0 && key[at - 1] > k; at--) {
        key[at] = key[at - 1];
        order[at] = order[at - 1];
    }
    key[at] = k;
    order[at] = p->by_need[i];
}

void soma_prefetcher_lead(const struct soma_prefetcher *p, const int32_t *lead, uint32_t *order, double *key)
{
    for (uint32_t i = 0; i < p->n_load; i++) {
        const struct fused_tensor *load = &p->tensor[p->by_need[i]];
        int32_t early = load->kind == FUSED_WEIGHT ? lead[load->layer] : 0;
        insert(p, i, (double)load->first_use - early, order, key);
    }
}

void soma_prefetcher_order(const struct soma_prefetcher *p, double weight, uint32_t *order, double *key)
{
    for (uint32_t i = 0; i < p->n_load; i++) {
        const struct fused_tensor *load = &p->tensor[p->by_need[i]];
        double k = (double)tile_start(p, (uint32_t)load->first_use) -
                   weight * (double)fused_transfer_cycle(load, p->machine);
        insert(p, i, k, order, key);
    }
}
