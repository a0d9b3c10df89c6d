/* DRAM timing: the cycle at which each access is done, worked out when it is queued (first come, first
 * served). */
#ifndef COSTMODEL_NOC_NOC_DRAM_H
#define COSTMODEL_NOC_NOC_DRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/noc/noc.h"

struct noc_bank {
    bool open;
    uint64_t row;
    uint64_t precharge_ok, activate_ok, column_ok; /* the earliest cycle of each command */
};

struct noc_dram_state {
    const struct noc_dram *timing;
    struct noc_bank *bank; /* (n_bank) */
    uint64_t command_ok;   /* the cycle after the last column command: commands are in order */
    uint64_t bus_free;     /* the cycle after the last data */
    uint64_t read_ok;      /* the earliest read command after the last write */
    uint64_t refresh_due;  /* UINT64_MAX: never */
    bool last_was_read;
    uint64_t n_read, n_write, n_row_miss;
};

/* Closed banks at cycle 0. The caller looks whether `arena` had the memory. */
void noc_dram_init(struct noc_dram_state *dram, const struct noc_dram *timing, struct arena *arena);

/* Queue one access in cycle `now` (not before earlier accesses'); its first command is in a later cycle.
 * Returns the cycle after its last data cycle. Later accesses are done later. */
uint64_t noc_dram_access(struct noc_dram_state *dram, uint64_t now, bool write, uint64_t byte);

/* What an access changed. */
struct noc_dram_undo {
    struct noc_dram_state state;
    struct noc_bank *at;
    struct noc_bank bank;
};

/* Queue the access if it is done in `done` and no refresh can touch it; else nothing changes and the answer
 * is false. */
bool noc_dram_access_if(struct noc_dram_state *dram, uint64_t now, bool write, uint64_t byte, uint64_t done,
                        struct noc_dram_undo *undo);

/* Take back the last access. */
void noc_dram_undo(struct noc_dram_state *dram, const struct noc_dram_undo *undo);

#endif
