/* What is measured of a found mapping besides its price, when asked for: which measures
 * (costmodel/model/measure.h), their limits, their values. */
#ifndef DSE_SOLVE_MEASURE_SETTINGS_H
#define DSE_SOLVE_MEASURE_SETTINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/measure.h"
#include "costmodel/model/problem.h"

enum { MEASURE_MAX = 4, MEASURE_VALUE_MAX = 24 };

/* What is asked for. All zero: nothing. */
struct measure_settings {
    unsigned what;               /* bit i: measure i of measure_all */
    uint64_t limit[MEASURE_MAX]; /* of each, where it has one */
    int chooser;                 /* the measure that chooses, when n_choice is not 0 */
    uint32_t n_choice;           /* among so many mappings of a search; 0: what costs least is found */
};

/* What chose a mapping. */
struct measure_choice {
    uint64_t cycle; /* of that mapping; 0: it has none */
    uint64_t n;     /* mappings that it was chosen among; 0: the search had no time for one */
};

/* What was measured of one execution: the metrics of measure_columns, in this order. Bytes of 0xff:
 * missing. */
struct measure_values {
    union metric_value value[MEASURE_VALUE_MAX];
};

/* The number of the measure called `word` in measure_all, or -1. */
int measure_find(const char *word);

/* Ask for the measure called `word` with its default settings. DSE_BAD_INPUT: unknown, with the nearest, or
 * asked for twice. */
DSE_MUST_CHECK enum dse_status measure_add(struct measure_settings *settings, const char *word,
                                           struct dse_error *err);

/* The same for a list of words between commas, "noc,cosa". */
DSE_MUST_CHECK enum dse_status measure_add_list(struct measure_settings *settings, const char *words,
                                                struct dse_error *err);

/* Let the measure number `i` choose among n mappings of each search. DSE_BAD_INPUT: it is none that chooses,
 * is not asked for, or n is out of its range. */
DSE_MUST_CHECK enum dse_status measure_choose(struct measure_settings *settings, int i, uint64_t n,
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

/* The metrics of what is asked for, in the order of values and of columns; with `folded` only those that a
 * network has, too. Returns how many. */
size_t measure_columns(const struct measure_settings *settings, bool folded,
                       const struct metric *metric[MEASURE_VALUE_MAX]);

/* Compute what is asked for, but what `choice` (NULL: nothing chose) has; what a mapping does not have is
 * missing. Memory from `arena`. DSE_INTERRUPTED soon after `cancel` (may be NULL) is set; DSE_NO_MEMORY,
 * DSE_INTERNAL. */
DSE_MUST_CHECK enum dse_status measure_mapping(const struct measure_settings *settings,
                                               const struct problem *problem, const struct architecture *arch,
                                               const struct mapping *mapping,
                                               const struct measure_choice *choice, const atomic_int *cancel,
                                               struct arena *arena, struct measure_values *values,
                                               struct dse_error *err);

#endif
