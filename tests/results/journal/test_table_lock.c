/* A table that another process holds is refused, with that process' number, also when OUT.lock has gone; a
 * link is not followed. */
#include "tests/results/files.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "results/journal/table_lock.h"

static void test_table_lock_names_the_process_that_holds_it(void **state)
{
    (void)state;
    char folder[] = "/tmp/dse-table-XXXXXX", path[64], link[64], word[64];
    struct dse_error err = {0};
    int fd, ready[2];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/o.csv", folder);
    snprintf(link, sizeof link, "%s/link.csv", folder);
    assert_int_equal(table_open(path, O_RDWR, &fd, &err), DSE_OK);
    assert_int_equal(fd, -1);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        bool held = table_open(path, O_RDWR | O_CREAT, &fd, NULL) == DSE_OK;
        (void)!write(ready[1], held ? "y" : "n", 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], word, 1), 1);
    assert_int_equal(word[0], 'y');
    assert_int_equal(table_open(path, O_RDWR, &fd, &err), DSE_BAD_USAGE);
    assert_int_equal(fd, -1);
    snprintf(word, sizeof word, "process %ld ", (long)child);
    assert_non_null(strstr(err.text, word));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(table_open(path, O_RDWR, &fd, &err), DSE_OK);
    close(fd);
    assert_int_equal(table_open(path, O_RDWR, &fd, &err), DSE_OK);
    child = fork(); /* it shares the descriptor and lives on */
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(table_close(fd), 0);
    assert_int_equal(table_open(path, O_RDWR, &fd, &err), DSE_OK);
    assert_int_equal(table_close(fd), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(table_open(link, O_RDWR, &fd, &err), DSE_IO);
    assert_non_null(strstr(err.text, "symbolic link"));
    unlink(link);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_lock_names_the_process_that_holds_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
