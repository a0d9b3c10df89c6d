/* Fields are quoted as libcsv quotes them; records go into lines and come out.
 * Tests: csv_split.c. */
#include <csv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "results/record/csv_line.h"
#include "tests/results/sample.h"

/* The field as libcsv quotes it, where it has to; line breaks are blanks in a row of ours. */
static void plain_field(const char *text, struct text_buffer *line)
{
    size_t length = strlen(text);
    char quoted[512];
    if (length == 0 ||
        (!strpbrk(text, ",\"\r\n") && !strchr(" \t", text[0]) && !strchr(" \t", text[length - 1]))) {
        text_append(line, "%s,", text);
        return;
    }
    size_t size = csv_write(quoted, sizeof quoted, text, length);
    assert_true(size <= sizeof quoted);
    for (size_t i = 0; i < size; i++)
        if (quoted[i] == '\n' || quoted[i] == '\r')
            quoted[i] = ' ';
    text_append_bytes(line, quoted, size);
    text_append(line, ",");
}

static void test_csv_add_text_quotes_as_libcsv_does(void **state)
{
    (void)state;
    static const char letter[] = "ab \t,\"\n\r{}:=";
    struct random_stream stream = random_stream_make(6, 1, RANDOM_TEST);
    struct text_buffer quick, plain;
    text_init(&quick);
    text_init(&plain);
    for (int i = 0; i < 20000; i++) {
        char text[64];
        size_t n = random_u64(&stream) % sizeof text;
        uint64_t kind = 1 + random_u64(&stream) % (sizeof letter - 1);
        for (size_t k = 0; k < n; k++)
            text[k] = letter[random_u64(&stream) % kind];
        text[n ? n - 1 : 0] = '\0';
        text_clear(&quick);
        text_clear(&plain);
        csv_add_text(&quick, text);
        plain_field(text, &plain);
        assert_string_equal(quick.data, plain.data);
        assert_int_equal(quick.length, plain.length);
    }
    text_free(&quick);
    text_free(&plain);
}

/* RFC 4180, and what libcsv makes of a line that is not so. */
static void test_csv_split_reads_fields(void **state)
{
    (void)state;
    static const struct {
        const char *line, *field; /* field: all of them, each with | behind it; NULL: refused */
    } of[] = {
        {"", "|"},
        {"  ", "|"},
        {"a", "a|"},
        {"a,", "a||"},
        {",,", "|||"},
        {"\"\",\"\"\"\"", "|\"|"},
        {"\"a,b\",\" c\"", "a,b| c|"},
        {"\"two\nlines\",x", "two\nlines|x|"},
        {"a , b", "a|b|"},
        {"\"a", NULL},
        {"a,\"b\"c,d", NULL},
        {"a,b\"c", NULL},
        {"a\rb,c", NULL},
        {"a,b\r", NULL},
        {"\na", NULL},
    };
    struct csv_row row;
    struct dse_error err;
    struct text_buffer all;
    csv_row_init(&row);
    text_init(&all);
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        enum dse_status status = csv_split(of[i].line, strlen(of[i].line), &row, &err);
        assert_int_equal(status, of[i].field ? DSE_OK : DSE_BAD_INPUT);
        text_clear(&all);
        for (size_t k = 0; status == DSE_OK && k < row.n; k++)
            text_append(&all, "%s|", row.field[k]);
        if (of[i].field)
            assert_string_equal(all.data, of[i].field);
    }
    assert_string_equal(err.text, "a line break outside of quotes");
    assert_int_equal(csv_split("x,\"y", 4, &row, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "broken quoting in field 2");
    assert_int_equal(csv_split("x\0y", 3, &row, &err), DSE_BAD_INPUT);
    csv_row_free(&row);
    text_free(&all);
}

static void test_lines_of_a_list_are_those_that_say_something(void **state)
{
    static const char text[] = "a,b\r\r\n\n \t\r\n# c\n  # d\n e\nlast";
    static const struct {
        const char *line;
        int number;
    } expected[] = {{"a,b", 1}, {" e", 6}, {"last", 7}};
    const char *at = text, *end = text + strlen(text), *line;
    size_t length, n = 0;
    int number = 0;
    (void)state;
    for (; (line = csv_next_line(&at, end, &number, &length)) != NULL; n++) {
        assert_true(n < sizeof expected / sizeof expected[0]);
        assert_int_equal(number, expected[n].number);
        assert_int_equal(length, strlen(expected[n].line));
        assert_memory_equal(line, expected[n].line, length);
    }
    assert_int_equal(n, 3);
}

/* What is read of a line makes the same line again. */
static void test_csv_point_read_is_the_other_way_round(void **state)
{
    (void)state;
    struct result_schema schema = sample_schema;
    struct point_record point, read;
    struct layer_record layer[SAMPLE_LAYER], one;
    struct level_values level[SAMPLE_LEVEL];
    struct text_buffer line, again;
    struct csv_row split;
    uint32_t index[3];
    sample_extra(&schema);
    schema.schedules = true;
    text_init(&line);
    text_init(&again);
    csv_row_init(&split);
    for (unsigned cell = 0; cell < SAMPLE_CELL; cell++) {
        size_t n = sample_point(cell, &point, layer, index, level);
        point.extra[0].u64 = cell % 3 ? cell : METRIC_U64_MISSING;
        point.exchanged_from = cell % 2 ? "a=1 b=2" : NULL;
        text_clear(&line);
        csv_point_line(&line, &schema, &point);
        assert_int_equal(csv_split(line.data, line.length - 1, &split, NULL), DSE_OK);
        assert_true(csv_point_read(&schema, &split, &read));
        assert_false(csv_layer_read(&schema, &split, &one));
        read.index = index;
        read.key = point.key;
        read.level = point.level;
        text_clear(&again);
        csv_point_line(&again, &schema, &read);
        assert_string_equal(again.data, line.data);
        for (size_t l = 0; l < n; l++) {
            layer[l].extra[1].f64 = 0.1 * (double)l;
            text_clear(&line);
            csv_layer_line(&line, &schema, &point, &layer[l]);
            assert_int_equal(csv_split(line.data, line.length - 1, &split, NULL), DSE_OK);
            assert_true(csv_layer_read(&schema, &split, &one));
            one.level = level;
            text_clear(&again);
            csv_layer_line(&again, &schema, &point, &one);
            assert_string_equal(again.data, line.data);
        }
    }
    csv_row_free(&split);
    text_free(&line);
    text_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_add_text_quotes_as_libcsv_does),
        cmocka_unit_test(test_csv_split_reads_fields),
        cmocka_unit_test(test_lines_of_a_list_are_those_that_say_something),
        cmocka_unit_test(test_csv_point_read_is_the_other_way_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
