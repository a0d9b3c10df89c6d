/* What uops bring from the DRAM and how much room they take, where memory is not free: weights and inputs of
 * the network by tiles, and which outputs are the network's. docs/klotski.md, "Weights from the DRAM". */
#ifndef COSTMODEL_UOP_UOP_NEEDS_H
#define COSTMODEL_UOP_UOP_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/uop/uop_graph.h"

/* What counts as taking room in an accelerator's memory, and must fit into it for a uop to run there. */
enum uop_sram {
    UOP_SRAM_ALL,    /* outputs, inputs with their halo, weights */
    UOP_SRAM_OUTPUT, /* outputs alone */
    UOP_SRAM_OFF,    /* nothing */
    UOP_SRAM_SLICES, /* the same as of UOP_SRAM_ALL, of a slice of it */
};

extern const char *const uop_sram_name[4]; /* "all", "output", "off", "slices" */

/* Items 0 to n_uop - 1 are the outputs of the uops; then come tiles of weights, then of inputs. */
struct uop_needs {
    uint32_t n_item;
    const uint64_t *word;  /* (n_item) */
    const uint64_t *held;  /* (n_item) of these, what takes room */
    const uint32_t *first; /* (n_uop + 1) into item */
    const uint32_t *item;  /* weights and inputs that a uop reads */
    const uint64_t *room;  /* (n_uop) words that a uop takes while it runs: what counts of its output, inputs,
                            * weights */
    const bool *is_result; /* (n_uop) its output is one of the network */
    /* (n_uop) it runs in slices (uop_slices.h), so it takes all room, reads no items and brings what it reads
     * and makes to and from the DRAM by itself; NULL: none does. How, uop_streams_of says; else NULL. */
    const bool *is_sliced;
    const struct uop_stream *const *stream;
    uint64_t capacity_word; /* of each accelerator; UINT64_MAX: endless */
};

/* A plan of a memory takes some 100 bytes for each tile that a uop needs. */
enum { UOP_USE_MAX = 1 << 24 };

struct uop_stream;

/* Memory from `arena`. DSE_NO_MEMORY; DSE_LIMIT: all uops together need more tiles than UOP_USE_MAX. */
DSE_MUST_CHECK enum dse_status uop_needs_of(const struct uop_graph *graph, const struct kc_machine *machine,
                                            enum uop_sram sram, struct arena *arena, struct uop_needs *out,
                                            struct dse_error *err);

/* Words of weights in a box of a layer. */
uint64_t uop_weight_word(const struct uop_box *box, const struct kc_tile *whole);

/* Words of a map that a tile of a layer reads by one of its sources: its windows, clipped to the map, seen
 * through what is on the way. Of a second operand, its share of what all tiles read of that. */
uint64_t uop_source_word(const struct uop_network *network, const struct uop_layer *of,
                         const struct uop_source *source, const struct uop_box *box);

/* Does a layer read the output of layer `layer`? Else it is one of the network's. */
bool uop_is_read(const struct uop_network *network, uint32_t layer);

/* Words of a network input that a whole layer reads by one of its sources. */
uint64_t uop_input_word(const struct uop_network *network, const struct uop_layer *layer,
                        const struct uop_source *source);

#endif
