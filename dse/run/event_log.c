/* Lines are put together in memory and written whole, many at a time; after a failed write nothing more is
 * written, and the run goes on. */
#include "dse/run/event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "dse/console/json_text.h"
#include "results/record/provenance.h"

enum { WAITING_MAX = 64 * 1024, PATH_SIZE = 4096, HEAD_MAX = 96 };

static const double flush_s = 0.1;

struct event_log {
    const struct result_schema *schema;
    struct event_log_options options;
    struct provenance provenance;
    int fd; /* -1: a write failed, nothing more is written */
    struct text_buffer waiting;
    double flushed_s;
    bool begun;
    char run[TEXT_HEX_LENGTH + 2]; /* "r" and hex digits: the same in all lines of one start of a run */
    time_t second;                 /* of `time` */
    char time[32];                 /* "2026-01-31T12:00:00" */
    struct arena arena;
    const char ***coordinate; /* (n_axis, n_value) the "name":value pairs of a position as JSON */
};

/* ---------------------------------------- writing */

static void give_up(struct event_log *log)
{
    fprintf(log->options.err,
            "dse: warning: %s: the event log cannot be written: %s; the run goes on without it\n",
            log->options.path, strerror(errno));
    close(log->fd);
    log->fd = -1;
    text_free(&log->waiting);
}

/* All whole lines in one write; a short one, as on a full disk, is followed by one that says why. */
static void flush(struct event_log *log)
{
    log->flushed_s = clock_wall_s();
    if (log->fd < 0)
        return;
    if (log->waiting.failed) {
        errno = ENOMEM;
        give_up(log);
        return;
    }
    for (size_t at = 0; at < log->waiting.length;) {
        ssize_t n = write(log->fd, log->waiting.data + at, log->waiting.length - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            give_up(log);
            return;
        }
        at += (size_t)n;
    }
    text_clear(&log->waiting);
}

static void write_time(struct event_log *log)
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    if (log->second != now.tv_sec || !log->time[0]) {
        log->second = now.tv_sec;
        if (!gmtime_r(&now.tv_sec, &utc) ||
            strftime(log->time, sizeof log->time, "%Y-%m-%dT%H:%M:%S", &utc) == 0)
            log->time[0] = '\0';
    }
    char part[] = ".000Z\"";
    long ms = now.tv_nsec / 1000000;
    for (int i = 3; i >= 1; i--, ms /= 10)
        part[i] = (char)('0' + ms % 10);
    text_append_string(&log->waiting, log->time);
    text_append_string(&log->waiting, part);
}

static void begin(struct event_log *log, const char *event)
{
    text_append_string(&log->waiting, "{\"event\":\"");
    text_append_string(&log->waiting, event);
    text_append_string(&log->waiting, "\",\"time\":\"");
    write_time(log);
    text_append_string(&log->waiting, ",\"run\":\"");
    text_append_string(&log->waiting, log->run);
    text_append_bytes(&log->waiting, "\"", 1);
}

static void key(struct event_log *log, const char *name)
{
    text_append_string(&log->waiting, ",\"");
    text_append_string(&log->waiting, name);
    text_append_string(&log->waiting, "\":");
}

static void add_text(struct event_log *log, const char *name, const char *text)
{
    key(log, name);
    json_text_quote(&log->waiting, text);
}

static void add_count(struct event_log *log, const char *name, uint64_t value)
{
    key(log, name);
    text_append_u64(&log->waiting, value);
}

/* Left out when it is missing. */
static void add_number(struct event_log *log, const char *name, double value)
{
    if (!isfinite(value))
        return;
    key(log, name);
    json_text_number(&log->waiting, value);
}

static void end(struct event_log *log)
{
    text_append_string(&log->waiting, "}\n");
}

/* ---------------------------------------- open */

/* The log is appended to: a result file in its place would be spoilt. */
static enum dse_status refuse_results(const struct event_log_options *options, struct dse_error *err)
{
    static const char *const ending[] = {".h5", ".h5.tmp", ".csv", ".layers.csv", ".lock"};
    char path[PATH_SIZE];
    struct stat mine, theirs;
    bool there = stat(options->path, &mine) == 0;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (result_path(path, sizeof path, options->out, ending[i]) &&
            (strcmp(path, options->path) == 0 ||
             (there && stat(path, &theirs) == 0 && mine.st_dev == theirs.st_dev &&
              mine.st_ino == theirs.st_ino)))
            return dse_fail(err, DSE_BAD_USAGE, "--log-json %s: this is a result file of the sweep",
                            options->path);
    return DSE_OK;
}

