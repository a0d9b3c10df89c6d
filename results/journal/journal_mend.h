/* What an editor or a damaged block does to a table as a whole, while its rows are as they were. */
#ifndef RESULTS_JOURNAL_JOURNAL_MEND_H
#define RESULTS_JOURNAL_JOURNAL_MEND_H

#include <stdbool.h>

#include "base/status.h"
#include "results/record/schema.h"

/* Take a byte order mark off the front of OUT.csv or OUT.layers.csv and the carriage returns off its lines,
 * and give it the header of the schema where it has lost its own (one of an earlier version stays): only when
 * rows follow whose seals hold, that have as many fields, and (of points) lie on the axes. Rows stay as they
 * are, good or not. The file is replaced by a new one, or `*changed` is false. DSE_IO, DSE_NO_MEMORY,
 * DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status journal_mend(const char *path, const struct result_schema *schema,
                                            enum result_table table, bool *changed, struct dse_error *err);

#endif
