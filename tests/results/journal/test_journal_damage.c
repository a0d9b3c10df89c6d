/* Journals cut and changed at every byte of their last lines and at random places: what is resumed is what
 * was whole, or the damage is named; never another set of rows.
 * Tests: journal_scan.c, journal_open.c. */
#include "tests/results/journal_place.h"

#include "base/random.h"

enum { N_CELL = 8 };

/* The files as they were, and where their lines and points end. */
struct original {
    struct place place;
    char *csv, *layers;
    size_t csv_length, layers_length;
    size_t point_end[N_CELL + 1];  /* bytes of OUT.csv when so many points are there; [0]: the header */
    size_t layers_end[N_CELL + 1]; /* bytes of OUT.layers.csv likewise */
    struct seen rows;
};

static size_t after_lines(const char *text, size_t n)
{
    const char *at = text;
    for (size_t i = 0; i < n; i++)
        at = strchr(at, '\n') + 1;
    return (size_t)(at - text);
}

static void make_original(struct original *o)
{
    struct dse_error err;
    memset(o, 0, sizeof *o);
    make_cells(&o->place, N_CELL);
    o->csv = files_read(o->place.csv, &o->csv_length);
    o->layers = files_read(o->place.layers, &o->layers_length);
    assert_int_equal(look(&o->place, false, &o->rows, NULL, &err), DSE_OK);
    assert_int_equal(o->rows.n, N_CELL);
    o->layers_end[0] = after_lines(o->layers, 1);
    for (size_t i = 0; i <= N_CELL; i++)
        o->point_end[i] = after_lines(o->csv, i + 1);
    for (size_t i = 0; i < N_CELL; i++)
        o->layers_end[i + 1] = o->layers_end[i] + o->rows.layer_length[i];
    assert_int_equal(o->point_end[N_CELL], o->csv_length);
    assert_int_equal(o->layers_end[N_CELL], o->layers_length);
}

static void free_original(struct original *o)
{
    free(o->csv);
    free(o->layers);
    forget(&o->rows);
    remove_place(&o->place);
}

/* Points whose lines and layers are whole when the files have so many bytes, without a gap. */
static size_t whole_points(const struct original *o, size_t csv_length, size_t layers_length)
{
    size_t n = 0;
    while (n < N_CELL && o->point_end[n + 1] <= csv_length && o->layers_end[n + 1] <= layers_length)
        n++;
    return n;
}

/* The journal has the first `n` rows of the original and nothing else, in both files. */
static void require_rows(const struct original *o, const struct seen *seen, size_t n)
{
    size_t csv_length, layers_length;
    assert_int_equal(seen->n, n);
    assert_true(seen->ended);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(seen->cell[i], i);
        assert_string_equal(seen->text[i], o->rows.text[i]);
    }
    char *csv = files_read(o->place.csv, &csv_length), *layers = files_read(o->place.layers, &layers_length);
    assert_int_equal(csv_length, o->point_end[n]);
    assert_int_equal(layers_length, o->layers_end[n]);
    assert_memory_equal(csv, o->csv, csv_length);
    assert_memory_equal(layers, o->layers, layers_length);
    free(csv);
    free(layers);
}

/* Rows moved aside by a cut; they are looked at in one of the tests. */
static void remove_aside(const struct original *o)
{
    char path[700];
    unlink(files_path(path, sizeof path, o->place.folder, "o.damaged.csv"));
    unlink(files_path(path, sizeof path, o->place.folder, "o.damaged.layers.csv"));
}

/* Cut both files; returns the rows moved aside. */
static uint64_t try_cut(const struct original *o, size_t csv_length, size_t layers_length)
{
    struct seen seen = {0};
    struct dse_error err = {0};
    struct journal_report report = {0};
    files_write(o->place.csv, o->csv, csv_length);
    files_write(o->place.layers, o->layers, layers_length);
    enum dse_status status = look(&o->place, false, &seen, &report, &err);
    if (status != DSE_OK)
        print_message("%s:%d: %s\n", err.file, err.line, err.text);
    assert_int_equal(status, DSE_OK);
    size_t n = whole_points(o, csv_length, layers_length);
    require_rows(o, &seen, n);
    assert_int_equal(report.n_point, n);
    size_t n_line = 0;
    while (n_line < N_CELL && o->point_end[n_line + 1] <= csv_length)
        n_line++;
    assert_int_equal(report.n_cut, n_line - n);
    forget(&seen);
    remove_aside(o);
    return report.n_cut;
}

/* Every byte of the last three lines of either file, and further back in steps. */
static void test_journal_cut_at_any_byte_resumes_with_what_is_whole(void **state)
{
    (void)state;
    struct original o;
    make_original(&o);
    size_t csv_from = o.point_end[N_CELL - 3], layers_from = o.layers_end[N_CELL - 2];
    for (size_t cut = csv_from; cut <= o.csv_length; cut++)
        (void)try_cut(&o, cut, o.layers_length);
    for (size_t cut = layers_from; cut <= o.layers_length; cut++)
        (void)try_cut(&o, o.csv_length, cut);
    for (size_t cut = 0; cut < csv_from; cut += 37)
        (void)try_cut(&o, cut, o.layers_length);
    for (size_t cut = 0; cut < layers_from; cut += 53)
        (void)try_cut(&o, o.csv_length, cut);
    struct random_stream random = random_stream_make(5, 0, RANDOM_TEST);
    uint64_t n_aside = 0;
    for (int i = 0; i < 200; i++)
        n_aside += try_cut(&o, random_below(&random, (uint32_t)o.csv_length + 1),
                           random_below(&random, (uint32_t)o.layers_length + 1));
    assert_true(n_aside > 0);
    free_original(&o);
}

