/* Names of loops: the authors', the paper's letters and a dimension's own; and what is no convolution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/interstellar/loops.h"
#include "costmodel/model/network.h"

static struct problem problem_of(struct layer layer)
{
    struct problem problem;
    struct dse_error err;
    assert_int_equal(layer_problem(&layer, 2, &problem, &err), DSE_OK);
    return problem;
}

static const struct layer conv = {.type = LAYER_CONV,
                                  .name = "conv",
                                  .r = 3,
                                  .s = 5,
                                  .p = 8,
                                  .q = 7,
                                  .c = 4,
                                  .k = 6,
                                  .groups = 2,
                                  .stride = {1, 1},
                                  .dilation = {1, 1}};

static int find(const struct problem *problem, const char *name)
{
    return interstellar_find_dim(problem, name, strlen(name));
}

static void test_convolutions_have_all_seven(void **state)
{
    (void)state;
    struct problem problem = problem_of(conv);
    struct interstellar_loops loops;
    interstellar_loops_of(&problem, &loops);
    static const char *const own[LOOP_COUNT] = {"S", "R", "Q", "P", "K", "C", "N"};
    for (int l = 0; l < LOOP_COUNT; l++) {
        assert_int_equal(loops.dim[l], problem_find_dim(&problem, own[l]));
        assert_int_equal(find(&problem, interstellar_loop_name(l)), loops.dim[l]);
        assert_int_equal(find(&problem, interstellar_loop_letter(l)), loops.dim[l]);
        assert_int_equal(find(&problem, own[l]), loops.dim[l]);
    }
    assert_int_equal(loops.other, 1u << problem_find_dim(&problem, "G"));
    assert_int_equal(find(&problem, "O"), -1);
    assert_int_equal(find(&problem, "OXX"), -1);
}

/* C[M,N] += A[M,K] B[K,N]: its K is reduced, its N no batch. */
static struct problem matrix_product(void)
{
    struct problem problem = {.name = "gemm", .n_dim = 3, .dim_name = {"M", "N", "K"}, .bound = {8, 8, 8}};
    problem.n_tensor = 3;
    static const struct {
        const char *name;
        uint32_t first, second;
    } tensors[] = {{"Weights", 0, 2}, {"Inputs", 2, 1}, {"Outputs", 0, 1}};
    static const enum tensor_role roles[] = {TENSOR_WEIGHT, TENSOR_INPUT, TENSOR_OUTPUT};
    for (int t = 0; t < 3; t++) {
        struct tensor *tensor = &problem.tensor[t];
        strcpy(tensor->name, tensors[t].name);
        tensor->role = roles[t];
        tensor->read_write = t == 2;
        tensor->n_rank = 2;
        tensor->rank[0] = (struct tensor_rank){.n_term = 1, .term = {{tensors[t].first, 1}}};
        tensor->rank[1] = (struct tensor_rank){.n_term = 1, .term = {{tensors[t].second, 1}}};
    }
    return problem;
}

static void test_a_matrix_product_has_none(void **state)
{
    (void)state;
    struct problem problem = matrix_product();
    struct dse_error err;
    assert_int_equal(problem_check(&problem, &err), DSE_OK);
    struct interstellar_loops loops;
    interstellar_loops_of(&problem, &loops);
    for (int l = 0; l < LOOP_COUNT; l++)
        assert_int_equal(loops.dim[l], -1);
    assert_int_equal(loops.other, 7);
    assert_int_equal(find(&problem, "K"), 2);
    assert_int_equal(find(&problem, "OC"), -1);
}

/* "X" is the paper's letter of OX, unless a dimension has that name. */
static void test_a_letter_gives_way_to_a_name(void **state)
{
    (void)state;
    struct problem problem = problem_of(conv);
    strcpy(problem.dim_name[problem_find_dim(&problem, "G")], "X");
    assert_int_equal(find(&problem, "X"), problem_find_dim(&problem, "X"));
    assert_int_equal(find(&problem, "OX"), problem_find_dim(&problem, "Q"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convolutions_have_all_seven),
        cmocka_unit_test(test_a_matrix_product_has_none),
        cmocka_unit_test(test_a_letter_gives_way_to_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
