/* A program of somebody else, who has dse.h and libdse.so: prices the mappings that stand one a line on the
 * standard input (latency_cycle, energy_j, edp_js; or why not), then maps the layer and prints what it
 * found. client MACHINE NETWORK LAYER ENGINE [PATH VALUE]... */
#include <dse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char error[DSE_TEXT_MAX];

static int fail(void)
{
    fprintf(stderr, "client: %s\n", error);
    return 1;
}

static uint32_t metric_of(const char *name)
{
    uint32_t i = 0;
    while (strcmp(dse_metric(i, NULL, NULL, NULL), name) != 0)
        i++;
    return i;
}

static int price_lines(const struct dse_layer *layer, int32_t *row)
{
    const size_t width = dse_layer_shape(layer)->width;
    const uint32_t metric[3] = {metric_of("latency_cycle"), metric_of("energy_j"), metric_of("edp_js")};
    struct dse_scratch *scratch;
    char *line = NULL, reason[DSE_TEXT_MAX];
    size_t size = 0, n_fit;
    double value[3];
    int code = dse_scratch_new(layer, &scratch, error, sizeof error);
    while (code == 0 && getline(&line, &size, stdin) > 0) {
        code = dse_mapping_read(layer, line, strlen(line), row, width, error, sizeof error);
        if (code == 0)
            code = dse_evaluate(layer, scratch, 1, row, width, metric, 3, value, &n_fit, error, sizeof error);
        if (code == 0)
            code = dse_explain(layer, row, width, reason, sizeof reason, error, sizeof error);
        if (code == 0 && n_fit)
            printf("%.17g,%.17g,%.17g\n", value[0], value[1], value[2]);
        else if (code == 0)
            printf("%s\n", reason);
    }
    free(line);
    dse_scratch_free(scratch);
    return code;
}

static int map(const struct dse_machine *machine, const struct dse_network *network, const char *layer,
               const char *engine)
{
    const volatile int cancel = 0;
    const struct dse_search search = {.engine = engine, .max_evaluations = 200, .cancel = &cancel};
    struct dse_result *result;
    struct dse_field field;
    int code = dse_map(machine, network, layer, &search, &result, error, sizeof error);
    for (size_t k = 0; code == 0 && dse_result_field(result, 0, k, &field); k++)
        if (strcmp(field.name, "seconds") != 0 && strcmp(field.name, "trace_seconds") != 0) {
            if (field.is_text)
                printf("%s=%s\n", field.name, field.text ? field.text : "");
            else
                printf("%s=%.17g\n", field.name, field.number);
        }
    dse_result_free(result);
    return code;
}

int main(int argc, char **argv)
{
    struct dse_machine *machine = NULL;
    struct dse_network *network = NULL;
    struct dse_layer *layer = NULL;
    if (argc < 5)
        return 2;
    int code = dse_machine_open(argv[1], (const char *const *)(argv + 5), (size_t)(argc - 5) / 2, &machine,
                                error, sizeof error);
    if (code == 0)
        code = dse_network_open(argv[2], NULL, 0, &network, error, sizeof error);
    if (code == 0)
        code = dse_layer_open(machine, network, argv[3], NULL, &layer, error, sizeof error);
    int32_t *row = code == 0 ? calloc(dse_layer_shape(layer)->width, sizeof *row) : NULL;
    if (row)
        code = price_lines(layer, row);
    if (code == 0)
        code = map(machine, network, argv[3], argv[4]);
    free(row);
    dse_layer_free(layer);
    dse_network_free(network);
    dse_machine_free(machine);
    return code == 0 ? 0 : fail();
}
