/* One line, written over on a terminal; rate and remaining time are those of the points finished so far. */
#include "dse/console/progress.h"

#include <string.h>

#include "base/clock.h"
#include "dse/console/table.h"

enum { BAR_WIDTH = 24 };

void progress_init(struct progress *progress, FILE *out, FILE *terminal, size_t n_point, size_t n_task)
{
    progress->out = terminal ? terminal : out;
    progress->terminal = terminal != NULL;
    progress->start_s = clock_wall_s();
    progress->last_s = progress->start_s;
    progress->n_point = n_point;
    progress->n_task = n_task;
    atomic_init(&progress->point_done, 0);
    atomic_init(&progress->task_done, 0);
    atomic_init(&progress->not_ok, 0);
}

char *progress_print(const struct progress *progress, double now_s, char *buffer, size_t size)
{
    size_t done = atomic_load(&progress->task_done), points = atomic_load(&progress->point_done);
    size_t not_ok = atomic_load(&progress->not_ok);
    double elapsed_s = now_s - progress->start_s;
    double share = progress->n_task ? (double)done / (double)progress->n_task : 1;
    double rate = elapsed_s > 0 ? (double)done / elapsed_s : 0;
    char bar[BAR_WIDTH + 1], eta[48] = "?";
    int filled = (int)(share * BAR_WIDTH);
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)filled);
    bar[BAR_WIDTH] = '\0';
    if (rate > 0)
        table_duration((double)(progress->n_task - done) / rate, eta, sizeof eta);
    int n = snprintf(buffer, size, "[%s] %3.0f %%  %zu/%zu points  %.*f layers/s  ETA %s", bar, 100 * share,
                     points, progress->n_point, rate < 10 ? 1 : 0, rate, eta);
    if (not_ok && n > 0 && (size_t)n < size)
        snprintf(buffer + n, size - (size_t)n, "  %zu not ok", not_ok);
    return buffer;
}

void progress_tick(struct progress *progress)
{
    double now_s = clock_wall_s();
    char line[160];
    if (now_s - progress->last_s < (progress->terminal ? 0.2 : 60.0))
        return;
    progress->last_s = now_s;
    progress_print(progress, now_s, line, sizeof line);
    fprintf(progress->out, progress->terminal ? "\r%s\033[K" : "%s\n", line);
    fflush(progress->out);
}

void progress_clear(struct progress *progress)
{
    if (progress->terminal)
        fputs("\r\033[K", progress->out);
    fflush(progress->out);
}
