/* The benchmark layer on a shipped machine: ResNet-50's R=S=3, P=Q=14, C=K=256, N=1. */
#ifndef TESTS_SUPPORT_CONV4_CASE_H
#define TESTS_SUPPORT_CONV4_CASE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/accounting/evaluator.h"
#include "engines/mapspace/mapspace.h"

struct conv4_case {
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    const struct mapspace *space;
};

/* Read the machine at `path`, with link transfers on or off, and compile everything. On failure free it all
 * the same. */
DSE_MUST_CHECK enum dse_status conv4_case_init(struct conv4_case *conv4, const char *path, bool links,
                                               struct dse_error *err);
void conv4_case_free(struct conv4_case *conv4);

#endif
