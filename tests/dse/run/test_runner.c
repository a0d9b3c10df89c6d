/* Sweeps run in full: the same rows and cubes for any number of threads, after an interruption and a resume,
 * and from shards; shared searches; points that go wrong. Nothing here is a known value: runs are compared
 * with each other, and counts with what the specification spans (3 x 2 x 2 cells and so on).
 * Tests: run_work.c, run_rows.c, run_resume.c, point_rows.c. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arena.h"
#include "dse/command/commands.h"
#include "dse/inputs/inputs.h"
#include "dse/run/runner.h"
#include "results/cube/cube_read.h"
#include "results/journal/journal.h"

enum { PATH_BYTE = 512, ROW_MAX = 4096 };

#define ARCH                                                                                                 \
    "architecture: small\nclock: 1 GHz\nhierarchy:\n"                                                        \
    "- {storage: DRAM, kind: dram, word: 8 bit, bandwidth: 4 GB/s, access_energy: 100 pJ}\n"                 \
    "- {storage: Buffer, word: 8 bit, capacity: 4 KiB, access_energy: 1 pJ}\n"                               \
    "- {array: PE, mesh: 4x4}\n- {macs: MAC, word: 8 bit, energy: 0.1 pJ}\n"
#define NETWORK                                                                                              \
    "network: tiny\ninput: {C: 3, H: 8, W: 8}\nlayers:\n"                                                    \
    "- {name: one, type: conv, C: 3, K: 8, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"                   \
    "- {name: two, type: conv, C: 8, K: 8, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: one}\n"                     \
    "- {name: three, type: conv, C: 8, K: 8, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: two}\n"                   \
    "- {name: pool, type: pool, C: 8, P: 4, Q: 4, R: 2, S: 2, stride: 2, from: three}\n"
#define HEAD "experiment: e\narchitecture: arch.yaml\nnetwork: net.yaml\n"
#define SWEEP                                                                                                \
    HEAD "engine: random\nlimits: {max_evaluations: 300}\naxes:\n"                                           \
         "  Buffer.capacity: [256 B, 1 KiB, 4 KiB]\n  DRAM.bandwidth: [1 GB/s, 4 GB/s]\n  PE.mesh: [2x2, "   \
         "4x4]\n"

static char folder[PATH_BYTE];
static size_t window; /* run_options.window of the next runs */

