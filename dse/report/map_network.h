/* `dse map` with a scheduler: one schedule of the whole network. */
#ifndef DSE_REPORT_MAP_NETWORK_H
#define DSE_REPORT_MAP_NETWORK_H

#include "base/status.h"
#include "base/text.h"
#include "dse/console/cli.h"
#include "dse/solve/solve.h"
#include "dse/solve/workload.h"

enum map_format { MAP_TABLE, MAP_YAML, MAP_CSV, MAP_JSON, MAP_VECTOR };

/* Refuse the options that belong to mappings of layers. DSE_BAD_USAGE. */
DSE_MUST_CHECK enum dse_status map_network_check(const struct cli_args *args,
                                                 const struct solve_settings *settings,
                                                 struct dse_error *err);

/* What a search printed and how it ended. */
struct map_found {
    struct text_buffer out;     /* nothing when there is no schedule */
    struct text_buffer warning; /* of the schedule, a sentence a line (schedule_format.warn) */
    enum result_status outcome;
    char reason[SOLVE_REASON_MAX];
};

/* Search on `n_thread` threads and write the schedule (MAP_YAML: its text, as `dse eval` reads it, which then
 * warns) or its summary with what is to be said about the search. The buffers of `found` are initialized and
 * freed by the caller. DSE_NO_MEMORY, errors of schedule_evaluate. */
DSE_MUST_CHECK enum dse_status map_network(const struct solve_settings *settings,
                                           const struct workload *workload, const struct architecture *arch,
                                           int n_thread, enum map_format format, struct map_found *found,
                                           struct dse_error *err);

#endif
