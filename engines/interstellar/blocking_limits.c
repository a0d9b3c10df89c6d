/* A look at the cancel flag and the clock. */
#include "engines/interstellar/blocking_limits.h"

#include "base/clock.h"

bool blocking_limits_time(double at_s)
{
    return at_s > 0 && clock_wall_s() >= at_s;
}

bool blocking_limits_met(struct blocking_limits *limits)
{
    if (limits && !limits->over)
        limits->over = (limits->cancel && atomic_load_explicit(limits->cancel, memory_order_relaxed)) ||
                       blocking_limits_time(limits->stop_at_s);
    return limits && limits->over;
}
