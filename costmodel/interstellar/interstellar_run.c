/* The fast version: the totals of one mapping without an allocation, equal to those of the plain one. One
 * pass from the outermost level inwards carries the products of all factors further out. */
#include <math.h>
#include <string.h>

#include "costmodel/interstellar/interstellar_compiled.h"

/* What holds at the level that the pass is at, per dimension. */
struct pass {
    const struct interstellar_compiled *c;
    const struct mapping *mapping;
    double arrays[PROBLEM_DIM_MAX]; /* the spatial factors of the arrays at the level and further out */
    double around[PROBLEM_DIM_MAX]; /* the same, times the temporal factors further out */
    double whole[PROBLEM_DIM_MAX];  /* the same, times those at the level */
    uint32_t present;               /* loops at the level */
};

static void begin(struct pass *p, const struct interstellar_compiled *c, const struct mapping *mapping)
{
    p->c = c;
    p->mapping = mapping;
    for (uint32_t d = 0; d < mapping->n_dim; d++)
        p->arrays[d] = p->whole[d] = 1;
}

static void enter(struct pass *p, uint32_t l)
{
    const struct mapping_level *level = &p->mapping->level[l];
    p->present = 0;
    for (uint32_t d = 0; d < p->mapping->n_dim; d++) {
        uint32_t spatial = l + 1 < p->mapping->n_level ? level[1].spatial[d] : 1;
        p->arrays[d] *= spatial;
        p->around[d] = p->whole[d] * spatial;
        p->whole[d] = p->around[d] * level->temporal[d];
        p->present |= (uint32_t)(level->temporal[d] > 1 || spatial > 1) << d;
    }
}

/* As the plain count_at, for a level that asks for itself. */
static double count_own(const struct pass *p, const struct reuse_tensor *tensor, uint32_t l)
{
    const uint32_t exclusive =
        reuse_exclusive(tensor, p->present, p->mapping->level[l].temporal_order, p->mapping->n_dim);
    double product[PROBLEM_DIM_MAX];
    for (uint32_t left = tensor->reuse; left; left &= left - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(left);
        product[d] = exclusive >> d & 1u ? p->around[d] : p->whole[d];
    }
    return reuse_count(tensor, p->c->rule, product);
}

/* For MACs that hold nothing: every operand, as often as the arrays inside do not share it. */
static double count_operands(const struct pass *p, const struct reuse_tensor *tensor, uint32_t l)
{
    double product[PROBLEM_DIM_MAX];
    for (uint32_t left = tensor->reuse; left; left &= left - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(left);
        double shared = 1;
        for (uint32_t k = 0; k <= l; k++)
            shared *= p->mapping->level[k].spatial[d];
        product[d] = ceil(p->c->base.problem.bound[d] / shared);
    }
    return reuse_count(tensor, p->c->rule, product);
}

/* For a level further in that does not keep the tensor: its loops outside what costs nothing there. */
static double count_bypassed(const struct pass *p, const struct reuse_tensor *tensor, uint32_t demand)
{
    const struct mapping_level *level = &p->mapping->level[demand];
    double product[PROBLEM_DIM_MAX];
    uint32_t present = 0;
    for (uint32_t d = 0; d < p->mapping->n_dim; d++)
        present |= (uint32_t)(level[0].temporal[d] > 1 || level[1].spatial[d] > 1) << d;
    const uint32_t exclusive = reuse_exclusive(tensor, present, level->temporal_order, p->mapping->n_dim);
    for (uint32_t left = tensor->reuse; left; left &= left - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(left);
        product[d] = p->arrays[d];
        for (uint32_t k = demand; k < p->mapping->n_level; k++)
            product[d] *= k == demand && (exclusive >> d & 1u) ? 1 : p->mapping->level[k].temporal[d];
    }
    return reuse_count(tensor, p->c->rule, product);
}

