/* The accounting of accounting_refetch.h; its shortest possible form. */
#include "tests/support/accounting_refetch.h"

#include <stdlib.h>
#include <string.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/loopnest/plain.h"

struct compiled_refetch {
    struct evaluator base;
    double clock_s;
};

static enum dse_status accepts(const struct architecture *arch, struct dse_error *err)
{
    return arch->gpu.present ? dse_fail(err, DSE_BAD_INPUT, "a GPU") : DSE_OK;
}

static enum dse_status compile(struct evaluator *evaluator, const struct architecture *arch,
                               struct dse_error *err)
{
    (void)err;
    evaluator->arch = *arch;
    ((struct compiled_refetch *)evaluator)->clock_s = 1 / arch->clock_hz;
    return DSE_OK;
}

static enum dse_status workspace_new(const struct evaluator *evaluator, struct eval_workspace **out,
                                     struct dse_error *err)
{
    (void)evaluator;
    *out = calloc(1, sizeof **out);
    return *out ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory");
}

static bool workspace_fits(const struct eval_workspace *workspace, const struct evaluator *evaluator)
{
    return workspace->accounting == evaluator->accounting;
}

static void workspace_delete(struct eval_workspace *workspace)
{
    free(workspace);
}

static double level_words(const struct evaluator *evaluator, const struct mapping *mapping,
                          const struct nest *nest, uint32_t l)
{
    double words = 0, visits = 1;
    for (uint32_t k = l + 1; k < mapping->n_level; k++)
        for (uint32_t d = 0; d < mapping->n_dim; d++)
            visits *= mapping->level[k].temporal[d];
    for (uint32_t t = 0; t < evaluator->problem.n_tensor; t++)
        if (mapping->level[l].keep >> t & 1u)
            words += (double)problem_tile_words(&evaluator->problem, t, nest->tile[l]);
    return words * visits * (double)(nest->x_used[l] * nest->y_used[l]);
}

static bool run(const struct evaluator *evaluator, struct eval_workspace *workspace,
                const struct mapping *mapping, struct evaluation *out)
{
    const struct architecture *arch = &evaluator->arch;
    struct nest nest;
    (void)workspace;
    memset(out, 0, sizeof *out);
    if (!nest_build(&evaluator->problem, arch, mapping, &nest, &out->fit) ||
        !nest_fits(&evaluator->problem, arch, mapping, &nest, &out->fit))
        return false;
    out->latency_cycle = out->compute_cycle = nest.compute_cycle;
    out->n_mac_used = nest.mac_x_used * nest.mac_y_used;
    out->n_compute = (double)problem_macs(&evaluator->problem);
    out->energy_mac_j = out->energy_j = out->n_compute * arch->mac.energy_j;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        double words = level_words(evaluator, mapping, &nest, l);
        out->level_energy_j[l] = words * arch->level[l].read_energy_j;
        out->level_byte[l] = words * arch->level[l].word_bit / 8;
        out->energy_j += out->level_energy_j[l];
    }
    out->utilization = out->n_compute / ((double)arch->mac.instances * (double)out->latency_cycle);
    out->latency_s = (double)out->latency_cycle * ((const struct compiled_refetch *)evaluator)->clock_s;
    out->edp_js = out->energy_j * out->latency_s;
    return true;
}

static enum dse_status detail(const struct evaluator *evaluator, const struct mapping *mapping,
                              struct arena *arena, struct evaluation_detail *out, struct dse_error *err)
{
    (void)arena;
    (void)err;
    memset(out, 0, sizeof *out);
    (void)run(evaluator, NULL, mapping, &out->total); /* infeasible is no error */
    return DSE_OK;
}

const struct accounting accounting_refetch = {
    .name = "refetch",
    .summary = "nothing is reused over time",
    .kind = ACCOUNTING_MAPPING,
    .accepts = accepts,
    .evaluator_byte = sizeof(struct compiled_refetch),
    .compile = compile,
    .move = compile,
    .workspace_new = workspace_new,
    .workspace_fits = workspace_fits,
    .workspace_delete = workspace_delete,
    .run = run,
    .detail = detail,
    .check = checker_accepts,
};
