/* Every request for memory fails once, the first, the second, ... of a whole command: each such run says that
 * it is out of memory, or does without and prints what it always prints; none crashes or leaks (the latter is
 * seen by the build with AddressSanitizer). Requests are those of our own code: the linker sends its malloc,
 * calloc and realloc here (see the Makefile), and the arena asks malloc for each request.
 * Tests: command_run.c, command_map.c. */
#define ARENA_EXACT 1 /* of base/arena.c */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arena.c"
#include "dse/command/commands.h"

enum { ARGUMENT_MAX = 12, PARTS = 16, PATH_BYTE = 256 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static uint64_t n_request, refused; /* the request that fails counts from 1; 0: none does */

static int refuse_this(void)
{
    return __atomic_add_fetch(&n_request, 1, __ATOMIC_RELAXED) == refused;
}

void *__wrap_malloc(size_t size)
{
    return refuse_this() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse_this() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse_this() ? NULL : __real_realloc(old, size);
}

static const struct {
    const char *name, *text;
} given[] = {
    {"arch.yaml", "architecture: small\nclock: 1 GHz\nhierarchy:\n"
                  "- {storage: DRAM, kind: dram, word: 8 bit, bandwidth: 4 GB/s, access_energy: 100 pJ}\n"
                  "- {storage: Buffer, word: 8 bit, capacity: 4 KiB, access_energy: 1 pJ}\n"
                  "- {array: PE, mesh: 4x4}\n- {macs: MAC, word: 8 bit, energy: 0.1 pJ}\n"},
    {"net.yaml", "network: tiny\ninput: {C: 3, H: 8, W: 8}\nlayers:\n"
                 "- {name: one, type: conv, C: 3, K: 8, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
                 "- {name: pool, type: pool, C: 8, P: 4, Q: 4, R: 2, S: 2, stride: 2, from: one}\n"},
    {"spec.yaml", "experiment: e\narchitecture: arch.yaml\nnetwork: net.yaml\nengine: random\n"
                  "limits: {max_evaluations: 30}\naxes: {Buffer.capacity: [256 B, 4 KiB]}\n"},
};

static char folder[PATH_BYTE];         /* of the given files */
static char out_folder[PATH_BYTE + 8]; /* of results */

static void place(const char *in, const char *name, char *path)
{
    snprintf(path, 2 * PATH_BYTE, "%s/%s", in, name);
}

static void remove_results(void)
{
    static const char *const name[] = {"out.h5", "out.csv", "out.layers.csv", "out.h5.lock", "out.events"};
    char path[2 * PATH_BYTE];
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        place(out_folder, name[i], path);
        unlink(path);
    }
}

struct outcome {
    int code;
    char *out, *err; /* owned */
};

/* The command in this process. Among its words `@x` is a given file and `%x` a result, not there yet. */
static struct outcome run(const char *const *word, uint64_t fails)
{
    struct outcome outcome;
    char text[ARGUMENT_MAX][2 * PATH_BYTE], *argv[ARGUMENT_MAX + 1];
    size_t size;
    int argc = 0;
    for (; word[argc]; argc++) {
        if (strchr("@%", word[argc][0]))
            place(word[argc][0] == '@' ? folder : out_folder, word[argc] + 1, text[argc]);
        else
            snprintf(text[argc], sizeof text[argc], "%s", word[argc]);
        argv[argc] = text[argc];
    }
    argv[argc] = NULL;
    struct console console = {.out = open_memstream(&outcome.out, &size),
                              .err = open_memstream(&outcome.err, &size)};
    assert_true(console.out && console.err);
    remove_results();
    n_request = 0;
    refused = fails;
    outcome.code = cli_main(argc, argv, &console);
    refused = 0;
    fclose(console.out);
    fclose(console.err);
    return outcome;
}

static void outcome_free(struct outcome *outcome)
{
    free(outcome->out);
    free(outcome->err);
}

