#include "costmodel/bound.h"

#include <math.h>

/* The evaluator adds up in its own order, so a mapping that meets the energy bound exactly may print a few last digits
 * less; this keeps the bound below. */
static const double ROUNDING_SLACK = 1e-12;

enum { SCAN_MAX = 1 << 16 }; /* meshes wider than this are not searched for whole factors */

/* What one tensor must cost at least, before the machine is looked at. */
struct need {
    uint64_t box_word;     /* its bounding box */
    uint64_t touched_word; /* words that some iteration touches, at most (exact up to two terms a rank) */
    uint64_t
        anchored_word; /* the product of the longest dimension of each rank: survives bypass with link transfers */
    uint64_t reuse; /* product of the bounds of all other dimensions: the most that can share one access */
    bool plain;     /* every rank is one dimension with coefficient 1, no dimension twice */
};

/* The problem on the machine, with what several parts of the bound need. */
struct bound_context {
    const struct problem *problem;
    const struct architecture *arch;
    double macs;
    uint64_t parallel; /* most MACs at work at once */
};

/* ------------------------------------------------------------------------------------------ words of one tensor */

static bool rank_has(const struct tensor_rank *rank, uint32_t dim)
{
    for (uint32_t i = 0; i < rank->n_term; i++)
        if (rank->term[i].dim == dim)
            return true;
    return false;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* How many values a*i + b*j takes, i < n, j < m: pairs (i, j) and (i + b', j - a') collide, with a' = a/gcd(a,b), b'
 * alike, so the values are the pairs less those with a predecessor. */
static uint64_t two_term_values(uint64_t a, uint64_t n, uint64_t b, uint64_t m)
{
    uint64_t g = greatest_common_divisor(a, b);
    uint64_t step_i = b / g, step_j = a / g;
    return n * m - (n > step_i && m > step_j ? (n - step_i) * (m - step_j) : 0);
}

/* At least this many coordinates of a rank are touched; exact for one and two terms. Each further term of length n adds
 * at least n - 1 (|A + B| >= |A| + |B| - 1 for sets of integers). A dimension that comes twice is left out. */
static uint64_t rank_values(const struct problem *problem, const struct tensor_rank *rank)
{
    uint64_t values = 1;
    uint32_t n_used = 0;
    for (uint32_t i = 0; i < rank->n_term; i++) {
        bool twice = false;
        for (uint32_t k = 0; k < rank->n_term; k++)
            twice = twice || (k != i && rank->term[k].dim == rank->term[i].dim);
        uint64_t n = problem->bound[rank->term[i].dim];
        if (twice)
            return n; /* some dimension alone moves the rank n times */
        if (n == 1)
            continue;
        values = n_used++ == 0 ? n : values + n - 1;
    }
    if (n_used != 2)
        return values;
    const struct projection_term *pair[2];
    uint32_t n_pair = 0;
    for (uint32_t i = 0; i < rank->n_term; i++)
        if (problem->bound[rank->term[i].dim] > 1)
            pair[n_pair++] = &rank->term[i];
    return two_term_values(pair[0]->coefficient, problem->bound[pair[0]->dim], pair[1]->coefficient,
                           problem->bound[pair[1]->dim]);
}

/* The longest dimension of a rank. */
static uint32_t rank_anchor(const struct problem *problem, const struct tensor_rank *rank)
{
    uint32_t best = rank->term[0].dim;
    for (uint32_t i = 1; i < rank->n_term; i++)
        if (problem->bound[rank->term[i].dim] > problem->bound[best])
            best = rank->term[i].dim;
    return best;
}

/* Ranks that share a dimension with an earlier counted rank are left out: the words seen through the others alone are
 * already that many. */
static struct need tensor_need(const struct problem *problem, uint32_t t)
{
    const struct tensor *tensor = &problem->tensor[t];
    struct need need = {problem_tensor_words(problem, t), 1, 1, problem_macs(problem), true};
    bool counted[PROBLEM_DIM_MAX] = {false};
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        bool shares = false;
        for (uint32_t d = 0; d < problem->n_dim; d++)
            shares = shares || (counted[d] && rank_has(rank, d));
        if (shares || rank->n_term != 1 || rank->term[0].coefficient != 1)
            need.plain = false;
        if (shares)
            continue;
        uint32_t anchor = rank_anchor(problem, rank);
        need.touched_word *= rank_values(problem, rank);
        need.anchored_word *= problem->bound[anchor];
        need.reuse /= problem->bound[anchor];
        for (uint32_t d = 0; d < problem->n_dim; d++)
            counted[d] = counted[d] || rank_has(rank, d);
    }
    return need;
}

