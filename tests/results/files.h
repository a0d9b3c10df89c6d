/* Temporary files for the tests of results/. */
#ifndef TESTS_RESULTS_FILES_H
#define TESTS_RESULTS_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* A folder of this test's own. */
static inline void files_folder(char *folder, size_t size)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, size, "%s/dse-results-XXXXXX", base && base[0] ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
}

static inline char *files_path(char *path, size_t size, const char *folder, const char *name)
{
    assert_true((size_t)snprintf(path, size, "%s/%s", folder, name) < size);
    return path;
}

/* The whole file, terminated; owned by the caller. */
static inline char *files_read(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long n = ftell(file);
    assert_true(n >= 0);
    rewind(file);
    char *bytes = malloc((size_t)n + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)n, file), n);
    bytes[n] = '\0';
    fclose(file);
    if (length)
        *length = (size_t)n;
    return bytes;
}

static inline void files_write(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

#endif
