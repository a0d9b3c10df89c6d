/* How a process ended, in words. */
#ifndef DSE_ISOLATE_WORKER_REASON_H
#define DSE_ISOLATE_WORKER_REASON_H

#include <stdbool.h>
#include <stddef.h>

/* "SIGSEGV"; "signal 99" for one without a name. Returns `buffer`. */
char *reason_signal(int number, char *buffer, size_t size);

/* Is it a signal that a faulty program gets: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP? */
bool reason_is_fault(int number);

/* A wait status as the reason of a row: "the engine crashed (SIGSEGV: invalid memory access)", "the engine
 * ended its process with exit code 3". Returns `buffer`. */
char *reason_of_status(int status, char *buffer, size_t size);

/* The last line that is not empty of what a process writes. Starts as all zero. */
struct last_line {
    char last[200];  /* the last whole line, terminated */
    char begun[200]; /* the one being written */
    size_t length;   /* of `begun` */
};

/* More output; control characters become '?', and long lines are cut. */
void last_line_add(struct last_line *line, const char *data, size_t size);

/* The last line, whole or not; "" when there was none. */
const char *last_line_text(const struct last_line *line);

#endif
