/* The lower bound: a search over the spatial spreads that all tensors must share; the least of their sums is
 * the bound. */
#include <math.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/loopnest/lower_bound_need.h"

enum {
    DIVISOR_MAX = 512,    /* per group of dimensions; with more, tensors are bounded one by one */
    SPREAD_MAX = 1 << 18, /* spatial spreads looked at; the same */
};

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
    bool leaks; /* the machine */
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
        if (!list_divisors(group, bound_smaller(group->whole, c->parallel)))
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
            energy_j += bound_tensor_least(c, &c->view[t], spread);
    }
    double cycles = fmax(c->macs / (double)used, search->busy_cycle) + search->network_cycle;
    energy_j = fmax(0, energy_j);
    if (search->leaks)
        energy_j += architecture_least_leakage_j(c->arch, c->macs, cycles);
    energy_j *= 1 - BOUND_SLACK;
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

void lower_bound_compute(const struct problem *problem, const struct architecture *arch,
                         struct lower_bound *out)
{
    struct bound_context c = {.problem = problem, .arch = arch};
    struct spread_search search;
    bound_look(&c);
    search.c = &c;
    search.n_seen = 0;
    search.busy_cycle = bound_bandwidth_cycles(&c);
    search.leaks = architecture_all_leakage_w(arch) > 0;
    search.network_cycle = 0;
    for (uint32_t l = 0; l < arch->n_level; l++)
        search.network_cycle +=
            (double)(arch->level[l].fill_latency_cycle + arch->level[l].drain_latency_cycle);
    search.fixed_energy_j = c.macs * arch->mac.energy_j;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (c.view[t].home >= 0)
            search.fixed_energy_j += bound_ingress_energy(&c, &c.view[t]);
    search.least_energy_j = search.least_product = INFINITY;
    search.n_group = 0;
    if (c.parallel > BOUND_SCAN_MAX || !group_dims(&search) || !search_spreads(&search, 0, 1))
        consider_apart(&search);
    double cycles = fmax(c.macs / (double)c.parallel, search.busy_cycle) + search.network_cycle;
    out->latency_s = cycles / arch->clock_hz;
    out->energy_j = search.least_energy_j;
    out->edp_js =
        fmax(search.least_product / arch->clock_hz * (1 - BOUND_SLACK), out->latency_s * out->energy_j);
}
