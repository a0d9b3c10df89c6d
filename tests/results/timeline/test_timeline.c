/* Timeline files: what is written is read, in HDF5 and CSV; what is no timeline is refused; the figure and
 * its boxes. The schedule is made up: two groups of two tiles each, 10 cycles per tile, the third waits 5
 * cycles. */
#include "tests/results/files.h"

#include <hdf5.h>
#include <math.h>

#include "results/plot/plot_timeline.h"
#include "results/plot/plot_timeline_lane.h"
#include "results/timeline/timeline.h"

static const char template_dir[] = "plotting"; /* tests run in the repository root */

struct sample_timeline {
    struct timeline_transfer transfer[3];
    struct timeline_tile tile[4];
    struct timeline_step step[4];
    struct timeline_group group[2];
    struct timeline timeline;
};

static void make(struct sample_timeline *s)
{
    *s = (struct sample_timeline){
        .transfer = {{"weights", "conv \"1\", first", "", 1, 0, 0, 0, 0, 4, 64, 64, -1, 2},
                     {"ifmap", "conv \"1\", first", "input", 0, 0, 0, 0, 4, 9, 80, 96, -1, 1},
                     {"ofmap", "fc", "", 2, 1, 1, 1, 45, 50, 80, 80, 3, 4}},
        .tile = {{"conv \"1\", first", 0, 0, 0, 9, 19, 9},
                 {"conv \"1\", first", 1, 0, 0, 19, 29, 0},
                 {"fc", 0, 1, 1, 34, 44, 5},
                 {"fc", 1, 1, 1, 44, 45, 0}},
        .step = {{0, 19, 64, 96, 0, 0}, {19, 29, 64, 0, 0, 32}, {29, 44, 0, 0, 0, 64}, {44, 50, 0, 0, 80, 0}},
        .group = {{0, 1, 2, 0, 2, 0, 29, "conv"}, {1, 1, 2, 2, 2, 29, 45, "fc"}},
        .timeline = {.title = "a's",
                     .network = "net",
                     .architecture = "edge",
                     .rules = "sound",
                     .batch = 4,
                     .cycle = 50,
                     .compute_cycle = 31,
                     .dram_cycle = 14,
                     .stall_cycle = 14,
                     .buffer_byte = 256,
                     .buffer_max_byte = 160,
                     .dram_byte_per_cycle = 16,
                     .clock_hz = 1e9,
                     .energy_j = 1.5e-9,
                     .buffer_average_byte = 108.8,
                     .n_transfer = 3,
                     .n_tile = 4,
                     .n_group = 2}};
    s->timeline.transfer = s->transfer;
    s->timeline.tile = s->tile;
    s->timeline.step = s->step;
    s->timeline.group = s->group;
}

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
    size_t n;
    const struct timeline_column *attribute = timeline_attributes(&n);
    for (size_t i = 0; i < n; i++)
        assert_field(&attribute[i], a, b);
    for (size_t t = 0; t < TIMELINE_N_TABLE; t++) {
        const struct timeline_table *table = &timeline_table[t];
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
    make(&s);
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

static void test_timeline_csv_quotes_and_leaves_empty(void **state)
{
    (void)state;
    struct sample_timeline s;
    struct text_buffer out;
    make(&s);
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
    make(&s);
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
    make(&s);
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
    make(&s);
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
    make(&s);
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_OK);
    s.tile[1].start = 18; /* before the first one is over */
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
    make(&s);
    s.transfer[2].finish = 51; /* after the end */
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
    make(&s);
    s.transfer[0].kind = "water";
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
    make(&s);
    s.tile[3].group = 2;
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
    make(&s);
    s.step[2].local_byte = -1;
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
    make(&s);
    s.timeline.clock_hz = NAN;
    assert_int_equal(timeline_check(&s.timeline, &err), DSE_BAD_INPUT);
}

/* ---- figure ---- */

/* 100 boxes of 0.01 with as much between them, then a wide one: narrow ones keep their sum, and there are few
 * of them. */