/* ------------------------------------------------------------------------------------------------- parallelism */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The largest x * y that divides `whole`, x <= wide, y <= high: what spatial loops over whole factors can fill. */
static uint64_t widest(uint64_t whole, uint64_t wide, uint64_t high)
{
    wide = smaller(wide, whole);
    high = smaller(high, whole);
    if (wide > SCAN_MAX || high > SCAN_MAX)
        return wide > whole / high ? whole : wide * high;
    uint64_t best = 1;
    for (uint64_t x = wide; x >= 1; x--) {
        if (whole % x != 0)
            continue;
        uint64_t rest = whole / x;
        uint64_t y = smaller(high, rest);
        while (x * y > best && rest % y != 0)
            y--;
        if (x * y > best)
            best = x * y;
    }
    return best;
}

/* Is there a fan-out at level `l` or inside it? Without one no spatial loop is allowed there. */
static bool fans_out(const struct architecture *arch, uint32_t l)
{
    return arch->mac.mesh_x != arch->level[l].mesh_x || arch->mac.mesh_y != arch->level[l].mesh_y;
}

/* Most MACs that one access at level `l` can serve when `whole` iterations may share it. Only strict machines hold a level
 * to its own fan-out; else its loops may use the whole MAC array (NOTES section 8). */
static uint64_t most_sharing(const struct architecture *arch, uint32_t l, uint64_t whole)
{
    if (!fans_out(arch, l))
        return 1;
    const struct storage_level *level = &arch->level[l];
    if (arch->strict_fanout)
        return widest(whole, arch->mac.mesh_x / level->mesh_x, arch->mac.mesh_y / level->mesh_y);
    return widest(whole, arch->mac.mesh_x, arch->mac.mesh_y);
}

/* ------------------------------------------------------------------------------------------------------ energy */

/* Most instances of level `l` in use; nothing spreads above the outermost level. */
static double most_instances(const struct bound_context *c, uint32_t l)
{
    const struct storage_level *level = &c->arch->level[l];
    return l + 1 == c->arch->n_level ? 1 : fmin((double)level->mesh_x * (double)level->mesh_y, c->macs);
}

/* Energy of at least `words` accesses summed over all instances of level `l`, `block_energy_j` a block, each with
 * `address_j` of address generation. Energy per instance is charged once per used cluster (NOTES section 9). */
static double access_energy(const struct bound_context *c, uint32_t l, double words, double block_energy_j,
                            double address_j)
{
    const struct storage_level *level = &c->arch->level[l];
    if (words <= 0)
        return 0;
    double instances = most_instances(c, l);
    double clusters = (double)(level->instances / level->cluster_size);
    double blocks = words / level->block_word;
    if (instances == 1)
        blocks = ceil(blocks);
    return (blocks * block_energy_j + words * address_j) * fmin(1, clusters / instances);
}

static bool may_hold(const struct architecture *arch, uint32_t l, const struct tensor *tensor)
{
    return (arch->level[l].keep_role >> (unsigned)tensor->role) & 1u;
}

/* The outermost level that may hold the tensor, or -1. */
static int find_home(const struct architecture *arch, const struct tensor *tensor)
{
    for (uint32_t l = arch->n_level; l-- > 0;)
        if (may_hold(arch, l, tensor))
            return (int)l;
    return -1;
}

