/* A machine made from a template is the one that reading the file anew gives, message for message.
 * Tests: architecture_read.c. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/readers/readers.h"

/* Good and bad ones, of native and Timeloop files; what a file does not have is an error with the nearest
 * path. */
static const struct arch_override CHANGE[] = {
    {"GlobalBuffer.capacity", "128 KiB"},
    {"GlobalBuffer.capacity", "48 word"},
    {"GlobalBuffer.capacity", "0.001 KiB"},
    {"GlobalBuffer.capacity", "64 K"},
    {"GlobalBuffer.capacity", "unlimited"},
    {"GlobalBuffer.multiple_buffering", "2"},
    {"GlobalBuffer.multiple_buffering", "99"},
    {"GlobalBuffer.multiple_buffering", "two"},
    {"DRAM.bandwidth", "5 GB/s"},
    {"DRAM.bandwidth", "0.75 word/cycle"},
    {"DRAM.bandwidth", "0 GB/s"},
    {"DRAM.bandwidth", "5 GB"},
    {"DRAM.bandwidth", "1e30 GB/s"},
    {"DRAM.read_bandwidth", "4 GB/s"},
    {"DRAM.access_energy", "-1 pJ"},
    {"DRAM.word", "12.5 bit"},
    {"PE.mesh", "2x2"},
    {"PE.mesh", "4 x 3"},
    {"PE.mesh", "0x3"},
    {"PE.mesh", "1048576x1048576"},
    {"PE.hop_energy", "0.125 pJ"},
    {"clock", "1.25 GHz"},
    {"clock", "0 Hz"},
    {"clok", "1 GHz"},
    {"link_transfers", "on"},
    {"link_transfers", "perhaps"},
    {"architecture", "other"},
    {"GlobalBuffer.keeps", "[Weights, Inputs]"},
    {"GlobalBuffer.keeps", "Weights, Weights"},
    {"gpu.threads_per_block", "64"},
    {"gpu.thread_dims", "[64, 8]"},
    {"noc.mesh", "3x3"},
    {"nosuch.capacity", "1 KiB"},
    {"GlobalBuffer.depth", "2048"},
    {"GlobalBuffer.sizeKB", "64"},
    {"PE.count", "8"},
    {"DRAM.width", "sixty"},
    {"", ""},
};
enum { N_CHANGE = sizeof CHANGE / sizeof CHANGE[0], N_PATTERN = 2 };

/* A machine put together by the template is the one read anew, and so is the message; both again after a
 * failure. */
static void check_build(const struct yaml_doc *doc, const struct architecture_template *template,
                        const struct arch_override *override, size_t n_override)
{
    struct architecture quick, plain;
    struct dse_error quick_err, plain_err;
    memset(&quick, 0, sizeof quick);
    memset(&plain, 0, sizeof plain);
    memset(&quick_err, 0, sizeof quick_err);
    memset(&plain_err, 0, sizeof plain_err);
    enum dse_status status = architecture_build(doc, override, n_override, &plain, &plain_err);
    assert_int_equal(architecture_template_build(template, override, n_override, &quick, &quick_err), status);
    assert_string_equal(quick_err.text, plain_err.text);
    assert_string_equal(quick_err.file, plain_err.file);
    assert_int_equal(quick_err.line, plain_err.line);
    if (status == DSE_OK)
        assert_memory_equal(&quick, &plain, sizeof quick);
}

static void check_file(const char *path, size_t *n_machine)
{
    struct yaml_doc doc;
    struct architecture_template *template;
    struct architecture arch;
    struct dse_error template_err, plain_err;
    if (yaml_read(&doc, path, NULL) != DSE_OK)
        return;
    memset(&template_err, 0, sizeof template_err);
    memset(&plain_err, 0, sizeof plain_err);
    enum dse_status status = architecture_template_new(&doc, &template, &template_err);
    if (status != DSE_OK) {
        assert_null(template);
        assert_int_equal(architecture_build(&doc, NULL, 0, &arch, &plain_err), status);
        assert_string_equal(template_err.text, plain_err.text);
        assert_int_equal(template_err.line, plain_err.line);
        yaml_doc_free(&doc);
        return;
    }
    check_build(&doc, template, NULL, 0);
    for (size_t i = 0; i < N_CHANGE; i++) {
        check_build(&doc, template, &CHANGE[i], 1);
        struct arch_override three[] = {CHANGE[i], CHANGE[(i * 7 + 3) % N_CHANGE],
                                        CHANGE[(i * 5 + 1) % N_CHANGE]};
        check_build(&doc, template, three, 3);
    }
    check_build(&doc, template, CHANGE, N_CHANGE);
    check_build(&doc, template, NULL, 0);
    *n_machine += 1;
    architecture_template_free(template);
    yaml_doc_free(&doc);
}

static void test_template_builds_what_reading_anew_does(void **state)
{
    (void)state;
    static const char *const pattern[N_PATTERN] = {"experiments/architectures/*.yaml",
                                                   "tests/known/timeloop/archs/*.yaml"};
    size_t n_machine = 0;
    for (size_t p = 0; p < N_PATTERN; p++) {
        glob_t found;
        if (glob(pattern[p], 0, NULL, &found) != 0)
            continue;
        for (size_t i = 0; i < found.gl_pathc; i++)
            check_file(found.gl_pathv[i], &n_machine);
        globfree(&found);
    }
    assert_true(n_machine >= 13); /* the files of experiments/architectures */
}

/* Many entries replaced, some twice: the later one wins. */
static void test_template_takes_the_last_of_two_values(void **state)
{
    (void)state;
    static const struct arch_override override[] = {{"clock", "2 GHz"},
                                                    {"GlobalBuffer.capacity", "1 KiB"},
                                                    {"PE.mesh", "2x2"},
                                                    {"GlobalBuffer.capacity", "96 KiB"},
                                                    {"clock", "0.5 GHz"}};
    struct yaml_doc doc;
    struct architecture_template *template;
    struct architecture arch;
    assert_int_equal(yaml_read(&doc, "experiments/architectures/simba.yaml", NULL), DSE_OK);
    assert_int_equal(architecture_template_new(&doc, &template, NULL), DSE_OK);
    assert_int_equal(architecture_template_build(template, override, 5, &arch, NULL), DSE_OK);
    int buffer = architecture_find_level(&arch, "GlobalBuffer");
    assert_true(arch.clock_hz == 0.5e9);
    assert_int_equal(arch.level[buffer].size_word * arch.level[buffer].word_bit, 96 * 1024 * 8);
    assert_int_equal(architecture_template_build(template, NULL, 0, &arch, NULL), DSE_OK);
    assert_true(arch.clock_hz != 0.5e9);
    architecture_template_free(template);
    yaml_doc_free(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_template_builds_what_reading_anew_does),
        cmocka_unit_test(test_template_takes_the_last_of_two_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
