/* What making result files costs: a journal of N points (three axes, four storage levels, one layer per point
 * with a mapping of 1.5 KB and a short trace), its cube built and reopened, and the same from 8 shards
 * merged. Prints "name,value,unit", CPU seconds. `bench_results N` takes another N; the files lie in TMPDIR
 * and are removed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "results/cube/cube.h"
#include "results/cube/cube_read.h"
#include "results/cube/merge.h"
#include "results/record/csv_line.h"

enum { N_POINT = 20000, N_LEVEL = 4, N_SHARD = 8, MAPPING_BYTE = 1500, PATH_BYTE = 512 };

/* A schema of about N cells and the values behind it. */
struct bench {
    char folder[PATH_BYTE / 2];
    double *number[2];
    struct result_coordinate coordinate[3];
    struct result_axis axis[3];
    struct result_schema schema;
    struct provenance provenance;
    char mapping[MAPPING_BYTE + 1];
};

static const char *const level_name[N_LEVEL] = {"Registers", "AccumulationBuffer", "GlobalBuffer", "DRAM"};
static const char *const layer_name[1] = {"conv1"};
static const char *const network[2] = {"alexnet", "resnet50"};

/* Half of N cells as a square of two numeric axes, times two networks. */
static int make_schema(struct bench *bench, uint64_t n)
{
    size_t side = 1;
    while ((side + 1) * (side + 1) * 2 <= n)
        side++;
    static const char *const name[2] = {"GlobalBuffer.capacity_byte", "DRAM.bandwidth_byte_per_s"};
    for (size_t a = 0; a < 2; a++) {
        bench->number[a] = malloc(side * sizeof(double));
        if (!bench->number[a])
            return -1;
        for (size_t i = 0; i < side; i++)
            bench->number[a][i] = 1024.0 * (double)(i + 1);
        bench->coordinate[a] = (struct result_coordinate){name[a], "", "", bench->number[a], NULL, NULL};
        bench->axis[a] = (struct result_axis){side, 1, &bench->coordinate[a]};
    }
    bench->coordinate[2] = (struct result_coordinate){"network", "", "", NULL, network, NULL};
    bench->axis[2] = (struct result_axis){2, 1, &bench->coordinate[2]};
    bench->schema = (struct result_schema){.name = "bench",
                                           .title = "",
                                           .specification = "experiment: bench\n",
                                           .specification_hash = 1,
                                           .n_axis = 3,
                                           .axis = bench->axis,
                                           .n_layer = 1,
                                           .layer = layer_name,
                                           .n_level = N_LEVEL,
                                           .level = level_name,
                                           .n_point = side * side * 2};
    for (size_t i = 0; i < MAPPING_BYTE; i++)
        bench->mapping[i] = i % 16 == 15 ? ',' : (char)('a' + i % 13);
    return 0;
}

