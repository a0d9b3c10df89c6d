/* A measure that chooses among the best mappings of a search, as the driver takes it. */
#ifndef DSE_SOLVE_MEASURE_CHOICE_H
#define DSE_SOLVE_MEASURE_CHOICE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "dse/solve/measure_settings.h"
#include "engines/driver/engine.h"

/* For one search. */
struct measure_chooser {
    const struct measure_settings *settings;
    const struct architecture *arch;
    const atomic_int *cancel;
    struct arena scratch; /* of one mapping */
    struct engine_slow_price price;
};

/* All borrowed; `cancel` may be NULL. The slow price of the measure that the settings have choose, in
 * `chooser`; NULL: none does. Release with measure_chooser_free. */
const struct engine_slow_price *measure_chooser_init(struct measure_chooser *chooser,
                                                     const struct measure_settings *settings,
                                                     const struct architecture *arch,
                                                     const atomic_int *cancel);
void measure_chooser_free(struct measure_chooser *chooser);

#endif
