/* The Pareto front of rows of numbers by divide and conquer: H. T. Kung, F. Luccio, F. P. Preparata, On
 * finding the maxima of a set of vectors, JACM 22(4), 1975.
 *
 * In lexical order no row is beaten by one behind it. Each half is cleared of what its own rows beat; then
 * what is left of the second is compared with what is left of the first, where the first axis no longer
 * matters. Lists are kept in the order of the last axis but one, so that of the last two axes that comparison
 * is one walk along both lists; other axes are split at their median. */
#include "results/front/pareto_front.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* So few rows, or pairs of rows, are compared one by one. */
enum { FEW_ROWS = 16, FEW_PAIRS = 512 };

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

/* A row that takes part. */
struct place {
    uint32_t missing; /* the axes without a number, a bit each; such rows are compared among themselves */
    double first;     /* on the first axis that counts */
    size_t row;
};

/* Keys: a number for each axis that counts, and at least two, less is better; 0 where it is missing. */
struct rows {
    const double *value;
    const int *direction;
    size_t n_axis;                /* of value */
    size_t axis[PARETO_AXIS_MAX]; /* those that count; n_axis: none, the key is always 0 */
    size_t n_key;
    double *key;   /* (n, n_key) of the rows of one kind, without repetitions, in lexical order */
    bool *beaten;  /* (n) of these */
    size_t *list;  /* (n) numbers of them */
    size_t *spare; /* (n) */
    double *split; /* (n) */
};

/* NaN where it is missing. */
static double number_of(const struct rows *rows, size_t row, size_t k)
{
    const size_t a = rows->axis[k];
    return a == rows->n_axis ? 0 : -rows->direction[a] * rows->value[row * rows->n_axis + a];
}

static double key_of(const struct rows *rows, size_t row, size_t k)
{
    const double number = number_of(rows, row, k);
    return isnan(number) ? 0 : number;
}

static int compare_keys(const struct rows *rows, const struct place *one, const struct place *other)
{
    if (one->missing != other->missing)
        return one->missing < other->missing ? -1 : 1;
    if (one->first != other->first)
        return one->first < other->first ? -1 : 1;
    for (size_t k = 1; k < rows->n_key; k++) {
        const double a = key_of(rows, one->row, k), b = key_of(rows, other->row, k);
        if (a != b)
            return a < b ? -1 : 1;
    }
    return 0;
}

static int by_keys(const void *a, const void *b, void *rows)
{
    return compare_keys(rows, a, b);
}

static bool is_as_good(const struct rows *rows, size_t one, size_t other, size_t from)
{
    const double *a = rows->key + one * rows->n_key, *b = rows->key + other * rows->n_key;
    for (size_t k = from; k < rows->n_key; k++)
        if (a[k] > b[k])
            return false;
    return true;
}

static double last_but_one(const struct rows *rows, size_t i)
{
    return rows->key[i * rows->n_key + rows->n_key - 2];
}

/* Two lists that lie one behind the other, each in the order of the last axis but one, become one. */
static void join(const struct rows *rows, size_t *list, size_t n_one, size_t n)
{
    size_t a = 0, b = n_one;
    for (size_t i = 0; i < n; i++) {
        const bool second =
            a == n_one || (b < n && last_but_one(rows, list[b]) < last_but_one(rows, list[a]));
        rows->spare[i] = list[second ? b++ : a++];
    }
    memcpy(list, rows->spare, n * sizeof *list);
}

/* First those that are not above `at` on axis k, then the others, both in their order; returns how many. */
static size_t part(const struct rows *rows, size_t *list, size_t n, size_t k, double at)
{
    size_t n_low = 0, n_high = 0;
    for (size_t i = 0; i < n; i++)
        if (rows->key[list[i] * rows->n_key + k] <= at)
            list[n_low++] = list[i];
        else
            rows->spare[n_high++] = list[i];
    memcpy(list + n_low, rows->spare, n_high * sizeof *list);
    return n_low;
}

/* A value of axis k near the middle with rows of the two lists on either side of it; false: all are equal. */
static bool find_split(const struct rows *rows, const size_t *one, size_t n_one, const size_t *other,
                       size_t n_other, size_t k, double *at)
{
    const size_t n = n_one + n_other;
    double high = -INFINITY, below = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double value = rows->key[(i < n_one ? one[i] : other[i - n_one]) * rows->n_key + k];
        rows->split[i] = value;
        if (value > high) {
            below = high;
            high = value;
        } else if (value < high && value > below) {
            below = value;
        }
    }
    *at = gsl_stats_select(rows->split, 1, n, n / 2);
    if (*at == high)
        *at = below;
    return *at > -INFINITY;
}

/* Mark what rows of `one` beat in `other`: are as good on the axes from k on; on those before it they are.
 * Both lists come and leave in the order of the last axis but one. */
