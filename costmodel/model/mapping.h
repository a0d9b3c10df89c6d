/* A mapping of one problem onto one architecture: per level the temporal factors with their order, the
 * spatial factors with their order and X/Y split, and which tensors are kept. Plain data, copied by value;
 * sized for the documented limits. */
#ifndef COSTMODEL_MODEL_MAPPING_H
#define COSTMODEL_MODEL_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"

/* "Spatial at level l" is the fan-out from level l to the level inside it; it lies inside l's temporal
 * loops. */
struct mapping_level {
    uint32_t temporal[PROBLEM_DIM_MAX];      /* (n_dim) factor, >= 1 */
    uint32_t spatial[PROBLEM_DIM_MAX];       /* (n_dim) factor, >= 1 */
    uint8_t temporal_order[PROBLEM_DIM_MAX]; /* (n_dim) a permutation of the dimensions, innermost first */
    uint8_t spatial_order[PROBLEM_DIM_MAX];  /* (n_dim) the same for the spatial loops */
    uint8_t split; /* the first `split` positions of spatial_order lie on X, the rest on Y */
    /* Bit i, i > split: position i of spatial_order begins a further dimension of the array, which has more
     * than X and Y then. Timeloop's accounting knows none. */
    uint16_t further;
    uint8_t keep;              /* bit t set: tensor t is kept here */
    uint8_t no_temporal_reuse; /* bit t: every refill of this level's tile of t from outside is a whole one */
    uint8_t no_link_transfer;  /* bit t: no neighbour forwarding of t in the network below this level */
    uint8_t no_multicast;      /* bit t: neither multicast nor spatial reduction of t in that network */
};

struct mapping {
    uint8_t n_level;
    uint8_t n_dim;
    struct mapping_level level[ARCH_LEVEL_MAX]; /* (n_level) 0 = innermost */
};

/* The mapping with all factors 1 except that the outermost level's temporal loops carry every bound; orders
 * 0,1,2,...; split = n_dim (all on X); keep as the architecture's roles allow (outermost level: everything);
 * no switches. */
void mapping_init(struct mapping *mapping, const struct problem *problem, const struct architecture *arch);

/* Append the mapping as Timeloop v3 mapping YAML, outermost level first (`dse eval` and Timeloop read it
 * back): every factor, permutations with unit dims included; one entry per line. Dimension names longer than
 * one letter make permutations comma-separated. */
void mapping_write_yaml(const struct mapping *mapping, const struct problem *problem,
                        const struct architecture *arch, struct text_buffer *out);

/* The same text as one line of flow style: "mapping: [{...}, {...}]". */
void mapping_write_line(const struct mapping *mapping, const struct problem *problem,
                        const struct architecture *arch, struct text_buffer *out);

/* The same loop nest as an indented text for people: "for k in 0..8  (DRAM)", "parallel-x ...", with tiles
 * kept. */
void mapping_write_nest(const struct mapping *mapping, const struct problem *problem,
                        const struct architecture *arch, struct text_buffer *out);

#endif
