/* A hash table of layer groups by a 128-bit key, and how the times of consecutive groups are joined
 * without looking at their tiles again. */
#include "engines/soma/search/lfa_price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "costmodel/fused/fused_rule.h"
#include "engines/soma/search/lfa_group.h"

enum { FIRST_ROOM = 1 << 8, ROOM_MAX = 1 << 17 };

#define GROUP_START (1u << 31)

/* A layer group's key is the hash of its layers, group borders and tiling numbers, twice: 128 bits. */
struct entry {
    uint64_t key_too; /* the second half of the key */
    struct soma_group_times times;
};

/* Slots are small and entries lie one after the other, so that what is looked through and moved stays in the
 * caches. */
struct slot {
    uint64_t key; /* the first half; 0: empty */
    struct entry *entry;
};

/* The layer groups that were asked for last, by the position of their first layer in the order: of a scheme
 * that a move has changed, all but the few it touched are found here, without a hash. */
struct remembered {
    struct entry **entry; /* (n_layer) NULL: none begins here */
    uint32_t *n_word;     /* (n_layer) of its key */
    uint32_t *word;       /* (2 n_layer) those behind the first, from 2 x its position on */
    uint32_t *owner;      /* (n_layer) where the one begins whose words lie here */
};

struct soma_lfa_prices {
    const struct soma_search *search;
    struct arena scratch;
    struct slot *slot; /* (room) a power of two, at most 3/4 full */
    size_t room, count;
    struct arena entries;
    uint32_t *word; /* (2 n_layer + 1) of a key */
    struct remembered last;
    struct arena own;
    struct soma_tile_memo *memo;
    /* (n_layer) of a folded network: the layer groups of an LFA, and the segment that each is of */
    struct soma_group_times *group;
    uint32_t *segment;
};

enum dse_status soma_lfa_prices_new(const struct soma_search *search, struct soma_lfa_prices **made,
                                    struct dse_error *err)
{
    struct soma_lfa_prices *prices = calloc(1, sizeof *prices);
    if (prices) {
        const size_t n_layer = search->context.network->n_layer;
        prices->search = search;
        prices->room = FIRST_ROOM;
        prices->slot = calloc(prices->room, sizeof *prices->slot);
        prices->word = calloc(2 * n_layer + 1, sizeof *prices->word);
        arena_init(&prices->scratch);
        arena_init(&prices->entries);
        arena_init(&prices->own);
        prices->memo = soma_tile_memo_new((uint32_t)n_layer, &prices->own);
        const size_t n_group = search->context.graph->fold ? n_layer : 0;
        prices->last =
            (struct remembered){.entry = arena_alloc(&prices->own, n_layer, sizeof(struct entry *)),
                                .n_word = arena_alloc(&prices->own, n_layer, sizeof(uint32_t)),
                                .word = arena_alloc(&prices->own, 2 * n_layer, sizeof(uint32_t)),
                                .owner = arena_alloc(&prices->own, n_layer, sizeof(uint32_t))};
        prices->group = arena_alloc(&prices->own, n_group, sizeof *prices->group);
        prices->segment = arena_alloc(&prices->own, n_group, sizeof *prices->segment);
    }
    if (!prices || !prices->memo || !prices->slot || !prices->word || prices->own.failed) {
        soma_lfa_prices_free(prices);
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the prices of layer groups");
    }
    *made = prices;
    return DSE_OK;
}

void soma_lfa_prices_free(struct soma_lfa_prices *prices)
{
    if (!prices)
        return;
    arena_free(&prices->scratch);
    arena_free(&prices->entries);
    arena_free(&prices->own);
    free(prices->slot);
    free(prices->word);
    free(prices);
}

/* Groups first .. past-1 of the LFA are a layer group. Returns the words of its key but for the first. */
static uint32_t write_words(const struct soma_lfa_prices *prices, const struct soma_lfa *lfa, uint32_t first,
                            uint32_t past)
{
    uint32_t *word = prices->word, n = 1;
    for (uint32_t g = first; g < past; g++) {
        uint32_t stop = soma_group_stop(lfa, g);
        word[n++] = GROUP_START | lfa->tiling[g];
        memcpy(word + n, lfa->order + lfa->flc[g], (stop - lfa->flc[g]) * sizeof *word);
        n += stop - lfa->flc[g];
    }
    return n - 1;
}

static void make_key(const struct soma_lfa_prices *prices, uint32_t n_word, uint64_t key[2])
{
    for (uint32_t i = 0; i < 2; i++) {
        prices->word[0] = i;
        key[i] = hash_of_bytes(prices->word, (n_word + 1) * sizeof *prices->word);
    }
    key[0] |= 1;
}

/* ---- those asked for last ---- */

static struct entry *recall(const struct soma_lfa_prices *prices, uint32_t begin, uint32_t n_word)
{
    const struct remembered *last = &prices->last;
    const bool same =
        last->entry[begin] && last->n_word[begin] == n_word &&
        memcmp(last->word + 2 * (size_t)begin, prices->word + 1, n_word * sizeof *last->word) == 0;
    return same ? last->entry[begin] : NULL;
}

