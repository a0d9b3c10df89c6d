/* Evaluations per second on one thread over random valid mappings of ResNet-50's R=S=3, P=Q=14, C=K=256
 * layer, drawn beforehand, without and with link transfers, and by Interstellar's accounting. Prints
 * "name,value,unit"; the fastest of several runs counts. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "costmodel/interstellar/accounting_interstellar.h"
#include "tests/support/conv4_case.h"

/* The mappings fit the second-level cache, as a search's current candidates do. */
enum { N_MAPPING = 500, N_PASS = 20, N_RUN = 9 };

/* Evaluations per second of some passes over all mappings, or -1 when one does not fit. */
static double run_once(const struct evaluator *evaluator, struct eval_workspace *workspace,
                       const struct mapping *mapping, double *sum)
{
    struct evaluation evaluation;
    double start_s = clock_thread_s();
    for (int i = 0; i < N_PASS * N_MAPPING; i++) {
        if (!evaluator_run(evaluator, workspace, &mapping[i % N_MAPPING], &evaluation))
            return -1;
        *sum += evaluation.energy_j;
    }
    return N_PASS * N_MAPPING / (clock_thread_s() - start_s);
}

static int run(const char *name, const char *path, bool links)
{
    struct conv4_case conv4;
    struct dse_error err;
    struct random_stream stream = random_stream_make(1, 2, RANDOM_TEST);
    struct mapping *mapping = calloc(N_MAPPING, sizeof *mapping);
    double best = 0, sum = 0;
    int failed = !mapping || conv4_case_init(&conv4, path, links, &err) != DSE_OK;
    if (failed) {
        fprintf(stderr, "bench_eval: %s\n", mapping ? err.text : "out of memory");
        free(mapping);
        return 1;
    }
    for (int i = 0; i < N_MAPPING && !failed; i++)
        failed = !mapspace_draw(conv4.space, &stream, &mapping[i], NULL, NULL);
    for (int i = 0; i < N_RUN && !failed; i++) {
        double rate = run_once(conv4.evaluator, conv4.workspace, mapping, &sum);
        failed = rate < 0 || !(sum > 0);
        best = rate > best ? rate : best;
    }
    printf("eval/%s%s,%.0f,evaluation/s\n", name, links ? "/links" : "", best);
    conv4_case_free(&conv4);
    free(mapping);
    return failed;
}

static int run_interstellar(const char *name, const char *path)
{
    struct conv4_case conv4;
    struct dse_error err;
    struct random_stream stream = random_stream_make(1, 2, RANDOM_TEST);
    struct mapping *mapping = calloc(N_MAPPING, sizeof *mapping);
    struct evaluator *evaluator = NULL;
    struct eval_workspace *workspace = NULL;
    double best = 0, sum = 0;
    int failed = !mapping || conv4_case_init(&conv4, path, false, &err) != DSE_OK;
    if (failed) {
        free(mapping);
        return 1;
    }
    failed = evaluator_new(&accounting_interstellar, evaluator_problem(conv4.evaluator),
                           evaluator_architecture(conv4.evaluator), &evaluator, &err) != DSE_OK ||
             eval_workspace_new(evaluator, &workspace, &err) != DSE_OK;
    for (int i = 0; i < N_MAPPING && !failed; i++)
        failed = !mapspace_draw(conv4.space, &stream, &mapping[i], NULL, NULL);
    for (int i = 0; i < N_RUN && !failed; i++) {
        double rate = run_once(evaluator, workspace, mapping, &sum);
        failed = rate < 0 || !(sum > 0);
        best = rate > best ? rate : best;
    }
    printf("eval/%s/interstellar,%.0f,evaluation/s\n", name, best);
    eval_workspace_delete(workspace);
    evaluator_delete(evaluator);
    conv4_case_free(&conv4);
    free(mapping);
    return failed;
}

int main(void)
{
    int failed = 0;
    for (int links = 0; links <= 1; links++) {
        failed |= run("simba", "experiments/architectures/simba.yaml", links);
        failed |= run("mindmappings", "experiments/architectures/mindmappings.yaml", links);
    }
    failed |= run_interstellar("simba", "experiments/architectures/simba.yaml");
    failed |= run_interstellar("eyeriss_16x16", "experiments/architectures/eyeriss_16x16.yaml");
    return failed;
}