/* A tail of zero bytes, as file systems leave them after a power failure. */
static void test_journal_tail_of_zero_bytes_is_cut(void **state)
{
    (void)state;
    struct original o;
    char zero[5000] = {0};
    make_original(&o);
    for (int both = 0; both < 4; both++) {
        for (size_t cut = 0; cut <= o.csv_length; cut += 211) {
            struct seen seen = {0};
            struct dse_error err = {0};
            size_t layers_cut = both & 2 ? o.layers_length * cut / o.csv_length : o.layers_length;
            files_write(o.place.csv, o.csv, cut);
            files_write(o.place.layers, o.layers, layers_cut);
            FILE *file = fopen(both & 1 ? o.place.layers : o.place.csv, "ab");
            assert_int_equal(fwrite(zero, 1, sizeof zero, file), sizeof zero);
            assert_int_equal(fclose(file), 0);
            assert_int_equal(look(&o.place, false, &seen, NULL, &err), DSE_OK);
            require_rows(&o, &seen, whole_points(&o, cut, layers_cut));
            forget(&seen);
            remove_aside(&o);
        }
    }
    free_original(&o);
}

/* One byte of a file changed. It must be refused with file and line and both files left alone, or resumed
 * with the points before it. */
static void try_change(const struct original *o, bool in_layers, size_t at, char value)
{
    struct seen seen = {0};
    struct dse_error err = {0};
    size_t csv_length, layers_length;
    char *changed = in_layers ? o->layers : o->csv, was = changed[at];
    if (was == value)
        return;
    changed[at] = value;
    files_write(o->place.csv, o->csv, o->csv_length);
    files_write(o->place.layers, o->layers, o->layers_length);
    enum dse_status status = look(&o->place, false, &seen, NULL, &err);
    char *csv = files_read(o->place.csv, &csv_length), *layers = files_read(o->place.layers, &layers_length);
    if (status != DSE_OK) {
        assert_int_equal(status, DSE_BAD_INPUT);
        assert_string_equal(err.file, in_layers ? o->place.layers : o->place.csv);
        size_t line = 1;
        for (size_t i = 0; i < at; i++)
            line += changed[i] == '\n';
        assert_int_equal(err.line, line);
        assert_int_equal(csv_length, o->csv_length);
        assert_int_equal(layers_length, o->layers_length);
        assert_memory_equal(csv, o->csv, csv_length);
        assert_memory_equal(layers, o->layers, layers_length);
    }
    changed[at] = was;
    /* Only the last line break is such that the line is a torn one without it. */
    if (status == DSE_OK) {
        assert_int_equal(at, (in_layers ? o->layers_length : o->csv_length) - 1);
        require_rows(o, &seen, N_CELL - 1);
    }
    free(csv);
    free(layers);
    forget(&seen);
    remove_aside(o);
}

static char other_value(const struct original *o, bool in_layers, size_t at, unsigned how)
{
    char was = in_layers ? o->layers[at] : o->csv[at];
    switch (how % 6) {
    case 0:
        return '\n';
    case 1:
        return '\0';
    case 2:
        return was >= '0' && was < '9' ? (char)(was + 1) : '0';
    case 3:
        return ',';
    case 4:
        return '"';
    default:
        return (char)(was ^ (1 << (how / 6 % 8)));
    }
}

static void test_journal_with_one_byte_changed_is_refused_or_right(void **state)
{
    (void)state;
    struct original o;
    struct random_stream random = random_stream_make(6, 0, RANDOM_TEST);
    make_original(&o);
    unsigned how = 0;
    for (size_t at = o.point_end[N_CELL - 3]; at < o.csv_length; at++)
        for (int i = 0; i < 5; i++, how++)
            try_change(&o, false, at, other_value(&o, false, at, how));
    for (size_t at = o.layers_end[N_CELL - 2]; at < o.layers_length; at++)
        for (int i = 0; i < 5; i++, how++)
            try_change(&o, true, at, other_value(&o, true, at, how));
    for (int i = 0; i < 200; i++, how++) {
        bool in_layers = i & 1;
        size_t at = random_below(&random, (uint32_t)(in_layers ? o.layers_length : o.csv_length));
        try_change(&o, in_layers, at, other_value(&o, in_layers, at, how));
    }
    for (unsigned k = 0; k < 12; k++) {
        try_change(&o, false, o.csv_length - 1, other_value(&o, false, o.csv_length - 1, k));
        try_change(&o, true, o.layers_length - 1, other_value(&o, true, o.layers_length - 1, k));
    }
    free_original(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal_cut_at_any_byte_resumes_with_what_is_whole),
        cmocka_unit_test(test_journal_tail_of_zero_bytes_is_cut),
        cmocka_unit_test(test_journal_with_one_byte_changed_is_refused_or_right),
    };
    place_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
