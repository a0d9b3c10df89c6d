/* Totals of a mapping from energies and words of its levels, and the breakdown that every accounting gives,
 * from the plain version. */
#include <math.h>
#include <string.h>

#include "costmodel/interstellar/interstellar_compiled.h"

static double slowdown_of(const struct storage_level *level, const struct interstellar_demand *demand,
                          double cycle)
{
    return architecture_slowdown(level, demand->read_word / cycle, demand->write_word / cycle);
}

/* Instances of level l in use. */
static double used_at(const struct mapping *mapping, uint32_t l)
{
    double used = 1;
    for (uint32_t k = l + 1; k < mapping->n_level; k++)
        for (uint32_t d = 0; d < mapping->n_dim; d++)
            used *= mapping->level[k].spatial[d];
    return used;
}

static double leakage_w(const struct architecture *arch, const struct mapping *mapping, double mac_used)
{
    double used[ARCH_LEVEL_MAX];
    for (uint32_t l = 0; l < mapping->n_level; l++)
        used[l] = used_at(mapping, l);
    return architecture_leakage_w(arch, used, mac_used);
}

void interstellar_total(const struct interstellar_compiled *c, const struct mapping *mapping,
                        const struct interstellar_demand *demand, struct evaluation *out)
{
    const struct architecture *arch = &c->base.arch;
    double steps = 1, used = 1;
    for (uint32_t l = 0; l < mapping->n_level; l++)
        for (uint32_t d = 0; d < mapping->n_dim; d++) {
            steps *= mapping->level[l].temporal[d];
            used *= mapping->level[l].spatial[d];
        }
    double cycle = steps;
    out->n_compute = (double)problem_macs(&c->base.problem);
    out->energy_mac_j = out->energy_j = out->n_compute * arch->mac.energy_j;
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        out->energy_j += out->level_energy_j[l] + out->network_energy_j[l];
        if (c->limited[l])
            cycle = fmax(cycle, ceil(steps / slowdown_of(&arch->level[l], &demand[l], steps)));
    }
    out->compute_cycle = (uint64_t)steps;
    out->latency_cycle = (uint64_t)fmin(cycle, 0x1p62) + c->wait_cycle;
    out->n_mac_used = (uint64_t)used;
    out->utilization = out->n_compute / ((double)arch->mac.instances * (double)out->latency_cycle);
    out->latency_s = (double)out->latency_cycle / arch->clock_hz;
    out->energy_leakage_j = c->leaks ? leakage_w(arch, mapping, used) * out->latency_s : 0;
    out->energy_j += out->energy_leakage_j;
    out->edp_js = out->energy_j * out->latency_s;
}

static uint64_t rounded(double words)
{
    return (uint64_t)fmin(floor(words + 0.5), 0x1p62);
}

static void fill_access(const struct interstellar_access *access, const struct reuse_tensor *tensor,
                        double used, struct tensor_counts *out)
{
    const double words = tensor->size_word / used;
    *out = (struct tensor_counts){.keep = access->keep,
                                  .instances_used = (uint64_t)used,
                                  .clusters_used = (uint64_t)used,
                                  .capacity_word = rounded(access->instance_word)};
    if (!access->keep)
        return;
    out->reads = rounded((tensor->output ? access->count - 1 : access->count) * words);
    out->updates = tensor->output ? rounded(access->count * words) : 0;
    out->temporal_reductions = tensor->output ? out->reads : 0;
    out->address_generations = out->reads + out->updates;
    out->access_energy_j = access->energy_j;
}

