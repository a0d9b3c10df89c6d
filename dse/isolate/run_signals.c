/* The thread takes the signals that all others block: the first stops the run, a second ends it at once;
 * between signals it ticks. */
#include "dse/isolate/run_signals.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { TICK_NS = 100 * 1000 * 1000, INTERRUPTED = 130 };

static const double echo_s = 1; /* signal and echo are no further apart */

/* The two come in either order. Two of the same kind are two signals. */
static bool is_echo(struct watch *watch, const siginfo_t *info)
{
    bool passed_on = info->si_code == SI_QUEUE && info->si_pid == getppid();
    double now_s = clock_wall_s();
    if (watch->taken == info->si_signo && watch->taken_passed_on != passed_on &&
        now_s - watch->taken_s < echo_s)
        return true;
    watch->taken = info->si_signo;
    watch->taken_passed_on = passed_on;
    watch->taken_s = now_s;
    return false;
}

static void caught(struct watch *watch, int signal)
{
    if (atomic_load(&watch->signal))
        _exit(INTERRUPTED);
    atomic_store(&watch->signal, signal);
    atomic_store(&watch->cancel, 1);
    if (!watch->progress)
        return;
    progress_clear(watch->progress);
    fprintf(watch->progress->out,
            "dse: %s: stopping; points in flight are given up, finished ones are kept\n", strsignal(signal));
}

static void *watch_loop(void *user)
{
    struct watch *watch = user;
    const struct timespec tick = {0, TICK_NS};
    while (!atomic_load(&watch->stop)) {
        siginfo_t info;
        int signal = sigtimedwait(&watch->signals, &info, &tick);
        if (signal > 0 && !is_echo(watch, &info))
            caught(watch, signal);
        if (watch->tick)
            watch->tick(watch->user, clock_wall_s());
        if (watch->progress && !atomic_load(&watch->cancel))
            progress_tick(watch->progress);
    }
    return NULL;
}

bool watch_ignores(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void watch_block(struct watch *watch)
{
    watch->taken = 0;
    watch->tick = NULL;
    atomic_init(&watch->cancel, 0);
    atomic_init(&watch->signal, 0);
    atomic_init(&watch->stop, 0);
    sigemptyset(&watch->signals);
    sigaddset(&watch->signals, SIGINT);
    sigaddset(&watch->signals, SIGTERM);
    sigaddset(&watch->signals, SIGUSR1);
    if (!watch_ignores(SIGHUP))
        sigaddset(&watch->signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &watch->signals, &watch->before);
}

enum dse_status watch_start(struct watch *watch, struct progress *progress, struct dse_error *err)
{
    watch->progress = progress;
    atomic_store(&watch->stop, 0);
    int code = pthread_create(&watch->thread, NULL, watch_loop, watch);
    if (code == 0)
        return DSE_OK;
    return dse_fail(err, DSE_INTERNAL, "no thread for signals and progress: %s", strerror(code));
}

void watch_stop(struct watch *watch)
{
    atomic_store(&watch->stop, 1);
    pthread_join(watch->thread, NULL);
}

void watch_unblock(struct watch *watch)
{
    pthread_sigmask(SIG_SETMASK, &watch->before, NULL);
}
