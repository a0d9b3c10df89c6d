/* Counts, from the projections alone, how many words of a tensor any mapping must touch and how many
 * iterations can share one; then prices them on the machine: parallelism, energy per tensor, network,
 * latency. */
#include "costmodel/loopnest/lower_bound_need.h"

#include <math.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/model/divisor.h"

static bool rank_has(const struct tensor_rank *rank, uint32_t dim)
{
    for (uint32_t i = 0; i < rank->n_term; i++)
        if (rank->term[i].dim == dim)
            return true;
    return false;
}

/* Pairs (i, j) and (i + b', j - a') collide, with a' = a/gcd(a,b), b' alike, so the values are the pairs less
 * those with a predecessor. */
uint64_t bound_two_term_values(uint64_t a, uint64_t n, uint64_t b, uint64_t m)
{
    uint64_t g = greatest_common_divisor(a, b);
    uint64_t step_i = b / g, step_j = a / g;
    return n * m - (n > step_i && m > step_j ? (n - step_i) * (m - step_j) : 0);
}

/* At least this many coordinates of a rank are touched; exact for one and two terms. Each further term of
 * length n adds at least n - 1 (|A + B| >= |A| + |B| - 1 for sets of integers). A dimension that comes twice
 * is left out. */
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
    return bound_two_term_values(pair[0]->coefficient, problem->bound[pair[0]->dim], pair[1]->coefficient,
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

/* Ranks that share a dimension with an earlier counted rank are left out: the words seen through the others
 * alone are already that many. */
struct tensor_need bound_tensor_need(const struct problem *problem, uint32_t t)
{
    const struct tensor *tensor = &problem->tensor[t];
    struct tensor_need need = {
        problem_tensor_words(problem, t), 1, 1, (1u << problem->n_dim) - 1, problem_macs(problem), true};
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
        need.sharing_dims &= ~(1u << anchor);
        need.sharing /= problem->bound[anchor];
        for (uint32_t d = 0; d < problem->n_dim; d++)
            counted[d] = counted[d] || rank_has(rank, d);
    }
    return need;
}

/* ---------------------------------------- parallelism */

/* The largest x * y that divides `whole`, x <= wide, y <= high: what spatial loops over whole factors can
 * fill. */
