/* The run's side: one worker per slot, started when first used; a search is an exchange over a socket,
 * watched for time, memory and death, and its end becomes a reason for the row. */
#include "dse/isolate/worker_pool.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "dse/console/table.h"
#include "dse/isolate/fork_server.h"
#include "dse/isolate/worker_protocol.h"
#include "dse/isolate/worker_reason.h"

enum {
    SLICE_MS = 100,   /* between looks at clock, memory and the cancel flag */
    KILLED_TRIES = 3, /* for a search whose worker was ended from outside */
    CPU_BYTE = 1024,  /* of a set of processors, one bit each */
    SPARE_FILES = 64, /* open at most besides those of workers */
};

static const double stopped_s = 1; /* a longer slice: the process was stopped, not waiting */
static const uint64_t growth_most = (uint64_t)96
                                    << 20; /* bytes that a worker may keep from search to search */
/* What the second look at memory leaves to the first, the limit of the address space: pages of the program
 * that a worker reads for the first time count as its own. */
static const uint64_t look_margin = (uint64_t)32 << 20;
static const double nearly_all = 0.9; /* of max_memory, at a crash: it is the cause */

/* A worker and what is known of it. Only the thread of the slot touches it. */
struct slot {
    struct forked_worker worker; /* pid 0: none */
    uint64_t n_done, number;
    uint64_t resident_first, resident; /* bytes, at the start and before the search */
    uint64_t oom_count;                /* of the system, when it was forked */
    struct last_line line;
    char *answer; /* (answer_size) owned */
    size_t answer_size;
};

struct worker_pool {
    struct fork_server server;
    struct worker_setup setup;
    struct worker_limits limits;
    size_t n_slot;
    struct slot *slot; /* (n_slot) */
    int n_thread;
    atomic_size_t deaths;
};

/* How an exchange with a worker ended. */
enum verdict { ANSWERED, DIED, LATE, TOO_LARGE, CANCELLED, NONSENSE, NO_MEMORY };

struct exchange {
    struct worker_pool *pool;
    struct slot *slot;
    const atomic_int *cancel;
    double limit_s;        /* limit and grace; 0: none */
    double used_s, last_s; /* time spent waiting; the look before */
    double looked_s;       /* when memory was looked at */
};

/* ---------------------------------------- one worker of a slot */

/* OpenMP may have bound the thread that forked the server to one processor, and so all workers; each shall
 * run where the thread of its slot does. */
static void place_worker(int pid)
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
    slot->oom_count = worker_oom_count();
    DSE_TRY(fork_server_fork(&pool->server, &slot->worker, err));
    place_worker(slot->worker.pid);
    if (!worker_memory_of(slot->worker.pid, &space, &slot->resident_first))
        slot->resident_first = 0;
    slot->resident = slot->resident_first;
    slot->n_done = 0;
    memset(&slot->line, 0, sizeof slot->line);
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

/* Its death, by `signal_number` unless 0. */
static enum dse_status end_worker(struct worker_pool *pool, struct slot *slot, int signal_number,
                                  struct server_reply *reply, struct dse_error *err)
{
    if (signal_number)
        kill(slot->worker.pid,
             signal_number); /* nobody else has taken its status, so the number is its own */
    else
        drain(slot);
    return fork_server_wait(&pool->server, &slot->worker, signal_number, reply, err);
}

/* ---------------------------------------- waiting for it */

/* Clock, cancel flag and memory, once a slice. ANSWERED: nothing to say. */
static enum verdict look(struct exchange *x)
{
    uint64_t space, resident, before = x->slot->resident;
    double now_s = clock_wall_s(), step_s = now_s - x->last_s;
    x->used_s += step_s > stopped_s ? stopped_s : step_s;
    x->last_s = now_s;
    if (x->cancel && atomic_load_explicit(x->cancel, memory_order_relaxed))
        return CANCELLED;
    if (x->limit_s > 0 && x->used_s >= x->limit_s)
        return LATE;
    if (now_s - x->looked_s < 1e-3 * SLICE_MS)
        return ANSWERED;
    x->looked_s = now_s;
    if (!worker_memory_of(x->slot->worker.pid, &space, &resident) || space == 0)
        return DIED; /* also when a process that it forked keeps its socket open */
    uint64_t most = x->pool->setup.max_memory;
    return resident > before + look_margin && resident - before - look_margin > most + most / 8 ? TOO_LARGE
                                                                                                : ANSWERED;
}

