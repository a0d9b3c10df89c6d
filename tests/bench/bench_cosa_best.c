/* cosa and cosa-best end to end on one thread: the ResNet-50 layer R=S=3, P=Q=14, C=K=256 on CoSA's Table V
 * machine. Prints "name,value,unit"; the fastest of several runs counts. */
#include <stdio.h>

#include "base/clock.h"
#include "engines/driver/engine.h"
#include "tests/support/conv4_case.h"

enum { N_RUN = 5, OPTION_MAX = 64 };

/* CPU seconds of one search; -1 when it fails. */
static double run_once(const struct conv4_case *conv4, const struct engine *engine, const char *polish)
{
    double option[OPTION_MAX], start_s = clock_thread_s();
    struct engine_result result;
    struct dse_error err;
    struct arena arena;
    engine_option_defaults(engine, option);
    if (polish && engine_option_set(engine, "polish", polish, option, &err) != DSE_OK)
        return -1;
    struct engine_task task = {.evaluator = conv4->evaluator,
                               .architecture = &conv4->arch,
                               .batch = 1,
                               .objective = {1, 1},
                               .option = option};
    arena_init(&arena);
    enum dse_status status = engine_solve(engine, &task, &arena, &result, &err);
    arena_free(&arena);
    return status == DSE_OK && result.feasible ? clock_thread_s() - start_s : -1;
}

static int run(const struct conv4_case *conv4, const char *label, const char *name, const char *polish)
{
    double best = -1;
    for (int i = 0; i < N_RUN; i++) {
        double seconds = run_once(conv4, engine_find(name), polish);
        if (seconds < 0)
            return 1;
        best = best < 0 || seconds < best ? seconds : best;
    }
    printf("%s/simba_tablev,%.1f,ms\n", label, 1e3 * best);
    return 0;
}

int main(void)
{
    struct conv4_case conv4;
    struct dse_error err;
    int failed = 0;
    if (conv4_case_init(&conv4, "experiments/architectures/simba_tablev.yaml", false, &err) != DSE_OK) {
        fprintf(stderr, "bench_cosa_best: %s\n", err.text);
        conv4_case_free(&conv4);
        return 1;
    }
    failed |= run(&conv4, "cosa", "cosa", NULL);
    failed |= run(&conv4, "cosa_best_solves", "cosa-best", "0");
    failed |= run(&conv4, "cosa_best", "cosa-best", NULL);
    conv4_case_free(&conv4);
    return failed;
}
