/* ONNX files as bytes: what is kept of them, cut off at every byte, damaged at every byte, weights that
 * nobody looks at, and memory. Models are those of tests/known/onnx (make_small.py there); the large one
 * is written here, field by field (https://protobuf.dev/programming-guides/encoding).
 * Tests: onnx_file.c, onnx_strip.c, onnx_model.c, onnx_node.c. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/text.h"
#include "costmodel/onnx/onnx.h"

static const char *const model_file[] = {"qdq",   "free", "lstm",     "values",
                                         "names", "if",   "external", "native"};
enum { N_MODEL = sizeof model_file / sizeof model_file[0] };

static size_t read_file(const char *path, uint8_t **bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const size_t n = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(n + 1);
    assert_non_null(*bytes);
    assert_int_equal(fread(*bytes, 1, n, file), n);
    fclose(file);
    return n;
}

/* The whole way from bytes to a network, or one message. */
static enum dse_status convert(const uint8_t *bytes, size_t n, struct dse_error *err)
{
    static const struct network_set set[] = {{"seq_len", "6", NULL, 0, false}};
    const struct network_settings settings = {set, 1, true};
    const struct onnx_options options = {.settings = &settings};
    struct text_buffer packed, out;
    text_init(&packed);
    text_init(&out);
    enum dse_status status = onnx_pack("test.onnx", bytes, n, &packed, err);
    if (status == DSE_OK)
        status = onnx_network_text("test.onnx", packed.data, packed.length, &options, &out, err);
    if (status == DSE_OK) {
        const struct network_files files = {.settings = settings};
        struct network network;
        status = network_parse_with("test.onnx", out.data, out.length, &files, &network, err);
        if (status == DSE_OK)
            network_free(&network);
    }
    text_free(&packed);
    text_free(&out);
    return status;
}

static void fine_or_one_message(const uint8_t *bytes, size_t n)
{
    struct dse_error err = {0};
    const enum dse_status status = convert(bytes, n, &err);
    assert_true(status == DSE_OK || status == DSE_BAD_INPUT || status == DSE_LIMIT);
    assert_true(status == DSE_OK || err.text[0] != '\0');
}

static void test_a_file_that_is_cut_off_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t m = 0; m < N_MODEL; m++) {
        char path[256];
        uint8_t *bytes;
        struct dse_error err;
        snprintf(path, sizeof path, "tests/known/onnx/small/%s.onnx", model_file[m]);
        const size_t n = read_file(path, &bytes);
        for (size_t k = 0; k<n; k += n> 2000 && k > 200 && k + 400 < n ? 37 : 1) {
            uint8_t *cut = malloc(k + 1); /* so that reading behind it is seen */
            assert_non_null(cut);
            memcpy(cut, bytes, k);
            assert_int_not_equal(convert(cut, k, &err), DSE_OK);
            assert_true(err.text[0] != '\0');
            free(cut);
        }
        free(bytes);
    }
}

static void test_damage_gives_a_network_or_one_message(void **state)
{
    static const uint8_t mask[] = {0x01, 0x80, 0xff, 0x08, 0x12};
    (void)state;
    for (size_t m = 0; m < N_MODEL; m++) {
        char path[256];
        uint8_t *bytes;
        snprintf(path, sizeof path, "tests/known/onnx/small/%s.onnx", model_file[m]);
        const size_t n = read_file(path, &bytes);
        for (size_t k = 0; k<n; k += n> 2000 ? 5 : 1) {
            bytes[k] ^= mask[k % sizeof mask];
            fine_or_one_message(bytes, n);
            bytes[k] ^= mask[k % sizeof mask];
        }
        free(bytes);
    }
}

/* ---- a model with 64 MiB of weights ---- */

static size_t varint(uint8_t *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        to[n++] = (uint8_t)(value | 128);
    to[n++] = (uint8_t)value;
    return n;
}

/* Field `number` of `n` bytes; the bytes themselves where they are given. */
static size_t field(uint8_t *to, uint32_t number, const void *bytes, size_t n)
{
    size_t at = varint(to, number << 3 | 2);
    at += varint(to + at, n);
    if (bytes) {
        memcpy(to + at, bytes, n);
        at += n;
    }
    return at;
}

static size_t dims_of(uint8_t *to, uint64_t rows, uint64_t columns)
{
    size_t n = varint(to, 1 << 3);
    n += varint(to + n, rows);
    n += varint(to + n, 1 << 3);
    return n + varint(to + n, columns);
}

enum { ROWS = 4096, COLUMNS = 4096, WEIGHT_BYTE = 4 * ROWS * COLUMNS };

