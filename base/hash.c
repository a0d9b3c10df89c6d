/* Collects the fields of a key in a small buffer and hashes them in one call of XXH3; only what outgrows
 * the buffer is streamed. */
#include "base/hash.h"

#include <endian.h>
#include <string.h>
#include <xxhash.h>

void hash_begin(struct hash_state *state)
{
    state->xxh = NULL;
    state->n_byte = 0;
    state->failed = 0;
}

/* Hand over what is kept to XXH3, which from then on takes everything. */
static void start_streaming(struct hash_state *state)
{
    XXH3_state_t *xxh = XXH3_createState();
    state->xxh = xxh;
    state->failed = xxh == NULL;
    if (!xxh)
        return;
    XXH3_64bits_reset(xxh);
    XXH3_64bits_update(xxh, state->byte, state->n_byte);
}

void hash_bytes(struct hash_state *state, const void *bytes, size_t length)
{
    if (length == 0 || state->failed)
        return;
    if (!state->xxh && length <= HASH_KEPT_MAX - state->n_byte) {
        memcpy(state->byte + state->n_byte, bytes, length);
        state->n_byte += length;
        return;
    }
    if (!state->xxh)
        start_streaming(state);
    if (state->xxh)
        XXH3_64bits_update(state->xxh, bytes, length);
}

void hash_u64(struct hash_state *state, uint64_t value)
{
    uint64_t little = htole64(value); /* the same on every machine */
    if (!state->xxh && !state->failed && state->n_byte <= HASH_KEPT_MAX - sizeof little) {
        memcpy(state->byte + state->n_byte, &little, sizeof little); /* a key is hundreds of these */
        state->n_byte += sizeof little;
        return;
    }
    hash_bytes(state, &little, sizeof little);
}

void hash_text(struct hash_state *state, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    hash_u64(state, length);
    hash_bytes(state, text, length);
}

void hash_double(struct hash_state *state, double value)
{
    uint64_t bits = 0;
    double plain = value + 0.0; /* -0 + 0 is +0 */
    memcpy(&bits, &plain, sizeof bits);
    hash_u64(state, bits);
}

uint64_t hash_end(struct hash_state *state)
{
    uint64_t hash = 0;
    if (state->xxh)
        hash = XXH3_64bits_digest(state->xxh);
    else if (!state->failed)
        hash = XXH3_64bits(state->byte, state->n_byte);
    XXH3_freeState(state->xxh);
    state->xxh = NULL;
    return hash;
}

struct hash_128 hash_end_128(struct hash_state *state)
{
    XXH128_hash_t hash = {0, 0};
    if (state->xxh)
        hash = XXH3_128bits_digest(state->xxh); /* fed as for 64 bits */
    else if (!state->failed)
        hash = XXH3_128bits(state->byte, state->n_byte);
    XXH3_freeState(state->xxh);
    state->xxh = NULL;
    return (struct hash_128){hash.low64, hash.high64};
}

uint64_t hash_of_bytes(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}
