/* Rows that leave the journal, by a verdict or by repair, and every state in which a rewriting of it can be
 * left.
 * Tests: journal_rewrite.c, journal_keys.c, journal_open.c. */
#include "tests/results/journal_place.h"

enum { N_CELL = 8 };

static char *path_of(const struct place *place, const char *name, char *path, size_t size)
{
    return files_path(path, size, place->folder, name);
}

/* The lines of a file, header included; 0 when there is none. */
static size_t count_lines(const struct place *place, const char *name)
{
    char path[700];
    size_t n = 0;
    if (access(path_of(place, name, path, sizeof path), F_OK) != 0)
        return 0;
    char *text = files_read(path, NULL);
    for (const char *at = text; *at; at++)
        n += *at == '\n';
    free(text);
    return n;
}

/* Line `n` (from 1) of a text: where it begins. */
static char *line_at(char *text, size_t n)
{
    for (; n > 1; n--)
        text = strchr(text, '\n') + 1;
    return text;
}

static void require_cells(const struct place *place, const unsigned *cell, size_t n)
{
    struct seen seen = {0};
    struct dse_error err = {0};
    struct journal_report report = {0};
    enum dse_status status = look(place, false, &seen, &report, &err);
    if (status != DSE_OK)
        print_message("%s:%d: %s\n", err.file, err.line, err.text);
    assert_int_equal(status, DSE_OK);
    assert_int_equal(seen.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(seen.cell[i], cell[i]);
    assert_int_equal(report.n_point, n);
    forget(&seen);
}

static enum dse_status open_dropping(const struct place *place, uint64_t cells, bool refuse,
                                     struct journal_report *report, struct dse_error *err)
{
    struct seen seen = {.drop = cells, .refuse = refuse};
    struct journal *journal;
    struct journal_options options = {.visit = see_row, .user = &seen};
    enum dse_status status = journal_open(place->out, &sample_schema, options, &journal, err);
    if (status == DSE_OK) {
        *report = *journal_report(journal);
        status = append_cells(journal, 10, 12, err);
    }
    if (status == DSE_OK)
        status = journal_finish(journal, err);
    forget(&seen);
    return status;
}

static void test_journal_dropped_rows_are_kept_aside(void **state)
{
    (void)state;
    struct place place;
    struct journal_report report;
    struct dse_error err = {0};
    size_t length, layers_length;
    char path[700];
    make_cells(&place, N_CELL);
    char *csv = files_read(place.csv, &length), *layers = files_read(place.layers, &layers_length);
    /* Refused at the end: as if nothing had been. */
    assert_int_equal(open_dropping(&place, 1 << 2 | 1 << 3, true, &report, &err), DSE_BAD_USAGE);
    char *after = files_read(place.csv, NULL), *layers_after = files_read(place.layers, NULL);
    assert_string_equal(after, csv);
    assert_string_equal(layers_after, layers);
    assert_int_not_equal(access(path_of(&place, "o.dropped.csv", path, sizeof path), F_OK), 0);
    assert_int_not_equal(access(path_of(&place, "o.csv.new", path, sizeof path), F_OK), 0);
    assert_int_not_equal(access(path_of(&place, "o.dropped.csv.new", path, sizeof path), F_OK), 0);
    assert_int_equal(open_dropping(&place, 1 << 2 | 1 << 3, false, &report, &err), DSE_OK);
    assert_int_equal(report.n_dropped, 2);
    assert_int_equal(report.n_point, N_CELL - 2);
    assert_string_equal(report.dropped_path, path_of(&place, "o.dropped.csv", path, sizeof path));
    require_cells(&place, (const unsigned[]){0, 1, 4, 5, 6, 7, 10, 11}, 8);
    /* What was dropped is a journal as well. Cell 2 has 2 layers, cell 3 has 3. */
    assert_int_equal(count_lines(&place, "o.dropped.csv"), 1 + 2);
    assert_int_equal(count_lines(&place, "o.dropped.layers.csv"), 1 + 5);
    struct place dropped = place;
    path_of(&place, "o.dropped.csv", dropped.out, sizeof dropped.out);
    require_cells(&dropped, (const unsigned[]){2, 3}, 2);
    /* Dropped rows never replace those of earlier. */
    assert_int_equal(open_dropping(&place, 1 << 0 | 1 << 10 | 1 << 11, false, &report, &err), DSE_OK);
    assert_string_equal(report.dropped_path, path_of(&place, "o.dropped-2.csv", path, sizeof path));
    assert_int_equal(count_lines(&place, "o.dropped-2.csv"), 1 + 3);
    assert_int_equal(count_lines(&place, "o.dropped.csv"), 1 + 2);
    free(csv);
    free(layers);
    free(after);
    free(layers_after);
}

/* Rewriting stopped after each of its steps: the states are put together from the files before and after. */
static void test_journal_rewriting_can_be_stopped_anywhere(void **state)
{
    (void)state;
    static const unsigned all[] = {0, 1, 2, 3, 4, 5, 6, 7}, rest[] = {1, 2, 4, 6, 7};
    /* New files half written; OUT.csv renamed; both renamed. */
    for (int step = 0; step < 3; step++) {
        struct place place, other;
        struct journal *journal;
        struct seen seen = {.drop = 1 << 0 | 1 << 3 | 1 << 5};
        struct dse_error err = {0};
        char path[700];
        size_t csv_length, layers_length;
        make_cells(&place, N_CELL);
        make_cells(&other, N_CELL);
        struct journal_options options = {.visit = see_row, .user = &seen};
        assert_int_equal(journal_open(other.out, &sample_schema, options, &journal, &err), DSE_OK);
        assert_int_equal(journal_finish(journal, &err), DSE_OK);
        char *csv = files_read(other.csv, &csv_length), *layers = files_read(other.layers, &layers_length);
        files_write(step > 0 ? place.csv : path_of(&place, "o.csv.new", path, sizeof path), csv,
                    step > 0 ? csv_length : csv_length / 2);
        files_write(step > 1 ? place.layers : path_of(&place, "o.layers.csv.new", path, sizeof path), layers,
                    step > 0 ? layers_length : layers_length / 3);
        if (step > 0)
            require_cells(&place, rest, 5);
        else
            require_cells(&place, all, 8);
        assert_int_not_equal(access(path_of(&place, "o.csv.new", path, sizeof path), F_OK), 0);
        assert_int_not_equal(access(path_of(&place, "o.layers.csv.new", path, sizeof path), F_OK), 0);
        if (step > 0) {
            char *csv_after = files_read(place.csv, NULL), *layers_after = files_read(place.layers, NULL);
            assert_string_equal(csv_after, csv);
            assert_string_equal(layers_after, layers);
            free(csv_after);
            free(layers_after);
        }
        free(csv);
        free(layers);
        forget(&seen);
    }
}

static void test_journal_fresh_stopped_between_its_files_begins_again(void **state)
{
    (void)state;
    struct place place;
    struct dse_error err = {0};
    struct journal *journal;
    struct result_schema other = sample_schema;
    size_t length;
    make_cells(&place, N_CELL);
    char *csv = files_read(place.csv, &length);
    size_t header = (size_t)(strchr(csv, '\n') + 1 - csv);
    /* The other file is of another specification yet. */
    other.n_level = 1;
    make_cells(&place, N_CELL);
    assert_int_equal(journal_open(place.out, &other, (struct journal_options){.fresh = true}, &journal, &err),
                     DSE_OK);
    journal_close(journal);
    for (int i = 0; i < 2; i++) {
        char *layers = files_read(place.layers, NULL);
        files_write(place.csv, csv, i ? header : 0);
        require_cells(&place, NULL, 0);
        char *after = files_read(place.layers, NULL);
        assert_string_not_equal(after, layers);
        files_write(place.layers, layers, strlen(layers));
        free(layers);
        free(after);
    }
    free(csv);
}

/* Damage in the middle: named and left alone; with repair moved aside, and its point is free again. */
static void try_repair(bool in_layers, size_t line, unsigned lost, const char *words)
{
    struct place place;
    struct dse_error err = {0};
    struct seen seen = {0};
    struct journal_report report = {0};
    size_t length;
    unsigned rest[N_CELL], n = 0;
    char path[700];
    make_cells(&place, N_CELL);
    const char *file = in_layers ? place.layers : place.csv;
    char *text = files_read(file, &length);
    *strchr(line_at(text, line), '.') = ';';
    files_write(file, text, length);
    assert_int_equal(look(&place, false, NULL, NULL, &err), DSE_BAD_INPUT);
    assert_string_equal(err.file, file);
    assert_int_equal(err.line, line);
    assert_non_null(strstr(err.text, words));
    assert_non_null(strstr(err.text, "--repair"));
    char *after = files_read(file, NULL);
    assert_string_equal(after, text);
    assert_int_equal(look(&place, true, &seen, &report, &err), DSE_OK);
    assert_int_equal(report.n_damaged, 1);
    assert_string_equal(report.damaged_path, path_of(&place, "o.damaged.csv", path, sizeof path));
    for (unsigned cell = 0; cell < N_CELL; cell++)
        if (cell != lost)
            rest[n++] = cell;
    require_cells(&place, rest, n);
    /* Nothing is gone: every line is in one of the files, and each has its header. */
    assert_int_equal(count_lines(&place, "o.csv") + count_lines(&place, "o.damaged.csv"), 1 + N_CELL + 1);
    assert_int_equal(count_lines(&place, "o.layers.csv") + count_lines(&place, "o.damaged.layers.csv"),
                     1 + 17 + 1);
    char *damaged = files_read(
        path_of(&place, in_layers ? "o.damaged.layers.csv" : "o.damaged.csv", path, sizeof path), NULL);
    line_at(text, line + 1)[-1] = '\0';
    assert_non_null(strstr(damaged, line_at(text, line)));
    free(text);
    free(after);
    free(damaged);
    forget(&seen);
}

static void test_journal_repair_moves_damage_aside(void **state)
{
    (void)state;
    /* Lines 2 .. 9 are cells 0 .. 7; their layers are 2, 3, 2, 3, 2, none, 2, 3: lines 2-3, 4-6, 7-8, 9-11,
     * 12-13, 14-15, 16-18. */
    try_repair(false, 2, 0, "does not match its checksum");
    try_repair(false, 5, 3, "does not match its checksum");
    try_repair(false, 9, 7, "does not match its checksum");
    try_repair(true, 2, 0, "does not match its checksum");
    try_repair(true, 5, 1, "does not match its checksum");
    try_repair(true, 11, 3, "does not match its checksum");
    try_repair(true, 18, 7, "does not match its checksum");
}

/* Found by fuzzing: damage in OUT.csv while OUT.layers.csv has not even a header. */
static void test_journal_repair_without_any_layers(void **state)
{
    (void)state;
    struct place place;
    struct dse_error err = {0};
    struct journal_report report = {0};
    size_t length;
    make_cells(&place, N_CELL);
    char *csv = files_read(place.csv, &length);
    *strchr(line_at(csv, 2), '.') = ';';
    files_write(place.csv, csv, length);
    files_write(place.layers, "", 0);
    assert_int_equal(look(&place, true, NULL, &report, &err), DSE_OK);
    assert_int_equal(report.n_damaged, 1);
    assert_int_equal(report.n_cut, N_CELL - 1);
    require_cells(&place, NULL, 0);
    free(csv);
}

static void test_journal_layers_that_are_gone_or_twice_are_named(void **state)
{
    (void)state;
    struct place place;
    struct dse_error err = {0};
    struct journal_report report = {0};
    size_t length;
    make_cells(&place, N_CELL);
    char *layers = files_read(place.layers, &length);
    /* All layers of cell 2 out of the middle. */
    char *cut = line_at(layers, 7), *rest = line_at(layers, 9);
    char *less = malloc(length);
    assert_non_null(less);
    size_t head = (size_t)(cut - layers), tail = length - (size_t)(rest - layers);
    memcpy(less, layers, head);
    memcpy(less + head, rest, tail);
    files_write(place.layers, less, head + tail);
    assert_int_equal(look(&place, false, NULL, NULL, &err), DSE_BAD_INPUT);
    assert_string_equal(err.file, place.csv);
    assert_int_equal(err.line, 4);
    assert_non_null(strstr(err.text, "the point has 2 layers"));
    assert_int_equal(look(&place, true, NULL, &report, &err), DSE_OK);
    assert_int_equal(report.n_damaged, 1);
    require_cells(&place, (const unsigned[]){0, 1, 3, 4, 5, 6, 7}, 7);
    free(less);
    /* The layers of cell 0 once more behind those of cell 1. */
    make_cells(&place, N_CELL);
    FILE *file = fopen(place.layers, "wb");
    assert_non_null(file);
    size_t to_second = (size_t)(line_at(layers, 7) - layers);
    fwrite(layers, 1, to_second, file);
    fwrite(line_at(layers, 2), 1, (size_t)(line_at(layers, 4) - line_at(layers, 2)), file);
    fwrite(layers + to_second, 1, length - to_second, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(look(&place, false, NULL, NULL, &err), DSE_BAD_INPUT);
    assert_string_equal(err.file, place.layers);
    assert_int_equal(err.line, 7);
    assert_non_null(strstr(err.text, "do not stand together"));
    assert_int_equal(look(&place, true, NULL, &report, &err), DSE_OK);
    assert_int_equal(report.n_damaged, 2);
    require_cells(&place, (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7}, 8);
    free(layers);
}

static void test_journal_one_cell_with_two_keys_is_refused(void **state)
{
    (void)state;
    struct place place;
    struct dse_error err = {0};
    struct journal *journal;
    struct journal_report report = {0};
    struct point_record point;
    struct layer_record layer[SAMPLE_LAYER];
    struct level_values level[SAMPLE_LEVEL];
    uint32_t index[3];
    make_cells(&place, N_CELL);
    assert_int_equal(journal_open(place.out, &sample_schema, (struct journal_options){0}, &journal, &err),
                     DSE_OK);
    size_t n = sample_point(3, &point, layer, index, level);
    point.key = 0xabcdef;
    assert_int_equal(sample_append(journal, &sample_schema, &point, layer, n, &err), DSE_OK);
    assert_int_equal(journal_finish(journal, &err), DSE_OK);
    assert_int_equal(look(&place, false, NULL, NULL, &err), DSE_BAD_INPUT);
    assert_int_equal(err.line, N_CELL + 2);
    assert_non_null(strstr(err.text, "the same point of the sweep as line 5"));
    assert_int_equal(look(&place, true, NULL, &report, &err), DSE_OK);
    assert_int_equal(report.n_damaged, 1);
    require_cells(&place, (const unsigned[]){0, 1, 2, 3, 4, 5, 6, 7}, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal_dropped_rows_are_kept_aside),
        cmocka_unit_test(test_journal_rewriting_can_be_stopped_anywhere),
        cmocka_unit_test(test_journal_fresh_stopped_between_its_files_begins_again),
        cmocka_unit_test(test_journal_repair_moves_damage_aside),
        cmocka_unit_test(test_journal_repair_without_any_layers),
        cmocka_unit_test(test_journal_layers_that_are_gone_or_twice_are_named),
        cmocka_unit_test(test_journal_one_cell_with_two_keys_is_refused),
    };
    place_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
