/* CPU time of CoSA's solves per layer on the machine of Table V, on one thread: every layer of the four
 * networks of CoSA's Fig. 6 (tests/known/cosa_layers.csv), objectives of the paper and minmax. Prints
 * "name,value,unit": mean and largest milliseconds per network and over all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/readers/readers.h"
#include "engines/cosa/cosa.h"
#include "tests/support/random_case.h"

enum { NETWORK_MAX = 8 };

struct timing {
    char name[32];
    uint32_t n;
    double sum_s, most_s;
};

static void add(struct timing *timing, double cpu_s)
{
    timing->n++;
    timing->sum_s += cpu_s;
    timing->most_s = fmax(timing->most_s, cpu_s);
}

static void print(const char *form, const struct timing *timing)
{
    printf("cosa_%s/%s/mean,%.3f,ms\n", form, timing->name, 1e3 * timing->sum_s / fmax(timing->n, 1));
    printf("cosa_%s/%s/most,%.3f,ms\n", form, timing->name, 1e3 * timing->most_s);
}

/* "network,name,R,S,P,Q,C,K,N,stride,count" */
static bool read_layer(const char *line, char *network, struct problem *problem)
{
    char name[64], inputs[64];
    uint32_t bound[7], stride;
    if (line[0] == '#' ||
        sscanf(line, "%31[^,],%63[^,],%u,%u,%u,%u,%u,%u,%u,%u", network, name, &bound[0], &bound[1],
               &bound[2], &bound[3], &bound[4], &bound[5], &bound[6], &stride) != 10)
        return false;
    (void)snprintf(inputs, sizeof inputs, "N C P*%u+R Q*%u+S", stride, stride);
    random_case_conv(problem, name, bound, inputs);
    return true;
}

static int map_layers(const struct architecture *arch, const struct cosa_settings *settings, const char *form)
{
    struct timing timing[NETWORK_MAX] = {{.name = ""}}, all = {.name = "all"};
    char line[256], network[32];
    struct dse_error err;
    int failed = 0;
    uint32_t n = 0;
    FILE *file = fopen("tests/known/cosa_layers.csv", "r");
    if (!file)
        return 1;
    while (fgets(line, sizeof line, file)) {
        struct problem problem;
        struct cosa_solution solution;
        struct arena arena;
        if (!read_layer(line, network, &problem))
            continue;
        arena_init(&arena);
        failed |=
            cosa_map(&problem, arch, NULL, settings, &arena, &solution, &err) != DSE_OK || !solution.feasible;
        arena_free(&arena);
        uint32_t i = 0;
        while (i < n && strcmp(timing[i].name, network) != 0)
            i++;
        if (i == n && n + 1 < NETWORK_MAX)
            memcpy(timing[n++].name, network, sizeof network);
        add(&timing[i], solution.cpu_s);
        add(&all, solution.cpu_s);
    }
    failed |= fclose(file) != 0;
    for (uint32_t i = 0; i < n; i++)
        print(form, &timing[i]);
    print(form, &all);
    return failed;
}

int main(void)
{
    struct architecture arch;
    struct cosa_settings settings;
    struct dse_error err;
    if (architecture_read("experiments/architectures/simba_tablev.yaml", &arch, &err) != DSE_OK) {
        fprintf(stderr, "bench_cosa: %s\n", err.text);
        return 1;
    }
    cosa_settings_init(&settings);
    int failed = map_layers(&arch, &settings, "paper");
    settings.form = COSA_FORM_MINMAX;
    settings.halo = COSA_HALO_ALL;
    settings.limits.relative_gap = 1e-3;
    return failed | map_layers(&arch, &settings, "minmax");
}
