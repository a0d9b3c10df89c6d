/* A cell with a row of its search and an exchanged one behind it: the journal takes one of each, the cube has
 * the second, a merge the first. The sample's cells, some with other latencies.
 * Tests: cube_rows.c, merge_rows.c. */
#include "tests/results/files.h"

#include "results/cube/cube.h"
#include "results/cube/cube_read.h"
#include "results/cube/merge.h"
#include "results/cube/stored_rows.h"
#include "tests/results/sample.h"

enum { EXCHANGED = 3 };

struct place {
    char folder[512], out[600], merged[600];
    struct result_schema schema;
};

/* Append an exchanged row of a cell; what its search found is not ok where the sample says so. */
static enum dse_status exchange(struct journal *journal, const struct result_schema *schema, unsigned cell,
                                struct dse_error *err)
{
    struct point_record point;
    struct layer_record layer[SAMPLE_LAYER];
    struct level_values level[SAMPLE_LEVEL];
    uint32_t index[3];
    size_t n = sample_point(cell, &point, layer, index, level);
    point.outcome = RESULT_OK;
    point.reason = NULL;
    point.latency_s = 0.125;
    point.exchanged_from = "global_buffer_byte=65536";
    return sample_append(journal, schema, &point, layer, n, err);
}

/* All cells of the sample, then EXCHANGED and the infeasible one once more. */
static void make_place(struct place *place)
{
    struct dse_error err = {0};
    struct journal *journal;
    files_folder(place->folder, sizeof place->folder);
    files_path(place->out, sizeof place->out, place->folder, "o.h5");
    files_path(place->merged, sizeof place->merged, place->folder, "m.h5");
    place->schema = sample_schema;
    place->schema.schedules = true;
    assert_int_equal(
        journal_open(place->out, &place->schema, (struct journal_options){.fresh = true}, &journal, &err),
        DSE_OK);
    for (unsigned cell = 0; cell < SAMPLE_MISSING; cell++) {
        struct point_record point;
        struct layer_record layer[SAMPLE_LAYER];
        struct level_values level[SAMPLE_LEVEL];
        uint32_t index[3];
        size_t n = sample_point(cell, &point, layer, index, level);
        assert_int_equal(sample_append(journal, &place->schema, &point, layer, n, &err), DSE_OK);
    }
    assert_int_equal(exchange(journal, &place->schema, EXCHANGED, &err), DSE_OK);
    assert_int_equal(exchange(journal, &place->schema, SAMPLE_INFEASIBLE, &err), DSE_OK);
    assert_int_equal(journal_finish(journal, &err), DSE_OK);
}

static void remove_place(const struct place *place)
{
    static const char *const name[] = {"o.h5", "o.csv", "o.layers.csv", "m.h5", "m.csv", "m.layers.csv"};
    char path[600];
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        unlink(files_path(path, sizeof path, place->folder, name[i]));
    assert_int_equal(rmdir(place->folder), 0);
}

static size_t count_lines(const char *out, const char *word)
{
    char path[700];
    assert_true(result_path(path, sizeof path, out, ".csv"));
    char *text = files_read(path, NULL);
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        n++;
    free(text);
    return n;
}

static enum dse_status forget(void *user, const struct journal_row *row, enum journal_verdict *verdict,
                              struct dse_error *err)
{
    (void)user;
    (void)err;
    if (row && row->exchanged)
        *verdict = JOURNAL_FORGET;
    return DSE_OK;
}

static bool note_key(void *user, uint64_t key, const char *place, const char *status, const char *reason)
{
    (void)place;
    (void)status;
    (void)reason;
    *(uint64_t *)user = key;
    return true;
}

