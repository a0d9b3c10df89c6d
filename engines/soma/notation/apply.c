/* A given DLSA in place of the default one. */
#include <stdlib.h>

#include "engines/soma/notation/notation.h"

static const char *const kind_text[] = {"load", "weights", "store", "local"};

static enum dse_status check_duration(const struct soma_dlsa *dlsa, const struct fused_schedule *schedule,
                                      uint32_t id, struct dse_error *err)
{
    const struct fused_tensor *tensor = &schedule->tensor[id];
    int32_t start = dlsa->start[id], end = dlsa->end[id];
    bool store = tensor->kind == FUSED_OFMAP;
    int32_t earliest = store ? tensor->producer_tile : -1;
    int32_t latest = store ? tensor->producer_tile : tensor->first_use;
    if (start < earliest || start > latest)
        return dse_fail(err, DSE_BAD_INPUT, "tensor %u (%s) starts at %d; it may start from %d to %d", id,
                        kind_text[tensor->kind], start, earliest, latest);
    int32_t lowest = store ? tensor->producer_tile + 1 : tensor->end;
    int32_t highest = store ? (int32_t)schedule->n_tile : tensor->end;
    if (end < lowest || end > highest)
        return dse_fail(err, DSE_BAD_INPUT, "tensor %u (%s) ends at %d; it may end from %d to %d", id,
                        kind_text[tensor->kind], end, lowest, highest);
    return DSE_OK;
}

static enum dse_status check(const struct soma_dlsa *dlsa, const struct fused_schedule *schedule, bool *seen,
                             struct dse_error *err)
{
    for (uint32_t i = 0; i < dlsa->n_dram; i++) {
        uint32_t id = dlsa->order[i];
        if (id >= schedule->n_tensor)
            return dse_fail(err, DSE_BAD_INPUT, "the DRAM order has tensor %u; the last one is %u", id,
                            schedule->n_tensor - 1);
        if (schedule->tensor[id].kind == FUSED_LOCAL)
            return dse_fail(err, DSE_BAD_INPUT, "the DRAM order has tensor %u, which never leaves the buffer",
                            id);
        if (seen[id])
            return dse_fail(err, DSE_BAD_INPUT, "the DRAM order has tensor %u twice", id);
        seen[id] = true;
        DSE_TRY(check_duration(dlsa, schedule, id, err));
    }
    return DSE_OK;
}

enum dse_status soma_apply(const struct soma_dlsa *dlsa, struct fused_schedule *schedule,
                           struct dse_error *err)
{
    if (dlsa->n_tensor != schedule->n_tensor || dlsa->n_dram != schedule->n_dram)
        return dse_fail(err, DSE_BAD_INPUT,
                        "the DLSA is of %u tensors, %u of them in the DRAM order; the schedule has %u and %u",
                        dlsa->n_tensor, dlsa->n_dram, schedule->n_tensor, schedule->n_dram);
    bool *seen = calloc((size_t)schedule->n_tensor + 1, sizeof(*seen));
    if (seen == NULL)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a DLSA of %u tensors", dlsa->n_tensor);
    enum dse_status status = check(dlsa, schedule, seen, err);
    free(seen);
    if (status != DSE_OK)
        return status;
    for (uint32_t i = 0; i < dlsa->n_dram; i++) {
        uint32_t id = dlsa->order[i];
        schedule->dram_order[i] = id;
        schedule->tensor[id].start = dlsa->start[id];
        schedule->tensor[id].end = dlsa->end[id];
    }
    return DSE_OK;
}
