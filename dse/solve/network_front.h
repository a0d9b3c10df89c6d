/* The exact front of a network in energy and latency, from those of its layers: each layer has one mapping
 * for all of its executions, and the network's energy and latency are the sums. */
#ifndef DSE_SOLVE_NETWORK_FRONT_H
#define DSE_SOLVE_NETWORK_FRONT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/metric.h"
#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "dse/solve/solve.h"
#include "dse/solve/workload.h"

enum { NETWORK_FRONT_MAX = 100000 };

struct network_front_point {
    struct metrics metrics; /* sums over the layers; bounds are missing */
    const uint32_t *choice; /* (n_layer) which point of its front each layer has */
};

struct network_front {
    size_t n;
    struct network_front_point *point; /* (n) the fastest first */
    uint32_t n_layer;
    size_t best; /* that of the least edp; of equals the first */
};

/* From `result` (workload->n_problem), each of which has a front. Points whose energies differ by less than
 * EXACT_FRONT_SAME count as equal. All in `arena`. DSE_LIMIT: more than NETWORK_FRONT_MAX points, of all
 * layers or of the first ones; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status network_front_make(const struct workload *workload,
                                                  const struct solve_result *const *result,
                                                  const struct architecture *arch, struct arena *arena,
                                                  struct network_front *out, struct dse_error *err);

/* Append the choices of point k, "0 2 1": for each layer the number of its point, from 0. */
void network_front_choice_line(const struct network_front *front, size_t k, struct text_buffer *out);

#endif
