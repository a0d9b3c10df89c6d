#include "engines/soma/prefetch.h"

#include "costmodel/fused_rule.h"

/* Each tensor's room while it cannot be elsewhere is taken beforehand: loads at the tiles that use them, stores from their tile to
 * their last use in the buffer. What a transfer needs beyond that is added when it is placed, so a schedule that fits so far
 * can always be finished. Tiles run as soon as nothing that is still to be placed can hold them up. */
struct prefetch {
    struct fused_schedule *schedule;
    const struct fused_machine *machine;
    const struct soma_prefetch_options *options;
    uint64_t limit;
    uint32_t n_tile, n_load, n_store;
    uint32_t *load;  /* (n_load) by first use */
    bool *is_placed; /* (n_load) */
    uint32_t *store; /* (n_store) by producing tile */
    uint32_t *held;  /* (n_store) a store that is not placed yet has room up to before this position */
    uint32_t
        *n_before; /* (layer_max + 1) so many stores have to be placed before a load of that layer's result */
    uint32_t layer_max;
    uint64_t *living;    /* (n_tile) bytes at positions 0 .. */
    uint64_t *finish;    /* (n_tile + 1) of tiles, from 1; [0] is 0 */
    uint64_t *wait;      /* (n_tile + 1) when what a tile waits for is over, as far as placed */
    uint32_t next_load;  /* the first that is not placed */
    uint32_t next_store; /* stores are placed in their order */
    uint32_t n_ready;    /* stores whose tile has run */
    uint32_t n_run;      /* tiles whose times are known */
    uint32_t n_over;     /* of them, those over when the DRAM is free */
    uint64_t free;       /* when the DRAM is */
};

static const struct fused_tensor *load_of(const struct prefetch *p, uint32_t place)
{
    return &p->schedule->tensor[p->load[place]];
}

static const struct fused_tensor *store_of(const struct prefetch *p, uint32_t place)
{
    return &p->schedule->tensor[p->store[place]];
}

/* A store's first position without need for it in the buffer, once it is stored. */
static uint32_t store_end(const struct fused_tensor *tensor)
{
    return tensor->first_use < 0 ? (uint32_t)tensor->producer_tile + 1 : (uint32_t)tensor->end;
}

static uint64_t tile_start(const struct prefetch *p, uint32_t tile)
{
    return p->finish[tile] > p->wait[tile] ? p->finish[tile] : p->wait[tile];
}

/* ---- preparation ---- */

static enum dse_status allocate(struct prefetch *p, struct arena *scratch, struct dse_error *err)
{
    const struct fused_schedule *s = p->schedule;
    for (uint32_t i = 0; i < s->n_tensor; i++) {
        p->n_load += fused_is_load(&s->tensor[i]);
        p->n_store += s->tensor[i].kind == FUSED_OFMAP;
        if (s->tensor[i].layer > p->layer_max)
            p->layer_max = s->tensor[i].layer;
    }
    p->load = arena_alloc(scratch, (size_t)p->n_load + 1, sizeof(*p->load));
    p->is_placed = arena_alloc(scratch, (size_t)p->n_load + 1, sizeof(*p->is_placed));
    p->store = arena_alloc(scratch, (size_t)p->n_store + 1, sizeof(*p->store));
    p->held = arena_alloc(scratch, (size_t)p->n_store + 1, sizeof(*p->held));
    p->n_before = arena_alloc(scratch, (size_t)p->layer_max + 1, sizeof(*p->n_before));
    p->living = arena_alloc(scratch, (size_t)p->n_tile + 1, sizeof(*p->living));
    p->finish = arena_alloc(scratch, (size_t)p->n_tile + 1, sizeof(*p->finish));
    p->wait = arena_alloc(scratch, (size_t)p->n_tile + 1, sizeof(*p->wait));
    if (!p->load || !p->is_placed || !p->store || !p->held || !p->n_before || !p->living || !p->finish ||
        !p->wait)
        return dse_fail(err, DSE_NO_MEMORY, "no memory to prefetch %u tensors", s->n_tensor);
    return DSE_OK;
}

