/* The calls on an evaluator, handed to the accounting that it was compiled by. */
#include "costmodel/accounting/evaluator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum dse_status evaluator_new(const struct accounting *accounting, const struct problem *problem,
                              const struct architecture *arch, struct evaluator **out, struct dse_error *err)
{
    *out = NULL;
    if (accounting->kind != ACCOUNTING_MAPPING)
        return dse_fail(err, DSE_BAD_USAGE, "accounting %s prices no mappings of a loop nest",
                        accounting->name);
    DSE_TRY(problem_check(problem, err));
    DSE_TRY(architecture_check(arch, err));
    DSE_TRY(architecture_suits(arch, problem, err));
    DSE_TRY(accounting_accepts(accounting, arch, err));
    struct evaluator *evaluator = calloc(1, accounting->evaluator_byte);
    if (!evaluator)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for an evaluator");
    evaluator->accounting = accounting;
    evaluator->problem = *problem;
    enum dse_status status = accounting->compile(evaluator, arch, err);
    if (status == DSE_OK)
        *out = evaluator;
    else
        free(evaluator);
    return status;
}

enum dse_status evaluator_move(struct evaluator *evaluator, const struct architecture *arch,
                               struct dse_error *err)
{
    DSE_TRY(architecture_check(arch, err));
    DSE_TRY(architecture_suits(arch, &evaluator->problem, err));
    DSE_TRY(accounting_accepts(evaluator->accounting, arch, err));
    return evaluator->accounting->move(evaluator, arch, err);
}

void evaluator_delete(struct evaluator *evaluator)
{
    free(evaluator);
}

const struct accounting *evaluator_accounting(const struct evaluator *evaluator)
{
    return evaluator->accounting;
}

const struct problem *evaluator_problem(const struct evaluator *evaluator)
{
    return &evaluator->problem;
}

const struct architecture *evaluator_architecture(const struct evaluator *evaluator)
{
    return &evaluator->arch;
}

enum dse_status eval_workspace_new(const struct evaluator *evaluator, struct eval_workspace **out,
                                   struct dse_error *err)
{
    *out = NULL;
    DSE_TRY(evaluator->accounting->workspace_new(evaluator, out, err));
    (*out)->accounting = evaluator->accounting;
    return DSE_OK;
}

bool eval_workspace_fits(const struct eval_workspace *workspace, const struct evaluator *evaluator)
{
    return workspace->accounting == evaluator->accounting &&
           workspace->accounting->workspace_fits(workspace, evaluator);
}

void eval_workspace_delete(struct eval_workspace *workspace)
{
    if (workspace)
        workspace->accounting->workspace_delete(workspace);
}

bool evaluator_run(const struct evaluator *evaluator, struct eval_workspace *workspace,
                   const struct mapping *mapping, struct evaluation *out)
{
    return evaluator->accounting->run(evaluator, workspace, mapping, out);
}

double evaluator_tensor_energy(const struct evaluator *evaluator, const struct eval_workspace *workspace,
                               uint32_t level, uint32_t tensor)
{
    return evaluator->accounting->tensor_energy
               ? evaluator->accounting->tensor_energy(evaluator, workspace, level, tensor)
               : NAN;
}

enum dse_status evaluator_detail(const struct evaluator *evaluator, const struct mapping *mapping,
                                 struct arena *arena, struct evaluation_detail *out, struct dse_error *err)
{
    return evaluator->accounting->detail(evaluator, mapping, arena, out, err);
}

void evaluator_bound(const struct evaluator *evaluator, struct lower_bound *out)
{
    memset(out, 0, sizeof *out);
    if (evaluator->accounting->bound)
        evaluator->accounting->bound(&evaluator->problem, &evaluator->arch, out);
}

bool evaluator_bound_applies(const struct evaluator *evaluator, const struct mapping *mapping)
{
    return evaluator->accounting->bound &&
           evaluator->accounting->bound_applies(&evaluator->problem, &evaluator->arch, mapping);
}

bool evaluator_check(const struct evaluator *evaluator, const struct mapping *mapping, char *reason,
                     unsigned long size)
{
    return evaluator->accounting->check(&evaluator->problem, &evaluator->arch, mapping, reason, size);
}
