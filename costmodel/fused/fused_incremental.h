/* A fused schedule that a search changes by one tensor at a time: what a move does not reach is not computed
 * again, and a move that is not wanted is taken back for less than it cost. Equal to fused_evaluate after
 * every move (docs/fused-schedule.md). */
#ifndef COSTMODEL_FUSED_FUSED_INCREMENTAL_H
#define COSTMODEL_FUSED_FUSED_INCREMENTAL_H

#include "costmodel/fused/fused_schedule.h"

struct fused_incremental;

/* What a search compares. `fault`, `fault_tensor` and `cycle` as in struct fused_result. */
struct fused_outcome {
    enum fused_fault fault;
    uint32_t fault_tensor;
    uint64_t cycle;
    uint64_t buffer_max_byte;
};

/* Start from a copy of the DRAM order and living durations of `schedule` (which only has to live for this
 * call). All memory from `arena`, whose reset ends it. DSE_NO_MEMORY; DSE_BAD_INPUT as fused_evaluate, and
 * for a schedule with another fault than FUSED_BUFFER. */
DSE_MUST_CHECK enum dse_status fused_incremental_new(const struct fused_schedule *schedule,
                                                     const struct fused_machine *machine, struct arena *arena,
                                                     struct fused_incremental **made, struct dse_error *err);

/* Put a tensor at `place` of the DRAM order (others close up) and give it the living duration (start, end),
 * in one move. A LOCAL tensor has no place: pass 0. FUSED_LIFETIME, FUSED_ORDER, FUSED_DEADLOCK and
 * FUSED_OVERLAP: nothing was changed. FUSED_OK and FUSED_BUFFER: changed; the next move accepts it,
 * fused_undo takes it back. `tensor` and `place` exist. */
struct fused_outcome fused_move(struct fused_incremental *state, uint32_t tensor, uint32_t place,
                                int32_t start, int32_t end);

/* The tensor at `from` goes to `to`; it keeps its living duration. */
struct fused_outcome fused_move_order(struct fused_incremental *state, uint32_t from, uint32_t to);

/* Take the last move back: once, and nothing when that move changed nothing. */
void fused_undo(struct fused_incremental *state);

/* How it stands now. */
struct fused_outcome fused_incremental_outcome(const struct fused_incremental *state);

/* The tensors as they stand now (n_tensor), and the DRAM order (n_dram). Valid until the next move. */
const struct fused_tensor *fused_incremental_tensor(const struct fused_incremental *state);
const uint32_t *fused_incremental_order(const struct fused_incremental *state);

/* The place of a tensor in the DRAM order; UINT32_MAX for a LOCAL one. */
uint32_t fused_incremental_place(const struct fused_incremental *state, uint32_t tensor);

/* When the tensor at `place` or a later one is due, in half steps (fused_due): fused_released of all tensors
 * up to there must be less. Half of it is the first tile that waits for one of them. */
uint32_t fused_incremental_due(const struct fused_incremental *state, uint32_t place);

/* How long a tensor may live, the other end as it is, without a position that holds more than the buffer: the
 * earliest start, the latest end. What fits now stays: no later than its start, no earlier than its end. */
int32_t fused_incremental_earliest_start(const struct fused_incremental *state, uint32_t tensor);
int32_t fused_incremental_latest_end(const struct fused_incremental *state, uint32_t tensor);

/* When tile `p` is over. */
uint64_t fused_incremental_tile_finish(const struct fused_incremental *state, uint32_t p);

/* Write order and living durations into a schedule of the same tensors. */
void fused_incremental_save(const struct fused_incremental *state, struct fused_schedule *schedule);

#endif
