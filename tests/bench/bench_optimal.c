/* Engine optimal: processor seconds to the proof of ResNet-50's distinct layers on five machines, for energy,
 * latency and energy x delay. Of each the median, the longest, and the shares proved, within 0.1 s and
 * within 1 s; a layer is given up after so many seconds of the clock. Prints "name,value,unit". */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "costmodel/readers/readers.h"
#include "dse/solve/workload.h"
#include "tests/support/engine_case.h"

enum { LAYER_MAX = 64 };

static const struct {
    const char *name;
    double give_up_s;
} machine[] = {
    {"simba", 10}, {"eyeriss_16x16", 10}, {"mindmappings", 10}, {"soma_edge", 10}, {"tpu_128x128", 2}};
static const char *const objective[] = {"edp", "energy", "latency"};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static enum dse_status measure(const struct workload *work, const struct architecture *arch, double give_up_s,
                               const char *goal, struct dse_error *err)
{
    double second[LAYER_MAX];
    uint32_t n = work->n_problem < LAYER_MAX ? work->n_problem : LAYER_MAX, proved = 0, quick = 0, fast = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct engine_task task = {.seed = 1, .key = work->problem_key[i], .budget.max_seconds = give_up_s};
        struct engine_result result;
        DSE_TRY(objective_parse(goal, &task.objective, err));
        const double start_s = clock_thread_s();
        DSE_TRY(engine_case_solve("optimal", NULL, 0, &work->problem[i], arch, task, &result, err));
        second[i] = clock_thread_s() - start_s;
        const bool is_proved = result.stop == STOP_OPTIMAL;
        proved += is_proved;
        fast += is_proved && second[i] <= 0.1;
        quick += is_proved && second[i] <= 1;
    }
    qsort(second, n, sizeof *second, by_value);
    const char *head = arch->name;
    printf("optimal/%s/%s/median,%.4f,s\n", head, goal, second[n / 2]);
    printf("optimal/%s/%s/longest,%.3f,s\n", head, goal, second[n - 1]);
    printf("optimal/%s/%s/proved,%.1f,%%\n", head, goal, 100.0 * proved / n);
    printf("optimal/%s/%s/proved within 0.1 s,%.1f,%%\n", head, goal, 100.0 * fast / n);
    printf("optimal/%s/%s/proved within 1 s,%.1f,%%\n", head, goal, 100.0 * quick / n);
    (void)fflush(stdout);
    return DSE_OK;
}

static enum dse_status run(const struct workload *work, struct dse_error *err)
{
    for (size_t m = 0; m < sizeof machine / sizeof machine[0]; m++) {
        char path[128];
        struct architecture arch;
        snprintf(path, sizeof path, "experiments/architectures/%s.yaml", machine[m].name);
        DSE_TRY(architecture_read(path, &arch, err));
        for (size_t o = 0; o < sizeof objective / sizeof objective[0]; o++)
            DSE_TRY(measure(work, &arch, machine[m].give_up_s, objective[o], err));
    }
    return DSE_OK;
}

int main(void)
{
    struct network network = {0};
    struct workload work = {0};
    struct dse_error err;
    enum dse_status status = network_read("experiments/networks/resnet50.yaml", &network, &err);
    if (status == DSE_OK)
        status = workload_init(&work, &network, 1, NULL, 0, 0, &err);
    if (status == DSE_OK)
        status = run(&work, &err);
    if (status != DSE_OK)
        fprintf(stderr, "bench_optimal: %s\n", err.text);
    workload_free(&work);
    network_free(&network);
    return status != DSE_OK;
}
