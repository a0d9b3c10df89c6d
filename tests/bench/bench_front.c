/* The Pareto front of a million rows: independent numbers, few different ones, and rows all of which are on
 * it (of four axes and more 100,000 of these). Prints "name,value,unit": processor seconds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "results/front/pareto_front.h"

enum { N = 1000000, AXES_MAX = 5 };

static const char *const form[] = {"independent", "64_values", "all_on_it"};

static void fill(double *value, size_t n, size_t n_axis, size_t how)
{
    struct random_stream stream = random_stream_make(7, (uint32_t)how, RANDOM_TEST);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t a = 0; a < n_axis; a++) {
            double *v = &value[i * n_axis + a];
            *v = how == 1 ? random_below(&stream, 64) : random_unit(&stream);
            if (how == 2 && a + 1 == n_axis)
                *v = -sum;
            sum += *v;
        }
    }
}

int main(void)
{
    static const int less[AXES_MAX] = {-1, -1, -1, -1, -1};
    double *value = malloc((size_t)N * AXES_MAX * sizeof *value);
    size_t *front = malloc((size_t)N * sizeof *front), n_front;
    struct dse_error err;
    int failed = !value || !front;
    for (size_t n_axis = 2; n_axis <= AXES_MAX && !failed; n_axis++)
        for (size_t how = 0; how < 3 && !failed; how++) {
            const size_t n = how == 2 && n_axis > 3 ? N / 10 : N;
            fill(value, n, n_axis, how);
            const double start_s = clock_thread_s();
            failed = pareto_front(value, n, less, n_axis, PARETO_APART, front, &n_front, &err) != DSE_OK;
            printf("front/%zu_metrics/%s,%.3f,s\n", n_axis, form[how], clock_thread_s() - start_s);
            failed |= (how == 2 && n_front != n);
        }
    free(value);
    free(front);
    return failed;
}
