/* A dataflow U|V as a schedule of Interstellar's authors, for any layer and machine. */
#ifndef DSE_OPTIMISE_DATAFLOW_SCHEDULE_H
#define DSE_OPTIMISE_DATAFLOW_SCHEDULE_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"
#include "costmodel/interstellar/unrolling.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"

/* Append the schedule: of each loop the largest divisor that its side of the machine's array holds, and
 * where these leave half of the array or more idle, other loops beside them. False, and nothing: one of the
 * loops cannot be unrolled, or the machine has not one array. */
bool dataflow_schedule(const char *dataflow, const struct problem *problem, const struct architecture *arch,
                       struct text_buffer *out);

/* Is it U|V, a loop for each side, in Interstellar's letters? DSE_BAD_USAGE. */
DSE_MUST_CHECK enum dse_status dataflow_check(const char *dataflow, struct dse_error *err);

#endif