/* The journal of a service may be a link below /proc, too. */
static int open_log(const char *path, int flags)
{
    bool system = file_is_systems(path);
    return system || strncmp(path, "/proc/", 6) == 0 ? open(path, flags | O_CLOEXEC, 0666)
                                                     : file_open_kept(path, flags);
}

/* A piece of a line that a full disk left must not run into the next line. */
static void end_torn_line(int fd, const char *path)
{
    char last = '\n';
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
        return;
    int reader = open_log(path, O_RDONLY);
    if (reader < 0)
        return;
    if (pread(reader, &last, 1, info.st_size - 1) == 1 && last != '\n')
        (void)!write(fd, "\n", 1);
    close(reader);
}

static enum dse_status open_file(struct event_log *log, struct dse_error *err)
{
    struct stat info;
    const char *path = log->options.path;
    DSE_TRY(refuse_results(&log->options, err));
    log->fd = open_log(path, O_WRONLY | O_APPEND | O_CREAT);
    if (log->fd < 0)
        return dse_fail_at(err, DSE_IO, path, 0, "the event log cannot be written: %s", file_error(errno));
    if (fstat(log->fd, &info) == 0 && !S_ISREG(info.st_mode))
        (void)signal(SIGPIPE, SIG_IGN); /* a pipe that nobody reads any more is a failed write */
    end_torn_line(log->fd, path);
    return DSE_OK;
}

/* The pairs of every position are made once: a point then only puts them together. */
static enum dse_status make_coordinates(struct event_log *log, struct dse_error *err)
{
    const struct result_schema *schema = log->schema;
    log->coordinate = arena_alloc(&log->arena, schema->n_axis + 1, sizeof *log->coordinate);
    DSE_TRY(arena_check(&log->arena, "the event log", err));
    for (size_t a = 0; a < schema->n_axis; a++) {
        const struct result_axis *axis = &schema->axis[a];
        log->coordinate[a] = arena_alloc(&log->arena, axis->n_value, sizeof *log->coordinate[a]);
        DSE_TRY(arena_check(&log->arena, "the event log", err));
        for (size_t i = 0; i < axis->n_value; i++) {
            struct text_buffer text;
            text_init(&text);
            for (size_t k = 0; k < axis->n_coordinate; k++) {
                const struct result_coordinate *c = &axis->coordinate[k];
                text_append_string(&text, a || k ? "," : "");
                json_text_quote(&text, c->name);
                text_append_string(&text, ":");
                if (c->number)
                    json_text_number(&text, c->number[i]);
                else
                    json_text_quote(&text, c->text[i]);
            }
            log->coordinate[a][i] = text_keep(&text, &log->arena);
        }
    }
    return arena_check(&log->arena, "the event log", err);
}

static void name_run(struct event_log *log)
{
    char text[PROVENANCE_TEXT_MAX + 96];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int n = snprintf(text, sizeof text, "%s %ld %lld.%09ld", log->provenance.host, (long)getpid(),
                     (long long)now.tv_sec, now.tv_nsec);
    log->run[0] = 'r'; /* digits alone would be read as a number by some */
    log->run[1 + text_hex_bytes(hash_of_bytes(text, n > 0 ? strlen(text) : 0), log->run + 1)] = '\0';
}

enum dse_status event_log_open(const struct result_schema *schema, const struct event_log_options *options,
                               struct event_log **log, struct dse_error *err)
{
    *log = calloc(1, sizeof **log);
    if (!*log)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the event log");
    (*log)->schema = schema;
    (*log)->options = *options;
    (*log)->fd = -1;
    arena_init(&(*log)->arena);
    text_init(&(*log)->waiting);
    provenance_make(&(*log)->provenance);
    name_run(*log);
    enum dse_status status = make_coordinates(*log, err);
    if (status == DSE_OK)
        status = open_file(*log, err);
    (*log)->flushed_s = clock_wall_s();
    if (status == DSE_OK)
        return DSE_OK;
    event_log_close(*log);
    *log = NULL;
    return status;
}

void event_log_close(struct event_log *log)
{
    if (!log)
        return;
    flush(log);
    if (log->fd >= 0)
        close(log->fd);
    text_free(&log->waiting);
    arena_free(&log->arena);
    free(log);
}

/* ---------------------------------------- events */

