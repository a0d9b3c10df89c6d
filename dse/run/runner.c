/* The life of a run: lock and journal, what is done already, threads, cubes in between and at the end,
 * signals; what one thread does is in run_work.c. */
#include "dse/run/runner.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "costmodel/fused/core_cache.h"
#include "dse/run/run_state.h"
#include "dse/run/shards.h"
#include "engines/driver/known_bounds.h"
#include "results/cube/cube.h"
#include "results/cube/cube_read.h"

/* The cube is built again after half a minute, or later, so that building takes at most a twentieth of the
 * time. */
static const double cube_interval_s = 30, cube_share = 20;

/* A run that is told to stop still builds the cube when that is expected to take no longer. */
static const double cube_stop_s = 5;

/* Of one point, where no cube of many points has been built yet. */
static const double cube_point_s = 50e-6;
enum { CUBE_MANY = 10000 };

enum dse_status runner_shard(const struct sweep *sweep, const struct run_options *options, struct bits *mine,
                             struct dse_error *err)
{
    if (!bits_init(mine, sweep->n_point))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu points", sweep->n_point);
    if (options->n_shard > 1)
        return shards_mark(sweep, options->shard, options->n_shard, mine, err);
    for (size_t p = 0; p < sweep->n_point; p++)
        bits_set(mine, p);
    return DSE_OK;
}

enum dse_status run_build_cube(struct run *run, struct dse_error *err)
{
    double start_s = clock_wall_s();
    pthread_mutex_lock(&run->lock);
    enum dse_status status = journal_flush(run->journal, err);
    size_t n = journal_count(run->journal);
    pthread_mutex_unlock(&run->lock);
    DSE_TRY(status);
    DSE_TRY(journal_sync_now(run->journal, err));
    provenance_finish(&run->provenance);
    status = cube_build(run->options->out, &run->schema, &run->provenance, err);
    double end_s = clock_wall_s();
    run->cube_took_s = end_s - start_s;
    run->cube_n = n;
    pthread_mutex_lock(&run->lock);
    for (const struct run_observer *who = run->options->observer; who && status == DSE_OK; who = who->next)
        if (who->cube)
            who->cube(who->user, run->cube_took_s);
    pthread_mutex_unlock(&run->lock);
    run->cube_due_s = end_s + fmax(cube_interval_s, cube_share * run->cube_took_s);
    return status;
}

/* Fewer searches than threads: those left over are for the searches themselves, where an engine can use
 * them. */
static void share_threads(struct run *run)
{
    size_t n_thread = (size_t)run->options->n_thread, n_task = n_thread;
    if (run->queue.next == run->queue.n)
        n_task = run->plan && run->plan->n_task ? run->plan->n_task : 1;
    run->n_worker = (int)(n_task < n_thread ? n_task : n_thread);
    run->shared.n_thread = run->options->n_thread / run->n_worker;
    if (run->shared.n_thread > 1)
        omp_set_max_active_levels(2);
}

/* All threads work; afterwards `worker` tells how they were used. */
static void work_all(struct run *run, struct worker *worker)
{
    double start_s = clock_wall_s(), first_s = INFINITY;
    int n_worker = run->n_worker;
#pragma omp parallel num_threads(n_worker)
    {
#pragma omp single nowait
        n_worker = omp_get_num_threads(); /* a limit of OpenMP's may leave fewer */
        run_work(&worker[omp_get_thread_num()]);
    }
    double end_s = clock_wall_s();
    for (int i = 0; i < n_worker; i++) {
        run->summary->busy_s += worker[i].busy_s;
        first_s = fmin(first_s, worker[i].idle_from_s);
    }
    run->summary->n_thread = n_worker;
    run->summary->work_s = end_s - start_s;
    run->summary->tail_s = end_s - first_s;
}

/* ---------------------------------------- beside the searches */

