/* Reuse counts: what is reuse for which tensor, strides by both rules, loops that cost nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/interstellar/loops.h"
#include "costmodel/interstellar/reuse.h"
#include "costmodel/model/network.h"

struct conv {
    struct problem problem;
    struct interstellar_loops loops;
    struct interstellar_reuse reuse;
    const struct reuse_tensor *inputs, *outputs, *weights;
};

/* AlexNet CONV1 as the authors have it: 56 x 56, 11 x 11, stride 4, 3 to 96 channels, batch 16. */
static void make_conv1(struct conv *out)
{
    struct layer layer = {.type = LAYER_CONV,
                          .name = "CONV1",
                          .r = 11,
                          .s = 11,
                          .p = 56,
                          .q = 56,
                          .c = 3,
                          .k = 96,
                          .groups = 1,
                          .stride = {4, 4},
                          .dilation = {1, 1}};
    struct dse_error err;
    assert_int_equal(layer_problem(&layer, 16, &out->problem, &err), DSE_OK);
    interstellar_loops_of(&out->problem, &out->loops);
    interstellar_reuse_compile(&out->problem, &out->reuse);
    out->inputs = &out->reuse.tensor[problem_find_tensor(&out->problem, "Inputs")];
    out->outputs = &out->reuse.tensor[problem_find_tensor(&out->problem, "Outputs")];
    out->weights = &out->reuse.tensor[problem_find_tensor(&out->problem, "Weights")];
}

static uint32_t mask(const struct conv *conv, const char *loops)
{
    static const char *const letter[LOOP_COUNT] = {"S", "R", "Q", "P", "K", "C", "N"};
    uint32_t dims = 0;
    for (int l = 0; l < LOOP_COUNT; l++)
        if (strchr(loops, letter[l][0]))
            dims |= 1u << conv->loops.dim[l];
    return dims;
}

/* The table of section 3.3: what is reuse for I, O and W. Sizes of points_public.csv, P17. */
static void test_reuse_of_a_convolution(void **state)
{
    (void)state;
    struct conv conv;
    make_conv1(&conv);
    assert_int_equal(conv.inputs->reuse, mask(&conv, "SRK"));
    assert_int_equal(conv.outputs->reuse, mask(&conv, "SRC"));
    assert_int_equal(conv.weights->reuse, mask(&conv, "QPN"));
    assert_int_equal(conv.inputs->relevant, mask(&conv, "QPCN"));
    assert_int_equal(conv.inputs->size_word, 2561328);
    assert_int_equal(conv.outputs->size_word, 4816896);
    assert_int_equal(conv.weights->size_word, 34848);
    assert_int_equal(conv.inputs->n_axis, 2);
    assert_int_equal(conv.inputs->stride, 16);
    assert_int_equal(conv.inputs->plain, mask(&conv, "K"));
    assert_int_equal(conv.outputs->n_axis, 0);
}

static double count(const struct conv *conv, const struct reuse_tensor *tensor, enum reuse_rule rule,
                    double fx, double fy, double oc)
{
    double product[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < conv->problem.n_dim; d++)
        product[d] = 1;
    product[conv->loops.dim[LOOP_FX]] = fx;
    product[conv->loops.dim[LOOP_FY]] = fy;
    product[conv->loops.dim[LOOP_OC]] = oc;
    return reuse_count(tensor, rule, product);
}

static void test_strides_divide_by_either_rule(void **state)
{
    (void)state;
    struct conv conv;
    make_conv1(&conv);
    /* 11 * 11 * 96 / 16 = 726, the innermost count of P17 */
    assert_true(count(&conv, conv.inputs, REUSE_COMPAT, 11, 11, 96) == 726);
    assert_true(count(&conv, conv.inputs, REUSE_SANE, 11, 11, 96) == 726);
    assert_true(count(&conv, conv.inputs, REUSE_COMPAT, 11, 1, 6) == 4);
    assert_true(count(&conv, conv.inputs, REUSE_SANE, 11, 1, 6) == 16.5);
    assert_true(count(&conv, conv.inputs, REUSE_COMPAT, 1, 1, 1) == 0);
    assert_true(count(&conv, conv.inputs, REUSE_SANE, 1, 1, 1) == 1);
    /* no stride for the others; partial sums are written each time and read all but the first */
    assert_true(count(&conv, conv.outputs, REUSE_COMPAT, 11, 11, 96) == 121);
    assert_true(reuse_accesses(conv.outputs, 121) == 241);
    assert_true(reuse_accesses(conv.inputs, 121) == 121);
}

static uint32_t exclusive(const struct conv *conv, const struct reuse_tensor *tensor, const char *inner_first)
{
    static const char *const letter[LOOP_COUNT] = {"S", "R", "Q", "P", "K", "C", "N"};
    uint8_t order[PROBLEM_DIM_MAX];
    uint32_t n = 0, present = mask(conv, inner_first);
    for (const char *c = inner_first; *c; c++)
        for (int l = 0; l < LOOP_COUNT; l++)
            if (*c == letter[l][0])
                order[n++] = (uint8_t)conv->loops.dim[l];
    for (uint32_t d = 0; d < conv->problem.n_dim; d++)
        if (!(present >> d & 1))
            order[n++] = (uint8_t)d;
    return reuse_exclusive(tensor, present, order, conv->problem.n_dim);
}

/* Level 1 of P18, [OC FY ON]: FY is inside the outputs' OC only in part of the orders. */
static void test_loops_inside_the_first_relevant_one_are_free(void **state)
{
    (void)state;
    struct conv conv;
    make_conv1(&conv);
    assert_int_equal(exclusive(&conv, conv.inputs, "KRN"), mask(&conv, "KR"));
    assert_int_equal(exclusive(&conv, conv.outputs, "KRN"), 0);
    assert_int_equal(exclusive(&conv, conv.weights, "KRN"), 0);
    assert_int_equal(exclusive(&conv, conv.weights, "NKR"), mask(&conv, "N"));
    assert_int_equal(exclusive(&conv, conv.weights, "NQ"), mask(&conv, "NQ"));
    assert_int_equal(exclusive(&conv, conv.weights, ""), 0);
}

/* I[a + b] with both reduced: the first tells words apart, or every word would be reuse of none. */
static void test_a_sum_of_reduced_dimensions(void **state)
{
    (void)state;
    struct problem problem = {.name = "window", .n_dim = 3, .dim_name = {"A", "B", "M"}, .bound = {4, 3, 2}};
    problem.n_tensor = 2;
    problem.tensor[0] = (struct tensor){.name = "I", .role = TENSOR_INPUT, .n_rank = 1};
    problem.tensor[0].rank[0] = (struct tensor_rank){.n_term = 2, .term = {{0, 2}, {1, 1}}};
    problem.tensor[1] = (struct tensor){.name = "O", .role = TENSOR_OUTPUT, .read_write = true, .n_rank = 1};
    problem.tensor[1].rank[0] = (struct tensor_rank){.n_term = 1, .term = {{2, 1}}};
    struct interstellar_reuse reuse;
    interstellar_reuse_compile(&problem, &reuse);
    assert_int_equal(reuse.tensor[0].relevant, 1);
    assert_int_equal(reuse.tensor[0].axis[0].dims, 2);
    assert_int_equal(reuse.tensor[0].stride, 2);
    assert_int_equal(reuse.tensor[1].reuse, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reuse_of_a_convolution),
        cmocka_unit_test(test_strides_divide_by_either_rule),
        cmocka_unit_test(test_loops_inside_the_first_relevant_one_are_free),
        cmocka_unit_test(test_a_sum_of_reduced_dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
