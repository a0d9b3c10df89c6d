/* What no mapping can be below: the operands of every multiply-accumulate from the innermost level that may
 * hold them, each word once from the outermost, and the steps that all MACs together need. */
#include <math.h>

#include "costmodel/interstellar/interstellar_compiled.h"

/* Sums in another order may differ in the last digits. */
#define SLACK (1 - 1e-12)

struct bound {
    const struct problem *problem;
    const struct architecture *arch;
    const struct reuse_tensor *tensor;
    enum reuse_rule rule;
};

static bool may_keep(const struct bound *b, uint32_t l)
{
    return b->arch->level[l].keep_role >> b->tensor->role & 1u;
}

/* The outermost level that may keep the tensor, or n_level. */
static uint32_t home_of(const struct bound *b)
{
    for (uint32_t l = b->arch->n_level; l-- > 0;)
        if (may_keep(b, l))
            return l;
    return b->arch->n_level;
}

/* Least visits of a word by any level: 0 by REUSE_COMPAT where strides divide them away. */
static double least_count(const struct bound *b)
{
    return b->rule == REUSE_COMPAT ? floor(1 / b->tensor->stride) : 1;
}

/* Least visits by level l when no level inside it keeps the tensor: every operand, shared by all MACs that
 * can share. By REUSE_COMPAT the demand of a level that cannot keep it is lost. */
static double operand_count(const struct bound *b, uint32_t l)
{
    const struct architecture *arch = b->arch;
    double product[PROBLEM_DIM_MAX], all = 1;
    if (arch->mac.capacity > 0 || (b->rule == REUSE_COMPAT && !may_keep(b, 0)))
        return least_count(b);
    for (uint32_t d = 0; d < b->problem->n_dim; d++) {
        product[d] = b->problem->bound[d];
        all *= b->tensor->reuse >> d & 1u ? product[d] : 1;
    }
    double shared = (double)arch->mac.instances / (double)arch->level[l].instances;
    if (!arch->strict_fanout && shared > 1)
        shared = (double)arch->mac.instances;
    double count = b->rule == REUSE_COMPAT ? floor(all / (b->tensor->stride * shared))
                                           : reuse_count(b->tensor, REUSE_SANE, product) / shared;
    return fmax(least_count(b), count);
}

static double access_energy(const struct bound *b, uint32_t l, double count)
{
    const struct storage_level *level = &b->arch->level[l];
    double read_j = level->read_energy_j / level->block_word,
           write_j = level->update_energy_j / level->block_word;
    if (level->n_part)
        read_j = write_j = level->part[level->part_of[b->tensor->role]].access_energy_j;
    read_j += level->address_energy_j;
    write_j += level->address_energy_j;
    return b->tensor->size_word *
           (b->tensor->output ? count * write_j + (count - 1) * read_j : count * read_j);
}

/* The cheapest way for one tensor: by the level that serves the MACs, and once from its outermost one. */
static double tensor_energy(const struct bound *b)
{
    const uint32_t home = home_of(b);
    double least_j = INFINITY, hops_j = 0;
    for (uint32_t l = 0; l <= home && home < b->arch->n_level; l++) {
        if (!may_keep(b, l))
            continue;
        double energy_j = access_energy(b, l, operand_count(b, l));
        least_j = fmin(least_j, energy_j + (l < home ? access_energy(b, home, least_count(b)) : 0));
    }
    for (uint32_t l = 0; l < b->arch->n_level; l++) {
        const struct storage_level *level = &b->arch->level[l];
        uint64_t x, y;
        architecture_fanout(b->arch, l, &x, &y);
        if (x * y > 1)
            hops_j += level->hop_energy_j + level->router_energy_j + level->ingress_energy_j;
    }
    return (isinf(least_j) ? 0 : least_j) + hops_j * least_count(b) * b->tensor->size_word;
}

/* Steps of all MACs, and the words of level l whose outermost level it is against its bandwidth. */
static double level_cycles(struct bound *b, const struct interstellar_reuse *reuse, uint32_t l)
{
    const struct storage_level *level = &b->arch->level[l];
    struct interstellar_demand demand = {0, 0};
    for (uint32_t t = 0; t < reuse->n_tensor; t++) {
        b->tensor = &reuse->tensor[t];
        if (home_of(b) == l)
            *(b->tensor->output ? &demand.write_word : &demand.read_word) +=
                least_count(b) * b->tensor->size_word / (double)level->instances;
    }
    return fmax(fmax(demand.read_word / level->read_bandwidth_word_per_cycle,
                     demand.write_word / level->write_bandwidth_word_per_cycle),
                (demand.read_word + demand.write_word) / level->shared_bandwidth_word_per_cycle);
}

static void bound_by(const struct problem *problem, const struct architecture *arch, enum reuse_rule rule,
                     struct lower_bound *out)
{
    struct interstellar_reuse reuse;
    struct bound b = {problem, arch, NULL, rule};
    const double macs = (double)problem_macs(problem);
    double cycles = ceil(macs / (double)arch->mac.instances), wait = 0, energy_j = macs * arch->mac.energy_j;
    interstellar_reuse_compile(problem, &reuse);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        cycles = fmax(cycles, level_cycles(&b, &reuse, l));
        wait += (double)(arch->level[l].fill_latency_cycle + arch->level[l].drain_latency_cycle);
    }
    for (uint32_t t = 0; t < reuse.n_tensor; t++) {
        b.tensor = &reuse.tensor[t];
        energy_j += tensor_energy(&b);
    }
    out->latency_s = (cycles * SLACK + wait) / arch->clock_hz;
    out->energy_j = energy_j * SLACK;
    out->edp_js = out->latency_s * out->energy_j;
}

void interstellar_bound(const struct problem *problem, const struct architecture *arch,
                        struct lower_bound *out)
{
    bound_by(problem, arch, REUSE_SANE, out);
}

void interstellar_bound_compat(const struct problem *problem, const struct architecture *arch,
                               struct lower_bound *out)
{
    bound_by(problem, arch, REUSE_COMPAT, out);
}

/* A tensor that its outermost memory does not keep is brought in for nothing. */
bool interstellar_bound_applies(const struct problem *problem, const struct architecture *arch,
                                const struct mapping *mapping)
{
    struct interstellar_reuse reuse;
    struct bound b = {problem, arch, NULL, REUSE_SANE};
    interstellar_reuse_compile(problem, &reuse);
    for (uint32_t t = 0; t < reuse.n_tensor; t++) {
        b.tensor = &reuse.tensor[t];
        const uint32_t home = home_of(&b);
        if (home < arch->n_level && !(mapping->level[home].keep >> t & 1u))
            return false;
    }
    return true;
}
