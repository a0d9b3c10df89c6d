/* What a machine is made of, as a report: each storage and the MACs with energies, areas and where they are
 * from. */
#ifndef DSE_REPORT_MACHINE_REPORT_H
#define DSE_REPORT_MACHINE_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "dse/console/report_print.h"

/* The report's name in `dse eval --report`, and what it has. */
extern const char machine_report_name[], machine_report_sentence[];

/* Outermost level first, the MACs last, then the machine. Areas that are not known are missing. */
DSE_MUST_CHECK enum dse_status machine_report(const struct architecture *arch, enum report_format format,
                                              struct text_buffer *out, struct dse_error *err);

#endif