static void beat(const struct rows *rows, size_t *one, size_t n_one, size_t *other, size_t n_other, size_t k)
{
    double at;
    if (n_one == 0 || n_other == 0)
        return;
    if (k + 2 >= rows->n_key) {
        double least = INFINITY;
        const size_t last = rows->n_key - 1;
        for (size_t a = 0, b = 0; b < n_other; b++) {
            for (; a < n_one && last_but_one(rows, one[a]) <= last_but_one(rows, other[b]); a++)
                least = fmin(least, rows->key[one[a] * rows->n_key + last]);
            rows->beaten[other[b]] |= least <= rows->key[other[b] * rows->n_key + last];
        }
    } else if (n_one * n_other <= FEW_PAIRS) {
        for (size_t b = 0; b < n_other; b++)
            for (size_t a = 0; a < n_one && !rows->beaten[other[b]]; a++)
                rows->beaten[other[b]] = is_as_good(rows, one[a], other[b], k);
    } else if (!find_split(rows, one, n_one, other, n_other, k, &at)) {
        beat(rows, one, n_one, other, n_other, k + 1);
    } else {
        const size_t low_one = part(rows, one, n_one, k, at), low_other = part(rows, other, n_other, k, at);
        beat(rows, one, low_one, other, low_other, k);
        beat(rows, one + low_one, n_one - low_one, other + low_other, n_other - low_other, k);
        beat(rows, one, low_one, other + low_other, n_other - low_other, k + 1);
        join(rows, one, low_one, n_one);
        join(rows, other, low_other, n_other);
    }
}

/* Leave in a list in lexical order those that no other of it beats, in the order of the last axis but one;
 * returns how many. */
static size_t clear(const struct rows *rows, size_t *list, size_t n)
{
    size_t n_left = 0, n_one = 0;
    if (n <= FEW_ROWS) {
        for (size_t i = 0; i < n; i++) {
            const size_t row = list[i];
            for (size_t k = 0; k < n_left && !rows->beaten[row]; k++)
                rows->beaten[row] = is_as_good(rows, list[k], row, 0);
            if (!rows->beaten[row])
                list[n_left++] = row;
        }
        for (size_t i = 1; i < n_left; i++)
            for (size_t k = i; k > 0 && last_but_one(rows, list[k]) < last_but_one(rows, list[k - 1]); k--) {
                const size_t moved = list[k];
                list[k] = list[k - 1];
                list[k - 1] = moved;
            }
        return n_left;
    }
    size_t *other = list + n / 2;
    n_one = clear(rows, list, n / 2);
    const size_t n_other = clear(rows, other, n - n / 2);
    beat(rows, list, n_one, other, n_other, 1);
    n_left = n_one;
    for (size_t i = 0; i < n_other; i++)
        if (!rows->beaten[other[i]])
            list[n_left++] = other[i];
    join(rows, list, n_one, n_left);
    return n_left;
}

/* The rows that take part, in lexical order, those that lack the same axes together; returns how many. */
static size_t sort_rows(struct rows *rows, size_t n, enum pareto_missing missing, struct place *place)
{
    size_t n_place = 0;
    for (size_t i = 0; i < n; i++) {
        struct place p = {.first = key_of(rows, i, 0), .row = i};
        bool infinite = false;
        for (size_t k = 0; k < rows->n_key; k++) {
            const double number = number_of(rows, i, k);
            infinite = infinite || isinf(number);
            p.missing |= (uint32_t)(isnan(number) != 0) << k;
        }
        if (!infinite && (p.missing == 0 || missing == PARETO_APART))
            place[n_place++] = p;
    }
    qsort_r(place, n_place, sizeof *place, by_keys, rows);
    return n_place;
}

/* The fronts of all kinds of rows; equal ones are looked at once. is_on (n) by row. */
static void find(struct rows *rows, const struct place *place, size_t n_place, bool *is_on)
{
    for (size_t begin = 0, end; begin < n_place; begin = end) {
        size_t n = 0;
        for (end = begin; end < n_place && place[end].missing == place[begin].missing; end++) {
            if (end > begin && compare_keys(rows, &place[end - 1], &place[end]) == 0)
                continue;
            for (size_t k = 0; k < rows->n_key; k++)
                rows->key[n * rows->n_key + k] = key_of(rows, place[end].row, k);
            rows->beaten[n] = false;
            rows->list[n] = n;
            n++;
        }
        (void)clear(rows, rows->list, n);
        n = 0;
        for (size_t i = begin; i < end; i++) {
            n += i > begin && compare_keys(rows, &place[i - 1], &place[i]) != 0;
            is_on[place[i].row] = !rows->beaten[n];
        }
    }
}

enum dse_status pareto_front(const double *value, size_t n, const int *direction, size_t n_axis,
                             enum pareto_missing missing, size_t *front, size_t *n_front,
                             struct dse_error *err)
{
    struct rows rows = {.value = value, .direction = direction, .n_axis = n_axis};
    *n_front = 0;
    for (size_t a = 0; a < n_axis; a++)
        if (direction[a] != 0)
            rows.axis[rows.n_key++] = a;
    while (rows.n_key < 2)
        rows.axis[rows.n_key++] = n_axis;
    struct place *place = malloc((n + 1) * sizeof *place);
    bool *is_on = calloc(n + 1, sizeof *is_on);
    rows.key = malloc((n + 1) * rows.n_key * sizeof *rows.key);
    rows.beaten = malloc((n + 1) * sizeof *rows.beaten);
    rows.list = malloc((n + 1) * sizeof *rows.list);
    rows.spare = malloc((n + 1) * sizeof *rows.spare);
    rows.split = malloc((n + 1) * sizeof *rows.split);
    const bool there = place && is_on && rows.key && rows.beaten && rows.list && rows.spare && rows.split;
    if (there)
        find(&rows, place, sort_rows(&rows, n, missing, place), is_on);
    for (size_t i = 0; there && i < n; i++)
        if (is_on[i])
            front[(*n_front)++] = i;
    free(place);
    free(is_on);
    free(rows.key);
    free(rows.beaten);
    free(rows.list);
    free(rows.spare);
    free(rows.split);
    return there ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for the front of %zu rows", n);
}