/* Under the lock. */
static void tell_tick(const struct run *run)
{
    for (const struct run_observer *who = run->options->observer; who; who = who->next)
        if (who->tick)
            who->tick(who->user);
}

/* Finished rows to the kernel, and to the disk from time to time: rows of a moment ago survive a kill, and
 * those of a second ago a power failure, whatever the searches do. */
static void save(struct run *run)
{
    struct dse_error err = {0};
    pthread_mutex_lock(&run->lock);
    enum dse_status status = run->status == DSE_OK ? journal_flush(run->journal, &err) : DSE_OK;
    tell_tick(run);
    pthread_mutex_unlock(&run->lock);
    if (status == DSE_OK)
        status = journal_sync(run->journal, &err);
    if (status != DSE_OK)
        run_fail(run, status, &err);
}

/* Finished rows to the kernel, unless the lock cannot be had for a second. For the watchdog. */
static void flush(void *user)
{
    enum { TRY_MAX = 100, WAIT_NS = 10 * 1000 * 1000 };
    const struct timespec wait = {0, WAIT_NS};
    struct run *run = user;
    for (int i = 0; i < TRY_MAX; i++) {
        if (pthread_mutex_trylock(&run->lock) == 0) {
            (void)!journal_flush(run->journal,
                                 NULL); /* the process ends: what cannot be written is computed again */
            tell_tick(run);
            pthread_mutex_unlock(&run->lock);
            return;
        }
        nanosleep(&wait, NULL);
    }
}

/* About ten times a second in the thread that waits for signals. */
static void tick(void *user, double now_s)
{
    struct run *run = user;
    save(run);
    /* a run that failed waits for its searches, so that it can say why: only signals count */
    watchdog_tick(&run->watchdog, now_s, atomic_load(&run->watch.signal) != 0);
}

static void stop_watch(struct run *run)
{
    if (run->watching)
        watch_stop(&run->watch);
    run->watching = false;
}

/* Watch for signals, and for nothing else before there is work. */
static enum dse_status watch_again(struct run *run, bool at_work, struct dse_error *err)
{
    stop_watch(run);
    run->watch.tick = at_work ? tick : NULL;
    run->watch.user = run;
    enum dse_status status = watch_start(&run->watch, at_work ? &run->progress : NULL, err);
    run->watching = status == DSE_OK;
    return status;
}

/* The first plan is made by the first worker alone; then the threads start. */
static enum dse_status run_workers(struct run *run, struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    size_t n = (size_t)run->options->n_thread, made = 0;
    struct worker *worker = calloc(n, sizeof *worker);
    if (!worker)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu threads", n);
    for (; made < n && status == DSE_OK; made++)
        status = worker_init(&worker[made], run, made, err);
    if (status == DSE_OK) {
        run->planning = true;
        run_plan_next(&worker[0]);
        share_threads(run);
        run->watchdog = (struct watchdog){.board = run->board,
                                          .n_slot = (size_t)run->n_worker,
                                          .grace_s = run->sweep->grace_s,
                                          .flush = flush,
                                          .user = run,
                                          .err = run->options->err};
        status = watch_again(run, true, err);
    }
    if (status == DSE_OK)
        work_all(run, worker);
    for (size_t i = 0; i < made; i++)
        worker_free(&worker[i]);
    free(worker);
    return status == DSE_OK ? run->status : status;
}

/* How long a cube is expected to take now. */
static double cube_expected_s(const struct run *run)
{
    double n = (double)journal_count(run->journal);
    return run->cube_n >= CUBE_MANY ? run->cube_took_s * n / (double)run->cube_n
                                    : run->cube_took_s + cube_point_s * n;
}

/* ---------------------------------------- behind the searches */

/* Points that have a row. */
static size_t count_done(const struct run_summary *s)
{
    size_t n = s->n_reused;
    for (int i = 0; i < RESULT_STATUS_COUNT; i++)
        n += s->n_status[i];
    return n;
}

