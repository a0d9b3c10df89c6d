/* `dse eval` with any bytes as a mapping (first byte even) or a fused schedule: the whole command, from the
 * file to the report. */
#include <stdlib.h>
#include <unistd.h>

#include "dse/command/commands.h"
#include "tests/fuzz/fuzz.h"

enum { PATH_MAX_BYTE = 512 };

#define KNOWN "tests/known/timeloop/"

/* A machine and a layer of Timeloop's, a native machine with a layer of a network, and schedules by both
 * rules. */
static const char *const command[][8] = {
    {"dse", "eval", KNOWN "archs/eyeriss168.yaml", KNOWN "problems/resnet50-conv5-1x1-n2.yaml", "@", NULL},
    {"dse", "eval", "simba", "alexnet:conv3", "@", "--report=levels", "--format=json", NULL},
    {"dse", "eval", "soma_edge", "tests/known/soma/tiny6.yaml", "@", "--report=tensors", NULL},
    {"dse", "eval", "soma_edge", "tests/known/soma/tiny6.yaml", "@", "--compat", "--report=tiles", NULL},
};

/* 0, or 2 with one line that begins as all do. */
static void check_end(int code, const char *text)
{
    FUZZ_REQUIRE(code == 0 || code == 2, "exit code %d: %s", code, text);
    if (code == 0)
        return;
    FUZZ_REQUIRE(strncmp(text, "dse: ", 5) == 0 && text[strlen(text) - 1] == '\n', "'%s'", text);
    FUZZ_REQUIRE(strchr(text, '\n') == text + strlen(text) - 1, "more than one line: %s", text);
    for (const char *at = text; at[1]; at++)
        FUZZ_REQUIRE((unsigned char)*at >= 0x20 && *at != 0x7f, "control character in '%s'", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[PATH_MAX_BYTE], *argv[8], *out_text = NULL, *err_text = NULL;
    size_t out_size, err_size;
    const char *folder = getenv("TMPDIR");
    int argc = 0;
    if (size == 0)
        return 0;
    snprintf(path, sizeof path, "%s/dse-fuzz-eval-%ld.yaml", folder ? folder : "/tmp", (long)getpid());
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file && fwrite(data + 1, 1, size - 1, file) == size - 1 && fclose(file) == 0, "%s", path);
    for (const char *const *word = command[data[0] % 4]; *word; word++)
        argv[argc++] = strcmp(*word, "@") == 0 ? path : strdup(*word);
    argv[argc] = NULL;
    struct console console = {.out = open_memstream(&out_text, &out_size),
                              .err = open_memstream(&err_text, &err_size)};
    FUZZ_REQUIRE(console.out && console.err, "out of memory");
    int code = cli_main(argc, argv, &console);
    fclose(console.out);
    fclose(console.err);
    check_end(code, err_text);
    for (int i = 0; i < argc; i++)
        if (argv[i] != path)
            free(argv[i]);
    free(out_text);
    free(err_text);
    unlink(path);
    return 0;
}