/* Words that leave (or, for outputs, reach) the home level at least once. */
static double home_words(const struct architecture *arch, const struct need *need)
{
    return (double)(arch->link_transfers ? need->anchored_word : need->touched_word);
}

/* Accesses by the MACs at level `l` when it is the innermost that keeps the tensor: every MAC needs its operand, one
 * access serves the MACs of one multicast or reduction group. With neighbours that forward operands between MACs only
 * the first arrival is sure. */
static double mac_accesses(const struct bound_context *c, uint32_t l, const struct need *need)
{
    const struct architecture *arch = c->arch;
    double first = home_words(arch, need);
    if (arch->link_transfers && fans_out(arch, 0))
        return first;
    double share = (double)most_sharing(arch, l, need->reuse);
    double rounding = arch->link_transfers && l > 0 ? 0.5 * most_instances(c, l) : 0;
    return fmax(first, c->macs / share - rounding);
}

/* Old partial sums read back where outputs are updated: every update of a word but, in each instance, its first. */
static double partial_sum_reads(const struct bound_context *c, const struct need *need)
{
    const struct architecture *arch = c->arch;
    if (!need->plain || arch->link_transfers)
        return 0;
    double share = (double)widest(need->reuse, arch->mac.mesh_x, arch->mac.mesh_y);
    return fmax(0, c->macs / share - (double)need->box_word);
}

/* The least a tensor costs when `l` is the innermost level that keeps it and `home` the outermost. */
static double tensor_energy(const struct bound_context *c, const struct tensor *tensor,
                            const struct need *need, uint32_t home, uint32_t l)
{
    const struct storage_level *outer = &c->arch->level[home];
    const struct storage_level *inner = &c->arch->level[l];
    double energy_j = 0;
    if (tensor->read_write) {
        double reads = partial_sum_reads(c, need);
        energy_j +=
            access_energy(c, l, mac_accesses(c, l, need), inner->update_energy_j, inner->address_energy_j);
        energy_j += access_energy(c, l, reads, inner->read_energy_j, 0);
        if (l < home)
            energy_j += access_energy(c, home, home_words(c->arch, need), outer->update_energy_j,
                                      outer->address_energy_j);
        return energy_j;
    }
    energy_j += access_energy(c, l, mac_accesses(c, l, need), inner->read_energy_j, inner->address_energy_j);
    if (l < home) {
        double words = home_words(c->arch, need);
        double fills =
            words - most_instances(c, l); /* fills are truncated in each instance (NOTES section 7) */
        energy_j += access_energy(c, home, words, outer->read_energy_j, outer->address_energy_j);
        energy_j += access_energy(c, l, fills, inner->write_energy_j, inner->address_energy_j);
    }
    return energy_j;
}

/* Words that enter the network below the home level. A level that does not merge partial sums is charged 2 * accesses -
 * partition (NOTES section 10), still at least one a word for a plain output without link transfers. */
static double ingress_energy(const struct bound_context *c, const struct tensor *tensor,
                             const struct need *need, uint32_t home)
{
    const struct storage_level *level = &c->arch->level[home];
    if (tensor->read_write && !level->reduces && (!need->plain || c->arch->link_transfers))
        return 0;
    return home_words(c->arch, need) * level->ingress_energy_j;
}

static uint32_t prime_factors(uint64_t n)
{
    uint32_t count = 0;
    for (uint64_t p = 2; p * p <= n; p++)
        for (; n % p == 0; n /= p)
            count++;
    return count + (n > 1);
}

/* In the one case left out above each record of a network is charged 2 * accesses - partition, which may be negative:
 * how much that can take off the total. There are at most two kinds of visit per temporal loop (NOTES section 6), and in
 * each at most sqrt(2 * children) different group sizes. */
