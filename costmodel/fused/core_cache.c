/* A hash table in 64 stripes, each with a lock of its own; keys are the scheduler's number and the tile.
 * Past its limit it answers without keeping. */
#include "costmodel/fused/core_cache.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { N_STRIPE = 64, FIRST_ROOM = 64, CACHE_LINE = 64, IDENTITY_MAX = 1 << 16 };

enum { KEY_WORDS = 16 };

/* All of a question: the scheduler and the tile, without padding. */
struct key {
    uint32_t word[KEY_WORDS];
};

/* What a tile costs is kept in two parts: the second is 0 on most machines. */
enum {
    PLAIN_BYTE = offsetof(struct core_cost, stream_times),
    STREAM_BYTE = sizeof(struct core_cost) - PLAIN_BYTE,
};

struct stream {
    unsigned char byte[STREAM_BYTE];
};

/* Two lines of a processor's cache: an answer costs little more than the time to fetch them. */
struct entry {
    uint64_t hash; /* 0: empty */
    struct key key;
    unsigned char plain[PLAIN_BYTE];
    uint32_t stream; /* place in the stripe's list, from 1; 0: all 0 */
};
_Static_assert(sizeof(struct entry) == 2 * CACHE_LINE,
               "no line of a processor's cache is shared by two entries");

/* A part of the table with a lock of its own; open addressing, at most 3/4 full. */
struct stripe {
    omp_lock_t lock;
    struct entry *entry; /* (room) a power of two, or NULL */
    size_t room, count;
    struct stream *stream; /* (stream_room), stream_count of them in use */
    uint32_t stream_room, stream_count;
    char pad[CACHE_LINE];
};

struct identity {
    uint8_t *byte; /* owned */
    size_t length;
};

struct note {
    uint64_t hash;
    uint8_t *byte; /* (key_length + length) owned; NULL: empty */
    size_t key_length, length;
    uint32_t owner;
};

struct core_cache {
    struct stripe stripe[N_STRIPE];
    size_t stripe_max;
    omp_lock_t identity_lock;
    struct identity *identity; /* (n_identity) owned */
    uint32_t n_identity;
    omp_lock_t note_lock;
    struct note *note; /* (2 CORE_CACHE_NOTE_MAX) open addressing; NULL: none yet */
    uint32_t n_note;
    size_t note_byte; /* of all */
};

enum dse_status core_cache_new(uint32_t entry_max, struct core_cache **cache, struct dse_error *err)
{
    struct core_cache *made = calloc(1, sizeof *made);
    if (!made)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a cache of tile costs");
    made->stripe_max = entry_max / N_STRIPE;
    for (int i = 0; i < N_STRIPE; i++)
        omp_init_lock(&made->stripe[i].lock);
    omp_init_lock(&made->identity_lock);
    omp_init_lock(&made->note_lock);
    *cache = made;
    return DSE_OK;
}

void core_cache_free(struct core_cache *cache)
{
    if (!cache)
        return;
    for (int i = 0; i < N_STRIPE; i++) {
        omp_destroy_lock(&cache->stripe[i].lock);
        free(cache->stripe[i].entry);
        free(cache->stripe[i].stream);
    }
    for (uint32_t i = 0; i < cache->n_identity; i++)
        free(cache->identity[i].byte);
    for (uint32_t i = 0; cache->note && i < 2 * CORE_CACHE_NOTE_MAX; i++)
        free(cache->note[i].byte);
    omp_destroy_lock(&cache->identity_lock);
    omp_destroy_lock(&cache->note_lock);
    free(cache->note);
    free(cache->identity);
    free(cache);
}

/* The number of an identity, or `n_identity` when it is new. */
static uint32_t find_identity(const struct core_cache *cache, const void *byte, size_t length)
{
    uint32_t i = 0;
    while (i < cache->n_identity && (cache->identity[i].length != length ||
                                     (length && memcmp(cache->identity[i].byte, byte, length) != 0)))
        i++;
    return i;
}

static bool add_identity(struct core_cache *cache, const void *byte, size_t length)
{
    uint8_t *copy = malloc(length + 1);
    struct identity *grown = realloc(cache->identity, (cache->n_identity + 1ul) * sizeof *grown);
    if (grown)
        cache->identity = grown;
    if (!copy || !grown) {
        free(copy);
        return false;
    }
    if (length)
        memcpy(copy, byte, length);
    cache->identity[cache->n_identity++] = (struct identity){copy, length};
    return true;
}

