/* First tiling numbers: the smallest tile of a layer that keeps the core array busy. */
#ifndef ENGINES_SOMA_SEARCH_INITIAL_H
#define ENGINES_SOMA_SEARCH_INITIAL_H

#include "engines/soma/search/search.h"

/* Tiles of a layer when each is the smallest that fills the core array, as a power of two that an output of
 * its shape can be cut into. With `search->parallel`: the reference's rule, the first of six spatial
 * partitions (CK, CB, CW, BK, HK, HW) that uses all PEs, else the best, gives the tile's samples, rows and
 * columns. Without: the most tiles for which the core scheduler's cycles in all are at most 10 % above those
 * of the whole layer. Errors of the core scheduler. */
DSE_MUST_CHECK enum dse_status soma_parallel_tiles(const struct soma_search *search, uint32_t layer,
                                                   uint32_t *n_tile, struct dse_error *err);

/* The largest power of two that is at most n >= 1. */
uint32_t soma_power_below(uint64_t n);

#endif
