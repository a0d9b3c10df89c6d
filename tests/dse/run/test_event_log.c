/* The event log: each line is JSON by itself (read back with jansson), lines are whole whatever happens,
 * nothing of it ends a run. */
#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "dse/run/event_log.h"
#include "tests/results/files.h"
#include "tests/results/sample.h"

struct place {
    char folder[512], path[600], out[600];
    FILE *err;
    char *said;
    size_t n_said;
};

static void make_place(struct place *place)
{
    files_folder(place->folder, sizeof place->folder);
    files_path(place->path, sizeof place->path, place->folder, "log.jsonl");
    files_path(place->out, sizeof place->out, place->folder, "o.h5");
    place->err = open_memstream(&place->said, &place->n_said);
    assert_non_null(place->err);
}

static void free_place(struct place *place)
{
    char command[600];
    fclose(place->err);
    free(place->said);
    snprintf(command, sizeof command, "rm -rf '%s'", place->folder);
    assert_int_equal(system(command), 0);
}

static struct event_log *open_log(const struct place *place, unsigned n_restart)
{
    struct event_log *log;
    struct dse_error err;
    struct event_log_options options = {.path = place->path,
                                        .out = place->out,
                                        .command = "dse run 'a \"b\"'",
                                        .shard = 2,
                                        .n_shard = 3,
                                        .n_restart = n_restart,
                                        .err = place->err};
    assert_int_equal(event_log_open(&sample_schema, &options, &log, &err), DSE_OK);
    return log;
}

static void tell(struct event_log *log, unsigned cell, enum result_status outcome, const char *reason)
{
    uint32_t index[3];
    struct point_record record;
    struct run_observer observer = event_log_observer(log);
    point_record_init(&record);
    sample_index(cell, index);
    record.index = index;
    record.outcome = outcome;
    record.reason = reason;
    record.seconds = 0.25;
    if (outcome == RESULT_OK) {
        record.latency_s = 1e-3;
        record.energy_j = 1e-9;
        record.edp_js = 1e-12;
    }
    observer.point(observer.user, cell, &record, false);
}

static void begin(struct event_log *log)
{
    struct run_observer observer = event_log_observer(log);
    observer.begun(observer.user, 23, 4, 2);
}

/* Line `i` (from 0) of the file as JSON, or NULL behind the last. Each must be an object. */
static json_t *line_of(const struct place *place, size_t i)
{
    size_t n;
    char *text = files_read(place->path, &n), *at = text;
    for (; i > 0 && at; i--)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    json_t *object = NULL;
    if (at && *at) {
        char *end = strchr(at, '\n');
        assert_non_null(end); /* whole */
        object = json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES, NULL);
        assert_true(json_is_object(object));
    }
    free(text);
    return object;
}

static void expect_text(const struct place *place, size_t line, const char *key, const char *wanted)
{
    json_t *object = line_of(place, line);
    assert_non_null(object);
    const char *found = json_string_value(json_object_get(object, key));
    if (wanted)
        assert_string_equal(found ? found : "(none)", wanted);
    else
        assert_null(json_object_get(object, key));
    json_decref(object);
}

static double number_of(const struct place *place, size_t line, const char *key)
{
    json_t *object = line_of(place, line);
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    double number = json_number_value(value);
    json_decref(object);
    return number;
}

static void test_event_log_has_all_events(void **state)
{
    (void)state;
    struct place place;
    struct run_summary summary = {.n_point = 23,
                                  .n_reused = 4,
                                  .exchange = {.n_exchanged = 3},
                                  .n_task = 9,
                                  .n_shared = 3,
                                  .n_thread = 2,
                                  .seconds = 5,
                                  .work_s = 4,
                                  .busy_s = 6,
                                  .tail_s = 0.5,
                                  .interrupted = true,
                                  .signal = SIGTERM};
    make_place(&place);
    struct event_log *log = open_log(&place, 0);
    struct run_observer observer = event_log_observer(log);
    begin(log);
    tell(log, 7, RESULT_OK, "");
    tell(log, 5, RESULT_INFEASIBLE, "too\nsmall \"x\" \xff \xc3\xa9");
    observer.cube(observer.user, 0.5);
    summary.n_status[RESULT_OK] = 1;
    event_log_end(log, &summary, DSE_OK, NULL, 130);
    event_log_close(log);

    expect_text(&place, 0, "event", "run_begin");
    expect_text(&place, 0, "command", "dse run 'a \"b\"'");
    expect_text(&place, 0, "specification", "sample");
    expect_text(&place, 0, "specification_hash", "0123456789abcdef");
    assert_int_equal(number_of(&place, 0, "points"), 23);
    assert_int_equal(number_of(&place, 0, "reused"), 4);
    assert_int_equal(number_of(&place, 0, "threads"), 2);
    assert_int_equal(number_of(&place, 0, "shard"), 2);
    assert_int_equal(number_of(&place, 0, "shards"), 3);
    assert_int_equal(number_of(&place, 0, "pid"), getpid());
    expect_text(&place, 1, "event", "point");
    assert_int_equal(number_of(&place, 1, "point"), 8); /* from 1, as `dse rerun --point` counts */
    assert_true(number_of(&place, 1, "edp_js") == 1e-12);
    expect_text(&place, 1, "reason", NULL);
    json_t *point = line_of(&place, 1), *where = json_object_get(point, "coordinates");
    assert_int_equal(json_object_size(where), 4); /* cell 7 is (0, 3, 1) */
    assert_true(json_number_value(json_object_get(where, "global_buffer_byte")) == 65536);
    assert_true(json_number_value(json_object_get(where, "dram_byte_per_s")) == 3.2e10);
    assert_string_equal(json_string_value(json_object_get(where, "dram_preset")), "DDR4, \"fast\"");
    assert_string_equal(json_string_value(json_object_get(where, "network")), "r\xc3\xa9snet");
    json_decref(point);
    expect_text(&place, 2, "status", "infeasible");
    expect_text(&place, 2, "reason", "too\nsmall \"x\" \xef\xbf\xbd \xc3\xa9");
    expect_text(&place, 2, "edp_js", NULL);
    expect_text(&place, 3, "event", "cube");
    expect_text(&place, 4, "event", "run_end");
    expect_text(&place, 4, "exit", "interrupted");
    expect_text(&place, 4, "signal", "SIGTERM");
    assert_int_equal(number_of(&place, 4, "exchanged"), 3);
    assert_true(number_of(&place, 4, "busy_share") == 6.0 / (4 * 2));
    assert_null(line_of(&place, 5));
    free_place(&place);
}

