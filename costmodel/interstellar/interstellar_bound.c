/* What no mapping can be below: the operands of every multiply-accumulate from the innermost level that may
 * hold them, each word once from the outermost, and the steps that all MACs together need. */
#include <math.h>

#include "costmodel/interstellar/interstellar_compiled.h"

/* Sums in another order may differ in the last digits. */
#define SLACK (1 - 1e-9)

struct bound {
    const struct problem *problem;
    const struct architecture *arch;
    enum reuse_rule rule;
    const struct reuse_tensor *tensor;
    const struct tensor *shape; /* the same one of the problem's */
};

static void take_tensor(struct bound *b, const struct interstellar_reuse *reuse, uint32_t t)
{
    b->tensor = &reuse->tensor[t];
    b->shape = &b->problem->tensor[t];
}

static bool may_keep(const struct bound *b, uint32_t l)
{
    return architecture_keeps(b->arch, l, b->shape);
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

/* How a tensor can reach the MACs: by the innermost level that keeps it. With f MACs sharing its words it
 * costs all_j / f - once_j, no less than least_j; and home_j for bringing it in. */
struct way {
    double all_j, once_j, least_j, home_j;
    double most; /* MACs that can share */
};

static double access_energy(const struct bound *b, uint32_t l, double count)
{
    const struct storage_level *level = &b->arch->level[l];
    double read_j = level->read_energy_j / level->block_word;
    double write_j = level->update_energy_j / level->block_word;
    if (level->n_part)
        read_j = write_j = level->part[level->part_of[b->tensor->role]].access_energy_j;
    read_j += level->address_energy_j;
    write_j += level->address_energy_j;
    return b->tensor->size_word *
           (b->tensor->output ? count * write_j + (count - 1) * read_j : count * read_j);
}

/* Every operand as if no MACs shared any; by REUSE_COMPAT before it is rounded down. */
static double operand_count(const struct bound *b)
{
    double product[PROBLEM_DIM_MAX], all = 1;
    for (uint32_t d = 0; d < b->problem->n_dim; d++) {
        product[d] = b->problem->bound[d];
        all *= b->tensor->reuse >> d & 1u ? product[d] : 1;
    }
    return b->rule == REUSE_COMPAT ? all / b->tensor->stride : reuse_count(b->tensor, REUSE_SANE, product);
}

static struct way way_by(const struct bound *b, uint32_t l, uint32_t home)
{
    const struct architecture *arch = b->arch;
    struct way way = {.least_j = access_energy(b, l, least_count(b)), .most = 1};
    if (l < home)
        way.home_j = access_energy(b, home, least_count(b));
    /* MACs with operands of their own ask seldom; by REUSE_COMPAT what a level cannot keep is not asked for
     * */
    if (arch->mac.capacity > 0 || (b->rule == REUSE_COMPAT && !may_keep(b, 0))) {
        way.all_j = way.least_j;
        return way;
    }
    const double one_j = access_energy(b, l, 1), slope_j = access_energy(b, l, 2) - one_j;
    way.all_j = operand_count(b) * slope_j;
    way.once_j = slope_j - one_j + (b->rule == REUSE_COMPAT && b->tensor->stride > 1 ? slope_j : 0);
    way.most = (double)arch->mac.instances / (double)arch->level[l].instances;
    if (!arch->strict_fanout && way.most > 1)
        way.most = (double)arch->mac.instances;
    return way;
}

static uint32_t list_ways(const struct bound *b, struct way *way)
{
    const uint32_t home = home_of(b);
    uint32_t n = 0;
    for (uint32_t l = 0; home < b->arch->n_level && l <= home; l++)
        if (may_keep(b, l))
            way[n++] = way_by(b, l, home);
    return n;
}

/* At least one hop of each word into each array. */
static double hop_energy(const struct bound *b)
{
    double hops_j = 0;
    for (uint32_t l = 0; l < b->arch->n_level; l++) {
        const struct storage_level *level = &b->arch->level[l];
        uint64_t x, y;
        architecture_fanout(b->arch, l, &x, &y);
        if (x * y > 1)
            hops_j += level->hop_energy_j + level->router_energy_j + level->ingress_energy_j;
    }
    return hops_j * least_count(b) * b->tensor->size_word;
}

/* The tensors share one array. A spatial loop of f serves those for which it is reuse, so the product of all
 * their shares is at most that of the MACs, times once more each loop that serves two: for inputs and
 * outputs the filter's. */
static double most_shares(const struct problem *problem, const struct architecture *arch,
                          const struct interstellar_reuse *reuse)
{
    const double macs = (double)arch->mac.instances;
    double shares = macs;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        bool served = false;
        for (uint32_t t = 0; t < reuse->n_tensor; t++) {
            if (!(reuse->tensor[t].reuse >> d & 1u))
                continue;
            shares *= served ? fmin(macs, problem->bound[d]) : 1;
            served = true;
        }
    }
    return shares;
}

