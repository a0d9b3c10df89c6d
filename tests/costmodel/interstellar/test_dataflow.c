/* Names of dataflows by hand: Table 1 of the paper, and keys as its authors' program has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "costmodel/interstellar/dataflow.h"
#include "tests/engines/small_cases.h"

/* Loops (problem letters, near ones first) of a side each, "" for none, on the array below level 1. */
static void check(const char *x, const char *y, const char *name, const char *key)
{
    static const uint32_t bound[7] = {3, 3, 4, 4, 4, 4, 4};
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct text_buffer text;
    struct mapping_level *level = &mapping.level[1];
    uint32_t n = 0, used = 0;
    random_case_conv(&problem, "layer", bound, "N C P+R Q+S");
    small_machine(&arch, 8, 64);
    mapping_init(&mapping, &problem, &arch);
    for (const char *sides[2] = {x, y}, **side = sides; side < sides + 2; side++) {
        level->split = (uint8_t)(side == sides ? level->split : n);
        for (const char *c = *side; *c; c++) {
            const char letter[2] = {*c, '\0'};
            const int d = problem_find_dim(&problem, letter);
            level->spatial_order[n++] = (uint8_t)d;
            level->spatial[d] = 2;
            used |= 1u << d;
        }
    }
    for (uint32_t d = 0; d < problem.n_dim; d++)
        if (!(used >> d & 1))
            level->spatial_order[n++] = (uint8_t)d;
    text_init(&text);
    dataflow_name(&mapping, &problem, &arch, &text);
    text_append(&text, "%s", "");
    assert_string_equal(text.data, name);
    text_clear(&text);
    dataflow_key(&mapping, &problem, &arch, &text);
    text_append(&text, "%s", "");
    assert_string_equal(text.data, key);
    text_free(&text);
}

/* Output stationary X|Y, weight stationary FX|FY and C|K, row stationary FY|Y; replication C|KX. */
static void test_names_of_the_paper(void **state)
{
    (void)state;
    check("Q", "P", "X|Y", "(2)(3)");
    check("S", "R", "FX|FY", "(0)(1)");
    check("R", "P", "FY|Y", "(1)(3)");
    check("C", "K", "C|K", "(5)(4)");
    check("C", "KQ", "C|KX", "(5)(42)");
    check("CP", "KN", "CY|KB", "(53)(46)");
    check("K", "", "K", "(4)");
    check("", "", "", "");
}

/* A matrix product has its own names, and numbers behind the seven. */
static void test_other_problems_have_their_own(void **state)
{
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct text_buffer text;
    (void)state;
    small_gemm(&problem, 4, 4, 4);
    small_machine(&arch, 8, 64);
    mapping_init(&mapping, &problem, &arch);
    mapping.level[1].spatial[0] = mapping.level[1].spatial[2] = 2;
    mapping.level[1].split = 1;
    text_init(&text);
    dataflow_name(&mapping, &problem, &arch, &text);
    assert_string_equal(text.data, "M|K");
    text_clear(&text);
    dataflow_key(&mapping, &problem, &arch, &text);
    assert_string_equal(text.data, "(7)(9)");
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_the_paper),
        cmocka_unit_test(test_other_problems_have_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
