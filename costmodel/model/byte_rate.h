/* A bandwidth as an exact ratio, so many bytes in so many cycles: 25.6 GB/s at 1 GHz are 128 bytes in 5
 * cycles. Times that follow from it are whole cycles without rounding errors. */
#ifndef COSTMODEL_MODEL_BYTE_RATE_H
#define COSTMODEL_MODEL_BYTE_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* byte / cycle in lowest terms; cycle is 1 where whole bytes pass in a cycle. */
struct byte_rate {
    uint64_t byte, cycle;
};

/* The slowest rate that byte_rate_of makes has BYTE_RATE_SLOWEST cycles per byte, so that 2^53 bytes take
 * fewer than 2^63 cycles; the fastest BYTE_RATE_FASTEST bytes per cycle. */
#define BYTE_RATE_SLOWEST 1024.0
#define BYTE_RATE_FASTEST 4611686018427387904.0 /* 2^62 */

/* The ratio behind `byte_per_cycle`, a bandwidth divided by the clock, which carries the rounding errors of a
 * few operations (1e-15 of it). Whole bytes per second at a clock of whole hertz: their ratio, exactly. Any
 * other number ("0.3333333333333333 word/cycle", half a byte per second): the first continued fraction
 * within that error, here 1/3. False: not finite, or outside the limits above. */
bool byte_rate_of(double byte_per_cycle, double clock_hz, struct byte_rate *rate);

/* As byte_rate_cycle and so on, for any ratio. 2^64 - 1 where there are more. */
uint64_t byte_rate_scaled(uint64_t n, uint64_t by, uint64_t over, bool up);

/* Cycles that `byte` bytes take, the last one counted when it is begun. */
static inline uint64_t byte_rate_cycle(uint64_t byte, struct byte_rate rate)
{
    if (rate.cycle == 1)
        return byte / rate.byte + (byte % rate.byte != 0);
    return byte_rate_scaled(byte, rate.cycle, rate.byte, true);
}

/* The same, the last one counted only when it is full. */
static inline uint64_t byte_rate_full_cycle(uint64_t byte, struct byte_rate rate)
{
    return rate.cycle == 1 ? byte / rate.byte : byte_rate_scaled(byte, rate.cycle, rate.byte, false);
}

/* Whether the last cycle is not full. byte * cycle / byte_rate is whole only when byte / byte_rate is, since
 * the ratio is in lowest terms. */
static inline bool byte_rate_partial(uint64_t byte, struct byte_rate rate)
{
    return byte % rate.byte != 0;
}

#endif
