/* The engine soma-plus beside soma at the same seeds (compat rules, edge chip, one thread): by how much its
 * results differ between seeds at most, at how many pairs it is worse, and what both take. 2 seeds at points
 * that walks were caught at; with SPREAD_SEEDS=20 in the environment so many seeds, at every size of the
 * buffer. */
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

enum { OPTION_MAX = 64, COST_MAX = 1 << 20, SEED_MAX = 100 };

static const struct point {
    const char *network, *capacity;
    uint32_t batch;
} point[] = {{"gpt2_small_prefill512", "4 MiB", 4},
             {"gpt2_small_prefill512", "8 MiB", 1},
             {"inception_resnet_v1", "8 MiB", 1},
             {"resnet50_soma", "16 MiB", 4},
             {"randwire_small", "4 MiB", 1}};

static const char *const capacity[] = {"4 MiB", "8 MiB", "16 MiB"};
static const char *const bandwidth[] = {"2 GB/s", "4 GB/s", "16 GB/s", "64 GB/s"};

struct bench {
    struct core_cache *cache;
    double largest; /* spread */
    double plus_s, soma_s;
    int n_worse, n_pair;
};

static enum dse_status solve(struct bench *b, const char *name, const struct engine_task *of, double *cost,
                             double *cpu_s, struct dse_error *err)
{
    const struct engine *engine = engine_find(name);
    struct engine_result *result = malloc(sizeof *result);
    struct engine_task task = *of;
    double option[OPTION_MAX], start_s = clock_thread_s();
    struct arena arena;
    if (!result || !engine || engine->n_option > OPTION_MAX) {
        free(result);
        return dse_fail(err, DSE_INTERNAL, "no memory, or no engine %s", name);
    }
    arena_init(&arena);
    engine_option_defaults(engine, option);
    task.option = option;
    task.core_cache = b->cache;
    enum dse_status status = engine_option_set(engine, "compat", "1", option, err);
    if (status == DSE_OK)
        status = engine_solve(engine, &task, &arena, result, err);
    *cost = status == DSE_OK && result->feasible ? result->cost : INFINITY;
    *cpu_s += clock_thread_s() - start_s;
    arena_free(&arena);
    free(result);
    return status;
}

static enum dse_status run(struct bench *b, struct engine_task *task, uint64_t n_seed, double *spread,
                           struct dse_error *err)
{
    double least = INFINITY, most = 0;
    for (task->seed = 0; task->seed < n_seed; task->seed++) {
        double plus, soma;
        DSE_TRY(solve(b, "soma-plus", task, &plus, &b->plus_s, err));
        DSE_TRY(solve(b, "soma", task, &soma, &b->soma_s, err));
        b->n_worse += plus > soma;
        b->n_pair++;
        least = fmin(least, plus);
        most = fmax(most, plus);
    }
    *spread = most / least - 1;
    b->largest = fmax(b->largest, *spread);
    return DSE_OK;
}

static enum dse_status run_point(struct bench *b, const struct point *p, const char *room, const char *rate,
                                 uint64_t n_seed, struct dse_error *err)
{
    char path[128];
    struct network network;
    struct architecture arch;
    struct yaml_doc doc;
    double spread = 0;
    const struct arch_override set[] = {{"GBUF.capacity", room}, {"DRAM.bandwidth", rate}};
    (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", p->network);
    DSE_TRY(yaml_read(&doc, "experiments/architectures/soma_edge.yaml", err));
    enum dse_status status = architecture_build(&doc, set, 2, &arch, err);
    yaml_doc_free(&doc);
    if (status != DSE_OK)
        return status;
    DSE_TRY(network_read(path, &network, err));
    struct engine_task task = {
        .network = &network, .architecture = &arch, .batch = p->batch, .objective = {1, 1}, .n_thread = 1};
    status = run(b, &task, n_seed, &spread, err);
    network_free(&network);
    if (status == DSE_OK)
        printf("soma-spread/%s/b%u/%s/%s,%.4f,between seeds\n", p->network, p->batch, room, rate, spread);
    (void)fflush(stdout);
    return status;
}

int main(void)
{
    static struct bench b;
    struct dse_error err = {0};
    const char *text = getenv("SPREAD_SEEDS");
    uint64_t n_seed = text ? strtoull(text, NULL, 10) : 2;
    if (n_seed < 1 || n_seed > SEED_MAX) {
        (void)fprintf(stderr, "bench_soma_spread: SPREAD_SEEDS is from 1 to %d\n", SEED_MAX);
        return 1;
    }
    enum dse_status status = core_cache_new(COST_MAX, &b.cache, &err);
    for (size_t k = 0; status == DSE_OK && k < sizeof point / sizeof point[0]; k++)
        for (size_t r = 0; status == DSE_OK && r < sizeof bandwidth / sizeof bandwidth[0]; r++)
            for (size_t c = 0; status == DSE_OK && c < sizeof capacity / sizeof capacity[0]; c++)
                if (text || strcmp(capacity[c], point[k].capacity) == 0)
                    status = run_point(&b, &point[k], capacity[c], bandwidth[r], n_seed, &err);
    core_cache_free(b.cache);
    if (status != DSE_OK) {
        (void)fprintf(stderr, "bench_soma_spread: %s\n", err.text);
        return 1;
    }
    printf("soma-spread/largest,%.4f,between seeds\nsoma-spread/worse,%d,of %d pairs\n", b.largest, b.n_worse,
           b.n_pair);
    printf("soma-spread/cpu,%.2f,of soma\nsoma-spread/cpu,%.1f,s\n", b.plus_s / b.soma_s, b.plus_s);
    return 0;
}
