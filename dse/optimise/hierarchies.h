/* The memory hierarchies that an optimiser chooses from: a machine whose storage levels take several sizes,
 * or are left out. */
#ifndef DSE_OPTIMISE_HIERARCHIES_H
#define DSE_OPTIMISE_HIERARCHIES_H

#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "dse/inputs/inputs.h"

enum { SIZE_AXIS_MAX = 8, SIZE_VALUE_MAX = 64, HIERARCHY_MAX = 10000 };

/* The sizes of one storage level. */
struct size_axis {
    char level[ARCH_NAME_MAX];
    uint32_t n;
    double byte[SIZE_VALUE_MAX]; /* (n) of one instance; 0: the machine has no such level */
};

struct size_limits {
    double least_ratio, most_ratio; /* of the sizes of adjacent levels, all instances; 0: any */
    double most_byte;               /* on the chip, all instances; INFINITY: any */
};

struct hierarchy {
    struct architecture arch;
    uint8_t choice[SIZE_AXIS_MAX]; /* (n_axis) */
    uint32_t group;                /* bit a: the level of axis a is left out */
    double onchip_byte;
};

struct hierarchies {
    uint32_t n_axis;
    struct size_axis axis[SIZE_AXIS_MAX];
    uint32_t n, n_refused;  /* refused: by the limits */
    struct hierarchy *list; /* (n) owned */
};

/* One --size: "LEVEL=16 B,64 B..512 B,none"; a range doubles. DSE_BAD_USAGE. */
DSE_MUST_CHECK enum dse_status size_axis_parse(const char *text, struct size_axis *axis,
                                               struct dse_error *err);

/* All combinations of `axis` (n_axis) on the machine named, in the order of the axes, the last fastest, but
 * those that break a limit. DSE_BAD_INPUT: the machine's errors; a level left out that has an array; a
 * machine over its max_area is among the refused. DSE_BAD_USAGE: nothing is left. Release with
 * hierarchies_free, also after a failure. */
DSE_MUST_CHECK enum dse_status hierarchies_list(const char *name, const struct input_overrides *overrides,
                                                const struct size_axis *axis, uint32_t n_axis,
                                                const struct size_limits *limits, struct hierarchies *out,
                                                struct dse_error *err);
void hierarchies_free(struct hierarchies *hierarchies);

/* The machine that none of its group is better than: of each level the largest size, the least energies, and
 * no least use. */
void hierarchies_relax(const struct hierarchies *hierarchies, uint32_t group, struct architecture *out);

/* "RF=64 B SRAM=128 KiB" */
void hierarchy_print(const struct hierarchies *hierarchies, uint32_t i, struct text_buffer *out);

#endif
