/* Parts of layers whose weights go past the buffer: with as many along output channels that a part's weights
 * stay in their own level, they are loaded once for all of its rows, and each part reads the inputs again.
 * docs/soma.md, "Layers in parts". Internal to engines/soma/. */
#ifndef ENGINES_SOMA_STREAM_PARTS_H
#define ENGINES_SOMA_STREAM_PARTS_H

#include "engines/soma/parts.h"

/* Set k (n_layer) to the parts along output channels with which least crosses the chip's border: weights (or
 * a second operand) once where they fit into rule->stay_word, and a tile's mapping by rule->core leaves them
 * there, else with every tile, as few of which as fit into the buffer (one, or double-buffered); and inputs
 * once for each part. All ones where weights do not stream, or something else does, too. All parts together
 * are at most n_max layers. Memory from `arena`. DSE_NO_MEMORY; errors of the core's scheduler. */
DSE_MUST_CHECK enum dse_status soma_stream_parts(const struct network *network,
                                                 const struct soma_part_rule *rule, uint32_t n_max,
                                                 struct arena *arena, uint32_t *k, struct dse_error *err);

#endif
