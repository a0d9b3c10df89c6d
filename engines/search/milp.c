/* The model in memory: growing arrays of variables, rows and terms; running out of memory is remembered
 * until the solve. */
#include "engines/search/milp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engines/search/milp_private.h"

const char *milp_status_text(enum milp_status status)
{
    static const char *const text[] = {"optimal", "feasible", "infeasible", "unbounded", "not solved"};
    return (size_t)status < sizeof text / sizeof text[0] ? text[status] : "?";
}

struct milp *milp_new(struct arena *arena)
{
    struct milp *model = arena_alloc(arena, 1, sizeof *model);
    if (model)
        model->arena = arena;
    return model;
}

/* Room for one more after `n` items: the array itself or a copy of twice the size; NULL without
 * memory, which the arena remembers. */
static void *grow(struct milp *model, void *item, uint32_t n, uint32_t *room, size_t size)
{
    if (n < *room)
        return item;
    uint32_t wanted = *room ? 2 * *room : 64;
    void *copy = arena_alloc(model->arena, wanted, size);
    if (!copy)
        return NULL;
    if (n)
        memcpy(copy, item, n * size);
    *room = wanted;
    return copy;
}

uint32_t milp_add_variable(struct milp *model, enum milp_kind kind, double lowest, double highest,
                           double cost, const char *name)
{
    struct milp_variable *grown =
        grow(model, model->variable, model->n_variable, &model->variable_room, sizeof *model->variable);
    if (!grown)
        return 0;
    model->variable = grown;
    struct milp_variable *v = &grown[model->n_variable];
    *v = (struct milp_variable){.kind = kind, .lowest = lowest, .highest = highest, .cost = cost};
    (void)snprintf(v->name, sizeof v->name, "%s", name ? name : "");
    return model->n_variable++;
}

uint32_t milp_add_row(struct milp *model, double lowest, double highest, const struct milp_term *term,
                      uint32_t n_term, const char *name)
{
    struct milp_row *grown = grow(model, model->row, model->n_row, &model->row_room, sizeof *model->row);
    if (!grown)
        return 0;
    model->row = grown;
    struct milp_row *row = &grown[model->n_row];
    *row = (struct milp_row){.lowest = lowest, .highest = highest, .first = model->n_term};
    (void)snprintf(row->name, sizeof row->name, "%s", name ? name : "");
    for (uint32_t i = 0; i < n_term; i++) {
        uint32_t j = 0;
        while (j < row->n_term && model->term[row->first + j].variable != term[i].variable)
            j++;
        if (j < row->n_term) { /* the solver wants every variable once */
            model->term[row->first + j].coefficient += term[i].coefficient;
            continue;
        }
        struct milp_term *more =
            grow(model, model->term, model->n_term, &model->term_room, sizeof *model->term);
        if (!more)
            return 0;
        model->term = more;
        more[model->n_term++] = term[i];
        row->n_term++;
    }
    return model->n_row++;
}

void milp_set_cost(struct milp *model, uint32_t variable, double cost)
{
    if (variable < model->n_variable)
        model->variable[variable].cost = cost;
}

void milp_set_variable_bounds(struct milp *model, uint32_t variable, double lowest, double highest)
{
    if (variable >= model->n_variable)
        return;
    model->variable[variable].lowest = lowest;
    model->variable[variable].highest = highest;
}

void milp_set_row_bounds(struct milp *model, uint32_t row, double lowest, double highest)
{
    if (row >= model->n_row)
        return;
    model->row[row].lowest = lowest;
    model->row[row].highest = highest;
}

double milp_row_highest(const struct milp *model, uint32_t row)
{
    return row < model->n_row ? model->row[row].highest : INFINITY;
}

uint32_t milp_variable_count(const struct milp *model)
{
    return model->n_variable;
}

uint32_t milp_integer_count(const struct milp *model)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < model->n_variable; v++)
        n += model->variable[v].kind == MILP_INTEGER;
    return n;
}

uint32_t milp_row_count(const struct milp *model)
{
    return model->n_row;
}
