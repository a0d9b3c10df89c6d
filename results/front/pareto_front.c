/* The Pareto front of rows of numbers, row against row. */
#include "results/front/pareto_front.h"

#include <math.h>

bool pareto_dominates(const double *one, const double *other, const int *direction, size_t n_axis)
{
    bool better = false;
    for (size_t a = 0; a < n_axis; a++) {
        const double mine = -direction[a] * one[a], its = -direction[a] * other[a];
        if (direction[a] == 0)
            continue;
        if (isnan(mine) || mine > its)
            return false;
        better = better || isnan(its) || mine < its;
    }
    return better;
}

void pareto_front(const double *value, size_t n, const int *direction, size_t n_axis, bool *on)
{
    for (size_t i = 0; i < n; i++) {
        on[i] = true;
        for (size_t a = 0; a < n_axis; a++)
            on[i] = on[i] && (direction[a] == 0 || isfinite(value[i * n_axis + a]));
        for (size_t k = 0; k < n && on[i]; k++)
            on[i] = !pareto_dominates(value + k * n_axis, value + i * n_axis, direction, n_axis);
    }
}
