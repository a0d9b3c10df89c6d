/* When a search of blockings has to end, from the listing of its space on. */
#ifndef ENGINES_INTERSTELLAR_BLOCKING_LIMITS_H
#define ENGINES_INTERSTELLAR_BLOCKING_LIMITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Also in the middle of a step: it then leaves what it has not tried yet. */
struct blocking_limits {
    const atomic_int *cancel; /* not 0: at once; may be NULL */
    double stop_at_s;         /* clock_wall_s; 0: never */
    double hurry_at_s;        /* when a proof that has found nothing takes what it comes by first; 0: never */
    bool over;                /* one of these was met */
    bool answered;            /* there is an answer: where time is over none is looked for */
    double below_j;           /* a proof looks for less energy than this only; 0: for any */
    uint64_t most_try;        /* tiles and arrays that a proof looks at; 0: any */
};

/* Whether a limit has been met, now or before. Reads the clock: about as long as 50 additions. NULL: none. */
bool blocking_limits_met(struct blocking_limits *limits);

/* Whether a time of clock_wall_s has come; 0: never. */
bool blocking_limits_time(double at_s);

#endif