/* Receive `size` bytes. */
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

static enum verdict read_answer(struct exchange *x, struct solve_result *result)
{
    struct slot *slot = x->slot;
    struct worker_answer answer;
    enum verdict verdict = await(x, &answer, sizeof answer);
    if (verdict != ANSWERED)
        return verdict;
    size_t size = protocol_answer_size(&answer, slot->number);
    if (size == 0)
        return NONSENSE;
    if (size > slot->answer_size) {
        char *larger = realloc(slot->answer, size);
        if (!larger)
            return NO_MEMORY;
        slot->answer = larger;
        slot->answer_size = size;
    }
    verdict = await(x, slot->answer, size);
    if (verdict != ANSWERED)
        return verdict;
    if (!protocol_read_result(&answer, slot->answer, result))
        return NONSENSE;
    slot->resident = answer.resident;
    return ANSWERED;
}

/* ---------------------------------------- in words */

/* "needed more than max_memory = 1 GiB". */
static size_t tell_memory(const struct worker_pool *pool, char *text, size_t size)
{
    char amount[48];
    text_bytes((double)pool->setup.max_memory, amount, sizeof amount);
    int n = pool->limits.max_memory
                ? snprintf(text, size, "needed more than max_memory = %s", amount)
                : snprintf(text, size,
                           "needed more than %s of memory, an even share of what there is "
                           "(max_memory sets another limit)",
                           amount);
    return n > 0 && (size_t)n < size ? (size_t)n : size - 1;
}

static bool is_about_memory(const char *text)
{
    return strstr(text, "out of memory") || strstr(text, "bad_alloc") ||
           strstr(text, "annot allocate memory");
}

/* Why a worker that died did. */
static void tell_death(const struct worker_pool *pool, const struct slot *slot,
                       const struct server_reply *reply, char *text, size_t size)
{
    char how[128];
    const char *line = last_line_text(&slot->line);
    uint64_t oom_count = worker_oom_count();
    bool by_kernel = WIFSIGNALED(reply->status) && WTERMSIG(reply->status) == SIGKILL && !reply->forced &&
                     oom_count != slot->oom_count;
    double growth = reply->peak > slot->resident ? (double)(reply->peak - slot->resident) : 0;
    size_t used = 0;
    reason_of_status(reply->status, how, sizeof how);
    if (reply->forced)
        snprintf(how, sizeof how, "the engine closed its connection to the run");
    if (by_kernel) {
        used = tell_memory(pool, text, size);
        snprintf(text + used, size - used, ", or than the machine had: ended by the kernel");
    } else if (is_about_memory(line) || growth > nearly_all * (double)pool->setup.max_memory) {
        used = tell_memory(pool, text, size);
        snprintf(text + used, size - used, ": %s", how);
    } else {
        snprintf(text, size, "%s", how);
    }
    used = strlen(text);
    if (line[0])
        snprintf(text + used, size - used, ": %s", line);
}

static void tell_lateness(const struct worker_pool *pool, double seconds_max, char *text, size_t size)
{
    snprintf(text, size, "did not stop within max_seconds = %.6g s and %.6g s of grace", seconds_max,
             pool->limits.grace_s);
}

static void fill_reason(const struct exchange *x, enum verdict verdict, const struct server_reply *reply,
                        double seconds_max, struct solve_result *result)
{
    char *text = result->reason;
    memset(result, 0, sizeof *result);
    measure_values_init(&result->measured);
    result->outcome = verdict == LATE ? RESULT_TIMEOUT : RESULT_FAILED;
    result->found.stop = verdict == LATE ? STOP_MAX_SECONDS : STOP_RUNNING;
    result->found.seconds = x->used_s;
    if (verdict == LATE)
        tell_lateness(x->pool, seconds_max, text, sizeof result->reason);
    else if (verdict == TOO_LARGE)
        (void)tell_memory(x->pool, text, sizeof result->reason);
    else if (verdict == NONSENSE)
        snprintf(text, sizeof result->reason,
                 "the engine damaged the memory of its process: what came "
                 "back makes no sense");
    else
        tell_death(x->pool, x->slot, reply, text, sizeof result->reason);
}

