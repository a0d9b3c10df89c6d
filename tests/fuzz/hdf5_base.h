/* HDF5 files that fuzz targets begin from: a cube, a timeline, a trained model and training data as the
 * program writes them, made once; and all that reads them. */
#ifndef TESTS_FUZZ_HDF5_BASE_H
#define TESTS_FUZZ_HDF5_BASE_H

#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_guard.h"
#include "base/text.h"
#include "engines/mindmappings/training/mm_data_file.h"
#include "results/cube/cube.h"
#include "results/cube/cube_read.h"
#include "results/plot/plot.h"
#include "results/timeline/timeline.h"
#include "tests/fuzz/fuzz.h"
#include "tests/results/sample.h"
#include "tests/support/mm_case.h"
#include "tests/support/mm_model_case.h"

enum { BASE_CUBE, BASE_TIMELINE, BASE_MODEL, BASE_DATA, BASE_COUNT, BASE_PATH_MAX = 512 };

struct hdf5_base {
    char path[BASE_PATH_MAX]; /* of the file to spoil, OUT.h5 */
    char *byte[BASE_COUNT];   /* (length) the good files, without their seals */
    size_t length[BASE_COUNT];
    struct mm_case machine; /* of the model and the data */
    struct mm_problems problems;
};

static inline char *base_load_whole(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    FUZZ_REQUIRE(file && fseek(file, 0, SEEK_END) == 0, "%s", path);
    long n = ftell(file);
    char *byte = malloc((size_t)n + 1);
    rewind(file);
    FUZZ_REQUIRE(n > 0 && byte && fread(byte, 1, (size_t)n, file) == (size_t)n, "%s", path);
    fclose(file);
    byte[n] = '\0';
    *length = (size_t)n;
    return byte;
}

/* Without its seal. */
static inline char *base_load(const char *path, size_t *length)
{
    char *byte = base_load_whole(path, length);
    char *seal = memmem(byte, *length, "\nsealed by dse ", 15);
    if (seal)
        *length = (size_t)(seal - byte);
    return byte;
}

static inline void base_store(const char *path, const char *byte, size_t length)
{
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file && fwrite(byte, 1, length, file) == length && fclose(file) == 0, "%s", path);
}

static inline void base_make_timeline(const char *path)
{
    struct timeline_transfer transfer[] = {{"weights", "a", "", 1, 0, 0, 0, 0, 4, 64, 64, -1, 2},
                                           {"ofmap", "b", "", 2, 1, 1, 1, 45, 50, 80, 80, 3, 4}};
    struct timeline_tile tile[] = {{"a", 0, 0, 0, 9, 19, 9}, {"b", 1, 1, 1, 34, 44, 5}};
    struct timeline_step step[] = {{0, 19, 64, 96, 0, 0}, {19, 50, 64, 0, 80, 32}};
    struct timeline_group group[] = {{0, 1, 1, 0, 1, 0, 19, "a"}, {1, 1, 1, 1, 1, 19, 44, "b"}};
    struct timeline timeline = {.title = "t",
                                .network = "n",
                                .architecture = "m",
                                .rules = "sound",
                                .batch = 1,
                                .cycle = 50,
                                .compute_cycle = 20,
                                .dram_cycle = 9,
                                .stall_cycle = 14,
                                .buffer_byte = 256,
                                .buffer_max_byte = 160,
                                .dram_byte_per_cycle = 16,
                                .clock_hz = 1e9,
                                .energy_j = 1e-9,
                                .buffer_average_byte = 100,
                                .n_transfer = 2,
                                .n_tile = 2,
                                .n_group = 2,
                                .transfer = transfer,
                                .tile = tile,
                                .step = step,
                                .group = group};
    struct dse_error err;
    FUZZ_REQUIRE(timeline_hdf5_write(&timeline, path, &err) == DSE_OK, "%s", err.text);
}

static inline struct mm_data_plan base_plan(const struct hdf5_base *base)
{
    return (struct mm_data_plan){.draws = {.machine = &base->machine.machine, .problems = &base->problems},
                                 .problems = "cnn",
                                 .n_train = 30,
                                 .n_train_each = 10,
                                 .n_test = 20,
                                 .n_test_each = 10};
}

static inline void base_drawn(void *user, uint32_t done, uint32_t n)
{
    (void)user;
    (void)done;
    (void)n;
}

static inline void base_make_surrogate(struct hdf5_base *base)
{
    struct arena arena;
    struct mm_model model;
    struct mm_data_pair data;
    struct dse_error err;
    arena_init(&arena);
    mm_case_begin(&base->machine, MM_CNN, NULL, 0);
    base->problems = (struct mm_problems){.algorithm = base->machine.machine.algorithm};
    const struct mm_data_plan plan = base_plan(base);
    mm_model_case(&base->machine.machine, MM_AUTOBYPASS, &arena, &model);
    FUZZ_REQUIRE(mm_model_write(&model, base->path, &err) == DSE_OK, "%s", err.text);
    base->byte[BASE_MODEL] = base_load(base->path, &base->length[BASE_MODEL]);
    unlink(base->path);
    FUZZ_REQUIRE(mm_data_make(&plan, base->path, 1, NULL, base_drawn, NULL, &arena, &data, &err) == DSE_OK,
                 "%s", err.text);
    base->byte[BASE_DATA] = base_load(base->path, &base->length[BASE_DATA]);
    arena_free(&arena);
}

