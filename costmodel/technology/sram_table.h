/* The table of memories behind technology.h: what CACTI says at the points of a grid. */
#ifndef COSTMODEL_TECHNOLOGY_SRAM_TABLE_H
#define COSTMODEL_TECHNOLOGY_SRAM_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { SRAM_NODES = 5, SRAM_CAPACITIES = 16, SRAM_WIDTHS = 6 };

/* The grid: 22, 32, 45, 65, 90 nm; 512 B to 16 MiB and 32 to 1,024 bit in powers of two. */
extern const double SRAM_NODE_NM[SRAM_NODES];
#define SRAM_CAPACITY_FIRST_BYTE 512.0
#define SRAM_WIDTH_FIRST_BIT 32.0

/* Of one access of the whole width, of one instance. */
enum sram_quantity { SRAM_READ_PJ, SRAM_WRITE_PJ, SRAM_AREA_MM2, SRAM_LEAKAGE_UW, SRAM_QUANTITIES };

/* What a memory is beyond its size. */
struct sram_kind {
    double ports, banks; /* 1 or 2; 1 to 16 */
    bool high_performance;
};

/* The quantities at a point of the grid, as CACTI has them; false where it was not run: fewer than 32
 * words. */
bool sram_table_at(uint32_t node, uint32_t capacity, uint32_t width, const struct sram_kind *kind,
                   double value[SRAM_QUANTITIES]);

/* Multiply them by what ports, banks and cells do at the points where they were tried, between which these
 * factors are linear in the logarithms, and beyond which they stay. */
void sram_factors(uint32_t node, uint32_t capacity, uint32_t width, const struct sram_kind *kind,
                  double value[SRAM_QUANTITIES]);

#endif
