/* What a price costs through libdse: rows of numbers in a batch and one by one, beside the bare evaluator on
 * the same mappings, with three metrics and with all. ResNet-50's conv4_0_b on simba, one thread. Prints
 * "name,value,unit"; the least of several runs counts. Ratios are of runs next to each other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dse/library/library.h"

enum { N_MAPPING = 500, N_PASS = 20, N_RUN = 15, VALUE_MAX = 64 };

struct bench {
    struct dse_layer *layer;
    struct dse_scratch *scratch;
    struct mapping *mapping; /* (N_MAPPING) */
    int32_t *row;            /* (N_MAPPING, width) */
    double *value;           /* (N_MAPPING, VALUE_MAX) */
    size_t width;
    double sum;
};

static double bare_s(struct bench *b)
{
    struct evaluation e;
    const double start_s = clock_thread_s();
    for (int i = 0; i < N_PASS * N_MAPPING; i++) {
        evaluator_run(b->layer->evaluator, b->scratch->workspace, &b->mapping[i % N_MAPPING], &e);
        b->sum += e.energy_j;
    }
    return clock_thread_s() - start_s;
}

/* `at_once` rows a call, m metrics. */
static double library_s(struct bench *b, size_t at_once, const uint32_t *metric, size_t m)
{
    const double start_s = clock_thread_s();
    for (size_t i = 0; i < N_PASS * N_MAPPING; i += at_once) {
        const size_t at = i % N_MAPPING;
        if (dse_evaluate(b->layer, b->scratch, at_once, b->row + at * b->width, b->width, metric, m,
                         b->value + at * m, NULL, NULL, 0) != 0)
            return -1;
        b->sum += b->value[at * m];
    }
    return clock_thread_s() - start_s;
}

static uint32_t metric_of(const char *name)
{
    uint32_t i = 0;
    while (strcmp(dse_metric(i, NULL, NULL, NULL), name) != 0)
        i++;
    return i;
}

static void measure(struct bench *b)
{
    const uint32_t three[] = {metric_of("latency_cycle"), metric_of("energy_j"), metric_of("edp_js")};
    static const char *const name[] = {"bare", "batch/3 metrics", "batch/all metrics",
                                       "one by one/3 metrics"};
    double least[4] = {1, 1, 1, 1};
    size_t n_metric = 0;
    while (dse_metric(n_metric, NULL, NULL, NULL))
        n_metric++;
    for (int run = 0; run < N_RUN; run++) {
        const double s[4] = {bare_s(b), library_s(b, N_MAPPING, three, 3),
                             library_s(b, N_MAPPING, NULL, n_metric), library_s(b, 1, three, 3)};
        for (int i = 0; i < 4; i++)
            least[i] = s[i] < least[i] ? s[i] : least[i];
    }
    for (int i = 0; i < 4; i++)
        printf("library/%s,%.4f,us/mapping\n", name[i], least[i] / (N_PASS * N_MAPPING) * 1e6);
    for (int i = 1; i < 4; i++)
        printf("library/%s over bare,%.3f,1\n", name[i], least[i] / least[0]);
}

static int prepare(struct bench *b, char *error, size_t size)
{
    struct dse_machine *machine = NULL;
    struct dse_network *network = NULL;
    size_t n = 0;
    int code = dse_machine_open("simba", NULL, 0, &machine, error, size);
    if (code == 0)
        code = dse_network_open("resnet50", NULL, 0, &network, error, size);
    if (code == 0)
        code = dse_layer_open(machine, network, "conv4_0_b", NULL, &b->layer, error, size);
    if (code == 0)
        code = dse_scratch_new(b->layer, &b->scratch, error, size);
    dse_network_free(network);
    dse_machine_free(machine);
    if (code != 0)
        return code;
    b->width = dse_layer_shape(b->layer)->width;
    b->row = calloc(N_MAPPING * b->width, sizeof *b->row);
    b->mapping = calloc(N_MAPPING, sizeof *b->mapping);
    b->value = calloc((size_t)N_MAPPING * VALUE_MAX, sizeof *b->value);
    if (!b->row || !b->mapping || !b->value)
        return DSE_CODE_MEMORY;
    code = dse_draw(b->layer, N_MAPPING, 1, 0, NULL, b->row, b->width, &n, error, size);
    for (size_t i = 0; i < n; i++)
        if (!library_row_read(b->layer, b->row + i * b->width, &b->mapping[i]))
            return DSE_CODE_INTERNAL;
    return code;
}

int main(void)
{
    struct bench b = {0};
    char error[DSE_TEXT_MAX] = "";
    const int code = prepare(&b, error, sizeof error);
    if (code == 0)
        measure(&b);
    else
        fprintf(stderr, "bench_library: %s\n", error);
    free(b.value);
    free(b.mapping);
    free(b.row);
    dse_scratch_free(b.scratch);
    dse_layer_free(b.layer);
    return code != 0 || !(b.sum > 0);
}
