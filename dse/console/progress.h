/* Progress on stderr: a bar with rate and remaining time on a terminal, one line a minute otherwise. */
#ifndef DSE_CONSOLE_PROGRESS_H
#define DSE_CONSOLE_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Counters are written by workers and read by the one thread that prints. */
struct progress {
    FILE *out;
    bool terminal;
    double start_s, last_s; /* of clock_wall_s */
    size_t n_point, n_task; /* to be done in this run */
    atomic_size_t point_done, task_done, not_ok;
};

void progress_init(struct progress *progress, FILE *out, FILE *terminal, size_t n_point, size_t n_task);

/* Print if it is time: five times a second on a terminal, else once a minute. */
void progress_tick(struct progress *progress);

/* Remove the bar, so that other lines can follow. */
void progress_clear(struct progress *progress);

/* The line without its line break: "[####......]  40 %  30/75 points  12.3 tasks/s  ETA 4.2 s  1 not ok".
 * Returns `buffer`. */
char *progress_print(const struct progress *progress, double now_s, char *buffer, size_t size);

#endif
