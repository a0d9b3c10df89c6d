/* The threads of a run: take searches, do them, write the points that they complete. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dse/run/point_rows.h"
#include "dse/run/run_state.h"

static const double batch_s = 1e-3;  /* searches are taken in handfuls of about so long, */
static const double sort_s = 1;      /* and sorted again after so long, */
static const double sort_share = 50; /* or later, so that sorting takes at most a fiftieth of the time */

enum dse_status worker_init(struct worker *worker, struct run *run, size_t slot, struct dse_error *err)
{
    size_t n_layer, n_task;
    memset(worker, 0, sizeof *worker);
    worker->run = run;
    worker->slot = slot;
    worker->batch = 1;
    arena_init(&worker->own_arena);
    arena_init(&worker->arena);
    arena_init(&worker->row_arena);
    machine_init(&worker->machine, run->sweep);
    journal_lines_init(&worker->lines);
    point_rows_most(run->sweep, &n_layer, &n_task);
    DSE_TRY(solve_cache_new(&worker->cache, err));
    worker->layer = arena_alloc(&worker->own_arena, n_layer, sizeof *worker->layer);
    worker->result = arena_alloc(&worker->own_arena, n_task, sizeof *worker->result);
    return arena_check(&worker->own_arena, "the rows", err);
}

void worker_free(struct worker *worker)
{
    arena_free(&worker->own_arena);
    arena_free(&worker->arena);
    arena_free(&worker->row_arena);
    journal_lines_free(&worker->lines);
    solve_cache_free(worker->cache);
}

void run_fail(struct run *run, enum dse_status status, const struct dse_error *err)
{
    pthread_mutex_lock(&run->lock);
    if (run->status == DSE_OK) {
        run->status = status;
        *run->err = *err;
    }
    atomic_store(&run->watch.cancel, 1); /* a full disk: no use in searching on */
    pthread_cond_broadcast(&run->planned);
    pthread_mutex_unlock(&run->lock);
}

/* ---------------------------------------- planning */

/* When to sort again, after a sorting from `start_s` to now. */
static double next_sort_s(double start_s)
{
    double end_s = clock_wall_s(), wait_s = sort_share * (end_s - start_s);
    return end_s + (wait_s > sort_s ? wait_s : sort_s);
}

/* Sort the queue when it is time. Under the lock, as what is expected changes with each search. */
static void sort_queue(struct run *run)
{
    double start_s = clock_wall_s();
    if (start_s < run->sort_queue_due_s)
        return;
    queue_sort(&run->queue, run->search_time);
    run->sort_queue_due_s = next_sort_s(start_s);
}

/* The same for what is planned and not handed out yet. */
static void sort_plans(struct run *run)
{
    double start_s = clock_wall_s();
    if (start_s < run->sort_plan_due_s)
        return;
    for (struct plan *plan = run->plan; plan; plan = plan->following) {
        if (plan->next == plan->n_task)
            continue;
        for (size_t i = 0; i < plan->n_point; i++)
            plan->point[i].expected_s =
                queue_expected_s(&run->queue, run->search_time, plan->point[i].number);
        plan_sort(plan);
    }
    run->sort_plan_due_s = next_sort_s(start_s);
}

/* The points that need no search, as their machine cannot be built. */
static enum dse_status write_unbuilt(struct worker *worker, struct plan *plan, struct dse_error *err)
{
    for (size_t i = 0; i < plan->n_point; i++)
        if (plan->point[i].n_task == 0)
            DSE_TRY(run_add_row(worker, plan, &plan->point[i], err));
    return run_write_rows(worker, err);
}

static void add_plan(struct run *run, struct plan *plan)
{
    struct plan **last = &run->plan;
    while (*last)
        last = &(*last)->following;
    *last = plan;
    run->summary->n_task += plan->n_task;
    run->summary->n_shared += plan->n_link - plan->n_task;
}

void run_plan_next(struct worker *worker)
{
    struct run *run = worker->run;
    const struct queue_entry *entry;
    struct dse_error err = {0};
    struct plan *plan = NULL;
    enum dse_status status = DSE_OK;
    pthread_mutex_lock(&run->lock);
    sort_queue(run);
    pthread_mutex_unlock(&run->lock);
    size_t window = run->options->window ? run->options->window : PLAN_LINK_MAX;
    size_t n = queue_take(&run->queue, window, &entry);
    if (n > 0)
        status = plan_new(run->sweep, entry, n, &worker->machine, &plan, &err);
    if (status == DSE_OK && plan)
        status = write_unbuilt(worker, plan, &err);
    pthread_mutex_lock(&run->lock);
    if (plan)
        add_plan(run, plan);
    run->planning = false;
    pthread_cond_broadcast(&run->planned);
    pthread_mutex_unlock(&run->lock);
    if (status != DSE_OK)
        run_fail(run, status, &err);
}