/* The row of a cell: made-up numbers of full length, as searches give them. */
static void make_row(const struct bench *bench, uint64_t cell, uint32_t index[3], struct point_record *point,
                     struct layer_record *layer, struct level_values level[N_LEVEL])
{
    struct random_stream stream = random_stream_make(1, cell, RANDOM_TEST);
    double x = random_unit(&stream);
    index[0] = (uint32_t)(cell / 2 / bench->axis[1].n_value);
    index[1] = (uint32_t)(cell / 2 % bench->axis[1].n_value);
    index[2] = (uint32_t)(cell % 2);
    point_record_init(point);
    layer_record_init(layer);
    point->index = index;
    point->key = cell * 0x9e3779b97f4a7c15u + 1;
    point->outcome = layer->outcome = RESULT_OK;
    point->latency_s = layer->latency_s = x / 3;
    point->latency_cycle = layer->latency_cycle = (uint64_t)(x * 1e8);
    point->energy_j = layer->energy_j = x / 7;
    point->energy_mac_j = layer->energy_mac_j = x / 11;
    point->energy_buffer_j = layer->energy_buffer_j = x / 13;
    point->energy_noc_j = layer->energy_noc_j = x / 17;
    point->energy_dram_j = layer->energy_dram_j = x / 19;
    point->edp_js = layer->edp_js = x * x;
    point->utilization = layer->utilization = x;
    point->dram_byte = layer->dram_byte = point->onchip_byte = layer->onchip_byte = x * 1e9;
    point->n_mac = layer->n_mac = 105705472;
    point->n_layer_mapped = point->n_layer = layer->count = 1;
    point->accounting = "timeloop";
    point->stop = layer->stop = "converged";
    point->evaluations = layer->evaluations = point->draws = layer->draws = cell % 1000;
    point->seconds = layer->seconds = x / 1000;
    for (size_t l = 0; l < N_LEVEL; l++)
        level[l] = (struct level_values){x / (double)(l + 2), x / (double)(l + 5), x * 1e7, NAN};
    point->level = layer->level = level;
    layer->layer = layer_name[0];
    layer->mapping = bench->mapping;
    layer->trace = "1:0.5 12:0.25 345:0.12345678901234567";
}

static int write_text(FILE *file, struct text_buffer *text)
{
    int result = !text->failed && fwrite(text->data, 1, text->length, file) == text->length ? 0 : -1;
    text_clear(text);
    return result;
}

/* The journal of the cells whose number is `shard` - 1 modulo n_shard, in an order that is not that of the
 * cells. */
static int write_journal(const struct bench *bench, const char *csv, const char *layers, uint32_t shard,
                         uint32_t n_shard)
{
    FILE *file[2] = {fopen(csv, "wb"), fopen(layers, "wb")};
    struct text_buffer line[2];
    const uint64_t n = bench->schema.n_point;
    int result = file[0] && file[1] ? 0 : -1;
    text_init(&line[0]);
    text_init(&line[1]);
    csv_point_header(&line[0], &bench->schema);
    csv_layer_header(&line[1], &bench->schema);
    for (uint64_t i = 0; i < n && result == 0; i++) {
        struct point_record point;
        struct layer_record layer;
        struct level_values level[N_LEVEL];
        uint32_t index[3];
        uint64_t block = i - i % 64; /* backwards in blocks of 64 */
        uint64_t cell = block + 64 <= n ? block + 63 - i % 64 : i;
        if (cell % n_shard != shard - 1)
            continue;
        make_row(bench, cell, index, &point, &layer, level);
        csv_point_line(&line[0], &bench->schema, &point);
        csv_layer_line(&line[1], &bench->schema, &point, &layer);
        result = write_text(file[0], &line[0]) | write_text(file[1], &line[1]);
    }
    for (int k = 0; k < 2; k++) {
        if (file[k] && fclose(file[k]) != 0)
            result = -1;
        text_free(&line[k]);
    }
    return result;
}

static void report(const char *name, double start_s, uint64_t n)
{
    double spent_s = clock_thread_s() - start_s;
    printf("results/%s,%.3f,us/point\n", name, 1e6 * spent_s / (double)n);
    fprintf(stderr, "%s: %.1f s for %" PRIu64 " points\n", name, spent_s, n);
}

static int fail(const struct dse_error *err)
{
    fprintf(stderr, "bench_results: %s: %s\n", err->file, err->text);
    return 1;
}

