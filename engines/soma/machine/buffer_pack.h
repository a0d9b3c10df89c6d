/* The placing of tensors behind buffer_allocate. Internal. */
#ifndef ENGINES_SOMA_MACHINE_BUFFER_PACK_H
#define ENGINES_SOMA_MACHINE_BUFFER_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/fused/fused_schedule.h"

struct span {
    uint64_t from, to;
};

/* An allocation in the making, of n tensors with rooms in whole units of the alignment. */
struct packing {
    const struct fused_schedule *schedule;
    uint32_t n;
    uint32_t *place;      /* (n) in the DRAM order; UINT32_MAX: not moved */
    uint32_t *by_start;   /* (n) */
    uint64_t *room;       /* (n) bytes rounded up */
    uint32_t *first;      /* (n + 1) into neighbour */
    uint32_t *neighbour;  /* whom each tensor may not overlap; NULL: too many to list */
    uint32_t *order;      /* (n) in which they are placed */
    uint32_t *spare;      /* (n) */
    double *area;         /* (n) bytes x positions */
    uint32_t *n_ejected;  /* (n) */
    bool *placed;         /* (n) */
    struct span *span;    /* (n) of the placed neighbours of one tensor */
    uint64_t *offset;     /* (n) */
    uint64_t *best;       /* (n) the offsets of the lowest peak so far */
    uint32_t *best_order; /* (n) and the order behind them */
    uint64_t best_peak;
    uint64_t unit; /* rooms, offsets and peaks are multiples of it */
    uint64_t need; /* no peak is lower */
    uint64_t work; /* comparisons so far */
};

enum packing_rule { FIRST_FIT, BEST_FIT };

/* The lowest gap between spans that is large enough, or the tightest one; else above all. Sorts the spans. */
uint64_t packing_gap(struct span *span, uint32_t n, uint64_t room, enum packing_rule rule);

/* Place order[from ..]; those before have their offsets. Returns the peak, or UINT64_MAX as soon as it is
 * above `limit`. */
uint64_t packing_place(struct packing *packing, uint32_t from, enum packing_rule rule, uint64_t limit);

/* Remember the offsets when their peak is the lowest so far. */
void packing_keep(struct packing *packing, uint64_t peak);

/* Search for a lower peak than the best until `until` comparisons are done: over orders, all placed by first
 * fit. `kept`: (n) working memory. Deterministic. */
void packing_search_orders(struct packing *packing, uint64_t until, uint64_t *kept);

/* The same below ceilings: what does not fit below takes the place of others, which are placed again in turn.
 * When the best does not fit the buffer, the buffer is the first ceiling. */
void packing_search_ceilings(struct packing *packing, uint64_t until, uint64_t buffer_byte);

#endif
