/* What `dse optimise` tells of its answers: hierarchies with what networks cost on them, or mappings. */
#ifndef DSE_OPTIMISE_OPTIMISE_REPORT_H
#define DSE_OPTIMISE_OPTIMISE_REPORT_H

#include "base/report.h"
#include "dse/optimise/network_pool.h"
#include "dse/optimise/optimise.h"

struct optimise_report {
    const struct optimise *optimise;
    const struct network_pool *pool;
    bool mappings, front; /* as asked for */
};

/* Begin with no rows. Release with report_free. */
void optimise_report_init(const struct optimise_report *r, struct report *report);

/* Add an answer: of all networks together (only < 0) or of network `only`. Errors as optimise_find. */
DSE_MUST_CHECK enum dse_status optimise_report_add(const struct optimise_report *r, int64_t only,
                                                   const struct optimise_answer *answer,
                                                   struct report *report, struct dse_error *err);

#endif