static int bench_build(struct bench *bench, const char *h5)
{
    struct dse_error err = {0};
    struct arena arena;
    struct result_schema schema;
    double *value, start_s = clock_thread_s();
    size_t n;
    if (cube_build(h5, &bench->schema, &bench->provenance, &err) != DSE_OK)
        return fail(&err);
    report("cube_build", start_s, bench->schema.n_point);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("results/cube_build_memory,%ld,MiB\n", usage.ru_maxrss / 1024);
    struct stat info;
    if (stat(h5, &info) == 0)
        printf("results/cube_size,%.0f,byte/point\n", (double)info.st_size / (double)bench->schema.n_point);
    arena_init(&arena);
    start_s = clock_thread_s();
    const char *const *status;
    enum dse_status read = cube_read_schema(h5, &arena, &schema, &err);
    if (read == DSE_OK)
        read = cube_read_number(h5, "edp_js", &arena, &value, &n, &err);
    if (read == DSE_OK)
        read = cube_read_text(h5, "status", &arena, &status, &n, &err);
    report("cube_read", start_s, bench->schema.n_point);
    arena_free(&arena);
    return read == DSE_OK ? 0 : fail(&err);
}

static int bench_merge(struct bench *bench, const char *merged)
{
    struct dse_error err = {0};
    struct merge_summary summary;
    char path[N_SHARD][3][PATH_BYTE];
    const char *shard[N_SHARD];
    int result = 0;
    for (uint32_t k = 0; k < N_SHARD && result == 0; k++) {
        static const char *const ending[] = {"h5", "csv", "layers.csv"};
        for (int e = 0; e < 3; e++)
            snprintf(path[k][e], PATH_BYTE, "%s/s%u.%s", bench->folder, k, ending[e]);
        shard[k] = path[k][0];
        bench->schema.shard = k + 1;
        bench->schema.n_shard = N_SHARD;
        /* The cube of a shard is only read for what it says about itself: made before the journal, it is
         * empty. */
        if (cube_build(path[k][0], &bench->schema, &bench->provenance, &err) != DSE_OK)
            return fail(&err);
        result = write_journal(bench, path[k][1], path[k][2], k + 1, N_SHARD);
    }
    double start_s = clock_thread_s();
    const struct merge_options options = {.provenance = &bench->provenance};
    if (result == 0 && merge_shards(merged, shard, N_SHARD, &options, &summary, &err) != DSE_OK)
        return fail(&err);
    report("merge_8_shards", start_s, bench->schema.n_point);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("results/merge_memory,%ld,MiB\n", usage.ru_maxrss / 1024);
    for (uint32_t k = 0; k < N_SHARD; k++)
        for (int e = 0; e < 3; e++)
            unlink(path[k][e]);
    return result;
}

static int run(struct bench *bench)
{
    static const char *const ending[] = {"h5", "csv", "layers.csv"};
    char one[3][PATH_BYTE], two[3][PATH_BYTE];
    for (int e = 0; e < 3; e++) {
        snprintf(one[e], PATH_BYTE, "%s/o.%s", bench->folder, ending[e]);
        snprintf(two[e], PATH_BYTE, "%s/m.%s", bench->folder, ending[e]);
    }
    double start_s = clock_thread_s();
    int result = write_journal(bench, one[1], one[2], 1, 1);
    report("csv_write", start_s, bench->schema.n_point);
    if (result == 0)
        result = bench_build(bench, one[0]);
    for (int e = 0; e < 3; e++)
        unlink(one[e]);
    if (result == 0)
        result = bench_merge(bench, two[0]);
    for (int e = 0; e < 3; e++)
        unlink(two[e]);
    return result;
}

int main(int argc, char **argv)
{
    struct bench *bench = calloc(1, sizeof *bench);
    const char *base = getenv("TMPDIR");
    uint64_t n = N_POINT;
    if (!bench || (argc > 1 && !text_parse_u64(argv[1], &n)) || n < 2)
        return 2;
    snprintf(bench->folder, sizeof bench->folder, "%s/dse-bench-XXXXXX", base && base[0] ? base : "/tmp");
    int result = !mkdtemp(bench->folder) || make_schema(bench, n) != 0;
    provenance_make(&bench->provenance);
    if (result == 0)
        result = run(bench);
    rmdir(bench->folder);
    free(bench->number[0]);
    free(bench->number[1]);
    free(bench);
    return result != 0;
}
