/* The journal against torn ends, damaged lines, other specifications, a second writer and a full disk.
 * Tests: journal_status.c, journal_open.c, journal_header.c. */
#include "tests/results/files.h"

#include "results/journal/journal.h"
#include "results/journal/journal_scan.h"
#include "results/journal/lock.h"
#include "tests/results/sample.h"

/* A fresh full journal in a folder of its own. */
struct place {
    char folder[512], out[600], csv[600], layers[600];
};

static void make_place(struct place *place)
{
    files_folder(place->folder, sizeof place->folder);
    files_path(place->out, sizeof place->out, place->folder, "o.h5");
    files_path(place->csv, sizeof place->csv, place->folder, "o.csv");
    files_path(place->layers, sizeof place->layers, place->folder, "o.layers.csv");
}

static void make_full(struct place *place)
{
    make_place(place);
    assert_int_equal(sample_write(place->out, 1, 0, 1, (struct journal_options){.fresh = true}), 0);
}

static enum dse_status reopen(const struct place *place, size_t *n_point, struct dse_error *err)
{
    struct journal *journal;
    enum dse_status status =
        journal_open(place->out, &sample_schema, (struct journal_options){0}, &journal, err);
    if (status == DSE_OK)
        *n_point = journal_count(journal);
    journal_close(journal);
    return status;
}

/* Append `bytes` to a file. */
static void append(const char *path, const char *bytes)
{
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_true(fputs(bytes, file) >= 0);
    fclose(file);
}

/* Read it to its end, without its schema. */
static struct journal_scan_place scan_all(const struct place *place)
{
    struct journal_scan *scan;
    struct journal_scan_place end;
    struct journal_row row;
    struct dse_error err;
    bool more = true;
    assert_int_equal(journal_scan_open(place->out, NULL, &scan, &err), DSE_OK);
    while (more)
        assert_int_equal(journal_scan_next(scan, &row, &more, &err), DSE_OK);
    journal_scan_where(scan, &end);
    journal_scan_close(scan);
    return end;
}

static void test_journal_is_locked_against_a_second_run(void **state)
{
    (void)state;
    struct place place;
    struct journal *first, *second;
    struct lock_owner owner;
    struct dse_error err;
    make_full(&place);
    assert_int_equal(journal_open(place.out, &sample_schema, (struct journal_options){0}, &first, &err),
                     DSE_OK);
    assert_int_equal(
        journal_open(place.csv, &sample_schema, (struct journal_options){.fresh = true}, &second, &err),
        DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "another run is writing this output: process "));
    assert_true(lock_read(place.out, &owner) && owner.held);
    journal_close(first);
    assert_false(lock_read(place.out, &owner) && owner.held);
}

/* However many bytes of the last line are there, resuming gives the same files as never having stopped. */
static void test_journal_torn_last_line_is_computed_again(void **state)
{
    (void)state;
    struct place place;
    size_t length, layer_length, n_point;
    struct dse_error err;
    make_full(&place);
    char *whole = files_read(place.csv, &length), *layers = files_read(place.layers, &layer_length);
    size_t last = length - 1;
    while (whole[last - 1] != '\n')
        last--;
    for (size_t cut = last; cut < length; cut += 17) {
        files_write(place.csv, whole, cut);
        files_write(place.layers, layers, layer_length);
        assert_int_equal(reopen(&place, &n_point, &err), DSE_OK);
        assert_int_equal(n_point, SAMPLE_CELL - 2);
        assert_int_equal(sample_write(place.out, 1, 0, 1, (struct journal_options){0}), 0);
        char *again = files_read(place.csv, NULL), *layers_again = files_read(place.layers, NULL);
        assert_string_equal(again, whole);
        assert_string_equal(layers_again, layers);
        free(again);
        free(layers_again);
    }
    free(whole);
    free(layers);
}

static void test_journal_torn_layer_and_torn_header_are_dropped(void **state)
{
    (void)state;
    struct place place;
    size_t length, n_point;
    struct dse_error err;
    make_full(&place);
    append(place.layers, "65536,4000000000,LPDD");
    assert_int_equal(reopen(&place, &n_point, &err), DSE_OK);
    assert_int_equal(n_point, SAMPLE_CELL - 1);
    char *whole = files_read(place.csv, &length);
    files_write(place.csv, whole, 20);
    files_write(place.layers, "", 0);
    assert_int_equal(reopen(&place, &n_point, &err), DSE_OK);
    assert_int_equal(n_point, 0);
    free(whole);
}

