/* What a mapping has to keep to, as far as its tiles and factors say: capacities, banks, a GPU's block, least
 * utilisations, and the factors that constraints allow. */
#ifndef ENGINES_OPTIMAL_OPTIMAL_LIMITS_H
#define ENGINES_OPTIMAL_OPTIMAL_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/optimal/optimal_model.h"

/* May the temporal, or spatial, loop of dimension d at level l have this factor? */
bool optimal_factor_allowed(const struct optimal_model *model, uint32_t l, bool spatial, uint32_t d,
                            uint32_t factor);

/* May the dimensions of the mask `dims` lie on X, or Y, of the array below level l? */
bool optimal_side_allowed(const struct optimal_model *model, uint32_t l, bool y, uint32_t dims);

/* Do the children of level l share no word of tensor t (no_multicast_no_reduction)? */
bool optimal_is_alone(const struct optimal_model *model, uint32_t l, uint32_t t);

/* The dimensions that are the innermost temporal loops of level l, in this order; returns how many. */
uint32_t optimal_first_loops(const struct optimal_model *model, uint32_t l, const uint8_t **order);

/* Set `limited` of the model. */
void optimal_limit_factors(struct optimal_model *model);

/* Set `words` (n) to those of tensor t in each tile. */
void optimal_tile_words(const struct optimal_model *model, uint32_t t, uint64_t *words);

/* (n) whether a tile may be what level l holds when it keeps the tensors `keep`: it fits, uses enough, and
 * the factors allowed inside and outside can make it. Made when it is asked for first. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimal_fits(struct optimal_model *model, uint32_t l, uint8_t keep,
                                            const uint8_t **fits, struct dse_error *err);

/* Set `shared_fits` of the model: a level leaves banks for the tiles of those outside it with which it shares
 * them, and which are no smaller. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimal_share_banks(struct optimal_model *model, struct dse_error *err);

/* Do tiles fit where what one level holds leaves others less (banks, registers of a GPU)? `node` (n_level):
 * the tiles of level l and those outside it, in the whole lattice; those inside count as one point. */
bool optimal_fits_together(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                           const uint32_t *node);

/* Does a GPU's block have that many threads? True for other machines. */
bool optimal_fits_block(const struct optimal_model *model, const struct optimal_spread *spread);

#endif