static double count_of(const struct pass *p, uint32_t t, uint32_t l)
{
    const struct reuse_tensor *tensor = &p->c->reuse.tensor[t];
    const uint32_t demand = interstellar_demand_level(p->c, p->mapping, t, l);
    if (demand == 0 && p->c->base.arch.mac.capacity == 0)
        return count_operands(p, tensor, l);
    return demand == l ? count_own(p, tensor, l) : count_bypassed(p, tensor, demand);
}

/* Hops of every visit of a word of each tensor, in the order of the array's loops. */
static void add_hops(const struct pass *p, uint32_t l, double *hops)
{
    const struct mapping_level *level = &p->mapping->level[l];
    const enum array_link link = p->c->base.arch.level[l].link;
    const uint32_t n_tensor = p->c->reuse.n_tensor;
    double near[PROBLEM_TENSOR_MAX], far[PROBLEM_TENSOR_MAX] = {0}, reach = 0;
    for (uint32_t t = 0; t < n_tensor; t++)
        near[t] = 1;
    for (uint32_t i = 0; i < p->mapping->n_dim; i++) {
        const uint32_t d = level->spatial_order[i];
        if (link != ARRAY_SYSTOLIC || i == level->split || ((uint32_t)level->further >> i & 1u))
            reach = 0;
        if (level->spatial[d] == 1)
            continue;
        for (uint32_t t = 0; t < n_tensor; t++) {
            const double copies = p->c->reuse.tensor[t].reuse >> d & 1u ? level->spatial[d] : 0;
            if (reach > 0)
                far[t] += reach * copies;
            else if (copies > 0)
                near[t] *= copies;
        }
        reach = (reach > 0 ? reach : 1) * level->spatial[d];
    }
    for (uint32_t t = 0; t < n_tensor; t++)
        hops[t] = link == ARRAY_TREE && p->c->reuse.tensor[t].output ? 2 * near[t] - 1 : near[t] + far[t];
}

static void price_level(const struct pass *p, uint32_t l, double used, struct interstellar_demand *demand,
                        struct evaluation *out)
{
    const struct interstellar_compiled *c = p->c;
    double hops[PROBLEM_TENSOR_MAX], read = 0, write = 0, energy_j = 0, network_j = 0;
    if (c->fan[l] > 1)
        add_hops(p, l, hops);
    for (uint32_t t = 0; t < c->reuse.n_tensor; t++) {
        const struct reuse_tensor *tensor = &c->reuse.tensor[t];
        const bool keep = p->mapping->level[l].keep >> t & 1u;
        if (!keep && c->fan[l] == 1)
            continue;
        const double count = count_of(p, t, l), words = count * tensor->size_word;
        if (c->fan[l] > 1)
            network_j += words * (hops[t] * c->hop_j[l] + c->base.arch.level[l].ingress_energy_j);
        if (!keep)
            continue;
        if (tensor->output) {
            const double again = (count - 1) * tensor->size_word;
            energy_j += words * c->write_j[l][t] + again * c->read_j[l][t];
            write += words;
            read += again;
        } else {
            energy_j += words * c->read_j[l][t];
            read += words;
        }
    }
    *demand = (struct interstellar_demand){read / used, write / used};
    out->level_energy_j[l] = energy_j;
    out->network_energy_j[l] = network_j;
    out->level_byte[l] = (read + write) * c->base.arch.level[l].word_bit / 8;
}

bool interstellar_run(const struct evaluator *evaluator, struct eval_workspace *workspace,
                      const struct mapping *mapping, struct evaluation *out)
{
    const struct interstellar_compiled *c = interstellar_of(evaluator);
    struct interstellar_demand demand[ARCH_LEVEL_MAX];
    struct pass p;
    double used = 1;
    (void)workspace;
    if (!interstellar_fits(c, mapping, &out->fit))
        return false;
    begin(&p, c, mapping);
    for (uint32_t l = mapping->n_level; l-- > 0;) {
        enter(&p, l);
        for (uint32_t d = 0; l + 1 < mapping->n_level && d < mapping->n_dim; d++)
            used *= mapping->level[l + 1].spatial[d];
        price_level(&p, l, used, &demand[l], out);
    }
    interstellar_total(c, mapping, demand, out);
    return true;
}
