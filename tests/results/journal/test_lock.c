/* Who holds a lock: living, killed and renumbered processes, other hosts, junk, and many that want it at
 * once. */
#include "tests/results/files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "results/journal/lock.h"

struct spot {
    char folder[512], out[600], lock[600];
};

static void make_spot(struct spot *spot)
{
    files_folder(spot->folder, sizeof spot->folder);
    files_path(spot->out, sizeof spot->out, spot->folder, "o.h5");
    files_path(spot->lock, sizeof spot->lock, spot->folder, "o.lock");
}

static void write_lock(const struct spot *spot, const char *text)
{
    files_write(spot->lock, text, strlen(text));
}

/* The last touch was so long ago. */
static void make_old(const struct spot *spot, long seconds)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    now.tv_sec -= seconds;
    const struct timespec times[2] = {now, now};
    assert_int_equal(utimensat(AT_FDCWD, spot->lock, times, 0), 0);
}

static void this_host(char *host, size_t size)
{
    assert_int_equal(gethostname(host, size), 0);
}

static void test_lock_tells_who_writes_and_goes_away(void **state)
{
    (void)state;
    struct spot spot;
    struct lock *lock, *second;
    struct lock_owner owner, stale;
    struct dse_error err;
    char host[256];
    make_spot(&spot);
    this_host(host, sizeof host);
    assert_false(lock_read(spot.out, &owner));
    assert_int_equal(lock_take(spot.out, "dse run\tspec.yaml", &lock, &stale, &err), DSE_OK);
    assert_int_equal(stale.pid, 0);
    assert_true(lock_read(spot.out, &owner));
    assert_true(owner.held);
    assert_int_equal(owner.pid, getpid());
    assert_string_equal(owner.host, host);
    assert_string_equal(owner.command, "dse run?spec.yaml");
    assert_int_equal(strlen(owner.since), strlen("2026-01-31 12:00:00 UTC"));
    const struct lock_manner at_once = {0};
    assert_int_equal(lock_take_so(spot.out, "x", &at_once, &second, NULL, &err), DSE_BAD_USAGE);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "process %ld on ", (long)getpid());
    assert_non_null(strstr(err.text, wanted));
    assert_non_null(strstr(err.text, owner.since));
    assert_null(second);
    lock_touch(lock);
    lock_release(lock);
    assert_false(lock_read(spot.out, &owner));
    lock_release(NULL);
    lock_touch(NULL);
}

