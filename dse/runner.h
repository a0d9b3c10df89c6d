/* Running a sweep: tasks on OpenMP threads, one writer, resume, interruption. */
#ifndef DSE_RUNNER_H
#define DSE_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "dse/sweep.h"
#include "results/provenance.h"
#include "results/schema.h"

struct run_options {
    const char *out;         /* OUT.h5; OUT.csv and OUT.layers.csv lie beside it */
    int n_thread;            /* at least 1 */
    uint32_t shard, n_shard; /* 1 of 1: all points; else those with number % n_shard == shard - 1 */
    bool fresh;              /* throw away what is there */
    const char *command;     /* the command line, for provenance */
    FILE *err;               /* progress */
};

struct run_summary {
    size_t n_point;                       /* of this shard */
    size_t n_reused;                      /* were in the journal */
    size_t n_status[RESULT_STATUS_COUNT]; /* written by this run */
    size_t n_task, n_shared;              /* searches done, and further uses of their results */
    double seconds;
    bool interrupted;
};

/* Costs of tiles that the tasks of a run share at most; about 120 bytes each. */
enum { RUN_CORE_COST_MAX = 1 << 20 };

/* Run what is missing. Every finished point is in the journal at once; the cube is rebuilt every half minute and at the end. Points
 * that go wrong become rows. DSE_BAD_INPUT, DSE_BAD_USAGE, DSE_IO from journal and cube; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status runner_run(const struct sweep *sweep, const struct run_options *options,
                                          struct run_summary *summary, struct dse_error *err);

/* Is point number p part of the shard? */
bool runner_in_shard(const struct run_options *options, size_t p);

struct run_estimate {
    size_t n_point, n_reused; /* of this shard */
    size_t n_task, n_shared;
    double seconds; /* NaN when unknown */
    bool at_least;  /* the sample was cut short */
    double byte;    /* of all result files */
};

/* What runner_run would do, without writing anything: reads the journal, and tries a few tasks to learn how long they take. */
DSE_MUST_CHECK enum dse_status runner_estimate(const struct sweep *sweep, const struct run_options *options,
                                               struct run_estimate *estimate, struct dse_error *err);

#endif
