/* Parallelism, energy per tensor, network and latency, then the search over spatial spreads that all
 * tensors must share: the least of their sums is the bound. */
#include "costmodel/loopnest/accounting_timeloop.h"

#include <math.h>

#include "costmodel/loopnest/lower_bound_need.h"

/* The evaluator adds up in its own order, so a mapping that meets the bound exactly may come out a few last
 * digits lower; this keeps the bound below. */
static const double ROUNDING_SLACK = 1e-12;

enum {
    SCAN_MAX = 1 << 16,   /* meshes wider than this are not searched for whole factors */
    DIVISOR_MAX = 512,    /* per group of dimensions; with more, tensors are bounded one by one */
    SPREAD_MAX = 1 << 18, /* spatial spreads looked at; the same */
    ANSWER_MAX = 64,      /* spreads are products of few factors: the same come again and again */
};

/* One tensor on the machine. */
struct tensor_view {
    const struct tensor *tensor;
    struct tensor_need need;
    int home;                              /* the outermost level that may hold it, or -1 */
    uint64_t most_sharing[ARCH_LEVEL_MAX]; /* (n_level) most MACs that one access at level l serves */
    double home_j;                         /* of the words that leave or reach the home level */
    double fill_j[ARCH_LEVEL_MAX];         /* (n_level) of the fills of level l, when it is the innermost */
    uint64_t asked[ANSWER_MAX];            /* what tensor_least was asked, by a hash; 0: nothing yet */
    double answer_j[ANSWER_MAX];           /* and what it said */
};

struct bound_context {
    const struct problem *problem;
    const struct architecture *arch;
    double macs;
    uint64_t parallel;                /* most MACs at work at once */
    double instances[ARCH_LEVEL_MAX]; /* (n_level) most_instances */
    /* (n_level) the share of accesses that is charged: clusters / instances */
    double charged[ARCH_LEVEL_MAX];
    struct tensor_view view[PROBLEM_TENSOR_MAX];
};

/* ---------------------------------------- parallelism */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The largest x * y that divides `whole`, x <= wide, y <= high: what spatial loops over whole factors can
 * fill. */
