/* The simulated network-on-chip as something to measure of a mapping. */
#ifndef COSTMODEL_NOC_NOC_MEASURE_H
#define COSTMODEL_NOC_NOC_MEASURE_H

#include "costmodel/model/measure.h"

/* Metric noc_latency_cycle: noc_latency_of one execution; the limit is its `max_steps`. */
extern const struct measure measure_noc;

#endif
