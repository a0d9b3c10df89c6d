/* The options of the engines over the CoSA formulation: the same rows in every table, so the same options
 * give the same model. */
#ifndef ENGINES_COSA_COSA_OPTIONS_H
#define ENGINES_COSA_COSA_OPTIONS_H

#include "engines/cosa/cosa.h"
#include "engines/driver/driver.h"

/* Their places in a table that begins with COSA_OPTIONS. */
enum {
    COSA_OPTION_FORM,
    COSA_OPTION_HALO,
    COSA_OPTION_STATIONARY,
    COSA_OPTION_WEIGHT_UTIL,
    COSA_OPTION_WEIGHT_COMP,
    COSA_OPTION_WEIGHT_TRAF,
    COSA_OPTION_SHARE_WEIGHT,
    COSA_OPTION_SHARE_INPUT,
    COSA_OPTION_SHARE_OUTPUT,
    COSA_OPTION_INNER_FACTOR,
    COSA_OPTION_INNER_FACTOR_STEP,
    COSA_OPTION_SIZE_FACTOR,
    COSA_OPTION_SPATIAL_FACTOR,
    COSA_OPTION_SPATIAL_RELATED_ONLY,
    COSA_OPTION_OUTER_FACTOR_WEIGHT,
    COSA_OPTION_OUTER_FACTOR_INPUT,
    COSA_OPTION_OUTER_FACTOR_OUTPUT,
    COSA_OPTION_UTIL_WEIGHT_FACTOR,
    COSA_OPTION_PERMUTATION_LEVEL,
    COSA_OPTION_PAD,
    COSA_OPTION_GAP,
    COSA_OPTION_MAX_NODES,
    COSA_OPTION_SOLVER_SECONDS,
    COSA_OPTION_MAX_REPAIRS,
    COSA_OPTION_COUNT
};

extern const char *const cosa_form_names[2], *const cosa_halo_names[4], *const cosa_stationary_names[4];

/* clang-format off */
#define COSA_OPTIONS \
    {"form", \
     "objective: paper: equation 12; minmax: the longest of compute and the traffic of each level first", \
     "", \
     OPTION_CHOICE, COSA_FORM_PAPER, 0, 1, cosa_form_names}, \
    {"halo", \
     "bits that a window factor (R, S) adds to the tile of its tensor: outermost_inner: 1 at the " \
     "outermost " \
     "buffer inside the " \
     "permutation level; all: 1 at every buffer; at_dram: windows stay in the outermost level; " \
     "safe: their " \
     "full size", \
     "", OPTION_CHOICE, COSA_HALO_OUTERMOST_INNER, 0, 3, cosa_halo_names}, \
    {"stationary", "the tensor that stays innermost at the permutation level", "", OPTION_CHOICE, 0, 0, 3, \
     cosa_stationary_names}, \
    {"weight_util", "weight of the buffer utilisation, which is maximised", "", OPTION_REAL, 0.1, 0, 1e6, \
     NULL}, \
    {"weight_comp", "weight of the compute time", "", OPTION_REAL, 10, 0, 1e6, NULL}, \
    {"weight_traf", "weight of the traffic", "", OPTION_REAL, 1, 0, 1e6, NULL}, \
    {"share_weight", "of a buffer that several tensors share, the part for weights (rescaled to " \
     "those kept)", \
     "", OPTION_REAL, 0.5, 0.001, 1000, NULL}, \
    {"share_input", "the part for inputs", "", OPTION_REAL, 0.5, 0.001, 1000, NULL}, \
    {"share_output", "the part for outputs", "", OPTION_REAL, 0.5, 0.001, 1000, NULL}, \
    {"inner_factor", "what a bit of tile size at level 0 counts in the traffic", "", \
     OPTION_REAL, 0.8, 0, 1e6, \
     NULL}, \
    {"inner_factor_step", "by how much it grows from level to level", "", \
     OPTION_REAL, 0.04, 0, 1e6, NULL}, \
    {"size_factor", "factor of the tile sizes in the traffic", "", OPTION_REAL, 0.99, 0, 1e6, NULL}, \
    {"spatial_factor", "factor of the spatial loops of the permutation level in the traffic", "", \
     OPTION_REAL, \
     0.99, 0, 1e6, NULL}, \
    {"spatial_related_only", \
     "count only spatial loops that index a tensor (equation 8); else every tensor counts all (the " \
     "authors' " \
     "program)", \
     "", OPTION_BOOL, 0, 0, 1, NULL}, \
    {"outer_factor_weight", "what a bit of the outermost level's temporal loops counts for weights", "", \
     OPTION_REAL, 1.01, 0, 1e6, NULL}, \
    {"outer_factor_input", "the same for each other operand", "", OPTION_REAL, 1, 0, 1e6, NULL}, \
    {"outer_factor_output", "the same for the output", "", OPTION_REAL, 1, 0, 1e6, NULL}, \
    {"util_weight_factor", "what the utilisation of the outermost buffer of weights alone counts", "", \
     OPTION_REAL, 1.01, 0, 1e6, NULL}, \
    {"permutation_level", \
     "the level whose loop order is chosen, counted from 0 = innermost; -1: the one inside the outermost", \
     "level", OPTION_INTEGER, -1, -1, ARCH_LEVEL_MAX - 1, NULL}, \
    {"pad", \
     "enlarge a bound with a prime factor above this to the next one without (53 becomes 54 with 7); 0: " \
     "never; -1: to 13 or 7, where that halves the cost", \
     "", OPTION_INTEGER, -1, -1, 1e6, NULL}, \
    {"gap", "the solver stops when the optimum is proved within this part of the objective", "", \
     OPTION_REAL, \
     1e-6, 0, 1, NULL}, \
    {"max_nodes", "the solver stops after so many nodes with the best it has; 0: never", "node", \
     OPTION_INTEGER, 20000, 0, 1e15, NULL}, \
    {"solver_seconds", \
     "the solves of a mapping stop after this wall time (results then depend on the computer); 0: never", \
     "s", OPTION_REAL, 0, 0, 1e6, NULL}, \
    {"max_repairs", "solves with tightened capacities before windows get their full size", "", \
     OPTION_INTEGER, \
     8, 0, 1000, NULL}
/* clang-format on */

/* The bounds (n_dim) free of primes above 13 or 7 with which CoSA's mapping is cheapest by the task's
 * objective, if that is at most half the cost; else those of the problem. A dimension whose padding brings
 * nothing, or of which constraints fix a factor, keeps its bound. At most half the time that is left goes
 * into it; `hurried` is set when that was used up. As cosa_map and evaluator_new. */
DSE_MUST_CHECK enum dse_status cosa_pad_where_it_pays(const struct engine_task *task,
                                                      struct cosa_settings *settings, uint32_t *padded,
                                                      struct dse_error *err);

/* Fill `settings` as the task's options say; the budget's seconds, from now on, and its cancel end the
 * solves, too. Pad the problem as option `pad` asks, then compile the map space: as engine_context_pad and
 * engine_context_mapspace. */
DSE_MUST_CHECK enum dse_status cosa_begin(struct engine_context *context, bool search_bypass,
                                          struct cosa_settings *settings, const struct mapspace **space,
                                          struct dse_error *err);

#endif
