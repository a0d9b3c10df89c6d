/* The machines are those of the authors' JSON files, by hand,
 * so that the accounting is tested apart from the readers. */
#include "tests/support/interstellar_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/model/network.h"

/* Fuzzers and benchmarks use this as well, so it is not cmocka's. */
static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "interstellar_case: %s\n", what);
    abort();
}

/* Cells of a line of CSV, some of them in quotes. */
static void split_line(const char *line, struct interstellar_point *out)
{
    for (int c = 0; c < POINT_N_COLUMN; c++) {
        bool quoted = *line == '"';
        size_t n = 0;
        line += quoted;
        while (*line && *line != '\n' && *line != (quoted ? '"' : ',')) {
            require(n + 1 < POINT_CELL_MAX, "a long cell");
            out->cell[c][n++] = *line++;
        }
        out->cell[c][n] = '\0';
        line += quoted;
        if (c + 1 < POINT_N_COLUMN)
            require(*line++ == ',', "a comma is missing");
    }
}

int interstellar_points_load(struct interstellar_point *point, int max)
{
    char line[4096];
    int n = 0;
    FILE *file = fopen("tests/known/interstellar/points_public.csv", "r");
    require(file != NULL, "points_public.csv");
    require(fgets(line, sizeof line, file) != NULL, "points_public.csv");
    while (n < max && fgets(line, sizeof line, file))
        split_line(line, &point[n++]);
    fclose(file);
    return n;
}

/* Sizes in bytes and energies in pJ, innermost level first; `pe` copies of level `array`. */
struct machine_row {
    const char *name;
    uint32_t n_level, array, side;
    enum array_link link;
    double hop_pj;
    uint64_t byte[4];
    double pj[4];
};

static const struct machine_row machines[] = {
    {"eyeriss512", 3, 0, 16, ARRAY_SYSTOLIC, 0.035, {512, 131072, 1u << 30}, {0.96, 20, 200}},
    {"rf64", 3, 0, 16, ARRAY_SYSTOLIC, 0.035, {64, 131072, 1u << 30}, {0.12, 20, 200}},
    {"bcast512", 3, 0, 16, ARRAY_BROADCAST, 2, {512, 131072, 1u << 30}, {0.96, 20, 200}},
    {"tpu128", 3, 0, 128, ARRAY_SYSTOLIC, 0.035, {32, 65536, 29360128}, {0.015, 13.5, 150}},
    {"opt4", 4, 1, 16, ARRAY_SYSTOLIC, 0.035, {16, 128, 262144, 1u << 30}, {0.03, 0.24, 30.75, 200}},
    {"split_rf", 3, 0, 16, ARRAY_SYSTOLIC, 0.035, {520, 131072, 1u << 30}, {0, 20, 200}},
    {"split_all", 3, 0, 16, ARRAY_SYSTOLIC, 0.035, {352, 131072, 1u << 30}, {0, 13.5, 200}},
};

/* One memory each for inputs, outputs and weights. */
static void split_registers(struct storage_level *level, const uint64_t byte[3], const double pj[3])
{
    static const enum tensor_role roles[] = {TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_WEIGHT};
    level->n_part = 3;
    for (uint8_t i = 0; i < 3; i++) {
        level->part_of[roles[i]] = i;
        level->part[i] = (struct storage_part){byte[i] / 2, pj[i] * 1e-12};
    }
}

static void split(const char *name, struct architecture *arch)
{
    if (strcmp(name, "split_rf") == 0)
        split_registers(&arch->level[0], (const uint64_t[]){24, 48, 448},
                        (const double[]){0.045, 0.09, 0.84});
    if (strcmp(name, "split_all") != 0)
        return;
    split_registers(&arch->level[0], (const uint64_t[]){32, 64, 256}, (const double[]){0.06, 0.12, 0.48});
    arch->level[1].n_part = 2;
    arch->level[1].part_of[TENSOR_WEIGHT] = 1;
    for (int i = 0; i < 2; i++)
        arch->level[1].part[i] = (struct storage_part){65536 / 2, 13.5e-12};
}

static void make_level(const struct machine_row *row, uint32_t l, struct storage_level *level)
{
    snprintf(level->name, sizeof level->name, "M%u", (unsigned)l);
    level->is_dram = l + 1 == row->n_level;
    level->keep_role = (1u << TENSOR_ROLE_COUNT) - 1;
    level->word_bit = 16;
    level->block_word = level->cluster_size = 1;
    level->size_word = row->byte[l] / 2;
    level->multiple_buffering = 1;
    level->min_utilization = level->is_dram ? 0 : 0.5;
    level->mesh_x = level->mesh_y = l <= row->array ? row->side : 1;
    level->instances = level->mesh_x * level->mesh_y;
    level->read_bandwidth_word_per_cycle = level->write_bandwidth_word_per_cycle = INFINITY;
    level->shared_bandwidth_word_per_cycle = INFINITY;
    level->read_energy_j = level->write_energy_j = level->update_energy_j = row->pj[l] * 1e-12;
    if (l == row->array + 1) {
        level->hop_energy_j = row->hop_pj * 1e-12;
        level->link = row->link;
    }
}

void interstellar_machine(const char *name, struct architecture *out)
{
    const struct machine_row *row = machines;
    struct dse_error err;
    while (row < machines + sizeof machines / sizeof machines[0] && strcmp(row->name, name) != 0)
        row++;
    require(row < machines + sizeof machines / sizeof machines[0], name);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", name);
    out->clock_hz = 400e6;
    out->strict_fanout = true;
    out->n_level = row->n_level;
    for (uint32_t l = 0; l < row->n_level; l++)
        make_level(row, l, &out->level[l]);
    out->mac = (struct mac_array){.name = "MAC", .word_bit = 16, .energy_j = 0.075e-12};
    out->mac.mesh_x = out->mac.mesh_y = row->side;
    out->mac.instances = (uint64_t)row->side * row->side;
    split(name, out);
    require(architecture_check(out, &err) == DSE_OK, err.text);
}

void interstellar_layer(const uint32_t bound[8], struct problem *out)
{
    struct dse_error err;
    struct layer layer = {.type = LAYER_CONV,
                          .name = "layer",
                          .k = bound[1],
                          .c = bound[2],
                          .q = bound[3],
                          .p = bound[4],
                          .s = bound[5],
                          .r = bound[6],
                          .groups = 1,
                          .stride = {bound[7], bound[7]},
                          .dilation = {1, 1}};
    require(layer_problem(&layer, bound[0], out, &err) == DSE_OK, err.text);
}

void interstellar_point_task(const struct interstellar_point *point, struct architecture *arch,
                             struct problem *problem)
{
    uint32_t bound[8];
    for (int i = 0; i < 8; i++)
        bound[i] = (uint32_t)strtoul(point->cell[POINT_BATCH + i], NULL, 10);
    interstellar_layer(bound, problem);
    interstellar_machine(point->cell[POINT_ARCH], arch);
    arch->mac.capacity = (uint32_t)strtoul(point->cell[POINT_MAC_CAPACITY], NULL, 10);
    if (point->cell[POINT_ARRAY_DIM][0]) /* 1-D: 256 copies in a row */
        for (uint32_t l = 0; l <= arch->n_level; l++) {
            uint64_t *x = l < arch->n_level ? &arch->level[l].mesh_x : &arch->mac.mesh_x;
            uint64_t *y = l < arch->n_level ? &arch->level[l].mesh_y : &arch->mac.mesh_y;
            *x *= *y;
            *y = 1;
        }
}