/* The good files; folder of this process under TMPDIR. */
static inline void base_make(struct hdf5_base *base)
{
    static const char *const ending[] = {".csv", ".layers.csv", ".lock"};
    struct provenance provenance;
    struct dse_error err;
    const char *folder = getenv("TMPDIR");
    char other[BASE_PATH_MAX];
    snprintf(base->path, sizeof base->path, "%s/dse-fuzz-%ld.h5", folder ? folder : "/tmp", (long)getpid());
    FUZZ_REQUIRE(sample_write(base->path, 1, 0, 1, (struct journal_options){.fresh = true}) == 0, "journal");
    provenance_make(&provenance);
    FUZZ_REQUIRE(cube_build(base->path, &sample_schema, &provenance, &err) == DSE_OK, "%s", err.text);
    base->byte[BASE_CUBE] = base_load(base->path, &base->length[BASE_CUBE]);
    base_make_timeline(base->path);
    base->byte[BASE_TIMELINE] = base_load(base->path, &base->length[BASE_TIMELINE]);
    base_make_surrogate(base);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        if (result_path(other, sizeof other, base->path, ending[i]))
            unlink(other);
}

static inline void base_read_fields(const char *path, const struct result_schema *schema, struct arena *arena)
{
    static const char *const dataset[] = {"edp_js", "status", "levels/energy_j", "trace/cost",
                                          "layers/mapping"};
    struct dse_error err;
    const uint32_t index[RESULT_AXIS_MAX] = {0};
    size_t n;
    double *value;
    const char *const *text;
    for (size_t i = 0; i < sizeof dataset / sizeof dataset[0]; i++) {
        (void)fuzz_ok(cube_read_text(path, dataset[i], arena, &text, &n, &err), &err);
        (void)fuzz_ok(cube_read_cell(path, dataset[i], index, schema->n_axis, arena, &value, &n, &err), &err);
    }
}

/* The figures but for gnuplot, which is not asked: there are no templates in an empty path. */
static inline void base_plot(const char *path)
{
    struct dse_error err;
    const struct plot_kind *kind;
    for (size_t i = 0; (kind = plot_kind_at(i)); i++) {
        const struct plot_options options = {.kind = kind, .template_dir = "/nonexistent"};
        enum dse_status status = plot_draw(path, "/nonexistent/figure.png", &options, &err);
        if (status == DSE_IO)
            fuzz_check_text(err.text);
        else
            (void)fuzz_ok(status, &err);
    }
}

/* A model that is read predicts, and data that are read make sense. */
static inline void base_read_surrogate(const struct hdf5_base *base, struct arena *arena)
{
    struct dse_error err;
    struct mm_data_pair data;
    const struct mm_model *model;
    const struct mm_data_plan plan = base_plan(base);
    size_t n;
    char *bytes = base_load_whole(base->path, &n);
    if (fuzz_ok(mm_model_read("model.h5", bytes, n, arena, &model, &err), &err)) {
        struct mlp_pass pass;
        float input[MM_VALUE_MAX] = {0};
        FUZZ_REQUIRE(mlp_pass_new(&model->net[0].frozen, arena, &pass, &err) == DSE_OK, "%s", err.text);
        (void)mm_decode_edp(&model->encoding, mlp_predict(&pass, input));
    }
    free(bytes);
    if (fuzz_ok(mm_data_read(&plan, base->path, arena, &data, &err), &err))
        FUZZ_REQUIRE(mm_data_check(&data.train, &err) == DSE_OK && mm_data_check(&data.test, &err) == DSE_OK,
                     "read, but: %s", err.text);
}

/* All that the commands do with a result file, a timeline, a model or training data. */
static inline void base_read_all(const struct hdf5_base *base)
{
    const char *path = base->path;
    struct dse_error err;
    struct arena arena;
    struct result_schema schema;
    struct provenance provenance;
    struct timeline timeline;
    arena_init(&arena);
    if (fuzz_ok(cube_read_schema(path, &arena, &schema, &err), &err)) {
        FUZZ_REQUIRE(schema_check(&schema, &err) == DSE_OK, "read, but: %s", err.text);
        (void)cube_read_attribute(path, "specification", &arena);
        (void)fuzz_ok(cube_read_inputs(path, &arena, &schema, &provenance, &err), &err);
        base_read_fields(path, &schema, &arena);
        base_plot(path);
    }
    (void)timeline_is_file(path);
    if (fuzz_ok(timeline_hdf5_read(path, &arena, &timeline, &err), &err)) {
        struct text_buffer text;
        FUZZ_REQUIRE(timeline_check(&timeline, &err) == DSE_OK, "read, but: %s", err.text);
        text_init(&text);
        timeline_csv(&timeline, &text);
        text_free(&text);
    }
    base_read_surrogate(base, &arena);
    arena_free(&arena);
}

#endif
