/* Reports of mappings in the one-line notation, in the words and units of the authors' program: per level,
 * per array, in sum. They price what does not fit as well. */
#include "costmodel/interstellar/points_report.h"

#include <stdio.h>

#include "base/report.h"
#include "costmodel/interstellar/interstellar_compiled.h"
#include "costmodel/interstellar/loops.h"
#include "costmodel/interstellar/points.h"

#define PJ 1e12

enum { N_SUMMARY = 8, N_LEVELS = 8, N_NETWORKS = 7 };

static const struct cell_column summary_column[N_SUMMARY] = {
    CELL_COLUMN("line", "line", LOOK_COUNT),
    CELL_COLUMN("fits", "fits", LOOK_COUNT),
    {.name = "energy_no_mac_pJ", .title = "pJ without MACs", .look = LOOK_DIGITS, .digit = 9},
    {.name = "energy_array_pJ", .title = "of arrays", .look = LOOK_DIGITS, .digit = 9},
    {.name = "mac_energy_pJ", .title = "pJ of MACs", .look = LOOK_DIGITS, .digit = 9},
    CELL_COLUMN("pe_used", "MACs used", LOOK_COUNT),
    CELL_COLUMN("pe_total", "of", LOOK_COUNT),
    CELL_COLUMN("cycles", "cycles", LOOK_COUNT),
};

static const struct cell_column level_column[N_LEVELS] = {
    CELL_COLUMN("line", "line", LOOK_COUNT),
    CELL_COLUMN("level", "level", LOOK_COUNT),
    CELL_COLUMN("dataspace", "tensor", LOOK_TEXT),
    {.name = "accesses_per_element", .title = "accesses per word", .look = LOOK_DIGITS, .digit = 9},
    {.name = "accesses", .title = "accesses", .look = LOOK_DIGITS, .digit = 12},
    CELL_COLUMN("bank_words", "bank words", LOOK_COUNT),
    CELL_COLUMN("tile_words", "tile words", LOOK_COUNT),
    {.name = "energy_pJ", .title = "pJ", .look = LOOK_DIGITS, .digit = 9},
};

static const struct cell_column network_column[N_NETWORKS] = {
    CELL_COLUMN("line", "line", LOOK_COUNT),
    CELL_COLUMN("array", "array", LOOK_TEXT),
    CELL_COLUMN("group", "hops", LOOK_TEXT),
    CELL_COLUMN("dataspace", "tensor", LOOK_TEXT),
    {.name = "hops_per_element", .title = "hops per word", .look = LOOK_DIGITS, .digit = 9},
    {.name = "hop_pJ", .title = "pJ per hop", .look = LOOK_DIGITS, .digit = 6},
    {.name = "energy_pJ", .title = "pJ", .look = LOOK_DIGITS, .digit = 9},
};

/* As a whole number where it is one. */
static void add_number(struct cells *rows, double value)
{
    if (value >= 0 && value < 0x1p53 && value == (double)(uint64_t)value)
        cells_count(rows, (uint64_t)value);
    else
        cells_real(rows, value);
}

/* Inputs, outputs, weights: the order in which the authors' tables have them. */
static uint32_t list_tensors(const struct problem *problem, uint32_t *order)
{
    static const enum tensor_role roles[] = {TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_WEIGHT};
    uint32_t n = 0;
    for (int r = 0; r < TENSOR_ROLE_COUNT; r++)
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            if (problem->tensor[t].role == roles[r])
                order[n++] = t;
    return n;
}

static void summary_rows(const struct evaluator *evaluator, const struct mapping *mapping, int line,
                         bool fits, struct cells *rows)
{
    const struct interstellar_compiled *c = interstellar_of(evaluator);
    struct interstellar_prices prices;
    struct evaluation total;
    double array_j = 0;
    interstellar_price(c, mapping, &prices);
    interstellar_sum(c, mapping, &prices, &total);
    for (uint32_t l = 0; l < mapping->n_level; l++)
        array_j += total.network_energy_j[l];
    cells_whole(rows, line);
    cells_switch(rows, fits);
    cells_real(rows, (total.energy_j - total.energy_mac_j) * PJ);
    cells_real(rows, array_j * PJ);
    cells_real(rows, total.energy_mac_j * PJ);
    cells_count(rows, total.n_mac_used);
    cells_count(rows, c->base.arch.mac.instances);
    cells_count(rows, total.latency_cycle);
}

