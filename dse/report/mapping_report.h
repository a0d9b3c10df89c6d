/* Reports of one evaluated mapping: as CSV (the columns of Timeloop's reference tables), for people, and as
 * JSON. */
#ifndef DSE_REPORT_MAPPING_REPORT_H
#define DSE_REPORT_MAPPING_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "costmodel/accounting/evaluator.h"
#include "results/record/schema.h"

enum report_kind { REPORT_LEVELS, REPORT_NETWORKS, REPORT_SUMMARY };

/* What a report is about; all borrowed. The mapping fits. */
struct mapping_report {
    const struct problem *problem;
    const struct architecture *arch;
    const struct evaluation_detail *detail;
    size_t n_measured;                    /* further numbers, for summaries; a missing one is NaN */
    const struct metric *const *measured; /* (n_measured) their names */
    const double *measured_value;         /* (n_measured) */
};

/* levels: one row per level (innermost first) and tensor, bypassed ones too; counts per instance, energies in
 * pJ over all instances. networks: one row per network "OUTER <==> INNER" (by name) and tensor; counts per
 * outer instance, energies over all. summary: key,value. Counts are integers, other numbers have a point
 * ("458752.0") and read back to the same double. Out of memory shows in out->failed. */
void report_csv(const struct mapping_report *report, enum report_kind kind, struct text_buffer *out);

/* Aligned columns with units; zero rows of bypassed tensors are left out. */
void report_table(const struct mapping_report *report, enum report_kind kind, struct text_buffer *out);

/* {"report": "levels", "rows": [{...}]}; the names and numbers of the CSV. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status report_json(const struct mapping_report *report, enum report_kind kind,
                                           struct text_buffer *out, struct dse_error *err);

/* "OUTER <==> INNER" of the network below level l. Returns `buffer`. */
char *report_network_name(const struct architecture *arch, uint32_t l, char *buffer, size_t size);

/* text_double with ".0" on whole numbers. Returns `buffer`. */
char *report_number(double value, char *buffer, size_t size);

#endif
