/* Compiles problem and architecture: moves of each tensor as one integer per dimension, tile plans,
 * fan-outs; refuses what could pass 2^62 words, so that the evaluations need not look. */
#include "costmodel/loopnest/compiled.h"

#include <math.h>
#include <string.h>

/* More children than any machine has; keeps the scratch of link-transfer analysis within a few hundred MB. */
#define CHILD_MAX ((uint64_t)1 << 22)

#define COUNT_MAX 0x1p62

/* Fill the moves of one tensor. A rank of extent e moves by less than e, and the analysis compares
 * differences of two such moves, so a radix of 4(e-1)+1 keeps equal codes and equal vectors the same
 * thing. */
static enum dse_status compile_code(const struct problem *problem, uint32_t t, struct tensor_code *code,
                                    struct dse_error *err)
{
    const struct tensor *tensor = &problem->tensor[t];
    int64_t weight = 1;
    memset(code, 0, sizeof *code);
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        uint32_t dims = 0;
        uint64_t moves = 0;
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++) {
            const struct projection_term *term = &tensor->rank[r].term[k];
            code->step[r][term->dim] += term->coefficient;
            code->dim[term->dim] += weight * (int64_t)term->coefficient;
            dims |= 1u << term->dim;
            moves += (uint64_t)term->coefficient * (problem->bound[term->dim] - 1);
        }
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++)
            code->shares_rank[tensor->rank[r].term[k].dim] |= dims & ~(1u << tensor->rank[r].term[k].dim);
        code->relevant |= dims;
        if ((double)weight * (4.0 * (double)moves + 1) >= 4.6e18)
            return dse_fail(err, DSE_LIMIT,
                            "tensor %s is too large to analyse: the product of 4*(extent-1)+1 over its ranks "
                            "must stay below 2^62",
                            tensor->name);
        weight *= 4 * (int64_t)moves + 1;
    }
    return DSE_OK;
}

/* No mapping moves more words of tensor `t` between two levels: there are at most as many visits to a tile as
 * there are multiply-accumulates outside it, and a tile's box has at most (product over ranks of the largest
 * coefficient) words per iteration inside it, times the extent again for each further rank that a dimension
 * moves. */
static double most_words(const struct problem *problem, uint32_t t)
{
    const struct tensor *tensor = &problem->tensor[t];
    uint32_t seen = 0;
    double per_iteration = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        double coefficient = 1;
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++) {
            const struct projection_term *term = &tensor->rank[r].term[k];
            if (problem->bound[term->dim] > 1)
                coefficient = fmax(coefficient, term->coefficient);
            if (seen >> term->dim & 1u)
                per_iteration *= problem->bound[term->dim];
            seen |= 1u << term->dim;
        }
        per_iteration *= coefficient;
    }
    return (double)problem_macs(problem) * fmin(per_iteration, (double)problem_tensor_words(problem, t));
}

/* Counts and cycles are 64-bit: what no mapping can bring beyond 2^62 need not be watched in each evaluation.
 * Every word is read, filled and updated at most twice each (a partial sum that travels is both). */
static enum dse_status check_counts(const struct compiled *evaluator, const struct architecture *arch,
                                    struct dse_error *err)
{
    const double most = evaluator->most_word;
    if (most >= COUNT_MAX)
        return dse_fail(
            err, DSE_LIMIT,
            "problem %s: a mapping could move %.2g words; counts below 2^62 = 4.6e18 are supported "
            "(the iterations times the strides)",
            evaluator->base.problem.name, most);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        double slowest =
            fmin(level->shared_bandwidth_word_per_cycle,
                 fmin(level->read_bandwidth_word_per_cycle, level->write_bandwidth_word_per_cycle));
        if (most / slowest >= COUNT_MAX)
            return dse_fail(
                err, DSE_LIMIT,
                "%s: with %.3g words per cycle a mapping of problem %s could take more than 2^62 = 4.6e18 "
                "cycles, which is not supported",
                level->name, slowest, evaluator->base.problem.name);
    }
    return DSE_OK;
}

static void compile_plan(const struct tensor *tensor, struct tile_plan *plan)
{
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        if (tensor->rank[r].n_term == 1 && tensor->rank[r].term[0].coefficient == 1)
            plan->plain[plan->n_plain++] = (uint8_t)tensor->rank[r].term[0].dim;
        else
            plan->sum[plan->n_sum++] = tensor->rank[r];
    }
}

