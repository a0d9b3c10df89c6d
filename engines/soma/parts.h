/* Layers in parts where the buffer does not hold their weights: the last step from the network that is given
 * to the one that is scheduled. The searches cut by a rule, and who reads a schedule's text as the text says
 * (its key `cuts`). docs/soma.md, "Layers in parts". */
#ifndef ENGINES_SOMA_PARTS_H
#define ENGINES_SOMA_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/fused/core_array.h"
#include "engines/soma/scheduled.h"

/* What the rule goes by. */
struct soma_part_rule {
    uint64_t buffer_byte;
    uint32_t word_bit;
    uint32_t streams; /* as in struct soma_graph: what goes past the buffer takes no room there */
    double share; /* of the buffer, for two parts and their smallest tiles; SOMA_PART_SHARE unless tried */
    uint64_t stay_word; /* streamed weights that stay in their own level; 0: none are known to */
    const struct core_scheduler *core; /* of tiles; NULL: no part is for weights that stay */
    bool all;  /* where any is cut, so is each with weights of which two parts do not fit into `share` */
    bool even; /* parts along K are alike where at most twice as many are */
};

/* Bytes of a word, of which parts count. */
static inline double soma_word_byte(const struct soma_part_rule *rule)
{
    return rule->word_bit / 8.0;
}

/* docs/soma-search.md, "Parts", has the measurements. */
#define SOMA_PART_SHARE 0.75

/* Cut what must be: with double buffering and the smallest tiles, or as one tile, each layer by itself
 * fits, and so does its last tile with what the next one in the network's order loads. Where they do not,
 * the one with more weights (or, of a matmul, second operand) is cut into the fewest parts of which two fit
 * into `share` of the buffer, along output channels; where one output channel is too much, along input
 * channels as well, into the fewest layers. What no parts help stays whole, and is for the search. Where
 * anything is cut, so are matmuls that would load their second operand with every tile; parts that would be
 * read one by one very often are joined. What fits is cut where its weights stream and parts of them stay
 * in their own level (stream_parts.h). Repetitions of a block are cut alike. `*out` is `whole` where all
 * fits; it borrows from `whole`. Memory from `arena`. DSE_LIMIT: more than NETWORK_PART_MAX layers, with
 * the layer that is in most parts, or maps that pass the buffer in more than SOMA_TILE_MAX tiles;
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_parts_by_rule(const struct soma_scheduled *whole,
                                                  const struct soma_part_rule *rule, struct arena *arena,
                                                  struct soma_scheduled *out, struct dse_error *err);

/* Whether the smallest tile of each layer of a network in parts fits the buffer by itself, with nothing
 * loaded ahead; else there is no schedule. DSE_LIMIT: the first layer that does not, with what it needs. */
DSE_MUST_CHECK enum dse_status soma_parts_check(const struct soma_scheduled *parts,
                                                const struct soma_part_rule *rule, struct dse_error *err);

/* As the text of a schedule says. DSE_BAD_INPUT with file and line: cuts that the network does not have;
 * DSE_LIMIT, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_parts_read(const struct yaml_doc *doc, const struct soma_scheduled *whole,
                                               struct arena *arena, struct soma_scheduled *out,
                                               struct dse_error *err);

#endif