/* Loads by first use, of one tile weights first, and stores by tile: counting sorts. */
static enum dse_status sort(struct prefetch *p, struct arena *scratch, struct dse_error *err)
{
    const struct fused_schedule *s = p->schedule;
    uint32_t *load_at = arena_alloc(scratch, (size_t)p->n_tile + 2, sizeof(*load_at));
    uint32_t *store_at = arena_alloc(scratch, (size_t)p->n_tile + 2, sizeof(*store_at));
    if (!load_at || !store_at)
        return dse_fail(err, DSE_NO_MEMORY, "no memory to prefetch %u tensors", s->n_tensor);
    for (uint32_t i = 0; i < s->n_tensor; i++) {
        if (fused_is_load(&s->tensor[i]))
            load_at[s->tensor[i].first_use + 1]++;
        else if (s->tensor[i].kind == FUSED_OFMAP)
            store_at[s->tensor[i].producer_tile + 1]++;
    }
    for (uint32_t x = 0; x < p->n_tile; x++) {
        load_at[x + 1] += load_at[x];
        store_at[x + 1] += store_at[x];
    }
    for (int weights = 1; weights >= 0; weights--)
        for (uint32_t i = 0; i < s->n_tensor; i++) {
            const struct fused_tensor *tensor = &s->tensor[i];
            if (fused_is_load(tensor) && (tensor->kind == FUSED_WEIGHT) == (weights != 0))
                p->load[load_at[tensor->first_use]++] = i;
            else if (tensor->kind == FUSED_OFMAP && weights)
                p->store[store_at[tensor->producer_tile]++] = i;
        }
    for (uint32_t i = 0; i < p->n_store; i++) {
        p->n_before[store_of(p, i)->layer] = i + 1;
        p->held[i] = store_end(store_of(p, i));
    }
    return DSE_OK;
}

/* The room that every tensor needs in any case. False: it does not fit. */
static bool reserve(struct prefetch *p)
{
    const struct fused_schedule *s = p->schedule;
    uint64_t *change = p->living;
    for (uint32_t i = 0; i < s->n_tensor; i++) {
        const struct fused_tensor *tensor = &s->tensor[i];
        int32_t start = fused_is_load(tensor) ? tensor->first_use : tensor->start;
        uint32_t end = tensor->kind == FUSED_OFMAP ? store_end(tensor) : (uint32_t)tensor->end;
        change[start < 0 ? 0 : start] += tensor->byte; /* unsigned wrap cancels out */
        change[end] -= tensor->byte;
    }
    for (uint32_t x = 0; x < p->n_tile; x++) {
        p->living[x] += x > 0 ? p->living[x - 1] : 0;
        if (p->living[x] > p->limit)
            return false;
    }
    return true;
}

/* ---- tiles ---- */

/* Keep the stores that wait for the DRAM while tile x runs. False: no room. */
static bool hold_stores(struct prefetch *p, uint32_t x)
{
    uint64_t byte = p->living[x];
    for (uint32_t i = p->next_store; i < p->n_ready; i++)
        if (p->held[i] <= x)
            byte += store_of(p, i)->byte;
    if (byte > p->limit)
        return false;
    p->living[x] = byte;
    for (uint32_t i = p->next_store; i < p->n_ready; i++)
        if (p->held[i] <= x)
            p->held[i] = x + 1;
    return true;
}

/* Run the next tile when it is over by `until`. False also when it waits for a load that is not placed, or for room that a store
 * has to leave. */
static bool run_tile(struct prefetch *p, uint64_t until)
{
    uint32_t x = p->n_run;
    if (x >= p->n_tile || (p->next_load < p->n_load && (int32_t)x >= load_of(p, p->next_load)->first_use))
        return false;
    uint64_t finish = tile_start(p, x) + p->schedule->tile[x].cycle;
    if (finish > until || !hold_stores(p, x))
        return false;
    p->finish[++p->n_run] = finish;
    while (p->n_ready < p->n_store && store_of(p, p->n_ready)->producer_tile == (int32_t)x)
        p->n_ready++;
    return true;
}

