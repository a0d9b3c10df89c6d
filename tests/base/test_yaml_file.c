/* Reading a file: missing, a folder, not readable, binary, empty, too large. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "base/yaml_tree.h"

/* A new file with these bytes; its path goes to `path` (a mkstemp template). */
static void write_file(char *path, const void *bytes, size_t length)
{
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, length), (ssize_t)length);
    close(file);
}

static void expect_bytes(const void *bytes, size_t length, enum dse_status status, int line, const char *text)
{
    char path[] = "/tmp/test_yaml_file_XXXXXX";
    struct yaml_doc doc;
    struct dse_error err;
    write_file(path, bytes, length);
    assert_int_equal(yaml_read(&doc, path, &err), status);
    assert_int_equal(err.line, line);
    assert_string_equal(err.file, path);
    assert_non_null(strstr(err.text, text));
    unlink(path);
}

static void test_yaml_file_is_read(void **state)
{
    (void)state;
    char path[] = "/tmp/test_yaml_file_XXXXXX";
    struct yaml_doc doc;
    struct dse_error err;
    static const char text[] = "\xEF\xBB\xBF# with a byte order mark\r\na: 1\r\nb: [2, 3]\r\n";
    write_file(path, text, sizeof text - 1);
    assert_int_equal(yaml_read(&doc, path, &err), DSE_OK);
    assert_string_equal(doc.path, path);
    assert_int_equal(doc.root->n_item, 2);
    assert_int_equal(yaml_find(doc.root, "b")->line, 3);
    yaml_doc_free(&doc);
    yaml_doc_free(&doc);
    unlink(path);
}

static void test_yaml_file_missing_or_directory_is_io(void **state)
{
    (void)state;
    struct yaml_doc doc;
    struct dse_error err;
    assert_int_equal(yaml_read(&doc, "/nonexistent/x.yaml", &err), DSE_IO);
    assert_string_equal(err.text, "cannot read: No such file or directory");
    assert_int_equal(yaml_read(&doc, "/tmp", &err), DSE_IO);
    assert_string_equal(err.text, "cannot read: it is a directory, not a file");
    assert_int_equal(yaml_read(&doc, "", &err), DSE_IO);
    assert_int_equal(yaml_read(&doc, "/tmp", NULL), DSE_IO);
}

static void test_yaml_file_without_permission_is_io(void **state)
{
    (void)state;
    char path[] = "/tmp/test_yaml_file_XXXXXX";
    struct yaml_doc doc;
    struct dse_error err;
    if (geteuid() == 0)
        skip(); /* root may read anything */
    write_file(path, "a: 1\n", 5);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(yaml_read(&doc, path, &err), DSE_IO);
    unlink(path);
}

static void test_yaml_file_binary_is_named_so(void **state)
{
    (void)state;
    expect_bytes("a: 1\nb: \x00\x01", 10, DSE_BAD_INPUT, 2, "a binary file");
    expect_bytes("\x7f"
                 "ELF\x02\x01",
                 6, DSE_BAD_INPUT, 1, "a binary file");
    expect_bytes("\x89HDF\r\n\x1a\n", 8, DSE_BAD_INPUT, 2, "a binary file");
    expect_bytes("\xff\xfe"
                 "a\0:\0",
                 6, DSE_BAD_INPUT, 1, "UTF-16");
    expect_bytes("a: 1\nb: \xE9t\xE9\n", 12, DSE_BAD_INPUT, 2, "save it as UTF-8");
}

static void test_yaml_file_empty_is_an_error(void **state)
{
    (void)state;
    expect_bytes("", 0, DSE_BAD_INPUT, 0, "the file is empty");
    expect_bytes("# only a comment\n", 17, DSE_BAD_INPUT, 0, "the file is empty");
    expect_bytes("---\n", 4, DSE_BAD_INPUT, 0, "the file is empty");
}

static void test_yaml_file_too_large_is_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/test_yaml_file_XXXXXX";
    struct yaml_doc doc;
    struct dse_error err;
    write_file(path, "a: 1\n", 5);
    assert_int_equal(truncate(path, YAML_FILE_MAX_BYTE + 1), 0); /* sparse: no disk */
    assert_int_equal(yaml_read(&doc, path, &err), DSE_LIMIT);
    assert_string_equal(err.text, "larger than 64 MiB, the most that is read");
    unlink(path);
    assert_int_equal(yaml_read(&doc, "/dev/zero", &err), DSE_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml_file_is_read),
        cmocka_unit_test(test_yaml_file_missing_or_directory_is_io),
        cmocka_unit_test(test_yaml_file_without_permission_is_io),
        cmocka_unit_test(test_yaml_file_binary_is_named_so),
        cmocka_unit_test(test_yaml_file_empty_is_an_error),
        cmocka_unit_test(test_yaml_file_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
