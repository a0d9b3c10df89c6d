/* A DRAM that is stepped cycle by cycle, one command at a time: the plain counterpart of
 * costmodel/noc/noc_mesh.h. */
#ifndef TESTS_SUPPORT_NOC_PLAIN_DRAM_H
#define TESTS_SUPPORT_NOC_PLAIN_DRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/noc/noc.h"

struct plain_bank {
    bool open;
    uint64_t row;
    int64_t activated, precharged, read, written; /* when last; long ago at first */
};

struct plain_access {
    bool write;
    uint64_t byte;
    int64_t queued, done; /* done: -1 while it is not known */
    bool missed;
};

struct plain_dram {
    const struct noc_dram *timing;
    struct plain_bank *bank;
    struct plain_access *access; /* all there ever were */
    size_t n_access, capacity, current;
    int64_t limit_end[NOC_LIMITS]; /* when the bandwidth is free, times the accesses of the limit */
    int64_t bus_end, write_end, refresh_due, refresh_end;
    bool last_read;
    uint64_t n_miss;
};

bool plain_dram_init(struct plain_dram *dram, const struct noc_dram *timing);
void plain_dram_free(struct plain_dram *dram);

/* Queue an access in cycle `now`; its index, or SIZE_MAX when out of memory. */
size_t plain_dram_queue(struct plain_dram *dram, int64_t now, bool write, uint64_t byte);

/* Accesses queued and not done before cycle `now`. */
uint32_t plain_dram_waiting(const struct plain_dram *dram, int64_t now);

/* The command of cycle `now`, if one is possible. */
void plain_dram_tick(struct plain_dram *dram, int64_t now);

/* Is the access over at the start of cycle `now`? */
bool plain_dram_is_done(const struct plain_dram *dram, size_t access, int64_t now);

#endif
