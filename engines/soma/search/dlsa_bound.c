/* Why it is a bound. D(p) is the DRAM time of all loads whose first use is at most p, F(p) a lower bound of
 * the finish of tile p.
 *
 * 1. A transfer that began before tile q-1 was over has a start of at most q-1. A load of these that is first
 *    used at q or later lives at position q-1, beside all that must live there: local tensors, loads from
 *    their first use to their end, stored tensors from their producer to their last use. So of the loads for
 *    tiles q and later, only what the rest of the buffer holds can have begun; room(q-1) is the DRAM time of
 *    that at most. A load past the buffer has begun only where its limit is at most q-1.
 * 2. Tile p waits for all loads used up to p. For any q <= p those used at q .. p take D(p) - D(q-1), of
 *    which all but room(q-1) come after tile q-1 is over: start(p) >= F(q-1) + D(p) - D(q-1) - room(q-1). For
 *    q = 0 nothing was loaded before time 0. D(p) counts as well the stores of a layer that stand before the
 *    first load of its result. Of those that count after tile q-1, the ones of earlier tiles than q-1 may
 *    have been moved: open(q-1) is taken off with room(q-1).
 * 3. A load of layer A's result stands behind all stores of A, the last of which begins after A's last tile
 *    a. So tile p begins no earlier than F(a) + that store + all loads of A's results used up to p.
 * 4. Stores of tiles q-1 and later begin after tile q-1 is over, as do all but room(q-1) of the loads used at
 *    q or later: the end is at least F(q-1) + those loads + those stores. With q = 0 that is the sum of all
 *    transfers, with q = n_tile the last tile and its stores.
 * F(p) = c(p) + the largest of F(p-1) and these starts; the maximum over q in 2 runs along with p. A tile
 * that takes a load in pieces may begin before it is over (fused_ahead), and never ends before. */
#include "engines/soma/search/dlsa_bound.h"

#include "costmodel/fused/fused_rule.h"

struct source {
    int64_t ready;                /* its last store may be over then; set when its last tile is */
    int64_t loaded;               /* DRAM time of the loads of it so far */
    int64_t store;                /* DRAM time of the store of its last tile */
    int64_t stores;               /* DRAM time of all its stores */
    int32_t last_tile, first_use; /* first tile that waits for a load of it; n_tile: none */
};

struct bounder {
    uint32_t n_tile, n_layer;
    int64_t *load, *store; /* (n_tile) DRAM time of the loads first used at a tile, of the stores of a tile */
    int64_t *open,
        *needed; /* (n_tile) DRAM time of stores that are loaded again: by their tile, by the first to wait */
    int64_t *ahead;        /* (n_tile) so much before its loads are over a tile may begin */
    int64_t *forced;       /* (n_tile + 1) bytes that must live there; while made, differences */
    int64_t *streamed;     /* (n_tile + 1) of loads past the buffer that may have begun and whose tile is yet
                            * to come; while made, differences */
    int64_t *kept;         /* (n_tile) DRAM time of the loads into the buffer that are first used at a tile */
    int64_t *partial;      /* (n_tile) loads first used at a tile that do not fill their last cycle */
    uint32_t *first_load;  /* (n_tile + 1) into by_use */
    uint32_t *by_use;      /* (n_tensor) loads of other layers' results by their first use */
    struct source *source; /* (n_layer) */
    bool fits_bytes;       /* no load into the buffer moves more bytes than it occupies */
};

