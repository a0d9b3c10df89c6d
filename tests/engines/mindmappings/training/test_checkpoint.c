/* Records come back whole or not at all: after damage, a cut, of other work. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "engines/mindmappings/training/checkpoint.h"

enum { N_BYTE = 40 };

static char path[64];
static struct checkpoint checkpoint;

static int set_up(void **unused)
{
    (void)unused;
    snprintf(path, sizeof path, "/tmp/test_checkpoint_%ld", (long)getpid());
    unlink(path);
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    unlink(path);
    return 0;
}

static void open_it(uint64_t identity)
{
    assert_int_equal(checkpoint_open(&checkpoint, path, identity, N_BYTE, NULL), DSE_OK);
}

static void put(uint64_t number, char letter)
{
    char record[N_BYTE];
    memset(record, letter, sizeof record);
    assert_int_equal(checkpoint_put(&checkpoint, number, record, NULL), DSE_OK);
}

/* The letter of a record; 0 when it is not there. */
static char get(uint64_t number)
{
    char record[N_BYTE];
    return checkpoint_get(&checkpoint, number, record) ? record[N_BYTE - 1] : 0;
}

static void test_records_come_back(void **unused)
{
    (void)unused;
    open_it(7);
    put(0, 'a');
    put(2, 'c');
    put(2, 'd');
    checkpoint_close(&checkpoint, false);
    open_it(7);
    assert_true(get(0) == 'a' && get(1) == 0 && get(2) == 'd' && get(3) == 0);
    checkpoint_close(&checkpoint, false);
    open_it(8); /* other work finds nothing, and writes over it */
    assert_true(get(0) == 0 && get(2) == 0);
    put(2, 'e');
    assert_true(get(0) == 0 && get(2) == 'e');
    checkpoint_close(&checkpoint, true);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_damage_and_cuts_cost_a_record(void **unused)
{
    (void)unused;
    open_it(7);
    put(0, 'a');
    put(1, 'b');
    assert_int_equal(pwrite(checkpoint.fd, "x", 1, 32 + 16 + 5), 1);
    assert_true(get(0) == 0 && get(1) == 'b');
    assert_int_equal(ftruncate(checkpoint.fd, 32 + 2 * (16 + N_BYTE) - 1), 0);
    assert_true(get(1) == 0);
    checkpoint_close(&checkpoint, false);
}

static void test_what_lies_there_is_not_written_over(void **unused)
{
    (void)unused;
    struct dse_error err = {0};
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "my thesis\n", 10), 10);
    close(fd);
    assert_int_equal(checkpoint_open(&checkpoint, path, 7, N_BYTE, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "not a file of unfinished work"));
    assert_int_equal(checkpoint_open(&checkpoint, "/nowhere/at/all", 7, N_BYTE, &err), DSE_IO);
}

static void test_one_process_at_a_time(void **unused)
{
    (void)unused;
    struct checkpoint second;
    struct dse_error err = {0};
    open_it(7);
    assert_int_equal(checkpoint_open(&second, path, 7, N_BYTE, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "another process"));
    checkpoint_close(&checkpoint, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_records_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage_and_cuts_cost_a_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_lies_there_is_not_written_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_process_at_a_time, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
