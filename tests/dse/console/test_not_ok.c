/* The place of a point as people write it. Expected texts are read off the schema below by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dse/console/not_ok.h"

static const double byte[] = {1, 65536}, rate[] = {1e10, 2e10}, batch[] = {1, 16};
static const char *const byte_label[] = {"1 B", "64 KiB"}, *const rate_label[] = {"10 GB/s", "20 GB/s"};
static const char *const batch_label[] = {"1", "16"}, *const word[] = {"a", "a b"};
static const struct result_coordinate coordinate[] = {
    {"RF.capacity_byte", "byte", "RF capacity", byte, NULL, byte_label},
    {"DRAM.bandwidth_byte_per_s", "byte/s", "DRAM bandwidth", rate, NULL, rate_label},
    {"batch", "1", "batch", batch, NULL, batch_label},
    {"option.word", "", "option word", NULL, word, word},
};
static const struct result_axis axis[] = {{2, 2, coordinate}, {2, 1, coordinate + 2}, {2, 1, coordinate + 3}};
static const struct result_schema schema = {.n_axis = 3, .axis = axis};

static void test_not_ok_place_has_units_and_no_columns(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"RF.capacity_byte=1 DRAM.bandwidth_byte_per_s=20000000000 batch=16 option.word=a b",
         "RF.capacity=1 B DRAM.bandwidth=20 GB/s batch=16 option.word=a b"},
        {"RF.capacity_byte=65536 DRAM.bandwidth_byte_per_s=10000000000 batch=1 option.word=a",
         "RF.capacity=64 KiB DRAM.bandwidth=10 GB/s batch=1 option.word=a"},
        /* a value that is no longer on the axis, a column less, nothing: as it is */
        {"RF.capacity_byte=3 DRAM.bandwidth_byte_per_s=10000000000 batch=1 option.word=a",
         "RF.capacity_byte=3 DRAM.bandwidth_byte_per_s=10000000000 batch=1 option.word=a"},
        {"RF.capacity_byte=1", "RF.capacity_byte=1"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct text_buffer text;
        text_init(&text);
        not_ok_place(&schema, rows[i][0], &text);
        assert_string_equal(text.data, rows[i][1]);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_ok_place_has_units_and_no_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