static void allocate(struct bounder *b, const struct fused_schedule *schedule, struct arena *arena)
{
    size_t n_tile = (size_t)schedule->n_tile + 2;
    b->load = arena_alloc(arena, n_tile, sizeof *b->load);
    b->store = arena_alloc(arena, n_tile, sizeof *b->store);
    b->open = arena_alloc(arena, n_tile, sizeof *b->open);
    b->needed = arena_alloc(arena, n_tile, sizeof *b->needed);
    b->ahead = arena_alloc(arena, n_tile, sizeof *b->ahead);
    b->forced = arena_alloc(arena, n_tile, sizeof *b->forced);
    b->streamed = arena_alloc(arena, n_tile, sizeof *b->streamed);
    b->kept = arena_alloc(arena, n_tile, sizeof *b->kept);
    b->partial = arena_alloc(arena, n_tile, sizeof *b->partial);
    b->first_load = arena_alloc(arena, n_tile, sizeof *b->first_load);
    b->by_use = arena_alloc(arena, schedule->n_tensor, sizeof *b->by_use);
    b->source = arena_alloc(arena, (size_t)b->n_layer + 1, sizeof *b->source);
}

static void force(struct bounder *b, int32_t first, int32_t past, uint64_t byte)
{
    if (first >= past)
        return;
    b->forced[first < 0 ? 0 : first] += (int64_t)byte;
    b->forced[past] -= (int64_t)byte;
}

static bool reads_layer(const struct fused_tensor *tensor)
{
    return tensor->kind == FUSED_IFMAP && tensor->source >= 0;
}

static void add_tensor(struct bounder *b, const struct fused_schedule *schedule,
                       const struct fused_tensor *tensor, const struct fused_machine *machine)
{
    int64_t cycle = (int64_t)fused_transfer_cycle(tensor, machine);
    if (tensor->kind == FUSED_LOCAL) {
        force(b, tensor->start, tensor->end, tensor->byte);
    } else if (tensor->kind == FUSED_OFMAP) {
        struct source *source = &b->source[tensor->layer];
        force(b, tensor->start, fused_last_touch(tensor) + 1, tensor->byte);
        b->store[tensor->producer_tile] += cycle;
        source->stores += cycle;
        if (tensor->producer_tile >= source->last_tile) {
            source->last_tile = tensor->producer_tile;
            source->store = cycle;
        }
    } else {
        int32_t use = tensor->first_use;
        force(b, use, tensor->end, tensor->byte);
        b->load[use] += cycle;
        b->ahead[use] += (int64_t)fused_ahead(tensor->streamed, (uint64_t)cycle, schedule->tile[use].cycle);
        if (tensor->streamed) {
            b->streamed[tensor->limit < 0 ? 0 : tensor->limit] += cycle;
            b->streamed[use] -= cycle;
        } else {
            b->kept[use] += cycle;
            b->partial[use] += byte_rate_partial(tensor->byte, machine->dram_rate);
            b->fits_bytes &= tensor->dram_byte <= tensor->byte;
        }
        b->first_load[use + 1] += reads_layer(tensor);
        if (reads_layer(tensor) && use < b->source[tensor->source].first_use)
            b->source[tensor->source].first_use = use;
    }
}

/* Stores that count in D, behind add_tensor of all. */
static void count_stores(struct bounder *b, const struct fused_schedule *schedule,
                         const struct fused_machine *machine)
{
    for (uint32_t l = 0; l < b->n_layer; l++)
        if (b->source[l].first_use < (int32_t)b->n_tile)
            b->needed[b->source[l].first_use] += b->source[l].stores;
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[i];
        if (tensor->kind == FUSED_OFMAP && b->source[tensor->layer].first_use < (int32_t)b->n_tile)
            b->open[tensor->producer_tile] += (int64_t)fused_transfer_cycle(tensor, machine);
    }
}

