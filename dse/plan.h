/* What a run has to do: the points with their keys, and the distinct tasks of those that are not done yet. */
#ifndef DSE_PLAN_H
#define DSE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dse/sweep.h"

struct plan_point {
    uint64_t key;      /* of everything that determines its rows, its place included */
    uint64_t arch_key; /* 0: the machine cannot be built */
    uint64_t settings_key;
    bool done;         /* in the journal already, or not of this shard */
    uint32_t n_left;   /* tasks that are still open */
    size_t first_task; /* its tasks are plan->task_of[first_task ... + sweep_point_n_task] */
};

struct plan_task {
    uint64_t key;
    uint32_t point;              /* the first point that asks for it */
    uint32_t problem;            /* which of that point's tasks: number of the loop nest in its workload */
    uint32_t n_user;             /* points that ask for it and are not written yet */
    size_t first_user;           /* plan->user_of[first_user ... ] */
    uint32_t n_user_all;         /* points that ask for it */
    double effort;               /* expected, in no unit: larger tasks first */
    struct solve_result *result; /* owned while users are left */
};

struct plan {
    const struct sweep *sweep;
    size_t n_point;
    struct plan_point *point; /* (n_point) owned */
    uint64_t *point_key;      /* (n_point) owned; for result_schema */
    size_t n_task;
    struct plan_task *task; /* (n_task) owned, in the order they are done: by point, expensive points first */
    size_t n_link;          /* uses of tasks by points; n_link - n_task are shared */
    uint32_t *task_of;      /* (n_link) owned */
    uint32_t *user_of;      /* (n_link) owned: points of each task */
};

/* The keys of all points; machines are built on `n_thread` threads. DSE_NO_MEMORY. Release with plan_free (also after a failure). */
DSE_MUST_CHECK enum dse_status plan_init(struct plan *plan, const struct sweep *sweep, int n_thread,
                                         struct dse_error *err);

/* After `done` has been set: the distinct tasks of the other points. */
DSE_MUST_CHECK enum dse_status plan_tasks(struct plan *plan, struct dse_error *err);
void plan_free(struct plan *plan);

#endif
