/* The hooks of a slow price: each hands its call on to the measure. */
#include "dse/solve/measure_choice.h"

#include <math.h>
#include <string.h>

static const struct measure *measure_of(const struct measure_chooser *chooser)
{
    size_t n;
    return measure_all(&n)[chooser->settings->chooser];
}

static double guess(void *self, const struct problem *problem, const struct mapping *mapping)
{
    struct measure_chooser *chooser = self;
    arena_reset(&chooser->scratch);
    return measure_of(chooser)->guess(problem, chooser->arch, mapping, &chooser->scratch);
}

static enum dse_status cycles(void *self, const struct problem *problem, const struct mapping *mapping,
                              uint64_t *cycle, struct dse_error *err)
{
    struct measure_chooser *chooser = self;
    const struct measure *measure = measure_of(chooser);
    union metric_value value[MEASURE_VALUE_MAX];
    memset(value, 0xff, sizeof value);
    arena_reset(&chooser->scratch);
    DSE_TRY(measure->compute(problem, chooser->arch, mapping,
                             chooser->settings->limit[chooser->settings->chooser], chooser->cancel,
                             &chooser->scratch, value, err));
    *cycle = value[0].u64 == METRIC_U64_MISSING ? 0 : value[0].u64;
    return DSE_OK;
}

const struct engine_slow_price *measure_chooser_init(struct measure_chooser *chooser,
                                                     const struct measure_settings *settings,
                                                     const struct architecture *arch,
                                                     const atomic_int *cancel)
{
    *chooser = (struct measure_chooser){.settings = settings, .arch = arch, .cancel = cancel};
    arena_init(&chooser->scratch);
    chooser->price = (struct engine_slow_price){settings->n_choice, chooser, NULL, cycles};
    if (settings->n_choice && measure_of(chooser)->guess)
        chooser->price.guess = guess;
    return settings->n_choice ? &chooser->price : NULL;
}

void measure_chooser_free(struct measure_chooser *chooser)
{
    arena_free(&chooser->scratch);
}
