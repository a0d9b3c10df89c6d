/* The run's side: one worker per slot, started when first used; a search is an exchange over a socket,
 * watched for time, memory and death, and its end becomes a reason for the row. */
#include "dse/isolate/worker_pool.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "dse/isolate/worker.h"

enum {
    SLICE_MS = 100,   /* between looks at clock, memory and the cancel flag */
    KILLED_TRIES = 3, /* for a search whose worker was ended from outside */
    CPU_BYTE = 1024,  /* of a set of processors, one bit each */
    SPARE_FILES = 64, /* open at most besides those of workers */
};

/* Numbers of requests begin here, so that what an engine writes by mistake is not taken for an answer. */
static const uint64_t number_first = 0x6473652d616e7331; /* "dse-ans1" */
static const double stopped_s = 1;                       /* a longer slice: the process was stopped */
static const uint64_t growth_most = (uint64_t)96
                                    << 20; /* bytes that a worker may keep from search to search */
/* What the second look at memory leaves to the first, the limit of the address space: pages of the program
 * that a worker reads for the first time count as its own. */
static const uint64_t look_margin = (uint64_t)32 << 20;

/* A worker and what is known of it. Only the thread of the slot touches it. */
struct slot {
    struct forked_worker worker;
    uint64_t n_done;                   /* searches of this worker */
    uint64_t number;                   /* of the last request */
    uint64_t resident_first, resident; /* bytes, at the start and before the search */
    uint64_t oom_count;                /* of the system, when it was forked */
    struct last_line line;
};

struct worker_pool {
    struct fork_server server;
    struct worker_setup setup;
    struct worker_limits limits;
    size_t n_slot;
    struct slot *slot; /* (n_slot) */
};

struct exchange {
    struct worker_pool *pool;
    struct slot *slot;
    const struct worker_job *job;
    const atomic_int *cancel;
    int n_try;             /* 1 at first */
    double used_s, last_s; /* time spent waiting; the look before */
    double looked_s;       /* when memory was looked at */
};

/* ---------------------------------------- one worker of a slot */

/* OpenMP may have bound the thread that forked the server to one processor, and so all workers; each shall
 * run where the thread of its slot does. */
static void place_worker(pid_t pid)
{
    unsigned long mask[CPU_BYTE / sizeof(unsigned long)]; /* longer than cpu_set_t, for large machines */
    cpu_set_t *set = (cpu_set_t *)mask;
    memset(mask, 0, sizeof mask);
    if (sched_getaffinity(0, sizeof mask, set) == 0)
        (void)sched_setaffinity(pid, sizeof mask, set);
}

static enum dse_status start_worker(struct worker_pool *pool, struct slot *slot, struct dse_error *err)
{
    uint64_t space;
    if (slot->worker.pid > 0)
        return DSE_OK;
    slot->oom_count = process_oom_count();
    DSE_TRY(fork_server_fork(&pool->server, &slot->worker, err));
    place_worker(slot->worker.pid);
    if (!process_memory(slot->worker.pid, &space, &slot->resident_first))
        slot->resident_first = 0;
    slot->resident = slot->resident_first;
    slot->n_done = 0;
    return DSE_OK;
}

/* What the worker has written since. */
static void drain(struct slot *slot)
{
    char text[4096];
    for (int i = 0; i < 64; i++) { /* one that writes without end must not keep its waiter from the clock */
        ssize_t n = read(slot->worker.output, text, sizeof text);
        if (n <= 0)
            return;
        last_line_add(&slot->line, text, (size_t)n);
    }
}

/* ---------------------------------------- waiting for it */

/* Is the worker's resident memory beyond what the search may add to it? */
static bool is_too_large(const struct exchange *x, uint64_t resident)
{
    uint64_t before = x->slot->resident + look_margin, most = x->pool->setup.max_memory;
    return resident > before && resident - before > most + most / 8;
}

/* Clock, cancel flag and memory, once a slice. ANSWERED: nothing to say. */
static enum verdict look(struct exchange *x)
{
    uint64_t space, resident;
    double limit_s = x->job->seconds_max + x->pool->limits.grace_s;
    double now_s = clock_wall_s(), step_s = now_s - x->last_s;
    x->used_s += step_s > stopped_s ? stopped_s : step_s;
    x->last_s = now_s;
    if (x->cancel && atomic_load_explicit(x->cancel, memory_order_relaxed))
        return CANCELLED;
    if (x->job->seconds_max > 0 && x->used_s >= limit_s)
        return LATE;
    if (now_s - x->looked_s < 1e-3 * SLICE_MS)
        return ANSWERED;
    x->looked_s = now_s;
    if (!process_memory(x->slot->worker.pid, &space, &resident) || space == 0)
        return DIED; /* also when a process that it forked keeps its socket open */
    return is_too_large(x, resident) ? TOO_LARGE : ANSWERED;
}

