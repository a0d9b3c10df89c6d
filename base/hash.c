#include "base/hash.h"

#include <string.h>
#include <xxhash.h>

int hash_begin(struct hash_state *state)
{
    XXH3_state_t *xxh = XXH3_createState();
    if (xxh)
        XXH3_64bits_reset(xxh);
    state->xxh = xxh;
    return xxh != NULL;
}

void hash_bytes(struct hash_state *state, const void *bytes, size_t length)
{
    if (state->xxh && length > 0)
        XXH3_64bits_update(state->xxh, bytes, length);
}

void hash_u64(struct hash_state *state, uint64_t value)
{
    unsigned char byte[8]; /* little-endian on every machine */
    for (unsigned i = 0; i < 8; i++)
        byte[i] = (unsigned char)(value >> (8 * i));
    hash_bytes(state, byte, sizeof byte);
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
    XXH3_freeState(state->xxh);
    state->xxh = NULL;
    return hash;
}

uint64_t hash_of_bytes(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}
