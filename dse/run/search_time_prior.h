/* What a search costs before anything is known: the static estimate, in seconds. It depends on the
 * specification alone and uses no function of the mathematical library, so that every node of a cluster gets
 * the same bits. Never part of a result. */
#ifndef DSE_RUN_SEARCH_TIME_PRIOR_H
#define DSE_RUN_SEARCH_TIME_PRIOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dse/spec/sweep.h"

enum { TIME_CLASS_MAX = 4096 };

/* A set of points that the estimate cannot tell apart: same engine, network, batch, objective and options
 * that decide the effort. */
struct time_class {
    uint32_t engine, workload; /* numbers in sweep->engine and sweep->workload */
    bool scheduler;
    uint32_t n_task;
    double search_s; /* of a search of size 1: task_size; of the one search of a scheduler */
    double limit_s;  /* of one search; INFINITY: none */
    double point_s;  /* all searches of a point */
};

/* The classes of a sweep. Const once made. */
struct time_prior {
    size_t n_dim;                       /* dimensions of the sweep that tell classes apart */
    uint32_t dim[SPEC_VARIABLE_MAX];    /* (n_dim) */
    uint32_t length[SPEC_VARIABLE_MAX]; /* (n_dim) */
    uint64_t stride[SPEC_VARIABLE_MAX]; /* (n_dim) of the row-major cells */
    uint32_t n_class;                   /* the product of the lengths, at most TIME_CLASS_MAX */
    struct time_class *class;           /* (n_class) row-major in `dim`; owned */
};

/* Dimensions that would make more than TIME_CLASS_MAX classes are left out, the longest first: the first
 * value then stands for all. DSE_NO_MEMORY. Release with time_prior_free (also after a failure). */
DSE_MUST_CHECK enum dse_status time_prior_init(struct time_prior *prior, const struct sweep *sweep,
                                               struct dse_error *err);
void time_prior_free(struct time_prior *prior);

/* The class of a point by its coordinates (spec->n_dimension), or by its row-major cell. */
uint32_t time_prior_class_of_index(const struct time_prior *prior, const uint32_t *index);
uint32_t time_prior_class_of_cell(const struct time_prior *prior, uint64_t cell);

/* Seconds of one search of a point, within its limit. `workload` is that of the class. */
double time_class_task_s(const struct time_class *class, const struct workload *workload, uint32_t task);

#endif
