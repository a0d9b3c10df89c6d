/* The points of a sweep that are still to be done, the dearest first. Eight bytes a point. Points that differ
 * in nothing but the network stand together, as networks share layers and a window (dse/run/plan.h) shares
 * their searches. */
#ifndef DSE_RUN_QUEUE_H
#define DSE_RUN_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/status.h"
#include "dse/run/search_time.h"
#include "dse/spec/sweep.h"

struct queue_entry {
    uint32_t point;
    float expected_s; /* queue_expected_s when it was sorted */
};

struct queue {
    const struct sweep *sweep;
    struct queue_entry *entry; /* (n) owned */
    size_t n, next;            /* entry[next ...] are open */
    uint32_t n_network;        /* values of the dimension of networks; 1: there is none */
    uint32_t at_network;       /* which dimension it is */
    uint32_t stride;           /* cells from one of them to the next */
};

/* All points that are in `mine` and not in `done` (bits by point number). DSE_NO_MEMORY. Release with
 * queue_free. */
DSE_MUST_CHECK enum dse_status queue_init(struct queue *queue, const struct sweep *sweep,
                                          const struct bits *mine, const struct bits *done,
                                          struct dse_error *err);

/* Seconds of all searches of a point (the most of those that differ from it in the network alone), as exactly
 * as the order of work needs them: to an eighth, and short points are all alike. Points that are much the
 * same then stay in the order of the sweep, in which neighbours share machines and searches. */
float queue_expected_s(const struct queue *queue, const struct search_time *time, uint32_t point);

/* Sort what is open by what is expected now: by seconds, descending, then in the order of the sweep with the
 * networks innermost. */
void queue_sort(struct queue *queue, const struct search_time *time);

/* Searches of n points, each counted as often as it is used. */
size_t queue_count_links(const struct sweep *sweep, const struct queue_entry *entry, size_t n);

/* Take the next points, as many as have `link_max` searches together, at least one. Returns how many;
 * `*entry` points into the queue. */
size_t queue_take(struct queue *queue, size_t link_max, const struct queue_entry **entry);

void queue_free(struct queue *queue);

#endif
