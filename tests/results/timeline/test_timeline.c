/* Timeline files: what is written is read, in HDF5 and CSV; what is no timeline is refused.
 * Tests: timeline_hdf5.c, timeline_read.c. */
#include "tests/results/files.h"

#include <hdf5.h>
#include <math.h>

#include "results/timeline/timeline.h"
#include "tests/results/timeline/timeline_sample.h"

/* Compare by the format's own tables: every column of every row, every attribute. */
static void assert_field(const struct timeline_column *column, const void *a, const void *b)
{
    const char *left = (const char *)a + column->offset, *right = (const char *)b + column->offset;
    if (column->type == TIMELINE_TEXT)
        assert_string_equal(*(const char *const *)(const void *)left,
                            *(const char *const *)(const void *)right);
    else
        assert_memory_equal(left, right, 8);
}

static void assert_same(const struct timeline *a, const struct timeline *b)
{
    const struct timeline_form *form = &timeline_form[a->kind];
    assert_int_equal(a->kind, b->kind);
    for (size_t i = 0; i < form->n_attribute; i++)
        assert_field(&form->attribute[i], a, b);
    for (size_t t = 0; t < form->n_table; t++) {
        const struct timeline_table *table = &form->table[t];
        const char *rows[2];
        size_t count[2];
        for (int side = 0; side < 2; side++) {
            const char *base = (const char *)(side ? b : a);
            memcpy(&rows[side], base + table->rows_offset, sizeof rows[side]);
            memcpy(&count[side], base + table->count_offset, sizeof count[side]);
        }
        assert_int_equal(count[0], count[1]);
        for (size_t i = 0; i < count[0]; i++)
            for (size_t c = 0; c < table->n_column; c++)
                assert_field(&table->column[c], rows[0] + i * table->row_size, rows[1] + i * table->row_size);
    }
}

