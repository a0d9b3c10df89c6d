/* What can be computed of a mapping besides its price, when a sweep asks for it: a constant struct whose
 * metrics become columns of the results. All are listed in engines/registry.c. */
#ifndef COSTMODEL_MODEL_MEASURE_H
#define COSTMODEL_MODEL_MEASURE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/metric.h"
#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

struct measure {
    /* its name is what specifications and --measure say; metrics with a fold are columns of points, too */
    struct metric_group group;
    /* the key of the one number that says how far it goes, "max_steps"; NULL: it has none */
    const char *limit;
    const char *limit_unit;  /* "step" */
    uint64_t limit_standard; /* its default; 0: no limit */
    /* Can it be computed for mappings on this machine? DSE_BAD_USAGE says what it lacks. NULL: always. */
    enum dse_status (*check)(const struct architecture *arch, struct dse_error *err);
    /* Fill `value` (group.n), which is missing so far; what cannot be measured of this mapping stays so.
     * Memory from `arena`. DSE_INTERRUPTED soon after `cancel` (may be NULL) is set; DSE_NO_MEMORY,
     * DSE_INTERNAL. */
    enum dse_status (*compute)(const struct problem *problem, const struct architecture *arch,
                               const struct mapping *mapping, uint64_t limit, const atomic_int *cancel,
                               struct arena *arena, union metric_value *value, struct dse_error *err);
    /* The key of the number of mappings of a search that it is computed of, for the first metric, a latency
     * in cycles, to choose among them: "simulations". NULL: it chooses none. */
    const char *choice;
    uint64_t choice_highest;
    struct metric choice_metric; /* of how many it was computed: a column where it chooses */
    /* About what the latency will be, in microseconds and without a simulation; 0: there will be none. Memory
     * from `arena`. NULL: nothing is known. */
    double (*guess)(const struct problem *problem, const struct architecture *arch,
                    const struct mapping *mapping, struct arena *arena);
};

/* Registry (engines/registry.c): every measure. Their order is that of columns, and part of the keys of
 * points. */
const struct measure *const *measure_all(size_t *n);

#endif
