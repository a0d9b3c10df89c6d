/* Disks that are full: a limit on the size of files stands for them (EFBIG instead of ENOSPC), at many
 * sizes. And a disk that is slow: the program's fdatasync is the one below.
 * Tests: journal.c. */
#include "tests/results/journal_place.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { N_CELL = 20, OPEN_FAILED = 10, WRITE_FAILED = 11, SAID_TWICE = 12, WRONG = 13, DONE = 14 };

/* In a process of its own: fill a journal under a limit, one flush per point. Returns the exit code. */
static int fill_under_limit(const struct place *place, rlim_t limit)
{
    struct rlimit size = {limit, limit};
    struct journal *journal;
    struct dse_error err = {0};
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &size) != 0)
        return WRONG;
    if (journal_open(place->out, &sample_schema, (struct journal_options){0}, &journal, &err) != DSE_OK)
        return err.status == DSE_IO && strstr(err.text, "File too large") ? OPEN_FAILED : WRONG;
    for (unsigned cell = (unsigned)journal_count(journal); cell < N_CELL; cell++) {
        enum dse_status status = append_cells(journal, cell, cell + 1, &err);
        if (status == DSE_OK)
            status = journal_flush(journal, &err);
        if (status == DSE_OK)
            continue;
        if (status != DSE_IO || !strstr(err.text, "File too large") || journal_count(journal) != cell)
            return WRONG;
        /* It takes no more, and closing says it no second time. */
        if (append_cells(journal, cell, cell + 1, &err) != DSE_IO || !strstr(err.text, "File too large") ||
            journal_flush(journal, &err) != DSE_IO || journal_sync(journal, &err) != DSE_IO)
            return WRONG;
        return journal_finish(journal, &err) == DSE_OK ? WRITE_FAILED : SAID_TWICE;
    }
    return journal_finish(journal, &err) == DSE_OK ? DONE : WRONG;
}

