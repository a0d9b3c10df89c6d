/* A row after the other finds the cheapest alternating path to a column that no row has; prices of rows and
 * columns keep all reduced costs at 0 or more. */
#include "engines/search/assignment.h"

#include <math.h>

enum { NOBODY = UINT32_MAX };

struct assignment {
    uint32_t max_row, max_column;
    double *row_price;    /* (max_row) */
    double *column_price; /* (max_column) */
    double *length;       /* (max_column) of the shortest path found to it */
    uint32_t *from;       /* (max_column) the row before it on that path */
    uint32_t *owner;      /* (max_column) the row that has it, or NOBODY */
    uint32_t *order;      /* (max_column) those scanned, then those that are left */
};

struct assignment *assignment_new(uint32_t max_row, uint32_t max_column, struct arena *arena)
{
    struct assignment *a = arena_alloc(arena, 1, sizeof *a);
    double *row_price = arena_alloc_unset(arena, max_row, sizeof *row_price);
    double *column_price = arena_alloc_unset(arena, max_column, sizeof *column_price);
    double *length = arena_alloc_unset(arena, max_column, sizeof *length);
    uint32_t *from = arena_alloc_unset(arena, max_column, sizeof *from);
    uint32_t *owner = arena_alloc_unset(arena, max_column, sizeof *owner);
    uint32_t *order = arena_alloc_unset(arena, max_column, sizeof *order);
    if (!a || !row_price || !column_price || !length || !from || !owner || !order)
        return NULL;
    *a = (struct assignment){max_row, max_column, row_price, column_price, length, from, owner, order};
    return a;
}

/* Paths over `row`, which the path to column `by` reaches at `length`, and the nearest of the columns that
 * are left: its place in `order`; of equally near ones one that nobody has, which ends the path. */
static uint32_t nearest(struct assignment *a, const double *cost, uint32_t row, double length,
                        uint32_t n_scanned, uint32_t n_column)
{
    uint32_t best = n_scanned;
    const double base = length - a->row_price[row];
    for (uint32_t i = n_scanned; i < n_column; i++) {
        const uint32_t j = a->order[i], held = a->order[best];
        const double through = base + cost[j] - a->column_price[j];
        if (through < a->length[j]) {
            a->length[j] = through;
            a->from[j] = row;
        }
        if (a->length[j] < a->length[held] ||
            (a->length[j] <= a->length[held] && a->owner[held] != NOBODY && a->owner[j] == NOBODY))
            best = i;
    }
    return best;
}

/* Give `row` a column; others may have to change theirs. */
static bool augment(struct assignment *a, const double *cost, uint32_t row, uint32_t n_column,
                    uint32_t *column)
{
    uint32_t n_scanned = 0, last = row, end = NOBODY;
    double length = 0;
    for (uint32_t j = 0; j < n_column; j++) {
        a->length[j] = INFINITY;
        a->order[j] = j;
    }
    while (end == NOBODY) {
        const uint32_t i = nearest(a, cost + (size_t)last * n_column, last, length, n_scanned, n_column);
        const uint32_t j = a->order[i];
        length = a->length[j];
        if (isinf(length))
            return false;
        a->order[i] = a->order[n_scanned];
        a->order[n_scanned++] = j;
        if (a->owner[j] == NOBODY)
            end = j;
        else
            last = a->owner[j];
    }
    a->row_price[row] += length;
    for (uint32_t i = 0; i + 1 < n_scanned; i++) {
        const uint32_t j = a->order[i];
        a->row_price[a->owner[j]] += length - a->length[j];
        a->column_price[j] -= length - a->length[j];
    }
    for (uint32_t i = NOBODY; i != row;) {
        i = a->from[end];
        a->owner[end] = i;
        const uint32_t before = column[i];
        column[i] = end;
        end = before;
    }
    return true;
}

bool assignment_solve(struct assignment *a, const double *cost, uint32_t n_row, uint32_t n_column,
                      uint32_t *column)
{
    if (n_row > a->max_row || n_column > a->max_column || n_row > n_column)
        return false;
    for (uint32_t i = 0; i < n_row; i++) {
        a->row_price[i] = 0;
        column[i] = NOBODY;
    }
    for (uint32_t j = 0; j < n_column; j++) {
        a->column_price[j] = 0;
        a->owner[j] = NOBODY;
    }
    for (uint32_t i = 0; i < n_row; i++)
        if (!augment(a, cost, i, n_column, column))
            return false;
    return true;
}
