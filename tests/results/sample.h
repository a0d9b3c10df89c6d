/* A small made-up sweep for the tests of results/: buffer (3) x bandwidth (4, linked with a preset name) x
 * network (2), with one infeasible point, one missing point, layers, levels and traces. The numbers are a
 * smooth made-up model, chosen so that every value can be worked out by hand from the cell: see
 * sample_latency. */
#ifndef TESTS_RESULTS_SAMPLE_H
#define TESTS_RESULTS_SAMPLE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/journal/journal.h"
#include "results/record/schema.h"

enum {
    SAMPLE_BUFFER = 3,
    SAMPLE_BANDWIDTH = 4,
    SAMPLE_NETWORK = 2,
    SAMPLE_CELL = 24,
    SAMPLE_LAYER = 3,
    SAMPLE_LEVEL = 2
};

static const double sample_buffer[SAMPLE_BUFFER] = {65536, 131072, 262144};
static const double sample_bandwidth[SAMPLE_BANDWIDTH] = {4e9, 8e9, 1.6e10, 3.2e10};
static const char *const sample_preset[SAMPLE_BANDWIDTH] = {"LPDDR4 x16", "LPDDR4 x32", "LPDDR4 x64",
                                                            "DDR4, \"fast\""};
static const char *const sample_network[SAMPLE_NETWORK] = {"alexnet", "r\xc3\xa9snet"};
static const char *const sample_layer[SAMPLE_LAYER] = {"conv1", "conv2_a", "fc"};
static const char *const sample_level[SAMPLE_LEVEL] = {"GlobalBuffer", "DRAM"};
static const struct result_coordinate sample_coordinate[] = {
    {"global_buffer_byte", "byte", "Global buffer capacity", sample_buffer, NULL, NULL},
    {"dram_byte_per_s", "byte/s", "DRAM bandwidth", sample_bandwidth, NULL, NULL},
    {"dram_preset", "", "DRAM part", NULL, sample_preset, NULL},
    {"network", "", "Network", NULL, sample_network, NULL},
};
static const struct result_axis sample_axis[] = {
    {SAMPLE_BUFFER, 1, &sample_coordinate[0]},
    {SAMPLE_BANDWIDTH, 2, &sample_coordinate[1]},
    {SAMPLE_NETWORK, 1, &sample_coordinate[3]},
};
static const struct result_schema sample_schema = {
    .name = "sample",
    .title = "A made-up sweep",
    .specification = "name: sample\naxes:\n  - a: [1, 2]\n",
    .specification_hash = 0x0123456789abcdefu,
    .n_axis = 3,
    .axis = sample_axis,
    .n_layer = SAMPLE_LAYER,
    .layer = sample_layer,
    .n_level = SAMPLE_LEVEL,
    .level = sample_level,
    .leaks = true,
    .areas = true,
    .n_point = SAMPLE_CELL - 1,
};

/* Two metrics that not every result has: `wait_cycle` of layers and points, `heat_w` of layers. */
static inline void sample_extra(struct result_schema *schema)
{
    static const struct metric wait = {.name = "wait_cycle",
                                       .unit = "cycle",
                                       .sentence = "Time spent waiting",
                                       .type = METRIC_U64,
                                       .fold = METRIC_SUM,
                                       .better = METRIC_LESS};
    static const struct metric heat = {.name = "heat_w", .unit = "W", .sentence = "Heat"};
    static const struct metric *const extra[] = {&wait, &heat};
    schema->measures = "some more";
    schema->extra[RESULT_POINTS] = schema->extra[RESULT_LAYERS] = extra;
    schema->n_extra[RESULT_POINTS] = 1;
    schema->n_extra[RESULT_LAYERS] = 2;
}

static inline void sample_index(unsigned cell, uint32_t index[3])
{
    index[0] = cell / (SAMPLE_BANDWIDTH * SAMPLE_NETWORK);
    index[1] = cell / SAMPLE_NETWORK % SAMPLE_BANDWIDTH;
    index[2] = cell % SAMPLE_NETWORK;
}

/* Latency falls with bandwidth until 1 ms of compute; traffic falls with the square root of the buffer. */
static inline double sample_latency(const uint32_t index[3])
{
    double traffic = 1e7 * (1 + index[2]) / sqrt(sample_buffer[index[0]] / 65536);
    double transfer = traffic / sample_bandwidth[index[1]];
    return transfer > 1e-3 ? transfer : 1e-3;
}

/* Cell 5 does not fit, cell 23 is not part of the sweep. */
enum { SAMPLE_INFEASIBLE = 5, SAMPLE_MISSING = 23 };

static inline uint64_t sample_key(unsigned cell)
{
    return 0x1000u + cell;
}

/* Fill a point and its layers; `index` (3) and `level` (SAMPLE_LEVEL) back the point. Returns the number of
 * layers. */
