#include "dse/runner.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "costmodel/core_cache.h"
#include "dse/plan.h"
#include "dse/progress.h"
#include "dse/record.h"
#include "dse/watch.h"
#include "results/cube.h"
#include "results/journal.h"

/* The cube is built again after half a minute, or later, so that building takes at most a twentieth of the time. */
static const double cube_interval_s = 30, cube_share = 20;

/* One run. Workers share it; what comes after `lock` is only touched while holding it. */
struct run {
    const struct sweep *sweep;
    const struct run_options *options;
    struct run_summary *summary;
    struct plan plan;
    struct result_schema schema;
    struct provenance provenance;
    struct progress progress;
    struct watch watch;
    int n_worker; /* threads that take tasks; each task may use shared.n_thread */
    struct solve_shared shared;
    omp_lock_t lock;
    struct journal *journal;
    struct arena arena;
    struct layer_record *layer;         /* (most layers of any point) */
    const struct solve_result **result; /* (most loop nests of any point) */
    double cube_due_s;                  /* when the cube is to be built again */
    enum dse_status status;             /* of the writer; the first failure ends the run */
    struct dse_error *err;
};

bool runner_in_shard(const struct run_options *options, size_t p)
{
    return options->n_shard <= 1 || p % options->n_shard == options->shard - 1;
}

static enum dse_status build_cube(struct run *run)
{
    double start_s = clock_wall_s();
    provenance_finish(&run->provenance);
    DSE_TRY(journal_flush(run->journal, run->err));
    enum dse_status status = cube_build(run->options->out, &run->schema, &run->provenance, run->err);
    double end_s = clock_wall_s();
    run->cube_due_s = end_s + fmax(cube_interval_s, cube_share * (end_s - start_s));
    return status;
}

static void count_point(struct run *run, enum result_status outcome)
{
    run->summary->n_status[outcome]++;
    atomic_fetch_add(&run->progress.point_done, 1);
    if (outcome != RESULT_OK)
        atomic_fetch_add(&run->progress.not_ok, 1);
}

/* A point whose machine cannot be built. */
static enum dse_status write_unbuilt(struct run *run, size_t p, const struct sweep_point *point,
                                     const struct dse_error *why)
{
    struct point_record record;
    char reason[DSE_ERROR_FILE_MAX + DSE_ERROR_TEXT_MAX + 32];
    point_record_init(&record);
    record.index = point->index;
    record.key = run->plan.point[p].key;
    record.outcome = RESULT_FAILED;
    record.reason = dse_error_print(why, reason, sizeof reason);
    record.n_layer = 0;
    count_point(run, record.outcome);
    return journal_append_record(run->journal, &record, NULL, 0, run->err);
}

/* All tasks of point p are done: its rows. Called under the lock. */
static enum dse_status write_point(struct run *run, size_t p)
{
    struct sweep_point point;
    struct architecture arch;
    struct point_record record = {0};
    struct dse_error why = {0};
    sweep_point(run->sweep, p, &point);
    if (sweep_point_build(&point, &arch, &why) != DSE_OK)
        return write_unbuilt(run, p, &point, &why);
    uint32_t n_task = sweep_point_n_task(&point);
    for (uint32_t i = 0; i < n_task; i++)
        run->result[i] = run->plan.task[run->plan.task_of[run->plan.point[p].first_task + i]].result;
    struct record_source source = {point.workload,    &arch, run->result, run->schema.n_level,
                                   run->schema.level, true};
    arena_reset(&run->arena);
    record.index = point.index;
    record.key = run->plan.point[p].key;
    if (solve_is_scheduler(&point.settings))
        DSE_TRY(record_make_network(&source, &run->arena, &record, run->layer, run->err));
    else
        DSE_TRY(record_make(&source, &run->arena, &record, run->layer, run->err));
    count_point(run, record.outcome);
    return journal_append_record(run->journal, &record, run->layer, (size_t)record.n_layer, run->err);
}

/* Give up the results that no point waits for any more. */
static void release(struct run *run, size_t p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct plan_task *task = &run->plan.task[run->plan.task_of[run->plan.point[p].first_task + i]];
        if (--task->n_user == 0) {
            solve_result_clear(task->result);
            free(task->result);
            task->result = NULL;
        }
    }
}

/* A result has come: write the points that waited only for it. Called under the lock. */
static enum dse_status deliver(struct run *run, struct plan_task *task)
{
    for (uint32_t i = 0; i < task->n_user_all; i++) {
        size_t p = run->plan.user_of[task->first_user + i];
        struct sweep_point point;
        if (--run->plan.point[p].n_left > 0)
            continue;
        DSE_TRY(write_point(run, p));
        sweep_point(run->sweep, p, &point);
        release(run, p, sweep_point_n_task(&point));
    }
    if (clock_wall_s() >= run->cube_due_s)
        return build_cube(run);
    return DSE_OK;
}

/* Search one task and hand it over. */
static void work(struct run *run, struct plan_task *task, struct arena *arena)
{
    struct sweep_point point;
    struct architecture arch;
    struct dse_error err = {0};
    struct solve_result *result = malloc(sizeof *result);
    enum dse_status status = result ? DSE_OK : dse_fail(&err, DSE_NO_MEMORY, "out of memory for a result");
    sweep_point(run->sweep, task->point, &point);
    if (status == DSE_OK)
        status = sweep_point_build(&point, &arch, &err);
    arena_reset(arena);
    if (status == DSE_OK)
        status =
            sweep_point_solve(&point, task->problem, &arch, &run->shared, &run->watch.cancel, arena, result);
    if (status == DSE_INTERRUPTED) {
        free(result);
        return;
    }
    omp_set_lock(&run->lock);
    task->result = result;
    atomic_fetch_add(&run->progress.task_done, 1);
    if (status != DSE_OK && run->status == DSE_OK)
        *run->err = err;
    else if (run->status == DSE_OK)
        status = deliver(run, task);
    if (status != DSE_OK && run->status == DSE_OK) {
        run->status = status;
        atomic_store(&run->watch.cancel, 1); /* a full disk: no use in searching on */
    }
    omp_unset_lock(&run->lock);
}

