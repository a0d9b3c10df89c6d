/* An open journal, for journal.c and journal_open.c. */
#ifndef RESULTS_JOURNAL_JOURNAL_PARTS_H
#define RESULTS_JOURNAL_JOURNAL_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "results/journal/journal.h"
#include "results/journal/journal_read.h"

enum { JOURNAL_PATH_MAX = 4096 };

struct journal {
    const struct result_schema *schema;
    char csv_path[JOURNAL_PATH_MAX];
    char layer_path[JOURNAL_PATH_MAX];
    int csv_fd, layer_fd; /* -1: not open */
    struct lock *lock;
    double sync_s;
    double flushed_s, touched_s; /* when: clock_wall_s */
    pthread_mutex_t syncing;     /* held from before a sync to its end, and for */
    double synced_s;             /* when the last one ended */
    atomic_bool breaking;        /* a write or a sync failed; who sets it writes `why`, */
    struct dse_error why;        /* why, */
    atomic_bool broken;          /* and then this: nothing is taken any more */
    atomic_bool unsynced;        /* something has been written since the last sync */
    size_t n;                    /* points, those that wait included */
    size_t n_waiting;
    uint64_t csv_byte, layer_byte;    /* with the kernel */
    struct text_buffer point, layers; /* waiting */
    struct journal_report report;
};

/* All of it, or nothing more than errno says. */
bool journal_write_all(int fd, const char *bytes, size_t length);

/* Fill a journal whose paths are set and whose lock is taken: read what is there, show it, repair it, open
 * both files for appending. Errors as of journal_open. */
DSE_MUST_CHECK enum dse_status journal_recover(struct journal *journal, const char *out,
                                               const struct journal_options *options, struct dse_error *err);

#endif