static bool run_until(struct prefetch *p, uint32_t n_tile)
{
    while (p->n_run < n_tile)
        if (!run_tile(p, FUSED_NEVER))
            return false;
    return true;
}

/* ---- placing ---- */

static void place(struct prefetch *p, uint32_t tensor, uint64_t finish)
{
    p->schedule->dram_order[p->schedule->n_dram++] = tensor;
    p->free = finish;
    for (;;) {
        while (p->n_over < p->n_run && p->finish[p->n_over + 1] <= finish)
            p->n_over++;
        if (p->n_over < p->n_run || !run_tile(p, finish))
            return;
    }
}

static void place_load(struct prefetch *p, uint32_t at, uint32_t start)
{
    struct fused_tensor *tensor = &p->schedule->tensor[p->load[at]];
    uint64_t ready = p->finish[start];
    uint64_t finish =
        (ready > p->free ? ready : p->free) + fused_transfer_cycle(tensor->dram_byte, p->machine);
    for (uint32_t x = start; x < (uint32_t)tensor->first_use; x++)
        p->living[x] += tensor->byte;
    tensor->start = (int32_t)start;
    if (p->wait[tensor->first_use] < finish)
        p->wait[tensor->first_use] = finish;
    p->is_placed[at] = true;
    while (p->next_load < p->n_load && p->is_placed[p->next_load])
        p->next_load++;
    place(p, p->load[at], finish);
}

/* The store lives until the first tile that starts after it without waiting, or that finds no room beside it. */
static void place_store(struct prefetch *p)
{
    struct fused_tensor *tensor = &p->schedule->tensor[p->store[p->next_store]];
    uint64_t ready = p->finish[tensor->producer_tile + 1];
    uint64_t finish =
        (ready > p->free ? ready : p->free) + fused_transfer_cycle(tensor->dram_byte, p->machine);
    uint32_t end = store_end(tensor);
    while (end < p->n_tile) {
        if (end < p->n_run) {
            if (p->finish[end + 1] - p->schedule->tile[end].cycle >= finish)
                break;
            end++;
        } else if (tile_start(p, p->n_run) >= finish || !run_tile(p, FUSED_NEVER)) {
            break;
        }
    }
    for (uint32_t x = end; x < p->held[p->next_store]; x++)
        p->living[x] -= tensor->byte;
    tensor->end = (int32_t)end;
    if (p->wait[end] < finish)
        p->wait[end] = finish;
    place(p, p->store[p->next_store++], finish);
}

/* ---- decisions ---- */

/* The first position from which there is room up to the first use, not before the tile that is next when the DRAM is free. */
static uint32_t earliest_start(const struct prefetch *p, const struct fused_tensor *tensor)
{
    uint32_t start = (uint32_t)tensor->first_use;
    while (start > p->n_over && p->living[start - 1] + tensor->byte <= p->limit)
        start--;
    return start;
}

static bool waits_for_store(const struct prefetch *p, const struct fused_tensor *load)
{
    return load->kind == FUSED_IFMAP && load->source >= 0 && (uint32_t)load->source <= p->layer_max &&
           p->n_before[load->source] > p->next_store;
}

static void add_living(struct prefetch *p, const struct fused_tensor *tensor, uint32_t start, bool add)
{
    for (uint32_t x = start; x < (uint32_t)tensor->first_use; x++)
        p->living[x] += add ? tensor->byte : 0 - tensor->byte;
}

