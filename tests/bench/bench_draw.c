/* Random valid mappings drawn and evaluated end to end, on one thread: the ResNet-50 layer R=S=3, P=Q=14,
 * C=K=256 on the Simba-like machine. Prints "name,value,unit"; the fastest of several runs counts. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tests/support/conv4_case.h"

enum { N_DRAW = 100000, N_RUN = 5 };

/* Mappings per second of one run; `evaluate` off times the draws alone. -1 when a mapping does not fit. */
static double run_once(const struct conv4_case *conv4, uint32_t run, bool evaluate)
{
    struct random_stream stream = random_stream_make(1, run, RANDOM_TEST);
    struct mapping mapping;
    struct evaluation evaluation;
    double start_s = clock_thread_s();
    memset(&mapping, 0, sizeof mapping);
    for (int i = 0; i < N_DRAW; i++) {
        if (!mapspace_draw(conv4->space, &stream, &mapping, NULL, NULL))
            return -1;
        if (evaluate && !evaluator_run(conv4->evaluator, conv4->workspace, &mapping, &evaluation))
            return -1;
    }
    return N_DRAW / (clock_thread_s() - start_s);
}

static int run(const char *name, const char *path)
{
    struct conv4_case conv4;
    struct dse_error err;
    int failed = 0;
    if (conv4_case_init(&conv4, path, false, &err) != DSE_OK) {
        fprintf(stderr, "bench_draw: %s: %s\n", path, err.text);
        conv4_case_free(&conv4);
        return 1;
    }
    for (int evaluate = 0; evaluate <= 1; evaluate++) {
        double best = 0;
        for (uint32_t i = 0; i < N_RUN; i++) {
            double rate = run_once(&conv4, i, evaluate);
            failed |= rate < 0;
            best = rate > best ? rate : best;
        }
        printf("%s/%s,%.0f,mapping/s\n", evaluate ? "draw_eval" : "draw", name, best);
    }
    conv4_case_free(&conv4);
    return failed;
}

int main(void)
{
    int failed = run("simba", "experiments/architectures/simba.yaml");
    failed |= run("mindmappings", "experiments/architectures/mindmappings.yaml");
    return failed;
}
