/* Mixed-integer linear programs: a model that is built in memory, and a solver behind it (GLPK). For any
 * engine. Deterministic: the same model and limits give the same answer on any thread, unless the clock or a
 * cancel ends the solve. Nothing is printed, nothing is kept between solves, and solves on different threads
 * do not know each other. */
#ifndef ENGINES_SEARCH_MILP_H
#define ENGINES_SEARCH_MILP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

struct milp; /* a model; lives in the arena it was made with */

enum milp_kind { MILP_CONTINUOUS, MILP_INTEGER };

/* Names of variables and rows are for error texts and for milp_write_lp; they are copied and may be NULL. */
struct milp_term {
    uint32_t variable;
    double coefficient;
};

/* How a solve ended. */
enum milp_status {
    MILP_OPTIMAL,    /* proved optimal, within `relative_gap` */
    MILP_FEASIBLE,   /* a limit ended the search; the values are feasible */
    MILP_INFEASIBLE, /* proved: no solution */
    MILP_UNBOUNDED,
    MILP_NOT_SOLVED /* a limit ended the search before a first solution */
};

struct milp_limits {
    double relative_gap; /* stop when (objective - bound) / |objective| is not larger, >= 0 */
    uint64_t max_nodes;  /* branch-and-bound nodes; 0: no limit. Deterministic */
    /* Looked at between the solver's steps, each a relaxation of at most some milliseconds for a thousand
     * terms; results depend on the computer where one of them ends the solve. */
    double stop_at_s;         /* clock_wall_s; 0: never */
    const atomic_int *cancel; /* not 0: it has to end now; may be NULL */
};

struct milp_result {
    enum milp_status status;
    double objective; /* of `value`; set when OPTIMAL or FEASIBLE */
    bool timed_out;   /* `stop_at_s` or `cancel` ended the solve */
    double bound;     /* a proved lower bound on the optimum; -INFINITY when none */
    double gap;       /* (objective - bound) / max(|objective|, tiny) */
    uint64_t n_node;
    double cpu_s;        /* CPU seconds of the calling thread */
    const double *value; /* (n_variable) integers are rounded exactly; in the arena given to milp_solve */
};

/* Whether the time is over, or a cancel was asked for. */
bool milp_is_over(const struct milp_limits *limits);

const char *milp_status_text(enum milp_status status);

/* An empty minimisation model. NULL when out of memory. */
struct milp *milp_new(struct arena *arena);

/* Add a variable with bounds (+-INFINITY allowed) and its objective coefficient; returns its index. Indices
 * count from 0. Memory failures are remembered and reported by milp_solve as DSE_NO_MEMORY. */
uint32_t milp_add_variable(struct milp *model, enum milp_kind kind, double lowest, double highest,
                           double cost, const char *name);

/* Add lowest <= sum of terms <= highest; terms of the same variable add up; returns the row's index. */
uint32_t milp_add_row(struct milp *model, double lowest, double highest, const struct milp_term *term,
                      uint32_t n_term, const char *name);

/* Change what is there, for another solve of nearly the same model. */
void milp_set_cost(struct milp *model, uint32_t variable, double cost);
void milp_set_variable_bounds(struct milp *model, uint32_t variable, double lowest, double highest);
void milp_set_row_bounds(struct milp *model, uint32_t row, double lowest, double highest);
double milp_row_highest(const struct milp *model, uint32_t row);

uint32_t milp_variable_count(const struct milp *model);
uint32_t milp_integer_count(const struct milp *model);
uint32_t milp_row_count(const struct milp *model);

/* Solve. `result->value` lies in `arena`. Infeasible is a status, not an error. DSE_NO_MEMORY; DSE_INTERNAL
 * when the solver breaks down (its message is in the text). */
DSE_MUST_CHECK enum dse_status milp_solve(const struct milp *model, const struct milp_limits *limits,
                                          struct arena *arena, struct milp_result *result,
                                          struct dse_error *err);

#endif
