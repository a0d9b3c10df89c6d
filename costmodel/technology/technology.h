/* What parts of a machine take in a technology: energy, area and leakage of memories, registers,
 * multipliers and DRAM, from published tables (docs/technology.md says how far they can be trusted). Nothing
 * is taken from beyond a table: what it does not cover is an error that says so. */
#ifndef COSTMODEL_TECHNOLOGY_TECHNOLOGY_H
#define COSTMODEL_TECHNOLOGY_TECHNOLOGY_H

#include <stdint.h>

#include "base/status.h"

/* Nodes in nm, both included. */
enum { TECHNOLOGY_NM_MIN = 7, TECHNOLOGY_NM_MAX = 130 };

/* Cells and periphery of an SRAM: low standby power, or high performance, which leaks 470 to 20,000 times as
 * much (ITRS-LSTP and ITRS-HP). */
enum technology_cell { TECHNOLOGY_LSTP, TECHNOLOGY_HP };

enum technology_dram {
    TECHNOLOGY_LPDDR,
    TECHNOLOGY_LPDDR4,
    TECHNOLOGY_DDR3,
    TECHNOLOGY_HBM2,
    TECHNOLOGY_HBM3,
    TECHNOLOGY_HBM4,
    TECHNOLOGY_DRAM_COUNT
};

/* A memory on the chip: one instance, every access of `bit`. */
struct technology_memory {
    double byte, bit;
    double ports; /* 1 or 2 */
    double banks; /* 1 to 16 */
    enum technology_cell cell;
};

/* What one instance takes. */
struct technology_cost {
    double read_j, write_j; /* of one access; of a MAC read_j is that of one multiply-accumulate */
    double leakage_w;       /* 0 where the source has none */
    double area_mm2;        /* the same */
    const char *source;     /* static: where that is from, and its error where it was measured */
};

/* An SRAM of 512 B to 16 MiB, linear in the logarithms of capacity, width and node between runs of CACTI 7
 * (sram_table.h), made non-decreasing in the capacity. Smaller: flip-flops, 9 fJ and 5.98 um2 a bit at 40 nm
 * (Y. Shao et al., "Aladdin", ISCA 2014, by Accelergy's library). Below 22 and beyond 90 nm, and of
 * flip-flops everywhere, energies and areas are scaled by A. Stillmaker and B. Baas, Integration 58, 2017, at
 * 0.9 V; leakage as areas. 45 nm, 64 bit, 8 KiB: reads 6.1 pJ. DSE_BAD_INPUT outside the tables, without a
 * place. */
DSE_MUST_CHECK enum dse_status technology_memory_cost(double nm, const struct technology_memory *memory,
                                                      struct technology_cost *cost, struct dse_error *err);

/* A multiply-accumulate of whole numbers of `bit` (8 to 32): a product, and a sum of twice the bits (32 at
 * most); a power law between the rows for 8, 16 and 32 bits of M. Horowitz, "Computing's energy problem",
 * ISSCC 2014, at 45 nm, scaled as above. 45 nm, 8 bit: 0.2 + 0.05 pJ. DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status technology_mac_cost(double nm, double bit, struct technology_cost *cost,
                                                   struct dse_error *err);

/* An access of `bit`, whatever the node: 8 pJ a bit for LPDDR4. No area, which is not the chip's. */
void technology_dram_cost(enum technology_dram dram, double bit, struct technology_cost *cost);

#endif
