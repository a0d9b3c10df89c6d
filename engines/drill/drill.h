/* The test engine: one plain mapping at once, or a fault of choice. */
#ifndef ENGINES_DRILL_DRILL_H
#define ENGINES_DRILL_DRILL_H

#include <stdbool.h>

#include "engines/driver/engine.h"

extern const struct engine engine_drill;

/* What it can be told to do wrong. The first ones, up to the count of DRILL_IN_PROCESS, can end or hang the
 * process. */
enum drill_fault {
    DRILL_NONE,
    DRILL_LOOP,        /* never returns; looks at neither budget nor cancel flag */
    DRILL_LEAK,        /* takes memory, touches it, forgets it and answers */
    DRILL_ABORT,       /* SIGABRT */
    DRILL_SEGFAULT,    /* SIGSEGV */
    DRILL_DIVIDE,      /* SIGFPE of an integer division */
    DRILL_FLOAT_TRAP,  /* SIGFPE of a floating-point division, with traps on */
    DRILL_THROW_AWAY,  /* ends the process with exit(3) */
    DRILL_INVALID,     /* hands over a mapping that is none */
    DRILL_TOO_GOOD,    /* claims half the cost of what it found */
    DRILL_BELOW_BOUND, /* claims a cost, cycles and energy below the lower bound */
    DRILL_N_FAULT
};

extern const char *const drill_fault_name[DRILL_N_FAULT];

/* Do one of the faults that the process may not survive; of these only DRILL_LEAK returns, after so many
 * bytes. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status drill_break_down(enum drill_fault fault, double leak_byte,
                                                struct dse_error *err);

/* Falsify what is about to be handed over. */
void drill_lie(enum drill_fault fault, struct engine_context *context);

/* Take `byte` bytes and touch every page; NULL when there are not so many. Release with drill_give_back. */
void *drill_take_memory(double byte);
void drill_give_back(void *memory, double byte);

#endif
