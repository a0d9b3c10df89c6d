/* Divisors of bounds. */
#ifndef COSTMODEL_MODEL_DIVISOR_H
#define COSTMODEL_MODEL_DIVISOR_H

#include <stdint.h>

/* Of 0 and a it is a. */
static inline uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
