/* One run of an engine. */
#ifndef TESTS_SUPPORT_ENGINE_CASE_H
#define TESTS_SUPPORT_ENGINE_CASE_H

#include <stddef.h>

#include "engines/driver/driver.h"

enum { ENGINE_CASE_OPTION_MAX = 40 };

struct engine_setting {
    const char *name, *value;
};

/* Solve `task` of one problem with the engine called `name` and `n` of its options set; evaluator
 * (Timeloop's, unless there is one), architecture, batch and options of the task are filled in; an option
 * that is a file becomes its first one.
 * What the parts return; DSE_BAD_USAGE for an unknown engine. */
DSE_MUST_CHECK enum dse_status engine_case_solve(const char *name, const struct engine_setting *setting,
                                                 size_t n, const struct problem *problem,
                                                 const struct architecture *arch, struct engine_task task,
                                                 struct engine_result *result, struct dse_error *err);

#endif
