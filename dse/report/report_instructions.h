/* The instructions of an evaluated fused schedule (docs/instructions.md): the stream itself, as CSV and as
 * JSON. */
#ifndef DSE_REPORT_REPORT_INSTRUCTIONS_H
#define DSE_REPORT_REPORT_INSTRUCTIONS_H

#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "dse/report/schedule_evaluate.h"

enum instruction_format { INSTRUCTION_FORMAT_TEXT, INSTRUCTION_FORMAT_CSV, INSTRUCTION_FORMAT_JSON };

/* Lower the schedule with offsets that are multiples of `alignment` bytes, replay what its text form says,
 * and print it. DSE_BAD_INPUT: a tile reads what is not alive, or no allocation fits, with tensor and bytes;
 * DSE_INTERNAL: the replay finds a fault or another latency; DSE_NO_MEMORY; others of instruction_lower. */
DSE_MUST_CHECK enum dse_status report_instructions(const struct schedule *schedule, uint64_t alignment,
                                                   enum instruction_format format, struct text_buffer *out,
                                                   struct dse_error *err);

#endif
