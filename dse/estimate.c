/* dse run --dry-run: how much there is to do, how long it takes, how much it writes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dse/plan.h"
#include "dse/runner.h"
#include "results/journal_read.h"

enum { SAMPLE_MAX = 6, PATH_MAX_BYTE = 4096 };

static const double sample_s = 1.0; /* at most, per sampled task */

/* What a point's row and one row per layer take, measured on ResNet-50; the cube is about as large as both together. */
static const double point_byte = 600, layer_byte = 2200, cube_share = 0.5;

/* Try tasks from the most to the least expensive; the mean of the wall times. */
static double mean_task_s(const struct plan *plan, bool *cut)
{
    double sum_s = 0;
    size_t n = plan->n_task < SAMPLE_MAX ? plan->n_task : SAMPLE_MAX;
    struct solve_result *result = malloc(sizeof *result);
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; result && i < n; i++) {
        const struct plan_task *task = &plan->task[n > 1 ? i * (plan->n_task - 1) / (n - 1) : 0];
        struct sweep_point point;
        struct architecture arch;
        double start_s = clock_wall_s();
        sweep_point(plan->sweep, task->point, &point);
        bool shortened = point.settings.max_seconds <= 0 || point.settings.max_seconds > sample_s;
        if (shortened) /* a limit of the sweep's own will end the real search as well */
            point.settings.max_seconds = sample_s;
        if (sweep_point_build(&point, &arch, NULL) == DSE_OK &&
            solve_task(&point.settings, &point.workload->problem[task->problem], &arch, NULL, &arena,
                       result) == DSE_OK)
            *cut = *cut || (shortened && result->found.stop == STOP_MAX_SECONDS);
        sum_s += clock_wall_s() - start_s;
        arena_reset(&arena);
    }
    arena_free(&arena);
    free(result);
    return n ? sum_s / (double)n : 0;
}

static double disk_byte(const struct sweep *sweep, size_t n_point)
{
    double n_layer = 0;
    size_t n = sweep->n_network * sweep->n_batch;
    for (size_t w = 0; w < n; w++)
        n_layer += (double)sweep->workload[w].n_layer / (double)n;
    return (1 + cube_share) * (double)n_point * (point_byte + n_layer * layer_byte);
}

enum dse_status runner_estimate(const struct sweep *sweep, const struct run_options *options,
                                struct run_estimate *estimate, struct dse_error *err)
{
    struct plan plan;
    struct journal_index index;
    struct result_schema schema = sweep->schema;
    char path[PATH_MAX_BYTE];
    memset(estimate, 0, sizeof *estimate);
    if (!result_path(path, sizeof path, options->out, ".csv"))
        return dse_fail(err, DSE_LIMIT, "the path of the output is too long");
    enum dse_status status = plan_init(&plan, sweep, options->n_thread, err);
    if (status == DSE_OK && !options->fresh)
        status = journal_index_read(path, NULL, &schema, &index, err);
    for (size_t p = 0; status == DSE_OK && p < plan.n_point; p++) {
        bool mine = runner_in_shard(options, p);
        bool there = mine && !options->fresh && journal_index_find(&index, plan.point[p].key);
        plan.point[p].done = there || !mine;
        estimate->n_point += mine;
        estimate->n_reused += there;
    }
    if (status == DSE_OK && !options->fresh)
        journal_index_free(&index);
    if (status == DSE_OK)
        status = plan_tasks(&plan, err);
    if (status == DSE_OK) {
        estimate->n_task = plan.n_task;
        estimate->n_shared = plan.n_link - plan.n_task;
        double threads =
            (double)options->n_thread < (double)plan.n_task ? (double)options->n_thread : (double)plan.n_task;
        estimate->seconds =
            plan.n_task ? mean_task_s(&plan, &estimate->at_least) * (double)plan.n_task / threads : 0;
        estimate->byte = disk_byte(sweep, estimate->n_point);
    }
    plan_free(&plan);
    return status;
}
