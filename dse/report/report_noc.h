/* The report of a simulated network-on-chip: `dse eval --report noc`. */
#ifndef DSE_REPORT_REPORT_NOC_H
#define DSE_REPORT_REPORT_NOC_H

#include "base/status.h"
#include "base/text.h"
#include "costmodel/noc/noc.h"
#include "dse/report/mapping_report.h"

/* What the report is about besides the mapping; borrowed. */
struct noc_report {
    const struct mapping_report *report; /* the problem, the machine and what the cost model says */
    const struct noc_config *config;
    const struct noc_latency *latency;
};

/* For people. Out of memory shows in out->failed, as below. */
void report_noc_table(const struct noc_report *noc, struct text_buffer *out);

/* key,value: whole numbers. */
void report_noc_csv(const struct noc_report *noc, struct text_buffer *out);

/* {"report": "noc", "noc": {...}} with the keys of the CSV. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status report_noc_json(const struct noc_report *noc, struct text_buffer *out,
                                               struct dse_error *err);

#endif
