#include <stdint.h>

#include "engines/cosa/cosa.h"

static uint32_t largest_prime_of(uint32_t n)
{
    uint32_t largest = 1;
    for (uint32_t p = 2; (uint64_t)p * p <= n; p++)
        for (; n % p == 0; n /= p)
            largest = p;
    return n > 1 ? n : largest;
}

bool cosa_pad_bounds(const struct problem *problem, uint32_t largest_prime, uint32_t *padded)
{
    bool changed = false;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        padded[d] = problem->bound[d];
        /* A power of two is never further than twice the bound, so the search is short. */
        while (largest_prime >= 2 && padded[d] < UINT32_MAX && largest_prime_of(padded[d]) > largest_prime)
            padded[d]++;
        if (largest_prime_of(padded[d]) > largest_prime)
            padded[d] = problem->bound[d];
        changed = changed || padded[d] != problem->bound[d];
    }
    return changed;
}