/* In place of those whose layers lie there. */
static void remember(struct soma_lfa_prices *prices, uint32_t begin, uint32_t end, uint32_t n_word,
                     struct entry *entry)
{
    struct remembered *last = &prices->last;
    for (uint32_t i = begin; i < end; i++) {
        last->entry[last->owner[i]] = NULL;
        last->owner[i] = begin;
    }
    last->entry[begin] = entry;
    last->n_word[begin] = n_word;
    memcpy(last->word + 2 * (size_t)begin, prices->word + 1, n_word * sizeof *last->word);
}

/* ---- all of them ---- */

/* Where the key is or would be. */
static struct slot *find(struct slot *slot, size_t room, const uint64_t key[2])
{
    size_t i = (size_t)(key[0] >> 1) & (room - 1);
    while (slot[i].key && (slot[i].key != key[0] || slot[i].entry->key_too != key[1]))
        i = (i + 1) & (room - 1);
    return &slot[i];
}

/* Twice the room; at the limit, or without memory, all is forgotten instead. */
static void make_room(struct soma_lfa_prices *prices)
{
    struct slot *larger = prices->room < ROOM_MAX ? calloc(2 * prices->room, sizeof *larger) : NULL;
    if (!larger) {
        memset(prices->slot, 0, prices->room * sizeof *prices->slot);
        memset(prices->last.entry, 0, prices->search->context.network->n_layer * sizeof *prices->last.entry);
        arena_reset(&prices->entries);
        prices->count = 0;
        return;
    }
    for (size_t i = 0; i < prices->room; i++)
        if (prices->slot[i].key) {
            const uint64_t key[2] = {prices->slot[i].key, prices->slot[i].entry->key_too};
            *find(larger, 2 * prices->room, key) = prices->slot[i];
        }
    free(prices->slot);
    prices->slot = larger;
    prices->room *= 2;
}

/* The times of a layer group, from the store or made now. Valid until the next call. `look`: none (NULL) are
 * made any more when the time is over. */
static enum dse_status group_times(struct soma_lfa_prices *prices, const struct soma_lfa *lfa, uint32_t first,
                                   uint32_t past, bool look, const struct soma_group_times **times,
                                   struct dse_error *err)
{
    const uint32_t begin = lfa->flc[first], n_word = write_words(prices, lfa, first, past);
    uint64_t key[2];
    *times = NULL;
    struct entry *entry = recall(prices, begin, n_word);
    if (entry) {
        *times = &entry->times;
        return DSE_OK;
    }
    make_key(prices, n_word, key);
    struct slot *slot = find(prices->slot, prices->room, key);
    if (!slot->key) {
        if (look && soma_search_is_over(prices->search))
            return DSE_OK;
        if (4 * (prices->count + 1) > 3 * prices->room) {
            make_room(prices);
            slot = find(prices->slot, prices->room, key);
        }
        struct entry *made = arena_alloc_unset(&prices->entries, 1, sizeof *made);
        DSE_TRY(arena_check(&prices->entries, "the prices of layer groups", err));
        arena_reset(&prices->scratch);
        DSE_TRY(soma_group_times(prices->search, lfa, first, past, prices->memo, &prices->scratch,
                                 &made->times, err));
        made->key_too = key[1];
        *slot = (struct slot){key[0], made};
        prices->count++;
    }
    remember(prices, begin, soma_group_stop(lfa, past - 1), n_word, slot->entry);
    *times = &slot->entry->times;
    return DSE_OK;
}

enum dse_status soma_lfa_group(struct soma_lfa_prices *prices, const struct soma_lfa *lfa, uint32_t first,
                               uint32_t past, struct soma_group_times *times, struct dse_error *err)
{
    const struct soma_group_times *found;
    DSE_TRY(group_times(prices, lfa, first, past, false, &found, err));
    *times = *found;
    return DSE_OK;
}

