/* Interstellar's accountings as the constant structs that callers choose. */
#include "costmodel/interstellar/accounting_interstellar.h"

#include <stdlib.h>

#include "costmodel/interstellar/interstellar_compiled.h"
#include "costmodel/interstellar/points_report.h"

/* A run needs no scratch memory. */
static enum dse_status workspace_new(const struct evaluator *evaluator, struct eval_workspace **out,
                                     struct dse_error *err)
{
    (void)evaluator;
    *out = calloc(1, sizeof **out);
    return *out ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "no memory for an evaluation workspace");
}

static bool workspace_fits(const struct eval_workspace *workspace, const struct evaluator *evaluator)
{
    (void)workspace;
    (void)evaluator;
    return true;
}

static void workspace_delete(struct eval_workspace *workspace)
{
    free(workspace);
}

#define HOOKS                                                                                                \
    .kind = ACCOUNTING_MAPPING, .evaluator_byte = sizeof(struct interstellar_compiled),                      \
    .compile = interstellar_compile, .move = interstellar_compile, .workspace_new = workspace_new,           \
    .workspace_fits = workspace_fits, .workspace_delete = workspace_delete, .run = interstellar_run,         \
    .detail = interstellar_detail, .bound_applies = interstellar_bound_applies,                              \
    .points = &interstellar_points, .orders_spatial = true

const struct accounting accounting_interstellar = {
    .name = "interstellar",
    .summary = "Interstellar's counts and energy, with sounder rules for strides, bypass and capacity",
    .accepts = interstellar_accepts,
    .check = interstellar_check,
    .bound = interstellar_bound,
    HOOKS,
};

const struct accounting accounting_interstellar_compat = {
    .name = "interstellar-compat",
    .summary = "the counts and energy of Interstellar's published program, its rounding and limits included",
    .accepts = interstellar_accepts_compat,
    .check = interstellar_check_compat,
    .bound = interstellar_bound_compat,
    HOOKS,
};