/* What was read of a file when memory ran out is told with the file. */
static bool names_file(const char *err)
{
    static const char *const read[] = {"for a network", "for a specification", "for a sweep"};
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        const char *at = strstr(err, read[i]), *file = strstr(err, ".yaml");
        file = file ? file : strstr(err, ".onnx");
        if (at && !(file && file < at))
            return false;
    }
    return true;
}

/* This process's share of the requests, every PARTS-th from `part` on; how many runs went wrong. */
static int let_some_fail(const char *const *word, uint64_t part)
{
    snprintf(out_folder, sizeof out_folder, "%s/%d", folder, (int)part);
    int n_bad = mkdir(out_folder, 0700) == 0 ? 0 : 1;
    struct outcome usual = run(word, 0), again;
    uint64_t n = n_request;
    if (usual.code != 0 || n < PARTS)
        n_bad += fprintf(stderr, "code %d after %llu requests: %s\n", usual.code, (unsigned long long)n,
                         usual.err);
    for (uint64_t k = part; n_bad == 0 && k <= n; k += PARTS, outcome_free(&again)) {
        again = run(word, k);
        bool same = again.code == 0 && strcmp(again.out, usual.out) == 0;
        bool told = again.code != 0 && (strstr(again.err, "memory") || strstr(again.out, "memory"));
        if (!(same || (told && names_file(again.err))))
            n_bad += fprintf(stderr, "request %llu of %llu: code %d, %s%s\n", (unsigned long long)k,
                             (unsigned long long)n, again.code, again.err, again.out);
    }
    outcome_free(&usual);
    remove_results();
    rmdir(out_folder);
    return n_bad;
}

/* In several processes, as runs of a sweep mostly wait. */
static void let_each_fail(void **state)
{
    const char *const *word = *state;
    pid_t child[PARTS];
    for (int part = 0; part < PARTS; part++) {
        child[part] = fork();
        if (child[part] == 0) {
            (void)signal(SIGSEGV, SIG_DFL); /* a crash is the child's end, not a failed test in it */
            (void)signal(SIGABRT, SIG_DFL);
            exit(let_some_fail(word, (uint64_t)part + 1) != 0);
        }
        assert_true(child[part] > 0);
    }
    int n_bad = 0, end;
    for (int part = 0; part < PARTS; part++)
        n_bad += waitpid(child[part], &end, 0) != child[part] || end != 0;
    assert_int_equal(n_bad, 0);
}

static int set_up(void **state)
{
    (void)state;
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/dse_no_memory_XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        char path[2 * PATH_BYTE];
        place(folder, given[i].name, path);
        FILE *file = fopen(path, "w");
        if (!file || fputs(given[i].text, file) < 0 || fclose(file) != 0)
            return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char path[2 * PATH_BYTE];
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        place(folder, given[i].name, path);
        unlink(path);
    }
    return rmdir(folder);
}

#define MAP(engine) "dse", "map", "@arch.yaml", "@net.yaml", "-j1", "-n30", "-e" engine, NULL
#define SCHEDULE(engine) "dse", "map", "soma_edge", "@net.yaml", "-j1", "-n100", "-e" engine, NULL

static const char *commands[][ARGUMENT_MAX] = {
    {"dse", "check", "@spec.yaml", NULL},
    {"dse", "check", "tests/known/onnx/small/crop_pad.onnx", NULL},
    {"dse", "convert", "tests/known/onnx/small/free.onnx", "--set", "network.seq_len=8", NULL},
    {"dse", "run", "@spec.yaml", "-o", "%out.h5", "-j1", "--isolation", "thread", NULL},
    {MAP("random")},
    {MAP("annealing")},
    {MAP("genetic")},
    {MAP("descent")},
    {MAP("hybrid")},
    {MAP("exhaustive")},
    {MAP("cosa")},
    {MAP("cosa-best")},
    {MAP("gradient")},
    {SCHEDULE("unfused")},
    {SCHEDULE("cocco")},
    {SCHEDULE("soma")},
    {SCHEDULE("soma-plus")},
};

int main(void)
{
    struct CMUnitTest tests[sizeof commands / sizeof commands[0]];
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        tests[i] = (struct CMUnitTest){"test_no_memory", let_each_fail, NULL, NULL, commands[i]};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
