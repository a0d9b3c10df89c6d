/* What is read of /proc. Of this process and its children, whose state the tests set up themselves. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/process.h"

enum { NOBODY = 999999999 }; /* above the largest process number, 2^22 */

static void test_process_read_file_cuts_and_ends(void **state)
{
    char text[8];
    (void)state;
    assert_true(process_read_file("/proc/version", text, sizeof text));
    assert_string_equal(text, "Linux v"); /* "Linux version ..." (man 5 proc) */
    assert_false(process_read_file("/dev/null", text, sizeof text));
    assert_false(process_read_file("/no/such/file", text, sizeof text));
}

static void test_process_memory_is_read(void **state)
{
    uint64_t space = 0, resident = 0;
    (void)state;
    assert_true(process_memory(0, &space, &resident));
    assert_true(space >= resident && resident > 64 * 1024);
    assert_true(process_memory(getpid(), &space, &resident));
    assert_false(process_memory(NOBODY, &space, &resident));
}

static void test_process_state_of_living_and_dead(void **state)
{
    char letter;
    uint64_t start, start_child;
    siginfo_t info;
    (void)state;
    assert_true(process_look(getpid(), &letter, &start));
    assert_int_equal(letter, 'R');
    assert_false(process_look(NOBODY, &letter, &start));
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(process_look(pid, &letter, &start_child));
    assert_int_equal(letter, 'Z');
    assert_true(start_child >= start);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_process_signals_have_names(void **state)
{
    char text[32];
    (void)state;
    assert_string_equal(process_signal(SIGSEGV, text, sizeof text), "SIGSEGV");
    assert_string_equal(process_signal(99, text, sizeof text), "signal 99");
    assert_true(process_signal_is_fault(SIGABRT));
    assert_false(process_signal_is_fault(SIGKILL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process_read_file_cuts_and_ends),
        cmocka_unit_test(test_process_memory_is_read),
        cmocka_unit_test(test_process_state_of_living_and_dead),
        cmocka_unit_test(test_process_signals_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
