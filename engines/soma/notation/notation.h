/* SoMa's tensor-centric notation (HPCA 2025, section IV): six attributes say all of a fused schedule. The
 * first four are the layer-fusion attributes (LFA), the last two the DRAM-load-and-store attributes (DLSA).
 * Text form: docs/soma.md. */
#ifndef ENGINES_SOMA_NOTATION_NOTATION_H
#define ENGINES_SOMA_NOTATION_NOTATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/fused/core_array.h"
#include "costmodel/fused/fused_schedule.h"
#include "costmodel/model/network.h"
#include "engines/soma/notation/graph.h"

/* Of a schedule that is held as a whole; more is DSE_LIMIT. And of one that is evaluated in runs
 * (engines/soma/long_schedule.h). */
enum { SOMA_TILE_MAX = 1 << 24, SOMA_TENSOR_MAX = 1 << 25, SOMA_LONG_TILE_MAX = 1 << 27 };

/* Attributes 1 to 4. A position is an index into `order`. */
struct soma_lfa {
    uint32_t n_layer;
    uint32_t *order; /* (n_layer) 1: computing order, producers before consumers */
    uint32_t n_flc;
    uint32_t *flc;    /* (n_flc) 2: where a fine-grained group starts; flc[0] = 0, ascending */
    uint32_t *tiling; /* (n_flc) 3: tiles of every layer of the group */
    bool *dram_cut;   /* (n_flc) 4: the group starts after a DRAM cut; dram_cut[0] = true */
};

/* The position behind group g. */
static inline uint32_t soma_group_stop(const struct soma_lfa *lfa, uint32_t g)
{
    return g + 1 < lfa->n_flc ? lfa->flc[g + 1] : lfa->n_layer;
}

/* Attributes 5 and 6, of the tensors that soma_parse makes of an LFA, by their numbers. */
struct soma_dlsa {
    uint32_t n_tensor, n_dram;
    uint32_t *order; /* (n_dram) 5: DRAM tensor order */
    int32_t *start,
        *end; /* (n_tensor) 6: living durations; those of tensors that the DRAM does not move do not count */
};

/* What the parser needs besides the LFA. */
struct soma_context {
    const struct network *network;  /* a graph */
    const struct soma_graph *graph; /* of that network; NULL: made anew in every soma_parse */
    uint32_t batch;
    struct core_scheduler core;
    bool compat; /* the published program's rules; else the physically sound ones (docs/soma.md) */
    /* Schedules that take long to make are given up (SOMA_OVER) when `*cancel` is not 0, or at end_s on
     * clock_wall_s. NULL, 0: they are made to the end. */
    const atomic_int *cancel;
    double end_s;
};

/* So many tiles are made in an instant, whatever else. */
enum { SOMA_INSTANT_TILES = 1 << 16 };

/* Whether schedules that take long are given up by now. */
bool soma_context_is_over(const struct soma_context *context);

/* Whether one of so many tiles is. */
static inline bool soma_context_gives_up(const struct soma_context *context, uint64_t n_tile)
{
    return n_tile > SOMA_INSTANT_TILES && soma_context_is_over(context);
}

/* Why an LFA is not valid. */
enum soma_fault {
    SOMA_OK,
    SOMA_ORDER,  /* a consumer before its producer, or not a permutation */
    SOMA_GROUPS, /* starts not ascending from 0, tiling 0, no DRAM cut before the first group */
    SOMA_TILING, /* this output layer of a group cannot be cut into so many tiles */
    SOMA_ALONE,  /* a classifier must be a layer group of its own, with the pools before it (compat) */
    SOMA_COST,   /* the core scheduler refuses a tile of this layer (its DSE_BAD_INPUT); err->text says why */
    /* a tile of this layer would be empty: its readers' tile needs only padding, or only other channels */
    SOMA_EMPTY,
    SOMA_BLOCK, /* a layer group has this layer and one of another segment of a folded network */
    SOMA_OVER,  /* it takes long to make, and soma_context_is_over */
    SOMA_APART  /* this layer reads another of its layer group, but their map cannot stay in the buffer */
};

