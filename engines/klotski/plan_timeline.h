/* The execution graph of a schedule of uops (base/timeline_data.h): what runs on which accelerator, when. */
#ifndef ENGINES_KLOTSKI_PLAN_TIMELINE_H
#define ENGINES_KLOTSKI_PLAN_TIMELINE_H

#include "base/timeline_data.h"
#include "engines/klotski/uop_plan.h"

/* Of the evaluated `plan`; `core` (n_uop) is where each uop runs. Texts are copied to `arena`. DSE_LIMIT:
 * 2^60 cycles and more. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status uop_plan_timeline(const struct architecture *arch,
                                                 const struct kc_machine *machine,
                                                 const struct uop_plan *plan,
                                                 const struct uop_outcome *outcome, const uint32_t *core,
                                                 const char *title, struct arena *arena,
                                                 struct timeline *timeline, struct dse_error *err);

#endif