/* ---------------------------------------- taking */

/* Under the lock: the oldest plan with something to hand out, or NULL. Plans that are all written are
 * freed. */
static struct plan *open_plan(struct run *run)
{
    struct plan **at = &run->plan, *found = NULL;
    while (*at) {
        struct plan *plan = *at;
        if (plan->n_unwritten == 0 && plan->next == plan->n_task) {
            *at = plan->following;
            plan_free(plan);
            continue;
        }
        if (!found && plan->next < plan->n_task)
            found = plan;
        at = &plan->following;
    }
    return found;
}

/* Under the lock: hand out a few searches. */
static void take(struct worker *worker, struct plan *plan)
{
    size_t left = plan->n_task - plan->next, fair = left / (2 * (size_t)worker->run->n_worker);
    size_t n = worker->batch < fair ? worker->batch : fair;
    n = n > 0 ? n : 1;
    for (size_t i = 0; i < n; i++)
        worker->job[i] = (struct run_job){.plan = plan, .task = &plan->task[plan->order[plan->next++]]};
    worker->n_job = n;
}

/* Get searches to do, making or awaiting a plan when there are none; false when the run is over for this
 * thread. */
static bool get_jobs(struct worker *worker)
{
    struct run *run = worker->run;
    bool plan_more = false;
    worker->n_job = 0;
    pthread_mutex_lock(&run->lock);
    sort_plans(run);
    while (!atomic_load(&run->watch.cancel)) {
        struct plan *plan = open_plan(run);
        bool more = !run->planning && run->queue.next < run->queue.n; /* else who plans knows */
        if (plan) {
            take(worker, plan);
            /* the next plan is made while this one is worked on */
            plan_more = more && !plan->following && 2 * plan->next > plan->n_task;
            run->planning = run->planning || plan_more;
            break;
        }
        if (run->planning) {
            pthread_cond_wait(&run->planned, &run->lock);
            continue;
        }
        if (!more)
            break;
        run->planning = true;
        pthread_mutex_unlock(&run->lock);
        run_plan_next(worker);
        pthread_mutex_lock(&run->lock);
    }
    pthread_mutex_unlock(&run->lock);
    if (plan_more)
        run_plan_next(worker);
    return worker->n_job > 0;
}

/* ---------------------------------------- doing */

/* A number for the engine, the same in all runs of the sweep. */
static uint32_t engine_number(const struct sweep *sweep, const struct engine *engine)
{
    uint32_t i = 0;
    while (i + 1 < sweep->n_engine && sweep->engine[i].engine != engine)
        i++;
    return i;
}

static bool must_isolate(const struct run *run, const struct solve_settings *settings, uint64_t key,
                         uint32_t engine)
{
    if (!run->pool)
        return false;
    return run->options->isolation == ISOLATION_PROCESS || run->sweep->max_memory_byte > 0 ||
           engine_is_untrusted(settings->engine, settings->option) ||
           board_must_isolate(run->board, key, engine);
}

static enum dse_status search_here(struct worker *worker, const struct plan_task *task, uint32_t engine,
                                   struct solve_result *result, struct dse_error *err)
{
    struct run *run = worker->run;
    double limit_s = worker->point.settings.max_seconds;
    if (machine_of(&worker->machine, &worker->point) != DSE_OK) {
        *err = worker->machine.why;
        return err->status;
    }
    arena_reset(&worker->arena);
    board_enter(run->board, worker->slot, task->key, engine,
                limit_s > 0 ? clock_wall_s() + limit_s + run->sweep->grace_s : 0);
    struct solve_shared shared = run->shared;
    shared.cache = worker->cache;
    solve_cache_machine(worker->cache, worker->machine.n_built);
    enum dse_status status = sweep_point_solve(&worker->point, task->problem, &worker->machine.arch, &shared,
                                               &run->watch.cancel, &worker->arena, result);
    board_leave(run->board, worker->slot);
    return status;
}

/* A result has come: make the lines of the points that waited only for it. Without the lock: a point belongs
 * to who does its last search. */
