/* A file that an option names is read once, and its bytes are the option's value. The engine is a toy whose
 * files hold one digit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "dse/inputs/input_store.h"
#include "dse/solve/option_files.h"
#include "dse/solve/solve.h"

static enum dse_status read_digit(size_t option, const char *path, const void *bytes, size_t n_byte,
                                  struct arena *arena, const void **content, struct dse_error *err)
{
    const char *text = bytes;
    assert_int_equal(option, 1);
    if (n_byte != 1 || *text < '0' || *text > '9')
        return dse_fail(err, DSE_BAD_INPUT, "%s holds no digit", path);
    int *digit = arena_alloc(arena, 1, sizeof *digit);
    assert_non_null(digit);
    *digit = *text - '0';
    *content = digit;
    return DSE_OK;
}

static const struct engine_option option[] = {
    {"count", "how many there are", "mapping", OPTION_INTEGER, 5, 0, 1e6, NULL},
    {"model", "what was learned before", "", OPTION_FILE, 0, 0, 0, NULL},
};
static const struct engine toy = {.name = "toy", .option = option, .n_option = 2, .read_file = read_digit};

struct place {
    char folder[256], path[3][300];
    struct input_store *inputs;
    struct option_files *files;
};

static int set_up(void **state)
{
    static const char *const text[3] = {"4", "7", "x"};
    const char *temporary = getenv("TMPDIR");
    struct place *place = calloc(1, sizeof *place);
    struct dse_error err;
    assert_non_null(place);
    snprintf(place->folder, sizeof place->folder, "%.200s/dse_files_XXXXXX", temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(place->folder));
    for (int i = 0; i < 3; i++) {
        snprintf(place->path[i], sizeof place->path[i], "%s/%d", place->folder, i);
        FILE *file = fopen(place->path[i], "we");
        assert_non_null(file);
        assert_true(fputs(text[i], file) >= 0);
        assert_int_equal(fclose(file), 0);
    }
    assert_int_equal(input_store_new(&place->inputs, &err), DSE_OK);
    assert_int_equal(option_files_new(place->inputs, place->folder, &place->files, &err), DSE_OK);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    option_files_free(place->files);
    input_store_free(place->inputs);
    for (int i = 0; i < 3; i++)
        (void)unlink(place->path[i]);
    rmdir(place->folder);
    free(place);
    return 0;
}

static struct solve_settings settings_of(const struct place *place)
{
    struct solve_settings settings;
    memset(&settings, 0, sizeof settings);
    settings.engine = &toy;
    settings.files = place->files;
    return settings;
}

static void test_a_file_is_read_once_and_known_by_its_bytes(void **state)
{
    const struct place *place = *state;
    struct solve_settings a = settings_of(place), b = settings_of(place);
    struct dse_error err;
    size_t n;
    assert_int_equal(solve_settings_option(&a, "model", "0", &err), DSE_OK);
    assert_int_equal(solve_settings_option(&b, "model", "1", &err), DSE_OK);
    assert_true(a.option[1] == engine_file_id("4", 1) && b.option[1] == engine_file_id("7", 1));
    assert_true(solve_settings_key(&a, NULL) != solve_settings_key(&b, NULL));
    const struct engine_file *file = option_files_all(place->files, &n);
    assert_int_equal(n, 2);
    assert_true(file[0].id == a.option[1] && *(const int *)file[0].content == 4);
    assert_true(file[1].id == b.option[1] && *(const int *)file[1].content == 7);
    assert_int_equal(unlink(place->path[1]), 0);
    assert_int_equal(solve_settings_option(&a, "model", "1", &err), DSE_OK); /* from memory */
    assert_true(solve_settings_key(&a, NULL) == solve_settings_key(&b, NULL));
    assert_int_equal(solve_settings_option(&a, "model", "none", &err), DSE_OK);
    assert_true(a.option[1] == 0 && a.option_set == 2);
}

static void test_what_cannot_be_read_is_refused(void **state)
{
    const struct place *place = *state;
    struct solve_settings settings = settings_of(place);
    struct dse_error err;
    assert_int_equal(solve_settings_option(&settings, "model", "2", &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "holds no digit"));
    assert_int_equal(solve_settings_option(&settings, "model", "3", &err), DSE_IO);
    assert_int_equal(solve_settings_option(&settings, "modell", "0", &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "did you mean \"model\"?"));
    settings.files = NULL;
    assert_int_equal(solve_settings_option(&settings, "model", "0", &err), DSE_BAD_INPUT);
    assert_true(settings.option[1] == 0 && settings.option_set == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_is_read_once_and_known_by_its_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_read_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
