/* Fields are quoted as libcsv quotes them.
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_add_text_quotes_as_libcsv_does),
        cmocka_unit_test(test_csv_split_reads_fields),
        cmocka_unit_test(test_lines_of_a_list_are_those_that_say_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
