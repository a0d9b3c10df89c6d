/* Random valid mappings drawn and evaluated end to end, on one thread: the ResNet-50 layer R=S=3, P=Q=14, C=K=256 on the
 * Simba-like machine. Prints "name,value,unit"; the fastest of several runs counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/random.h"
#include "costmodel/evaluator.h"
#include "costmodel/layer_problem.h"
#include "costmodel/readers.h"
#include "engines/mapspace.h"

enum { N_DRAW = 100000, N_RUN = 5 };

struct bench {
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    const struct mapspace *space;
};

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum dse_status prepare(struct bench *bench, const char *path, struct dse_error *err)
{
    static const struct layer layer = {.name = "resnet50_conv4_3x3",
                                       .type = LAYER_CONV,
                                       .c = 256,
                                       .k = 256,
                                       .p = 14,
                                       .q = 14,
                                       .r = 3,
                                       .s = 3,
                                       .stride = {1, 1},
                                       .dilation = {1, 1},
                                       .groups = 1};
    arena_init(&bench->arena);
    DSE_TRY(architecture_read(path, &bench->arch, err));
    DSE_TRY(layer_problem(&layer, 1, &bench->problem, err));
    DSE_TRY(evaluator_new(&bench->problem, &bench->arch, &bench->evaluator, err));
    DSE_TRY(eval_workspace_new(bench->evaluator, &bench->workspace, err));
    return mapspace_new(&bench->problem, &bench->arch, NULL, false, &bench->arena, &bench->space, err);
}

/* Mappings per second of one run; `evaluate` off times the draws alone. -1 when a mapping does not fit. */
static double run_once(struct bench *bench, uint32_t run, bool evaluate)
{
    struct random_stream stream = random_stream_make(1, run, RANDOM_TEST);
    struct mapping mapping;
    struct evaluation evaluation;
    double start_s = now_s();
    memset(&mapping, 0, sizeof mapping);
    for (int i = 0; i < N_DRAW; i++) {
        if (!mapspace_draw(bench->space, &stream, &mapping, NULL, NULL))
            return -1;
        if (evaluate && !evaluator_run(bench->evaluator, bench->workspace, &mapping, &evaluation))
            return -1;
    }
    return N_DRAW / (now_s() - start_s);
}

static int run(const char *name, const char *path)
{
    struct bench bench = {0};
    struct dse_error err;
    int failed = 0;
    if (prepare(&bench, path, &err) != DSE_OK) {
        fprintf(stderr, "bench_draw: %s: %s\n", path, err.text);
        return 1;
    }
    for (int evaluate = 0; evaluate <= 1; evaluate++) {
        double best = 0;
        for (uint32_t i = 0; i < N_RUN; i++) {
            double rate = run_once(&bench, i, evaluate);
            failed |= rate < 0;
            best = rate > best ? rate : best;
        }
        printf("%s/%s,%.0f,mapping/s\n", evaluate ? "draw_eval" : "draw", name, best);
    }
    eval_workspace_delete(bench.workspace);
    evaluator_delete(bench.evaluator);
    arena_free(&bench.arena);
    return failed;
}

int main(void)
{
    int failed = run("simba", "experiments/architectures/simba.yaml");
    failed |= run("mindmappings", "experiments/architectures/mindmappings.yaml");
    return failed;
}
