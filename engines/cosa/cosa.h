/* CoSA: a mapping by mixed-integer programming (Huang et al., ISCA 2021), for any architecture and any
 * problem whose tensors are projections. The formulation with counts of equal primes and a choice of which
 * tensor stays is docs/cosa.md. */
#ifndef ENGINES_COSA_COSA_H
#define ENGINES_COSA_COSA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"
#include "engines/mapspace/mapspace_constraints.h"
#include "engines/search/milp.h"

/* What is minimised. */
enum cosa_form {
    COSA_FORM_PAPER, /* -wU Util + wC Comp + wT Traf, equation 12 */
    COSA_FORM_MINMAX /* the longest of compute and each level's traffic first, then the paper's terms */
};

/* How sliding windows (R, S of a convolution) are charged to the levels that keep the windowed tensor. */
enum cosa_halo {
    /* one bit per R/S prime at the outermost keeper below the permutation level ("pre-2023") */
    COSA_HALO_OUTERMOST_INNER,
    COSA_HALO_ALL,     /* the same at every keeper, the permutation level included ("ib_and_gb") */
    COSA_HALO_AT_DRAM, /* R, S stay in the outermost level ("head") */
    COSA_HALO_SAFE     /* the full size of each R/S prime at every keeper: never too small */
};

/* Everything that is open in the paper's text; cosa_settings_init fills in the defaults (sources beside
 * them). */
struct cosa_settings {
    enum cosa_form form;
    enum cosa_halo halo;
    double weight_util, weight_comp, weight_traf; /* wU, wC, wT of equation 12 */
    /* COSA_FORM_MINMAX: of all temporal loops, beside weight_comp times the maximum (3) */
    double minmax_comp;
    /* D_v: a log unit at level l counts inner_factor + l * step (0.80, 0.04) */
    double inner_factor, inner_factor_step;
    double size_factor, spatial_factor; /* of D_v and L_v in Traf (0.99, 0.99) */
    /* of the outermost level's temporal loops, by role (1.01, 1, 1) */
    double outer_factor[TENSOR_ROLE_COUNT];
    double util_weight_factor; /* Util of the outermost inner level that keeps only weights (1.01) */
    /* L_v as equation 8 has it (related loops only); default: as implemented, all loops */
    bool spatial_related_only;
    double share
        /* of a level that keeps several tensors, each role's part; rescaled over what is kept */
        [TENSOR_ROLE_COUNT];
    int stationary;            /* the tensor that must stay innermost at the permutation level; -1: free */
    int permutation_level;     /* -1: the level inside the outermost one */
    struct milp_limits limits; /* all solves of a mapping share them */
    double solver_seconds;     /* and so much wall time; 0: no limit */
    uint32_t max_repairs;      /* re-solves with a tightened row before the safe halo is used */
    bool hurried;              /* the clock ended the trials of padding */
};

void cosa_settings_init(struct cosa_settings *settings);

/* The terms of the objective (natural unit: log2), of a solution or of any mapping (Fig. 8). */
struct cosa_terms {
    double util, comp, traf;             /* unweighted; objective = -wU util + wC comp + wT traf */
    double objective;                    /* of COSA_FORM_PAPER */
    double size[PROBLEM_TENSOR_MAX];     /* D_v */
    double spatial[PROBLEM_TENSOR_MAX];  /* L_v */
    double temporal[PROBLEM_TENSOR_MAX]; /* T_v */
    double outer;                        /* the outermost level's temporal loops, all tensors */
};

/* The terms of any mapping of `problem` on `arch`, from its loops alone: no solver. Of the order at the
 * permutation level each tensor saves the run of innermost temporal loops that it does not depend on. */
void cosa_terms_of(const struct problem *problem, const struct architecture *arch,
                   const struct cosa_settings *settings, const struct mapping *mapping,
                   struct cosa_terms *terms);

/* How many solves, nodes and CPU seconds a mapping cost, and how it came about. */
struct cosa_solution {
    bool feasible; /* a mapping that passes the exact capacity check and the constraints */
    /* not feasible: no mapping exists at all (reason says why); feasible: optimal within the gap */
    bool proved;
    bool drawn;     /* the mapping is a random one, as no solve gave one in time (see milp_status) */
    bool timed_out; /* the clock or a cancel ended the solves */
    struct mapping mapping;
    struct cosa_terms terms; /* of that mapping */
    /* of the first solve: the optimum of the objective as stated, before any repair */
    double first_objective;
    double milp_objective;        /* of the last solve */
    enum milp_status milp_status; /* of the last solve */
    enum cosa_halo halo;          /* that the last solve used: SAFE when repairs did not suffice */
    uint32_t n_solve, n_repair, n_variable, n_integer, n_row;
    uint64_t n_node;
    double cpu_s;
    struct misfit_info misfit; /* not feasible: how the last solution did not fit; FITS when there was none */
    char reason[256];
};

/* Map by one solve (and, if the exact tiles are too large, repairs). `constraints` may be NULL. Memory from
 * `arena`. DSE_NO_MEMORY, DSE_INTERNAL. */
DSE_MUST_CHECK enum dse_status cosa_map(const struct problem *problem, const struct architecture *arch,
                                        const struct mapspace_constraints *constraints,
                                        const struct cosa_settings *settings, struct arena *arena,
                                        struct cosa_solution *solution, struct dse_error *err);

/* The next bounds whose largest prime factor is at most `largest_prime` (53 becomes 54 with 7), as section
 * III-B of the paper suggests for large primes; `padded` has n_dim entries. Below 2 nothing changes, and
 * bounds above 2^24 stay. Returns whether any bound changed. */
bool cosa_pad_bounds(const struct problem *problem, uint32_t largest_prime, uint32_t *padded);

#endif