struct soma_fault_info {
    enum soma_fault what;
    uint32_t layer; /* or the group for SOMA_GROUPS */
};

/* The words of a fault ("a consumer stands before its producer"); never NULL. */
const char *soma_fault_text(enum soma_fault fault);

/* Make tiles and tensors of an LFA: shapes by back-calculation from each group's outputs, bytes, costs, and
 * the default (double-buffer) DRAM order and living durations. Tensors are numbered layer by layer in
 * computing order: loads of each tile, weights, output tiles. Memory from `arena`, about 100 bytes per tile
 * and tensor; time is linear in them. The schedule is for fused_evaluate. An invalid LFA is reported in
 * `fault`, not an error, and leaves the schedule empty. DSE_BAD_USAGE: a batch of 0; DSE_NO_MEMORY,
 * DSE_LIMIT; errors of soma_graph_init and of the core scheduler. */
DSE_MUST_CHECK enum dse_status soma_parse(const struct soma_context *context, const struct soma_lfa *lfa,
                                          struct arena *arena, struct fused_schedule *schedule,
                                          struct soma_fault_info *fault, struct dse_error *err);

/* The same for whole layer groups cut out of an LFA: `part` has only their layers, in the order of the LFA,
 * and groups from position 0; every other layer lies outside, as if in another layer group. That the order is
 * valid is the caller's promise. */
DSE_MUST_CHECK enum dse_status soma_parse_part(const struct soma_context *context,
                                               const struct soma_lfa *part, struct arena *arena,
                                               struct fused_schedule *schedule, struct soma_fault_info *fault,
                                               struct dse_error *err);

/* Put the DRAM order and living durations of `dlsa` in place of the default ones; tensors that the DRAM does
 * not move keep theirs. DSE_BAD_INPUT when the counts do not match, the order is not one of the schedule's
 * DRAM tensors, a load starts outside -1 .. first use or ends elsewhere than by default, or a store ends
 * outside producer + 1 .. n_tile or starts elsewhere than at its producer. (The published program lets a
 * store end before the tiles of its own layer group have read it; whether a tensor is alive when it is used
 * is for fused_evaluate to judge.) DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_apply(const struct soma_dlsa *dlsa, struct fused_schedule *schedule,
                                          struct dse_error *err);

/* So many tensors of a DRAM order have a line each, with a name, where people may read it. */
enum { SOMA_NAMED_MAX = 1 << 17 };

/* The text form (YAML; docs/soma.md), which says so when the scheme is of `compat` rules. With `dlsa` NULL
 * only the LFA is written; else `schedule`, of that LFA, names the tensors in comments; of more than
 * `n_named` runs have a line. */
void soma_write(const struct network *network, bool compat, const struct soma_lfa *lfa,
                const struct soma_dlsa *dlsa, const struct fused_schedule *schedule, uint32_t n_named,
                struct text_buffer *out);

/* Whose rules a text says it is for. */
enum soma_rules { SOMA_RULES_UNSAID, SOMA_RULES_DEFAULT, SOMA_RULES_COMPAT };

/* What the key `compat` of a text form says; the rest is not looked at. DSE_BAD_INPUT with file and line. */
DSE_MUST_CHECK enum dse_status soma_read_rules(const struct yaml_doc *doc, enum soma_rules *rules,
                                               struct dse_error *err);

/* Read the text form. `*has_dlsa` says whether the text gives a DLSA, which soma_apply then checks. Memory
 * from `arena`. DSE_BAD_INPUT with file and line: not the text form, another network, an unknown or repeated
 * layer, a number out of range; DSE_NO_MEMORY. Whether the LFA is valid says soma_parse. */
DSE_MUST_CHECK enum dse_status soma_read(const struct yaml_doc *doc, const struct network *network,
                                         struct arena *arena, struct soma_lfa *lfa, struct soma_dlsa *dlsa,
                                         bool *has_dlsa, struct dse_error *err);

#endif
