/* The fast evaluation: the totals of one mapping without an allocation, equal to those of detail.c. A
 * mapping that does not fit goes through the plain checks again, which say why. */
#include <math.h>
#include <stdlib.h>

#include "costmodel/loopnest/compiled.h"
#include "costmodel/loopnest/fast.h"
#include "costmodel/loopnest/plain.h"

struct workspace {
    struct eval_workspace base;
    uint64_t max_children;
    struct fast_nest nest;
    struct fast_mesh mesh;
    struct fast_counts counts[PROBLEM_TENSOR_MAX][ARCH_LEVEL_MAX];
};

enum dse_status fast_workspace_new(const struct evaluator *evaluator, struct eval_workspace **out,
                                   struct dse_error *err)
{
    struct workspace *made = calloc(1, sizeof *made);
    if (!made)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for an evaluation workspace");
    made->max_children = compiled_of(evaluator)->max_children;
    enum dse_status status = fast_mesh_init(&made->mesh, made->max_children, err);
    if (status == DSE_OK)
        *out = &made->base;
    else
        free(made);
    return status;
}

bool fast_workspace_fits(const struct eval_workspace *workspace, const struct evaluator *evaluator)
{
    return ((const struct workspace *)workspace)->max_children == compiled_of(evaluator)->max_children;
}

void fast_workspace_delete(struct eval_workspace *workspace)
{
    fast_mesh_free(&((struct workspace *)workspace)->mesh);
    free(workspace);
}

static uint64_t blocks(const struct compiled *evaluator, uint32_t l, uint64_t words)
{
    uint64_t block = evaluator->base.arch.level[l].block_word;
    int shift = evaluator->block_shift[l];
    return shift >= 0 ? (words + block - 1) >> shift : (words + block - 1) / block;
}

/* The accesses of one instance, without the generation of addresses, and how many of these there are. */
static inline double accesses_j(const struct compiled *evaluator, uint32_t l,
                                const struct fast_counts *counts)
{
    const struct storage_level *level = &evaluator->base.arch.level[l];
    return (double)blocks(evaluator, l, counts->reads) * level->read_energy_j +
           (double)blocks(evaluator, l, counts->fills) * level->write_energy_j +
           (double)blocks(evaluator, l, counts->updates) * level->update_energy_j;
}

static inline uint64_t addresses(const struct compiled *evaluator, uint32_t t,
                                 const struct fast_counts *counts)
{
    return (t == evaluator->output ? counts->updates : counts->reads) + counts->fills;
}

/* Energy, bytes and bandwidth-limited cycles of one level (docs/cost-model.md, "Time and fit" and "Energy
 * of levels and MACs"); returns the cycles. */
static uint64_t price_level(const struct compiled *evaluator, const struct workspace *workspace, uint32_t l,
                            uint32_t keep, struct evaluation *out)
{
    const struct storage_level *level = &evaluator->base.arch.level[l];
    const struct fast_nest *nest = &workspace->nest;
    uint64_t used = nest->used_x[l] * nest->used_y[l], word = 0, address = 0;
    double access_j = 0, network_j = 0, read = 0, write = 0, cycles = (double)nest->compute_cycle;
    uint64_t clusters = used < evaluator->n_cluster[l] ? used : evaluator->n_cluster[l];
    for (uint32_t t = 0; evaluator->network_costs[l] && t < evaluator->base.problem.n_tensor; t++)
        network_j += workspace->counts[t][l].network_j;
    for (uint32_t left = keep; left; left &= left - 1) {
        uint32_t t = (uint32_t)__builtin_ctz(left);
        const struct fast_counts *counts = &workspace->counts[t][l];
        word += counts->reads + counts->fills + counts->updates;
        access_j += accesses_j(evaluator, l, counts);
        address += addresses(evaluator, t, counts);
        if (evaluator->bandwidth_limited[l]) {
            read += (double)counts->reads / cycles;
            write += (double)(counts->fills + counts->updates) / cycles;
        }
    }
    /* An instance's energy is divided by used / clusters, and there are `used` of them. */
    out->level_energy_j[l] =
        access_j * (double)clusters + (double)address * level->address_energy_j * (double)clusters;
    out->network_energy_j[l] = network_j;
    out->level_byte[l] = (double)word * (double)used * level->word_bit / 8;
    if (!evaluator->bandwidth_limited[l])
        return nest->compute_cycle;
    const double slowdown = architecture_slowdown(level, read, write);
    return slowdown < 1 ? (uint64_t)ceil(cycles / slowdown) : nest->compute_cycle;
}

