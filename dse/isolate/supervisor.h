/* A run in a process of its own, under a parent that only waits. When the run crashes, it is started again,
 * and the searches that were in flight go on in worker processes. The crash board, in memory that both share,
 * says which these are. */
#ifndef DSE_ISOLATE_SUPERVISOR_H
#define DSE_ISOLATE_SUPERVISOR_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dse/console/cli.h"

enum {
    BOARD_SLOT_MAX = 4096, /* threads */
    BOARD_ENGINE_MAX = 64, /* numbers of engines; larger ones share the last */
    /* exit code of a run that asks to be started again (board_overrun was called); else an ordinary one */
    SUPERVISOR_RESTART = 75
};

struct crash_board;

/* The run; returns the exit code of the program. */
typedef int supervise_body(void *user, struct crash_board *board);

/* Run `body` in a child, forked while this process has one thread, and return its exit code (128 + N when
 * signal N ended it). SIGINT, SIGTERM, SIGUSR1 and SIGHUP that were sent to this process alone are passed on;
 * the child dies with this process. After a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGKILL by lack
 * of memory) with searches in flight, or when the run asks for it, the body is called again in a new child
 * and a line on console->err says so; a crash without a search in flight ends in exit code 2 with a line. */
int supervise(supervise_body *body, void *user, const struct console *console);

/* A board without a supervisor, for isolation in threads only and for tests. Release with board_free.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status board_new(struct crash_board **board, struct dse_error *err);
void board_free(struct crash_board *board);

/* How often the run has been started before. Not 0: it resumes, whatever --fresh says. */
unsigned board_restarts(const struct crash_board *board);
bool board_is_supervised(const struct crash_board *board);

/* A search begins or ends in the thread of `slot` (below BOARD_SLOT_MAX), not in a worker. `key` is the
 * task's; `engine` any number that is the same for the same engine; `deadline_s` (clock_wall_s; 0: none) is
 * when it has overrun limit and grace. A few nanoseconds. */
void board_enter(struct crash_board *board, size_t slot, uint64_t key, uint32_t engine, double deadline_s);
void board_leave(struct crash_board *board, size_t slot);

/* Must this search run in a worker process: because it was in flight at a crash, its engine has crashed three
 * times, or the run crashes without getting on? Does not change while a run lives. */
bool board_must_isolate(const struct crash_board *board, uint64_t key, uint32_t engine);

/* Is there anything that board_must_isolate says yes to? Then the run needs a worker pool from the start. */
bool board_isolates(const struct crash_board *board);

/* Is the search in flight in `slot` beyond its deadline at `now_s`? */
bool board_is_late(const struct crash_board *board, size_t slot, double now_s);

/* Note that the search in flight in `slot` has overrun: the next start of the run isolates it. The process
 * ends itself with SUPERVISOR_RESTART after this. */
void board_overrun(struct crash_board *board, size_t slot);

/* For the one thread of the run that waits for signals, called with each: is it an echo, passed on by the
 * supervisor although the run has had the same signal itself (as when it goes to the whole process group)? */
bool board_is_echo(struct crash_board *board, const siginfo_t *info);

#endif