static char *in_folder(const char *name, char *path)
{
    snprintf(path, 2 * PATH_BYTE, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    char path[2 * PATH_BYTE];
    FILE *file = fopen(in_folder(name, path), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* One run of FOLDER/spec.yaml into FOLDER/NAME.h5. */
static enum dse_status run_spec(const char *name, int n_thread, uint32_t shard, uint32_t n_shard,
                                struct run_summary *summary)
{
    char spec_path[2 * PATH_BYTE], out[2 * PATH_BYTE], *messages = NULL;
    size_t size;
    struct sweep_spec *spec = calloc(1, sizeof *spec);
    struct sweep *sweep = calloc(1, sizeof *sweep);
    struct dse_error err = {0};
    FILE *stream = open_memstream(&messages, &size);
    assert_non_null(spec);
    assert_non_null(sweep);
    assert_non_null(stream);
    assert_int_equal(spec_read(spec, in_folder("spec.yaml", spec_path), NULL, 0, &err), DSE_OK);
    enum dse_status status = sweep_init(sweep, spec, &err);
    struct run_options options = {.out = in_folder(name, out),
                                  .n_thread = n_thread,
                                  .shard = shard,
                                  .n_shard = n_shard,
                                  .window = window,
                                  .command = "test",
                                  .err = stream};
    if (status == DSE_OK)
        status = runner_run(sweep, &options, summary, &err);
    if (status != DSE_OK)
        print_error("%s\n", err.text);
    fclose(stream);
    free(messages);
    sweep_free(sweep);
    spec_free(spec);
    free(sweep);
    free(spec);
    return status;
}

static void remove_results(const char *name)
{
    static const char *const ending[] = {".h5", ".csv", ".layers.csv"};
    char path[2 * PATH_BYTE], file[PATH_BYTE];
    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s%s", name, ending[i]);
        unlink(in_folder(file, path));
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Which columns hold wall time, or the checksum that covers it. */
static size_t unstable_columns(const char *header, bool *unstable, size_t most)
{
    size_t n = 0;
    for (const char *at = header; n < most; n++) {
        size_t length = strcspn(at, ",\r\n");
        unstable[n] = (length == 7 && strncmp(at, "seconds", 7) == 0) ||
                      (length == 13 && strncmp(at, "trace_seconds", 13) == 0) ||
                      (length == 8 && strncmp(at, "checksum", 8) == 0);
        at += length;
        if (*at++ != ',')
            return n + 1;
    }
    return n;
}

/* Blank out those fields of one line in place; quoted fields may hold commas. */
static void blank_fields(char *line, const bool *unstable)
{
    size_t column = 0;
    bool quoted = false;
    char *to = line;
    for (char *at = line; *at; at++) {
        if (*at == '"')
            quoted = !quoted;
        if (*at == ',' && !quoted)
            column++;
        if (!unstable[column] || *at == ',')
            *to++ = *at;
    }
    *to = '\0';
}

/* The file's lines, sorted, without unstable fields, as one text (to be freed). */
static char *stable_rows(const char *name)
{
    char path[2 * PATH_BYTE], *text, *row[ROW_MAX], *out;
    bool unstable[128] = {false};
    size_t length, n = 0, used = 0;
    struct dse_error err = {0};
    assert_int_equal(yaml_load(in_folder(name, path), &text, &length, &err), DSE_OK);
    assert_true(unstable_columns(text, unstable, 128) > 5);
    for (char *save = NULL, *line = strtok_r(text, "\n", &save); line && n < ROW_MAX;
         line = strtok_r(NULL, "\n", &save))
        row[n++] = line;
    for (size_t i = 1; i < n; i++)
        blank_fields(row[i], unstable);
    qsort(row + 1, n - 1, sizeof *row, by_text);
    out = malloc(length + 2);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        used += (size_t)sprintf(out + used, "%s\n", row[i]);
    free(text);
    return out;
}

static void assert_same_rows(const char *a, const char *b)
{
    char *x = stable_rows(a), *y = stable_rows(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

static void assert_same_cubes(const char *a, const char *b)
{
    char path_a[2 * PATH_BYTE], path_b[2 * PATH_BYTE];
    struct result_column column[RESULT_COLUMN_MAX];
    size_t n_column = schema_columns(NULL, RESULT_POINTS, column);
    struct arena arena;
    arena_init(&arena);
    in_folder(a, path_a);
    in_folder(b, path_b);
    for (size_t i = 0; i < n_column; i++) {
        double *x, *y;
        size_t n, m;
        struct dse_error err = {0};
        const struct metric *metric = column[i].metric;
        if (metric->type == METRIC_TEXT || metric->is_time)
            continue;
        assert_int_equal(cube_read_number(path_a, metric->name, &arena, &x, &n, &err), DSE_OK);
        assert_int_equal(cube_read_number(path_b, metric->name, &arena, &y, &m, &err), DSE_OK);
        assert_int_equal(n, m);
        assert_memory_equal(x, y, n * sizeof *x);
    }
    arena_free(&arena);
}

static void test_runner_same_results_for_any_number_of_threads(void **state)
{
    (void)state;
    struct run_summary summary;
    write_file("spec.yaml", SWEEP);
    assert_int_equal(run_spec("t1.h5", 1, 1, 1, &summary), DSE_OK);
    assert_int_equal(summary.n_status[RESULT_OK], 12);
    assert_int_equal(summary.n_task, 24); /* layers two and three are the same loop nest */
    assert_int_equal(run_spec("t2.h5", 2, 1, 1, &summary), DSE_OK);
    assert_int_equal(run_spec("t4.h5", 4, 1, 1, &summary), DSE_OK);
    assert_same_rows("t1.csv", "t2.csv");
    assert_same_rows("t1.csv", "t4.csv");
    assert_same_rows("t1.layers.csv", "t4.layers.csv");
    assert_same_cubes("t1.h5", "t2.h5");
    assert_same_cubes("t1.h5", "t4.h5");
    remove_results("t2");
    remove_results("t4");
}

static void test_runner_resumes_without_computing_again(void **state)
{
    (void)state;
    struct run_summary summary;
    char path[2 * PATH_BYTE];
    long length;
    write_file("spec.yaml", SWEEP);
    assert_int_equal(run_spec("r.h5", 2, 1, 1, &summary), DSE_OK);
    FILE *file = fopen(in_folder("r.csv", path), "r+"); /* a torn last line, as a crash leaves it */
    assert_non_null(file);
    assert_int_equal(fseek(file, -20, SEEK_END), 0);
    length = ftell(file);
    fclose(file);
    assert_int_equal(truncate(path, length), 0);
    /* No crash leaves it beside a cube that has the point. */
    assert_int_equal(run_spec("r.h5", 2, 1, 1, &summary), DSE_BAD_INPUT);
    assert_int_equal(unlink(in_folder("r.h5", path)), 0);
    assert_int_equal(run_spec("r.h5", 2, 1, 1, &summary), DSE_OK);
    assert_int_equal(summary.n_reused, 11);
    assert_int_equal(summary.n_status[RESULT_OK], 1);
    assert_int_equal(run_spec("r.h5", 2, 1, 1, &summary), DSE_OK);
    assert_int_equal(summary.n_reused, 12);
    assert_int_equal(summary.n_task, 0);
    assert_same_rows("r.csv", "t1.csv");
    assert_same_rows("r.layers.csv", "t1.layers.csv");
    assert_same_cubes("r.h5", "t1.h5");
    remove_results("r");
    remove_results("t1");
}

static void *interrupt_soon(void *user)
{
    const struct timespec wait = {0, 150 * 1000 * 1000};
    (void)user;
    nanosleep(&wait, NULL);
    kill(getpid(), SIGTERM);
    return NULL;
}

static void test_runner_interrupted_and_resumed_gives_the_same(void **state)
{
    (void)state;
    struct run_summary summary;
    pthread_t thread;
    sigset_t set, before;
    write_file("spec.yaml",
               HEAD "engine: random\noptions: {search_size: 30000}\naxes:\n"
                    "  Buffer.capacity: [256 B, 1 KiB, 4 KiB]\n  DRAM.bandwidth: [1 GB/s, 4 GB/s]\n");
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &before); /* the new thread must not take the signal itself */
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, NULL), 0);
    assert_int_equal(run_spec("i.h5", 2, 1, 1, &summary), DSE_OK);
    pthread_join(thread, NULL);
    const struct timespec now = {0, 0};
    bool late = sigtimedwait(&set, NULL, &now) > 0; /* a very fast machine was done before the signal came */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_true(summary.interrupted || late || summary.n_status[RESULT_OK] == 6);
    assert_true(summary.seconds < 5.0);
    assert_int_equal(run_spec("i.h5", 2, 1, 1, &summary), DSE_OK);
    assert_false(summary.interrupted);
    assert_int_equal(summary.n_reused + summary.n_status[RESULT_OK], 6);
    assert_int_equal(run_spec("j.h5", 1, 1, 1, &summary), DSE_OK);
    assert_same_rows("i.csv", "j.csv");
    assert_same_rows("i.layers.csv", "j.layers.csv");
    assert_same_cubes("i.h5", "j.h5");
    remove_results("i");
    remove_results("j");
}

static void test_runner_computes_shared_searches_once(void **state)
{
    (void)state;
    struct run_summary summary;
    /* the second copy of the network has other layer names and the same loop nests */
    write_file("net2.yaml",
               "network: tiny2\ninput: {C: 3, H: 8, W: 8}\nlayers:\n"
               "- {name: a, type: conv, C: 3, K: 8, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
               "- {name: b, type: conv, C: 8, K: 8, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: a}\n");
    write_file(
        "spec.yaml",
        "experiment: e\narchitecture: arch.yaml\nengine: random\nlimits: {max_evaluations: 100}\naxes:\n"
        "  network: [net.yaml, net2.yaml]\n  Buffer.capacity: [1 KiB, 2 KiB]\n");
    assert_int_equal(run_spec("s.h5", 2, 1, 1, &summary), DSE_OK);
    assert_int_equal(summary.n_status[RESULT_OK], 4);
    assert_int_equal(summary.n_task, 4); /* 2 loop nests on 2 machines */
    assert_int_equal(summary.n_shared, 4);
    remove_results("s");
}

/* The values of a column of numbers; returns how many points there are. */
static size_t read_column(const char *name, const char *column, double *value, size_t most)
{
    char path[2 * PATH_BYTE];
    double *found;
    size_t n;
    struct arena arena;
    struct dse_error err = {0};
    arena_init(&arena);
    assert_int_equal(cube_read_number(in_folder(name, path), column, &arena, &found, &n, &err), DSE_OK);
    assert_true(n <= most);
    memcpy(value, found, n * sizeof *value);
    arena_free(&arena);
    return n;
}

/* The network has 2 different loop nests: 301 evaluations are 150 for each, which random search uses up. */
static void test_runner_points_keep_to_their_evaluations(void **state)
{
    (void)state;
    struct run_summary summary;
    double evaluations[4];
    write_file("spec.yaml", HEAD "engine: random\noptions: {search_size: 0}\n"
                                 "limits: {max_evaluations: 1000, point_max_evaluations: 301}\n"
                                 "axes:\n  Buffer.capacity: [1 KiB, 4 KiB]\n  seed: [1, 2]\n");
    assert_int_equal(run_spec("p1.h5", 1, 1, 1, &summary), DSE_OK);
    assert_int_equal(run_spec("p2.h5", 4, 1, 1, &summary), DSE_OK);
    assert_int_equal(summary.n_status[RESULT_OK], 4);
    assert_same_rows("p1.csv", "p2.csv");
    assert_same_rows("p1.layers.csv", "p2.layers.csv");
    assert_same_cubes("p1.h5", "p2.h5");
    assert_int_equal(read_column("p1.h5", "evaluations", evaluations, 4), 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(evaluations[i] == 300);
    remove_results("p1");
    remove_results("p2");
}

/* Of 1e-9 s nothing is left for an engine that works for ages before it answers: timeout. One that answers at
 * once has its first answer, and in 0.1 s more, although this search has no end of its own. */
static void test_runner_points_keep_to_their_seconds(void **state)
{
    (void)state;
    struct run_summary summary;
    double value[2];
    write_file("spec.yaml", HEAD "engine: drill\noptions: {work: 1000}\n"
                                 "limits: {max_seconds: 7, point_max_seconds: 1e-9}\n");
    assert_int_equal(run_spec("q.h5", 1, 1, 1, &summary), DSE_OK);
    assert_int_equal(summary.n_status[RESULT_TIMEOUT], 1);
    char *rows = stable_rows("q.csv");
    assert_non_null(
        strstr(rows, "layer one: nothing found within 5e-10 s, its share of point_max_seconds = 1e-09"));
    free(rows);
    remove_results("q");
    write_file("spec.yaml", HEAD "engine: random\noptions: {search_size: 0}\n"
                                 "limits: {max_seconds: 7, point_max_seconds: 1e-9}\n");
    assert_int_equal(run_spec("q.h5", 1, 1, 1, &summary), DSE_OK);
    assert_int_equal(summary.n_status[RESULT_OK], 1);
    rows = stable_rows("q.csv");
    assert_non_null(strstr(rows, ",max_seconds,"));
    free(rows);
    remove_results("q");
    write_file("spec.yaml", HEAD "engine: random\noptions: {search_size: 0}\n"
                                 "limits: {max_seconds: 7, point_max_seconds: 0.1}\n");
    assert_int_equal(run_spec("q.h5", 1, 1, 1, &summary), DSE_OK);
    assert_int_equal(summary.n_status[RESULT_OK], 1);
    assert_int_equal(read_column("q.h5", "seconds", value, 2), 1);
    assert_true(value[0] >= 0.1 &&
                value[0] < 3); /* after 0.05 s each search ends its batch, on a loaded machine too */
    assert_int_equal(read_column("q.h5", "edp_js", value, 2), 1);
    assert_true(isfinite(value[0]));
    rows = stable_rows("q.csv");
    assert_non_null(strstr(rows, ",max_seconds,"));
    free(rows);
    remove_results("q");
}

static void test_runner_points_that_go_wrong_are_rows(void **state)
{
    (void)state;
    struct run_summary summary;
    /* 1 B cannot hold one word of three tensors: infeasible, found without a search */
    write_file("spec.yaml", HEAD
               "engine: random\nlimits: {max_evaluations: 100}\naxes:\n  Buffer.capacity: [1 B, 4 KiB]\n");
    assert_int_equal(run_spec("w.h5", 2, 1, 1, &summary), DSE_OK);
    assert_int_equal(summary.n_status[RESULT_INFEASIBLE], 1);
    assert_int_equal(summary.n_status[RESULT_OK], 1);
    char *rows = stable_rows("w.csv");
    assert_non_null(strstr(rows, "layer one: Buffer needs"));
    free(rows);
    remove_results("w");
}

/* Windows of a point or a few, so that threads plan, wait for plans and free them all the time; searches are
 * shared within a window, and two of the eight machines cannot be built: 4 instances have no cluster of
 * 16. */
static void test_runner_same_results_for_any_window(void **state)
{
    (void)state;
    struct run_summary summary;
    write_file("clusters.yaml",
               "architecture: clusters\nclock: 1 GHz\nhierarchy:\n"
               "- {storage: DRAM, kind: dram, word: 8 bit, bandwidth: 4 GB/s, access_energy: 100 pJ}\n"
               "- {storage: Buffer, word: 8 bit, capacity: 4 KiB, access_energy: 1 pJ}\n"
               "- {array: PE, mesh: 4x4}\n"
               "- {storage: Reg, word: 8 bit, capacity: 64 B, access_energy: 0.1 pJ}\n"
               "- {macs: MAC, word: 8 bit, energy: 0.1 pJ}\n");
    write_file("spec.yaml",
               "experiment: e\narchitecture: clusters.yaml\nengine: random\n"
               "limits: {max_evaluations: 20}\naxes:\n  network: [net.yaml, net2.yaml]\n"
               "  PE.mesh: [2x2, 4x4]\n  Reg.cluster: [1, 16]\n  Buffer.capacity: [2 KiB, 4 KiB]\n"
               "  seed: [1, 2, 3, 4, 5]\n");
    assert_int_equal(run_spec("x0.h5", 1, 1, 1, &summary), DSE_OK);
    assert_int_equal(summary.n_status[RESULT_FAILED], 20);
    assert_int_equal(summary.n_status[RESULT_OK], 60);
    assert_int_equal(summary.n_task, 60); /* 2 loop nests x 6 machines x 5 seeds, for both networks */
    for (window = 1; window <= 9; window += 4) {
        assert_int_equal(run_spec("x1.h5", 4, 1, 1, &summary), DSE_OK);
        assert_int_equal(summary.n_status[RESULT_FAILED], 20);
        assert_int_equal(summary.n_status[RESULT_OK], 60);
        assert_int_equal(summary.n_task,
                         window == 1 ? 120 : 60); /* both networks of a machine in each window */
        assert_same_rows("x0.csv", "x1.csv");
        assert_same_rows("x0.layers.csv", "x1.layers.csv");
        assert_same_cubes("x0.h5", "x1.h5");
        remove_results("x1");
    }
    window = 0;
    remove_results("x0");
}

static void test_runner_shards_are_parts_of_the_whole(void **state)
{
    (void)state;
    struct run_summary summary;
    size_t n = 0;
    write_file("spec.yaml", SWEEP);
    for (uint32_t k = 1; k <= 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "k%u.h5", k);
        assert_int_equal(run_spec(name, 1, k, 3, &summary), DSE_OK);
        n += summary.n_status[RESULT_OK];
        snprintf(name, sizeof name, "k%u", k);
    }
    assert_int_equal(n, 12);
    char argument[5][2 * PATH_BYTE];
    char *argv[] = {argument[0], argument[0] + 4, argument[1], argument[2], argument[3], argument[4], NULL};
    memcpy(argument[0], "dse\0merge", 10);
    in_folder("m.h5", argument[1]);
    for (int k = 1; k <= 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "k%d.h5", k);
        in_folder(name, argument[k + 1]);
    }
    struct console console = {.out = stdout, .err = stderr};
    assert_int_equal(cli_main(6, argv, &console), EXIT_DONE);
    assert_int_equal(run_spec("all.h5", 2, 1, 1, &summary), DSE_OK);
    assert_same_rows("m.csv", "all.csv");
    assert_same_cubes("m.h5", "all.h5");
    remove_results("m");
    remove_results("all");
    remove_results("k1");
    remove_results("k2");
    remove_results("k3");
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/dse_runner_XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    write_file("arch.yaml", ARCH);
    write_file("net.yaml", NETWORK);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const name[] = {"spec.yaml", "arch.yaml", "net.yaml", "net2.yaml", "clusters.yaml"};
    char path[2 * PATH_BYTE];
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        unlink(in_folder(name[i], path));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runner_same_results_for_any_number_of_threads),
        cmocka_unit_test(test_runner_resumes_without_computing_again),
        cmocka_unit_test(test_runner_interrupted_and_resumed_gives_the_same),
        cmocka_unit_test(test_runner_computes_shared_searches_once),
        cmocka_unit_test(test_runner_points_keep_to_their_evaluations),
        cmocka_unit_test(test_runner_points_keep_to_their_seconds),
        cmocka_unit_test(test_runner_points_that_go_wrong_are_rows),
        cmocka_unit_test(test_runner_same_results_for_any_window),
        cmocka_unit_test(test_runner_shards_are_parts_of_the_whole),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
