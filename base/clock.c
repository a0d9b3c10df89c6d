/* CLOCK_MONOTONIC for wall time and the thread's own CPU clock, both as seconds in a double. */
#include "base/clock.h"

#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double clock_wall_s(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double clock_thread_s(void)
{
    return seconds(CLOCK_THREAD_CPUTIME_ID);
}