static void on_begun(void *user, size_t n_point, size_t n_reused, int n_thread)
{
    struct event_log *log = user;
    char hash[TEXT_HEX_LENGTH + 1];
    const struct event_log_options *options = &log->options;
    log->begun = true;
    if (log->fd < 0)
        return;
    if (options->n_restart > 0) {
        begin(log, "restart");
        add_count(log, "restarts", options->n_restart);
        end(log);
    }
    hash[text_hex_bytes(log->schema->specification_hash, hash)] = '\0';
    begin(log, "run_begin");
    add_text(log, "host", log->provenance.host);
    add_count(log, "pid", (uint64_t)getpid());
    add_text(log, "version", log->provenance.dse_version);
    add_text(log, "git_revision", log->provenance.git_revision);
    add_text(log, "specification", log->schema->name);
    add_text(log, "specification_hash", hash);
    add_text(log, "output", options->out);
    add_count(log, "points", n_point);
    add_count(log, "reused", n_reused);
    add_count(log, "threads", (uint64_t)n_thread);
    add_count(log, "shard", options->n_shard ? options->shard : 1);
    add_count(log, "shards", options->n_shard ? options->n_shard : 1);
    add_text(log, "command", options->command);
    end(log);
    flush(log);
}

static void on_point(void *user, size_t number, const struct point_record *record, bool reused)
{
    struct event_log *log = user;
    if (reused || log->fd < 0)
        return;
    begin(log, "point");
    add_count(log, "point", number + 1);
    key(log, "coordinates");
    text_append_bytes(&log->waiting, "{", 1);
    for (size_t a = 0; a < log->schema->n_axis; a++)
        text_append_string(&log->waiting, log->coordinate[a][record->index[a]]);
    text_append_bytes(&log->waiting, "}", 1);
    add_text(log, "status", result_status_text(record->outcome));
    if (record->outcome != RESULT_OK || (record->reason && record->reason[0]))
        add_text(log, "reason", record->reason ? record->reason : "");
    add_number(log, "seconds", record->seconds);
    add_number(log, "latency_s", record->latency_s);
    add_number(log, "energy_j", record->energy_j);
    add_number(log, "edp_js", record->edp_js);
    end(log);
    if (log->waiting.length >= WAITING_MAX || clock_wall_s() - log->flushed_s >= flush_s)
        flush(log);
}

static void on_cube(void *user, double seconds)
{
    struct event_log *log = user;
    if (log->fd < 0)
        return;
    begin(log, "cube");
    add_number(log, "seconds", seconds);
    end(log);
    flush(log);
}

static void on_tick(void *user)
{
    struct event_log *log = user;
    if (log->waiting.length > 0)
        flush(log);
}

struct run_observer event_log_observer(struct event_log *log)
{
    return (struct run_observer){NULL, log, on_begun, on_point, on_cube, on_tick};
}

static const char *exit_word(const struct run_summary *summary, enum dse_status status, int exit_code)
{
    if (status != DSE_OK && status != DSE_INTERRUPTED)
        return "error";
    return summary->interrupted || status == DSE_INTERRUPTED ? "interrupted"
           : exit_code == 0                                  ? "done"
                                                             : "some failed";
}

void event_log_end(struct event_log *log, const struct run_summary *summary, enum dse_status status,
                   const struct dse_error *why, int exit_code)
{
    char text[DSE_ERROR_FILE_MAX + DSE_ERROR_TEXT_MAX + 32], signal_name[32];
    if (!log->begun || log->fd < 0)
        return;
    begin(log, "run_end");
    add_text(log, "exit", exit_word(summary, status, exit_code));
    add_count(log, "exit_code", (uint64_t)exit_code);
    if (summary->signal)
        add_text(log, "signal", process_signal(summary->signal, signal_name, sizeof signal_name));
    if (status != DSE_OK)
        add_text(log, "error", dse_error_print(why, text, sizeof text));
    add_count(log, "points", summary->n_point);
    add_count(log, "reused", summary->n_reused);
    for (int i = 0; i < RESULT_STATUS_COUNT; i++)
        add_count(log, result_status_text((enum result_status)i), summary->n_status[i]);
    add_number(log, "seconds", summary->seconds);
    add_count(log, "searches", summary->n_task);
    add_count(log, "shared", summary->n_shared);
    add_count(log, "exchanged", summary->exchange.n_exchanged);
    if (summary->n_thread > 0 && summary->work_s > 0) {
        add_number(log, "busy_share", summary->busy_s / (summary->work_s * summary->n_thread));
        add_number(log, "tail_s", summary->tail_s);
    }
    end(log);
    flush(log);
}
