/* Reports of one evaluated mapping. */
#ifndef DSE_REPORT_MAPPING_REPORT_H
#define DSE_REPORT_MAPPING_REPORT_H

#include <stdbool.h>

#include "base/report.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/noc/noc.h"

/* What a report is about; all borrowed. The mapping fits. */
struct mapping_report {
    const struct problem *problem;
    const struct architecture *arch;
    const struct evaluation_detail *detail;
    const struct cells *measured; /* a list of further numbers, for the summary; may be NULL */
    const char *constraints;      /* of the machine's file: "kept", or what is broken; NULL: there are none */
    const struct noc_config *noc; /* for the report noc, with what the simulation said */
    const struct noc_latency *noc_latency;
};

enum mapping_report_kind { MAPPING_LEVELS, MAPPING_NETWORKS, MAPPING_SUMMARY, MAPPING_NOC, MAPPING_N_REPORT };

/* Their names (dse eval --report NAME), and what they have. */
extern const char *const mapping_report_name[MAPPING_N_REPORT];
extern const char *const mapping_report_sentence[MAPPING_N_REPORT];

/* Fill the report (initialized) for people or for programs: they get other rows in another order. levels:
 * one row per level (innermost first) and tensor, bypassed ones too; counts per instance, energies over all
 * instances. networks: one row per network "OUTER <==> INNER" (by name) and tensor; counts per outer
 * instance, energies over all. People get the outermost level first, without rows of zeros. The columns are
 * those of Timeloop's reference tables, energies in joules. summary, noc: lists. */
void mapping_report_fill(const struct mapping_report *of, enum mapping_report_kind kind, bool people,
                         struct report *report);

#endif
