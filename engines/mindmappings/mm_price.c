/* Cost vectors from evaluations, and the minima. */
#include "engines/mindmappings/mm_price.h"

#include <stdio.h>
#include <stdlib.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/mindmappings/mm_space_private.h"

/* Energies of a word in the algorithmic minimum: 800 pJ for 4 in the DRAM, 8.8 pJ for 4 in a shared buffer,
 * 2.24 pJ for 2 in a private one, and of a MAC; PEs (the authors' program). */
static const double dram_pj = 200, shared_pj = 2.2, private_pj = 1.12, mac_pj = 1, minimum_pe = 256;

struct mm_pricer {
    const struct mm_space *space;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct mapping mapping; /* what no vector says; the rest is overwritten */
};

enum dse_status mm_pricer_new(const struct mm_space *space, struct mm_pricer **out, struct dse_error *err)
{
    struct mm_pricer *pricer = calloc(1, sizeof *pricer);
    *out = NULL;
    if (!pricer)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for a pricer of mappings");
    pricer->space = space;
    mapping_init(&pricer->mapping, mm_space_problem(space), mm_space_machine(space)->arch);
    enum dse_status status = evaluator_new(&accounting_timeloop, mm_space_problem(space),
                                           mm_space_machine(space)->arch, &pricer->evaluator, err);
    if (status == DSE_OK)
        status = eval_workspace_new(pricer->evaluator, &pricer->workspace, err);
    if (status == DSE_OK)
        *out = pricer;
    else
        mm_pricer_delete(pricer);
    return status;
}

void mm_pricer_delete(struct mm_pricer *pricer)
{
    if (!pricer)
        return;
    eval_workspace_delete(pricer->workspace);
    evaluator_delete(pricer->evaluator);
    free(pricer);
}

/* The tensors of the DRAM in the order of cost vectors: operands, then the output. */
static uint32_t dram_tensor(const struct problem *problem, uint32_t i)
{
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (!problem->tensor[t].read_write && i-- == 0)
            return t;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (problem->tensor[t].read_write)
            return t;
    return 0;
}

static void set_totals(struct mm_cost *cost, uint32_t n_cost, double energy_uj, double cycle,
                       double utilization)
{
    cost->value[n_cost - 3] = utilization;
    cost->value[n_cost - 2] = cost->energy_uj = energy_uj;
    cost->value[n_cost - 1] = cost->cycle = cycle;
    cost->edp = energy_uj * cycle;
}

bool mm_price(struct mm_pricer *pricer, const struct mm_mapping *mapping, struct mm_cost *out)
{
    const struct mm_machine *machine = mm_space_machine(pricer->space);
    const uint32_t n = machine->algorithm->n_tensor;
    struct evaluation priced;
    mm_space_decode_onto(pricer->space, mapping, &pricer->mapping);
    if (!evaluator_run(pricer->evaluator, pricer->workspace, &pricer->mapping, &priced))
        return false;
    for (uint32_t l = 0; l < 2 * n; l++)
        out->value[l] = priced.level_energy_j[l] * 1e6;
    for (uint32_t i = 0; i < n; i++)
        out->value[2 * n + i] =
            1e6 * evaluator_tensor_energy(pricer->evaluator, pricer->workspace, machine->dram,
                                          dram_tensor(mm_space_problem(pricer->space), i));
    set_totals(out, machine->algorithm->n_cost, priced.energy_j * 1e6, (double)priced.latency_cycle,
               priced.utilization);
    return true;
}

const char *mm_cost_name(const struct mm_machine *machine, uint32_t i, char *buffer, size_t size)
{
    static const char *const total[] = {"utilization", "energy_uJ", "cycles"};
    const uint32_t n = machine->algorithm->n_tensor;
    if (i < 2 * n)
        snprintf(buffer, size, "%s_uJ", machine->arch->level[i].name);
    else if (i < 3 * n)
        snprintf(buffer, size, "%s_%s_uJ", machine->arch->level[machine->dram].name,
                 machine->shape.tensor[dram_tensor(&machine->shape, i - 2 * n)].name);
    else
        snprintf(buffer, size, "%s", total[i - 3 * n]);
    return buffer;
}

/* Words of a tensor as the minimum counts them: inputs as a plane of the size of the outputs, or with the
 * halo that windows at its rim need. */
static double minimum_words(const struct mm_machine *machine, const struct problem *problem, uint32_t t,
                            bool halo)
{
    static const char *const window[] = {"R", "S"};
    struct problem narrow = *problem;
    for (int i = 0; i < 2 && !halo; i++) {
        int d = problem_find_dim(&narrow, window[i]);
        if (d >= 0 && machine->algorithm == mm_algorithm(MM_CNN) && problem->tensor[t].role == TENSOR_INPUT)
            narrow.bound[d] = 1;
    }
    return (double)problem_tensor_words(&narrow, t);
}

void mm_minimum(const struct mm_space *space, enum mm_minimum which, struct mm_cost *out)
{
    const struct mm_machine *machine = mm_space_machine(space);
    const uint32_t n = machine->algorithm->n_tensor;
    const double inner_pj = which == MM_MINIMUM_HALO ? machine->algorithm->private_pj : private_pj;
    const double macs = (double)problem_macs(mm_space_problem(space));
    double word[MM_TENSOR_MAX], energy_pj = which == MM_MINIMUM_NO_MAC ? 0 : macs * mac_pj;
    for (uint32_t t = 0; t < n; t++) {
        word[t] = minimum_words(machine, mm_space_problem(space), t, which == MM_MINIMUM_HALO);
        energy_pj += word[t] * (dram_pj + shared_pj + inner_pj);
    }
    for (uint32_t i = 0; i < n; i++) {
        out->value[machine->level[MM_MEMORY_PRIVATE][i]] =
            1e-6 * inner_pj * word[machine->tensor[MM_MEMORY_PRIVATE][i]];
        out->value[machine->level[MM_MEMORY_SHARED][i]] =
            1e-6 * shared_pj * word[machine->tensor[MM_MEMORY_SHARED][i]];
        out->value[2 * n + i] = 1e-6 * dram_pj * word[dram_tensor(mm_space_problem(space), i)];
    }
    set_totals(out, machine->algorithm->n_cost, 1e-6 * energy_pj, macs / minimum_pe, 1);
}