static inline size_t sample_point(unsigned cell, struct point_record *point,
                                  struct layer_record layer[SAMPLE_LAYER], uint32_t index[3],
                                  struct level_values level[SAMPLE_LEVEL])
{
    point_record_init(point);
    sample_index(cell, index);
    point->index = index;
    point->key = sample_key(cell);
    point->seconds = 0.25;
    point->evaluations = 1000 + cell;
    point->draws = 5000 + cell;
    point->stop = index[2] == 0 ? "optimal" : "converged";
    if (cell == SAMPLE_INFEASIBLE) {
        point->outcome = RESULT_INFEASIBLE;
        point->reason = "GlobalBuffer needs 133,888 B for Inputs+Outputs, has 131,072 B";
        return 0;
    }
    point->outcome = RESULT_OK;
    point->latency_s = sample_latency(index);
    point->latency_cycle = (uint64_t)(point->latency_s * 1e9);
    point->energy_mac_j = 1e-3;
    point->energy_buffer_j = 1e-9 * sqrt(sample_buffer[index[0]]) * 1e3;
    point->energy_noc_j = 1e-4;
    point->energy_dram_j = 2e-3 / (1 + index[0]);
    point->energy_j =
        point->energy_mac_j + point->energy_buffer_j + point->energy_noc_j + point->energy_dram_j;
    point->edp_js = point->energy_j * point->latency_s;
    point->utilization = 1e-3 / point->latency_s;
    point->accounting = "timeloop";
    point->n_layer_mapped = 4;
    level[0] = (struct level_values){point->energy_buffer_j, point->energy_noc_j, 1e6, 0.5};
    level[1] = (struct level_values){point->energy_dram_j, 0, 1e7, 0.25};
    point->level = level;
    /* conv2_a is in the second network only. */
    size_t n = 0;
    for (size_t l = 0; l < SAMPLE_LAYER; l++) {
        if (l == 1 && index[2] == 0)
            continue;
        layer_record_init(&layer[n]);
        layer[n].layer = sample_layer[l];
        layer[n].count = 1 + l;
        layer[n].outcome = RESULT_OK;
        layer[n].latency_s = point->latency_s / 4;
        layer[n].energy_j = point->energy_j / 4;
        layer[n].stop = "converged";
        layer[n].mapping = "{DRAM: \"C4 K2\", GlobalBuffer: 'P7 Q7'}";
        layer[n].trace = l == 0 ? "1:0.5 20:0.25 300:0.125" : "1:0.5";
        layer[n].trace_seconds = l == 0 ? "0.001 0.02 0.3" : "0.001";
        layer[n].level = level;
        layer[n].seconds = 0.1;
        n++;
    }
    return n;
}

/* For journal_options.visit: note in `user`, bool[SAMPLE_CELL], which cells are there. */
static inline enum dse_status sample_see(void *user, const struct journal_row *row,
                                         enum journal_verdict *verdict, struct dse_error *err)
{
    bool *there = user;
    (void)verdict;
    (void)err;
    if (row && row->cell < SAMPLE_CELL)
        there[row->cell] = true;
    return DSE_OK;
}

/* Format a point with its layers, and append it. */
static inline enum dse_status sample_append(struct journal *journal, const struct result_schema *schema,
                                            const struct point_record *point,
                                            const struct layer_record *layer, size_t n_layer,
                                            struct dse_error *err)
{
    struct journal_lines lines;
    journal_lines_init(&lines);
    enum dse_status status = journal_format(schema, point, layer, n_layer, &lines, err);
    if (status == DSE_OK)
        status = journal_append(journal, &lines, err);
    journal_lines_free(&lines);
    return status;
}

/* Append cells first .. last (without the missing one) in the order given by `step` (coprime to 24); `shard`
 * of `n_shard`. Returns 0 on success. */
static inline int sample_write(const char *out, unsigned step, unsigned shard, unsigned n_shard,
                               struct journal_options options)
{
    bool there[SAMPLE_CELL] = {false};
    struct dse_error err = {0};
    options.visit = sample_see;
    options.user = there;
    struct journal *journal;
    if (journal_open(out, &sample_schema, options, &journal, &err) != DSE_OK) {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
        return 1;
    }
    int bad = 0;
    for (unsigned i = 0; i < SAMPLE_CELL && !bad; i++) {
        unsigned cell = i * step % SAMPLE_CELL;
        struct point_record point;
        struct layer_record layer[SAMPLE_LAYER];
        struct level_values level[SAMPLE_LEVEL];
        uint32_t index[3];
        if (cell == SAMPLE_MISSING || cell % n_shard != shard || there[cell])
            continue;
        size_t n = sample_point(cell, &point, layer, index, level);
        bad = sample_append(journal, &sample_schema, &point, layer, n, &err) != DSE_OK;
    }
    journal_close(journal);
    return bad;
}

#endif
