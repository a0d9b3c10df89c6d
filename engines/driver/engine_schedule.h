/* What a scheduler finds for a whole network. */
#ifndef ENGINES_DRIVER_ENGINE_SCHEDULE_H
#define ENGINES_DRIVER_ENGINE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/metric.h"

/* One schedule with its totals, of one execution of the network for the task's batch. Set up with
 * engine_schedule_init. */
struct engine_schedule {
    /* the energies of MACs, buffers, NoC and DRAM add up to energy_j; edp_js is the driver's */
    METRICS_OF_RECORD;
    union metric_value own[METRIC_GROUP_MAX]; /* (n of the engine's group) */
    const char *accounting;                   /* a constant: what priced it: "soma", "soma-compat" */
    const char *text;                         /* its text form, which `dse eval` reads */
    size_t text_length;
};

/* All missing. */
void engine_schedule_init(struct engine_schedule *schedule);

/* What the driver knows of every schedule: bound_cost_ratio. */
extern const struct metric_group schedule_group;

#endif
