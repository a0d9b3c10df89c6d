/* What isolation costs: a search noted on the crash board, a run under a supervisor, a round trip to a worker
 * for a search that takes no time, and a new worker. Wall time, as processes take turns. Prints
 * "name,value,unit". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dse/isolate/supervisor.h"
#include "dse/isolate/worker_pool.h"

enum { N_NOTE = 10000000, N_RUN = 100, N_TRIP = 20000, N_FORK = 300 };

/* Task 1 ends its worker. */
static enum dse_status answer(void *user, size_t point, uint32_t task, int n_thread, struct arena *arena,
                              struct solve_result *result, struct dse_error *err)
{
    (void)user, (void)point, (void)n_thread, (void)arena, (void)err;
    measure_values_init(&result->measured);
    result->outcome = RESULT_INFEASIBLE;
    if (task == 1)
        exit(0);
    return DSE_OK;
}

static bool measure(struct worker_pool *pool, const char *name, uint32_t task, int n)
{
    struct solve_result result;
    double start_s = clock_wall_s();
    const struct worker_job job = {0, task, 1, 60};
    for (int i = 0; i < n; i++)
        if (worker_pool_solve(pool, 0, &job, NULL, &result, NULL) != DSE_OK)
            return false;
    printf("isolation/%s,%.2f,us\n", name, 1e6 * (clock_wall_s() - start_s) / n);
    return true;
}

static int nothing(void *user, struct crash_board *board)
{
    (void)user, (void)board;
    return 0;
}

static bool measure_supervisor(void)
{
    const struct console console = {.out = stdout, .err = stderr};
    struct crash_board *board;
    if (board_new(false, &board, NULL) != DSE_OK)
        return false;
    double start_s = clock_wall_s();
    for (uint64_t i = 0; i < N_NOTE; i++) {
        board_enter(board, 0, i, 0, 0);
        board_leave(board, 0);
    }
    printf("isolation/board,%.2f,ns\n", 1e9 * (clock_wall_s() - start_s) / N_NOTE);
    board_free(board);
    start_s = clock_wall_s();
    for (int i = 0; i < N_RUN; i++)
        if (supervise(nothing, NULL, &console) != 0)
            return false;
    printf("isolation/supervise,%.2f,us\n", 1e6 * (clock_wall_s() - start_s) / N_RUN);
    return true;
}

int main(void)
{
    const struct worker_limits limits = {0, 10};
    struct worker_pool *pool;
    struct dse_error err;
    if (!measure_supervisor())
        return 1;
    if (worker_pool_new_for(answer, NULL, 1, &limits, &pool, &err) != DSE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    bool good = measure(pool, "first_trips", 0, 10) && measure(pool, "round_trip", 0, N_TRIP) &&
                measure(pool, "new_worker", 1, N_FORK);
    worker_pool_free(pool);
    return good ? 0 : 1;
}
