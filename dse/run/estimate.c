/* dse run --dry-run: how much there is to do, how long it takes, how much it writes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "costmodel/fused/core_cache.h"
#include "dse/run/plan.h"
#include "dse/run/runner.h"
#include "dse/spec/keys.h"
#include "results/journal/journal_scan.h"

enum { SAMPLE_MAX = 8, SAMPLE_STEP = 3 };

static const double sample_s =
    1.0; /* at most, per sampled task; no further task of an engine after so long */

/* What a point's row and one row per layer take, measured on ResNet-50; the cube is about as large as both
 * together. */
static const double point_byte = 600, layer_byte = 2200, cube_share = 0.5;

/* What was learnt from some tasks. */
struct task_sample {
    double total_s;       /* wall time of all tasks, one after the other */
    double schedule_byte; /* mean over the schedules found; 0: none */
    size_t n_schedule;
    bool cut; /* some searches were ended early */
};

/* Its wall time. An engine that may hang or crash is not tried: nothing is known of it. */
static double try_task(const struct plan *plan, const struct plan_task *task,
                       const struct solve_shared *shared, struct arena *arena, struct solve_result *result,
                       struct task_sample *sample)
{
    struct sweep_point point;
    struct architecture arch;
    double start_s = clock_wall_s();
    sweep_point(plan->sweep, plan->point[task->point].number, &point);
    if (engine_is_untrusted(point.settings.engine, point.settings.option)) {
        sample->cut = true;
        return 0;
    }
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
    sweep_point(plan->sweep, plan->point[task->point].number, &point);
    return point.settings.engine;
}

/* Try tasks of every engine, spread over the expensive and the cheap ones: one engine may take a thousand
 * times as long as another, and some tasks are infeasible at once. */
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
            if (engine_of(plan, &plan->task[plan->order[i]]) == sweep->engine[e].engine)
                mine[n_mine++] = plan->order[i];
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

/* Which points of the shard are in the journal, and how many rows are not of this specification. */
static enum dse_status mark_done(const struct sweep *sweep, const struct run_options *options,
                                 struct bits *done, size_t *n_foreign, struct dse_error *err)
{
    struct journal_scan *scan;
    struct journal_row row;
    struct machine machine;
    bool more = true;
    if (!bits_init(done, sweep->n_point))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu points", sweep->n_point);
    if (options->fresh)
        return DSE_OK;
    DSE_TRY(journal_scan_open(options->out, &sweep->schema, &scan, err));
    machine_init(&machine, sweep);
    enum dse_status status = DSE_OK;
    while ((status = journal_scan_next(scan, &row, &more, err)) == DSE_OK && more) {
        struct sweep_point point;
        struct point_keys keys;
        if (row.exchanged)
            continue;
        bool again = options->retry && (row.outcome == RESULT_FAILED || row.outcome == RESULT_TIMEOUT);
        size_t p = row.cell == JOURNAL_NO_CELL ? SIZE_MAX : sweep_point_at(sweep, row.cell);
        if (p != SIZE_MAX)
            sweep_point(sweep, p, &point);
        if (p == SIZE_MAX || !keys_of_point(&machine, &point, &keys) || keys.point != row.key)
            ++*n_foreign;
        else if (!again)
            bits_set(done, p);
    }
    journal_scan_close(scan);
    return status;
}

/* From the first window of the queue to figures for all of it. */
static enum dse_status estimate_queue(struct queue *queue, const struct run_options *options,
                                      struct run_estimate *estimate, struct dse_error *err)
{
    const struct sweep *sweep = queue->sweep;
    const struct queue_entry *entry;
    struct solve_shared shared = {.n_thread = 1};
    struct task_sample sample = {0};
    struct machine machine;
    struct plan *plan = NULL;
    machine_init(&machine, sweep);
    size_t n = queue_take(queue, PLAN_LINK_MAX, &entry);
    if (n == 0)
        return DSE_OK;
    enum dse_status status = plan_new(sweep, entry, n, &machine, &plan, err);
    if (status == DSE_OK && sweep->n_scheduler)
        status = core_cache_new(RUN_CORE_COST_MAX, &shared.core_cache, err);
    if (status == DSE_OK) {
        double scale = (double)queue->n / (double)n;
        double n_task = scale * (double)plan->n_task;
        sample_tasks(plan, &shared, &sample);
        estimate->n_task = (size_t)n_task;
        estimate->n_shared = (size_t)(scale * (double)(plan->n_link - plan->n_task));
        estimate->at_least = sample.cut;
        estimate->seconds = scale * sample.total_s / fmax(1, fmin(n_task, (double)options->n_thread));
    }
    estimate->byte = disk_byte(sweep, estimate->n_point, sample.schedule_byte);
    core_cache_free(shared.core_cache);
    plan_free(plan);
    return status;
}

enum dse_status runner_estimate(const struct sweep *sweep, const struct run_options *options,
                                struct run_estimate *estimate, struct dse_error *err)
{
    struct bits mine = {0}, done = {0};
    struct queue queue = {0};
    memset(estimate, 0, sizeof *estimate);
    enum dse_status status = runner_shard(sweep, options, &mine, err);
    if (status == DSE_OK)
        status = mark_done(sweep, options, &done, &estimate->n_foreign, err);
    for (size_t p = 0; status == DSE_OK && p < sweep->n_point; p++) {
        estimate->n_point += bits_has(&mine, p);
        estimate->n_reused += bits_has(&mine, p) && bits_has(&done, p);
    }
    if (status == DSE_OK)
        status = queue_init(&queue, sweep, &mine, &done, err);
    if (status == DSE_OK)
        status = estimate_queue(&queue, options, estimate, err);
    queue_free(&queue);
    bits_free(&mine);
    bits_free(&done);
    return status;
}