static uint64_t widest(uint64_t whole, uint64_t wide, uint64_t high)
{
    wide = smaller(wide, whole);
    high = smaller(high, whole);
    if (wide > SCAN_MAX || high > SCAN_MAX)
        return wide > whole / high ? whole : wide * high;
    uint64_t best = 1;
    for (uint64_t x = wide; x >= 1 && x * high > best; x--) {
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

static void look_at_levels(struct bound_context *c)
{
    for (uint32_t l = 0; l < c->arch->n_level; l++) {
        const struct storage_level *level = &c->arch->level[l];
        double clusters = (double)(level->instances / level->cluster_size);
        c->instances[l] = most_instances(c, l);
        c->charged[l] = fmin(1, clusters / c->instances[l]);
    }
}

static bool may_hold(const struct architecture *arch, uint32_t l, const struct tensor *tensor)
{
    return (arch->level[l].keep_role >> (unsigned)tensor->role) & 1u;
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
    return fmax(first, c->macs / (double)smaller(spread, view->most_sharing[l]) - rounding);
}

/* Old partial sums read back where outputs are updated: every update of a word but, in each instance, its
 * first. */
static double partial_sum_reads(const struct bound_context *c, const struct tensor_view *view,
                                uint64_t spread)
{
    if (!view->need.plain || c->arch->link_transfers)
        return 0;
    double share = (double)smaller(spread, view->most_sharing[c->arch->n_level - 1]);
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

/* The same at the best level. */
static double tensor_least(const struct bound_context *c, struct tensor_view *view, uint64_t spread)
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

/* Cycles of the busiest level (docs/cost-model.md, "Time and fit"). */
static double bandwidth_cycles(const struct bound_context *c)
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
        cycles = fmax(cycles, ceil(busy * (1 - ROUNDING_SLACK)));
    }
    return cycles;
}

/* ---------------------------------------- all tensors together */

/* One group of dimensions that the same tensors can share, and the whole factors of it that fit the array. */
struct spread_group {
    uint32_t dims;
    uint64_t whole;
    uint32_t n_divisor;
    uint64_t divisor[DIVISOR_MAX]; /* (n_divisor) rising */
};

/* The MAC array serves all tensors with one spread: what shares one tensor's words splits another's. */
struct spread_search {
    struct bound_context *c;
    uint32_t n_group;
    struct spread_group group[PROBLEM_DIM_MAX];
    uint64_t factor[PROBLEM_DIM_MAX]; /* (n_group) the spread being looked at */
    uint32_t n_seen;
    uint32_t shared_group[PROBLEM_TENSOR_MAX]; /* bit g: the group has dimensions that the tensor shares */
    double fixed_energy_j, network_cycle, busy_cycle;
    double least_energy_j, least_product;
};

/* Those up to `highest`, rising: the small ones, and what the whole is of each. False when they are too
 * many. */
static bool list_divisors(struct spread_group *group, uint64_t highest)
{
    uint32_t n = 0;
    for (uint64_t x = 1; x <= highest && x * x <= group->whole; x++) {
        if (group->whole % x != 0)
            continue;
        if (n == DIVISOR_MAX)
            return false;
        group->divisor[n++] = x;
    }
    for (uint32_t i = n; i-- > 0;) {
        uint64_t x = group->whole / group->divisor[i];
        if (x > highest || x == group->divisor[i])
            continue;
        if (n == DIVISOR_MAX)
            return false;
        group->divisor[n++] = x;
    }
    group->n_divisor = n;
    return true;
}

static void mark_shared(struct spread_search *search)
{
    for (uint32_t t = 0; t < search->c->problem->n_tensor; t++) {
        search->shared_group[t] = 0;
        for (uint32_t g = 0; g < search->n_group; g++)
            if (search->group[g].dims & search->c->view[t].need.sharing_dims)
                search->shared_group[t] |= 1u << g;
    }
}

/* Group the dimensions. False when a group has too many factors to look at. */
static bool group_dims(struct spread_search *search)
{
    const struct bound_context *c = search->c;
    uint32_t kind[PROBLEM_DIM_MAX];
    search->n_group = 0;
    for (uint32_t d = 0; d < c->problem->n_dim; d++) {
        uint32_t g = 0, mask = 0;
        for (uint32_t t = 0; t < c->problem->n_tensor; t++)
            mask |= (c->view[t].need.sharing_dims >> d & 1u) << t;
        while (g < search->n_group && kind[g] != mask)
            g++;
        if (g == search->n_group) {
            kind[g] = mask;
            search->group[g].dims = 0;
            search->group[g].whole = 1;
            search->n_group++;
        }
        search->group[g].dims |= 1u << d;
        search->group[g].whole *= c->problem->bound[d];
    }
    for (uint32_t g = 0; g < search->n_group; g++) {
        struct spread_group *group = &search->group[g];
        if (!list_divisors(group, smaller(group->whole, c->parallel)))
            return false;
    }
    mark_shared(search);
    return true;
}

static void consider(struct spread_search *search, uint64_t used)
{
    struct bound_context *c = search->c;
    double energy_j = search->fixed_energy_j;
    for (uint32_t t = 0; t < c->problem->n_tensor; t++) {
        uint64_t spread = 1;
        for (uint32_t left = search->shared_group[t]; left; left &= left - 1)
            spread *= search->factor[__builtin_ctz(left)];
        if (c->view[t].home >= 0)
            energy_j += tensor_least(c, &c->view[t], spread);
    }
    energy_j = fmax(0, energy_j) * (1 - ROUNDING_SLACK);
    double cycles = fmax(c->macs / (double)used, search->busy_cycle) + search->network_cycle;
    search->least_energy_j = fmin(search->least_energy_j, energy_j);
    search->least_product = fmin(search->least_product, energy_j * cycles);
}

/* Look at every spread; the last group takes what is left, since more never costs more. False when there are
 * too many. */
static bool search_spreads(struct spread_search *search, uint32_t g, uint64_t used)
{
    const struct spread_group *group = &search->group[g];
    uint64_t room = search->c->parallel / used;
    uint32_t n = group->n_divisor;
    while (group->divisor[n - 1] > room)
        n--;
    for (uint32_t i = g + 1 == search->n_group ? n - 1 : 0; i < n; i++) {
        search->factor[g] = group->divisor[i];
        if (g + 1 < search->n_group) {
            if (!search_spreads(search, g + 1, used * group->divisor[i]))
                return false;
        } else if (search->n_seen++ == SPREAD_MAX) {
            return false;
        } else {
            consider(search, used * group->divisor[i]);
        }
    }
    return true;
}

/* When the spreads are too many: each tensor as if the whole array were there for it alone. */
static void consider_apart(struct spread_search *search)
{
    search->least_energy_j = search->least_product = INFINITY;
    for (uint32_t g = 0; g < search->n_group; g++)
        search->factor[g] = 1;
    search->n_group = 1;
    search->group[0].dims = UINT32_MAX;
    search->factor[0] = search->c->parallel;
    mark_shared(search);
    consider(search, search->c->parallel);
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

void lower_bound_compute(const struct problem *problem, const struct architecture *arch,
                         struct lower_bound *out)
{
    uint64_t macs = problem_macs(problem);
    struct bound_context c = {.problem = problem, .arch = arch, .macs = (double)macs};
    struct spread_search search;
    c.parallel = most_sharing(arch, arch->n_level - 1, macs);
    look_at_levels(&c);
    look_at_tensors(&c);
    search.c = &c;
    search.n_seen = 0;
    search.busy_cycle = bandwidth_cycles(&c);
    search.network_cycle = 0;
    for (uint32_t l = 0; l < arch->n_level; l++)
        search.network_cycle +=
            (double)(arch->level[l].fill_latency_cycle + arch->level[l].drain_latency_cycle);
    search.fixed_energy_j = c.macs * arch->mac.energy_j;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (c.view[t].home >= 0)
            search.fixed_energy_j += ingress_energy(&c, &c.view[t]) - ingress_rebate(&c, &c.view[t]);
    search.least_energy_j = search.least_product = INFINITY;
    search.n_group = 0;
    if (c.parallel > SCAN_MAX || !group_dims(&search) || !search_spreads(&search, 0, 1))
        consider_apart(&search);
    double cycles = fmax(c.macs / (double)c.parallel, search.busy_cycle) + search.network_cycle;
    out->latency_s = cycles / arch->clock_hz;
    out->energy_j = search.least_energy_j;
    out->edp_js =
        fmax(search.least_product / arch->clock_hz * (1 - ROUNDING_SLACK), out->latency_s * out->energy_j);
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