/* Least energy by these ways (n_tensor) together. For any set of tensors with product of shares at most S
 * the sum of A / f is at least k (product of A / S)^(1/k), the mean of k numbers being no less than their
 * geometric one; the others have their most shares each. */
static double ways_energy(const struct way *const *way, uint32_t n_tensor, double shares)
{
    double best_j = 0;
    for (uint32_t set = 0; set < 1u << n_tensor; set++) {
        double sum_j = 0, logs = -log(shares), k = 0;
        for (uint32_t t = 0; t < n_tensor; t++) {
            const struct way *w = way[t];
            if (set >> t & 1u) {
                logs += log(w->all_j);
                sum_j += w->home_j - w->once_j;
                k++;
            } else {
                sum_j += w->home_j + fmax(w->least_j, w->all_j / w->most - w->once_j);
            }
        }
        best_j = fmax(best_j, sum_j + (k > 0 ? k * exp(logs / k) : 0));
    }
    return best_j;
}

enum { SUMS_MAX = 4096 }; /* sets of tensors looked at in all; with more, each is bounded alone */

/* Over all combinations of ways of tensors that have some. */
static double least_energy(const struct way (*way)[ARCH_LEVEL_MAX], const uint32_t *n_way, uint32_t n_tensor,
                           double shares)
{
    const struct way *chosen[PROBLEM_TENSOR_MAX];
    const uint32_t most = SUMS_MAX >> n_tensor;
    uint32_t n_combination = 1;
    double least_j = INFINITY, alone_j = 0;
    for (uint32_t t = 0; t < n_tensor; t++) {
        double cheapest_j = INFINITY;
        for (uint32_t i = 0; i < n_way[t]; i++) {
            chosen[0] = &way[t][i];
            cheapest_j = fmin(cheapest_j, ways_energy(chosen, 1, way[t][i].most));
        }
        alone_j += cheapest_j;
        n_combination = n_combination > most ? n_combination : n_combination * n_way[t];
    }
    for (uint32_t number = 0; n_combination <= most && number < n_combination; number++) {
        uint32_t left = number;
        for (uint32_t t = 0; t < n_tensor; left /= n_way[t], t++)
            chosen[t] = &way[t][left % n_way[t]];
        least_j = fmin(least_j, ways_energy(chosen, n_tensor, shares));
    }
    return isinf(least_j) ? alone_j : least_j;
}

/* Steps of all MACs, and the words of level l whose outermost level it is against its bandwidth. */
static double level_cycles(struct bound *b, const struct interstellar_reuse *reuse, uint32_t l)
{
    const struct storage_level *level = &b->arch->level[l];
    struct interstellar_demand demand = {0, 0};
    for (uint32_t t = 0; t < reuse->n_tensor; t++) {
        take_tensor(b, reuse, t);
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
    struct bound b = {problem, arch, rule, NULL, NULL};
    const double macs = (double)problem_macs(problem);
    double cycles = ceil(macs / (double)arch->mac.instances), wait = 0, energy_j = macs * arch->mac.energy_j;
    struct way way[PROBLEM_TENSOR_MAX][ARCH_LEVEL_MAX];
    uint32_t n_way[PROBLEM_TENSOR_MAX], n_kept = 0;
    interstellar_reuse_compile(problem, &reuse);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        cycles = fmax(cycles, level_cycles(&b, &reuse, l));
        wait += (double)(arch->level[l].fill_latency_cycle + arch->level[l].drain_latency_cycle);
    }
    for (uint32_t t = 0; t < reuse.n_tensor; t++) {
        take_tensor(&b, &reuse, t);
        energy_j += hop_energy(&b);
        n_way[n_kept] = list_ways(&b, way[n_kept]);
        n_kept += n_way[n_kept] > 0;
    }
    energy_j += least_energy(way, n_way, n_kept, most_shares(problem, arch, &reuse));
    cycles = cycles * SLACK + wait;
    out->latency_s = cycles / arch->clock_hz;
    out->energy_j = (energy_j + architecture_least_leakage_j(arch, macs, cycles)) * SLACK;
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
    struct bound b = {problem, arch, REUSE_SANE, NULL, NULL};
    interstellar_reuse_compile(problem, &reuse);
    for (uint32_t t = 0; t < reuse.n_tensor; t++) {
        take_tensor(&b, &reuse, t);
        const uint32_t home = home_of(&b);
        if (home < arch->n_level && !(mapping->level[home].keep >> t & 1u))
            return false;
    }
    return true;
}
