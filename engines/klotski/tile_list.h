/* The tiles that each layer of a network can be cut into, with what a cut makes: latency, uops, work.
 * docs/klotski.md, "Partitions". */
#ifndef ENGINES_KLOTSKI_TILE_LIST_H
#define ENGINES_KLOTSKI_TILE_LIST_H

#include "engines/klotski/uop_plan.h"

/* A layer cut one way. */
struct tile {
    struct uop_cut cut; /* clipped to the layer */
    uint64_t cycle;     /* of the largest tile */
    uint64_t work;      /* cycles of all tiles; without sums */
    uint32_t n_uop;     /* of a sample, with those that add up */
};

/* Tiles of layer l: tile[first[l]] to tile[first[l] + n[l] - 1], the shortest latency first, of equal ones
 * the fewest uops, then the least work. Layers of the same sizes share theirs. */
struct tile_lists {
    uint32_t n_layer;
    const uint32_t *first, *n, *same; /* (n_layer); same: the first layer of the same sizes */
    const struct tile *tile;
};

/* What may be cut how. */
struct tile_rules {
    enum uop_sums sums;
    enum uop_sram sram;
    uint32_t batch, max_uops; /* of all samples; a tile that alone makes more uops is passed over */
    bool grows;               /* max_uops may be more where nothing fits (klotski_more_uops) */
    uint32_t usual;           /* max_uops up to which searches try all that options say (klotski_fewer) */
    const uint32_t *times;    /* (n_layer) how often each layer's uops count; NULL: once */
};

/* Those of Klotski's grid (partition.h), clipped to the layer; of equal latencies the one that comes first.
 * A layer that no tile fits has none. Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status tile_lists_of_grid(const struct uop_network *network,
                                                  const struct kc_machine *machine,
                                                  const struct tile_rules *rules, struct arena *arena,
                                                  struct tile_lists *out, struct dse_error *err);

/* For each number of parts in each dimension the least sizes (channels: in lanes), of which those stay that
 * no other is at least as good as in latency, work and number of uops. */
DSE_MUST_CHECK enum dse_status tile_lists_of_parts(const struct uop_network *network,
                                                   const struct kc_machine *machine,
                                                   const struct tile_rules *rules, struct arena *arena,
                                                   struct tile_lists *out, struct dse_error *err);

/* How often the uops of layer l count. */
static inline uint32_t tile_times(const struct tile_rules *rules, uint32_t l)
{
    return rules->times ? rules->times[l] : 1;
}

/* The fewest uops, without those that add up, that a layer can be cut into so that each fits its accelerator,
 * with channels in lanes, and the `cut` that does it; 0: none fits. */
uint64_t tile_fewest(const struct kc_tile *whole, const struct kc_machine *machine, enum uop_sram sram,
                     struct uop_cut *cut);

/* The least size from `size` on, and below twice that, which divides the whole; `size` where there is none.
 * What is left over at the end fits a mapper's arrays badly, as any odd number of channels does. */
uint32_t tile_even_size(uint32_t whole, uint32_t size);

/* The least size of a dimension that makes at most so many parts, 1 at least: a multiple of `unit`, or the
 * whole. */
uint32_t tile_size_of_parts(uint32_t whole, uint32_t unit, uint32_t parts);

/* The same of a layer's output channels: so many of its groups as make at most so many parts, or a part of
 * one. */
uint32_t tile_oc_of_parts(const struct kc_tile *whole, uint32_t unit, uint32_t parts);

/* The tile of layer l whose latency is nearest to exp(log_cycle), in logarithms; of two as near the shorter
 * one. The layer has one at least. */
uint32_t tile_nearest(const struct tile_lists *lists, uint32_t l, double log_cycle);

#endif