static uint64_t widest(uint64_t whole, uint64_t wide, uint64_t high)
{
    wide = bound_smaller(wide, whole);
    high = bound_smaller(high, whole);
    if (wide > BOUND_SCAN_MAX || high > BOUND_SCAN_MAX)
        return wide > whole / high ? whole : wide * high;
    uint64_t best = 1;
    for (uint64_t x = wide; x >= 1 && x * high > best; x--) {
        if (whole % x != 0)
            continue;
        uint64_t rest = whole / x;
        uint64_t y = bound_smaller(high, rest);
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

/* Most MACs that one access at level `l` can serve when `whole` iterations may share it. Only strict
 * machines hold a level to its own fan-out; else its loops may use the whole MAC array
 * (docs/cost-model.md, "Time and fit"). */
static uint64_t most_sharing(const struct architecture *arch, uint32_t l, uint64_t whole)
{
    if (!fans_out(arch, l))
        return 1;
    const struct storage_level *level = &arch->level[l];
    if (arch->strict_fanout)
        return widest(whole, arch->mac.mesh_x / level->mesh_x, arch->mac.mesh_y / level->mesh_y);
    return widest(whole, arch->mac.mesh_x, arch->mac.mesh_y);
}

/* ---------------------------------------- energy of one tensor */

/* Most instances of level `l` in use; nothing spreads above the outermost level. */
static double most_instances(const struct bound_context *c, uint32_t l)
{
    const struct storage_level *level = &c->arch->level[l];
    return l + 1 == c->arch->n_level ? 1 : fmin((double)level->mesh_x * (double)level->mesh_y, c->macs);
}

/* Energy of at least `words` accesses summed over all instances of level `l`, `block_energy_j` a block,
 * each with `address_j` of address generation. Energy per instance is charged once per used cluster
 * (docs/cost-model.md, "Energy of levels and MACs"). */
static double access_energy(const struct bound_context *c, uint32_t l, double words, double block_energy_j,
                            double address_j)
{
    if (words <= 0)
        return 0;
    double blocks = words / c->arch->level[l].block_word;
    if (c->instances[l] == 1)
        blocks = ceil(blocks);
    return (blocks * block_energy_j + words * address_j) * c->charged[l];
}

static bool may_hold(const struct architecture *arch, uint32_t l, const struct tensor *tensor)
{
    return architecture_keeps(arch, l, tensor);
}

static int find_home(const struct architecture *arch, const struct tensor *tensor)
{
    for (uint32_t l = arch->n_level; l-- > 0;)
        if (may_hold(arch, l, tensor))
            return (int)l;
    return -1;
}

/* Words that leave (or, for outputs, reach) the home level at least once. */
static double home_words(const struct bound_context *c, const struct tensor_view *view)
{
    return (double)(c->arch->link_transfers ? view->need.anchored_word : view->need.touched_word);
}

/* Accesses by the MACs at level `l` when it is the innermost that keeps the tensor and at most `spread` MACs
 * share: every MAC needs its operand. With neighbours that forward operands between MACs only the first
 * arrival is sure. */
static double mac_accesses(const struct bound_context *c, const struct tensor_view *view, uint32_t l,
                           uint64_t spread)
{
    const struct architecture *arch = c->arch;
    double first = home_words(c, view);
    if (arch->link_transfers && fans_out(arch, 0))
        return first;
    double rounding = arch->link_transfers && l > 0 ? 0.5 * c->instances[l] : 0;
    return fmax(first, c->macs / (double)bound_smaller(spread, view->most_sharing[l]) - rounding);
}

/* Old partial sums read back where outputs are updated: every update of a word but, in each instance, its
 * first. */
static double partial_sum_reads(const struct bound_context *c, const struct tensor_view *view,
                                uint64_t spread)
{
    if (!view->need.plain || c->arch->link_transfers)
        return 0;
    double share = (double)bound_smaller(spread, view->most_sharing[c->arch->n_level - 1]);
    return fmax(0, c->macs / share - (double)view->need.box_word);
}

/* What does not depend on the spread. */
static void price_fixed(const struct bound_context *c, struct tensor_view *view)
{
    uint32_t home = (uint32_t)view->home;
    const struct storage_level *outer = &c->arch->level[home];
    double words = home_words(c, view);
    double block_j = view->tensor->read_write ? outer->update_energy_j : outer->read_energy_j;
    view->home_j = access_energy(c, home, words, block_j, outer->address_energy_j);
    for (uint32_t l = 0; l < home; l++) {
        const struct storage_level *inner = &c->arch->level[l];
        double fills = words - c->instances[l]; /* fills are truncated in each instance */
        view->fill_j[l] = access_energy(c, l, fills, inner->write_energy_j, inner->address_energy_j);
    }
}

/* The least a tensor costs when `l` is the innermost level that keeps it. */
static double tensor_energy(const struct bound_context *c, const struct tensor_view *view, uint32_t l,
                            uint64_t spread)
{
    const struct storage_level *inner = &c->arch->level[l];
    bool inside = l < (uint32_t)view->home;
    double mac_words = mac_accesses(c, view, l, spread);
    if (view->tensor->read_write) {
        double reads = partial_sum_reads(c, view, spread);
        double energy_j = access_energy(c, l, mac_words, inner->update_energy_j, inner->address_energy_j) +
                          access_energy(c, l, reads, inner->read_energy_j, 0);
        return inside ? energy_j + view->home_j : energy_j;
    }
    double energy_j = access_energy(c, l, mac_words, inner->read_energy_j, inner->address_energy_j);
    return inside ? energy_j + view->home_j + view->fill_j[l] : energy_j;
}

/* tensor_energy at the best level. */
double bound_tensor_least(const struct bound_context *c, struct tensor_view *view, uint64_t spread)
{
    uint32_t slot = (uint32_t)(spread * UINT64_C(0x9E3779B97F4A7C15) >> 58); /* Knuth's multiplicative hash */
    uint64_t *asked = &view->asked[slot];
    double *answer_j = &view->answer_j[slot];
    if (*asked == spread)
        return *answer_j;
    double least = INFINITY;
    for (uint32_t l = 0; l <= (uint32_t)view->home; l++)
        if (may_hold(c->arch, l, view->tensor))
            least = fmin(least, tensor_energy(c, view, l, spread));
    *asked = spread;
    *answer_j = least;
    return least;
}

/* ---------------------------------------- network ingresses */

/* Words that enter the network below the home level. A level that does not merge partial sums is charged 2
 * * accesses - partition (docs/cost-model.md, "Energy of networks"), still at least one a word for a plain
 * output without link transfers. */
static double ingress_energy(const struct bound_context *c, const struct tensor_view *view)
{
    const struct storage_level *level = &c->arch->level[view->home];
    if (view->tensor->read_write && !level->reduces && (!view->need.plain || c->arch->link_transfers))
        return 0;
    return home_words(c, view) * level->ingress_energy_j;
}

static uint32_t prime_factors(uint64_t n)
{
    uint32_t count = 0;
    for (uint64_t p = 2; p * p <= n; p++)
        for (; n % p == 0; n /= p)
            count++;
    return count + (n > 1);
}

/* In the one case left out above each record of a network is charged 2 * accesses - partition, which may
 * be negative: how much that can take off the total. There are at most two kinds of visit per temporal
 * loop (docs/cost-model.md, "Multicast, scatter, links"), and in each at most sqrt(2 * children) different
 * group sizes. */
static double ingress_rebate(const struct bound_context *c, const struct tensor_view *view)
{
    if (!view->tensor->read_write || (view->need.plain && !c->arch->link_transfers))
        return 0;
    uint32_t n_loop = 0;
    for (uint32_t d = 0; d < c->problem->n_dim; d++)
        n_loop += prime_factors(c->problem->bound[d]);
    double records = (2.0 * n_loop + 2) * (sqrt(2 * (double)c->parallel) + 1);
    double energy_j = 0;
    for (uint32_t l = 0; l < c->arch->n_level; l++)
        if (!c->arch->level[l].reduces)
            energy_j +=
                records * (double)view->need.box_word * c->instances[l] * c->arch->level[l].ingress_energy_j;
    return energy_j;
}

double bound_ingress_energy(const struct bound_context *c, const struct tensor_view *view)
{
    return ingress_energy(c, view) - ingress_rebate(c, view);
}

/* ---------------------------------------- latency */

/* Words per instance that a tensor makes level `l` move at least: its share of the tensor at its home, and
 * one word a compute cycle where no other level may hold it. */
static double level_words(const struct bound_context *c, const struct tensor_view *view, uint32_t l)
{
    if (view->home != (int)l)
        return 0;
    double words = home_words(c, view) / c->instances[l];
    for (uint32_t k = 0; k < l; k++)
        if (may_hold(c->arch, k, view->tensor))
            return words;
    if (c->arch->link_transfers && (l > 0 || fans_out(c->arch, 0)))
        return words;
    return fmax(words, c->macs / (double)c->parallel);
}

double bound_bandwidth_cycles(const struct bound_context *c)
{
    double cycles = 1;
    for (uint32_t l = 0; l < c->arch->n_level; l++) {
        const struct storage_level *level = &c->arch->level[l];
        double reads = 0, writes = 0;
        for (uint32_t t = 0; t < c->problem->n_tensor; t++)
            *(c->view[t].tensor->read_write ? &writes : &reads) += level_words(c, &c->view[t], l);
        double busy = fmax(reads / level->read_bandwidth_word_per_cycle,
                           fmax(writes / level->write_bandwidth_word_per_cycle,
                                (reads + writes) / level->shared_bandwidth_word_per_cycle));
        cycles = fmax(cycles, ceil(busy * (1 - BOUND_SLACK)));
    }
    return cycles;
}

/* ---------------------------------------- all of it */

static void look_at_levels(struct bound_context *c)
{
    for (uint32_t l = 0; l < c->arch->n_level; l++) {
        const struct storage_level *level = &c->arch->level[l];
        double clusters = (double)(level->instances / level->cluster_size);
        c->instances[l] = most_instances(c, l);
        c->charged[l] = fmin(1, clusters / c->instances[l]);
    }
}

static bool same_mesh(const struct storage_level *a, const struct storage_level *b)
{
    return a->mesh_x == b->mesh_x && a->mesh_y == b->mesh_y;
}

static void look_at_tensors(struct bound_context *c)
{
    for (uint32_t t = 0; t < c->problem->n_tensor; t++) {
        struct tensor_view *view = &c->view[t];
        view->tensor = &c->problem->tensor[t];
        view->need = bound_tensor_need(c->problem, t);
        view->home = find_home(c->arch, view->tensor);
        for (uint32_t l = 0; l < c->arch->n_level; l++)
            view->most_sharing[l] = l > 0 && same_mesh(&c->arch->level[l], &c->arch->level[l - 1])
                                        ? view->most_sharing[l - 1]
                                        : most_sharing(c->arch, l, view->need.sharing);
        if (view->home >= 0)
            price_fixed(c, view);
    }
}

void bound_look(struct bound_context *c)
{
    uint64_t macs = problem_macs(c->problem);
    c->macs = (double)macs;
    c->parallel = most_sharing(c->arch, c->arch->n_level - 1, macs);
    look_at_levels(c);
    look_at_tensors(c);
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
