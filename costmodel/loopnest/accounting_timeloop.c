/* Timeloop's accounting as the constant struct that callers choose. */
#include "costmodel/loopnest/accounting_timeloop.h"

#include "costmodel/loopnest/compiled.h"

const struct accounting accounting_timeloop = {
    .name = "timeloop",
    .summary = "the counts, energy and cycles of Timeloop v3.0.3",
    .kind = ACCOUNTING_MAPPING,
    .evaluator_byte = sizeof(struct compiled),
    .compile = compiled_new,
    .move = compiled_move,
    .workspace_new = fast_workspace_new,
    .workspace_fits = fast_workspace_fits,
    .workspace_delete = fast_workspace_delete,
    .run = fast_run,
    .detail = plain_detail,
    .check = checker_accepts,
    .bound = lower_bound_compute,
    .bound_applies = lower_bound_applies,
};
