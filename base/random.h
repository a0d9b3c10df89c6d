/* Counter-based random streams: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
 * SC'11). A stream is a pure function of (seed, key, stream number): no shared generator, no clock, so
 * results do not depend on threads or order. Known answers (Random123's kat_vectors: counter 0, key 0 ->
 * 6627e8d5 e169c58d bc57ac4c 9b00dbd8) are in tests/base/test_random.c. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/* Stream numbers, so that two uses never share one. */
enum random_use { RANDOM_INIT, RANDOM_MOVE, RANDOM_NOISE, RANDOM_TIE, RANDOM_TEST };

struct random_stream {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t block[4]; /* the current four outputs */
    unsigned next;     /* how many of them are used; 4 = draw a new block */
};

/* The stream (seed, key, use). `key` is the task's content hash. All 160 bits are mixed by Philox itself into
 * the stream's key and the upper half of its counter; the lower half counts blocks, so a stream holds 2^66
 * numbers. */
struct random_stream random_stream_make(uint64_t seed, uint64_t key, uint32_t use);

/* Draw the next block of four numbers; called by random_u32 when the current one is used up. */
void random_refill(struct random_stream *stream);

static inline uint32_t random_u32(struct random_stream *stream)
{
    if (stream->next >= 4)
        random_refill(stream);
    return stream->block[stream->next++];
}

/* Two draws, the first in the low half. */
static inline uint64_t random_u64(struct random_stream *stream)
{
    uint64_t low = random_u32(stream);
    uint64_t high = random_u32(stream);
    return high << 32 | low;
}

/* Uniform in 0 .. n-1 without bias (Lemire, "Fast random integer generation in an interval", TOMACS 2019,
 * algorithm 5: multiply, reject the few low products that would bias); n >= 1. */
static inline uint32_t random_below(struct random_stream *stream, uint32_t n)
{
    uint64_t product = (uint64_t)random_u32(stream) * n;
    uint32_t low = (uint32_t)product;
    if (low < n) {
        uint32_t reject_below = (0U - n) % n; /* 2^32 mod n */
        while (low < reject_below) {
            product = (uint64_t)random_u32(stream) * n;
            low = (uint32_t)product;
        }
    }
    return (uint32_t)(product >> 32);
}

/* Uniform in [0, 1) with 53 random bits. */
static inline double random_unit(struct random_stream *stream)
{
    return (double)(random_u64(stream) >> 11) * 0x1p-53;
}

/* Philox4x32-10 itself, for tests: out (4) from counter (4) and key (2). */
void random_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
