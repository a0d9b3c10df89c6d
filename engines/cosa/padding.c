/* Rounds each bound up to the next one without a large prime, so that a mapping has factors to choose
 * from. */
#include <stdint.h>

#include "engines/cosa/cosa.h"

/* Beyond this the next smooth bound may be too far to look for one by one. */
enum { PAD_BOUND_MAX = 1 << 24 };

/* Is no prime factor of n above `largest`? */
static bool is_smooth(uint32_t n, uint32_t largest)
{
    for (uint32_t p = 2; p <= largest && (uint64_t)p * p <= n; p++)
        while (n % p == 0)
            n /= p;
    return n <= largest;
}

bool cosa_pad_bounds(const struct problem *problem, uint32_t largest_prime, uint32_t *padded)
{
    bool changed = false;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        padded[d] = problem->bound[d];
        if (largest_prime < 2 || padded[d] > PAD_BOUND_MAX)
            continue;
        while (!is_smooth(padded[d], largest_prime)) /* ends at the next power of two at the latest */
            padded[d]++;
        changed = changed || padded[d] != problem->bound[d];
    }
    return changed;
}
