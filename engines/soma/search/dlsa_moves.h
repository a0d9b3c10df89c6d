/* Moves of SoMa's second stage: a DRAM tensor goes to another place of the DRAM order, gets another living
 * duration, or both (HPCA 2025, section V-C2). Internal to the second stage. */
#ifndef ENGINES_SOMA_SEARCH_DLSA_MOVES_H
#define ENGINES_SOMA_SEARCH_DLSA_MOVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "costmodel/fused/fused_incremental.h"

/* What does not change in a search. */
struct dlsa_moves {
    uint32_t n_tile, n_tensor, n_dram;
    uint32_t n_moved;
    const uint32_t *dram;     /* (n_moved) the tensors that are moved; the others keep their order */
    const double *weight;     /* (n_moved) sums: of the first i + 1, by their bytes */
    int32_t *limit;           /* (n_tensor) no earlier start, no later end can make a schedule faster */
    bool in_stream_order;     /* tiles of one stream keep their order and do not overtake in time */
    uint32_t *before, *after; /* (n_tensor) the neighbours in its stream; UINT32_MAX: none */
};

/* First and last value, both allowed. None when last < first. */
struct dlsa_range {
    int64_t first, last;
};

/* Everything from the tensors of `schedule`. Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status dlsa_moves_init(const struct fused_schedule *schedule, bool in_stream_order,
                                               struct arena *arena, struct dlsa_moves *moves,
                                               struct dse_error *err);

/* One of those that are moved, with probability proportional to its bytes; there is one. */
uint32_t dlsa_choose(const struct dlsa_moves *moves, struct random_stream *stream);

/* The places to which a DRAM tensor can go without a fault, its living duration unchanged; its own is among
 * them. */
struct dlsa_range dlsa_places(const struct dlsa_moves *moves, const struct fused_incremental *state,
                              uint32_t tensor);

/* The starts of a load or ends of a store at a place (its own or one of dlsa_places) that make no fault but
 * FUSED_BUFFER; those that only take room and can make nothing faster are left out. */
struct dlsa_range dlsa_times(const struct dlsa_moves *moves, const struct fused_incremental *state,
                             uint32_t tensor, uint32_t place);

/* Uniform in the range except `present`, if that is in it; false when there is no other. */
bool dlsa_draw_other(struct random_stream *stream, struct dlsa_range range, int64_t present, int64_t *drawn);

/* Put a DRAM tensor at a place with a start (load) or an end (store). False: a fault, nothing was changed.
 * True: changed, with *outcome FUSED_OK or FUSED_BUFFER, and fused_undo takes it back. */
bool dlsa_move_to(struct fused_incremental *state, uint32_t tensor, uint32_t place, int64_t time,
                  struct fused_outcome *outcome);

/* The three moves of a DRAM tensor; also false when there is nowhere to go. */
bool dlsa_move_order(const struct dlsa_moves *moves, struct fused_incremental *state, uint32_t tensor,
                     struct random_stream *stream, struct fused_outcome *outcome);
bool dlsa_move_time(const struct dlsa_moves *moves, struct fused_incremental *state, uint32_t tensor,
                    struct random_stream *stream, struct fused_outcome *outcome);

/* Both: the new time is drawn between those of the neighbours at the new place, as far as it may; else a load
 * starts as early as it may, a store ends as late. */
bool dlsa_move_both(const struct dlsa_moves *moves, struct fused_incremental *state, uint32_t tensor,
                    struct random_stream *stream, struct fused_outcome *outcome);

#endif