/* x (1, ROWS) times w (ROWS, COLUMNS): head of the file up to the weights, and what comes behind them. */
static size_t large_model(uint8_t *head, uint8_t *tail, size_t *n_tail)
{
    static const uint8_t node[] = {10, 1, 'x', 10, 1, 'w', 18, 1, 'y', 34, 6, 'M', 'a', 't', 'M', 'u', 'l'};
    static const uint8_t shape[] = {10, 2, 8, 1, 10, 3, 8, 0x80, 0x20}; /* 1, 4096 */
    static const uint8_t set[] = {10, 0, 16, 13};
    uint8_t type[64], info[96], tensor[64], graph[256];
    size_t n = 0, n_type = varint(type, 1 << 3), n_info, n_graph;
    type[n_type++] = 1;
    n_type += field(type + n_type, 2, shape, sizeof shape);
    uint8_t whole[80];
    const size_t n_whole = field(whole, 1, type, n_type);
    n_info = field(info, 1, "x", 1);
    n_info += field(info + n_info, 2, whole, n_whole);
    size_t n_tensor = dims_of(tensor, ROWS, COLUMNS);
    n_tensor += varint(tensor + n_tensor, 2 << 3);
    tensor[n_tensor++] = 1;
    n_tensor += field(tensor + n_tensor, 8, "w", 1);
    n_tensor += field(tensor + n_tensor, 9, NULL, WEIGHT_BYTE);
    n_graph = field(graph, 1, node, sizeof node);
    n_graph += field(graph + n_graph, 11, info, n_info);
    n_graph += field(graph + n_graph, 5, NULL, n_tensor + WEIGHT_BYTE);
    memcpy(graph + n_graph, tensor, n_tensor);
    n_graph += n_tensor;
    *n_tail = field(tail, 8, set, sizeof set);
    n = field(head, 7, NULL, n_graph + WEIGHT_BYTE);
    memcpy(head + n, graph, n_graph);
    return n + n_graph;
}

static void test_weights_are_not_read(void **state)
{
    char path[] = "/tmp/dse_test_large_XXXXXX.onnx";
    uint8_t head[512], tail[64];
    size_t n_tail, length;
    char *text;
    struct rusage before, after;
    struct dse_error err;
    struct network network;
    (void)state;
    const size_t n_head = large_model(head, tail, &n_tail);
    const int file = mkstemps(path, 5);
    assert_true(file >= 0);
    assert_int_equal(write(file, head, n_head), n_head);
    assert_int_equal(ftruncate(file, (off_t)(n_head + WEIGHT_BYTE)), 0); /* a hole: zeros */
    assert_int_equal(lseek(file, 0, SEEK_END), n_head + WEIGHT_BYTE);
    assert_int_equal(write(file, tail, n_tail), n_tail);
    close(file);
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(onnx_load(path, &text, &length, &err), DSE_OK);
    assert_true(length < 1000);
    free(text);
    assert_int_equal(network_read(path, &network, &err), DSE_OK);
    getrusage(RUSAGE_SELF, &after);
    assert_int_equal(network_macs(&network, 1), (uint64_t)ROWS * COLUMNS);
    network_free(&network);
    /* nothing near the size of the file came into memory; 1 MiB for the allocator's own steps */
    assert_true(after.ru_maxrss - before.ru_maxrss < 16 * 1024);
    unlink(path);
}

static void expect_error(const char *path, enum dse_status wanted, const char *words)
{
    struct dse_error err;
    char *text;
    size_t length;
    assert_int_equal(onnx_load(path, &text, &length, &err), wanted);
    assert_non_null(strstr(err.text, words));
}

static void test_what_is_no_model_is_said(void **state)
{
    char path[] = "/tmp/dse_test_empty_XXXXXX.onnx";
    const char *const text = "network: tiny\n";
    struct dse_error err;
    (void)state;
    expect_error("/no/such/file.onnx", DSE_IO, "cannot be opened");
    expect_error("/tmp", DSE_IO, "no plain file");
    const int file = mkstemps(path, 5);
    assert_true(file >= 0);
    expect_error(path, DSE_BAD_INPUT, "empty");
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    expect_error(path, DSE_BAD_INPUT, "no ONNX model");
    unlink(path);
    assert_int_equal(convert((const uint8_t *)"\x08\x08", 2, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "no graph"));
}

/* The text is base64 in quotes; damage to it is found. */
static void test_a_damaged_text_is_refused(void **state)
{
    static const char *const bad[] = {"onnx: \"", "onnx: \"CA", "onnx: \"CA*=\"\n",
                                      "onnx: \"=====", "onnx: \"\"\n"};
    const struct onnx_options options = {.settings = NULL};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct text_buffer out;
        struct dse_error err;
        text_init(&out);
        assert_true(onnx_is_text(bad[i], strlen(bad[i])));
        assert_int_equal(onnx_network_text("t", bad[i], strlen(bad[i]), &options, &out, &err), DSE_BAD_INPUT);
        text_free(&out);
    }
    assert_false(onnx_is_text("onnx:", 5));
    assert_true(onnx_is_path("a/b.onnx"));
    assert_false(onnx_is_path(".onnx"));
    assert_false(onnx_is_path("b.onnx.yaml"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_that_is_cut_off_anywhere_is_refused),
        cmocka_unit_test(test_damage_gives_a_network_or_one_message),
        cmocka_unit_test(test_weights_are_not_read),
        cmocka_unit_test(test_what_is_no_model_is_said),
        cmocka_unit_test(test_a_damaged_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
