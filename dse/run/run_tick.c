/* What a run does about ten times a second beside the searches. */
#include <time.h>

#include "dse/run/run_state.h"

/* Under the lock. */
static void tell_tick(const struct run *run)
{
    const struct run_observer *observer = run->options->observer;
    if (observer && observer->tick)
        observer->tick(observer->user);
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

void run_flush(void *user)
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

void run_tick(void *user, double now_s)
{
    struct run *run = user;
    save(run);
    /* a run that failed waits for its searches, so that it can say why: only signals count */
    watchdog_tick(&run->watchdog, now_s, atomic_load(&run->watch.signal) != 0);
}
