/* Clocks, in seconds. What they say goes into reports and limits, never into results. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Wall time from an arbitrary start; never goes back. */
double clock_wall_s(void);

/* CPU time of the calling thread. */
double clock_thread_s(void);

#endif
