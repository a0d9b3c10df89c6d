/* The Pareto front of rows of numbers: each row is compared with the front of those before it. */
#include "results/front/pareto_front.h"

#include <math.h>
#include <stdbool.h>

int pareto_compare(const double *one, const double *other, const int *direction, size_t n_axis)
{
    bool one_better = false, other_better = false;
    for (size_t a = 0; a < n_axis; a++) {
        if (direction[a] == 0 || (isnan(one[a]) && isnan(other[a])))
            continue;
        if (isnan(one[a]) || isnan(other[a]))
            return 0;
        one_better = one_better || direction[a] * one[a] > direction[a] * other[a];
        other_better = other_better || direction[a] * one[a] < direction[a] * other[a];
        if (one_better && other_better)
            return 0;
    }
    return other_better - one_better;
}

static bool is_finite(const double *row, const int *direction, size_t n_axis)
{
    for (size_t a = 0; a < n_axis; a++)
        if (direction[a] != 0 && isinf(row[a]))
            return false;
    return true;
}

size_t pareto_front(const double *value, size_t n, const int *direction, size_t n_axis, size_t *front)
{
    size_t n_front = 0;
    for (size_t i = 0; i < n; i++) {
        const double *row = value + i * n_axis;
        size_t n_left = 0;
        bool beaten = !is_finite(row, direction, n_axis);
        /* What is beaten by a row of the front beats none of it: nothing is lost before the loop ends. */
        for (size_t k = 0; k < n_front && !beaten; k++) {
            const int who = pareto_compare(value + front[k] * n_axis, row, direction, n_axis);
            beaten = who < 0;
            if (who <= 0)
                front[n_left++] = front[k];
        }
        if (!beaten) {
            n_front = n_left;
            front[n_front++] = i;
        }
    }
    return n_front;
}
