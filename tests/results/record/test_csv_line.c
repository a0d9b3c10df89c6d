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
    if (length == 0 || (!strpbrk(text, ",\"\r\n") && text[0] != ' ' && text[length - 1] != ' ')) {
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
    static const char letter[] = "ab ,\"\n\r{}:=";
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_add_text_quotes_as_libcsv_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
