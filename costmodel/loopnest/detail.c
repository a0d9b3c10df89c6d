/* The plain evaluation: turns the traffic of each tensor into reads, fills and updates, prices them, and
 * checks that no number is negative or lost. */
#include <math.h>
#include <string.h>

#include "costmodel/loopnest/compiled.h"
#include "costmodel/loopnest/plain.h"

/* Timeloop rounds counts half up. Below 0 lies only an output whose bounding box has words that no child
 * touches (strides in its projection), where less arrives than the partition: nothing is read back then. */
static uint64_t rounded(double x)
{
    return x > 0 ? (uint64_t)floor(x + 0.5) : 0;
}

static uint64_t blocks(uint64_t words, uint32_t block_word)
{
    return (words + block_word - 1) / block_word;
}

/* Reads, fills, updates per instance (docs/cost-model.md, "Counts"). */
static void count_tensor(const struct level_traffic *traffic, bool read_write, bool outermost,
                         struct tensor_counts *out)
{
    out->keep = traffic->keep;
    out->capacity_word = traffic->tile_word;
    out->partition_word = traffic->partition_word;
    if (!traffic->keep)
        return;
    double served = traffic->content + traffic->peer, arrived = traffic->arriving + traffic->peer;
    double first =
        (double)traffic->partition_word; /* first updates need no old value, first arrivals no fill */
    if (read_write) {
        out->updates = rounded(traffic->content);
        out->reads = out->temporal_reductions = rounded(served - first);
        out->fills = rounded(outermost ? arrived : arrived - first);
    } else {
        out->reads = rounded(served);
        out->fills = (uint64_t)arrived; /* truncated: quirk 6 */
    }
    out->address_generations = (read_write ? out->updates : out->reads) + out->fills;
}

/* docs/cost-model.md, "Energy of levels and MACs". */
static void price_tensor(const struct compiled *evaluator, const struct nest *nest, uint32_t l,
                         struct tensor_counts *out)
{
    const struct storage_level *level = &evaluator->base.arch.level[l];
    uint64_t used = nest->x_used[l] * nest->y_used[l];
    out->instances_used = used;
    out->clusters_used = used < evaluator->n_cluster[l] ? used : evaluator->n_cluster[l];
    double sharing = (double)used / (double)out->clusters_used;
    double instance_j = ((double)blocks(out->reads, level->block_word) * level->read_energy_j +
                         (double)blocks(out->fills, level->block_word) * level->write_energy_j +
                         (double)blocks(out->updates, level->block_word) * level->update_energy_j) /
                        sharing;
    out->access_energy_j = instance_j * (double)used;
    out->address_energy_j =
        (double)out->address_generations * level->address_energy_j * (double)out->clusters_used;
}

/* Bandwidth throttling in Timeloop's operation order (docs/cost-model.md, "Time and fit"). */
static void time_level(const struct storage_level *level, uint64_t compute_cycle, uint32_t n_tensor,
                       struct level_detail *out)
{
    double read = 0, write = 0, cycles = (double)compute_cycle;
    for (uint32_t t = 0; t < n_tensor; t++) {
        read += (double)out->tensor[t].reads / cycles;
        write += (double)(out->tensor[t].fills + out->tensor[t].updates) / cycles;
    }
    out->slowdown = architecture_slowdown(level, read, write);
    out->cycle = (uint64_t)ceil(cycles / out->slowdown);
}

