/* From the results of a point's tasks to its rows. */
#ifndef DSE_RECORD_H
#define DSE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/architecture.h"
#include "dse/solve.h"
#include "dse/workload.h"
#include "results/schema.h"

/* What a point's rows are made from; all borrowed. */
struct record_source {
    const struct workload *workload;
    const struct architecture *arch;
    const struct solve_result *const *result; /* (workload->n_problem) */
    size_t n_level;
    const char *const *level; /* (n_level) names of the columns; levels of the machine are found by name */
    bool texts;               /* also mappings and traces */
};

/* A mapping as one line that `dse eval` reads, in `arena`; NULL when out of memory. */
char *record_mapping_line(const struct mapping *mapping, const struct problem *problem,
                          const struct architecture *arch, struct arena *arena);

/* Fill `point` (index and key are left alone) and `layer` (workload->n_layer). latency, energy and traffic are sums over
 * layers times their count, edp is the product of the sums, utilization is MACs / (MAC units * cycles), a bound is the sum of
 * the layers' bounds (edp: at least (sum of sqrt(bound))^2). When a layer has no mapping the point has its outcome, and no metrics. Texts and level values are in
 * `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status record_make(const struct record_source *source, struct arena *arena,
                                           struct point_record *point, struct layer_record *layer,
                                           struct dse_error *err);

#endif
