/* What a search minimises: energy^n * delay^m. */
#ifndef ENGINES_DRIVER_OBJECTIVE_H
#define ENGINES_DRIVER_OBJECTIVE_H

#include <stddef.h>

#include "base/status.h"
#include "costmodel/accounting/evaluator.h"

struct objective {
    double energy_exponent;
    double delay_exponent;
};

/* "latency" (or "delay"), "energy", "edp", "ed2p", or "energy^n*delay^m". DSE_BAD_INPUT with what is
 * accepted. */
DSE_MUST_CHECK enum dse_status objective_parse(const char *text, struct objective *objective,
                                               struct dse_error *err);

/* The canonical text; parses back to the same exponents. Returns `buffer`. */
char *objective_print(const struct objective *objective, char *buffer, size_t size);

/* The cost of one evaluation (SI units: joule, second); lower is better. */
double objective_cost(const struct objective *objective, const struct evaluation *evaluation);

/* The same of two numbers. */
double objective_cost_of(const struct objective *objective, double energy_j, double latency_s);

/* The cost no mapping can beat. */
double objective_bound(const struct objective *objective, const struct lower_bound *bound);

#endif
