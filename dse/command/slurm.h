/* The sbatch script of a sweep: a job array with one shard for each task, and the job that merges the
 * shards. */
#ifndef DSE_COMMAND_SLURM_H
#define DSE_COMMAND_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

enum {
    SLURM_TASK_MAX = 1000, /* Slurm's MaxArraySize is 1001 unless a site changes it; indices stay below it */
    SLURM_SIGNAL_BEFORE_S = 120
};

/* All texts are borrowed, without control characters; paths are absolute. NULL or 0: not given. */
struct slurm_job {
    const char *name;    /* of the sweep: letters, digits, _ - . */
    const char *command; /* the line that printed the script */
    const char *dse;     /* the program */
    const char *folder;  /* where relative paths of the specification begin */
    const char *spec;
    const char *out;      /* OUT.h5 */
    uint64_t n_point;     /* of the sweep */
    unsigned n_task;      /* tasks of the array = shards */
    unsigned n_at_once;   /* tasks that may run at a time */
    unsigned n_cpu;       /* processors of a task; 0: a node of its own */
    unsigned max_restart; /* how often a task may be started again */
    const char *time;     /* as Slurm takes it */
    uint64_t time_s;      /* the same in seconds; 0: none */
    const char *memory;
    const char *partition;
    const char *account;
    const char *qos;
    size_t n_set, n_run, n_sbatch;
    const char *const *set;    /* (n_set) KEY=VALUE */
    const char *const *run;    /* (n_run) further options of `dse run` */
    const char *const *sbatch; /* (n_sbatch) further options of sbatch */
    bool merge;                /* with the job that merges */
};

/* A time limit as sbatch takes it: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
 * days-hours:minutes or days-hours:minutes:seconds; 0, UNLIMITED and INFINITE are no limit (0 seconds).
 * Minutes and seconds behind a larger unit are below 60, hours behind days below 24, which Slurm does not ask
 * for but anything else is a slip. DSE_BAD_USAGE. */
DSE_MUST_CHECK enum dse_status slurm_read_time(const char *text, uint64_t *seconds, struct dse_error *err);

/* Append `word` so that a shell, and sbatch in its #SBATCH lines, read exactly it: as it is, or in single
 * quotes. */
void slurm_quote(struct text_buffer *text, const char *word);

/* Append the whole script, slurm/sweep.sh of the program's data filled in; text->failed tells when memory ran
 * out. DSE_IO when that file cannot be read. */
DSE_MUST_CHECK enum dse_status slurm_print(const struct slurm_job *job, struct text_buffer *text,
                                           struct dse_error *err);

#endif
