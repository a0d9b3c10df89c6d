/* Bayesian optimisation apart from what its candidates cost: 50 of 2,250 candidates in four dimensions.
 * Prints "name,value,unit"; the fastest of several runs counts. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "engines/search/bayes.h"

enum { D = 4, N_CANDIDATE = 5 * 5 * 9 * 10, N_ROUND = 50, N_RUN = 5 };

/* Rosenbrock's function, scaled. */
static double cost_of(const double *x)
{
    double sum = 0;
    for (int m = 0; m + 1 < D; m++) {
        double a = 4 * x[m] - 2, b = 4 * x[m + 1] - 2;
        sum += 100 * (b - a * a) * (b - a * a) + (1 - a) * (1 - a);
    }
    return log(1 + sum);
}

/* Seconds; -1 when it fails. */
static double run_once(const double *candidate, uint64_t seed)
{
    const struct bayes_options options = {8, N_ROUND, ACQUISITION_BOUND, 2};
    struct random_stream stream = random_stream_make(seed, 0, RANDOM_TEST);
    struct arena arena;
    struct bayes *bayes;
    uint32_t index = 0;
    double start_s = clock_thread_s();
    arena_init(&arena);
    bool good = bayes_new(candidate, N_CANDIDATE, D, &options, stream, &arena, &bayes, NULL) == DSE_OK;
    for (int i = 0; good && i < N_ROUND; i++)
        good = bayes_next(bayes, &index, NULL) == DSE_OK &&
               bayes_tell(bayes, index, cost_of(candidate + (size_t)index * D), NULL) == DSE_OK;
    arena_free(&arena);
    return good ? clock_thread_s() - start_s : -1;
}

int main(void)
{
    static const uint32_t side[D] = {5, 5, 9, 10};
    static double candidate[N_CANDIDATE * D];
    double best = INFINITY;
    for (uint32_t i = 0; i < N_CANDIDATE; i++)
        for (uint32_t m = 0, rest = i; m < D; rest /= side[m], m++)
            candidate[i * D + m] = (double)(rest % side[m]) / (side[m] - 1);
    for (uint64_t i = 0; i < N_RUN; i++) {
        double took_s = run_once(candidate, i);
        if (took_s < 0)
            return 1;
        best = fmin(best, took_s);
    }
    printf("bayes/50_of_2250,%.3f,s\n", best);
    return 0;
}
