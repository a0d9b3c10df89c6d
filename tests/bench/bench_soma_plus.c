/* The engine soma-plus beside the published program (tests/known/soma/public.csv, compat rules, batch 1):
 * energy times latency as a multiple of theirs, the gap to the lower bound, and CPU seconds on one thread;
 * for ResNet-50 the geometric mean over the points where theirs is more than 2 % above what the tiles and
 * tensors of its own fusion take at least. */
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

enum { OPTION_MAX = 64, COST_MAX = 1 << 20 };

/* Of the published fusion of ResNet-50, one tile per layer: 561,481 cycles of computing, 25,855,144 bytes
 * (the reference's table; the oracle r50_8MB_16GBs_s1 has the same). */
static double published_bound(unsigned rate)
{
    return fmax(561481, ceil(25855144.0 / rate));
}

struct row {
    char network[64];
    unsigned buffer_mb, rate, stage;
    double cycle, energy_pj;
};

struct bench {
    const struct engine *engine;
    struct core_cache *cache;
    double option[OPTION_MAX];
    double log_sum, largest, cpu_s; /* ResNet-50 */
    int n_above;
};

static enum dse_status solve(const struct bench *b, const struct row *row, struct arena *arena,
                             struct engine_result *result, double *cpu_s, struct dse_error *err)
{
    char path[128], capacity[32], bandwidth[32];
    struct network network;
    struct architecture arch;
    struct yaml_doc doc;
    (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", row->network);
    (void)snprintf(capacity, sizeof capacity, "%u MiB", row->buffer_mb);
    (void)snprintf(bandwidth, sizeof bandwidth, "%u GB/s", row->rate);
    const struct arch_override set[] = {{"GBUF.capacity", capacity}, {"DRAM.bandwidth", bandwidth}};
    DSE_TRY(yaml_read(&doc, "experiments/architectures/soma_edge.yaml", err));
    enum dse_status status = architecture_build(&doc, set, 2, &arch, err);
    yaml_doc_free(&doc);
    if (status != DSE_OK)
        return status;
    DSE_TRY(network_read(path, &network, err));
    const struct engine_task task = {.network = &network,
                                     .architecture = &arch,
                                     .batch = 1,
                                     .objective = {1, 1},
                                     .option = b->option,
                                     .key = (uint64_t)row->buffer_mb << 32 | row->rate,
                                     .core_cache = b->cache,
                                     .n_thread = 1};
    double start_s = clock_thread_s();
    status = engine_solve(b->engine, &task, arena, result, err);
    *cpu_s = clock_thread_s() - start_s;
    network_free(&network);
    return status;
}

static enum dse_status run(struct bench *b, const struct row *row, struct dse_error *err)
{
    struct engine_result *result = malloc(sizeof *result);
    struct arena arena;
    double cpu_s = 0;
    if (!result)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory");
    arena_init(&arena);
    enum dse_status status = solve(b, row, &arena, result, &cpu_s, err);
    if (status == DSE_OK) {
        char name[128];
        double ratio = result->cost * 1e21 / (row->cycle * row->energy_pj); /* joule seconds; pJ ns */
        (void)snprintf(name, sizeof name, "soma-plus/%s/%uMB/%uGBs", row->network, row->buffer_mb, row->rate);
        printf("%s/cost,%.5f,of published\n%s/bound,%.4f,of cost\n%s/cpu,%.3f,s\n", name, ratio, name,
               result->bound / result->cost, name, cpu_s);
        (void)fflush(stdout);
        if (strcmp(row->network, "resnet50_soma") == 0) {
            b->largest = fmax(b->largest, ratio);
            b->cpu_s += cpu_s;
            if (row->cycle > 1.02 * published_bound(row->rate)) {
                b->log_sum += log(ratio);
                b->n_above++;
            }
        }
    }
    arena_free(&arena);
    free(result);
    return status;
}

static enum dse_status run_all(struct bench *b, FILE *file, const char *network, struct dse_error *err)
{
    char line[256];
    struct row row;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%63[^,],%u,%u,stage%u,%lf,%lf", row.network, &row.buffer_mb, &row.rate, &row.stage,
                   &row.cycle, &row.energy_pj) == 6 &&
            row.stage == 2 && (!network || strcmp(network, row.network) == 0))
            DSE_TRY(run(b, &row, err));
    return DSE_OK;
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct dse_error err = {0};
    FILE *file = fopen("tests/known/soma/public.csv", "r");
    b.engine = engine_find("soma-plus");
    if (!file || !b.engine || b.engine->n_option > OPTION_MAX)
        return 1;
    engine_option_defaults(b.engine, b.option);
    enum dse_status status = engine_option_set(b.engine, "compat", "1", b.option, &err);
    if (status == DSE_OK)
        status = core_cache_new(COST_MAX, &b.cache, &err);
    if (status == DSE_OK)
        status = run_all(&b, file, argc > 1 ? argv[1] : NULL, &err);
    core_cache_free(b.cache);
    (void)fclose(file);
    if (status != DSE_OK) {
        (void)fprintf(stderr, "bench_soma_plus: %s\n", err.text);
        return 1;
    }
    if (b.n_above > 0)
        printf(
            "soma-plus/resnet50_soma/above/cost,%.5f,of published\nsoma-plus/resnet50_soma/largest,%.6f,of "
            "published\nsoma-plus/resnet50_soma/cpu,%.2f,s\n",
            exp(b.log_sum / b.n_above), b.largest, b.cpu_s);
    return 0;
}
