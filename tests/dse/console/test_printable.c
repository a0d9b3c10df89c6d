/* No control character survives, every other character does, also when it comes byte by byte. The code points
 * are those of ECMA-48 (C0, DEL, C1); the bytes are UTF-8 (RFC 3629). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "dse/console/printable.h"

static const struct {
    const char *text, *wanted;
} row[] = {
    {"plain\ttext\n", "plain\ttext\n"},
    {"\x1b[31mred\x1b[0m", "?[31mred?[0m"},
    {"a\rb\bc\x7f", "a?b?c?"},
    {"\xc2\x9b"
     "31m \xc2\xa0 \xc2\xb5s",
     "??31m \xc2\xa0 \xc2\xb5s"}, /* C1 CSI; no-break space and micro stay */
    {"\x9b"
     "31m\x85",
     "?31m?"}, /* the same as raw bytes */
    {"\xe2\x82\xac \xf0\x9f\x9a\x80",
     "\xe2\x82\xac \xf0\x9f\x9a\x80"},       /* euro, rocket: their bytes 82, 9f, 9a stay */
    {"\xe0\x82\x9b\xc0\x9b", "\xe0??\xc0?"}, /* overlong forms of C1 */
    {"caf\xe9 \xe2\x82", "caf\xe9 "},        /* Latin-1; a character that is cut waits */
};

static void test_printable_clean(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", row[i].text);
        size_t n = printable_clean(text, strlen(text));
        assert_int_equal(n, strlen(row[i].wanted));
        assert_memory_equal(text, row[i].wanted, n);
    }
}

static void test_printable_stream_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char read_back[64] = "";
        FILE *file = tmpfile();
        assert_non_null(file);
        struct printable memory;
        FILE *stream = printable_stream(&memory, file, 1);
        assert_ptr_not_equal(stream, file);
        for (const char *c = row[i].text; *c; c++) {
            assert_int_equal(putc(*c, stream), (unsigned char)*c);
            assert_int_equal(fflush(stream), 0);
        }
        assert_int_equal(pread(fileno(file), read_back, sizeof read_back - 1, 0), strlen(row[i].wanted));
        assert_string_equal(read_back, row[i].wanted);
        fclose(stream);
        fclose(file);
    }
}

static void test_printable_stream_tells_what_fails(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    struct printable memory;
    FILE *stream = printable_stream(&memory, full, 0);
    fputs("lost", stream);
    assert_int_not_equal(fflush(stream), 0);
    fclose(stream);
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printable_clean),
        cmocka_unit_test(test_printable_stream_in_pieces),
        cmocka_unit_test(test_printable_stream_tells_what_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