/* Receive `size` bytes from the worker. */
static enum verdict await(struct exchange *x, void *data, size_t size)
{
    struct slot *slot = x->slot;
    struct pollfd on[2] = {{slot->worker.socket, POLLIN, 0}, {slot->worker.output, POLLIN, 0}};
    char *at = data;
    while (size > 0) {
        int n_ready = poll(on, 2, SLICE_MS);
        if (n_ready < 0 && errno != EINTR)
            return DIED;
        if (n_ready > 0 && (on[1].revents & POLLIN))
            drain(slot);
        else if (n_ready > 0 && on[1].revents)
            on[1].fd = -1; /* closed by the engine */
        if (n_ready > 0 && on[0].revents) {
            ssize_t n = recv(slot->worker.socket, at, size, MSG_DONTWAIT);
            if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
                return DIED;
            at += n > 0 ? n : 0;
            size -= n > 0 ? (size_t)n : 0;
        }
        enum verdict verdict = size > 0 ? look(x) : ANSWERED;
        if (verdict != ANSWERED)
            return verdict;
    }
    return ANSWERED;
}

/* The texts behind a result; its schedule owns both, the name of the accounting lies behind the text. */
static enum verdict read_schedule(struct exchange *x, const struct worker_answer *answer,
                                  struct solve_result *result)
{
    size_t n_schedule = (size_t)answer->n_schedule, n_accounting = (size_t)answer->n_accounting;
    char *text = calloc(n_schedule + n_accounting + 2, 1);
    if (!text)
        return NO_MEMORY;
    char *accounting = text + n_schedule + 1;
    enum verdict verdict = await(x, text, n_schedule);
    if (verdict == ANSWERED)
        verdict = await(x, accounting, n_accounting);
    if (verdict != ANSWERED) {
        free(text);
        return verdict;
    }
    result->schedule = text;
    result->found.schedule.text = text;
    result->found.schedule.accounting = accounting;
    return ANSWERED;
}

/* The points of a front, which own nothing. */
static enum verdict read_front(struct exchange *x, const struct worker_answer *answer,
                               struct solve_result *result)
{
    const uint32_t n = result->n_front;
    struct solve_result *front = calloc(n, sizeof *front);
    result->n_front = 0;
    if (!front)
        return NO_MEMORY;
    enum verdict verdict = await(x, front, n * sizeof *front);
    for (uint32_t i = 0; i < n && verdict == ANSWERED; i++) {
        front[i].schedule = NULL;
        front[i].front = NULL;
        front[i].found.schedule.text = front[i].found.schedule.accounting = NULL;
        if (front[i].n_front > 0 || front[i].outcome != RESULT_OK ||
            !worker_result_is_sound(answer, &front[i]))
            verdict = NONSENSE;
    }
    if (verdict != ANSWERED) {
        free(front);
        return verdict;
    }
    result->front = front;
    result->n_front = n;
    return ANSWERED;
}

static enum verdict read_answer(struct exchange *x, struct solve_result *result)
{
    struct worker_answer answer;
    enum verdict verdict = await(x, &answer, sizeof answer);
    if (verdict != ANSWERED)
        return verdict;
    if (!worker_answer_is_sound(&answer, x->slot->number))
        return NONSENSE;
    if (is_too_large(x, answer.resident)) /* it was quicker than our looks */
        return TOO_LARGE;
    verdict = await(x, result, sizeof *result);
    result->schedule = NULL; /* pointers are the worker's */
    result->front = NULL;
    result->found.schedule.text = result->found.schedule.accounting = NULL;
    if (verdict != ANSWERED)
        return verdict;
    if (!worker_result_is_sound(&answer, result))
        return NONSENSE;
    x->slot->resident = answer.resident;
    if (answer.n_schedule > 0)
        verdict = read_schedule(x, &answer, result);
    return verdict == ANSWERED && result->n_front > 0 ? read_front(x, &answer, result) : verdict;
}

/* ---------------------------------------- a search */

/* One attempt in the slot's worker. */
static enum verdict exchange(struct exchange *x, struct solve_result *result)
{
    struct slot *slot = x->slot;
    const struct worker_request request = {++slot->number, *x->job};
    x->used_s = 0;
    x->last_s = x->looked_s = clock_wall_s();
    slot->line = (struct last_line){0};
    if (!worker_send(slot->worker.socket, &request, sizeof request))
        return DIED;
    return read_answer(x, result);
}

/* A worker that has grown is replaced before its next search, which will see when that cannot be done. */
static void retire(struct worker_pool *pool, struct slot *slot)
{
    struct worker_end end;
    if (slot->resident > slot->resident_first + growth_most)
        (void)!fork_server_wait(&pool->server, &slot->worker, true, &end, NULL);
}

