/* The engine soma beside the published program: cost (energy times latency) over that of
 * tests/known/soma/public.csv at every point, geometric mean and largest of ResNet-50's grid, and CPU seconds
 * on one thread. Published rules (compat).
 *   bench_soma_search [NETWORK [BATCH [seed=NUMBER] [OPTION=VALUE]...]]
 * NETWORK "-": all; "ENGINE:NETWORK": another engine. Another batch than 1 has no published numbers; cycles
 * and mJ are printed instead. Ends with 1 when nothing is found somewhere. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/yaml.h"
#include "costmodel/fused/core_cache.h"
#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "engines/driver/engine.h"
#include "engines/soma/soma_metrics.h"

enum { OPTION_MAX = 64, POINT_MAX = 64, COST_MAX = 1 << 20 };

struct point {
    char network[64];
    unsigned buffer_mb, dram_gb_s;
    double cost[2]; /* before and after the published second stage, pJ cycles */
};

struct total {
    double log_sum, largest, cpu_s;
    int n;
};

struct bench {
    struct point point[POINT_MAX];
    int n_point;
    struct core_cache *cache;
    const struct engine *engine;
    double option[OPTION_MAX];
    uint32_t batch;
    uint64_t seed;
    struct total total;
};

static bool read_points(struct bench *b)
{
    char line[256];
    FILE *file = fopen("tests/known/soma/public.csv", "r");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file) && b->n_point < POINT_MAX) {
        struct point point;
        double cycles = 0, energy = 0;
        unsigned stage = 0;
        if (sscanf(line, "%63[^,],%u,%u,stage%u,%lf,%lf", point.network, &point.buffer_mb, &point.dram_gb_s,
                   &stage, &cycles, &energy) != 6)
            continue;
        if (stage == 1)
            b->point[b->n_point] = point;
        if (stage == 2)
            b->point[b->n_point++].cost[1] = cycles * energy;
        else
            b->point[b->n_point].cost[0] = cycles * energy;
    }
    (void)fclose(file);
    return b->n_point > 0;
}

static enum dse_status read_machine(const struct point *point, struct architecture *arch,
                                    struct dse_error *err)
{
    char capacity[32], bandwidth[32];
    struct yaml_doc doc;
    (void)snprintf(capacity, sizeof capacity, "%u MiB", point->buffer_mb);
    (void)snprintf(bandwidth, sizeof bandwidth, "%u GB/s", point->dram_gb_s);
    const struct arch_override override[] = {{"GBUF.capacity", capacity}, {"DRAM.bandwidth", bandwidth}};
    DSE_TRY(yaml_read(&doc, "experiments/architectures/soma_edge.yaml", err));
    enum dse_status status = architecture_build(&doc, override, 2, arch, err);
    yaml_doc_free(&doc);
    return status;
}

static void print(struct bench *b, const struct point *point, const struct engine_result *result,
                  double cpu_s)
{
    char name[128];
    const struct engine_schedule *s = &result->schedule;
    (void)snprintf(name, sizeof name, "%s/%s/%u/%uMB/%uGBs", b->engine->name, point->network, b->batch,
                   point->buffer_mb, point->dram_gb_s);
    double ratio = s->energy_j * 1e12 * (double)s->latency_cycle / point->cost[1];
    if (b->batch == 1)
        printf("%s/cost,%.5f,of published\n%s/stage1/cost,%.5f,of published\n", name, ratio, name,
               soma_metrics_get(s).stage1_energy_j * 1e12 * (double)soma_metrics_get(s).stage1_latency_cycle /
                   point->cost[0]);
    else
        printf("%s/cycles,%.0f,cycles\n%s/energy,%.6f,mJ\n", name, (double)s->latency_cycle, name,
               s->energy_j * 1e3);
    printf("%s/cpu,%.3f,s\n", name, cpu_s);
    if (strcmp(point->network, "resnet50_soma") != 0)
        return;
    b->total.log_sum += log(ratio);
    b->total.largest = fmax(b->total.largest, ratio);
    b->total.cpu_s += cpu_s;
    b->total.n++;
}

