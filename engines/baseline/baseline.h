/* The baseline mappers: plain searches over the map space, for comparison and for daily use. */
#ifndef ENGINES_BASELINE_BASELINE_H
#define ENGINES_BASELINE_BASELINE_H

#include "engines/driver/engine.h"

extern const struct engine engine_random, engine_hybrid, engine_descent, engine_exhaustive, engine_annealing,
    engine_genetic;

/* The option that every mapper over the map space has, as the last of its table. */
#define BASELINE_OPTION_BYPASS                                                                               \
    {                                                                                                        \
        "search_bypass",                                                                                     \
            "also search which tensors a level keeps (else: all that its roles and the constraints allow)",  \
            "", OPTION_BOOL, 0, 0, 1, NULL                                                                   \
    }

#endif
