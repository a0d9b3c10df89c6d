/* Energies, areas and leakage between the rows of published tables. */
#include "costmodel/technology/technology.h"

#include <math.h>

#include "costmodel/technology/sram_table.h"

#define SUPPLY_V 0.9
#define TABLE_FIRST_NM 22.0
#define TABLE_LAST_NM 90.0

/* ---------------------------------------- from one node to another */

/* Stillmaker and Baas 2017: area over that of 45 nm; energy in proportion to v2 V^2 + v1 V + v0. */
struct node {
    double nm, area, v2, v1, v0;
};
static const struct node NODE[] = {
    {7, 0.059, 0.1776, -0.09097, 0.02447}, {10, 0.1, 0.2068, -0.09311, 0.02375},
    {14, 0.17, 0.2363, -0.09675, 0.02239}, {16, 0.19, 0.2958, -0.1241, 0.03024},
    {20, 0.21, 0.373, -0.1582, 0.04104},   {32, 0.46, 0.9559, -0.7823, 0.471},
    {45, 1, 1.103, -0.362, 0.2767},        {65, 1.5, 3.755, -4.398, 1.975},
    {90, 2.8, 4.762, -4.781, 2.092},       {130, 6.4, 7.171, -6.709, 2.904},
};
enum { N_NODE = sizeof NODE / sizeof NODE[0] };

static double energy_of(const struct node *node)
{
    return node->v2 * SUPPLY_V * SUPPLY_V + node->v1 * SUPPLY_V + node->v0;
}

/* log-linear between two points */
static double between(double x, double x0, double x1, double y0, double y1)
{
    return y0 * pow(y1 / y0, log(x / x0) / log(x1 / x0));
}

static void node_scale(double nm, double *energy, double *area)
{
    uint32_t i = 0;
    while (i + 2 < N_NODE && nm > NODE[i + 1].nm)
        i++;
    const struct node *low = &NODE[i], *high = &NODE[i + 1];
    *energy = between(nm, low->nm, high->nm, energy_of(low), energy_of(high));
    *area = between(nm, low->nm, high->nm, low->area, high->area);
}

/* Take a cost from one node to another. */
static void rescale(double from_nm, double to_nm, struct technology_cost *cost)
{
    double energy[2], area[2];
    if (from_nm == to_nm)
        return;
    node_scale(from_nm, &energy[0], &area[0]);
    node_scale(to_nm, &energy[1], &area[1]);
    cost->read_j *= energy[1] / energy[0];
    cost->write_j *= energy[1] / energy[0];
    cost->area_mm2 *= area[1] / area[0];
    cost->leakage_w *= area[1] / area[0];
}

static enum dse_status check_node(double nm, struct dse_error *err)
{
    if (nm >= TECHNOLOGY_NM_MIN && nm <= TECHNOLOGY_NM_MAX)
        return DSE_OK;
    return dse_fail(err, DSE_BAD_INPUT, "the tables are for %d to %d nm, not for %g nm", TECHNOLOGY_NM_MIN,
                    TECHNOLOGY_NM_MAX, nm);
}

/* ---------------------------------------- memories */

/* A place on an axis of the grid: its neighbours `low` and `low` + 1, and the share of the upper one. */
struct place {
    uint32_t low;
    double share;
};

/* `at` in steps of an axis of n points; what is a hair outside is on it. */
static bool find_place(double at, uint32_t n, struct place *place)
{
    const double hair = 1e-9;
    if (!(at >= -hair && at <= n - 1 + hair))
        return false;
    at = fmin(fmax(at, 0), n - 1);
    place->low = (uint32_t)fmin(floor(at), n - 2);
    place->share = at - place->low;
    return true;
}

static double node_steps(double nm)
{
    uint32_t i = 0;
    while (i + 2 < SRAM_NODES && nm > SRAM_NODE_NM[i + 1])
        i++;
    return i + log(nm / SRAM_NODE_NM[i]) / log(SRAM_NODE_NM[i + 1] / SRAM_NODE_NM[i]);
}

/* The largest of the grid's values up to `capacity`: CACTI falls in 4 of 420 steps. */
static bool largest_up_to(uint32_t node, uint32_t capacity, uint32_t width, const struct sram_kind *kind,
                          double value[SRAM_QUANTITIES])
{
    double at[SRAM_QUANTITIES];
    if (!sram_table_at(node, capacity, width, kind, value))
        return false;
    for (uint32_t c = capacity; c-- > 0 && sram_table_at(node, c, width, kind, at);)
        for (uint32_t q = 0; q < SRAM_QUANTITIES; q++)
            value[q] = fmax(value[q], at[q]);
    return true;
}

/* The values at a place inside the grid; false where a corner that counts was not run. */
static bool interpolate(const struct place place[3], const struct sram_kind *kind,
                        double value[SRAM_QUANTITIES])
{
    double logarithm[SRAM_QUANTITIES] = {0}, at[SRAM_QUANTITIES];
    for (uint32_t corner = 0; corner < 8; corner++) {
        double weight = 1;
        uint32_t i[3];
        for (uint32_t axis = 0; axis < 3; axis++) {
            const uint32_t upper = corner >> axis & 1u;
            i[axis] = place[axis].low + upper;
            weight *= upper ? place[axis].share : 1 - place[axis].share;
        }
        if (weight <= 0)
            continue;
        if (!largest_up_to(i[0], i[1], i[2], kind, at))
            return false;
        for (uint32_t q = 0; q < SRAM_QUANTITIES; q++)
            logarithm[q] += weight * log(at[q]);
    }
    for (uint32_t q = 0; q < SRAM_QUANTITIES; q++)
        value[q] = exp(logarithm[q]);
    return true;
}