static void test_lane_puts_narrow_boxes_together(void **state)
{
    (void)state;
    struct lane lane;
    struct text_buffer out;
    double x0, x1, y0, y1, narrow = 0, wide = 0;
    size_t look;
    int n = 0;
    text_init(&out);
    lane_begin(&lane, 10, 1, 2, &out);
    for (int i = 0; i < 100; i++)
        lane_add(&lane, 1 + 0.02 * i, 1.01 + 0.02 * i, i % 3 == 0 ? 2 : 1);
    lane_add(&lane, 5, 7, 3);
    lane_add(&lane, 9, 20, 4);  /* cut off at 10 */
    lane_add(&lane, 20, 30, 4); /* outside */
    lane_end(&lane);
    for (const char *at = out.data; sscanf(at, "%lf %lf %lf %lf %zu\n", &x0, &x1, &y0, &y1, &look) == 5;
         at = strchr(at, '\n') + 1) {
        assert_true(x0 < x1 && x1 <= 10 && y0 == 1 && y1 == 2);
        if (look <= 2)
            assert_int_equal(look, 1); /* two of three are */
        *(look == 1 ? &narrow : &wide) += x1 - x0;
        n++;
        if (!strchr(at, '\n')[1])
            break;
    }
    assert_int_equal(lane.n_box, n);
    assert_true(n < 10);
    assert_true(fabs(narrow - 1) < 0.01);
    assert_true(fabs(wide - 3) < 1e-6);
    text_free(&out);
}

static int gnuplot_is_there(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

static void test_timelines_are_drawn_in_every_format(void **state)
{
    (void)state;
    static const char *const magic[][2] = {{"t.png", "\x89PNG"}, {"t.svg", "<?xml"}, {"t.pdf", "%PDF"}};
    struct sample_timeline a, b;
    struct dse_error err = {0};
    char folder[512], path[600];
    if (!gnuplot_is_there())
        skip();
    make(&a);
    make(&b);
    b.timeline.title = "with `command` and \"quotes\"";
    files_folder(folder, sizeof folder);
    for (size_t f = 0; f < 3; f++) {
        const struct timeline both[] = {a.timeline, b.timeline};
        const struct plot_timeline_options options = {.template_dir = template_dir, .keep_script = true};
        size_t length;
        files_path(path, sizeof path, folder, magic[f][0]);
        if (plot_timelines(both, 1 + f % 2, path, &options, &err) != DSE_OK)
            fail_msg("%s: %s", magic[f][0], err.text);
        char *bytes = files_read(path, &length);
        assert_true(length > 2000);
        assert_memory_equal(bytes, magic[f][1], strlen(magic[f][1]));
        free(bytes);
    }
    /* 50 ns in all, of which the core array computes 31 cycles and the DRAM moves 14 (make). */
    char *text = files_read(files_path(path, sizeof path, folder, "t.svg.gp"), NULL);
    assert_non_null(strstr(text, "dse_title = 'net, batch 4, on edge'\n"));
    assert_non_null(strstr(text, "dse_x_title = 'Time (ns; 1 cycle each)'\n"));
    assert_non_null(strstr(
        text,
        "panel_title[1] = 'a''s'\npanel_note[1] = '50.0 ns, 1.50 nJ; core array busy 62.0 %, DRAM 28.0 %; "
        "buffer 109 B on average, 160 B at most, of 256 B'\n"));
    assert_non_null(strstr(text, "panel_title[2] = 'with `command` and \"quotes\"'"));
    free(text);
}

static void test_timelines_refuse_what_cannot_be_drawn(void **state)
{
    (void)state;
    struct sample_timeline s;
    struct dse_error err = {0};
    struct plot_timeline_options options = {.from = 50, .template_dir = template_dir};
    make(&s);
    assert_int_equal(plot_timelines(&s.timeline, 0, "t.png", &options, &err), DSE_BAD_USAGE);
    assert_int_equal(plot_timelines(&s.timeline, 1, "t.gif", &options, &err), DSE_BAD_USAGE);
    assert_int_equal(plot_timelines(&s.timeline, 1, "t.png", &options, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "between cycle 50 and 50"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeline_is_read_as_it_was_written),
        cmocka_unit_test(test_timeline_csv_quotes_and_leaves_empty),
        cmocka_unit_test(test_timeline_write_refuses_other_endings_and_places),
        cmocka_unit_test(test_timeline_read_refuses_what_is_none),
        cmocka_unit_test(test_timeline_read_refuses_a_part_of_a_file),
        cmocka_unit_test(test_timeline_check_wants_a_schedule),
        cmocka_unit_test(test_lane_puts_narrow_boxes_together),
        cmocka_unit_test(test_timelines_are_drawn_in_every_format),
        cmocka_unit_test(test_timelines_refuse_what_cannot_be_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
