/* The engine interstellar against the authors' program (CPU seconds of Python 2.7 in
 * tests/known/interstellar/): every row of public.csv in one process, the rows that Python was run on as
 * ratios, and the optimum over all dataflows at once. Prints "name,value,unit". */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "tests/support/interstellar_search.h"

static const struct objective energy = {1, 0};

/* CPU seconds of one search; reading its files is not among them. -1 when it fails. */
static double run_once(const struct interstellar_search *search, bool free, bool compat, const char *option,
                       struct engine_result *result)
{
    struct interstellar_task task;
    struct dse_error err;
    interstellar_task_init(&task, search, free);
    const double start_s = clock_thread_s();
    enum dse_status status =
        interstellar_task_solve(&task, compat, option, &energy, (struct engine_budget){0}, result, &err);
    const double seconds = clock_thread_s() - start_s;
    interstellar_task_free(&task);
    if (status != DSE_OK)
        fprintf(stderr, "bench_interstellar: %s %s: %s\n", search->arch, search->layer, err.text);
    return status == DSE_OK ? seconds : -1;
}

/* All rows by one mode. */
static int run_rows(const struct interstellar_search *search, int n, const char *mode, const char *option)
{
    double all_s = 0, ours_s = 0, python_s = 0, points = 0;
    for (int i = 0; i < n; i++) {
        struct engine_result result;
        double seconds = run_once(&search[i], false, true, option, &result);
        if (seconds < 0 || result.feasible != search[i].feasible)
            return 1;
        all_s += seconds;
        points += (double)result.n_evaluation;
        ours_s += search[i].python_s > 0 ? seconds : 0;
        python_s += search[i].python_s;
    }
    printf("interstellar/%s/public,%.3f,s\n", mode, all_s);
    printf("interstellar/%s/over_python,%.0f,x\n", mode, python_s / ours_s);
    if (strcmp(mode, "enumerate") == 0)
        printf("interstellar/%s/points,%.0f,point/s\n", mode, points / all_s);
    return 0;
}

/* The longest of the layers of a machine, all dataflows at once. */
static int run_free(const char *arch, const struct interstellar_search *layer, int n)
{
    double most_s = 0;
    for (int i = 0; i < n; i++) {
        struct interstellar_search search = layer[i];
        struct engine_result result;
        (void)snprintf(search.arch, sizeof search.arch, "%s", arch);
        double seconds = run_once(&search, true, false, NULL, &result);
        if (seconds < 0 || result.stop != STOP_OPTIMAL)
            return 1;
        most_s = seconds > most_s ? seconds : most_s;
    }
    printf("interstellar/all_dataflows/%s,%.3f,s a layer at most\n", arch, most_s);
    return 0;
}

int main(void)
{
    static struct interstellar_search search[INTERSTELLAR_SEARCH_MAX];
    /* AlexNet CONV2 and the largest of VGG-16, batch 16 */
    static const struct interstellar_search layers[] = {
        {.layer = "alexnet.CONV2", .bound = {16, 256, 48, 28, 28, 5, 5, 1}},
        {.layer = "vgg16.CONV1_2", .bound = {16, 64, 64, 224, 224, 3, 3, 1}},
        {.layer = "vgg16.CONV2_2", .bound = {16, 128, 128, 112, 112, 3, 3, 1}},
        {.layer = "vgg16.CONV3_2", .bound = {16, 256, 256, 56, 56, 3, 3, 1}},
    };
    static const char *const machines[] = {"eyeriss512", "rf64", "bcast512", "tpu128", "opt4"};
    const int n = interstellar_searches_load(search, INTERSTELLAR_SEARCH_MAX);
    struct rusage usage;
    int failed = run_rows(search, n, "prove", NULL);
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("interstellar/prove/memory,%.1f,MiB\n", (double)usage.ru_maxrss / 1024);
    failed |= run_rows(search, n, "enumerate", "mode=enumerate");
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        failed |= run_free(machines[i], layers, (int)(sizeof layers / sizeof layers[0]));
    return failed;
}
