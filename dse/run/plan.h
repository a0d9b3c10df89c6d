/* A window of the work: some points of a sweep with their distinct searches. A sweep of many points is
 * planned window by window, so that memory does not grow with it; points of one window share equal
 * searches. */
#ifndef DSE_RUN_PLAN_H
#define DSE_RUN_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "dse/run/queue.h"
#include "dse/spec/keys.h"
#include "dse/spec/sweep.h"

/* So many uses of searches by points make a window: about 150 bytes each. */
enum { PLAN_LINK_MAX = 1 << 17, PLAN_NONE = UINT32_MAX };

struct plan_point {
    uint64_t key;
    uint32_t number;     /* of the point in the sweep */
    atomic_uint n_left;  /* searches that are still open; who does the last one writes the point */
    uint32_t n_task;     /* 0: the machine cannot be built */
    uint32_t first_task; /* its searches are plan->task_of[first_task ... + n_task] */
    uint32_t next_ready; /* the next of a list of points that can be written; PLAN_NONE ends it */
    float expected_s;    /* queue_expected_s of it */
};

struct plan_task {
    uint64_t key;
    uint32_t point;              /* the first point of the plan that asks for it */
    uint32_t problem;            /* which of that point's searches */
    uint32_t n_user;             /* points that ask for it and are not written yet */
    uint32_t n_user_all;         /* points that ask for it */
    uint32_t first_user;         /* plan->user_of[first_user ...] */
    struct solve_result *result; /* owned while users are left */
};

struct plan {
    const struct sweep *sweep;
    size_t n_point;
    struct plan_point *point; /* (n_point) */
    size_t n_unwritten;       /* points that are not written yet */
    size_t n_task;
    struct plan_task *task; /* (n_task) */
    uint32_t *order;        /* (n_task) searches as they are to be done, dear points first */
    size_t next;            /* order[next ...] are not handed out yet */
    size_t n_link;          /* uses of searches by points; n_link - n_task are shared */
    uint32_t *task_of;      /* (n_link) */
    uint32_t *user_of;      /* (n_link) points of each search */
    struct arena arena;     /* all of these */
    struct plan *following; /* the runner's list of live plans */
};

/* Plan `n` points of the queue. `machine` is scratch. Points whose machine cannot be built have no searches.
 * DSE_NO_MEMORY. On failure `*plan` is NULL. */
DSE_MUST_CHECK enum dse_status plan_new(const struct sweep *sweep, const struct queue_entry *entry, size_t n,
                                        struct machine *machine, struct plan **plan, struct dse_error *err);

/* Sort what is not handed out yet by plan_point.expected_s, descending, then in the order of the queue; the
 * searches of a point stay together, and those of the point that is being handed out stay first, so that
 * points are finished, and safe in the journal, one after the other. */
void plan_sort(struct plan *plan);

/* One point of a search is written: release the result with the last one. */
void plan_release(struct plan *plan, const struct plan_point *point);

/* NULL is fine. */
void plan_free(struct plan *plan);

#endif
