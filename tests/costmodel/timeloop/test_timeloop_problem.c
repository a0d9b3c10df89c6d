/* Timeloop problems: shapes, instances, refusals. Expected sizes are those written in the files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"

static enum dse_status build(const char *text, struct problem *problem, struct dse_error *err)
{
    struct yaml_doc doc;
    enum dse_status status;

    memset(err, 0, sizeof *err);
    status = yaml_parse(&doc, "p.yaml", text, strlen(text), err);
    if (status != DSE_OK)
        return status;
    status = problem_build(&doc, problem, err);
    yaml_doc_free(&doc);
    return status;
}

static void expect_term(const struct problem *problem, const struct projection_term *term, const char *dim,
                        uint32_t coefficient)
{
    assert_string_equal(problem->dim_name[term->dim], dim);
    assert_int_equal(term->coefficient, coefficient);
}

static void test_timeloop_problem_reads_a_convolution(void **state)
{
    struct problem p;
    struct dse_error err;

    (void)state;
    assert_int_equal(problem_read("tests/known/timeloop/problems/asym-3x5-s2x1-d1x2.yaml", &p, &err), DSE_OK);
    /* C: 16, K: 32, R: 3, S: 5, N: 2, P: 24, Q: 36, Wstride: 2, Hstride: 1, Wdilation: 1, Hdilation: 2 */
    assert_string_equal(p.name, "conv");
    assert_int_equal(p.n_dim, 7);
    assert_int_equal(p.bound[problem_find_dim(&p, "Q")], 36);
    assert_int_equal(p.n_tensor, 3);
    assert_string_equal(p.tensor[0].name, "Weights");
    assert_int_equal(p.tensor[0].role, TENSOR_WEIGHT);
    assert_int_equal(p.tensor[1].role, TENSOR_INPUT);
    assert_int_equal(p.tensor[2].role, TENSOR_OUTPUT);
    assert_true(p.tensor[2].read_write && !p.tensor[1].read_write);
    assert_int_equal(p.tensor[1].n_rank, 4);
    assert_int_equal(p.tensor[1].rank[2].n_term, 2);
    expect_term(&p, &p.tensor[1].rank[2].term[0], "R", 1);
    expect_term(&p, &p.tensor[1].rank[2].term[1], "P", 2);
    expect_term(&p, &p.tensor[1].rank[3].term[0], "S", 2);
    expect_term(&p, &p.tensor[1].rank[3].term[1], "Q", 1);
    assert_int_equal(problem_macs(&p), 16ULL * 32 * 3 * 5 * 2 * 24 * 36);
}

#define GEMM_SHAPE "  shape:\n    name: gemm\n    dimensions: [M, N, K]\n    data-spaces:\n"
#define GEMM_TENSORS                                                                                         \
    "    - {name: A, projection: [[[M]], [[K]]]}\n    - {name: B, projection: [[K], N]}\n"                   \
    "    - {name: Z, projection: [M, N], read-write: True}\n"

static void test_timeloop_problem_projections_have_three_spellings(void **state)
{
    struct problem p;
    struct dse_error err;

    (void)state;
    assert_int_equal(build("problem:\n" GEMM_SHAPE GEMM_TENSORS "  M: 8\n  N: 4\n  K: 2\n", &p, &err),
                     DSE_OK);
    assert_int_equal(p.n_tensor, 3);
    for (uint32_t t = 0; t < 3; t++)
        assert_int_equal(p.tensor[t].n_rank, 2);
    expect_term(&p, &p.tensor[0].rank[1].term[0], "K", 1);
    expect_term(&p, &p.tensor[1].rank[0].term[0], "K", 1);
    expect_term(&p, &p.tensor[1].rank[1].term[0], "N", 1);
    expect_term(&p, &p.tensor[2].rank[0].term[0], "M", 1);
    assert_int_equal(p.tensor[0].role, TENSOR_INPUT);
}

static void test_timeloop_problem_knows_the_cnn_layer(void **state)
{
    struct problem p;
    struct dse_error err;

    (void)state;
    assert_int_equal(
        build("problem: {shape: cnn-layer, C: 3, K: 64, R: 7, S: 7, N: 1, P: 112, Q: 112, Wstride: 2, "
              "Hstride: 2}\n",
              &p, &err),
        DSE_OK);
    assert_int_equal(p.n_dim, 7);
    expect_term(&p, &p.tensor[1].rank[2].term[1], "P", 2);
    expect_term(&p, &p.tensor[1].rank[3].term[0], "S", 1);
    assert_int_equal(problem_tensor_words(&p, 1), 3ULL * 229 * 229); /* 1 + 6 + 2 * 111 */
}

static void test_timeloop_problem_ignores_other_parts_of_the_file(void **state)
{
    struct problem p;
    struct dse_error err;

    (void)state;
    assert_int_equal(build("architecture: {}\nERT: {}\nmapping: []\nproblem:\n" GEMM_SHAPE GEMM_TENSORS
                           "  instance: {M: 8, N: 4, K: 2}\n",
                           &p, &err),
                     DSE_OK);
}

#define CONV1D                                                                                               \
    "problem:\n  shape:\n    dimensions: [P, R]\n    coefficients: [{name: S, default: 1}, {name: D}]\n"
