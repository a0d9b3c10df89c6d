/* The six convolutions of Mind Mappings on its machine, and how far from the least possible a mapping is. */
#ifndef TESTS_SUPPORT_MINDMAPPINGS_CASE_H
#define TESTS_SUPPORT_MINDMAPPINGS_CASE_H

#include <stdint.h>

#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"
#include "engines/driver/engine.h"

enum { MINDMAPPINGS_PROBLEMS = 6 };

struct mindmappings_case {
    struct architecture arch;                      /* experiments/architectures/mindmappings.yaml */
    struct problem problem[MINDMAPPINGS_PROBLEMS]; /* at the published batch */
};

/* DSE_IO, DSE_BAD_INPUT: as the readers say. */
DSE_MUST_CHECK enum dse_status mindmappings_case_init(struct mindmappings_case *c, struct dse_error *err);

/* An energy-delay product over the algorithmic minimum of problem `i`. */
double mindmappings_case_ratio(int i, double edp_js);

/* The best ratio within so many evaluations of a search, by its trace. */
double mindmappings_case_within(int i, const struct engine_result *result, uint64_t evaluations);

#endif
