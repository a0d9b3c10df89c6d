/* Compiles problem and machine: reuse of each tensor, energies per word, memories and their limits. */
#include "costmodel/interstellar/interstellar_compiled.h"

#include <math.h>
#include <string.h>

#include "costmodel/interstellar/accounting_interstellar.h"

#define CYCLE_MAX 0x1p62

enum dse_status interstellar_accepts(const struct architecture *arch, struct dse_error *err)
{
    if (arch->gpu.present)
        return dse_fail(err, DSE_BAD_INPUT,
                        "it is a GPU, and what fits its thread blocks and registers is no rule of "
                        "Interstellar's");
    return DSE_OK;
}

enum dse_status interstellar_accepts_compat(const struct architecture *arch, struct dse_error *err)
{
    if (arch->n_group > 0)
        return dse_fail(err, DSE_BAD_INPUT,
                        "the storages of %s share banks, and in the authors' program each has a size of its "
                        "own; take accounting interstellar",
                        arch->group[0].name);
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (arch->level[l].keep_name)
            return dse_fail(err, DSE_BAD_INPUT,
                            "%s keeps %s by name, and the authors' program knows weights, inputs and "
                            "outputs; take accounting interstellar",
                            arch->level[l].name, arch->tensor_name[__builtin_ctz(arch->level[l].keep_name)]);
    return interstellar_accepts(arch, err);
}

/* Numbers of cycles stay below 2^62: even if every multiply-accumulate fetched all its words anew. */
static enum dse_status check_cycles(const struct problem *problem, const struct architecture *arch,
                                    struct dse_error *err)
{
    double most = (double)problem_macs(problem), words = 0;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        words += 2 * fmax(most, (double)problem_tensor_words(problem, t));
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        double slowest =
            fmin(level->shared_bandwidth_word_per_cycle,
                 fmin(level->read_bandwidth_word_per_cycle, level->write_bandwidth_word_per_cycle));
        if (words / slowest >= CYCLE_MAX)
            return dse_fail(
                err, DSE_LIMIT,
                "%s: with %.3g words per cycle a mapping of problem %s could take more than 2^62 = 4.6e18 "
                "cycles, which is not supported",
                level->name, slowest, problem->name);
    }
    return DSE_OK;
}

/* REUSE_COMPAT asks for half of a memory; of several side by side it never looks. What is not asked for is
 * none of the machine's either, so that no mapper keeps to it. */
static void forget_minima(struct interstellar_compiled *compiled)
{
    for (uint32_t l = 0; l < compiled->base.arch.n_level; l++)
        if (compiled->rule != REUSE_COMPAT || compiled->base.arch.level[l].n_part > 1)
            compiled->base.arch.level[l].min_utilization = 0;
}

/* Of a memory in a list REUSE_COMPAT wants more than half. */
static void set_least(const struct storage_level *level, struct interstellar_memory *memory)
{
    if (isinf(memory->usable_word))
        return;
    memory->least_word = memory->usable_word * level->min_utilization;
    memory->above_least = level->n_part == 1 && level->min_utilization > 0;
}

static void compile_memories(struct interstellar_compiled *compiled, uint32_t l)
{
    const struct storage_level *level = &compiled->base.arch.level[l];
    const struct problem *problem = &compiled->base.problem;
    compiled->n_memory[l] = level->n_part ? level->n_part : 1;
    for (uint32_t i = 0; i < compiled->n_memory[l]; i++) {
        struct interstellar_memory *memory = &compiled->memory[l][i];
        uint64_t words = level->n_part ? level->part[i].size_word : level->size_word;
        *memory = (struct interstellar_memory){.usable_word = INFINITY};
        if (words != ARCH_UNLIMITED && l + 1 < compiled->base.arch.n_level)
            memory->usable_word = floor((double)words / level->multiple_buffering);
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            if (!level->n_part || level->part_of[problem->tensor[t].role] == i)
                memory->tensors |= 1u << t;
        set_least(level, memory);
    }
}

/* An access is of one word, at its share of a block; an address is generated for each. */
static void compile_energies(struct interstellar_compiled *compiled, uint32_t l)
{
    const struct storage_level *level = &compiled->base.arch.level[l];
    const struct problem *problem = &compiled->base.problem;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        double read_j = level->read_energy_j / level->block_word;
        double write_j = level->update_energy_j / level->block_word;
        if (level->n_part)
            read_j = write_j = level->part[level->part_of[problem->tensor[t].role]].access_energy_j;
        compiled->read_j[l][t] = read_j + level->address_energy_j;
        compiled->write_j[l][t] = write_j + level->address_energy_j;
        compiled->may_keep[l] |= (uint32_t)architecture_keeps(&compiled->base.arch, l, &problem->tensor[t])
                                 << t;
    }
}

enum dse_status interstellar_compile(struct evaluator *base, const struct architecture *arch,
                                     struct dse_error *err)
{
    struct interstellar_compiled *compiled = (struct interstellar_compiled *)base;
    DSE_TRY(check_cycles(&base->problem, arch, err));
    base->arch = *arch;
    compiled->rule = base->accounting == &accounting_interstellar_compat ? REUSE_COMPAT : REUSE_SANE;
    forget_minima(compiled);
    compiled->wait_cycle = 0;
    compiled->leaks = architecture_all_leakage_w(arch) > 0;
    interstellar_reuse_compile(&base->problem, &compiled->reuse);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        uint64_t x, y;
        architecture_fanout(arch, l, &x, &y);
        compiled->fan[l] = x * y;
        compiled->may_keep[l] = 0;
        compiled->hop_j[l] = level->hop_energy_j + level->router_energy_j;
        compiled->limited[l] = isfinite(level->read_bandwidth_word_per_cycle) ||
                               isfinite(level->write_bandwidth_word_per_cycle) ||
                               isfinite(level->shared_bandwidth_word_per_cycle);
        compiled->wait_cycle += level->fill_latency_cycle + level->drain_latency_cycle;
        compile_energies(compiled, l);
        compile_memories(compiled, l);
    }
    return DSE_OK;
}