static void test_event_log_goes_on_behind_a_torn_line(void **state)
{
    (void)state;
    struct place place;
    make_place(&place);
    FILE *file = fopen(place.path, "w");
    assert_non_null(file);
    fputs("{\"event\":\"poi", file);
    fclose(file);
    struct event_log *log = open_log(&place, 3);
    begin(log);
    event_log_close(log);
    expect_text(&place, 1, "event", "restart");
    assert_int_equal(number_of(&place, 1, "restarts"), 3);
    expect_text(&place, 2, "event", "run_begin");
    free_place(&place);
}

/* Two runs of one file at once, and many lines: appended, none mixed. */
static void test_event_log_lines_of_two_runs_do_not_mix(void **state)
{
    (void)state;
    enum { N = 4000 };
    struct place place;
    make_place(&place);
    struct event_log *one = open_log(&place, 0), *two = open_log(&place, 0);
    begin(one);
    begin(two);
    for (unsigned i = 0; i < N; i++) {
        tell(one, i % SAMPLE_CELL, RESULT_OK, "");
        tell(two, i % SAMPLE_CELL, RESULT_FAILED, "it went wrong");
    }
    event_log_close(one);
    event_log_close(two);
    size_t length, n = 0;
    char *text = files_read(place.path, &length), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && *line; n++) {
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(object);
        json_decref(object);
    }
    assert_int_equal(n, 2 * N + 2);
    free(text);
    free_place(&place);
}

/* What waits is no older than 0.1 s when ticks are told: killed after a tick, nothing is lost. */
static void test_event_log_survives_a_kill_after_a_tick(void **state)
{
    (void)state;
    struct place place;
    int code;
    make_place(&place);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct event_log *log = open_log(&place, 0);
        struct run_observer observer = event_log_observer(log);
        begin(log);
        tell(log, 1, RESULT_OK, "");
        tell(log, 2, RESULT_OK, "");
        observer.tick(observer.user);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFSIGNALED(code));
    json_t *last = line_of(&place, 2);
    assert_int_equal(json_integer_value(json_object_get(last, "point")), 3);
    json_decref(last);
    assert_null(line_of(&place, 3));
    free_place(&place);
}

/* A limit on the size of files stands for a full disk: a short write, then an error. */
static void test_event_log_that_cannot_be_written_is_said_once(void **state)
{
    (void)state;
    struct place place;
    struct rlimit before, limit;
    struct run_summary summary = {0};
    make_place(&place);
    struct event_log *log = open_log(&place, 0);
    struct run_observer observer = event_log_observer(log);
    begin(log);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (unsigned i = 0; i < 1000; i++)
        tell(log, i % SAMPLE_CELL, RESULT_OK, "");
    observer.tick(observer.user);
    tell(log, 1, RESULT_OK, "");
    observer.tick(observer.user);
    event_log_end(log, &summary, DSE_OK, NULL, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    event_log_close(log);
    fflush(place.err);
    char *first = strstr(place.said, "event log cannot be written");
    assert_non_null(first);
    assert_null(strstr(first + 1, "event log cannot be written"));
    free_place(&place);
}

static void expect_refused(const struct place *place, const char *path, enum dse_status wanted)
{
    struct event_log *log;
    struct dse_error err;
    struct event_log_options options = {.path = path, .out = place->out, .err = place->err};
    assert_int_equal(event_log_open(&sample_schema, &options, &log, &err), wanted);
    assert_null(log);
}

static void test_event_log_refuses_result_files_and_what_is_no_file(void **state)
{
    (void)state;
    char csv[600], alias[600];
    struct place place;
    make_place(&place);
    expect_refused(&place, place.out, DSE_BAD_USAGE);
    files_path(csv, sizeof csv, place.folder, "o.layers.csv");
    expect_refused(&place, csv, DSE_BAD_USAGE);
    FILE *file = fopen(csv, "w");
    assert_non_null(file);
    fclose(file);
    files_path(alias, sizeof alias, place.folder, "alias");
    assert_int_equal(symlink(csv, alias), 0);
    expect_refused(&place, alias, DSE_BAD_USAGE);
    expect_refused(&place, place.folder, DSE_IO);
    expect_refused(&place, "/nonexistent/log", DSE_IO);
    free_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_log_has_all_events),
        cmocka_unit_test(test_event_log_goes_on_behind_a_torn_line),
        cmocka_unit_test(test_event_log_lines_of_two_runs_do_not_mix),
        cmocka_unit_test(test_event_log_survives_a_kill_after_a_tick),
        cmocka_unit_test(test_event_log_that_cannot_be_written_is_said_once),
        cmocka_unit_test(test_event_log_refuses_result_files_and_what_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
