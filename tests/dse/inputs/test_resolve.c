/* Names and paths in a folder made for it. The shipped data are looked through last: no name here is theirs,
 * except resnet50. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "dse/inputs/resolve.h"

static const char *const made_folder[] = {"experiments",
                                          "experiments/architectures",
                                          "experiments/networks",
                                          "experiments/paper",
                                          "specs",
                                          "specs/architectures",
                                          "specs/deep"};
static const char *const made_file[] = {"experiments/architectures/chip_here.yaml",
                                        "experiments/networks/net_here.yaml",
                                        "experiments/networks/ignored.txt",
                                        "experiments/sweep_here.yaml",
                                        "experiments/paper/fig1_here.yaml",
                                        "specs/architectures/chip_here.yaml",
                                        "specs/architectures/json_here.json",
                                        "specs/table_here.csv",
                                        "specs/own.yaml",
                                        "plain_file"};
enum { N_FOLDER = sizeof made_folder / sizeof *made_folder, N_FILE = sizeof made_file / sizeof *made_file };

static char folder[512], before[4096];

static int make_files(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof folder, "%s/dse-resolve-XXXXXX", base && base[0] ? base : "/tmp");
    if (!getcwd(before, sizeof before) || !mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    for (size_t i = 0; i < N_FOLDER; i++)
        if (mkdir(made_folder[i], 0777) != 0)
            return 1;
    for (size_t i = 0; i < N_FILE; i++) {
        FILE *file = fopen(made_file[i], "w");
        if (!file || fclose(file) != 0)
            return 1;
    }
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FILE; i++)
        unlink(made_file[i]);
    for (size_t i = N_FOLDER; i-- > 0;)
        rmdir(made_folder[i]);
    return chdir(before) != 0 || rmdir(folder) != 0;
}

static void test_names_and_paths_are_found(void **state)
{
    static const struct {
        enum resolve_kind kind;
        const char *name, *base, *wanted;
    } row[] = {
        {RESOLVE_ARCHITECTURE, "chip_here", NULL, "./experiments/architectures/chip_here.yaml"},
        {RESOLVE_NETWORK, "net_here", NULL, "./experiments/networks/net_here.yaml"},
        /* the folder of the specification comes first, then those above it */
        {RESOLVE_ARCHITECTURE, "chip_here", "specs", "specs/architectures/chip_here.yaml"},
        {RESOLVE_ARCHITECTURE, "chip_here", "specs/deep", "specs/architectures/chip_here.yaml"},
        {RESOLVE_NETWORK, "net_here", "specs/deep", "./experiments/networks/net_here.yaml"},
        {RESOLVE_ARCHITECTURE, "json_here", "specs", "specs/architectures/json_here.json"},
        {RESOLVE_NETWORK, "table_here.csv", "specs", "specs/table_here.csv"},
        /* paths: to base where there is such a file, else as written, there or not */
        {RESOLVE_ARCHITECTURE, "own.yaml", "specs", "specs/own.yaml"},
        {RESOLVE_ARCHITECTURE, "specs/own.yaml", "specs", "specs/own.yaml"},
        {RESOLVE_ARCHITECTURE, "own.yml", "specs", "own.yml"},
        {RESOLVE_ARCHITECTURE, "/no/chip", "specs", "/no/chip"},
        {RESOLVE_ARCHITECTURE, "plain_file", NULL, "plain_file"},
        /* a folder of problem files is a network */
        {RESOLVE_NETWORK, "specs/deep", NULL, "specs/deep/"},
        {RESOLVE_NETWORK, "specs", NULL, "specs/"},
        {RESOLVE_NETWORK, "./deep", "specs", "specs/./deep/"},
        {RESOLVE_ARCHITECTURE, "specs/deep", NULL, "specs/deep"},
        {RESOLVE_EXPERIMENT, "sweep_here", NULL, "experiments/sweep_here.yaml"},
        {RESOLVE_EXPERIMENT, "paper/fig1_here", NULL, "experiments/paper/fig1_here.yaml"},
        {RESOLVE_EXPERIMENT, "specs/own.yaml", NULL, "specs/own.yaml"},
        {RESOLVE_EXPERIMENT, "plain_file", NULL, "plain_file"},
        {RESOLVE_EXPERIMENT, "paper/no", NULL, "paper/no"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char path[RESOLVE_PATH_MAX];
        struct dse_error err = {0};
        if (resolve_name(row[i].kind, row[i].name, row[i].base, path, sizeof path, &err) != DSE_OK)
            fail_msg("%s: %s", row[i].name, err.text);
        assert_string_equal(path, row[i].wanted);
    }
}