static void level_rows(const struct evaluator *evaluator, const struct mapping *mapping, int line, bool fits,
                       struct cells *rows)
{
    const struct interstellar_compiled *c = interstellar_of(evaluator);
    struct interstellar_prices prices;
    uint32_t order[PROBLEM_TENSOR_MAX], n = list_tensors(&c->base.problem, order);
    (void)fits;
    interstellar_price(c, mapping, &prices);
    for (uint32_t l = 0; l < mapping->n_level; l++)
        for (uint32_t i = 0; i < n; i++) {
            const struct interstellar_access *access = &prices.level[l].access[order[i]];
            const struct reuse_tensor *tensor = &c->reuse.tensor[order[i]];
            cells_whole(rows, line);
            cells_count(rows, l);
            cells_text(rows, c->base.problem.tensor[order[i]].name);
            add_number(rows, reuse_accesses(tensor, access->count));
            add_number(rows, access->accesses);
            add_number(rows, access->bank_word);
            add_number(rows, access->tile_word);
            cells_real(rows, access->energy_j * PJ);
        }
}

static void add_hops(struct cells *rows, int line, const char *array, const char *group, const char *tensor,
                     double hops, double hop_j, double energy_j)
{
    cells_whole(rows, line);
    cells_text(rows, array);
    cells_text(rows, group);
    cells_text(rows, tensor);
    add_number(rows, hops);
    cells_real(rows, hop_j * PJ);
    cells_real(rows, energy_j * PJ);
}

/* The array of copies of level l - 1: near hops, and of neighbour links the far ones of each dimension, two
 * dimensions at the least. */
static void array_rows(const struct interstellar_compiled *c, const struct interstellar_prices *prices,
                       uint32_t l, int line, struct cells *rows)
{
    const bool links = c->base.arch.level[l].link == ARRAY_SYSTOLIC;
    const uint32_t n_dimension = prices->level[l].n_dimension > 2 ? prices->level[l].n_dimension : 2;
    uint32_t order[PROBLEM_TENSOR_MAX], n = list_tensors(&c->base.problem, order);
    char array[16] = "MAC", group[16];
    if (l > 0)
        (void)snprintf(array, sizeof array, "L%u", (unsigned)l - 1);
    for (uint32_t i = 0; i < n; i++)
        add_hops(rows, line, array, "near", c->base.problem.tensor[order[i]].name,
                 prices->level[l].hops[order[i]].near, c->hop_j[l], prices->level[l].hops[order[i]].near_j);
    for (uint32_t k = 0; links && k < n_dimension; k++) {
        (void)snprintf(group, sizeof group, "far%u", (unsigned)k + 1);
        for (uint32_t i = 0; i < n; i++)
            add_hops(rows, line, array, group, c->base.problem.tensor[order[i]].name,
                     prices->level[l].hops[order[i]].far[k], prices->level[l].distance[k] * c->hop_j[l],
                     prices->level[l].hops[order[i]].far_j[k]);
    }
}

static void network_rows(const struct evaluator *evaluator, const struct mapping *mapping, int line,
                         bool fits, struct cells *rows)
{
    const struct interstellar_compiled *c = interstellar_of(evaluator);
    struct interstellar_prices prices;
    (void)fits;
    interstellar_price(c, mapping, &prices);
    for (uint32_t l = 0; l < mapping->n_level; l++)
        if (prices.level[l].is_array)
            array_rows(c, &prices, l, line, rows);
}

static const struct point_report reports[] = {
    {"summary", "energy of levels and arrays, of MACs, and cycles of each mapping", summary_column, N_SUMMARY,
     summary_rows},
    {"levels", "accesses of each tensor at each level, and the words it holds", level_column, N_LEVELS,
     level_rows},
    {"networks", "hops of each tensor in each array: to neighbours, and to the copies along a dimension",
     network_column, N_NETWORKS, network_rows},
};

const struct point_format interstellar_points = {
    .name = "mapping of one line",
    .is = points_is,
    .read = points_read_line,
    .name_dims = interstellar_name_dims,
    .report = reports,
    .n_report = sizeof reports / sizeof reports[0],
};
