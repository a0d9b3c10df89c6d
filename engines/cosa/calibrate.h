/* The weights of CoSA's objective for one machine, found with micro-benchmarks (sections III-D4 and V-B4 of
 * the paper): small layers that stress one resource each are mapped with a grid of weights, and the weights
 * whose mappings are best win. */
#ifndef ENGINES_COSA_CALIBRATE_H
#define ENGINES_COSA_CALIBRATE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"
#include "engines/driver/objective.h"

enum { CALIBRATE_LAYER_MAX = 16, CALIBRATE_POINT_MAX = 64, CALIBRATE_ORIGIN_MAX = 48 };

/* A micro-benchmark: a convolution (dimensions R S P Q C K N) and what it keeps busy. */
struct micro_benchmark {
    const char *stress;
    struct problem problem;
};

/* One set of weights. The objective's scale is free, so the traffic counts 1 in all of them. */
struct calibrate_point {
    double weight_util, weight_comp, weight_traf;
    char origin[CALIBRATE_ORIGIN_MAX]; /* "default", "grid", or what it was measured from */
    uint32_t n_mapped;                 /* of the usable layers */
    double cost[CALIBRATE_LAYER_MAX];  /* (n_layer) the mapping's cost, INFINITY without one */
    /* geometric mean over the usable layers of cost / cost with the default weights; INFINITY when a layer is
     * not mapped */
    double ratio;
    double edp_ratio; /* the same of the energy-delay products: decides between nearly equal ratios */
};

struct calibration {
    uint32_t n_layer;
    struct micro_benchmark layer[CALIBRATE_LAYER_MAX];
    double edp[CALIBRATE_POINT_MAX][CALIBRATE_LAYER_MAX]; /* (n_point, n_layer) J s */
    uint32_t usable;                                      /* bit i: some weights give layer i a mapping */
    uint32_t n_point;
    struct calibrate_point point[CALIBRATE_POINT_MAX]; /* 0: the default weights */
    /* the winner: of the ratios within 2 % of the lowest, and not above the default's, the lowest edp_ratio,
     * then the first */
    uint32_t best;
};

/* The micro-benchmarks, always the same: docs/cosa.md says what each is for. `*n` says how many; errors of
 * layer_problem. */
DSE_MUST_CHECK enum dse_status calibrate_layers(struct micro_benchmark *layer, uint32_t *n,
                                                struct dse_error *err);

/* Try all weights on all micro-benchmarks with `n_thread` threads; the result does not depend on them.
 * DSE_BAD_INPUT when the machine cannot map any micro-benchmark; DSE_INTERRUPTED when `cancel` (may be NULL)
 * is set, after the layers in flight; DSE_NO_MEMORY, DSE_INTERNAL. */
DSE_MUST_CHECK enum dse_status calibrate(const struct architecture *arch, const struct objective *objective,
                                         int n_thread, const atomic_int *cancel, struct calibration *out,
                                         struct dse_error *err);

#endif
