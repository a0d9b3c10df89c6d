/* Texts of mappings: each has what `dse map` and `dse eval` make an option of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/mapping_text.h"
#include "tests/support/random_case.h"

static void test_texts_have_names_of_their_own_and_write(void **state)
{
    (void)state;
    size_t n;
    const struct mapping_text *const *text = mapping_text_all(&n);
    const struct random_case_options options = {0};
    struct random_stream stream = random_stream_make(1, 0, 0);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++) {
        struct problem problem;
        struct architecture arch;
        struct mapping mapping;
        struct text_buffer out;
        struct dse_error err;
        const uint32_t bound[] = {3, 3, 4, 4, 2, 2, 2};
        random_case_conv(&problem, "conv", bound, "N C P+R Q+S");
        random_case_architecture(&stream, &options, &arch);
        random_case_gpu(&stream, &arch);
        random_case_mapping(&stream, &problem, &arch, false, &mapping);
        text_init(&out);
        assert_true(strlen(text[i]->sentence) > 10);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(text[i]->name, text[k]->name);
        assert_true(!text[i]->csv_row == !text[i]->csv_header);
        if (!text[i]->accepts || text[i]->accepts(&problem, &arch, &err) == DSE_OK) {
            text[i]->write(&mapping, &problem, &arch, &out);
            assert_true(out.length > 10 && out.data[out.length - 1] == '\n');
        }
        text_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts_have_names_of_their_own_and_write)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
