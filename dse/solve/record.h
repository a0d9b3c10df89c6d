/* From the results of a point's tasks to its rows. */
#ifndef DSE_SOLVE_RECORD_H
#define DSE_SOLVE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "dse/solve/solve.h"
#include "dse/solve/workload.h"
#include "results/record/schema.h"

/* What a point's rows are made from; all borrowed. */
struct record_source {
    const struct workload *workload;
    const struct architecture *arch;
    const struct solve_result *const *result; /* (workload->n_problem); of a scheduler one */
    size_t n_level;
    const char *const *level; /* (n_level) names of the columns; levels of the machine are found by name */
    const char *accounting;   /* of mappings; a schedule says its own */
    bool texts;               /* also mappings or schedules, and traces */
    const struct measure_settings *measure; /* what was measured of mappings */
    const struct metric_group *group;       /* of the scheduler; NULL: it has none */
    size_t n_extra;
    const struct metric *const
        *extra; /* (n_extra) a schedule's further columns of points; none: its group's order */
};

/* The row of a schedule in the layer table: no layer can be called so. */
#define RECORD_NETWORK_LAYER "(network)"

/* A mapping as one line that `dse eval` reads, in `arena`; NULL when out of memory. */
char *record_mapping_line(const struct mapping *mapping, const struct problem *problem,
                          const struct architecture *arch, struct arena *arena);

/* The improvements of a search as "evaluation:cost ...", in `arena`; NULL when out of memory. */
char *record_trace_line(const struct engine_result *found, struct arena *arena);

/* "0.000123 0.0456": the processor seconds of these, to four digits. */
char *record_trace_seconds(const struct engine_result *found, struct arena *arena);

/* The text form of a schedule as one line of flow style, without comments, in `arena`. DSE_BAD_INPUT: it is
 * no YAML; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status record_schedule_line(const char *text, size_t length, struct arena *arena,
                                                    char **line, struct dse_error *err);

/* What files have besides of points on such a machine. */
void record_schema_add(struct result_schema *schema, const struct architecture *arch);

/* Fill `point` (index and key are left alone) and `layer` (workload->n_layer). latency, energy and traffic
 * are sums over layers times their count, edp is the product of the sums, utilization is MACs / (MAC units *
 * cycles), a bound is the sum of the layers' bounds (edp: at least (sum of sqrt(bound))^2). When a layer has
 * no mapping the point has its outcome, and no metrics. Texts and level values are in `arena`.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status record_make(const struct record_source *source, struct arena *arena,
                                           struct point_record *point, struct layer_record *layer,
                                           struct dse_error *err);

/* The same for the one result of a scheduler: `layer` is one row, RECORD_NETWORK_LAYER, whose mapping is the
 * schedule's text. bound_cost_ratio is over the engine's own bound; n_layer_mapped counts all layers of the
 * network, n_layer is 1. */
DSE_MUST_CHECK enum dse_status record_make_network(const struct record_source *source, struct arena *arena,
                                                   struct point_record *point, struct layer_record *layer,
                                                   struct dse_error *err);

#endif
