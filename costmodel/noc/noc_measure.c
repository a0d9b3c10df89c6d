/* The measure `noc`: the latency of a mapping on the simulated network-on-chip. */
#include "costmodel/noc/noc.h"

/* The driver keeps 3 KB of each. */
enum { NOC_CHOICE_MAX = 1000 };

static const struct metric metric[] = {
    {.name = "noc_latency_cycle",
     .unit = "cycle",
     .sentence = "Latency on the simulated network-on-chip",
     .type = METRIC_U64,
     .fold = METRIC_SUM,
     .better = METRIC_LESS},
};

static enum dse_status check(const struct architecture *arch, struct dse_error *err)
{
    struct noc_config config;
    uint32_t noc_level;
    return noc_config_of(arch, &config, &noc_level, err);
}

/* What the simulator refuses (no mesh, more PEs than it has, too many transactions) is no failure of the
 * mapping: the value is missing. */
static enum dse_status compute(const struct problem *problem, const struct architecture *arch,
                               const struct mapping *mapping, uint64_t limit, const atomic_int *cancel,
                               struct arena *arena, union metric_value *value, struct dse_error *err)
{
    struct noc_latency latency;
    struct dse_error inner = {0};
    enum dse_status status = noc_latency_of(problem, arch, mapping, limit, cancel, arena, &latency, &inner);
    if (status == DSE_OK)
        value[0].u64 = latency.cycle;
    if (status != DSE_NO_MEMORY && status != DSE_INTERNAL && status != DSE_INTERRUPTED)
        return DSE_OK;
    return dse_fail(err, status, "network-on-chip simulation: %s", inner.text);
}

const struct measure measure_noc = {
    .group = {"noc", metric, 1},
    .limit = "max_steps",
    .limit_unit = "step",
    .limit_standard = NOC_LATENCY_STEPS,
    .check = check,
    .compute = compute,
    .guess = noc_latency_guess,
    .choice = "simulations",
    .choice_highest = NOC_CHOICE_MAX,
    .choice_metric = {.name = "noc_simulations",
                      .unit = "1",
                      .sentence = "Mappings that were simulated to choose this one",
                      .type = METRIC_U64},
};