static int in_child(const struct place *place, rlim_t limit)
{
    int how;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(fill_under_limit(place, limit));
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

static void test_journal_full_disk_keeps_whole_points_and_resumes(void **state)
{
    (void)state;
    struct place whole;
    size_t length, layers_length;
    unsigned n_open = 0, n_write = 0, n_done = 0;
    make_cells(&whole, N_CELL);
    char *csv = files_read(whole.csv, &length), *layers = files_read(whole.layers, &layers_length);
    for (rlim_t limit = 0; limit < layers_length + 400; limit += limit < 1200 ? 61 : 173) {
        struct place place;
        struct dse_error err = {0};
        struct stat info;
        make_place(&place);
        int code = in_child(&place, limit);
        if (code == WRONG || code == SAID_TWICE)
            print_message("limit %lu: %d\n", (unsigned long)limit, code);
        assert_true(code == OPEN_FAILED || code == WRITE_FAILED || code == DONE);
        n_open += code == OPEN_FAILED;
        n_write += code == WRITE_FAILED;
        n_done += code == DONE;
        assert_int_not_equal(access(place.lock, F_OK), 0);
        /* Both files end with a whole point. */
        if (code == WRITE_FAILED) {
            struct seen seen = {0};
            struct journal_report report = {0};
            assert_int_equal(look(&place, false, &seen, &report, &err), DSE_OK);
            assert_false(report.torn);
            assert_int_equal(report.n_cut + report.n_orphan, 0);
            assert_int_equal(stat(place.csv, &info), 0);
            assert_true((rlim_t)info.st_size <= limit);
            forget(&seen);
        }
        /* With room again, a second run makes it what it would have been. */
        assert_int_equal(in_child(&place, RLIM_INFINITY), DONE);
        char *csv_after = files_read(place.csv, NULL), *layers_after = files_read(place.layers, NULL);
        assert_string_equal(csv_after, csv);
        assert_string_equal(layers_after, layers);
        free(csv_after);
        free(layers_after);
        remove_place(&place);
    }
    assert_true(n_open > 2 && n_write > 20 && n_done > 1);
    free(csv);
    free(layers);
    remove_place(&whole);
}

/* Points wait in memory until 64 KiB, a tenth of a second or a flush; then all that wait are there at
 * once. */
static void test_journal_writes_in_blocks(void **state)
{
    (void)state;
    struct place place;
    struct journal *journal;
    struct dse_error err;
    struct stat info;
    make_place(&place);
    assert_int_equal(journal_open(place.out, &sample_schema, (struct journal_options){0}, &journal, &err),
                     DSE_OK);
    assert_int_equal(stat(place.csv, &info), 0);
    off_t header = info.st_size;
    assert_int_equal(journal_flush(journal, &err), DSE_OK);
    assert_int_equal(append_cells(journal, 0, 1, &err), DSE_OK);
    assert_int_equal(journal_count(journal), 1);
    assert_int_equal(journal_flush(journal, &err), DSE_OK);
    assert_int_equal(stat(place.csv, &info), 0);
    assert_true(info.st_size > header);
    assert_int_equal(journal_sync(journal, &err), DSE_OK);
    assert_int_equal(journal_finish(journal, &err), DSE_OK);
    assert_int_equal(journal_finish(NULL, &err), DSE_OK);
}

static struct {
    atomic_bool slow, begun;
    atomic_int n_ended;
} disk;

/* In place of libc's. */
int fdatasync(int fd)
{
    const struct timespec while_waiting = {0, 50 * 1000 * 1000};
    if (atomic_load(&disk.slow)) {
        atomic_store(&disk.begun, true);
        nanosleep(&while_waiting, NULL);
        atomic_fetch_add(&disk.n_ended, 1);
    }
    return fsync(fd);
}

static void *sync_in_thread(void *journal)
{
    return journal_sync(journal, NULL) == DSE_OK ? NULL : journal;
}

/* What another thread has begun to sync is not on the disk before that has ended: the rows of a cube wait. */
static void test_journal_sync_now_waits_for_another_thread(void **state)
{
    (void)state;
    struct place place;
    struct journal *journal;
    struct dse_error err;
    pthread_t thread;
    void *failed;
    make_place(&place);
    assert_int_equal(journal_open(place.out, &sample_schema, (struct journal_options){0}, &journal, &err),
                     DSE_OK);
    assert_int_equal(append_cells(journal, 0, 1, &err), DSE_OK);
    assert_int_equal(journal_flush(journal, &err), DSE_OK);
    atomic_store(&disk.slow, true);
    assert_int_equal(pthread_create(&thread, NULL, sync_in_thread, journal), 0);
    while (!atomic_load(&disk.begun))
        sched_yield();
    assert_int_equal(journal_sync_now(journal, &err), DSE_OK);
    assert_int_equal(atomic_load(&disk.n_ended), 2); /* both files */
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    atomic_store(&disk.slow, false);
    assert_int_equal(journal_finish(journal, &err), DSE_OK);
    remove_place(&place);
}

static void test_journal_paths_that_cannot_be_written_are_named(void **state)
{
    (void)state;
    struct place place;
    struct dse_error err = {0};
    make_place(&place);
    assert_int_equal(mkdir(place.csv, 0777), 0);
    assert_int_equal(look(&place, false, NULL, NULL, &err), DSE_IO);
    assert_string_equal(err.file, place.csv);
    assert_non_null(strstr(err.text, "Is a directory"));
    assert_int_equal(rmdir(place.csv), 0);
    make_cells(&place, 3);
    if (geteuid() != 0) {
        assert_int_equal(chmod(place.layers, 0444), 0);
        assert_int_equal(look(&place, false, NULL, NULL, &err), DSE_IO);
        assert_string_equal(err.file, place.layers);
        assert_non_null(strstr(err.text, "Permission denied"));
        assert_int_equal(chmod(place.layers, 0644), 0);
    }
    assert_int_equal(unlink(place.layers), 0);
    assert_int_equal(mkdir(place.layers, 0777), 0);
    assert_int_equal(look(&place, false, NULL, NULL, &err), DSE_IO);
    assert_string_equal(err.file, place.layers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal_full_disk_keeps_whole_points_and_resumes),
        cmocka_unit_test(test_journal_writes_in_blocks),
        cmocka_unit_test(test_journal_sync_now_waits_for_another_thread),
        cmocka_unit_test(test_journal_paths_that_cannot_be_written_are_named),
    };
    place_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