double fast_tensor_energy(const struct evaluator *base, const struct eval_workspace *scratch, uint32_t l,
                          uint32_t t)
{
    const struct compiled *evaluator = compiled_of(base);
    const struct workspace *workspace = (const struct workspace *)scratch;
    const struct fast_counts *counts = &workspace->counts[t][l];
    const uint64_t used = workspace->nest.used_x[l] * workspace->nest.used_y[l];
    const uint64_t clusters = used < evaluator->n_cluster[l] ? used : evaluator->n_cluster[l];
    return (accesses_j(evaluator, l, counts) +
            (double)addresses(evaluator, t, counts) * evaluator->base.arch.level[l].address_energy_j) *
           (double)clusters;
}

/* The plain checks say why a mapping does not fit. */
static void explain_misfit(const struct compiled *evaluator, const struct mapping *mapping,
                           struct evaluation *out)
{
    struct nest nest;
    if (nest_build(&evaluator->base.problem, &evaluator->base.arch, mapping, &nest, &out->fit))
        nest_fits(&evaluator->base.problem, &evaluator->base.arch, mapping, &nest, &out->fit);
}

/* After the latency. */
static void add_leakage(const struct architecture *arch, const struct fast_nest *nest, struct evaluation *out)
{
    double used[ARCH_LEVEL_MAX];
    for (uint32_t l = 0; l < arch->n_level; l++)
        used[l] = (double)(nest->used_x[l] * nest->used_y[l]);
    out->energy_leakage_j = architecture_leakage_w(arch, used, (double)nest->mac_used) * out->latency_s;
    out->energy_j += out->energy_leakage_j;
}

bool fast_run(const struct evaluator *base, struct eval_workspace *scratch, const struct mapping *mapping,
              struct evaluation *out)
{
    const struct compiled *evaluator = compiled_of(base);
    struct workspace *workspace = (struct workspace *)scratch;
    const struct architecture *arch = &evaluator->base.arch;
    struct fast_nest *nest = &workspace->nest;
    if (mapping->n_level != arch->n_level || mapping->n_dim != evaluator->base.problem.n_dim ||
        !fast_nest_build(evaluator, mapping, nest)) {
        explain_misfit(evaluator, mapping, out);
        return false;
    }
    for (uint32_t t = 0; t < evaluator->base.problem.n_tensor; t++)
        fast_traffic(evaluator, mapping, nest, t, &workspace->mesh, workspace->counts[t]);
    out->fit = (struct misfit_info){.what = FITS, .level = -1, .dim = -1};
    out->compute_cycle = out->latency_cycle = nest->compute_cycle;
    out->n_mac_used = nest->mac_used;
    out->n_compute = (double)nest->compute_cycle * (double)nest->mac_used;
    out->energy_mac_j = out->energy_j = out->n_compute * arch->mac.energy_j;
    uint64_t latency = 0;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        uint64_t cycle = price_level(evaluator, workspace, l, mapping->level[l].keep, out);
        if (cycle > out->latency_cycle)
            out->latency_cycle = cycle;
        latency += arch->level[l].fill_latency_cycle + arch->level[l].drain_latency_cycle;
        out->energy_j += out->level_energy_j[l] + out->network_energy_j[l];
    }
    out->latency_cycle += latency;
    out->utilization = out->n_compute / ((double)arch->mac.instances * (double)out->latency_cycle);
    out->latency_s = (double)out->latency_cycle / arch->clock_hz;
    out->energy_leakage_j = 0;
    if (evaluator->leaks)
        add_leakage(arch, nest, out);
    out->edp_js = out->energy_j * out->latency_s;
    return true;
}
