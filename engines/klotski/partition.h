/* Partitions to choose from: one tile size for all layers, out of Klotski's grid, or in each layer the tile
 * of that grid whose latency is nearest to one target. Those are kept that fit the memories and make few
 * enough uops; and bands of maps. docs/klotski.md, "Partitions". */
#ifndef ENGINES_KLOTSKI_PARTITION_H
#define ENGINES_KLOTSKI_PARTITION_H

#include "engines/klotski/tile_list.h"

enum { PARTITION_DIM = 4 };

struct partition_grid {
    uint32_t n, dim;     /* dim: PARTITION_DIM, or 1 of targets */
    uint32_t n_cut;      /* cuts of a candidate: 1 for all layers, or one for each */
    struct uop_cut *cut; /* (n, n_cut) */
    double *at; /* (n, dim) where each lies between the least and the largest of each size or target, 0 to 1
                 * by their logarithms */
    uint32_t n_all, n_sram; /* candidates of the grid, and how many of these fit the memories */
};

/* Number i of the grid: output rows and columns, and channels in multiples of the lanes. */
enum { PARTITION_GRID_N = 5 * 5 * 9 * 10 };
struct uop_cut partition_grid_cut(const struct kc_machine *machine, uint32_t i);

/* Are all maps of the network of one column, and some of more rows than the grid's tiles? Then its sizes of
 * columns are of no use and go on with those of rows, up to 1792 (`cut` of the grid is made so); false: it
 * would be one that the grid has besides. */
bool partition_is_of_rows(const struct uop_network *network);
bool partition_cut_of_rows(struct uop_cut *cut);

/* The same with all sizes divided by 2^finer, one pixel and one fold of the lanes at least: where no tile of
 * the grid fits the memories. */
enum { PARTITION_FINER_MAX = 7 };
struct uop_cut partition_cut_finer(const struct kc_machine *machine, struct uop_cut cut, uint32_t finer);

/* One tile size for all layers. Sizes of the grid: output rows and columns 7 to 112, input channels in
 * multiples of the c lanes, output channels in multiples of the k lanes; or partition_cut_of_rows; where none
 * fits, partition_cut_finer. Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status partition_grid_of(const struct uop_network *network,
                                                 const struct kc_machine *machine,
                                                 const struct tile_rules *rules, struct arena *arena,
                                                 struct partition_grid *out, struct dse_error *err);

/* The cuts (n_layer) of one target; how many uops they make, UINT64_MAX: some layer has no tile. */
uint64_t partition_target(const struct tile_lists *lists, double log_cycle, const struct tile_rules *rules,
                          struct uop_cut *cut);

/* The least and the largest latency of any tile, as logarithms; both 0 where there is none. */
void partition_target_range(const struct tile_lists *lists, double *least, double *most);

/* Targets in even steps between these, each once that makes another partition. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status partition_targets_of(const struct tile_lists *lists,
                                                    const struct tile_rules *rules, struct arena *arena,
                                                    struct partition_grid *out, struct dse_error *err);

/* Partitions in which each layer has about as many uops as there are cores, or a quarter to eight times that:
 * its map cut into rows, or into rows and columns as the mesh has, of some least height, and channels where
 * the map is too small for so many. What a network that is slow needs to begin with. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status partition_bands_of(const struct uop_network *network,
                                                  const struct kc_machine *machine,
                                                  const struct tile_rules *rules, struct arena *arena,
                                                  struct partition_grid *out, struct dse_error *err);

/* The entropy of uops' latencies as shares of their sum, in nats. */
double partition_entropy(const struct uop_graph *graph);

#endif
