/* What a point of a sweep costs apart from the search itself, with an engine that takes the first mapping
 * (drill): its parts, its machine, its keys, the task with all checks, its records and its lines; one layer,
 * on one thread. Prints "name,value,unit"; the fastest of several runs counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "dse/solve/record.h"
#include "dse/spec/sweep.h"
#include "results/record/csv_line.h"

enum { N_RUN = 5, N_ROUND = 50, STAGE_COUNT = 6 };

static const char SPEC[] =
    "experiment: point\narchitecture: simba\nnetwork: resnet50\nlayers: [conv1]\nengine: drill\n"
    "axes:\n"
    "  GlobalBuffer.capacity: [32 KiB, 64 KiB, 96 KiB, 128 KiB, 192 KiB, 256 KiB, 384 KiB, 512 KiB]\n"
    "  DRAM.bandwidth: [5 GB/s, 8 GB/s, 10 GB/s, 16 GB/s, 20 GB/s, 32 GB/s, 40 GB/s, 80 GB/s]\n"
    "  seed: [1, 2, 3, 4]\n";

static const char *const STAGE[STAGE_COUNT] = {"sweep_point", "machine", "keys", "solve", "record", "lines"};

struct bench {
    struct sweep sweep;
    struct arena arena;
    struct sweep_point point;
    struct architecture arch;
    struct solve_result result;
    struct point_record row;
    struct layer_record layer;
    struct text_buffer line;
    uint64_t sum; /* so that nothing is left out */
};

static int do_stage(struct bench *b, int stage, size_t p)
{
    const struct solve_shared shared = {.n_thread = 1};
    const struct solve_result *result = &b->result;
    struct record_source source = {.workload = b->point.workload,
                                   .accounting = "timeloop",
                                   .arch = &b->arch,
                                   .result = &result,
                                   .n_level = b->sweep.schema.n_level,
                                   .level = b->sweep.schema.level,
                                   .texts = true,
                                   .measure = &b->point.settings.measure,
                                   .group = stage == 4 ? b->point.settings.engine->group : NULL};
    switch (stage) {
    case 0:
        sweep_point(&b->sweep, p, &b->point);
        return 1;
    case 1:
        return sweep_point_build(&b->point, &b->arch, NULL) == DSE_OK;
    case 2:
        b->sum += solve_key(solve_settings_key(&b->point.settings, &b->arch),
                            sweep_point_task_hash(&b->point, 0), solve_arch_key(&b->arch));
        return 1;
    case 3:
        return sweep_point_solve(&b->point, 0, &b->arch, &shared, NULL, &b->arena, &b->result) == DSE_OK;
    case 4:
        b->row.index = b->point.index;
        return record_make(&source, &b->arena, &b->row, &b->layer, NULL) == DSE_OK;
    default:
        text_clear(&b->line);
        csv_point_line(&b->line, &b->sweep.schema, &b->row);
        csv_layer_line(&b->line, &b->sweep.schema, &b->row, &b->layer);
        b->sum += b->line.length;
        return 1;
    }
}

/* One run: seconds of each stage added to second (STAGE_COUNT); the clock's own cost is taken off by the
 * caller. */
static int run_once(struct bench *b, double second[STAGE_COUNT])
{
    for (int round = 0; round < N_ROUND; round++)
        for (size_t p = 0; p < b->sweep.n_point; p++) {
            for (int stage = 0; stage < STAGE_COUNT; stage++) {
                double start_s = clock_thread_s();
                if (!do_stage(b, stage, p))
                    return 0;
                second[stage] += clock_thread_s() - start_s;
            }
            solve_result_clear(&b->result);
            arena_reset(&b->arena);
        }
    return 1;
}

static double clock_cost_s(void)
{
    enum { N = 100000 };
    double start_s = clock_thread_s();
    for (int i = 0; i < N; i++)
        (void)clock_thread_s();
    return (clock_thread_s() - start_s) / N;
}

static int measure(struct bench *b)
{
    double best[STAGE_COUNT] = {0}, sum = 0, clock_s = clock_cost_s();
    double n = (double)N_ROUND * (double)b->sweep.n_point;
    for (int run = 0; run < N_RUN; run++) {
        double second[STAGE_COUNT] = {0};
        if (!run_once(b, second))
            return 0;
        for (int stage = 0; stage < STAGE_COUNT; stage++)
            if (run == 0 || second[stage] < best[stage])
                best[stage] = second[stage];
    }
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        double us = (best[stage] / n - clock_s) * 1e6;
        sum += us;
        printf("point_%s,%.3f,us\n", STAGE[stage], us);
    }
    printf("point_sum,%.3f,us\n", sum);
    return 1;
}

int main(void)
{
    char path[] = "/tmp/bench_point_XXXXXX";
    struct dse_error err = {0};
    struct sweep_spec spec;
    struct bench *bench = calloc(1, sizeof *bench);
    int file = mkstemp(path);
    int fine = bench && file >= 0 && write(file, SPEC, sizeof SPEC - 1) == (ssize_t)(sizeof SPEC - 1);
    if (file >= 0)
        close(file);
    if (!fine)
        return 1;
    enum dse_status status = spec_read(&spec, path, NULL, 0, &err);
    unlink(path);
    if (status == DSE_OK)
        status = sweep_init(&bench->sweep, &spec, &err);
    if (status == DSE_OK && !measure(bench))
        status = DSE_INTERNAL;
    if (status != DSE_OK)
        fprintf(stderr, "bench_point: %s\n", err.text);
    sweep_free(&bench->sweep);
    spec_free(&spec);
    arena_free(&bench->arena);
    text_free(&bench->line);
    free(bench);
    return status != DSE_OK;
}