/* docs/cost-model.md, "Energy of networks". */
static enum dse_status price_network(const struct storage_level *level, const struct level_traffic *traffic,
                                     bool read_write, uint64_t instances, struct arena *arena,
                                     struct network_counts *out, struct dse_error *err)
{
    double hops = 0, router_words = 0;
    int64_t reductions = 0; /* a record may take away: twice its accesses can be below the partition */
    double first = fmin((double)traffic->partition_word, traffic->content); /* see `rounded` */
    out->fanout = traffic->fanout;
    out->link_transfers = (uint64_t)traffic->link_transfers;
    out->n_record = traffic->n_record;
    out->record = arena_alloc(arena, traffic->n_record ? traffic->n_record : 1, sizeof *out->record);
    DSE_TRY(arena_check(arena, "multicast records", err));
    for (uint32_t k = 0; k < traffic->n_record; k++) {
        const struct access_record *record = &traffic->record[k];
        double ingress = record->accesses;
        if (read_write && !level->reduces)
            ingress = 2 * ingress - first;
        out->record[k] = (struct ingress_record){record->multicast, record->scatter, ingress};
        if (record->multicast > out->max_multicast)
            out->max_multicast = record->multicast;
        if (read_write)
            reductions += (int64_t)((double)(record->multicast - 1) * ingress);
        out->ingresses += ingress;
        if (ingress > 0) {
            router_words += floor((1 + floor(record->hops / ingress)) * ingress);
            hops += record->hops;
        }
    }
    out->spatial_reductions = reductions > 0 ? (uint64_t)reductions : 0;
    out->average_hops = out->ingresses > 0 ? hops / out->ingresses : 0;
    out->energy_j = (hops * level->hop_energy_j + router_words * level->router_energy_j +
                     out->ingresses * level->ingress_energy_j) *
                    (double)instances;
    out->link_energy_j =
        (double)out->link_transfers * (level->hop_energy_j + 2 * level->router_energy_j) * (double)instances;
    return DSE_OK;
}

/* No negative, wrapped or non-finite number, and parts that add up: broken only by a mistake of ours. */
static enum dse_status check_invariants(const struct compiled *evaluator,
                                        const struct evaluation_detail *detail, struct dse_error *err)
{
    const struct evaluation *total = &detail->total;
    const uint64_t wrapped = (uint64_t)1 << 62;
    double sum = total->energy_mac_j + total->energy_leakage_j;
    for (uint32_t l = 0; l < evaluator->base.arch.n_level; l++) {
        sum += total->level_energy_j[l] + total->network_energy_j[l];
        for (uint32_t t = 0; t < evaluator->base.problem.n_tensor; t++) {
            const struct tensor_counts *counts = &detail->level[l].tensor[t];
            if (counts->reads > wrapped || counts->fills > wrapped || counts->updates > wrapped)
                return dse_fail(err, DSE_INTERNAL, "count of %s at %s out of range",
                                evaluator->base.problem.tensor[t].name, evaluator->base.arch.level[l].name);
        }
        if (!(total->level_energy_j[l] >= 0) || !(total->network_energy_j[l] >= 0))
            return dse_fail(err, DSE_INTERNAL, "negative energy at %s", evaluator->base.arch.level[l].name);
    }
    if (!isfinite(total->energy_j) || total->energy_j < 0 ||
        fabs(sum - total->energy_j) > 1e-9 * total->energy_j)
        return dse_fail(err, DSE_INTERNAL, "energy %g J is not the sum of its parts %g J", total->energy_j,
                        sum);
    if (total->latency_cycle < total->compute_cycle || total->latency_cycle > wrapped)
        return dse_fail(err, DSE_INTERNAL, "cycle count out of range");
    return DSE_OK;
}

/* Only an output with strides, sums or a dimension twice in its projection may receive fewer words than
 * its partition (see `rounded`); any other would be hidden by stopping at 0. With link transfers peers are
 * undercounted (docs/cost-model.md, "Counts"), so nothing is asked. */
static enum dse_status check_partition(const struct compiled *evaluator, const struct tensor_traffic *traffic,
                                       uint32_t t, struct dse_error *err)
{
    bool plain = evaluator->base.problem.tensor[t].read_write && evaluator->plan[t].n_sum == 0 &&
                 (uint32_t)__builtin_popcount(evaluator->code[t].relevant) == evaluator->plan[t].n_plain;
    for (uint32_t l = 0; plain && !evaluator->base.arch.link_transfers && l < evaluator->base.arch.n_level;
         l++) {
        const struct level_traffic *level = &traffic->level[l];
        double first = (double)level->partition_word - 0.5;
        if (level->keep && (level->content < first || (l != traffic->outermost && level->arriving < first)))
            return dse_fail(err, DSE_INTERNAL, "fewer words of %s arrive at %s than are written there",
                            evaluator->base.problem.tensor[t].name, evaluator->base.arch.level[l].name);
    }
    return DSE_OK;
}

