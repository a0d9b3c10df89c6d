/* What uops bring from the DRAM and how much room they take, where memory is not free: weights and inputs of
 * the network by tiles, and which outputs are the network's. docs/klotski.md, "Weights from the DRAM". */
#ifndef COSTMODEL_UOP_UOP_NEEDS_H
#define COSTMODEL_UOP_UOP_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/uop/uop_graph.h"

/* What counts as taking room in an accelerator's memory, and must fit into it for a uop to run there. Slices
 * (uop_slices.h) go with free memories alone. */
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
    uint64_t capacity_word; /* of each accelerator; UINT64_MAX: endless */
};

/* A plan of a memory takes some 100 bytes for each tile that a uop needs. */
enum { UOP_USE_MAX = 1 << 24 };

/* Memory from `arena`. DSE_NO_MEMORY; DSE_LIMIT: all uops together need more tiles than UOP_USE_MAX. */
DSE_MUST_CHECK enum dse_status uop_needs_of(const struct uop_graph *graph, const struct kc_machine *machine,
                                            enum uop_sram sram, struct arena *arena, struct uop_needs *out,
                                            struct dse_error *err);

/* Does a layer read the output of layer `layer`? Else it is one of the network's. */
bool uop_is_read(const struct uop_network *network, uint32_t layer);

/* Words of a network input that a whole layer reads by one of its sources. */
uint64_t uop_input_word(const struct uop_network *network, const struct uop_layer *layer,
                        const struct uop_source *source);

#endif