enum dse_status core_cache_join(struct core_cache *cache, struct core_scheduler inner, const void *identity,
                                size_t length, struct core_cached *cached, struct dse_error *err)
{
    if (length > IDENTITY_MAX)
        return dse_fail(err, DSE_LIMIT,
                        "an identity in the cache of tile costs has at most %d bytes, not %zu", IDENTITY_MAX,
                        length);
    omp_set_lock(&cache->identity_lock);
    uint32_t owner = find_identity(cache, identity, length);
    bool there = owner < cache->n_identity || add_identity(cache, identity, length);
    omp_unset_lock(&cache->identity_lock);
    if (!there)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a cache of tile costs");
    *cached = (struct core_cached){cache, inner, owner};
    return DSE_OK;
}

enum dse_status core_cache_join_array(struct core_cache *cache, const struct core_array_search *search,
                                      struct core_cached *cached, struct dse_error *err)
{
    const struct core_array *core = &search->core;
    const double number[] = {
        core->size.mac_per_pe,
        core->size.pe_rows,
        core->size.pe_columns,
        core->lane_c,
        core->lane_k,
        (double)core->size.buffer_read.byte,
        (double)core->size.buffer_read.cycle,
        core->vector_per_cycle,
        (double)core->input_byte,
        (double)core->weight_byte,
        (double)core->output_byte,
        core->input_read_j,
        core->input_write_j,
        core->weight_read_j,
        core->weight_write_j,
        core->output_read_j,
        core->output_write_j,
        core->buffer_read_j,
        core->buffer_write_j,
        core->collect_read_j,
        core->collect_write_j,
        core->bus_j,
        core->mac_j,
        core->vector_j,
        search->compat,
    };
    return core_cache_join(cache, core_array_scheduler(search), number, sizeof number, cached, err);
}

static struct key make_key(uint32_t owner, const struct core_tile *tile)
{
    return (struct key){{owner, (uint32_t)tile->operation << 1 | tile->weights_from_layer, tile->b, tile->k,
                         tile->c, tile->h, tile->w, tile->r, tile->s, tile->stride_h, tile->stride_w,
                         tile->groups, tile->group_k, tile->operands, tile->dilation_h, tile->dilation_w}};
}

/* The place of a key: its own, or the empty one where it would be. The table is never full. */
static struct entry *find(const struct stripe *stripe, uint64_t hash, const struct key *key)
{
    size_t mask = stripe->room - 1, i = (size_t)(hash / N_STRIPE) & mask;
    while (stripe->entry[i].hash &&
           (stripe->entry[i].hash != hash || memcmp(&stripe->entry[i].key, key, sizeof *key) != 0))
        i = (i + 1) & mask;
    return &stripe->entry[i];
}

/* Without memory the table stays as it is. */
static void grow(struct stripe *stripe)
{
    struct stripe larger = {.room = stripe->room ? 2 * stripe->room : FIRST_ROOM};
    larger.entry = aligned_alloc(2 * CACHE_LINE, larger.room * sizeof *larger.entry);
    if (!larger.entry)
        return;
    memset(larger.entry, 0, larger.room * sizeof *larger.entry);
    for (size_t i = 0; i < stripe->room; i++) {
        const struct entry *entry = &stripe->entry[i];
        if (entry->hash)
            *find(&larger, entry->hash, &entry->key) = *entry;
    }
    free(stripe->entry);
    stripe->entry = larger.entry;
    stripe->room = larger.room;
}

/* The place of a cost's second part, from 1; 0 where it is all 0; UINT32_MAX without memory. */
static uint32_t keep_stream(struct stripe *stripe, const struct core_cost *cost)
{
    const struct stream none = {{0}};
    const unsigned char *byte = (const unsigned char *)cost + PLAIN_BYTE;
    if (memcmp(byte, &none, sizeof none) == 0)
        return 0;
    if (stripe->stream_count == stripe->stream_room) {
        uint32_t room = stripe->stream_room ? 2 * stripe->stream_room : FIRST_ROOM;
        struct stream *grown = realloc(stripe->stream, room * sizeof *grown);
        if (!grown)
            return UINT32_MAX;
        stripe->stream = grown;
        stripe->stream_room = room;
    }
    memcpy(&stripe->stream[stripe->stream_count], byte, sizeof none);
    return ++stripe->stream_count;
}

static void read_cost(const struct stripe *stripe, const struct entry *entry, struct core_cost *cost)
{
    unsigned char *byte = (unsigned char *)cost;
    memcpy(byte, entry->plain, PLAIN_BYTE);
    if (entry->stream)
        memcpy(byte + PLAIN_BYTE, &stripe->stream[entry->stream - 1], STREAM_BYTE);
    else
        memset(byte + PLAIN_BYTE, 0, STREAM_BYTE);
}