static enum dse_status take_exchanged(void *user, uint64_t cell, const struct journal_lines *lines,
                                      struct dse_error *err)
{
    struct run *run = user;
    (void)cell;
    pthread_mutex_lock(&run->lock);
    enum dse_status status = run->status == DSE_OK ? journal_append(run->journal, lines, err) : DSE_OK;
    pthread_mutex_unlock(&run->lock);
    return status;
}

/* All points have their rows, and OUT.h5 is not of what comes of these: cells exchange schedules. `*whole` is
 * false when a signal ended that. */
static enum dse_status exchange(struct run *run, bool *whole, struct dse_error *err)
{
    struct run_summary *s = run->summary;
    const struct exchange_options options = {
        .tables = run->options->out,
        .schema = &run->schema,
        .core_cache = run->shared.core_cache,
        .n_thread = run->options->n_thread,
        .cancel = &run->watch.cancel,
        .take = take_exchanged,
        .user = run,
    };
    *whole = true;
    if (!run_exchanges(run) || count_done(s) < s->n_point || run->cube_is_current)
        return DSE_OK;
    pthread_mutex_lock(&run->lock);
    enum dse_status status = run->status == DSE_OK ? journal_flush(run->journal, err) : run->status;
    pthread_mutex_unlock(&run->lock);
    if (status == DSE_OK)
        status = exchange_run(run->sweep, &options, &s->exchange, err);
    *whole = status != DSE_INTERRUPTED;
    if (!*whole)
        return run->status; /* that of a failure, or a signal came */
    DSE_TRY(status);
    run->schema.exchanged = true;
    return DSE_OK;
}

/* The last cube; a run that was told to stop must end soon. */
static enum dse_status finish_cube(struct run *run, bool exchanged, struct dse_error *err)
{
    struct run_summary *s = run->summary;
    size_t n = count_done(s);
    s->interrupted = n < s->n_point || !exchanged; /* a signal behind all that interrupts nothing */
    s->signal = s->interrupted ? atomic_load(&run->watch.signal) : 0;
    if (s->interrupted && s->signal == 0)
        return dse_fail(err, DSE_INTERNAL, "%zu points were not computed; the same command resumes",
                        s->n_point - n);
    if (run->cube_is_current && n == s->n_reused)
        return DSE_OK; /* nothing has been added to what it was built from */
    s->cube_is_old = s->interrupted && cube_expected_s(run) > cube_stop_s;
    return s->cube_is_old ? DSE_OK : run_build_cube(run, err);
}

/* The cube that is there is of this specification. One of another must go before the first row is written:
 * dse merge takes rows for those of the specification in the cube beside them. */
static bool cube_is_ours(const struct run *run)
{
    struct arena arena;
    struct result_schema schema;
    if (run->options->fresh || access(run->options->out, F_OK) != 0)
        return false;
    arena_init(&arena);
    bool ours = cube_read_schema(run->options->out, &arena, &schema, NULL) == DSE_OK &&
                schema.specification_hash == run->schema.specification_hash;
    arena_free(&arena);
    return ours;
}

/* With the journal open: everything from the queue to the last cube. */
static enum dse_status run_open(struct run *run, struct dse_error *err)
{
    DSE_TRY(queue_init(&run->queue, run->sweep, &run->mine, &run->done, err));
    if (!run->cube_is_current && !cube_is_ours(run))
        DSE_TRY(run_build_cube(run, err)); /* so that `dse status` knows the axes from the start */
    run->cube_due_s = run->options->n_shard > 1 ? INFINITY : clock_wall_s() + cube_interval_s;
    progress_init(&run->progress, run->options->err, run->options->err_terminal,
                  run->summary->n_point - run->summary->n_reused,
                  queue_count_links(run->sweep, run->queue.entry, run->queue.n));
    bool exchanged = true;
    enum dse_status status = run_workers(run, err);
    if (status == DSE_OK)
        status = exchange(run, &exchanged, err);
    if (status == DSE_OK)
        status = finish_cube(run, exchanged, err);
    stop_watch(run); /* it ticks until here, and may fail */
    progress_clear(&run->progress);
    DSE_TRY(status);
    DSE_TRY(run->status);
    status = journal_finish(run->journal, err);
    run->journal = NULL;
    return status;
}

