/* A run in a process of its own, under a parent that only waits. When the run crashes, it is started again,
 * and the searches that were in flight go on in worker processes. */
#ifndef DSE_ISOLATE_SUPERVISOR_H
#define DSE_ISOLATE_SUPERVISOR_H

#include "dse/console/cli.h"
#include "dse/isolate/crash_board.h"

/* The run; returns the exit code of the program. */
typedef int supervise_body(void *user, struct crash_board *board);

/* Run `body` in a child, forked while this process has one thread, and return its exit code (128 + N when
 * signal N ended it). SIGINT, SIGTERM, SIGUSR1 and SIGHUP that were sent to this process alone are passed on;
 * the child dies with this process. After a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGKILL by lack
 * of memory) with searches in flight, or when the watchdog has ended the run, the body is called again in a
 * new child and a line on console->err says so; a crash without a search in flight ends in exit code 2 with a
 * line. */
int supervise(supervise_body *body, void *user, const struct console *console);

#endif