static void test_journal_takes_an_exchanged_row_once(void **state)
{
    struct place place;
    struct journal *journal;
    struct dse_error err = {0};
    uint64_t key = 0;
    (void)state;
    make_place(&place);
    assert_int_equal(journal_each_not_ok(place.out, note_key, &key, &err), DSE_OK);
    assert_int_equal(key, 0); /* the only one has been exchanged */
    assert_int_equal(journal_open(place.out, &place.schema, (struct journal_options){0}, &journal, &err),
                     DSE_OK);
    assert_int_equal(journal_count(journal), SAMPLE_MISSING);
    assert_int_equal(exchange(journal, &place.schema, EXCHANGED, &err), DSE_OK);
    assert_int_equal(journal_finish(journal, &err), DSE_OK);
    /* line 26: a header, 23 rows, two exchanged ones, this one; the first of its kind is line 25 */
    assert_int_equal(journal_open(place.out, &place.schema, (struct journal_options){0}, &journal, &err),
                     DSE_BAD_INPUT);
    assert_int_equal(err.line, SAMPLE_MISSING + 4);
    assert_non_null(strstr(err.text, "the same point of the sweep as line 25"));
    /* they can be made again: nothing is kept of them */
    assert_int_equal(
        journal_open(place.out, &place.schema, (struct journal_options){.visit = forget}, &journal, &err),
        DSE_OK);
    assert_int_equal(journal_report(journal)->n_dropped, 0);
    assert_int_equal(journal_finish(journal, &err), DSE_OK);
    assert_int_equal(count_lines(place.out, "global_buffer_byte=65536"), 0);
    assert_int_equal(count_lines(place.out, "\n"), 1 + SAMPLE_MISSING);
    assert_int_equal(journal_each_not_ok(place.out, note_key, &key, &err), DSE_OK);
    assert_int_equal(key, sample_key(SAMPLE_INFEASIBLE));
    remove_place(&place);
}

/* What the cube says of a cell: its latency, and whether it is an exchanged one. */
static double latency_of(const char *out, unsigned cell, bool *exchanged)
{
    struct arena arena;
    struct result_schema schema;
    struct stored_rows *rows;
    struct stored_point point;
    struct dse_error err = {0};
    uint32_t index[3];
    arena_init(&arena);
    sample_index(cell, index);
    assert_int_equal(cube_read_schema(out, &arena, &schema, &err), DSE_OK);
    assert_true(schema.schedules);
    assert_int_equal(stored_rows_open(out, &schema, &rows, &err), DSE_OK);
    assert_int_equal(stored_rows_read(rows, index, &arena, &point, &err), DSE_OK);
    double latency_s = point.point.latency_s;
    *exchanged = point.point.exchanged_from && point.point.exchanged_from[0];
    stored_rows_close(rows);
    arena_free(&arena);
    return latency_s;
}

static void test_cube_has_the_exchanged_row(void **state)
{
    struct place place;
    struct provenance provenance;
    struct dse_error err = {0};
    uint32_t index[3];
    bool exchanged;
    (void)state;
    make_place(&place);
    provenance_make(&provenance);
    assert_int_equal(cube_build(place.out, &place.schema, &provenance, &err), DSE_OK);
    assert_int_equal(cube_read_count(place.out), SAMPLE_MISSING);
    assert_true(latency_of(place.out, EXCHANGED, &exchanged) == 0.125 && exchanged);
    assert_true(latency_of(place.out, SAMPLE_INFEASIBLE, &exchanged) == 0.125 && exchanged);
    sample_index(EXCHANGED + 1, index);
    assert_true(latency_of(place.out, EXCHANGED + 1, &exchanged) == sample_latency(index) && !exchanged);
    /* a merge has what searches found, and leaves the rest to `further` */
    const char *const shard[] = {place.out};
    const struct merge_options options = {.provenance = &provenance};
    struct merge_summary summary;
    assert_int_equal(merge_shards(place.merged, shard, 1, &options, &summary, &err), DSE_OK);
    assert_int_equal(summary.n_point, SAMPLE_MISSING);
    assert_int_equal(count_lines(place.merged, "\n"), 1 + SAMPLE_MISSING);
    sample_index(EXCHANGED, index);
    assert_true(latency_of(place.merged, EXCHANGED, &exchanged) == sample_latency(index) && !exchanged);
    remove_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal_takes_an_exchanged_row_once),
        cmocka_unit_test(test_cube_has_the_exchanged_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
