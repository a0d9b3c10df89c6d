/* Reports of one evaluated fused schedule: a summary, its tiles and its tensors with their times; for people,
 * as CSV and as JSON. */
#ifndef DSE_REPORT_REPORT_FUSED_H
#define DSE_REPORT_REPORT_FUSED_H

#include "base/status.h"
#include "base/text.h"
#include "dse/report/schedule_evaluate.h"

enum fused_report { FUSED_REPORT_SUMMARY, FUSED_REPORT_TILES, FUSED_REPORT_TENSORS };

/* Counts are whole numbers, times in cycles, energies in pJ. tiles: in execution order; living_bytes: in the
 * buffer while the tile is next or runs. tensors: by number; dram_order, dram_start and dram_finish are empty
 * (JSON: null) for those that stay in the buffer. Out of memory shows in out->failed. */
void report_fused_csv(const struct schedule *schedule, enum fused_report kind, struct text_buffer *out);
void report_fused_table(const struct schedule *schedule, enum fused_report kind, struct text_buffer *out);

/* {"report": "tiles", "rows": [{...}]} or {"report": "summary", "summary": {...}}, with the names of the CSV.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status report_fused_json(const struct schedule *schedule, enum fused_report kind,
                                                 struct text_buffer *out, struct dse_error *err);

#endif
