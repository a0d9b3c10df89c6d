/* Best points of slices, and the words for their rows. Rows are made by hand; the best of each slice follows
 * from the numbers in them. Tests: best_slices.c, followed_row.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "dse/status/best_slices.h"
#include "tests/results/sample.h"

static const char header_text[] =
    "global_buffer_byte,dram_byte_per_s,dram_preset,network,status,edp_js,utilization";

struct table {
    struct csv_row header, row;
    struct best_slices best;
};

static void open_table(struct table *table, const char *const *by, size_t n_by, const char *metric)
{
    struct dse_error err;
    csv_row_init(&table->header);
    csv_row_init(&table->row);
    assert_int_equal(csv_split(header_text, sizeof header_text - 1, &table->header, &err), DSE_OK);
    assert_int_equal(best_slices_init(&table->best, by, n_by, metric, &err), DSE_OK);
    assert_int_equal(best_slices_bind(&table->best, &table->header, 4, &err), DSE_OK);
}

static void close_table(struct table *table)
{
    best_slices_free(&table->best);
    csv_row_free(&table->header);
    csv_row_free(&table->row);
}

static void add(struct table *table, const char *line, bool ok, const uint32_t *index)
{
    struct dse_error err;
    struct followed_row source = {&table->header, 4, index ? &sample_schema : NULL};
    assert_int_equal(csv_split(line, strlen(line), &table->row, &err), DSE_OK);
    assert_int_equal(best_slices_add(&table->best, &source, &table->row, ok, index, &err), DSE_OK);
}

static void expect(const struct best_slice *slice, const char *text, double value, const char *place)
{
    assert_string_equal(slice->text, text);
    assert_true(slice->value == value);
    assert_string_equal(slice->place, place);
}

static void test_best_slices_are_in_the_order_of_the_axis(void **state)
{
    (void)state;
    static const char *const by[] = {"global_buffer"};
    struct table table;
    open_table(&table, by, 1, "edp_js");
    add(&table, "262144,4e9,LPDDR4 x16,alexnet,ok,5,0.1", true, (const uint32_t[]){2, 0, 0});
    add(&table, "65536,4e9,LPDDR4 x16,alexnet,ok,4,0.2", true, (const uint32_t[]){0, 0, 0});
    add(&table, "65536,8e9,LPDDR4 x32,alexnet,ok,3,0.3", true, (const uint32_t[]){0, 1, 0});
    add(&table, "65536,16e9,LPDDR4 x64,alexnet,ok,6,0.4", true, (const uint32_t[]){0, 2, 0});
    add(&table, "65536,32e9,x,alexnet,infeasible,,", false, (const uint32_t[]){0, 3, 0});
    best_slices_sort(&table.best);
    assert_int_equal(table.best.n, 2);
    expect(&table.best.slice[0], "64 KiB", 3, "dram=8 GB/s dram_preset=LPDDR4 x32 network=alexnet");
    assert_int_equal(table.best.slice[0].n, 4);
    assert_int_equal(table.best.slice[0].n_ok, 3);
    expect(&table.best.slice[1], "256 KiB", 5, "dram=4 GB/s dram_preset=LPDDR4 x16 network=alexnet");
    /* rows may follow */
    add(&table, "262144,8e9,LPDDR4 x32,alexnet,ok,1,0.1", true, (const uint32_t[]){2, 1, 0});
    expect(&table.best.slice[1], "256 KiB", 1, "dram=8 GB/s dram_preset=LPDDR4 x32 network=alexnet");
    close_table(&table);
}

static void test_best_slices_of_two_axes_without_a_schema(void **state)
{
    (void)state;
    static const char *const by[] = {"network", "dram_preset"};
    struct table table;
    open_table(&table, by, 2, "utilization");
    add(&table, "1,2,a,n,ok,5,0.1", true, NULL);
    add(&table, "2,2,a,n,ok,5,0.7", true, NULL);
    add(&table, "3,2,a,n,ok,5,0.3", true, NULL);
    add(&table, "4,2,b,n,ok,5,0.3", true, NULL);
    add(&table, "5,2,b,m,failed,,", false, NULL);
    best_slices_sort(&table.best);
    assert_int_equal(table.best.n, 3);
    expect(&table.best.slice[0], "n", 0.7, "global_buffer_byte=2 dram_byte_per_s=2"); /* more is better */
    assert_string_equal(table.best.slice[0].text + 2, "a");
    assert_string_equal(table.best.slice[2].text, "m");
    assert_null(table.best.slice[2].place);
    close_table(&table);
}

static void test_best_slices_of_nothing_is_the_best_of_all(void **state)
{
    (void)state;
    struct table table;
    open_table(&table, NULL, 0, "edp_js");
    add(&table, "1,2,a,n,ok,5,0.1", true, NULL);
    add(&table, "2,2,a,n,ok,2,0.1", true, NULL);
    assert_int_equal(table.best.n, 1);
    expect(&table.best.slice[0], "", 2, "global_buffer_byte=2 dram_byte_per_s=2 dram_preset=a network=n");
    assert_string_equal(table.best.unit, "J s");
    best_slices_clear(&table.best);
    assert_int_equal(table.best.n, 0);
    close_table(&table);
}

static void test_best_slices_are_many_but_not_without_end(void **state)
{
    (void)state;
    enum { N = BEST_SLICE_MAX + 50 };
    static const char *const by[] = {"network"};
    struct table table;
    char line[64];
    open_table(&table, by, 1, "edp_js");
    for (int i = 0; i < N; i++) {
        snprintf(line, sizeof line, "1,2,a,n%d,ok,%d,0.1", i, i + 1);
        add(&table, line, true, NULL);
    }
    assert_int_equal(table.best.n, BEST_SLICE_MAX);
    assert_int_equal(table.best.n_left_out, N - BEST_SLICE_MAX);
    add(&table, "7,2,a,n17,ok,0.5,0.1", true, NULL);
    expect(&table.best.slice[17], "n17", 0.5, "global_buffer_byte=7 dram_byte_per_s=2 dram_preset=a");
    close_table(&table);
}

static void test_best_slices_refuse_what_is_not_there(void **state)
{
    (void)state;
    static const char *const odd[] = {"networks"}, *const empty[] = {""};
    struct best_slices best;
    struct csv_row header;
    struct dse_error err;
    csv_row_init(&header);
    assert_int_equal(csv_split(header_text, sizeof header_text - 1, &header, &err), DSE_OK);
    assert_int_equal(best_slices_init(&best, NULL, 0, "status", &err), DSE_BAD_USAGE);
    assert_int_equal(best_slices_init(&best, NULL, 0, "edp", &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "did you mean edp_js?"));
    assert_int_equal(best_slices_init(&best, odd, 1, "edp_js", &err), DSE_OK);
    assert_int_equal(best_slices_bind(&best, &header, 4, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "did you mean network?"));
    assert_int_equal(best_slices_init(&best, empty, 1, "edp_js", &err), DSE_OK);
    assert_int_equal(best_slices_bind(&best, &header, 4, &err), DSE_BAD_USAGE);
    assert_int_equal(best_slices_init(&best, NULL, 0, "latency_s", &err), DSE_OK);
    assert_int_equal(best_slices_bind(&best, &header, 4, &err), DSE_BAD_USAGE);
    csv_row_free(&header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_slices_are_in_the_order_of_the_axis),
        cmocka_unit_test(test_best_slices_of_two_axes_without_a_schema),
        cmocka_unit_test(test_best_slices_of_nothing_is_the_best_of_all),
        cmocka_unit_test(test_best_slices_are_many_but_not_without_end),
        cmocka_unit_test(test_best_slices_refuse_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
