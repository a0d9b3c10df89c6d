/* A report (base/report.h) as aligned text, CSV or JSON. */
#ifndef DSE_CONSOLE_REPORT_PRINT_H
#define DSE_CONSOLE_REPORT_PRINT_H

#include "base/report.h"
#include "base/status.h"

enum report_format { REPORT_TABLE, REPORT_CSV, REPORT_JSON };

/* Append the report. Numbers are the shortest that read back to the same double, reals with a point
 * ("458752.0"). In CSV a missing value is empty and texts are quoted where RFC 4180 asks for it; in JSON it
 * is null, as are infinite numbers. DSE_NO_MEMORY, also when the report itself lacks some. */
DSE_MUST_CHECK enum dse_status report_print(const struct report *report, enum report_format format,
                                            struct text_buffer *out, struct dse_error *err);

#endif