/* Some searches may need processes of their own. */
static bool needs_pool(const struct run *run)
{
    const struct sweep *sweep = run->sweep;
    bool needs = run->options->isolation == ISOLATION_PROCESS || sweep->max_memory_byte > 0 ||
                 board_isolates(run->board);
    for (size_t i = 0; i < sweep->n_engine; i++)
        needs = needs || sweep->engine[i].engine->untrusted;
    return needs && run->options->isolation != ISOLATION_THREAD;
}

/* What must be there before the first thread and the first open file. */
static enum dse_status prepare(struct run *run, struct dse_error *err)
{
    const struct run_options *options = run->options;
    struct worker_limits limits = {run->sweep->max_memory_byte, run->sweep->grace_s};
    if (!options->board)
        DSE_TRY(board_new(false, &run->own_board, err));
    run->board = options->board ? options->board : run->own_board;
    if (needs_pool(run))
        DSE_TRY(worker_pool_new(run->sweep, (size_t)options->n_thread, &limits, &run->pool, err));
    watch_block(&run->watch);
    run->blocked = true;
    provenance_make(&run->provenance);
    run->provenance.n_thread = (unsigned)options->n_thread;
    snprintf(run->provenance.command, sizeof run->provenance.command, "%s",
             options->command ? options->command : "");
    if (run->sweep->n_scheduler)
        DSE_TRY(core_cache_new(RUN_CORE_COST_MAX, &run->shared.core_cache, err));
    DSE_TRY(known_bounds_new(KNOWN_BOUNDS_MAX, &run->shared.known, err));
    DSE_TRY(search_time_new(run->sweep, &run->search_time, err));
    run->schema = run->sweep->schema;
    run->schema.shard = options->shard;
    run->schema.n_shard = options->n_shard;
    if (!bits_init(&run->done, run->sweep->n_point))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu points", run->sweep->n_point);
    return runner_shard(run->sweep, options, &run->mine, err);
}

static void release(struct run *run)
{
    stop_watch(run);
    journal_close(run->journal);
    while (run->plan) {
        struct plan *plan = run->plan;
        run->plan = plan->following;
        plan_free(plan);
    }
    queue_free(&run->queue);
    bits_free(&run->mine);
    bits_free(&run->done);
    core_cache_free(run->shared.core_cache);
    known_bounds_free(run->shared.known);
    search_time_free(run->search_time);
    worker_pool_free(run->pool);
    board_free(run->own_board);
    pthread_cond_destroy(&run->planned);
    pthread_mutex_destroy(&run->lock);
    if (run->blocked)
        watch_unblock(&run->watch);
    free(run);
}

enum dse_status runner_run(const struct sweep *sweep, const struct run_options *options,
                           struct run_summary *summary, struct dse_error *err)
{
    struct dse_error ignored, why = {0};
    struct run *run = calloc(1, sizeof *run);
    memset(summary, 0, sizeof *summary);
    if (!run)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the run");
    double start_s = clock_wall_s();
    run->sweep = sweep;
    run->options = options;
    run->summary = summary;
    run->err = err ? err : &ignored;
    run->shared.n_thread = 1;
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->planned, NULL);
    enum dse_status status = prepare(run, &why);
    if (status == DSE_OK)
        status = watch_again(run, false, &why);
    if (status == DSE_OK)
        status = run_resume(run, &why);
    if (status == DSE_OK)
        status = run_open(run, &why);
    if (status != DSE_OK && run->status == DSE_OK)
        *run->err = why;
    summary->seconds = clock_wall_s() - start_s;
    release(run);
    return status;
}
