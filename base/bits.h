/* A fixed number of bits. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bits {
    size_t n;
    uint64_t *word; /* (n + 63) / 64; owned */
};

/* All clear. Returns 0 when out of memory, else 1. Release with bits_free. */
int bits_init(struct bits *bits, size_t n);
void bits_free(struct bits *bits);

static inline bool bits_has(const struct bits *bits, size_t i)
{
    return bits->word[i / 64] >> (i % 64) & 1;
}

static inline void bits_set(struct bits *bits, size_t i)
{
    bits->word[i / 64] |= UINT64_C(1) << (i % 64);
}

#endif