static struct worker_memory memory_of(const struct worker_pool *pool, const struct slot *slot)
{
    return (struct worker_memory){pool->setup.max_memory, pool->limits.max_memory == 0, slot->resident};
}

/* The worker of an exchange that failed is taken down. Was it not this search that ended it? Then it is worth
 * `*another` try: after somebody's SIGKILL, or when a search before may have left damage in the process. Else
 * the result says what happened. */
static enum dse_status take_down(struct exchange *x, enum verdict verdict, bool *another,
                                 struct solve_result *result, struct dse_error *err)
{
    struct worker_pool *pool = x->pool;
    struct slot *slot = x->slot;
    struct worker_failure failure = {.memory = memory_of(pool, slot),
                                     .seconds_max = x->job->seconds_max,
                                     .grace_s = pool->limits.grace_s,
                                     .used_s = x->used_s,
                                     .line = &slot->line};
    if (verdict == DIED)
        drain(slot);
    DSE_TRY(fork_server_wait(&pool->server, &slot->worker, verdict != DIED, &failure.end, err));
    bool killed = verdict == DIED && !failure.end.forced && WIFSIGNALED(failure.end.status) &&
                  WTERMSIG(failure.end.status) == SIGKILL;
    failure.by_kernel = killed && process_oom_count() != slot->oom_count;
    *another = killed && !failure.by_kernel ? x->n_try < KILLED_TRIES : slot->n_done > 0 && verdict != LATE;
    if (!*another)
        worker_tell_failure(&failure, verdict, result);
    return DSE_OK;
}

enum dse_status worker_pool_solve(struct worker_pool *pool, size_t s, const struct worker_job *job,
                                  const atomic_int *cancel, struct solve_result *result,
                                  struct dse_error *err)
{
    struct slot *slot = &pool->slot[s];
    struct exchange x = {.pool = pool, .slot = slot, .job = job, .cancel = cancel};
    bool another = true;
    while (another) {
        x.n_try++;
        DSE_TRY(start_worker(pool, slot, err));
        enum verdict verdict = exchange(&x, result);
        if (verdict == ANSWERED) {
            const struct worker_memory memory = memory_of(pool, slot);
            worker_name_limit(&memory, result);
            slot->n_done++;
            retire(pool, slot);
            return DSE_OK;
        }
        DSE_TRY(take_down(&x, verdict, &another, result, err));
        if (verdict == CANCELLED)
            return DSE_INTERRUPTED;
        if (verdict == NO_MEMORY)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for the answer of a worker");
    }
    return DSE_OK;
}

/* ---------------------------------------- the pool */

/* Two descriptors for each worker. */
static void allow_files(size_t n_slot)
{
    struct rlimit limit;
    rlim_t need = (rlim_t)n_slot * 2 + SPARE_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= need)
        return;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > need ? need : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static enum dse_status make_pool(size_t n_slot, const struct worker_limits *limits, struct worker_pool **out,
                                 struct dse_error *err)
{
    struct worker_pool *pool = calloc(1, sizeof *pool);
    *out = pool;
    if (pool) {
        pool->server.pid = -1;
        pool->slot = calloc(n_slot ? n_slot : 1, sizeof *pool->slot);
    }
    if (!pool || !pool->slot)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu workers", n_slot);
    pool->n_slot = n_slot;
    pool->limits = *limits;
    pool->setup.max_memory = limits->max_memory ? limits->max_memory : worker_memory_share(n_slot);
    for (size_t i = 0; i < n_slot; i++)
        pool->slot[i].number = number_first;
    return DSE_OK;
}

enum dse_status worker_pool_new_for(worker_search *search, void *user, size_t n_slot,
                                    const struct worker_limits *limits, struct worker_pool **pool,
                                    struct dse_error *err)
{
    enum dse_status status = make_pool(n_slot, limits, pool, err);
    if (status == DSE_OK) {
        (*pool)->setup.search = search;
        (*pool)->setup.user = user;
        allow_files(n_slot);
        status = fork_server_start(&(*pool)->server, &(*pool)->setup, err);
    }
    if (status != DSE_OK) {
        worker_pool_free(*pool);
        *pool = NULL;
    }
    return status;
}

void worker_pool_free(struct worker_pool *pool)
{
    if (!pool)
        return;
    for (size_t s = 0; pool->slot && s < pool->n_slot; s++) {
        if (pool->slot[s].worker.pid > 0) {
            close(pool->slot[s].worker.socket);
            close(pool->slot[s].worker.output);
        }
    }
    fork_server_stop(&pool->server);
    free(pool->slot);
    free(pool);
}