/* A process that takes the lock and is killed with it. */
static long killed_holder(const struct spot *spot, const struct lock_manner *manner)
{
    int pipe_fd[2];
    char byte;
    assert_int_equal(pipe(pipe_fd), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct lock *lock;
        if (lock_take_so(spot->out, "killed", manner, &lock, NULL, NULL) != DSE_OK ||
            write(pipe_fd[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(pipe_fd[0], &byte, 1), 1);
    struct lock_owner owner;
    assert_true(lock_read(spot->out, &owner) && owner.held && owner.pid == pid);
    assert_int_equal(kill(pid, SIGKILL), 0);
    /* Not waited for yet: a zombie holds nothing. */
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(lock_read(spot->out, &owner) && !owner.held && owner.pid == pid);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(pipe_fd[0]);
    close(pipe_fd[1]);
    return pid;
}

static void test_lock_of_a_killed_process_is_taken_over(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct spot spot;
        struct lock *lock;
        struct lock_owner stale, owner;
        struct dse_error err;
        const struct lock_manner manner = {.no_flock = i == 1};
        make_spot(&spot);
        long pid = killed_holder(&spot, &manner);
        assert_int_equal(lock_take_so(spot.out, "next", &manner, &lock, &stale, &err), DSE_OK);
        assert_int_equal(stale.pid, pid);
        assert_string_equal(stale.command, "killed");
        assert_true(lock_read(spot.out, &owner) && owner.held && owner.pid == getpid());
        lock_release(lock);
        assert_int_not_equal(access(spot.lock, F_OK), 0);
        assert_int_equal(rmdir(spot.folder), 0);
    }
}

/* A number that another process has got since: this very one, which started at another time than the lock
 * says. */
static void test_lock_of_a_number_used_again_is_stale(void **state)
{
    (void)state;
    struct spot spot;
    struct lock *lock;
    struct lock_owner stale;
    struct dse_error err;
    char host[256], text[512];
    const struct lock_manner manner = {.no_flock = true};
    make_spot(&spot);
    this_host(host, sizeof host);
    snprintf(text, sizeof text, "host: %s\npid: %ld\nsince: x\ncommand: y\nstart: 1\nheld by: this file\n",
             host, (long)getpid());
    write_lock(&spot, text);
    assert_int_equal(lock_take_so(spot.out, "z", &manner, &lock, &stale, &err), DSE_OK);
    assert_int_equal(stale.pid, getpid());
    lock_release(lock);
    /* Without a start time, or with the right one, it is held. */
    *strstr(text, "start") = '\0';
    write_lock(&spot, text);
    assert_int_equal(lock_take_so(spot.out, "z", &manner, &lock, &stale, &err), DSE_BAD_USAGE);
    const struct lock_manner with_flock = {0};
    assert_int_equal(lock_take_so(spot.out, "z", &with_flock, &lock, &stale, &err), DSE_BAD_USAGE);
}

static void test_lock_of_another_host_counts_while_it_is_touched(void **state)
{
    (void)state;
    struct spot spot;
    struct lock *lock;
    struct lock_owner stale, owner;
    struct dse_error err;
    const struct lock_manner manner = {.no_flock = true};
    make_spot(&spot);
    write_lock(
        &spot,
        "host: node17\npid: 4711\nsince: 2026-01-31 12:00:00 UTC\ncommand: dse run a.yaml\nstart: 9\n");
    make_old(&spot, LOCK_STALE_S - 60);
    assert_int_equal(lock_take_so(spot.out, "z", &manner, &lock, &stale, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "process 4711 on node17, since 2026-01-31 12:00:00 UTC"));
    assert_true(lock_read(spot.out, &owner) && owner.held);
    make_old(&spot, LOCK_STALE_S + 60);
    assert_true(lock_read(spot.out, &owner) && !owner.held);
    assert_int_equal(lock_take_so(spot.out, "z", &manner, &lock, &stale, &err), DSE_OK);
    assert_string_equal(stale.host, "node17");
    lock_release(lock);
    /* Seen from the other host, this process is on another one. */
    const struct lock_manner there = {.no_flock = true, .host = "node18"};
    assert_int_equal(lock_take_so(spot.out, "here", &manner, &lock, NULL, &err), DSE_OK);
    struct lock *second;
    assert_int_equal(lock_take_so(spot.out, "there", &there, &second, &stale, &err), DSE_BAD_USAGE);
    make_old(&spot, LOCK_STALE_S + 60);
    lock_touch(lock);
    assert_int_equal(lock_take_so(spot.out, "there", &there, &second, &stale, &err), DSE_BAD_USAGE);
    lock_release(lock);
}

static void test_lock_file_with_junk_is_survived(void **state)
{
    (void)state;
    static const char *const junk[] = {"",
                                       "\n\n\n",
                                       "pid: -1\nhost: \n",
                                       "pid: 99999999999999999999\n",
                                       "\x01\xff host: x pid: 7",
                                       "host: a\npid: seven\nstart: \n"};
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++) {
        struct spot spot;
        struct lock *lock;
        struct lock_owner owner;
        struct dse_error err;
        const struct lock_manner with_flock = {0}, without = {.no_flock = true};
        make_spot(&spot);
        write_lock(&spot, junk[i]);
        assert_true(lock_read(spot.out, &owner));
        assert_int_equal(owner.pid, 0);
        /* Somebody may be just about to write his name. */
        assert_int_equal(lock_take_so(spot.out, "z", &without, &lock, &owner, &err), DSE_BAD_USAGE);
        assert_int_equal(lock_take_so(spot.out, "z", &with_flock, &lock, &owner, &err), DSE_OK);
        lock_release(lock);
        write_lock(&spot, junk[i]);
        make_old(&spot, LOCK_STALE_S + 1);
        assert_int_equal(lock_take_so(spot.out, "z", &without, &lock, &owner, &err), DSE_OK);
        lock_release(lock);
    }
}

static void test_lock_that_cannot_be_made_is_reported(void **state)
{
    (void)state;
    struct spot spot;
    struct lock *lock;
    struct dse_error err;
    make_spot(&spot);
    assert_int_equal(mkdir(spot.lock, 0777), 0);
    assert_int_equal(lock_take(spot.out, "z", &lock, NULL, &err), DSE_IO);
    assert_non_null(strstr(err.text, "Is a directory"));
    assert_int_equal(rmdir(spot.lock), 0);
    assert_int_equal(lock_take("/nonexistent/o.h5", "z", &lock, NULL, &err), DSE_IO);
    assert_non_null(strstr(err.text, "No such file or directory"));
    if (geteuid() == 0) /* root may write anywhere */
        return;
    assert_int_equal(chmod(spot.folder, 0555), 0);
    assert_int_equal(lock_take(spot.out, "z", &lock, NULL, &err), DSE_IO);
    assert_non_null(strstr(err.text, "Permission denied"));
    assert_int_equal(chmod(spot.folder, 0755), 0);
}

/* Of many that want it at once each gets it once, and never two at a time. */
static void test_lock_is_held_by_one_at_a_time(void **state)
{
    (void)state;
    enum { N_PROCESS = 6, N_ROUND = 20 };
    struct spot spot;
    char inside[600];
    make_spot(&spot);
    files_path(inside, sizeof inside, spot.folder, "inside");
    pid_t pid[N_PROCESS];
    for (int i = 0; i < N_PROCESS; i++) {
        pid[i] = fork();
        assert_true(pid[i] >= 0);
        if (pid[i] > 0)
            continue;
        const struct lock_manner patient = {.wait_s = 30};
        for (int k = 0; k < N_ROUND; k++) {
            struct lock *lock;
            if (lock_take_so(spot.out, "z", &patient, &lock, NULL, NULL) != DSE_OK)
                _exit(2);
            int fd = open(inside, O_CREAT | O_EXCL | O_WRONLY, 0600);
            if (fd < 0)
                _exit(3);
            close(fd);
            if (unlink(inside) != 0)
                _exit(4);
            lock_release(lock);
        }
        _exit(0);
    }
    for (int i = 0; i < N_PROCESS; i++) {
        int how;
        assert_int_equal(waitpid(pid[i], &how, 0), pid[i]);
        assert_int_equal(how, 0);
    }
    assert_int_not_equal(access(spot.lock, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_tells_who_writes_and_goes_away),
        cmocka_unit_test(test_lock_of_a_killed_process_is_taken_over),
        cmocka_unit_test(test_lock_of_a_number_used_again_is_stale),
        cmocka_unit_test(test_lock_of_another_host_counts_while_it_is_touched),
        cmocka_unit_test(test_lock_file_with_junk_is_survived),
        cmocka_unit_test(test_lock_that_cannot_be_made_is_reported),
        cmocka_unit_test(test_lock_is_held_by_one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
