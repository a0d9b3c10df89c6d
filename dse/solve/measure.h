/* What is computed of a found mapping besides the cost model, when asked for: the columns of
 * results/record/schema.h that a file has only then. */
#ifndef DSE_SOLVE_MEASURE_H
#define DSE_SOLVE_MEASURE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"
#include "results/record/schema.h"

/* What is asked for. All zero: nothing. */
struct measure_settings {
    unsigned what; /* RESULT_MEASURE bits */
    /* as in noc_latency_of: steps that are simulated, the rest is extrapolated; 0: all */
    uint64_t noc_max_steps;
};

/* Missing values as in results/record/schema.h. */
struct measure_values {
    uint64_t noc_latency_cycle;                             /* of one execution */
    double cosa_util, cosa_comp, cosa_traf, cosa_objective; /* equation 12 of CoSA with its default weights */
};

/* Ask for the measure called `word` with its default settings. DSE_BAD_INPUT: unknown, with the nearest, or
 * asked for twice. */
DSE_MUST_CHECK enum dse_status measure_add(struct measure_settings *settings, const char *word,
                                           struct dse_error *err);

/* The same for a list of words between commas, "noc,cosa". */
DSE_MUST_CHECK enum dse_status measure_add_list(struct measure_settings *settings, const char *words,
                                                struct dse_error *err);

/* Can all of it be computed for mappings on this machine? DSE_BAD_USAGE says what it lacks. */
DSE_MUST_CHECK enum dse_status measure_check(const struct measure_settings *settings,
                                             const struct architecture *arch, struct dse_error *err);

/* Everything that determines the values besides problem, machine and mapping; adds nothing when nothing is
 * asked for. */
void measure_hash(const struct measure_settings *settings, struct hash_state *state);

/* "noc (at most 1,000 steps), cosa" at the end of `out`; nothing when nothing is asked for. */
void measure_print(const struct measure_settings *settings, struct text_buffer *out);

/* Everything missing. */
void measure_values_init(struct measure_values *values);

enum { MEASURE_FIELD_MAX = 8 };

/* The columns of the layer table for what is asked for; returns how many. */
size_t measure_fields(const struct measure_settings *settings,
                      const struct result_field *field[MEASURE_FIELD_MAX]);

/* Put the values where such columns take them from, and read one of them as a number (NaN: missing). */
void measure_fill(const struct measure_values *values, struct layer_record *row);
double measure_number(const struct result_field *field, const struct layer_record *row);

/* Compute what is asked for; the rest of `values` is missing, and so is the simulated latency of a mapping
 * that the simulator does not take (no mesh, more PEs than it has, too many transactions). Memory from
 * `arena`. DSE_INTERRUPTED soon after `cancel` (may be NULL) is set; DSE_NO_MEMORY, DSE_INTERNAL. */
DSE_MUST_CHECK enum dse_status measure_mapping(const struct measure_settings *settings,
                                               const struct problem *problem, const struct architecture *arch,
                                               const struct mapping *mapping, const atomic_int *cancel,
                                               struct arena *arena, struct measure_values *values,
                                               struct dse_error *err);

#endif