static void test_timeline_is_read_as_it_was_written(void **state)
{
    (void)state;
    struct sample_timeline s;
    struct timeline read;
    struct arena arena;
    struct dse_error err = {0};
    char folder[512], path[600];
    sample_timeline_make(&s);
    arena_init(&arena);
    files_folder(folder, sizeof folder);
    files_path(path, sizeof path, folder, "t.h5");
    assert_int_equal(timeline_write(&s.timeline, path, &err), DSE_OK);
    assert_true(timeline_is_file(path));
    if (timeline_hdf5_read(path, &arena, &read, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_same(&s.timeline, &read);
    s.timeline.n_transfer = 0; /* a schedule that never uses the DRAM */
    assert_int_equal(timeline_write(&s.timeline, path, &err), DSE_OK);
    assert_int_equal(timeline_hdf5_read(path, &arena, &read, &err), DSE_OK);
    assert_int_equal(read.n_transfer, 0);
    arena_free(&arena);
}

static void test_uops_are_read_as_they_were_written(void **state)
{
    (void)state;
    struct sample_uops s;
    struct timeline read;
    struct arena arena;
    struct text_buffer out;
    struct dse_error err = {0};
    char folder[512], path[600];
    sample_uops_make(&s);
    arena_init(&arena);
    files_folder(folder, sizeof folder);
    files_path(path, sizeof path, folder, "u.h5");
    assert_int_equal(timeline_write(&s.timeline, path, &err), DSE_OK);
    if (timeline_hdf5_read(path, &arena, &read, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_same(&s.timeline, &read);
    text_init(&out);
    timeline_csv(&read, &out);
    assert_string_equal(out.data,
                        "row,index,uop,layer,layer_number,core,start_cycle,finish_cycle\n"
                        "uops,0,\"a, b/0\",\"a, b\",0,0,0,10\nuops,1,\"a, b/1\",\"a, b\",0,0,10,20\n"
                        "uops,2,c/0,c,1,1,10,40\n");
    text_free(&out);
    arena_free(&arena);
}

static void test_uops_are_checked(void **state)
{
    (void)state;
    struct sample_uops s;
    struct dse_error err = {0};
    for (int i = 0; i < 8; i++) {
        sample_uops_make(&s);
        switch (i) {
        case 1:
            s.uop[1].start = 9;
            break; /* while its core is busy */
        case 2:
            s.uop[2].finish = 41;
            break;
        case 3:
            s.uop[2].core = 2;
            break;
        case 4:
            s.uop[0].core = 1;
            break; /* not by core */
        case 5:
            s.uop[0].layer_number = -1;
            break;
        case 6:
            s.timeline.n_core = 0;
            break;
        case 7:
            s.timeline.clock_hz = NAN;
            break;
        default:
            break;
        }
        assert_int_equal(timeline_check(&s.timeline, &err), i ? DSE_BAD_INPUT : DSE_OK);
    }
}

static void test_timeline_csv_quotes_and_leaves_empty(void **state)
{
    (void)state;
    struct sample_timeline s;
    struct text_buffer out;
    sample_timeline_make(&s);
    text_init(&out);
    timeline_csv(&s.timeline, &out);
    assert_false(out.failed);
    static const char expected[] =
        "row,index,kind,layer,source,tensor,tile,layer_group,group,start_cycle,finish_cycle,byte,buffer_byte,"
        "living_start,living_end,stall_cycle,weight_byte,ifmap_byte,ofmap_byte,local_byte,cut,tiling_number,"
        "first_tile,n_tile,layers\n"
        "dram,0,weights,\"conv \"\"1\"\", first\",,1,0,0,0,0,4,64,64,-1,2,,,,,,,,,,\n";
    assert_memory_equal(out.data, expected, sizeof expected - 1);
    assert_non_null(strstr(out.data, "\ncompute,2,,fc,,,0,1,1,34,44,,,,,5,,,,,,,,,\n"));
    assert_non_null(strstr(out.data, "\nbuffer,3,,,,,,,,44,50,,,,,,0,0,80,0,,,,,\n"));
    assert_non_null(strstr(out.data, "\ngroups,1,,,,,,1,,29,45,,,,,,,,,,1,2,2,2,fc\n"));
    text_free(&out);
}

static void test_timeline_write_refuses_other_endings_and_places(void **state)
{
    (void)state;
    struct sample_timeline s;
    struct dse_error err = {0};
    sample_timeline_make(&s);
    assert_int_equal(timeline_write(&s.timeline, "t.txt", &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "ends in .h5 or .csv"));
    assert_int_equal(timeline_write(&s.timeline, "/nowhere/t.h5", &err), DSE_IO);
    assert_int_equal(timeline_write(&s.timeline, "/nowhere/t.csv", &err), DSE_IO);
    assert_non_null(strstr(err.text, "No such file"));
}

/* Take a link or an attribute away. */
static void spoil(const char *path, const char *link, const char *attribute)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    if (link)
        assert_true(H5Ldelete(file, link, H5P_DEFAULT) >= 0);
    if (attribute)
        assert_true(H5Adelete(file, attribute) >= 0);
    assert_true(H5Fclose(file) >= 0);
}

static void test_timeline_read_refuses_what_is_none(void **state)
{
    (void)state;
    static const struct {
        const char *link, *attribute, *words;
    } bad[] = {{"dram", NULL, "no group dram"},
               {"compute/start_cycle", NULL, "no dataset start_cycle"},
               {NULL, "clock_hz", "no attribute clock_hz"},
               {NULL, "format", "not a timeline"}};
    struct sample_timeline s;
    struct timeline read;
    struct arena arena;
    struct dse_error err = {0};
    char folder[512], path[600];
    sample_timeline_make(&s);
    arena_init(&arena);
    files_folder(folder, sizeof folder);
    files_path(path, sizeof path, folder, "t.h5");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(timeline_write(&s.timeline, path, &err), DSE_OK);
        spoil(path, bad[i].link, bad[i].attribute);
        assert_int_equal(timeline_hdf5_read(path, &arena, &read, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, bad[i].words))
            fail_msg("%s instead of %s", err.text, bad[i].words);
    }
    files_write(path, "not HDF5", 8);
    assert_false(timeline_is_file(path));
    assert_int_equal(timeline_hdf5_read(path, &arena, &read, &err), DSE_BAD_INPUT);
    files_path(path, sizeof path, folder, "none.h5");
    assert_false(timeline_is_file(path));
    assert_int_equal(timeline_hdf5_read(path, &arena, &read, &err), DSE_IO);
    arena_free(&arena);
}

/* A file that was cut off anywhere is refused. */
static void test_timeline_read_refuses_a_part_of_a_file(void **state)
{
    (void)state;
    struct sample_timeline s;
    struct timeline read;
    struct arena arena;
    struct dse_error err = {0};
    char folder[512], path[600];
    size_t length;
    sample_timeline_make(&s);
    arena_init(&arena);
    files_folder(folder, sizeof folder);
    files_path(path, sizeof path, folder, "t.h5");
    assert_int_equal(timeline_write(&s.timeline, path, &err), DSE_OK);
    char *bytes = files_read(path, &length);
    for (size_t cut = 0; cut < 16; cut++) {
        files_write(path, bytes, length * cut / 16);
        assert_int_not_equal(timeline_hdf5_read(path, &arena, &read, &err), DSE_OK);
        arena_reset(&arena);
    }
    free(bytes);
    arena_free(&arena);
}

static void test_timeline_check_wants_a_schedule(void **state)
{
    (void)state;
    struct sample_timeline s;
    struct dse_error err = {0};
    sample_timeline_make(&s);
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_OK);
    s.tile[1].start = 18; /* before the first one is over */
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
    sample_timeline_make(&s);
    s.transfer[2].finish = 51; /* after the end */
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
    sample_timeline_make(&s);
    s.transfer[0].kind = "water";
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
    sample_timeline_make(&s);
    s.tile[3].group = 2;
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
    sample_timeline_make(&s);
    s.step[2].local_byte = -1;
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
    sample_timeline_make(&s);
    s.timeline.clock_hz = NAN;
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeline_is_read_as_it_was_written),
        cmocka_unit_test(test_uops_are_read_as_they_were_written),
        cmocka_unit_test(test_uops_are_checked),
        cmocka_unit_test(test_timeline_csv_quotes_and_leaves_empty),
        cmocka_unit_test(test_timeline_write_refuses_other_endings_and_places),
        cmocka_unit_test(test_timeline_read_refuses_what_is_none),
        cmocka_unit_test(test_timeline_read_refuses_a_part_of_a_file),
        cmocka_unit_test(test_timeline_check_wants_a_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