static void compile_level(struct compiled *evaluator, uint32_t l)
{
    const struct storage_level *level = &evaluator->base.arch.level[l];
    architecture_fanout(&evaluator->base.arch, l, &evaluator->fan_x[l], &evaluator->fan_y[l]);
    evaluator->usable_word[l] = architecture_usable_words(level);
    evaluator->may_keep[l] = 0;
    evaluator->least_word[l] = evaluator->usable_word[l] == ARCH_UNLIMITED
                                   ? 0
                                   : (double)evaluator->usable_word[l] * level->min_utilization;
    for (uint32_t t = 0; t < evaluator->base.problem.n_tensor; t++)
        evaluator->may_keep[l] |=
            (uint32_t)architecture_keeps(&evaluator->base.arch, l, &evaluator->base.problem.tensor[t]) << t;
    evaluator->n_cluster[l] = level->instances / level->cluster_size;
    evaluator->block_shift[l] =
        __builtin_popcount(level->block_word) == 1 ? __builtin_ctz(level->block_word) : -1;
    evaluator->network_costs[l] =
        level->hop_energy_j > 0 || level->router_energy_j > 0 || level->ingress_energy_j > 0;
    evaluator->bandwidth_limited[l] = isfinite(level->read_bandwidth_word_per_cycle) ||
                                      isfinite(level->write_bandwidth_word_per_cycle) ||
                                      isfinite(level->shared_bandwidth_word_per_cycle);
}

/* The most children one instance of level l can have: the fan-out, or on machines where only the cumulative
 * mesh counts everything inside. */
static uint64_t widest_children(const struct architecture *arch, uint32_t l)
{
    uint64_t x, y;
    architecture_fanout(arch, l, &x, &y);
    if (arch->strict_fanout || x * y == 1)
        return x * y;
    return l ? arch->level[l - 1].mesh_x * arch->level[l - 1].mesh_y : arch->mac.mesh_x * arch->mac.mesh_y;
}

/* Widest fan-out of all levels. */
static enum dse_status count_children(const struct architecture *arch, uint64_t *most, struct dse_error *err)
{
    *most = 1;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        uint64_t children = widest_children(arch, l);
        if (children > *most)
            *most = children;
    }
    return *most > CHILD_MAX
               ? dse_fail(err, DSE_LIMIT, "a level has more than %u instances inside it", (unsigned)CHILD_MAX)
               : DSE_OK;
}

static enum dse_status compile_problem(struct compiled *evaluator, struct dse_error *err)
{
    const struct problem *problem = &evaluator->base.problem;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        DSE_TRY(compile_code(problem, t, &evaluator->code[t], err));
        compile_plan(&problem->tensor[t], &evaluator->plan[t]);
        if (problem->tensor[t].read_write)
            evaluator->output = t;
    }
    return DSE_OK;
}

/* A machine that has been checked. */
static enum dse_status compile_machine(struct compiled *evaluator, const struct architecture *arch,
                                       struct dse_error *err)
{
    uint64_t max_children;
    DSE_TRY(count_children(arch, &max_children, err));
    evaluator->base.arch = *arch;
    evaluator->max_children = max_children;
    evaluator->leaks = architecture_all_leakage_w(arch) > 0;
    for (uint32_t l = 0; l < arch->n_level; l++)
        compile_level(evaluator, l);
    return DSE_OK;
}

enum dse_status compiled_move(struct evaluator *base, const struct architecture *arch, struct dse_error *err)
{
    struct compiled *evaluator = (struct compiled *)base;
    DSE_TRY(check_counts(evaluator, arch, err));
    return compile_machine(evaluator, arch, err);
}

enum dse_status compiled_new(struct evaluator *base, const struct architecture *arch, struct dse_error *err)
{
    struct compiled *evaluator = (struct compiled *)base;
    for (uint32_t t = 0; t < base->problem.n_tensor; t++)
        evaluator->most_word += 6 * most_words(&base->problem, t);
    DSE_TRY(check_counts(evaluator, arch, err));
    DSE_TRY(compile_problem(evaluator, err));
    return compile_machine(evaluator, arch, err);
}