/* How far an LFA has been put together. */
struct progress {
    uint64_t before_last, last; /* finish of the tile before the last one, and of the last one */
    uint64_t moved;             /* finish of the DRAM's tensors but for the last store */
    uint64_t store_cycle;       /* of the last store */
    uint64_t last_byte;         /* alive at the last tile */
    uint64_t buffer_max_byte, dram_byte[FUSED_N_WAY];
    uint64_t n_tile, n_tensor, n_read;
    double core_energy_j;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The next layer group. Between the last tile of the one before and its own first tile, the DRAM moves the
 * weights of its first layer (from the tile before the last on), the last store, the first tile's inputs;
 * then both engines stand at the same time. */
static void append(struct progress *at, const struct soma_group_times *group)
{
    uint64_t weights = later(at->before_last, at->moved) + group->head_weight_cycle;
    uint64_t start = later(weights, at->last) + at->store_cycle + group->head_input_cycle;
    uint64_t head = at->last_byte + group->head_byte;
    at->before_last = start + group->before_last;
    at->last = start + group->last;
    at->moved = start + group->moved;
    at->store_cycle = group->store_cycle;
    at->last_byte = group->last_byte;
    at->buffer_max_byte = later(at->buffer_max_byte, later(head, group->peak_byte));
    for (int way = 0; way < FUSED_N_WAY; way++)
        at->dram_byte[way] += group->dram_byte[way];
    at->n_tile += group->n_tile;
    at->n_tensor += group->n_tensor;
    at->n_read += group->n_read;
    at->core_energy_j += group->core_energy_j;
}

/* Whether the parser would take the whole. */
static bool is_held(const struct progress *at)
{
    return at->n_tile <= SOMA_TILE_MAX && at->n_tensor <= SOMA_TENSOR_MAX && at->n_read <= SOMA_TENSOR_MAX;
}

/* Whether it can be evaluated, as a whole or in runs. */
static bool within_limits(const struct soma_lfa_prices *prices, const struct progress *at)
{
    return is_held(at) ||
           (prices->search->may_be_long && at->n_tile <= SOMA_LONG_TILE_MAX && at->n_tensor <= UINT32_MAX);
}

/* The published rules: a classifier's layer group begins with the first of the pools before it. */
static bool pool_before(const struct soma_search *search, const struct soma_lfa *lfa, uint32_t g)
{
    uint32_t at = lfa->flc[g];
    return at > 0 && search->context.network->layer[lfa->order[at - 1]].type == LAYER_POOL;
}

static uint32_t past_of(const struct soma_lfa *lfa, uint32_t first)
{
    uint32_t past = first + 1;
    while (past < lfa->n_flc && !lfa->dram_cut[past])
        past++;
    return past;
}

/* Append the next layer group; false: it does not fit, or the time is over. */
static bool append_within(const struct soma_lfa_prices *prices, struct progress *at,
                          const struct soma_group_times *group, uint64_t buffer_limit)
{
    append(at, group);
    return at->buffer_max_byte <= buffer_limit && within_limits(prices, at) &&
           !soma_context_gives_up(&prices->search->context, at->n_tile);
}

/* Of a folded network segment by segment, blocks again and again: what the whole network takes with the
 * scheme unrolled (soma_unroll_lfa). */
static enum dse_status join_folded(struct soma_lfa_prices *prices, const struct soma_lfa *lfa,
                                   uint64_t buffer_limit, struct progress *at, bool *fits,
                                   struct dse_error *err)
{
    const struct network_fold *fold = prices->search->context.graph->fold;
    uint32_t n = 0;
    *fits = false;
    for (uint32_t g = 0; g < lfa->n_flc; g = past_of(lfa, g), n++) {
        const struct soma_group_times *group;
        DSE_TRY(group_times(prices, lfa, g, past_of(lfa, g), true, &group, err));
        if (!group || !group->valid)
            return DSE_OK;
        prices->group[n] = *group;
        prices->segment[n] = fold->segment[lfa->order[lfa->flc[g]]];
    }
    for (uint32_t s = 0; s < fold->n_segment; s++)
        for (uint32_t r = 0; r < fold->of[s].times; r++)
            for (uint32_t i = 0; i < n; i++)
                if (prices->segment[i] == s && !append_within(prices, at, &prices->group[i], buffer_limit))
                    return DSE_OK;
    *fits = true;
    return DSE_OK;
}

static enum dse_status join(struct soma_lfa_prices *prices, const struct soma_lfa *lfa, uint64_t buffer_limit,
                            struct progress *at, bool *fits, struct dse_error *err)
{
    *fits = false;
    for (uint32_t g = 0; g < lfa->n_flc; g = past_of(lfa, g)) {
        const struct soma_group_times *group;
        DSE_TRY(group_times(prices, lfa, g, past_of(lfa, g), true, &group, err));
        if (!group || !group->valid || (group->alone && pool_before(prices->search, lfa, g)) ||
            !append_within(prices, at, group, buffer_limit))
            return DSE_OK;
    }
    *fits = true;
    return DSE_OK;
}

enum dse_status soma_lfa_price(struct soma_lfa_prices *prices, const struct soma_lfa *lfa,
                               uint64_t buffer_limit, struct soma_price *price, struct dse_error *err)
{
    const struct soma_search *search = prices->search;
    struct progress at = {0};
    bool fits;
    *price = (struct soma_price){.cost = INFINITY};
    DSE_TRY((search->context.graph->fold ? join_folded : join)(prices, lfa, buffer_limit, &at, &fits, err));
    price->is_long = !is_held(&at) && (fits || !search->may_be_long);
    if (!fits)
        return DSE_OK;
    price->cycle = later(at.moved, at.last) + at.store_cycle;
    price->energy_j = at.core_energy_j + fused_dram_energy_j(at.dram_byte, &search->machine);
    price->buffer_max_byte = at.buffer_max_byte;
    price->n_part = at.n_tile + at.n_tensor + at.n_read;
    price->cost = soma_cost(search, price->energy_j, price->cycle);
    return DSE_OK;
}
