/* A tick compares each slot's deadline with the clock; the time in which the whole process was stopped
 * does not count. */
#include "dse/isolate/watchdog.h"

#include <unistd.h>

enum { INTERRUPTED = 130 };

static const double gap_most_s = 1; /* ticks come ten times a second; a longer gap: the process was stopped */

void watchdog_init(struct watchdog *watchdog, struct crash_board *board, size_t n_slot, double grace_s,
                   void (*flush)(void *user), void *user, FILE *err)
{
    *watchdog = (struct watchdog){.board = board,
                                  .n_slot = n_slot < BOARD_SLOT_MAX ? n_slot : BOARD_SLOT_MAX,
                                  .grace_s = grace_s,
                                  .flush = flush,
                                  .user = user,
                                  .err = err};
}

void watchdog_stopping(struct watchdog *watchdog, double now_s)
{
    if (watchdog->stopping_s <= 0)
        watchdog->stopping_s = now_s;
}

/* Other threads still run: nothing may be released or closed. */
static _Noreturn void leave(const struct watchdog *watchdog, int code)
{
    if (watchdog->flush)
        watchdog->flush(watchdog->user);
    fflush(watchdog->err);
    _exit(code);
}

static void end_late(struct watchdog *watchdog, double now_s)
{
    size_t n_late = 0;
    bool supervised = board_is_supervised(watchdog->board);
    for (size_t s = 0; s < watchdog->n_slot; s++)
        if (board_is_late(watchdog->board, s, now_s)) {
            n_late++;
            if (supervised)
                board_overrun(watchdog->board, s);
        }
    if (n_late == 0)
        return;
    if (supervised)
        leave(watchdog, SUPERVISOR_RESTART);
    if (!watchdog->said)
        fprintf(
            watchdog->err,
            "dse: a search does not stop at its max_seconds, and cannot be ended in a thread; waiting for it "
            "(isolation: process ends such searches)\n");
    watchdog->said = true;
}

void watchdog_tick(struct watchdog *watchdog, double now_s)
{
    double gap_s = watchdog->last_s > 0 ? now_s - watchdog->last_s : 0;
    watchdog->last_s = now_s;
    if (gap_s > gap_most_s) {
        watchdog->quiet_s = now_s + watchdog->grace_s;
        watchdog->stopping_s += watchdog->stopping_s > 0 ? gap_s : 0;
    }
    if (watchdog->stopping_s > 0) {
        if (now_s - watchdog->stopping_s <= watchdog->grace_s)
            return;
        fprintf(watchdog->err, "dse: not stopped in time; ending at once, finished points are kept\n");
        leave(watchdog, INTERRUPTED);
    }
    if (now_s >= watchdog->quiet_s)
        end_late(watchdog, now_s);
}