static enum dse_status detail_tensor(const struct compiled *evaluator, const struct mapping *mapping,
                                     const struct nest *nest, uint32_t t, struct arena *arena,
                                     struct evaluation_detail *out, struct dse_error *err)
{
    struct tensor_traffic traffic;
    bool read_write = evaluator->base.problem.tensor[t].read_write;
    DSE_TRY(traffic_compute(evaluator, mapping, nest, t, arena, &traffic, err));
    DSE_TRY(check_partition(evaluator, &traffic, t, err));
    for (uint32_t l = 0; l < evaluator->base.arch.n_level; l++) {
        const struct storage_level *level = &evaluator->base.arch.level[l];
        struct tensor_counts *counts = &out->level[l].tensor[t];
        count_tensor(&traffic.level[l], read_write, l == traffic.outermost, counts);
        price_tensor(evaluator, nest, l, counts);
        DSE_TRY(price_network(level, &traffic.level[l], read_write, nest->x_used[l] * nest->y_used[l], arena,
                              &out->level[l].network[t], err));
        out->total.level_energy_j[l] += counts->access_energy_j + counts->address_energy_j;
        out->total.network_energy_j[l] +=
            out->level[l].network[t].energy_j + out->level[l].network[t].link_energy_j;
        out->total.level_byte[l] += (double)(counts->reads + counts->fills + counts->updates) *
                                    (double)counts->instances_used * level->word_bit / 8;
    }
    return DSE_OK;
}

/* Level by level, for the latency (docs/cost-model.md, "Leakage"). */
static double leakage_j(const struct architecture *arch, const struct nest *nest,
                        const struct evaluation *total)
{
    double energy_j = total->latency_s * arch->mac.leakage_w *
                      (double)(arch->power_gating ? total->n_mac_used : arch->mac.instances);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        const uint64_t awake = arch->power_gating ? nest->x_used[l] * nest->y_used[l] : level->instances;
        energy_j += total->latency_s * level->leakage_w * (double)awake;
    }
    return energy_j;
}

enum dse_status plain_detail(const struct evaluator *base, const struct mapping *mapping, struct arena *arena,
                             struct evaluation_detail *out, struct dse_error *err)
{
    const struct compiled *evaluator = compiled_of(base);
    const struct problem *problem = &evaluator->base.problem;
    const struct architecture *arch = &evaluator->base.arch;
    struct evaluation *total = &out->total;
    struct nest nest;
    memset(total, 0, sizeof *total);
    memset(out->level, 0, arch->n_level * sizeof out->level[0]);
    if (!nest_build(problem, arch, mapping, &nest, &total->fit) ||
        !nest_fits(problem, arch, mapping, &nest, &total->fit))
        return DSE_OK;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        DSE_TRY(detail_tensor(evaluator, mapping, &nest, t, arena, out, err));
    uint64_t latency = 0;
    total->compute_cycle = total->latency_cycle = nest.compute_cycle;
    total->n_mac_used = nest.mac_x_used * nest.mac_y_used;
    total->n_compute = (double)total->compute_cycle * (double)total->n_mac_used;
    total->energy_mac_j = total->energy_j = total->n_compute * arch->mac.energy_j;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        time_level(&arch->level[l], nest.compute_cycle, problem->n_tensor, &out->level[l]);
        if (out->level[l].cycle > total->latency_cycle)
            total->latency_cycle = out->level[l].cycle;
        latency += arch->level[l].fill_latency_cycle + arch->level[l].drain_latency_cycle;
        total->energy_j += total->level_energy_j[l] + total->network_energy_j[l];
    }
    total->latency_cycle += latency;
    total->utilization = total->n_compute / (double)arch->mac.instances / (double)total->latency_cycle;
    total->latency_s = (double)total->latency_cycle / arch->clock_hz;
    total->energy_leakage_j = leakage_j(arch, &nest, total);
    total->energy_j += total->energy_leakage_j;
    total->edp_js = total->energy_j * total->latency_s;
    return check_invariants(evaluator, out, err);
}
