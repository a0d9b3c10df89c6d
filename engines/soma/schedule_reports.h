/* What there is to say of an evaluated schedule of the SoMa family; `schedule` is a struct soma_schedule
 * without fault, reports are initialized. */
#ifndef ENGINES_SOMA_SCHEDULE_REPORTS_H
#define ENGINES_SOMA_SCHEDULE_REPORTS_H

#include "base/report.h"
#include "base/status.h"
#include "base/timeline_data.h"
#include "engines/soma/schedule_evaluate.h"

/* The instructions (docs/instructions.md): lowered with offsets that are multiples of `alignment`, and what
 * their text form says replayed. People get that text. DSE_BAD_INPUT: a tile reads what is not alive, or no
 * allocation fits, with tensor and bytes; DSE_INTERNAL: the replay finds a fault or another latency; others
 * of instruction_lower. */
DSE_MUST_CHECK enum dse_status soma_report_instructions(const void *schedule, struct report *report,
                                                        struct dse_error *err);

/* Its execution graph. Memory from `arena`, names copied; `title` for people. DSE_NO_MEMORY; DSE_LIMIT when
 * it takes 2^60 cycles or more. */
DSE_MUST_CHECK enum dse_status soma_schedule_timeline(const void *schedule, const char *title,
                                                      struct arena *arena, struct timeline *timeline,
                                                      struct dse_error *err);

#endif
