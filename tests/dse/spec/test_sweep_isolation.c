/* Where searches run, from a specification. Defaults and messages as in docs/isolation.md and the
 * specifications below.
 * Tests: sweep_load.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/sweep_case.h"

#define HEAD "experiment: e\narchitecture: simba\nnetwork: resnet50\nlayers: [fc]\nengine: random\n"

static void test_what_is_written_is_taken(void **state)
{
    static const struct {
        const char *text;
        enum isolation isolation;
        uint64_t max_memory_byte;
        double grace_s;
    } row[] = {
        {HEAD, ISOLATION_AUTO, 0, 10},
        {HEAD "isolation: auto\n", ISOLATION_AUTO, 0, 10},
        {HEAD "isolation: thread\n", ISOLATION_THREAD, 0, 10},
        {HEAD "isolation: process\n", ISOLATION_PROCESS, 0, 10},
        {HEAD "limits: {grace_seconds: 0}\n", ISOLATION_AUTO, 0, 0},
        {HEAD "limits: {grace_seconds: 2.5, max_memory: 1 MiB}\n", ISOLATION_AUTO, 1 << 20, 2.5},
        {HEAD "isolation: process\nlimits: {max_memory: 1000 TB}\n", ISOLATION_PROCESS, 1000000000000000, 10},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct dse_error err = {0};
        struct sweep_case *o = sweep_case_open(row[i].text, NULL, 0, &err);
        if (!o)
            fail_msg("%s", err.text);
        assert_int_equal(o->sweep.isolation, row[i].isolation);
        assert_true(o->sweep.max_memory_byte == row[i].max_memory_byte);
        assert_true(o->sweep.grace_s == row[i].grace_s);
        sweep_case_close(o);
    }
}

static void test_what_is_wrong_is_named_with_its_place(void **state)
{
    static const struct {
        const char *text;
        const char *set; /* or NULL */
        int line;
        const char *message;
    } row[] = {
        {HEAD "isolation: fork\n", NULL, 6, "isolation fork: auto, thread or process is expected"},
        {HEAD, "isolation=Thread", 0, "--set: isolation Thread: auto, thread or process is expected"},
        {HEAD, "limits.grace_seconds=soon", 0,
         "--set: limits.grace_seconds soon: a number of seconds is expected"},
        {HEAD, "limits.grace_seconds=-1", 0,
         "--set: limits.grace_seconds -1: a number of seconds is expected"},
        {HEAD, "limits.grace_seconds=nan", 0,
         "--set: limits.grace_seconds nan: a number of seconds is expected"},
        {HEAD "limits: {max_memory: 1023 KiB}\n", NULL, 6,
         "limits.max_memory 1023 KiB: from 1 MiB to 1000 TB is expected; without the key there is no limit"},
        {HEAD "limits: {max_memory: 1001 TB}\n", NULL, 6,
         "limits.max_memory 1001 TB: from 1 MiB to 1000 TB is expected; without the key there is no limit"},
        {HEAD "limits: {max_memory: 1 GiB}\nisolation: thread\n", NULL, 6,
         "limits.max_memory needs worker processes; isolation: thread forbids them"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct dse_error err = {0};
        assert_null(sweep_case_open(row[i].text, &row[i].set, row[i].set != NULL, &err));
        assert_string_equal(err.text, row[i].message);
        assert_int_equal(err.line, row[i].line);
    }
}

static void test_memory_in_another_unit(void **state)
{
    struct dse_error err = {0};
    (void)state;
    assert_null(sweep_case_open(HEAD "limits: {max_memory: 3 pJ}\n", NULL, 0, &err));
    assert_int_equal(err.status, DSE_BAD_INPUT);
    assert_ptr_equal(strstr(err.text, "limits.max_memory"), err.text);
    assert_non_null(strstr(err.text, "3 pJ"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_taken),
        cmocka_unit_test(test_what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(test_memory_in_another_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
