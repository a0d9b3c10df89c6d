/* What happens in a run as one JSON object per line, appended to a file (docs/observing.md). */
#ifndef DSE_RUN_EVENT_LOG_H
#define DSE_RUN_EVENT_LOG_H

#include <stdio.h>

#include "base/status.h"
#include "dse/run/runner.h"

struct event_log; /* open for appending */

struct event_log_options {
    const char *path;    /* of the log */
    const char *out;     /* OUT.h5 of the run, whose files the log must not be */
    const char *command; /* the command line */
    uint32_t shard, n_shard;
    unsigned n_restart; /* how often the run was started again after a crash */
    FILE *err;          /* to say that writing failed; once */
};

/* Open or create. A piece of a line at its end, as a full disk leaves it, is ended by a line break. The
 * schema and the options' texts are borrowed. Release with event_log_close. DSE_BAD_USAGE: it is one of the
 * result files; DSE_IO; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status event_log_open(const struct result_schema *schema,
                                              const struct event_log_options *options, struct event_log **log,
                                              struct dse_error *err);

/* Lines wait 0.1 s at most while points come or ticks are told, or until there are 64 KiB. A line is never
 * written in two parts. A failure to write is said once, ends the log, and does not end the run. */
struct run_observer event_log_observer(struct event_log *log);

/* The event run_end: `status` of runner_run with its error, `exit_code` of the program. Nothing when the run
 * has not begun. */
void event_log_end(struct event_log *log, const struct run_summary *summary, enum dse_status status,
                   const struct dse_error *why, int exit_code);

/* Write what waits and close; NULL is fine. */
void event_log_close(struct event_log *log);

#endif
