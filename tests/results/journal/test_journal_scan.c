/* Reading a journal as a stream, with and without its schema, and lines by their place. */
#include "tests/results/journal_place.h"

#include "results/journal/journal_read.h"
#include "results/record/axis_places.h"
#include "results/record/cell_set.h"

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

/* 10,000 numbers, with a second coordinate that needs quotes: each is found, none that is not there. */
static void test_axis_places_finds_every_value_of_a_long_axis(void **state)
{
    (void)state;
    enum { N_VALUE = 10000 };
    double *number = malloc(N_VALUE * sizeof *number);
    const char **text = malloc(N_VALUE * sizeof *text);
    char(*store)[32] = malloc(N_VALUE * sizeof *store);
    assert_true(number && text && store);
    for (unsigned i = 0; i < N_VALUE; i++) {
        number[i] = 0.1 * i;
        snprintf(store[i], sizeof store[i], "part \"%u\", new", i / 3);
        text[i] = store[i];
    }
    const struct result_coordinate coordinate[] = {{"a", "1", "a", number, NULL, NULL},
                                                   {"b", "", "b", NULL, text, NULL},
                                                   {"c", "1", "c", number, NULL, NULL}};
    const struct result_axis axis[] = {{N_VALUE, 2, coordinate}, {7, 1, &coordinate[2]}};
    struct result_schema schema = {.n_axis = 2, .axis = axis};
    struct axis_places *places;
    struct text_buffer line;
    struct csv_row row;
    struct dse_error err;
    uint32_t index[2];
    uint64_t cell;
    text_init(&line);
    csv_row_init(&row);
    assert_int_equal(axis_places_new(&schema, &places, &err), DSE_OK);
    for (unsigned i = 0; i < N_VALUE; i++) {
        char buffer[40];
        text_clear(&line);
        csv_add_text(&line, text_double(number[i], buffer, sizeof buffer));
        csv_add_text(&line, text[i]);
        csv_add_text(&line, text_double(number[i % 7], buffer, sizeof buffer));
        text_append(&line, "ok");
        assert_int_equal(csv_split(line.data, line.length, &row, &err), DSE_OK);
        assert_true(axis_places_find(places, &row, index, &cell));
        assert_int_equal(index[0], i);
        assert_int_equal(index[1], i % 7);
        assert_int_equal(cell, 7 * i + i % 7);
    }
    static const char *const absent[] = {"0.1,\"part \"\"1\"\", new\",0,x",
                                         "0.05,\"part \"\"0\"\", new\",0,x",
                                         "0.1,part,0,x",
                                         "0.1,\"part \"\"0\"\", new\",0.7,x",
                                         "0.1,2",
                                         ""};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        assert_int_equal(csv_split(absent[i], strlen(absent[i]), &row, &err), DSE_OK);
        assert_false(axis_places_find(places, &row, index, &cell));
    }
    axis_places_free(places);
    csv_row_free(&row);
    text_free(&line);
    free(number);
    free(text);
    free(store);
}

/* A small cube by bits, one of 10^15 cells by a table. */
static void test_cell_set_holds_what_was_added(void **state)
{
    (void)state;
    static const uint64_t n_cell[] = {100000, 1000000000000000};
    for (int i = 0; i < 2; i++) {
        struct cell_set set;
        struct dse_error err;
        bool is_new;
        assert_int_equal(cell_set_init(&set, n_cell[i], &err), DSE_OK);
        for (int again = 0; again < 2; again++)
            for (uint64_t k = 0; k < 5000; k++) {
                assert_int_equal(cell_set_add(&set, k * (n_cell[i] / 5000), &is_new, &err), DSE_OK);
                assert_int_equal(is_new, !again);
            }
        assert_true(cell_set_has(&set, n_cell[i] / 5000));
        assert_false(cell_set_has(&set, 1));
        assert_false(cell_set_has(&set, n_cell[i] - 1));
        cell_set_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal_scan_gives_points_with_their_layers),
        cmocka_unit_test(test_journal_scan_of_nothing_and_of_loose_rows),
        cmocka_unit_test(test_axis_places_finds_every_value_of_a_long_axis),
        cmocka_unit_test(test_cell_set_holds_what_was_added),
    };
    place_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