static double ingress_rebate(const struct bound_context *c, const struct need *need)
{
    if (need->plain && !c->arch->link_transfers)
        return 0;
    uint32_t n_loop = 0;
    for (uint32_t d = 0; d < c->problem->n_dim; d++)
        n_loop += prime_factors(c->problem->bound[d]);
    double records = (2.0 * n_loop + 2) * (sqrt(2 * (double)c->parallel) + 1);
    double energy_j = 0;
    for (uint32_t l = 0; l < c->arch->n_level; l++)
        if (!c->arch->level[l].reduces)
            energy_j +=
                records * (double)need->box_word * most_instances(c, l) * c->arch->level[l].ingress_energy_j;
    return energy_j;
}

static double energy_bound(const struct bound_context *c)
{
    double energy_j = c->macs * c->arch->mac.energy_j;
    double rebate_j = 0;
    for (uint32_t t = 0; t < c->problem->n_tensor; t++) {
        const struct tensor *tensor = &c->problem->tensor[t];
        struct need need = tensor_need(c->problem, t);
        int home = find_home(c->arch, tensor);
        if (home < 0)
            continue;
        double least = INFINITY;
        for (uint32_t l = 0; l <= (uint32_t)home; l++)
            if (may_hold(c->arch, l, tensor))
                least = fmin(least, tensor_energy(c, tensor, &need, (uint32_t)home, l));
        energy_j += least + ingress_energy(c, tensor, &need, (uint32_t)home);
        if (tensor->read_write)
            rebate_j += ingress_rebate(c, &need);
    }
    return fmax(0, energy_j - rebate_j) * (1 - ROUNDING_SLACK);
}

/* ----------------------------------------------------------------------------------------------------- latency */

/* Words per instance that tensor `t` makes level `l` move at least: its share of the tensor at its home, and one word a
 * compute cycle where no other level may hold it. */
static double level_words(const struct bound_context *c, uint32_t t, uint32_t l)
{
    const struct tensor *tensor = &c->problem->tensor[t];
    struct need need = tensor_need(c->problem, t);
    if (find_home(c->arch, tensor) != (int)l)
        return 0;
    double words = home_words(c->arch, &need) / most_instances(c, l);
    for (uint32_t k = 0; k < l; k++)
        if (may_hold(c->arch, k, tensor))
            return words;
    if (c->arch->link_transfers && (l > 0 || fans_out(c->arch, 0)))
        return words;
    return fmax(words, c->macs / (double)c->parallel);
}

/* Cycles of the slowest level, before the latencies of the networks (NOTES section 8). */
static double cycle_bound(const struct bound_context *c)
{
    double cycles = c->macs / (double)c->parallel;
    for (uint32_t l = 0; l < c->arch->n_level; l++) {
        const struct storage_level *level = &c->arch->level[l];
        double reads = 0, writes = 0;
        for (uint32_t t = 0; t < c->problem->n_tensor; t++)
            *(c->problem->tensor[t].read_write ? &writes : &reads) += level_words(c, t, l);
        double busy = fmax(reads / level->read_bandwidth_word_per_cycle,
                           fmax(writes / level->write_bandwidth_word_per_cycle,
                                (reads + writes) / level->shared_bandwidth_word_per_cycle));
        cycles = fmax(cycles, ceil(busy * (1 - ROUNDING_SLACK)));
    }
    return cycles;
}

void lower_bound_compute(const struct problem *problem, const struct architecture *arch,
                         struct lower_bound *out)
{
    uint64_t macs = problem_macs(problem);
    struct bound_context c = {problem, arch, (double)macs, 1};
    c.parallel = most_sharing(arch, arch->n_level - 1, macs);
    double cycles = cycle_bound(&c);
    for (uint32_t l = 0; l < arch->n_level; l++)
        cycles += (double)(arch->level[l].fill_latency_cycle + arch->level[l].drain_latency_cycle);
    out->latency_s = cycles / arch->clock_hz;
    out->energy_j = energy_bound(&c);
    out->edp_js = out->latency_s * out->energy_j;
}

bool lower_bound_applies(const struct problem *problem, const struct architecture *arch,
                         const struct mapping *mapping)
{
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        int home = find_home(arch, &problem->tensor[t]);
        if (home < 0 || !((mapping->level[home].keep >> t) & 1u))
            return false;
    }
    return true;
}