/* Move a load from further back into the time before `until`, which the DRAM would wait. */
static bool fill_gap(struct prefetch *p, uint32_t from, uint64_t until)
{
    if (until <= p->free || p->next_load == p->n_load)
        return false;
    int32_t need = p->options->fill_rule == SOMA_FILL_ANY ? INT32_MAX : load_of(p, p->next_load)->first_use;
    uint32_t n = 0;
    for (uint32_t at = from; at < p->n_load && n < p->options->look_ahead; at++) {
        const struct fused_tensor *tensor = load_of(p, at);
        if (p->is_placed[at])
            continue;
        n++;
        if (waits_for_store(p, tensor) ||
            (tensor->first_use > need &&
             p->free + fused_transfer_cycle(tensor->dram_byte, p->machine) > until) ||
            earliest_start(p, tensor) > p->n_over)
            continue;
        place_load(p, at, p->n_over);
        return true;
    }
    return false;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The next store has to go first, when its tile is over. */
static void force_store(struct prefetch *p)
{
    uint32_t tile = (uint32_t)store_of(p, p->next_store)->producer_tile;
    (void)run_until(p, tile + 1);
    if (!fill_gap(p, p->next_load, p->finish[tile + 1]))
        place_store(p);
}

static bool store_goes_first(const struct prefetch *p, uint64_t load_start)
{
    if (p->next_store == p->n_ready)
        return false;
    const struct fused_tensor *store = store_of(p, p->next_store);
    uint64_t start = later(p->free, p->finish[store->producer_tile + 1]);
    if (p->options->store_rule == SOMA_STORE_SOON)
        return start <= load_start;
    return start + fused_transfer_cycle(store->dram_byte, p->machine) <= load_start;
}

static void place_next(struct prefetch *p)
{
    if (p->next_load == p->n_load || waits_for_store(p, load_of(p, p->next_load))) {
        force_store(p);
        return;
    }
    const struct fused_tensor *load = load_of(p, p->next_load);
    uint32_t start = earliest_start(p, load);
    if (!run_until(p, start)) {
        force_store(p);
        return;
    }
    uint64_t time = later(p->free, p->finish[start]);
    if (store_goes_first(p, time)) {
        place_store(p);
        return;
    }
    bool filled = false;
    if (time > p->free && p->options->look_ahead > 0) {
        add_living(p, load, start, true);
        uint32_t next = p->next_load;
        filled = fill_gap(p, next + 1, time);
        add_living(p, load, start, false);
    }
    if (!filled)
        place_load(p, p->next_load, start);
}

static void sum_up(const struct prefetch *p, struct soma_prefetch_result *result)
{
    const struct fused_schedule *s = p->schedule;
    for (uint32_t x = 0; x < s->n_tile; x++) {
        result->compute_cycle += s->tile[x].cycle;
        result->core_energy_j += s->tile[x].energy_j;
    }
    for (uint32_t k = 0; k < s->n_dram; k++) {
        uint64_t byte = s->tensor[s->dram_order[k]].dram_byte;
        result->dram_byte += byte;
        result->dram_cycle += fused_transfer_cycle(byte, p->machine);
    }
}

enum dse_status soma_prefetch(struct fused_schedule *schedule, const struct fused_machine *machine,
                              uint64_t buffer_limit, const struct soma_prefetch_options *options,
                              struct arena *scratch, struct soma_prefetch_result *result,
                              struct dse_error *err)
{
    struct prefetch p = {.schedule = schedule,
                         .machine = machine,
                         .options = options,
                         .limit = buffer_limit,
                         .n_tile = schedule->n_tile};
    *result = (struct soma_prefetch_result){.cycle = FUSED_NEVER};
    DSE_TRY(allocate(&p, scratch, err));
    if (!reserve(&p))
        return DSE_OK;
    DSE_TRY(sort(&p, scratch, err));
    uint32_t n_dram = schedule->n_dram;
    schedule->n_dram = 0;
    while (schedule->n_dram < n_dram)
        place_next(&p);
    (void)run_until(&p, p.n_tile);
    result->fits = true;
    result->cycle = later(p.free, p.finish[p.n_tile]);
    sum_up(&p, result);
    return DSE_OK;
}
