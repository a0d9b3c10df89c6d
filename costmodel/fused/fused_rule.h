/* What a tensor's living duration means for the two engines, one tensor at a time: the rule of
 * docs/fused-schedule.md (SoMa, HPCA 2025, section IV-A2), shared by the evaluators. Internal. */
#ifndef COSTMODEL_FUSED_FUSED_RULE_H
#define COSTMODEL_FUSED_FUSED_RULE_H

#include "costmodel/fused/fused_schedule.h"

static inline bool fused_is_load(const struct fused_tensor *tensor)
{
    return tensor->kind == FUSED_IFMAP || tensor->kind == FUSED_WEIGHT;
}

/* A position as a count of tiles, kept within what there is (-1, before the first tile, counts as 0). */
static inline uint32_t fused_clip(int32_t position, uint32_t n_tile)
{
    return position <= 0 ? 0 : (uint32_t)position < n_tile ? (uint32_t)position : n_tile;
}

/* So many tiles must be over before the DRAM may move the tensor: a store waits for its producer, a load for
 * the tiles before its start. More than n_tile: never. */
static inline uint32_t fused_release(const struct fused_tensor *tensor)
{
    if (!fused_is_load(tensor))
        return (uint32_t)tensor->producer_tile + 1;
    return tensor->start <= 0 ? 0 : (uint32_t)tensor->start;
}

/* The first tile that waits for the tensor: its first user (loads) or the one at its end; n_tile: none. */
static inline uint32_t fused_first_waiter(const struct fused_tensor *tensor, uint32_t n_tile)
{
    uint32_t end = fused_clip(tensor->end, n_tile);
    if (!fused_is_load(tensor) || tensor->first_use < 0 || (uint32_t)tensor->first_use > end)
        return end;
    return (uint32_t)tensor->first_use;
}

/* When a transfer may begin and by when it must be over, in half steps of tiles: every one that may begin at
 * a step must stand behind all that have to be over by then. So `fused_released` of a tensor is less than
 * `fused_due` of itself and of all behind it, or a tile waits for what waits for it (FUSED_DEADLOCK), or,
 * when only the half steps tell them apart, a load may begin in room that is still taken (FUSED_OVERLAP):
 * start < end of all behind it (docs/fused-schedule.md). */
static inline uint32_t fused_released(const struct fused_tensor *tensor)
{
    uint32_t release = fused_release(tensor);
    return fused_is_load(tensor) ? 2 * release : 2 * release - 1;
}

/* Half of it is fused_first_waiter. */
static inline uint32_t fused_due(const struct fused_tensor *tensor, uint32_t n_tile)
{
    uint32_t waiter = fused_first_waiter(tensor, n_tile);
    return 2 * waiter + (waiter < fused_clip(tensor->end, n_tile));
}

/* The last tile that makes it or reads it in the buffer; -1: none. */
static inline int32_t fused_last_touch(const struct fused_tensor *tensor)
{
    int32_t read = tensor->last_use > tensor->last_read ? tensor->last_use : tensor->last_read;
    int32_t last = tensor->first_use < 0 ? -1 : read;
    return tensor->producer_tile > last ? tensor->producer_tile : last;
}

/* Whether the tensor is alive whenever it is made, used or moved, and its living duration lies within the
 * schedule. */
static inline bool fused_alive(const struct fused_tensor *tensor, uint32_t n_tile)
{
    if (tensor->start < -1 || tensor->start >= tensor->end || tensor->end > (int32_t)n_tile)
        return false;
    if (tensor->end <= fused_last_touch(tensor) ||
        (tensor->producer_tile >= 0 && tensor->start > tensor->producer_tile))
        return false;
    if (tensor->streamed &&
        (fused_is_load(tensor) ? tensor->start < tensor->limit : tensor->end > tensor->limit))
        return false;
    return tensor->first_use < 0 || tensor->start <= tensor->first_use;
}

static inline struct byte_rate fused_rate(bool store, const struct fused_machine *machine)
{
    return machine->differs && store ? machine->store_rate : machine->dram_rate;
}

static inline uint64_t fused_byte_cycle(uint64_t byte, bool store, const struct fused_machine *machine)
{
    return byte_rate_cycle(byte, fused_rate(store, machine));
}

static inline uint64_t fused_transfer_cycle(const struct fused_tensor *tensor,
                                            const struct fused_machine *machine)
{
    return fused_byte_cycle(tensor->dram_byte, !fused_is_load(tensor), machine);
}

/* A tile of `compute` cycles without a stall may begin so long before the last byte is there, of a load that
 * takes `transfer` cycles: piece i of n is there i transfer / n after the begin and needed
 * (i - 1) compute / n after the tile's. */
static inline uint64_t fused_ahead(uint32_t pieces, uint64_t transfer, uint64_t compute)
{
    uint64_t less = transfer < compute ? transfer : compute;
    return pieces > 1 ? less - (less / pieces + (less % pieces != 0)) : 0;
}

static inline enum fused_way fused_way(const struct fused_tensor *tensor)
{
    if (tensor->streamed)
        return fused_is_load(tensor) ? FUSED_STREAMED_IN : FUSED_STREAMED_OUT;
    return fused_is_load(tensor) ? FUSED_LOADED : FUSED_STORED;
}

static inline uint64_t fused_all_byte(const uint64_t byte[FUSED_N_WAY])
{
    return byte[FUSED_LOADED] + byte[FUSED_STORED] + byte[FUSED_STREAMED_IN] + byte[FUSED_STREAMED_OUT];
}

/* Of so many bytes each way. */
static inline double fused_dram_energy_j(const uint64_t byte[FUSED_N_WAY],
                                         const struct fused_machine *machine)
{
    double energy_j = 0;
    if (!machine->differs)
        return (double)fused_all_byte(byte) * machine->dram_energy_j;
    for (int way = 0; way < FUSED_N_WAY; way++)
        energy_j += (double)byte[way] * machine->way_energy_j[way];
    return energy_j;
}

/* Whether `later` reads from the DRAM what `earlier` stores there, so that their order is fixed. */
static inline bool fused_feeds(const struct fused_tensor *earlier, const struct fused_tensor *later)
{
    return earlier->kind == FUSED_OFMAP && later->kind == FUSED_IFMAP && later->source >= 0 &&
           (uint32_t)later->source == earlier->layer;
}

#endif
