/* What the supervisor itself does with a crash board; the run's side is in dse/isolate/supervisor.h. */
#ifndef DSE_ISOLATE_CRASH_BOARD_H
#define DSE_ISOLATE_CRASH_BOARD_H

#include <stdbool.h>

#include "dse/isolate/supervisor.h"

void board_set_supervised(struct crash_board *board);

/* The body has come to its end: the exit code of the run is its own, and not that of an engine that ended the
 * process. */
void board_set_returned(struct crash_board *board);
bool board_has_returned(const struct crash_board *board);

/* After a crash: what was in flight is to be isolated, and every engine in flight has crashed once more; the
 * next start is counted. Returns false when nothing was in flight. */
bool board_blame(struct crash_board *board);

/* Has the run noted overruns since it was started? If so, the next start is counted. */
bool board_take_overrun(struct crash_board *board);

/* How many searches the last board_blame or overrun has marked. */
unsigned board_count_marked(const struct crash_board *board);

#endif