static enum dse_status sram_cost(double nm, const struct technology_memory *memory,
                                 struct technology_cost *cost, struct dse_error *err)
{
    const double table_nm = fmin(fmax(nm, TABLE_FIRST_NM), TABLE_LAST_NM);
    const struct sram_kind kind = {memory->ports, memory->banks, memory->cell == TECHNOLOGY_HP};
    struct place place[3];
    double value[SRAM_QUANTITIES];
    if (!find_place(log2(memory->bit / SRAM_WIDTH_FIRST_BIT), SRAM_WIDTHS, &place[2]))
        return dse_fail(err, DSE_BAD_INPUT,
                        "the table of memories is for accesses of 32 to 1024 bit, not of %g; \"block\" says "
                        "how many words an access moves",
                        memory->bit);
    if (!find_place(log2(memory->byte / SRAM_CAPACITY_FIRST_BYTE), SRAM_CAPACITIES, &place[1]))
        return dse_fail(err, DSE_BAD_INPUT, "the table of memories goes up to 16 MiB; this one has %.4g MiB",
                        memory->byte / 0x1p20);
    if (!find_place(node_steps(table_nm), SRAM_NODES, &place[0]) || !interpolate(place, &kind, value))
        return dse_fail(err, DSE_BAD_INPUT,
                        "the table of memories has none of fewer than 32 accesses; %g B are %.4g of %g bit",
                        memory->byte, memory->byte * 8 / memory->bit, memory->bit);
    *cost = (struct technology_cost){
        .read_j = value[SRAM_READ_PJ] * 1e-12,
        .write_j = value[SRAM_WRITE_PJ] * 1e-12,
        .area_mm2 = value[SRAM_AREA_MM2],
        .leakage_w = value[SRAM_LEAKAGE_UW] * 1e-6,
        .source = "CACTI 7, mean error 6 %",
    };
    rescale(table_nm, nm, cost);
    return DSE_OK;
}

enum dse_status technology_memory_cost(double nm, const struct technology_memory *memory,
                                       struct technology_cost *cost, struct dse_error *err)
{
    DSE_TRY(check_node(nm, err));
    if (memory->byte >= SRAM_CAPACITY_FIRST_BYTE)
        return sram_cost(nm, memory, cost, err);
    if (memory->ports > 1 || memory->banks > 1 || memory->cell == TECHNOLOGY_HP)
        return dse_fail(
            err, DSE_BAD_INPUT,
            "a memory below 512 B is of flip-flops, for which there are no ports, banks or cells");
    *cost = (struct technology_cost){
        .read_j = 0.009e-12 * memory->bit,
        .write_j = 0.009e-12 * memory->bit,
        .area_mm2 = 5.98e-6 * memory->byte * 8,
        .source = "flip-flops, Aladdin",
    };
    rescale(40, nm, cost);
    return DSE_OK;
}

/* ---------------------------------------- MACs and DRAM */

/* {pJ, um2} of whole numbers of 8, 16, 32 bits at 45 nm (Horowitz); there is no product of 16. */
static const double ADD[3][2] = {{0.03, 36}, {0.05, 67}, {0.1, 137}};
static const double MULTIPLY[2][2] = {{0.2, 282}, {3.1, 3495}};

static double add(double bit, uint32_t what)
{
    return bit <= 16 ? between(bit, 8, 16, ADD[0][what], ADD[1][what])
                     : between(bit, 16, 32, ADD[1][what], ADD[2][what]);
}

static double multiply_add(double bit, uint32_t what)
{
    return between(bit, 8, 32, MULTIPLY[0][what], MULTIPLY[1][what]) + add(fmin(2 * bit, 32), what);
}

enum dse_status technology_mac_cost(double nm, double bit, struct technology_cost *cost,
                                    struct dse_error *err)
{
    DSE_TRY(check_node(nm, err));
    if (!(bit >= 8 && bit <= 32))
        return dse_fail(err, DSE_BAD_INPUT, "the table of multipliers is for 8 to 32 bit, not for %g", bit);
    *cost = (struct technology_cost){
        .read_j = multiply_add(bit, 0) * 1e-12,
        .area_mm2 = multiply_add(bit, 1) * 1e-6,
        .source = "Horowitz",
    };
    cost->write_j = cost->read_j;
    rescale(45, nm, cost);
    return DSE_OK;
}

void technology_dram_cost(enum technology_dram dram, double bit, struct technology_cost *cost)
{
    static const double pj_per_bit[TECHNOLOGY_DRAM_COUNT] = {
        [TECHNOLOGY_LPDDR] = 40,  [TECHNOLOGY_LPDDR4] = 8,  [TECHNOLOGY_DDR3] = 70,
        [TECHNOLOGY_HBM2] = 6.25, [TECHNOLOGY_HBM3] = 4.05, [TECHNOLOGY_HBM4] = 3.2,
    };
    *cost = (struct technology_cost){.source = "pJ a bit, as in hwcomponents-cacti"};
    cost->read_j = cost->write_j = pj_per_bit[dram] * bit * 1e-12;
}
