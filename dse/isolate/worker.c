/* A worker's life: limits of memory and output set once, then search after search from its socket until it
 * closes. And what a worker does for a sweep. */
#include "dse/isolate/worker.h"

#include <fcntl.h>
#include <fenv.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/process.h"
#include "costmodel/fused/core_cache.h"
#include "engines/driver/known_bounds.h"

/* What each further thread of a search takes of the address space before it does anything: its stack, and the
 * heap that the C library reserves for it, at first twice. */
static const uint64_t thread_space = (uint64_t)(8 + 128) * 1024 * 1024;
/* After a search that leaves more than this, memory is given back to the system. */
static const uint64_t trim_above = 8 * 1024 * 1024;

/* What a worker keeps: costs of tiles, about 120 bytes each, and bounds of 24. */
enum { CORE_COST_MAX = 1 << 18, WORKER_BOUNDS_MAX = 1 << 16 };

/* A worker on its own. */
struct worker {
    const struct worker_setup *setup;
    int statm;                       /* /proc/self/statm, kept open */
    uint64_t space, resident, first; /* bytes of memory now; resident at the start */
    bool limited;
    struct arena arena;
    struct solve_result *result;
};

static void look_at_memory(struct worker *worker)
{
    if (!process_memory_of(worker->statm, &worker->space, &worker->resident))
        worker->space = worker->resident = 0;
}

/* From now on it may have max_memory more than it has. */
static void limit_memory(const struct worker *worker, int n_thread)
{
    struct rlimit limit;
    if (!worker->limited || worker->space == 0 || getrlimit(RLIMIT_AS, &limit) != 0)
        return;
    uint64_t most = worker->space + worker->setup->max_memory + (uint64_t)(n_thread - 1) * thread_space;
    limit.rlim_cur = limit.rlim_max != RLIM_INFINITY && limit.rlim_max < most ? limit.rlim_max : most;
    (void)setrlimit(RLIMIT_AS, &limit);
}

/* The kernel, when it has to end a process for lack of memory, should take a worker and not the run. */
static void offer_to_oom_killer(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = write(fd, "500", 3);
    (void)n; /* a wish */
    close(fd);
}

static void redirect(int output)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) {
        (void)dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(output, STDERR_FILENO);
    close(output);
    setvbuf(stdout, NULL, _IOLBF, 0);
}

static bool serve(struct worker *worker, int socket, const struct worker_request *request)
{
    struct dse_error err = {0};
    struct solve_result *result = worker->result;
    const struct worker_job *job = &request->job;
    char text[DSE_ERROR_FILE_MAX + DSE_ERROR_TEXT_MAX + 32];
    memset(result, 0, sizeof *result);
    fesetenv(FE_DFL_ENV); /* the search before may have left traps or another rounding */
    limit_memory(worker, job->n_thread);
    arena_reset(&worker->arena);
    enum dse_status status = worker->setup->search(worker->setup->user, job->point, job->task, job->n_thread,
                                                   &worker->arena, result, &err);
    if (status != DSE_OK) {
        measure_values_init(&result->measured);
        result->outcome = RESULT_FAILED;
        snprintf(result->reason, sizeof result->reason, "%.*s", SOLVE_REASON_MAX - 1,
                 dse_error_print(&err, text, sizeof text));
    }
    look_at_memory(worker);
    if (worker->resident > worker->first + trim_above) {
        arena_free(&worker->arena);
        malloc_trim(0);
        look_at_memory(worker);
    }
    bool sent = worker_send_answer(socket, request->number, worker->resident, result);
    solve_result_clear(result);
    return sent;
}

_Noreturn void worker_main(const struct worker_setup *setup, int socket, int output, pid_t parent)
{
    struct worker worker = {.setup = setup, .limited = process_can_limit_memory()};
    struct worker_request request;
    process_end_with(parent);
    redirect(output);
    offer_to_oom_killer();
    arena_init(&worker.arena);
    worker.result = malloc(sizeof *worker.result);
    worker.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    look_at_memory(&worker);
    worker.first = worker.resident;
    while (worker.result && worker_receive(socket, &request, sizeof request))
        if (!serve(&worker, socket, &request))
            break;
    _exit(0);
}

/* ---------------------------------------- the searches of a sweep */

/* Each worker has its own. */
struct sweep_search {
    const struct sweep *sweep;
    /* made when they are needed; kept until the worker ends */
    struct core_cache *core_cache;
    struct known_bounds *known;
};

static enum dse_status search_sweep(void *user, size_t p, uint32_t task, int n_thread, struct arena *arena,
                                    struct solve_result *result, struct dse_error *err)
{
    struct sweep_search *search = user;
    struct sweep_point point;
    struct architecture arch;
    sweep_point(search->sweep, p, &point);
    DSE_TRY(sweep_point_build(&point, &arch, err));
    if (solve_is_scheduler(&point.settings) && !search->core_cache)
        DSE_TRY(core_cache_new(CORE_COST_MAX, &search->core_cache, err));
    if (!solve_is_scheduler(&point.settings) && !search->known)
        DSE_TRY(known_bounds_new(WORKER_BOUNDS_MAX, &search->known, err));
    const struct solve_shared shared = {
        .core_cache = search->core_cache, .known = search->known, .n_thread = n_thread};
    return sweep_point_solve(&point, task, &arch, &shared, NULL, arena, result);
}

enum dse_status worker_pool_new(const struct sweep *sweep, size_t n_slot, const struct worker_limits *limits,
                                struct worker_pool **pool, struct dse_error *err)
{
    struct sweep_search search = {.sweep = sweep};
    return worker_pool_new_for(search_sweep, &search, n_slot, limits, pool, err);
}
