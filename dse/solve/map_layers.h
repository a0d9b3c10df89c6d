/* The best mappings of the layers of a workload, or several for each, with their rows: what `dse map` prints
 * and the library hands out. */
#ifndef DSE_SOLVE_MAP_LAYERS_H
#define DSE_SOLVE_MAP_LAYERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "dse/solve/network_front.h"
#include "dse/solve/record.h"
#include "dse/solve/solve.h"
#include "dse/solve/workload.h"

/* Everything lies in the arena of map_layers but what map_layers_clear frees. All zero: nothing yet. */
struct map_layers {
    struct solve_result *result; /* (n_problem) of the workload, which may have got more of them */
    struct point_record point;   /* the sums */
    struct layer_record *layer;  /* (n_layer) */
    struct solve_result *each;   /* (n_each) of the objective pareto, with the fronts; else NULL */
    uint32_t n_each;
    struct network_front network_front; /* of several layers that all have one; n = 0: none */
};

/* A list of constraints (in `doc`, both borrowed) for the searches, which is tried on every layer first.
 * DSE_BAD_INPUT with file and line. */
DSE_MUST_CHECK enum dse_status map_layers_constrain(struct solve_settings *settings,
                                                    const struct yaml_doc *doc, const struct ynode *list,
                                                    const struct workload *workload,
                                                    const struct architecture *arch, struct dse_error *err);

/* Search by a mapper, every problem once, on n_thread threads; with `each_dataflow` once for every dataflow
 * (each_dataflow_solve). Of fronts and dataflows there is a row for each mapping: the workload is repeated.
 * What goes wrong in a search is the outcome of its row. Release with map_layers_clear, also after a failure.
 * DSE_INTERRUPTED soon after `cancel` (may be NULL) is set; DSE_NO_MEMORY; those of each_dataflow_solve. */
DSE_MUST_CHECK enum dse_status map_layers(const struct solve_settings *settings, struct workload *workload,
                                          const struct architecture *arch, bool each_dataflow, int n_thread,
                                          const atomic_int *cancel, struct arena *arena,
                                          struct map_layers *out, struct dse_error *err);
void map_layers_clear(struct map_layers *layers);

#endif
