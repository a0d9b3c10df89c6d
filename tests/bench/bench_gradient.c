/* How good mappings are that `gradient` and `descent` find on Mind Mappings' machine, bypasses searched:
 * geometric means over its six convolutions of the energy-delay product over the algorithmic minimum. After
 * 1, 20 and 1,000 evaluations of `gradient` (8 seeds) with the time until the first price, and of `descent`
 * (20 seeds) after 0.2 s of processor time. Prints "name,value,unit". */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "tests/support/engine_case.h"
#include "tests/support/mindmappings_case.h"

enum { GRADIENT_SEEDS = 8, DESCENT_SEEDS = 20 };

static const struct engine_setting bypass = {"search_bypass", "true"};

static enum dse_status solve(const char *engine, const struct mindmappings_case *c, int i, uint64_t seed,
                             struct engine_budget budget, struct engine_result *result, struct dse_error *err)
{
    struct engine_task task = {
        .objective = {1, 1}, .seed = seed, .key = problem_hash(&c->problem[i]), .budget = budget};
    return engine_case_solve(engine, &bypass, 1, &c->problem[i], &c->arch, task, result, err);
}

static enum dse_status run_gradient(const struct mindmappings_case *c, struct dse_error *err)
{
    static const uint64_t budget[] = {1, 20, 1000};
    for (size_t b = 0; b < sizeof budget / sizeof budget[0]; b++) {
        double sum = 0, start_s = clock_thread_s();
        for (int i = 0; i < MINDMAPPINGS_PROBLEMS; i++)
            for (uint64_t seed = 1; seed <= GRADIENT_SEEDS; seed++) {
                struct engine_result r;
                DSE_TRY(solve("gradient", c, i, seed, (struct engine_budget){.max_evaluations = budget[b]},
                              &r, err));
                sum += log(mindmappings_case_ratio(i, r.cost));
            }
        enum { N = MINDMAPPINGS_PROBLEMS * GRADIENT_SEEDS };
        if (b == 0)
            printf("gradient/first_answer,%.3f,s\n", (clock_thread_s() - start_s) / N);
        printf("gradient/%g evaluations,%.4f,edp/minimum\n", (double)budget[b], exp(sum / N));
    }
    return DSE_OK;
}

/* Sets the flag that ends a search. */
static void end(union sigval flag)
{
    atomic_store((atomic_int *)flag.sival_ptr, 1);
}

/* Each search has a flag of its own, which is set after so much processor time of this thread: a timer may
 * come late. */
static enum dse_status run_descent(const struct mindmappings_case *c, double limit_s, struct dse_error *err)
{
    enum { N = MINDMAPPINGS_PROBLEMS * DESCENT_SEEDS };
    static atomic_int cancel[N];
    clockid_t clock;
    const struct itimerspec limit = {.it_value = {.tv_nsec = (long)(limit_s * 1e9)}};
    double sum = 0;
    bool found = pthread_getcpuclockid(pthread_self(), &clock) == 0;
    for (int k = 0; k < N && found; k++) {
        struct engine_result r;
        struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = end};
        timer_t timer;
        int i = k / DESCENT_SEEDS;
        event.sigev_value.sival_ptr = &cancel[k];
        found = timer_create(clock, &event, &timer) == 0 && timer_settime(timer, 0, &limit, NULL) == 0;
        DSE_TRY(solve("descent", c, i, (uint64_t)(k % DESCENT_SEEDS + 1),
                      (struct engine_budget){.cancel = &cancel[k]}, &r, err));
        (void)timer_delete(timer);
        sum += log(mindmappings_case_ratio(i, r.cost));
    }
    if (!found)
        return dse_fail(err, DSE_IO, "no timer of processor time");
    printf("descent/%g s,%.4f,edp/minimum\n", limit_s, exp(sum / N));
    return DSE_OK;
}

int main(void)
{
    static struct mindmappings_case c;
    struct dse_error err;
    if (mindmappings_case_init(&c, &err) == DSE_OK && run_gradient(&c, &err) == DSE_OK &&
        run_descent(&c, 0.2, &err) == DSE_OK)
        return 0;
    fprintf(stderr, "bench_gradient: %s\n", err.text);
    return 1;
}
