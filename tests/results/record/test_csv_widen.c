/* Lines of an earlier version become those that today's version writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "results/record/csv_widen.h"

static const char today[] = "x,layer,status,latency_s,same_as,mapping,draws,point_key,checksum";
static const char earlier[] = "x,layer,status,latency_s,mapping,point_key,checksum";

static void split(const char *line, struct csv_row *row)
{
    csv_row_init(row);
    assert_int_equal(csv_split(line, strlen(line), row, NULL), DSE_OK);
}

/* Whether lines with these columns can become lines of today. */
static bool is_earlier(const char *columns)
{
    struct csv_row was, is;
    struct csv_widen widen;
    split(columns, &was);
    split(today, &is);
    assert_int_equal(csv_widen_init(&widen, &was, &is, NULL), DSE_OK);
    bool needed = widen.needed;
    csv_widen_free(&widen);
    csv_row_free(&was);
    csv_row_free(&is);
    return needed;
}

static void test_csv_widen_tells_an_earlier_version_from_others(void **state)
{
    (void)state;
    assert_true(is_earlier(earlier));
    assert_true(is_earlier("x,layer,status,point_key,checksum"));
    assert_false(is_earlier(today));
    assert_false(is_earlier("layer,status,latency_s,mapping,point_key,checksum")); /* an axis is missing */
    assert_false(is_earlier("y,layer,status,latency_s,mapping,point_key,checksum"));
    assert_false(is_earlier("x,layer,latency_s,mapping,point_key,checksum"));
    assert_false(is_earlier("x,layer,status,latency_s,mapping,checksum"));
    assert_false(is_earlier("x,layer,status,latency_s,mapping,point_key"));
    assert_false(is_earlier("x,layer,status,mapping,latency_s,point_key,checksum")); /* in another order */
    assert_false(is_earlier("x,layer,status,latency_s,heat_w,point_key,checksum"));  /* unknown today */
}

static void add_line(struct text_buffer *to, const char *fields)
{
    size_t start = to->length;
    text_append_string(to, fields);
    csv_seal(to, start);
}

static void test_csv_widen_writes_lines_of_today(void **state)
{
    (void)state;
    static const char *const was[] = {
        "1,a,ok,0.5,\"K4, C2\",000000000000000a,", "1,b,ok,0.25,K3,000000000000000a,",
        "1,c,ok,0.5,\"K4, C2\",000000000000000a,", "1,d,failed,,,000000000000000a,",
        "2,b,ok,0.5,\"K4, C2\",000000000000000b,"};
    static const char *const is[] = {"1,a,ok,0.5,,\"K4, C2\",,000000000000000a,",
                                     "1,b,ok,0.25,,K3,,000000000000000a,", "1,c,ok,0.5,a,,,000000000000000a,",
                                     "1,d,failed,,,,,000000000000000a,",
                                     "2,b,ok,0.5,,\"K4, C2\",,000000000000000b,"};
    static const char damaged[] = "1,e,ok,0.5,K4,000000000000000a,0000000000000000\n";
    struct text_buffer before, after, wanted;
    struct csv_row old, now;
    struct csv_widen widen;
    text_init(&before);
    text_init(&after);
    text_init(&wanted);
    for (size_t i = 0; i < sizeof was / sizeof *was; i++) {
        add_line(&before, was[i]);
        add_line(&wanted, is[i]);
    }
    text_append_string(&before, damaged);
    text_append_string(&wanted, damaged);
    split(earlier, &old);
    split(today, &now);
    assert_int_equal(csv_widen_init(&widen, &old, &now, NULL), DSE_OK);
    assert_int_equal(csv_widen_lines(&widen, before.data, before.length, &after, NULL), DSE_OK);
    assert_string_equal(after.data, wanted.data);
    csv_widen_free(&widen);
    csv_row_free(&old);
    csv_row_free(&now);
    text_free(&before);
    text_free(&after);
    text_free(&wanted);
}

static void test_csv_widen_puts_fields_in_their_places(void **state)
{
    (void)state;
    struct csv_row old, now, row;
    struct csv_widen widen;
    split(earlier, &old);
    split(today, &now);
    assert_int_equal(csv_widen_init(&widen, &old, &now, NULL), DSE_OK);
    split("1,a,ok,0.5,K4,k,c", &row);
    assert_int_equal(csv_widen_row(&widen, &row, NULL), DSE_OK);
    static const char *const wanted[] = {"1", "a", "ok", "0.5", "", "K4", "", "k", "c"};
    assert_int_equal(row.n, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < row.n; i++)
        assert_string_equal(row.field[i], wanted[i]);
    assert_int_equal(csv_widen_row(&widen, &row, NULL), DSE_OK); /* not one of the old ones */
    assert_int_equal(row.n, sizeof wanted / sizeof *wanted);
    csv_row_free(&row);
    csv_widen_free(&widen);
    csv_row_free(&old);
    csv_row_free(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_widen_tells_an_earlier_version_from_others),
        cmocka_unit_test(test_csv_widen_writes_lines_of_today),
        cmocka_unit_test(test_csv_widen_puts_fields_in_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