static void work_all(struct run *run)
{
#pragma omp parallel num_threads(run->n_worker)
    {
        struct arena arena;
        arena_init(&arena);
#pragma omp for schedule(dynamic, 1)
        for (size_t t = 0; t < run->plan.n_task; t++)
            if (!atomic_load(&run->watch.cancel))
                work(run, &run->plan.task[t], &arena);
        arena_free(&arena);
    }
}

/* The points that no task leads to, as their machine cannot be built. */
static enum dse_status write_without_tasks(struct run *run)
{
    for (size_t p = 0; p < run->plan.n_point; p++)
        if (!run->plan.point[p].done && run->plan.point[p].arch_key == 0)
            DSE_TRY(write_point(run, p));
    return DSE_OK;
}

/* Which points are there already, or belong to other shards. */
static void mark_done(struct run *run)
{
    for (size_t p = 0; p < run->plan.n_point; p++) {
        struct plan_point *point = &run->plan.point[p];
        bool mine = runner_in_shard(run->options, p);
        bool there = mine && journal_find(run->journal, point->key, NULL);
        point->done = there || !mine;
        run->summary->n_point += mine;
        run->summary->n_reused += there;
    }
}

static enum dse_status allocate(struct run *run)
{
    size_t n_layer = 1, n_problem = 1;
    if (run->sweep->n_scheduler)
        DSE_TRY(core_cache_new(RUN_CORE_COST_MAX, &run->shared.core_cache, run->err));
    for (size_t w = 0; w < run->sweep->n_network * run->sweep->n_batch; w++) {
        const struct workload *workload = &run->sweep->workload[w];
        n_layer = workload->n_layer > n_layer ? workload->n_layer : n_layer;
        n_problem = workload->n_problem > n_problem ? workload->n_problem : n_problem;
    }
    run->layer = calloc(n_layer, sizeof *run->layer);
    run->result = calloc(n_problem, sizeof *run->result);
    return run->layer && run->result ? DSE_OK
                                     : dse_fail(run->err, DSE_NO_MEMORY, "out of memory for the rows");
}

/* Fewer tasks than threads: those left over are for the tasks themselves, where an engine can use them. */
static void share_threads(struct run *run)
{
    size_t n_thread = (size_t)run->options->n_thread, n_task = run->plan.n_task ? run->plan.n_task : 1;
    run->n_worker = (int)(n_task < n_thread ? n_task : n_thread);
    run->shared.n_thread = run->options->n_thread / run->n_worker;
    if (run->shared.n_thread > 1)
        omp_set_max_active_levels(2);
}

/* With the journal open: everything from the plan of tasks to the last cube. */
static enum dse_status run_open(struct run *run)
{
    mark_done(run);
    DSE_TRY(plan_tasks(&run->plan, run->err));
    share_threads(run);
    run->summary->n_task = run->plan.n_task;
    run->summary->n_shared = run->plan.n_link - run->plan.n_task;
    if (run->options->fresh || access(run->options->out, F_OK) != 0)
        DSE_TRY(build_cube(run)); /* so that `dse status` knows the axes from the start */
    else
        run->cube_due_s = clock_wall_s() + cube_interval_s;
    progress_init(&run->progress, run->options->err, run->summary->n_point - run->summary->n_reused,
                  run->plan.n_task);
    DSE_TRY(watch_start(&run->watch, &run->progress, run->err));
    run->status = write_without_tasks(run);
    if (run->status == DSE_OK)
        work_all(run);
    watch_stop(&run->watch);
    progress_clear(&run->progress);
    run->summary->interrupted = atomic_load(&run->watch.signal) != 0;
    DSE_TRY(run->status);
    return build_cube(run);
}

static enum dse_status prepare(struct run *run)
{
    provenance_make(&run->provenance);
    run->provenance.n_thread = (unsigned)run->options->n_thread;
    snprintf(run->provenance.command, sizeof run->provenance.command, "%s",
             run->options->command ? run->options->command : "");
    DSE_TRY(plan_init(&run->plan, run->sweep, run->options->n_thread, run->err));
    DSE_TRY(allocate(run));
    run->schema = run->sweep->schema;
    run->schema.point_key = run->plan.point_key;
    struct journal_options how = {.fresh = run->options->fresh, .command = run->options->command};
    return journal_open(run->options->out, &run->schema, how, &run->journal, run->err);
}

enum dse_status runner_run(const struct sweep *sweep, const struct run_options *options,
                           struct run_summary *summary, struct dse_error *err)
{
    struct dse_error ignored;
    struct run *run = calloc(1, sizeof *run);
    memset(summary, 0, sizeof *summary);
    if (!run)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the run");
    double start_s = clock_wall_s();
    run->sweep = sweep;
    run->options = options;
    run->summary = summary;
    run->err = err ? err : &ignored;
    arena_init(&run->arena);
    omp_init_lock(&run->lock);
    watch_block(&run->watch);
    enum dse_status status = prepare(run);
    if (status == DSE_OK)
        status = run_open(run);
    summary->seconds = clock_wall_s() - start_s;
    journal_close(run->journal);
    plan_free(&run->plan);
    core_cache_free(run->shared.core_cache);
    arena_free(&run->arena);
    omp_destroy_lock(&run->lock);
    watch_unblock(&run->watch);
    free(run->layer);
    free(run->result);
    free(run);
    return status;
}