static void test_what_is_not_found_is_named(void **state)
{
    static const struct {
        enum resolve_kind kind;
        const char *name, *message;
    } row[] = {
        {RESOLVE_ARCHITECTURE, "", "the name of the architecture is empty"},
        {RESOLVE_ARCHITECTURE, "chip_hare", "unknown architecture \"chip_hare\"; did you mean chip_here?"},
        {RESOLVE_NETWORK, "net_hree", "unknown network \"net_hree\"; did you mean net_here?"},
        {RESOLVE_EXPERIMENT, "fig1_here", "unknown experiment \"fig1_here\"; did you mean paper/fig1_here?"},
        {RESOLVE_NETWORK, "qqqqqqqqqqqqqqqq",
         "unknown network \"qqqqqqqqqqqqqqqq\"; give a path to a YAML file or a "
         "name of `dse list networks`"},
        {RESOLVE_NETWORK, "ignored",
         "unknown network \"ignored\"; give a path to a YAML file or a name of `dse list "
         "networks`"},
    };
    char path[RESOLVE_PATH_MAX], longest[RESOLVE_PATH_MAX + 8];
    struct dse_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(resolve_name(row[i].kind, row[i].name, NULL, path, sizeof path, &err),
                         DSE_BAD_INPUT);
        assert_string_equal(err.text, row[i].message);
    }
    memset(longest, '/', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(resolve_name(RESOLVE_NETWORK, longest, NULL, path, sizeof path, &err), DSE_LIMIT);
    assert_string_equal(err.text, "the path is longer than 4095 bytes");
}

struct seen {
    int here, n;
    char last[300];
    const char *wanted, *path;
};

static void see(void *user, const char *name, const char *path)
{
    struct seen *seen = user;
    assert_true(strcmp(seen->last, name) < 0); /* sorted, each once */
    snprintf(seen->last, sizeof seen->last, "%s", name);
    seen->n++;
    if (strcmp(name, seen->wanted) == 0) {
        assert_string_equal(path, seen->path);
        seen->here++;
    }
    assert_string_not_equal(name, "ignored");
}

static void test_each_name_is_visited_once_in_order(void **state)
{
    static const struct {
        enum resolve_kind kind;
        const char *name, *path;
    } row[] = {
        {RESOLVE_ARCHITECTURE, "chip_here", "experiments/architectures/chip_here.yaml"},
        {RESOLVE_NETWORK, "net_here", "experiments/networks/net_here.yaml"},
        {RESOLVE_EXPERIMENT, "sweep_here", "experiments/sweep_here.yaml"},
        {RESOLVE_EXPERIMENT, "paper/fig1_here", "experiments/paper/fig1_here.yaml"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct seen seen = {.wanted = row[i].name, .path = row[i].path};
        struct dse_error err;
        assert_int_equal(resolve_each(row[i].kind, see, &seen, &err), DSE_OK);
        assert_int_equal(seen.here, 1);
    }
}

static void test_folder_of_a_path(void **state)
{
    char dir[32];
    (void)state;
    assert_string_equal(resolve_folder_of("a/b/c.yaml", dir, sizeof dir), "a/b");
    assert_string_equal(resolve_folder_of("c.yaml", dir, sizeof dir), ".");
    assert_string_equal(resolve_folder_of("/c.yaml", dir, sizeof dir), "/");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_paths_are_found),
        cmocka_unit_test(test_what_is_not_found_is_named),
        cmocka_unit_test(test_each_name_is_visited_once_in_order),
        cmocka_unit_test(test_folder_of_a_path),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