/* An engine that was refused memory says so itself; the row names the limit. */
static void name_limit(const struct worker_pool *pool, struct solve_result *result)
{
    char said[SOLVE_REASON_MAX];
    if (result->outcome != RESULT_FAILED || !is_about_memory(result->reason))
        return;
    snprintf(said, sizeof said, "%s", result->reason);
    size_t used = tell_memory(pool, result->reason, sizeof result->reason);
    snprintf(result->reason + used, sizeof result->reason - used, ": %.300s", said);
}

/* ---------------------------------------- a search */

/* One attempt in the slot's worker. */
static enum verdict exchange(struct exchange *x, size_t point, uint32_t task, struct solve_result *result)
{
    struct slot *slot = x->slot;
    const struct worker_request request = {++slot->number, point, task, x->pool->n_thread};
    x->used_s = 0;
    x->last_s = x->looked_s = clock_wall_s();
    slot->line = (struct last_line){0};
    if (!protocol_send(slot->worker.socket, &request, sizeof request))
        return DIED;
    return read_answer(x, result);
}

/* Was it not this search that ended the worker? Then it is worth another try: after somebody's SIGKILL, or
 * when a search before may have left damage in the process. */
static bool deserves_another(const struct slot *slot, enum verdict verdict, const struct server_reply *reply,
                             bool was_fresh, int n_try)
{
    bool killed = verdict == DIED && WIFSIGNALED(reply->status) && WTERMSIG(reply->status) == SIGKILL &&
                  !reply->forced && worker_oom_count() == slot->oom_count;
    if (killed)
        return n_try < KILLED_TRIES;
    return !was_fresh && verdict != LATE;
}

/* A worker that has grown is replaced before its next search. */
static void retire(struct worker_pool *pool, struct slot *slot)
{
    struct server_reply reply;
    if (slot->resident > slot->resident_first + growth_most)
        (void)end_worker(pool, slot, SIGKILL, &reply, NULL);
}

enum dse_status worker_pool_solve(struct worker_pool *pool, size_t s, size_t point, uint32_t task,
                                  double seconds_max, const atomic_int *cancel, struct solve_result *result,
                                  struct dse_error *err)
{
    struct slot *slot = &pool->slot[s];
    struct exchange x = {.pool = pool, .slot = slot, .cancel = cancel};
    x.limit_s = seconds_max > 0 ? seconds_max + pool->limits.grace_s : 0;
    for (int n_try = 1;; n_try++) {
        struct server_reply reply = {0};
        DSE_TRY(start_worker(pool, slot, err));
        bool fresh = slot->n_done == 0;
        enum verdict verdict = exchange(&x, point, task, result);
        if (verdict == ANSWERED) {
            slot->n_done++;
            name_limit(pool, result);
            retire(pool, slot);
            return DSE_OK;
        }
        DSE_TRY(end_worker(pool, slot, verdict == DIED ? 0 : SIGKILL, &reply, err));
        if (verdict == CANCELLED)
            return DSE_INTERRUPTED;
        if (verdict == NO_MEMORY)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for the answer of a worker");
        atomic_fetch_add(&pool->deaths, 1);
        if (deserves_another(slot, verdict, &reply, fresh, n_try))
            continue;
        fill_reason(&x, verdict, &reply, seconds_max, result);
        return DSE_OK;
    }
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
    pool->n_thread = 1;
    pool->setup.max_memory = limits->max_memory ? limits->max_memory : worker_memory_share(n_slot);
    atomic_init(&pool->deaths, 0);
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

void worker_pool_set_threads(struct worker_pool *pool, int n_thread)
{
    pool->n_thread = n_thread > 1 ? n_thread : 1;
}

size_t worker_pool_deaths(struct worker_pool *pool)
{
    return atomic_load(&pool->deaths);
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
        free(pool->slot[s].answer);
    }
    fork_server_stop(&pool->server);
    free(pool->slot);
    free(pool);
}