static enum dse_status run(struct bench *b, const struct point *point, struct dse_error *err)
{
    char path[128];
    struct network network;
    struct architecture arch;
    struct engine_result *result = malloc(sizeof *result);
    struct arena arena;
    arena_init(&arena);
    if (!result)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory");
    (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", point->network);
    DSE_TRY(read_machine(point, &arch, err));
    DSE_TRY(network_read(path, &network, err));
    const struct engine_task task = {.network = &network,
                                     .architecture = &arch,
                                     .batch = b->batch,
                                     .objective = {1, 1},
                                     .option = b->option,
                                     .seed = b->seed,
                                     .key = (uint64_t)point->buffer_mb << 32 | point->dram_gb_s,
                                     .core_cache = b->cache,
                                     .n_thread = 1};
    double start_s = clock_thread_s();
    enum dse_status status = engine_solve(b->engine, &task, &arena, result, err);
    double cpu_s = clock_thread_s() - start_s;
    if (status == DSE_OK && !result->feasible)
        status =
            dse_fail(err, DSE_BAD_INPUT, "%s, %u MB: %s", point->network, point->buffer_mb, result->reason);
    if (status == DSE_OK)
        print(b, point, result, cpu_s);
    (void)fflush(stdout);
    network_free(&network);
    arena_free(&arena);
    free(result);
    return status;
}

static bool wanted(const char *network, const struct point *point)
{
    return strcmp(network, "-") == 0 || strcmp(network, point->network) == 0;
}

static enum dse_status set_options(struct bench *b, int n, char **text, struct dse_error *err)
{
    engine_option_defaults(b->engine, b->option);
    DSE_TRY(engine_option_set(b->engine, "compat", "1", b->option, err));
    for (int i = 0; i < n; i++) {
        char *value = strchr(text[i], '=');
        if (!value)
            return dse_fail(err, DSE_BAD_USAGE, "%s: no =", text[i]);
        *value = '\0';
        if (strcmp(text[i], "seed") == 0)
            b->seed = strtoull(value + 1, NULL, 10);
        else
            DSE_TRY(engine_option_set(b->engine, text[i], value + 1, b->option, err));
    }
    return DSE_OK;
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct dse_error err = {0};
    const char *network = argc > 1 ? argv[1] : "-", *colon = strchr(network, ':');
    char engine[32] = "soma";
    if (colon)
        (void)snprintf(engine, sizeof engine, "%.*s", (int)(colon - network), network);
    network = colon ? colon + 1 : network;
    b.batch = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    b.engine = engine_find(engine);
    int failed = !b.engine || b.engine->n_option > OPTION_MAX || !read_points(&b) ||
                 core_cache_new(COST_MAX, &b.cache, &err) != DSE_OK ||
                 set_options(&b, argc > 3 ? argc - 3 : 0, argv + 3, &err) != DSE_OK;
    for (int i = 0; i < b.n_point && !failed; i++)
        if (wanted(network, &b.point[i]) && run(&b, &b.point[i], &err) != DSE_OK) {
            (void)fprintf(stderr, "bench_soma_search: %s\n", err.text);
            failed = b.batch == 1;
        }
    core_cache_free(b.cache);
    if (b.total.n > 0 && !failed) {
        printf("%s/resnet50_soma/cost/geomean,%.5f,of published\n", engine, exp(b.total.log_sum / b.total.n));
        printf("%s/resnet50_soma/cost/largest,%.5f,of published\n", engine, b.total.largest);
        printf("%s/resnet50_soma/cpu,%.2f,s\n", engine, b.total.cpu_s);
    } else if (failed && err.text[0]) {
        (void)fprintf(stderr, "bench_soma_search: %s\n", err.text);
    }
    return failed;
}