static void test_journal_damaged_line_is_named_and_left_alone(void **state)
{
    (void)state;
    struct place place;
    size_t length, n_point, after_length;
    struct dse_error err;
    make_full(&place);
    char *whole = files_read(place.csv, &length);
    char *hit = strstr(whole, "timeloop"); /* in line 2, the first point */
    assert_non_null(hit);
    hit[0] = 'T';
    files_write(place.csv, whole, length);
    assert_int_equal(reopen(&place, &n_point, &err), DSE_BAD_INPUT);
    assert_int_equal(err.line, 2);
    assert_string_equal(err.file, place.csv);
    assert_non_null(strstr(err.text, "does not match its checksum"));
    char *after = files_read(place.csv, &after_length);
    assert_int_equal(after_length, length);
    assert_memory_equal(after, whole, length);
    struct journal_scan_place end = scan_all(&place);
    assert_int_equal(end.n_bad, 1);
    assert_int_equal(end.first_bad_line, 2);
    free(after);
    free(whole);
}

static void test_journal_missing_layers_and_repeated_points_are_named(void **state)
{
    (void)state;
    struct place place;
    size_t length, n_point;
    struct dse_error err;
    make_full(&place);
    assert_int_equal(unlink(place.layers), 0);
    assert_int_equal(reopen(&place, &n_point, &err), DSE_BAD_INPUT);
    assert_int_equal(err.line, 2);
    assert_non_null(strstr(err.text, "the point has 2 layers"));
    make_full(&place);
    char *whole = files_read(place.csv, &length);
    char *second = strchr(whole, '\n') + 1, *third = strchr(second, '\n') + 1;
    *third = '\0';
    append(place.csv, second);
    assert_int_equal(reopen(&place, &n_point, &err), DSE_BAD_INPUT);
    assert_int_equal(err.line, SAMPLE_CELL + 1);
    assert_non_null(strstr(err.text, "the same point of the sweep as line 2"));
    free(whole);
}

static void test_journal_of_another_specification_is_refused(void **state)
{
    (void)state;
    struct place place;
    struct journal *journal;
    struct dse_error err;
    struct result_schema other = sample_schema;
    make_full(&place);
    other.n_axis = 2;
    assert_int_equal(journal_open(place.out, &other, (struct journal_options){0}, &journal, &err),
                     DSE_BAD_INPUT);
    assert_null(journal);
    assert_non_null(strstr(err.text, "column 4 is 'network', here it would be 'status'"));
    files_write(place.csv, "x,y\n1,2\n", 8);
    assert_int_equal(journal_open(place.out, &sample_schema, (struct journal_options){0}, &journal, &err),
                     DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "not a journal of dse"));
    files_write(place.csv,
                "\x7f"
                "ELF\0\1",
                6);
    assert_int_equal(journal_open(place.out, &sample_schema, (struct journal_options){0}, &journal, &err),
                     DSE_BAD_INPUT);
    assert_int_equal(
        journal_open(place.out, &sample_schema, (struct journal_options){.fresh = true}, &journal, &err),
        DSE_OK);
    assert_int_equal(journal_count(journal), 0);
    journal_close(journal);
    assert_int_equal(
        journal_open("/nonexistent/o.h5", &sample_schema, (struct journal_options){0}, &journal, &err),
        DSE_IO);
}

static bool collect(void *user, uint64_t key, const char *where, const char *status, const char *reason)
{
    unsigned *n = user;
    (*n)++;
    assert_int_equal(key, sample_key(SAMPLE_INFEASIBLE));
    assert_string_equal(where, "global_buffer_byte=65536 dram_byte_per_s=16000000000 dram_preset=LPDDR4 x64 "
                               "network=r\xc3\xa9snet");
    assert_string_equal(status, "infeasible");
    assert_non_null(strstr(reason, "133,888 B"));
    return true;
}

static void test_journal_lists_what_is_not_ok(void **state)
{
    (void)state;
    struct place place;
    struct dse_error err;
    unsigned n = 0;
    make_full(&place);
    append(place.csv, "torn");
    assert_true(scan_all(&place).torn);
    assert_int_equal(journal_each_not_ok(place.out, collect, &n, &err), DSE_OK);
    assert_int_equal(n, 1);
    assert_int_equal(journal_each_not_ok("/nonexistent/o.h5", collect, &n, &err), DSE_IO);
}

/* A full disk (here: a file size limit of the process would also end other tests, so /dev/full stands for
 * it). */
static void test_journal_full_disk_is_reported(void **state)
{
    (void)state;
    struct place place;
    struct journal *journal;
    struct dse_error err;
    make_place(&place);
    if (access("/dev/full", W_OK) != 0 || symlink("/dev/full", place.csv) != 0)
        skip();
    assert_int_equal(
        journal_open(place.out, &sample_schema, (struct journal_options){.fresh = true}, &journal, &err),
        DSE_IO);
    assert_true(err.text[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal_is_locked_against_a_second_run),
        cmocka_unit_test(test_journal_torn_last_line_is_computed_again),
        cmocka_unit_test(test_journal_torn_layer_and_torn_header_are_dropped),
        cmocka_unit_test(test_journal_damaged_line_is_named_and_left_alone),
        cmocka_unit_test(test_journal_missing_layers_and_repeated_points_are_named),
        cmocka_unit_test(test_journal_of_another_specification_is_refused),
        cmocka_unit_test(test_journal_lists_what_is_not_ok),
        cmocka_unit_test(test_journal_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
