/* How the baselines draw mappings: by construction, always valid, or prime by prime, valid by luck. */
#ifndef ENGINES_BASELINE_SAMPLING_H
#define ENGINES_BASELINE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/driver/driver.h"

enum sampling { SAMPLING_CONSTRUCT, SAMPLING_PRIMES };

/* The option that chooses; its value is an enum sampling. */
#define BASELINE_OPTION_SAMPLING                                                                             \
    {                                                                                                        \
        "sampling",                                                                                          \
            "construct: every draw is valid; primes: every prime factor goes to a uniform slot, what does "  \
            "not fit is thrown away and counted",                                                            \
            "", OPTION_CHOICE, SAMPLING_CONSTRUCT, 0, 1, sampling_names                                      \
    }

extern const char *const sampling_names[2];

/* Where an option of 0 says "never", this many invalid draws in a row still end a search: it would not end
 * otherwise. */
#define SAMPLING_INVALID_MAX 1e8

/* Draw into `mapping`. True: it is valid and yet to be priced. Draws that were thrown away are counted by the
 * context, and `*n_invalid` is increased by them. */
bool sampling_draw(struct engine_context *context, const struct mapspace *space, enum sampling sampling,
                   struct random_stream *stream, struct mapping *mapping, uint64_t *n_invalid);

/* n >= limit, where a limit of 0 means never. */
bool sampling_reached(uint64_t n, double limit);

/* Are there so many invalid draws in a row that the search ends? `timeout` as the option of that name. */
bool sampling_timed_out(uint64_t n_invalid, double timeout);

#endif