static void sort_by_use(struct bounder *b, const struct fused_schedule *schedule)
{
    for (uint32_t p = 0; p < b->n_tile; p++)
        b->first_load[p + 1] += b->first_load[p];
    uint32_t n_load = b->first_load[b->n_tile];
    for (uint32_t i = schedule->n_tensor; i-- > 0;)
        if (reads_layer(&schedule->tensor[i]))
            b->by_use[--b->first_load[schedule->tensor[i].first_use + 1]] = i;
    /* Each entry [p + 1] now is where the loads of tile p begin. */
    for (uint32_t p = 0; p < b->n_tile; p++)
        b->first_load[p] = b->first_load[p + 1];
    b->first_load[b->n_tile] = n_load;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Of tile p, by its loads of other layers' results (3). */
static int64_t start_by_sources(struct bounder *b, const struct fused_schedule *schedule,
                                const struct fused_machine *machine, uint32_t p)
{
    int64_t start = 0;
    for (uint32_t i = b->first_load[p]; i < b->first_load[p + 1]; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[b->by_use[i]];
        struct source *source = &b->source[tensor->source];
        source->loaded += (int64_t)fused_transfer_cycle(tensor, machine);
        start = larger(start, source->ready + source->loaded);
    }
    return start;
}

/* The recurrence of the comment above. */
static int64_t run(struct bounder *b, const struct fused_schedule *schedule,
                   const struct fused_machine *machine, uint64_t buffer_byte)
{
    int64_t load_left = 0, kept_left = 0, store_left = 0, partial_left = 0;
    int64_t moved = 0, finish = 0, ahead = 0, open = 0;
    for (uint32_t p = 0; p < b->n_tile; p++) {
        load_left += b->load[p];
        kept_left += b->kept[p];
        store_left += b->store[p];
        partial_left += b->partial[p];
    }
    int64_t bound = load_left + store_left;
    for (uint32_t p = 0; p < b->n_tile; p++) {
        uint32_t layer = schedule->tile[p].layer;
        moved += b->load[p] + b->needed[p];
        open += (p > 0 ? b->open[p - 1] : 0) - b->needed[p];
        int64_t loaded = larger(ahead + moved, start_by_sources(b, schedule, machine, p));
        int64_t start = larger(finish, loaded - b->ahead[p]);
        finish = start + (int64_t)schedule->tile[p].cycle;
        if (b->source[layer].last_tile == (int32_t)p)
            b->source[layer].ready = finish + b->source[layer].store;
        load_left -= b->load[p];
        kept_left -= b->kept[p];
        partial_left -= b->partial[p];
        int64_t free_byte = (int64_t)buffer_byte - b->forced[p];
        uint64_t free_cycle = byte_rate_full_cycle((uint64_t)larger(free_byte, 0), machine->dram_rate);
        int64_t room = (int64_t)free_cycle + partial_left;
        if (!b->fits_bytes || room > kept_left)
            room = kept_left;
        room += b->streamed[p];
        ahead = larger(ahead, finish - moved - room - open);
        bound = larger(bound, finish + load_left - room + store_left);
        store_left -= b->store[p];
    }
    return bound;
}

enum dse_status dlsa_bound(const struct fused_schedule *schedule, const struct fused_machine *machine,
                           uint64_t buffer_byte, struct arena *scratch, uint64_t *cycle,
                           struct dse_error *err)
{
    struct bounder b = {.n_tile = schedule->n_tile, .fits_bytes = true};
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[i];
        uint32_t layer = tensor->layer;
        if (reads_layer(tensor) && (uint32_t)tensor->source > layer)
            layer = (uint32_t)tensor->source;
        b.n_layer = layer >= b.n_layer ? layer + 1 : b.n_layer;
    }
    allocate(&b, schedule, scratch);
    DSE_TRY(arena_check(scratch, "a lower bound", err));
    for (uint32_t l = 0; l < b.n_layer; l++) {
        b.source[l].last_tile = -1;
        b.source[l].first_use = (int32_t)schedule->n_tile;
    }
    for (uint32_t i = 0; i < schedule->n_tensor; i++)
        add_tensor(&b, schedule, &schedule->tensor[i], machine);
    count_stores(&b, schedule, machine);
    for (uint32_t p = 0; p < schedule->n_tile; p++) {
        b.forced[p + 1] += b.forced[p];
        b.streamed[p + 1] += b.streamed[p];
    }
    sort_by_use(&b, schedule);
    *cycle = (uint64_t)run(&b, schedule, machine, buffer_byte);
    return DSE_OK;
}
