/* A worker's life: signals, limits of memory and output set once, then request after request from its
 * socket until it closes. */
#include "dse/isolate/worker.h"

#include <fcntl.h>
#include <fenv.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dse/isolate/worker_protocol.h"

/* SANITIZED: shadow memory takes terabytes of address space. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* What each further thread of a search takes of the address space before it does anything: its stack, and the
 * heap that the C library reserves for it, at first twice. */
static const uint64_t thread_space = (uint64_t)(8 + 128) * 1024 * 1024;
/* After a search that leaves more than this, memory is given back to the system. */
static const uint64_t trim_above = 8 * 1024 * 1024;

bool worker_can_limit(void)
{
    const char *preload = getenv("LD_PRELOAD");
    bool valgrind = preload && strstr(preload, "vgpreload") != NULL;
    return !SANITIZED && !valgrind;
}

/* A worker on its own. */
struct worker {
    const struct worker_setup *setup;
    int statm;            /* /proc/self/statm, kept open */
    uint64_t page, first; /* bytes; resident memory at the start */
    bool limited;
    struct arena arena;
    struct solve_result *result;
};

static void memory_now(const struct worker *worker, uint64_t *space, uint64_t *resident)
{
    char text[128];
    *space = *resident = 0;
    ssize_t n = worker->statm >= 0 ? pread(worker->statm, text, sizeof text - 1, 0) : -1;
    if (n <= 0)
        return;
    text[n] = '\0';
    if (sscanf(text, "%" SCNu64 " %" SCNu64, space, resident) != 2)
        *space = *resident = 0;
    *space *= worker->page;
    *resident *= worker->page;
}

/* From now on it may have max_memory more than it has. */
static void limit_memory(const struct worker *worker, int n_thread)
{
    uint64_t space, resident;
    struct rlimit limit;
    if (!worker->limited || getrlimit(RLIMIT_AS, &limit) != 0)
        return;
    memory_now(worker, &space, &resident);
    if (space == 0)
        return;
    uint64_t most =
        space + worker->setup->max_memory + (uint64_t)(n_thread > 1 ? n_thread - 1 : 0) * thread_space;
    limit.rlim_cur = limit.rlim_max != RLIM_INFINITY && limit.rlim_max < most ? limit.rlim_max : most;
    (void)setrlimit(RLIMIT_AS, &limit);
}

/* Signals for the run are not for its workers; faults end a worker, whatever handles them in the run. */
static void set_signals(void)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ};
    static const int standard[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGCHLD};
    sigset_t none;
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
    for (size_t i = 0; i < sizeof standard / sizeof standard[0]; i++)
        signal(standard[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
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
    char text[DSE_ERROR_FILE_MAX + DSE_ERROR_TEXT_MAX + 32];
    uint64_t space, resident;
    memset(result, 0, sizeof *result);
    fesetenv(FE_DFL_ENV); /* the search before may have left traps or another rounding */
    limit_memory(worker, request->n_thread);
    arena_reset(&worker->arena);
    enum dse_status status = worker->setup->search(worker->setup->user, (size_t)request->point, request->task,
                                                   request->n_thread, &worker->arena, result, &err);
    if (status != DSE_OK) {
        measure_values_init(&result->measured);
        result->outcome = RESULT_FAILED;
        snprintf(result->reason, sizeof result->reason, "%.*s", SOLVE_REASON_MAX - 1,
                 dse_error_print(&err, text, sizeof text));
    }
    memory_now(worker, &space, &resident);
    if (resident > worker->first + trim_above) {
        arena_free(&worker->arena);
        malloc_trim(0);
        memory_now(worker, &space, &resident);
    }
    bool sent = protocol_answer(socket, request->number, resident, result);
    solve_result_clear(result);
    return sent;
}

_Noreturn void worker_main(const struct worker_setup *setup, int socket, int output, int parent)
{
    struct worker worker = {.setup = setup, .limited = worker_can_limit()};
    struct worker_request request;
    struct rlimit no_core = {0, 0};
    uint64_t space;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    set_signals();
    redirect(output);
    offer_to_oom_killer();
    setrlimit(RLIMIT_CORE, &no_core);
    worker.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    worker.page = (uint64_t)sysconf(_SC_PAGESIZE);
    memory_now(&worker, &space, &worker.first);
    arena_init(&worker.arena);
    worker.result = malloc(sizeof *worker.result);
    while (worker.result && protocol_receive(socket, &request, sizeof request))
        if (!serve(&worker, socket, &request))
            break;
    _exit(0);
}
