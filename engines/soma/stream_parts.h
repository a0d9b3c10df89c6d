/* Parts of layers whose weights go past the buffer. With as many along output channels that a part's weights
 * stay in their own level, they are loaded once for all of its rows, and each part reads the inputs again;
 * and smaller parts leave room in the buffer for tiles of more rows, so that fewer tiles load weights.
 * docs/soma.md, "Layers in parts". Internal to engines/soma/. */
#ifndef ENGINES_SOMA_STREAM_PARTS_H
#define ENGINES_SOMA_STREAM_PARTS_H

#include "engines/soma/parts.h"

/* How a layer is cut (struct network_cut). */
struct stream_parts {
    uint32_t k, c;
};

/* Set parts (n_layer) to those with which least crosses the chip's border: weights (or a second operand) once
 * where they fit into rule->stay_word, and a tile's mapping by rule->core leaves them there, else with every
 * tile, as few of which as fit into the buffer (one, or double-buffered); inputs once for each part along K;
 * partial sums of parts along C out and in again. All ones where weights do not stream, or something else
 * does, too. All parts together are at most n_max layers, and as
 * many as make no more than some millions of transfers. Memory from `arena`. DSE_NO_MEMORY; errors of the
 * core's scheduler. */
DSE_MUST_CHECK enum dse_status soma_stream_parts(const struct network *network,
                                                 const struct soma_part_rule *rule, uint32_t n_max,
                                                 struct arena *arena, struct stream_parts *parts,
                                                 struct dse_error *err);

#endif
