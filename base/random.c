/* The ten rounds of Philox4x32, and how seed, key and stream number become its key and the upper half of
 * its counter. */
#include "base/random.h"

/* Multipliers and Weyl increments of Philox4x32, table 2 and section 3.3 of the paper. */
#define PHILOX_M0 0xD2511F53U
#define PHILOX_M1 0xCD9E8D57U
#define PHILOX_W0 0x9E3779B9U
#define PHILOX_W1 0xBB67AE85U

void random_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0];
    uint32_t c1 = counter[1];
    uint32_t c2 = counter[2];
    uint32_t c3 = counter[3];
    uint32_t k0 = key[0];
    uint32_t k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)PHILOX_M0 * c0;
        uint64_t p1 = (uint64_t)PHILOX_M1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

struct random_stream random_stream_make(uint64_t seed, uint64_t key, uint32_t use)
{
    uint32_t name[4] = {(uint32_t)seed, (uint32_t)(seed >> 32), use, 0};
    uint32_t task[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    uint32_t mixed[4];
    random_philox4x32(name, task, mixed);
    struct random_stream stream = {
        .key = {mixed[0], mixed[1]},
        .counter = {0, 0, mixed[2], mixed[3]},
        .block = {0, 0, 0, 0},
        .next = 4,
    };
    return stream;
}

void random_refill(struct random_stream *stream)
{
    random_philox4x32(stream->counter, stream->key, stream->block);
    stream->counter[0]++;
    if (stream->counter[0] == 0)
        stream->counter[1]++;
    stream->next = 0;
}
