/* Reading a journal as a stream, with and without its schema, and lines by their place.
 * Tests: journal_scan_at.c, journal_read.c. */
#include "tests/results/journal_place.h"

#include "results/journal/journal_read.h"

static enum dse_status count_layer(void *user, const struct csv_row *split, struct dse_error *err)
{
    size_t *n = user;
    (void)err;
    assert_true(split->n > SAMPLE_LAYER);
    ++*n;
    return DSE_OK;
}

static void test_journal_scan_gives_points_with_their_layers(void **state)
{
    (void)state;
    struct place place;
    struct journal_scan *scan;
    struct journal_row row, kept = {0};
    struct csv_row split;
    struct dse_error err;
    bool more;
    uint64_t n = 0;
    size_t n_none = 0;
    make_place(&place);
    /* Cell 5 i mod 24: the order of the points is not that of the cells. */
    assert_int_equal(sample_write(place.out, 5, 0, 1, (struct journal_options){.fresh = true}), 0);
    csv_row_init(&split);
    assert_int_equal(journal_scan_open(place.out, &sample_schema, &scan, &err), DSE_OK);
    /* No layers, before anything has been read by its place (found by fuzz_journal). */
    assert_int_equal(journal_scan_layers_at(scan, 0, 0, 0, &split, count_layer, &n_none, &err), DSE_OK);
    assert_int_equal(n_none, 0);
    assert_int_equal(journal_scan_next(scan, &row, &more, &err), DSE_OK);
    for (; more; n++) {
        uint64_t cell = (n + (n >= 19)) * 5 % SAMPLE_CELL; /* cell 23 = 19 x 5 mod 24 is missing */
        size_t n_layer = 0;
        uint32_t index[3];
        assert_int_equal(row.cell, cell);
        assert_int_equal(row.key, sample_key((unsigned)cell));
        assert_int_equal(row.line, n + 2);
        assert_true(fabs(row.seconds - 0.25) < 1e-15);
        assert_int_equal(row.outcome, cell == SAMPLE_INFEASIBLE ? RESULT_INFEASIBLE : RESULT_OK);
        assert_int_equal(row.n_layer, cell == SAMPLE_INFEASIBLE ? 0 : cell % 2 ? 3 : 2);
        sample_index((unsigned)cell, index);
        assert_memory_equal(row.index, index, sizeof index);
        assert_int_equal(journal_scan_layers_at(scan, row.layer_offset, row.layer_length, row.layer_line,
                                                &split, count_layer, &n_layer, &err),
                         DSE_OK);
        assert_int_equal(n_layer, row.n_layer);
        uint64_t evaluations;
        const char *text = row.split->field[csv_column_find(journal_scan_header(scan), "evaluations")];
        assert_true(text_parse_u64(text, &evaluations));
        assert_int_equal(evaluations, 1000 + cell);
        if (n == 7)
            kept = row;
        assert_int_equal(journal_scan_next(scan, &row, &more, &err), DSE_OK);
    }
    assert_int_equal(n, SAMPLE_CELL - 1);
    assert_int_equal(journal_scan_point_at(scan, kept.offset, kept.length, kept.line, &split, &err), DSE_OK);
    uint64_t key;
    assert_true(csv_key_parse(split.field[split.n - 2], &key));
    assert_int_equal(key, kept.key);
    assert_int_equal(journal_scan_point_at(scan, kept.offset + 1, kept.length - 1, kept.line, &split, &err),
                     DSE_BAD_INPUT);
    assert_int_equal(err.line, kept.line);
    assert_int_equal(journal_scan_point_at(scan, 1u << 30, 10, 9, &split, &err), DSE_IO);
    csv_row_free(&split);
    journal_scan_close(scan);
}

static void test_journal_scan_of_nothing_and_of_loose_rows(void **state)
{
    (void)state;
    struct place place;
    struct journal_scan *scan;
    struct journal_scan_place where;
    struct journal_row row;
    struct dse_error err;
    bool more;
    size_t length;
    uint64_t n = 0;
    make_place(&place);
    assert_int_equal(journal_scan_open(place.out, NULL, &scan, &err), DSE_IO);
    assert_int_equal(journal_scan_open(place.out, &sample_schema, &scan, &err), DSE_OK);
    assert_int_equal(journal_scan_next(scan, &row, &more, &err), DSE_OK);
    assert_false(more);
    journal_scan_close(scan);
    make_cells(&place, 8);
    char *csv = files_read(place.csv, &length);
    *strchr(strchr(csv, '\n') + 1, '.') = ',';
    files_write(place.csv, csv, length - 3);
    assert_int_equal(journal_scan_open(place.out, NULL, &scan, &err), DSE_OK);
    assert_int_equal(journal_scan_next(scan, &row, &more, &err), DSE_OK);
    for (; more; n++) {
        assert_int_equal(row.key, sample_key((unsigned)n + 1));
        assert_true(row.cell == JOURNAL_NO_CELL);
        assert_int_equal(journal_scan_next(scan, &row, &more, &err), DSE_OK);
    }
    assert_int_equal(n, 6);
    journal_scan_where(scan, &where);
    assert_int_equal(where.n_bad, 1);
    assert_int_equal(where.first_bad_line, 2);
    assert_true(where.torn);
    journal_scan_close(scan);
    journal_scan_close(NULL);
    free(csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal_scan_gives_points_with_their_layers),
        cmocka_unit_test(test_journal_scan_of_nothing_and_of_loose_rows),
    };
    place_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