#define CONV1D_TENSORS                                                                                       \
    "    data-spaces:\n    - {name: I, projection: [[[P, S], [R, D]]]}\n"                                    \
    "    - {name: O, projection: [P], read-write: true}\n"

static void test_timeloop_problem_refuses_by_name_and_line(void **state)
{
    static const struct {
        const char *yaml;
        int line;
        const char *text;
    } cases[] = {
        {"mapping: []\n", 1, "problem"},
        {"problem:\n  shape: my-layer\n", 2, "only cnn-layer is built in"},
        {"problem:\n  C: 3\n", 2, "shape"},
        {"sparse_optimizations: {}\nproblem: {}\n", 1, "dense"},
        {"problem:\n" GEMM_SHAPE GEMM_TENSORS "  instance: {M: 8, N: 4}\n", 9, "dimension K has no bound"},
        {"problem:\n" GEMM_SHAPE GEMM_TENSORS "  instance: {M: 8, N: 4, K: 0}\n", 9, "K"},
        {"problem:\n" GEMM_SHAPE GEMM_TENSORS "  instance: {M: 8, N: 4, K: -2}\n", 9, "-2"},
        {"problem:\n" GEMM_SHAPE GEMM_TENSORS "  instance: {M: 8, N: 4, K: 2, L: 2}\n", 9,
         "unknown dimension"},
        {"problem:\n" GEMM_SHAPE GEMM_TENSORS "  instance: {M: 8, N: 4, K: 2, densities: {A: 0.5}}\n", 9,
         "dense"},
        {"problem:\n" GEMM_SHAPE GEMM_TENSORS "  instance: {M: 8, N: 4, K: 2}\n  M: 4\n", 10,
         "unknown key \"M\""},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: [[[X]]]}\n", 6,
         "unknown dimension in a projection \"X\""},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: [[[M, S]]]}\n", 6,
         "not one of the shape's coefficients"},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: [[[M, S, T]]]}\n", 6, "a term of a projection"},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: M*2 + N}\n", 6, "projection"},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: []}\n", 6, "0 ranks"},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: [M], density: 0.5}\n", 6, "dense"},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: [M], red-write: true}\n", 6, "read-write"},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: [M], read-write: maybe}\n", 6, "maybe"},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: [M], read-write: true, read_write: false}\n", 6,
         "two spellings"},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: [M]}\n    data_spaces: []\n", 7,
         "two spellings"},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: [M]}\n    - {name: A, projection: [N]}\n", 7,
         "two data-spaces"},
        {"problem:\n" GEMM_SHAPE "    - {name: 'A, B', projection: [M]}\n", 6, "beginning with a letter"},
        {"problem:\n  shape:\n    dimensions: [M, M]\n", 3, "appears twice"},
        {"problem:\n  shape:\n    dimensions: [3x]\n", 3, "must be a word"},
        {"problem:\n  shape:\n    dimensions: []\n", 3, "no dimensions"},
        {CONV1D CONV1D_TENSORS "  instance: {P: 4, R: 3}\n", 8, "coefficient D has neither"},
        {CONV1D CONV1D_TENSORS "  instance: {P: 4, R: 3, D: -1}\n", 8, "negative and zero"},
        {CONV1D CONV1D_TENSORS "  instance: {P: 4, R: 3, D: 0}\n", 8, "negative and zero"},
        {CONV1D CONV1D_TENSORS "  instance: {P: 4, R: 3, D: 1.5}\n", 8, "1.5"},
        {"problem:\n  shape:\n    dimensions: [P]\n    coefficients: [{name: P}]\n", 4,
         "another coefficient or dimension"},
        {"problem:\n" GEMM_SHAPE "    - {name: A, projection: [M, N, K]}\n  instance: {M: 8, N: 4, K: 2}\n",
         2, "read-write"},
    };
    struct problem p;
    struct dse_error err;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(build(cases[i].yaml, &p, &err), DSE_BAD_INPUT);
        if (strstr(err.text, cases[i].text) == NULL || err.line != cases[i].line)
            fail_msg("case %zu: line %d \"%s\" lacks \"%s\" on line %d", i, err.line, err.text, cases[i].text,
                     cases[i].line);
        assert_string_equal(err.file, "p.yaml");
    }
}

static void test_timeloop_problem_refuses_what_is_beyond_the_limits(void **state)
{
    struct problem p;
    struct dse_error err;

    (void)state;
    assert_int_equal(
        build("problem: {shape: {dimensions: [A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q]}}\n", &p,
              &err),
        DSE_LIMIT);
    assert_int_equal(build("problem:\n" GEMM_SHAPE GEMM_TENSORS
                           "  instance: {M: 4000000000, N: 4000000, K: 2}\n",
                           &p, &err),
                     DSE_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeloop_problem_reads_a_convolution),
        cmocka_unit_test(test_timeloop_problem_projections_have_three_spellings),
        cmocka_unit_test(test_timeloop_problem_knows_the_cnn_layer),
        cmocka_unit_test(test_timeloop_problem_ignores_other_parts_of_the_file),
        cmocka_unit_test(test_timeloop_problem_refuses_by_name_and_line),
        cmocka_unit_test(test_timeloop_problem_refuses_what_is_beyond_the_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