/* Near hops stand for the multicast of each word, the far ones for what links carry on. */
static void fill_network(const struct interstellar_prices *prices, const struct mapping *mapping, uint32_t l,
                         uint32_t t, const struct reuse_tensor *tensor, double used,
                         struct network_counts *out)
{
    const double count = prices->level[l].access[t].count;
    const struct interstellar_hops *hops = &prices->level[l].hops[t];
    double fanout = 1, far = 0;
    memset(out, 0, sizeof *out);
    for (uint32_t d = 0; d < mapping->n_dim; d++)
        fanout *= mapping->level[l].spatial[d];
    out->fanout = (uint64_t)fanout;
    if (!prices->level[l].is_array)
        return;
    out->energy_j = hops->near_j;
    for (uint32_t k = 0; k < prices->level[l].n_dimension; k++) {
        far += hops->far[k] * prices->level[l].distance[k];
        out->link_energy_j += hops->far_j[k];
    }
    out->ingresses = count * tensor->size_word / used;
    out->max_multicast = 1;
    for (uint32_t d = 0; d < mapping->n_dim; d++)
        if (tensor->reuse >> d & 1u)
            out->max_multicast *= mapping->level[l].spatial[d];
    out->average_hops = count > 0 ? (hops->near + far) / count : 0;
}

/* Summed up in the order of interstellar_run, as the last digit decides on a cycle. */
static struct interstellar_demand demand_of(const struct interstellar_compiled *c,
                                            const struct interstellar_prices *prices, uint32_t l, double used)
{
    struct interstellar_demand demand = {0, 0};
    for (uint32_t t = 0; t < c->reuse.n_tensor; t++) {
        const struct interstellar_access *access = &prices->level[l].access[t];
        const struct reuse_tensor *tensor = &c->reuse.tensor[t];
        if (!access->keep)
            continue;
        demand.read_word += (tensor->output ? access->count - 1 : access->count) * tensor->size_word;
        demand.write_word += tensor->output ? access->count * tensor->size_word : 0;
    }
    demand.read_word /= used;
    demand.write_word /= used;
    return demand;
}

void interstellar_sum(const struct interstellar_compiled *c, const struct mapping *mapping,
                      const struct interstellar_prices *prices, struct evaluation *out)
{
    struct interstellar_demand demand[ARCH_LEVEL_MAX];
    memset(out, 0, sizeof *out);
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        const double used = used_at(mapping, l);
        demand[l] = demand_of(c, prices, l, used);
        for (uint32_t t = 0; t < c->reuse.n_tensor; t++) {
            out->level_energy_j[l] += prices->level[l].access[t].energy_j;
            out->network_energy_j[l] += prices->level[l].hops[t].near_j;
            for (uint32_t k = 0; k < prices->level[l].n_dimension; k++)
                out->network_energy_j[l] += prices->level[l].hops[t].far_j[k];
        }
        out->level_byte[l] =
            (demand[l].read_word + demand[l].write_word) * used * c->base.arch.level[l].word_bit / 8;
    }
    interstellar_total(c, mapping, demand, out);
}

enum dse_status interstellar_detail(const struct evaluator *evaluator, const struct mapping *mapping,
                                    struct arena *arena, struct evaluation_detail *out, struct dse_error *err)
{
    const struct interstellar_compiled *c = interstellar_of(evaluator);
    const struct architecture *arch = &c->base.arch;
    struct interstellar_prices prices;
    struct misfit_info fit;
    (void)arena;
    memset(&out->total, 0, sizeof out->total);
    memset(out->level, 0, arch->n_level * sizeof out->level[0]);
    if (!interstellar_fits(c, mapping, &fit)) {
        out->total.fit = fit;
        return DSE_OK;
    }
    interstellar_price(c, mapping, &prices);
    interstellar_sum(c, mapping, &prices, &out->total);
    out->total.fit = fit;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const double used = used_at(mapping, l), cycle = (double)out->total.compute_cycle;
        const struct interstellar_demand demand = demand_of(c, &prices, l, used);
        out->level[l].slowdown = slowdown_of(&arch->level[l], &demand, cycle);
        out->level[l].cycle = (uint64_t)fmin(ceil(cycle / out->level[l].slowdown), 0x1p62);
        for (uint32_t t = 0; t < c->reuse.n_tensor; t++) {
            fill_access(&prices.level[l].access[t], &c->reuse.tensor[t], used, &out->level[l].tensor[t]);
            fill_network(&prices, mapping, l, t, &c->reuse.tensor[t], used, &out->level[l].network[t]);
        }
    }
    if (!isfinite(out->total.energy_j) || out->total.energy_j < 0)
        return dse_fail(err, DSE_INTERNAL, "energy %g J is out of range", out->total.energy_j);
    return DSE_OK;
}
