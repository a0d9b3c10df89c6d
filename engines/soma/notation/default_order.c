/* Tensors by the start of their living duration, and by a fixed rule among equals. */
#include "engines/soma/notation/default_order.h"

/* Among tensors of one start. */
static bool comes_before(const struct fused_tensor *a, const struct fused_tensor *b)
{
    bool a_weight = a->kind == FUSED_WEIGHT, b_weight = b->kind == FUSED_WEIGHT;
    if (a_weight != b_weight)
        return a_weight;
    if (a->end != b->end)
        return a->end < b->end;
    return a->kind < b->kind;
}

/* A stable counting sort by start with an insertion sort within each. */
enum dse_status soma_default_order(struct fused_schedule *schedule, struct arena *arena,
                                   struct dse_error *err)
{
    uint32_t *begin = arena_alloc(arena, (size_t)schedule->n_tile + 2, sizeof(*begin)); /* by start + 1 */
    uint32_t *n = arena_alloc(arena, (size_t)schedule->n_tile + 2, sizeof(*n));
    DSE_TRY(arena_check(arena, "the DRAM order of tensors", err));
    for (uint32_t i = 0; i < schedule->n_tensor; i++)
        if (schedule->tensor[i].kind != FUSED_LOCAL)
            begin[schedule->tensor[i].start + 2]++;
    for (uint32_t p = 0; p <= schedule->n_tile; p++)
        begin[p + 1] += begin[p];
    schedule->n_dram = begin[schedule->n_tile + 1];
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[i];
        if (tensor->kind == FUSED_LOCAL)
            continue;
        uint32_t bucket = (uint32_t)(tensor->start + 1);
        uint32_t *list = schedule->dram_order + begin[bucket];
        uint32_t at = n[bucket]++;
        for (; at > 0 && comes_before(tensor, &schedule->tensor[list[at - 1]]); at--)
            list[at] = list[at - 1];
        list[at] = i;
    }
    return DSE_OK;
}