static void keep(struct stripe *stripe, size_t max, uint64_t hash, const struct key *key,
                 const struct core_cost *cost)
{
    if (stripe->count >= max)
        return;
    if (4 * (stripe->count + 1) > 3 * stripe->room)
        grow(stripe);
    if (4 * (stripe->count + 1) > 3 * stripe->room)
        return;
    struct entry *entry = find(stripe, hash, key);
    if (entry->hash)
        return; /* another thread was faster */
    uint32_t stream = keep_stream(stripe, cost);
    if (stream == UINT32_MAX)
        return;
    *entry = (struct entry){.hash = hash, .key = *key, .stream = stream};
    memcpy(entry->plain, cost, PLAIN_BYTE);
    stripe->count++;
}

static enum dse_status cached_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                   struct dse_error *err)
{
    const struct core_cached *cached = self;
    struct key key = make_key(cached->owner, tile);
    uint64_t hash = hash_of_bytes(&key, sizeof key) | 1ull << 63;
    struct stripe *stripe = &cached->cache->stripe[hash % N_STRIPE];
    bool known = false;
    omp_set_lock(&stripe->lock);
    if (stripe->room) {
        const struct entry *entry = find(stripe, hash, &key);
        known = entry->hash != 0;
        if (known)
            read_cost(stripe, entry, cost);
    }
    omp_unset_lock(&stripe->lock);
    if (known)
        return DSE_OK;
    DSE_TRY(cached->inner.cost(cached->inner.self, tile, cost, err));
    omp_set_lock(&stripe->lock);
    keep(stripe, cached->cache->stripe_max, hash, &key, cost);
    omp_unset_lock(&stripe->lock);
    return DSE_OK;
}

/* ---- notes ---- */

/* The note, or the empty place where it would be; at most half of the places are taken. */
static struct note *find_note(const struct core_cached *cached, const void *key, size_t key_length,
                              uint64_t *hash)
{
    const struct core_cache *cache = cached->cache;
    *hash = hash_of_bytes(key, key_length) + cached->owner;
    const size_t mask = 2 * CORE_CACHE_NOTE_MAX - 1;
    for (size_t i = (size_t)*hash & mask;; i = (i + 1) & mask) {
        struct note *note = &cache->note[i];
        if (!note->byte || (note->hash == *hash && note->owner == cached->owner &&
                            note->key_length == key_length && memcmp(note->byte, key, key_length) == 0))
            return note;
    }
}

bool core_cache_recall(const struct core_cached *cached, const void *key, size_t key_length, void *bytes,
                       size_t room)
{
    struct core_cache *cache = cached->cache;
    uint64_t hash;
    bool known = false;
    omp_set_lock(&cache->note_lock);
    if (cache->note) {
        const struct note *note = find_note(cached, key, key_length, &hash);
        known = note->byte && note->length <= room;
        if (known)
            memcpy(bytes, note->byte + key_length, note->length);
    }
    omp_unset_lock(&cache->note_lock);
    return known;
}

static void add_note(const struct core_cached *cached, const void *key, size_t key_length, const void *bytes,
                     size_t length)
{
    struct core_cache *cache = cached->cache;
    uint64_t hash;
    if (!cache->note)
        cache->note = calloc(2 * CORE_CACHE_NOTE_MAX, sizeof *cache->note);
    if (!cache->note || cache->n_note == CORE_CACHE_NOTE_MAX ||
        cache->note_byte + key_length + length > CORE_CACHE_NOTE_BYTE_MAX)
        return;
    struct note *note = find_note(cached, key, key_length, &hash);
    uint8_t *copy = note->byte ? NULL : malloc(key_length + length + 1);
    if (!copy)
        return;
    memcpy(copy, key, key_length);
    memcpy(copy + key_length, bytes, length);
    *note = (struct note){hash, copy, key_length, length, cached->owner};
    cache->n_note++;
    cache->note_byte += key_length + length;
}

void core_cache_remember(const struct core_cached *cached, const void *key, size_t key_length,
                         const void *bytes, size_t length)
{
    omp_set_lock(&cached->cache->note_lock);
    add_note(cached, key, key_length, bytes, length);
    omp_unset_lock(&cached->cache->note_lock);
}

struct core_scheduler core_cached_scheduler(const struct core_cached *cached)
{
    return (struct core_scheduler){cached, cached_cost};
}
