/* Tests: points.c, points_report.c. The notation of one line: what is read, which message a mistake gets,
 * which files are such lines; and the columns of its reports. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/report.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/interstellar/accounting_interstellar.h"
#include "costmodel/interstellar/points.h"
#include "tests/support/interstellar_case.h"

static const uint32_t conv3[8] = {16, 384, 256, 13, 13, 3, 3, 1};

#define REST " / [OC:2 FX:3 OX:13] / [OC:6 FY:3 ON:16 IC:2]"

struct fixture {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct dse_error err;
};

static enum dse_status read_line(struct fixture *f, const char *text)
{
    interstellar_layer(conv3, &f->problem);
    interstellar_machine("eyeriss512", &f->arch);
    return points_read_line(text, strlen(text), "p.txt", 7, &f->problem, &f->arch, &f->mapping, &f->err);
}

static void assert_wrong(const char *text, const char *message)
{
    struct fixture f;
    char shown[1200];
    assert_int_equal(read_line(&f, text), DSE_BAD_INPUT);
    assert_string_equal(dse_error_print(&f.err, shown, sizeof shown), message);
}

static void test_mistakes_are_named_with_their_column(void **state)
{
    (void)state;
    assert_wrong("IC:8", "p.txt:7: column 1: the bracket of level 0 is expected: [ and its loops; eyeriss512 "
                         "has 3 levels");
    assert_wrong("[IC:8 QQ:2]" REST,
                 "p.txt:7: column 7: layer has no loop QQ; loops are FX FY OX OY OC IC ON "
                 "of a convolution, or dimensions by their names");
    assert_wrong("[IC:8 IC:2]" REST, "p.txt:7: column 7: IC is here a second time");
    assert_wrong("[IC:8 C:2]" REST, "p.txt:7: column 7: C is here a second time");
    assert_wrong("[IC 8]" REST, "p.txt:7: column 5: \":\" and the iterations of IC are expected");
    assert_wrong("[IC:0]" REST,
                 "p.txt:7: column 5: IC wants a whole number of iterations from 1 to 4294967295");
    assert_wrong("[IC:99999999999999999999]" REST,
                 "p.txt:7: column 5: IC wants a whole number of iterations from 1 to 4294967295");
    assert_wrong("[IC:8x]" REST,
                 "p.txt:7: column 5: IC wants a whole number of iterations from 1 to 4294967295");
    assert_wrong("[IC:8", "p.txt:7: column 6: the bracket of level 0 is not closed");
    assert_wrong("[IC:8,]" REST, "p.txt:7: column 6: a loop such as IC:8 is expected");
    assert_wrong("[IC:8] / [OX:13]", "p.txt:7: column 17: \"/\" and the bracket of level 2 are expected: "
                                     "eyeriss512 has 3 levels");
    assert_wrong("[IC:8]" REST " / []",
                 "p.txt:7: column 53: the line should end here, or go on with \";\" and "
                 "an array; eyeriss512 has 3 levels");
    assert_wrong("[IC:8 -Bias]" REST, "p.txt:7: column 8: layer has no tensor Bias");
    assert_wrong("[]" REST " ; OC:16", "p.txt:7: column 51: an array is expected: L0 to L1, or MAC, and its "
                                       "loops");
    assert_wrong("[]" REST " ; L2 OC:16",
                 "p.txt:7: column 51: an array is expected: L0 to L1, or MAC, and its "
                 "loops");
    assert_wrong("[]" REST " ; L0 OC:16 | OC:2", "p.txt:7: column 62: OC is here a second time");
    assert_wrong("[]" REST " ; L0 OC:16 ||IC:2",
                 "p.txt:7: column 61: this dimension of the array has no loop");
    assert_wrong("[]" REST " ; L0 OC:16 | ", "p.txt:7: column 62: this dimension of the array has no loop");
    assert_wrong("[]" REST " ; L0 OC:4 ; L0 IC:2", "p.txt:7: column 61: this array is here a second time");
}

static void test_what_is_read(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(read_line(&f, "[ C:8 K:1 -Weights]" REST ";L0 | OY:13 X:2 | FY:3\r"), DSE_OK);
    const int c = problem_find_dim(&f.problem, "C"), k = problem_find_dim(&f.problem, "K");
    const int p = problem_find_dim(&f.problem, "P"), r = problem_find_dim(&f.problem, "R");
    assert_int_equal(f.mapping.level[0].temporal[c], 8);
    assert_int_equal(f.mapping.level[0].temporal_order[0], c);
    assert_int_equal(f.mapping.level[0].temporal_order[1], k);
    assert_int_equal(f.mapping.level[0].keep, 7 & ~(1u << problem_find_tensor(&f.problem, "Weights")));
    assert_int_equal(f.mapping.level[1].keep, 7);
    assert_int_equal(f.mapping.level[1].split, 0); /* nothing on X */
    assert_int_equal(f.mapping.level[1].spatial_order[0], p);
    assert_int_equal(f.mapping.level[1].spatial[r], 3);
    assert_int_equal(f.mapping.level[1].further, 1u << 2);
}

static bool is(const char *text)
{
    return points_is(text, strlen(text));
}

static void test_files_of_lines_are_told_from_yaml(void **state)
{
    (void)state;
    assert_true(is("[IC:8] / []"));
    assert_true(is("# a comment\n\n  [ ] / []"));
    assert_false(is("mapping: [{target: DRAM}]"));
    assert_false(is("[{target: DRAM}]"));
    assert_false(is("[ \n {target: DRAM}]"));
    assert_false(is("# only a comment"));
    assert_false(is(""));
    assert_false(is("["));
}

/* The header of each report, and that a row has a cell for each column. */
static void test_reports_have_the_columns_of_the_authors_tables(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "line,fits,energy_no_mac_pJ,energy_array_pJ,mac_energy_pJ,pe_used,pe_total,cycles,",
        "line,level,dataspace,accesses_per_element,accesses,bank_words,tile_words,energy_pJ,",
        "line,array,group,dataspace,hops_per_element,hop_pJ,energy_pJ,"};
    static const size_t n_row[] = {1, 9, 9};
    const struct point_format *format = accounting_interstellar.points;
    struct fixture f;
    struct evaluator *evaluator;
    assert_int_equal(read_line(&f, "[IC:8 OC:2 OY:13]" REST " ; L0 OC:16 | IC:16"), DSE_OK);
    assert_int_equal(evaluator_new(&accounting_interstellar_compat, &f.problem, &f.arch, &evaluator, &f.err),
                     DSE_OK);
    assert_int_equal(format->n_report, 3);
    for (size_t i = 0; i < 3; i++) {
        struct cells rows;
        char header[256] = "";
        for (size_t k = 0; k < format->report[i].n_column; k++) {
            strcat(header, format->report[i].column[k].name);
            strcat(header, ",");
        }
        assert_string_equal(header, expected[i]);
        cells_init(&rows, format->report[i].column, format->report[i].n_column);
        format->report[i].rows(evaluator, &f.mapping, 3, true, &rows);
        assert_int_equal(rows.n_cell, n_row[i] * format->report[i].n_column);
        assert_int_equal(cells_at(&rows, 0)->whole, 3);
        cells_free(&rows);
    }
    evaluator_delete(evaluator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes_are_named_with_their_column),
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_files_of_lines_are_told_from_yaml),
        cmocka_unit_test(test_reports_have_the_columns_of_the_authors_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