static enum dse_status accept(struct worker *worker, struct run_job *job, struct solve_result *result,
                              struct dse_error *err)
{
    struct plan *plan = job->plan;
    struct plan_task *task = job->task;
    uint32_t ready = PLAN_NONE;
    enum dse_status status = DSE_OK;
    task->result = result;
    atomic_fetch_add(&worker->run->progress.task_done, task->n_user_all);
    /* all users first, as the plan may go with its last point, which may be another thread's */
    for (uint32_t i = task->n_user_all; i-- > 0;) {
        uint32_t at = plan->user_of[task->first_user + i];
        if (atomic_fetch_sub(&plan->point[at].n_left, 1) > 1)
            continue;
        plan->point[at].next_ready = ready;
        ready = at;
    }
    while (ready != PLAN_NONE && status == DSE_OK) {
        struct plan_point *point = &plan->point[ready];
        ready = point->next_ready;
        status = run_add_row(worker, plan, point, err);
    }
    return status;
}

/* Search, and make the lines of points that are done then. */
static enum dse_status search(struct worker *worker, struct run_job *job, struct dse_error *err)
{
    struct run *run = worker->run;
    enum dse_status status;
    job->number = job->plan->point[job->task->point].number;
    job->problem = job->task->problem;
    struct solve_result *result = malloc(sizeof *result);
    if (!result)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a result");
    sweep_point(run->sweep, job->number, &worker->point);
    uint32_t engine = engine_number(run->sweep, worker->point.settings.engine);
    double start_s = clock_wall_s();
    const struct worker_job to_do = {job->number, job->problem, run->shared.n_thread,
                                     worker->point.settings.max_seconds};
    if (must_isolate(run, &worker->point.settings, job->task->key, engine))
        status = worker_pool_solve(run->pool, worker->slot, &to_do, &run->watch.cancel, result, err);
    else
        status = search_here(worker, job->task, engine, result, err);
    if (status != DSE_OK) {
        free(result);
        return status;
    }
    job->done = true;
    job->seconds = clock_wall_s() - start_s;
    return accept(worker, job, result, err);
}

/* The handful takes longer than it should: all but the first `n` are for whoever comes next. */
static void give_back(struct worker *worker, size_t n)
{
    pthread_mutex_lock(&worker->run->lock);
    while (worker->n_job > n) {
        const struct run_job *job = &worker->job[--worker->n_job];
        struct plan *plan = job->plan;
        plan->order[--plan->next] = (uint32_t)(job->task - plan->task);
    }
    pthread_cond_broadcast(&worker->run->planned);
    pthread_mutex_unlock(&worker->run->lock);
}

static void do_jobs(struct worker *worker)
{
    struct dse_error err, later;
    enum dse_status status = DSE_OK;
    double start_s = clock_wall_s();
    for (size_t i = 0; i < worker->n_job && (status == DSE_OK || status == DSE_INTERRUPTED) &&
                       !atomic_load(&worker->run->watch.cancel);
         i++) {
        status = search(worker, &worker->job[i], &err);
        if (i + 1 < worker->n_job && clock_wall_s() - start_s > 2 * batch_s)
            give_back(worker, i + 1);
    }
    /* what was found before a failure is kept */
    enum dse_status written = run_write_rows(worker, &later);
    if (status != DSE_OK && status != DSE_INTERRUPTED)
        run_fail(worker->run, status, &err);
    else if (written != DSE_OK)
        run_fail(worker->run, written, &later);
}

/* One thread at a time, while the others go on. */
static void build_cube_if_due(struct run *run)
{
    struct dse_error err = {0};
    enum dse_status status;
    pthread_mutex_lock(&run->lock);
    bool due = run->status == DSE_OK && !run->building && clock_wall_s() >= run->cube_due_s &&
               !atomic_load(&run->watch.cancel);
    run->building = run->building || due;
    pthread_mutex_unlock(&run->lock);
    if (!due)
        return;
    status = run_build_cube(run, &err);
    if (status != DSE_OK)
        run_fail(run, status, &err);
    pthread_mutex_lock(&run->lock);
    run->building = false;
    pthread_mutex_unlock(&run->lock);
}

void run_work(struct worker *worker)
{
    while (get_jobs(worker)) {
        double start_s = clock_wall_s();
        do_jobs(worker);
        double took_s = clock_wall_s() - start_s;
        if (took_s > 2 * batch_s)
            worker->batch = worker->batch > 1 ? worker->batch / 2 : 1;
        else if (took_s < batch_s / 2 && worker->n_job == worker->batch && worker->batch < RUN_BATCH_MAX)
            worker->batch *= 2;
        worker->busy_s += took_s;
        build_cube_if_due(worker->run);
    }
    worker->idle_from_s = clock_wall_s();
}
