/* dse run --dry-run: how much there is to do, how long it takes, how much it writes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "costmodel/core_cache.h"
#include "dse/plan.h"
#include "dse/runner.h"
#include "results/journal_read.h"

enum { SAMPLE_MAX = 8, SAMPLE_STEP = 3, PATH_MAX_BYTE = 4096 };

static const double sample_s =
    1.0; /* at most, per sampled task; no further task of an engine after so long */

/* What a point's row and one row per layer take, measured on ResNet-50; the cube is about as large as both together. */
static const double point_byte = 600, layer_byte = 2200, cube_share = 0.5;

/* What was learnt from some tasks. */
struct task_sample {
    double total_s;       /* wall time of all tasks, one after the other */
    double schedule_byte; /* mean over the schedules found; 0: none */
    size_t n_schedule;
    bool cut; /* some searches were ended early */
};

/* Its wall time. */
static double try_task(const struct plan *plan, const struct plan_task *task,
                       const struct solve_shared *shared, struct arena *arena, struct solve_result *result,
                       struct task_sample *sample)
{
    struct sweep_point point;
    struct architecture arch;
    double start_s = clock_wall_s();
    sweep_point(plan->sweep, task->point, &point);
    bool shortened = point.settings.max_seconds <= 0 || point.settings.max_seconds > sample_s;
    if (shortened) /* a limit of the sweep's own will end the real search as well */
        point.settings.max_seconds = sample_s;
    if (sweep_point_build(&point, &arch, NULL) == DSE_OK &&
        sweep_point_solve(&point, task->problem, &arch, shared, NULL, arena, result) == DSE_OK) {
        sample->cut = sample->cut || (shortened && result->found.stop == STOP_MAX_SECONDS);
        sample->n_schedule += result->schedule != NULL;
        sample->schedule_byte += (double)result->found.schedule.text_length;
        solve_result_clear(result);
    }
    arena_reset(arena);
    return clock_wall_s() - start_s;
}

static const struct engine *engine_of(const struct plan *plan, const struct plan_task *task)
{
    struct sweep_point point;
    sweep_point(plan->sweep, task->point, &point);
    return point.settings.engine;
}

/* Try tasks of every engine, spread over the expensive and the cheap ones: one engine may take a thousand times as long as another, and
 * some tasks are infeasible at once. */
static void sample_tasks(const struct plan *plan, const struct solve_shared *shared,
                         struct task_sample *sample)
{
    const struct sweep *sweep = plan->sweep;
    size_t *mine = malloc((plan->n_task + 1) * sizeof *mine);
    struct solve_result *result = malloc(sizeof *result);
    struct arena arena;
    arena_init(&arena);
    for (size_t e = 0; mine && result && e < sweep->n_engine; e++) {
        double sum_s = 0;
        size_t n_mine = 0;
        for (size_t i = 0; i < plan->n_task; i++)
            if (engine_of(plan, &plan->task[i]) == sweep->engine[e].engine)
                mine[n_mine++] = i;
        size_t n = n_mine < SAMPLE_MAX ? n_mine : SAMPLE_MAX, tried = 0;
        for (; tried < n && sum_s < sample_s; tried++) {
            size_t i = n < SAMPLE_MAX ? tried : tried * SAMPLE_STEP % SAMPLE_MAX;
            sum_s += try_task(plan, &plan->task[mine[(2 * i + 1) * n_mine / (2 * n)]], shared, &arena, result,
                              sample);
        }
        sample->total_s += tried ? sum_s / (double)tried * (double)n_mine : 0;
    }
    arena_free(&arena);
    free(result);
    free(mine);
    sample->schedule_byte /= sample->n_schedule > 0 ? (double)sample->n_schedule : 1;
}

static double disk_byte(const struct sweep *sweep, size_t n_point, double schedule_byte)
{
    double n_layer = 0;
    size_t n = sweep->n_network * sweep->n_batch;
    for (size_t w = 0; w < n; w++)
        n_layer += (double)sweep->workload[w].n_layer / (double)n;
    double mapper_share = 1 - (double)sweep->n_scheduler / (double)sweep->n_engine;
    double row_byte = point_byte + mapper_share * n_layer * layer_byte;
    double text_byte =
        (1 - mapper_share) * schedule_byte; /* as long in the cube: it does not compress texts */
    return (double)n_point * ((1 + cube_share) * row_byte + 2 * text_byte);
}

enum dse_status runner_estimate(const struct sweep *sweep, const struct run_options *options,
                                struct run_estimate *estimate, struct dse_error *err)
{
    struct plan plan;
    struct journal_index index;
    struct result_schema schema = sweep->schema;
    char path[PATH_MAX_BYTE];
    struct task_sample sample = {0};
    struct solve_shared shared = {NULL, 1};
    memset(estimate, 0, sizeof *estimate);
    if (!result_path(path, sizeof path, options->out, ".csv"))
        return dse_fail(err, DSE_LIMIT, "the path of the output is too long");
    enum dse_status status = plan_init(&plan, sweep, options->n_thread, err);
    if (status == DSE_OK && sweep->n_scheduler)
        status = core_cache_new(RUN_CORE_COST_MAX, &shared.core_cache, err);
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
        if (plan.n_task)
            sample_tasks(&plan, &shared, &sample);
        estimate->at_least = sample.cut;
        estimate->seconds = sample.total_s / threads;
        estimate->byte = disk_byte(sweep, estimate->n_point, sample.schedule_byte);
    }
    core_cache_free(shared.core_cache);
    plan_free(&plan);
    return status;
}
