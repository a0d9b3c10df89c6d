/* Up to the next multiple of 4 that will do, dimension by dimension. */
#include "engines/soma/machine/tile_fill.h"

#include <stdint.h>

enum { FILL_MAX = 1 << 24, UNIT = 4 };

static bool is_smooth(uint32_t n)
{
    static const uint32_t prime[] = {2, 3, 5, 7};
    for (size_t i = 0; i < sizeof prime / sizeof *prime; i++)
        while (n % prime[i] == 0)
            n /= prime[i];
    return n == 1;
}

static uint32_t filled_up(uint32_t n, bool smooth)
{
    if (n <= UNIT || n > FILL_MAX)
        return n;
    for (n = (n + UNIT - 1) / UNIT * UNIT; smooth && !is_smooth(n);)
        n += UNIT;
    return n;
}

bool tile_fill(struct problem *problem, const char *dims, bool smooth)
{
    bool changed = false;
    for (; *dims; dims++) {
        const char name[] = {*dims, '\0'};
        uint32_t *bound = &problem->bound[problem_find_dim(problem, name)];
        uint32_t filled = filled_up(*bound, smooth);
        changed = changed || filled != *bound;
        *bound = filled;
    }
    return changed;
}
