/* Rows of vectors by the contract of vector formats: members, others, what is no vector of the machine; and
 * mappings as text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/mindmappings/mm_format.h"
#include "tests/support/mm_case.h"

/* AlexNet Conv_2, auto-bypass, of tests/known/mindmappings/best_mappings_cnn.csv; orders as dimensions. */
static const double best[] = {8, 96, 256, 5, 5, 27, 27, 2, 1, 1,  1, 1, 9, 1,  1, 1, 1, 1, 1,  1, 1,
                              1, 16, 16,  1, 1, 1,  1,  4, 6, 16, 5, 5, 3, 27, 5, 2, 6, 0, 3,  1, 4,
                              2, 6,  3,   1, 0, 5,  4,  3, 0, 6,  2, 1, 4, 5,  6, 4, 6, 1, 13, 2};

struct opened {
    struct mm_case c;
    void *evaluation;
    const struct cell_column *column;
    size_t n_column;
    struct cells rows;
};

static void open_case(struct opened *o, enum mm_algorithm_id id)
{
    struct dse_error err;
    mm_case_begin(&o->c, id, NULL, 0);
    assert_int_equal(vector_format_mm.accepts(&o->c.arch, &err), DSE_OK);
    assert_int_equal(vector_format_mm.open(&o->c.arch, &o->evaluation, &err), DSE_OK);
    o->n_column = vector_format_mm.columns(o->evaluation, &o->column);
    cells_init(&o->rows, o->column, o->n_column);
}

static void close_case(struct opened *o)
{
    cells_free(&o->rows);
    vector_format_mm.close(o->evaluation);
    mm_case_end(&o->c);
}

/* The cell of a column in the last row. */
static const struct cell *last(const struct opened *o, const char *name)
{
    for (size_t i = 0; i < o->n_column; i++)
        if (strcmp(o->column[i].name, name) == 0)
            return cells_at(&o->rows, o->rows.n_cell - o->n_column + i);
    fail_msg("no column %s", name);
    return NULL;
}

static enum dse_status row(struct opened *o, const double *value, size_t n, size_t mode,
                           struct dse_error *err)
{
    const struct vector_line line = {
        .value = value, .n = n, .mode = mode, .orders = VECTOR_ORDERS_DIMS, .line = 7};
    return vector_format_mm.row(o->evaluation, &line, &o->rows, err);
}

static void test_rows_have_members_and_their_cost(void **state)
{
    (void)state;
    struct opened o;
    struct dse_error err;
    open_case(&o, MM_CNN);
    assert_int_equal(o.n_column, 3 + 12 + 3);
    assert_int_equal(row(&o, best, 62, MM_AUTOBYPASS, &err), DSE_OK);
    assert_int_equal(last(&o, "line")->whole, 7);
    assert_int_equal(last(&o, "member")->whole, 1);
    assert_true(fabs(last(&o, "energy_uJ")->real - 13656.37125) < 1e-5);
    assert_int_equal(last(&o, "cycles")->whole, 13996800);
    assert_true(fabs(last(&o, "edp_norm")->real - 3.31024) < 5e-6);
    assert_true(fabs(last(&o, "PsumRegFile_uJ")->real) < 1e-300); /* bypassed */
    assert_true(last(&o, "DRAM_Weights_uJ")->real > 0);
    close_case(&o);
}

static void test_rows_of_others_say_why_not(void **state)
{
    (void)state;
    struct opened o;
    struct dse_error err;
    double bad[62];
    open_case(&o, MM_CNN);
    assert_int_equal(row(&o, best, 62, MM_MUSTFIT, &err), DSE_OK);
    assert_int_equal(last(&o, "member")->whole, 0);
    assert_string_equal(cells_text_at(&o.rows, last(&o, "reason")),
                        "WeightBuffer needs 614400 words, its 4 banks have 65536");
    assert_int_equal(last(&o, "edp_norm")->kind, CELL_NONE);
    memcpy(bad, best, sizeof bad);
    bad[35] = bad[36]; /* a dimension twice in an order */
    assert_int_equal(row(&o, bad, 62, MM_AUTOBYPASS, &err), DSE_OK);
    assert_int_equal(last(&o, "member")->whole, 0);
    assert_string_equal(cells_text_at(&o.rows, last(&o, "reason")),
                        "the order of the DRAM block is no permutation of 0 to 6");
    close_case(&o);
}

static void test_rows_refuse_what_is_no_vector(void **state)
{
    (void)state;
    struct opened o;
    struct dse_error err;
    double bad[62];
    open_case(&o, MM_CNN);
    assert_int_equal(row(&o, best, 40, 0, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "40 values are a vector of mttkrp, and mindmappings_banks is a machine for "
                                  "cnn, with 62 values");
    assert_int_equal(row(&o, best, 61, 0, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "61 values, a vector of mindmappings_banks (cnn) has 62");
    memcpy(bad, best, sizeof bad);
    bad[1] = 95;
    assert_int_equal(row(&o, bad, 62, 0, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "the factors of C multiply to 96, its size is 95");
    assert_int_equal(o.rows.n_cell, 0);
    close_case(&o);
}

static void test_mappings_are_written_as_vectors(void **state)
{
    (void)state;
    static const double mttkrp[] = {2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1, 1, 1,
                                    0, 1, 2, 3, 3, 1, 2, 0, 0, 1, 2, 3, 4, 4, 4, 4, 13, 1, 1, 1};
    struct mm_case c;
    struct mm_mapping mapping;
    struct mapping nest;
    struct text_buffer out;
    struct dse_error err;
    uint32_t size[MM_DIM_MAX];
    char reason[256], *at;
    mm_case_begin(&c, MM_MTTKRP, NULL, 0);
    assert_true(mm_vector_read(c.machine.algorithm, mttkrp, size, &mapping, reason, sizeof reason));
    const struct mm_space *space = mm_case_space(&c, size, MM_AUTOBYPASS);
    mm_space_decode(space, &mapping, &nest);
    text_init(&out);
    assert_int_equal(vector_format_mm.takes(&c.arch, mm_space_problem(space), &err), DSE_OK);
    assert_int_equal(vector_format_mm.write(&c.arch, mm_space_problem(space), &nest, &out, &err), DSE_OK);
    at = out.data;
    for (int i = 0; i < 32; i++, at++) /* banks beyond what tiles need are dealt out as they come */
        assert_int_equal(strtol(at, &at, 10), (long)mttkrp[i]);
    nest.level[4].temporal[0] = 2;
    nest.level[8].temporal[0] = 1;
    out.length = 0;
    assert_int_equal(vector_format_mm.write(&c.arch, mm_space_problem(space), &nest, &out, &err),
                     DSE_BAD_INPUT);
    assert_string_equal(err.text,
                        "no vector stands for this mapping: it has a loop over I at DBuffer, where a "
                        "vector has none");
    text_free(&out);
    mm_case_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_have_members_and_their_cost),
        cmocka_unit_test(test_rows_of_others_say_why_not),
        cmocka_unit_test(test_rows_refuse_what_is_no_vector),
        cmocka_unit_test(test_mappings_are_written_as_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
