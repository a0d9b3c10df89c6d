/* Loop nests of layers (costmodel/model/layer_problem.c). Shapes are those of Timeloop's cnn-layer
 * problem. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network.h"

/* The problem of layer `index` of `text`; the network is released. */
static enum dse_status problem_of(const char *text, uint32_t index, uint32_t batch, struct problem *problem,
                                  struct dse_error *err)
{
    struct network net;
    if (network_parse("test.yaml", text, strlen(text), &net, err) != DSE_OK)
        fail_msg("line %d: %s", err->line, err->text);
    enum dse_status status = layer_problem(&net.layer[index], batch, problem, err);
    network_free(&net);
    return status;
}

/* "Inputs: N; C; P*2+R; Q*2+S" */
static const char *describe(const struct problem *problem, uint32_t t, char *buffer, size_t size)
{
    const struct tensor *tensor = &problem->tensor[t];
    size_t used = (size_t)snprintf(buffer, size, "%s:", tensor->name);
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++) {
            const struct projection_term *term = &tensor->rank[r].term[k];
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", k > 0 ? "+" : " ",
                                     problem->dim_name[term->dim]);
            if (term->coefficient != 1)
                used += (size_t)snprintf(buffer + used, size - used, "*%u", term->coefficient);
        }
        used += (size_t)snprintf(buffer + used, size - used, ";");
    }
    return buffer;
}

static void assert_dims(const struct problem *problem, const char *names, const uint32_t *bound)
{
    assert_int_equal(problem->n_dim, strlen(names));
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        char name[2] = {names[d], '\0'};
        assert_string_equal(problem->dim_name[d], name);
        assert_int_equal(problem->bound[d], bound[d]);
    }
}

static void test_layer_problem_of_a_convolution(void **state)
{
    (void)state;
    struct dse_error err = {0};
    struct problem problem;
    char text[128];
    assert_int_equal(
        problem_of("network: n\nkind: layers\nlayers:\n"
                   "- {name: conv, type: conv, C: 3, K: 64, P: 55, Q: 54, R: 11, S: 5, stride: [4, 2],"
                   " dilation: [1, 3]}\n",
                   0, 16, &problem, &err),
        DSE_OK);
    assert_string_equal(problem.name, "conv");
    assert_dims(&problem, "RSPQCKN", (const uint32_t[]){11, 5, 55, 54, 3, 64, 16});
    assert_int_equal(problem.n_tensor, 3);
    assert_string_equal(describe(&problem, 0, text, sizeof(text)), "Weights: C; K; R; S;");
    assert_string_equal(describe(&problem, 1, text, sizeof(text)), "Inputs: N; C; P*4+R; Q*2+S*3;");
    assert_string_equal(describe(&problem, 2, text, sizeof(text)), "Outputs: N; K; P; Q;");
    assert_int_equal(problem.tensor[0].role, TENSOR_WEIGHT);
    assert_int_equal(problem.tensor[1].role, TENSOR_INPUT);
    assert_true(problem.tensor[2].read_write);
    /* 16 * 3 * ((55-1)*4 + 11) * ((54-1)*2 + (5-1)*3 + 1) */
    assert_int_equal(problem_tensor_words(&problem, 1), 16 * 3 * 227 * 119);
}

static void test_layer_problem_of_a_transposed_convolution(void **state)
{
    (void)state;
    struct dse_error err = {0};
    struct problem problem;
    char text[128];
    /* 4x4 by 2: 2x2 taps for each of 4 phases, which are 4 times the channels */
    assert_int_equal(
        problem_of("network: n\nkind: layers\nlayers:\n- {name: t, type: conv_transpose, C: 3, K: 5,"
                   " P: 14, Q: 12, R: 4, S: 2, stride: 2, pad: [1, 0]}\n",
                   0, 2, &problem, &err),
        DSE_OK);
    assert_dims(&problem, "RSPQCKN", (const uint32_t[]){2, 1, 7, 6, 3, 20, 2});
    assert_string_equal(describe(&problem, 1, text, sizeof(text)), "Inputs: N; C; P+R; Q+S;");
    assert_string_equal(describe(&problem, 2, text, sizeof(text)), "Outputs: N; K; P; Q;");
    assert_int_equal(problem_tensor_words(&problem, 0), 5 * 3 * 4 * 2); /* the weights of the layer */
    /* 3x3 by 2: one row of taps or two, so the inputs are spread over the outputs */
    assert_int_equal(
        problem_of("network: n\nkind: layers\nlayers:\n- {name: t, type: conv_transpose, C: 6, K: 4,"
                   " P: 16, Q: 15, R: 3, S: 3, stride: 2, pad: 1, groups: 2}\n",
                   0, 1, &problem, &err),
        DSE_OK);
    assert_dims(&problem, "GRSPQCKN", (const uint32_t[]){2, 3, 3, 8, 8, 3, 2, 1});
    assert_string_equal(describe(&problem, 1, text, sizeof(text)), "Inputs: N; G; C; P; Q;");
    assert_string_equal(describe(&problem, 2, text, sizeof(text)), "Outputs: N; G; K; P*2+R; Q*2+S;");
    assert_int_equal(problem_tensor_words(&problem, 2),
                     2 * 2 * 17 * 17); /* (8-1) 2 + 3 before the padding goes */
}

/* By definition: a convolution over the input with stride - 1 zeros between its elements and reach - 1 around
 * them; products with one of these zeros are none. */
static void test_layer_macs_of_a_transposed_convolution_count_no_zeros(void **state)
{
    (void)state;
    for (uint32_t stride = 1; stride <= 4; stride++)
        for (uint32_t filter = 1; filter <= 5; filter++)
            for (uint32_t dilation = 1; dilation <= 2; dilation++)
                for (uint32_t have = 1; have <= 5; have++) {
                    uint32_t reach = (filter - 1) * dilation + 1, out = (have - 1) * stride + reach, n = 0;
                    char yaml[300];
                    struct network net;
                    struct problem problem;
                    struct dse_error err = {0};
                    for (uint32_t p = 0; p < out; p++)
                        for (uint32_t r = 0; r < filter; r++) {
                            uint32_t at = p + r * dilation; /* of the padded, stretched input */
                            n += at >= reach - 1 && (at - (reach - 1)) % stride == 0 &&
                                 (at - (reach - 1)) / stride < have;
                        }
                    snprintf(
                        yaml, sizeof yaml,
                        "network: n\ninput: {C: 3, H: %u, W: %u}\nlayers:\n- {name: t, type: conv_transpose, "
                        "C: 3, K: 5, P: %u, Q: %u, R: %u, S: %u, stride: %u, dilation: %u, from: input}\n",
                        have, have, out, out, filter, filter, stride, dilation);
                    if (network_parse("test.yaml", yaml, strlen(yaml), &net, &err) != DSE_OK)
                        fail_msg("%s", err.text);
                    assert_true(layer_macs(&net.layer[0], 1) == (uint64_t)15 * n * n);
                    assert_int_equal(layer_problem(&net.layer[0], 1, &problem, &err), DSE_OK);
                    assert_true(problem_macs(&problem) == (uint64_t)15 * n * n);
                    network_free(&net);
                }
}

static void test_layer_problem_of_groups_is_per_group(void **state)
{
    (void)state;
    struct dse_error err = {0};
    struct problem problem;
    char text[128];
    const char *yaml = "network: n\nkind: layers\nlayers:\n"
                       "- {name: g, type: conv, C: 128, K: 256, P: 56, Q: 56, R: 3, S: 3, groups: 32}\n"
                       "- {name: d, type: depthwise, C: 96, P: 7, Q: 7, R: 3, S: 3, stride: 2}\n";
    assert_int_equal(problem_of(yaml, 0, 2, &problem, &err), DSE_OK);
    assert_dims(&problem, "GRSPQCKN", (const uint32_t[]){32, 3, 3, 56, 56, 4, 8, 2});
    assert_string_equal(describe(&problem, 0, text, sizeof(text)), "Weights: G; C; K; R; S;");
    assert_string_equal(describe(&problem, 1, text, sizeof(text)), "Inputs: N; G; C; P+R; Q+S;");
    assert_string_equal(describe(&problem, 2, text, sizeof(text)), "Outputs: N; G; K; P; Q;");
    assert_int_equal(problem_macs(&problem), 2ull * 256 * 4 * 9 * 56 * 56);
    assert_int_equal(problem_of(yaml, 1, 1, &problem, &err), DSE_OK);
    assert_dims(&problem, "GRSPQCKN", (const uint32_t[]){96, 3, 3, 7, 7, 1, 1, 1});
}

static void test_layer_problem_of_a_matmul_has_a_second_operand_per_sample(void **state)
{
    (void)state;
    struct dse_error err = {0};
    struct problem problem;
    char text[128];
    const char *yaml = "network: n\nkind: layers\nlayers:\n"
                       "- {name: scores, type: matmul, C: 768, K: 6144, P: 512, groups: 12}\n"
                       "- {name: plain, type: matmul, C: 64, K: 512, P: 512}\n";
    assert_int_equal(problem_of(yaml, 0, 4, &problem, &err), DSE_OK);
    assert_dims(&problem, "GRSPQCKN", (const uint32_t[]){12, 1, 1, 512, 1, 64, 512, 4});
    assert_string_equal(describe(&problem, 0, text, sizeof(text)), "Weights: N; G; C; K; R; S;");
    /* 4 samples of 12 heads of 512 keys with 64 words each */
    assert_int_equal(problem_tensor_words(&problem, 0), 4 * 12 * 512 * 64);
    assert_int_equal(problem_of(yaml, 1, 4, &problem, &err), DSE_OK);
    assert_string_equal(describe(&problem, 0, text, sizeof(text)), "Weights: N; C; K; R; S;");
}

static void test_layer_problem_of_a_linear_layer_has_unit_filter(void **state)
{
    (void)state;
    struct dse_error err = {0};
    struct problem problem;
    assert_int_equal(problem_of("network: n\nkind: layers\nlayers:\n"
                                "- {name: fc, type: linear, C: 768, K: 3072, P: 512}\n",
                                0, 1, &problem, &err),
                     DSE_OK);
    assert_dims(&problem, "RSPQCKN", (const uint32_t[]){1, 1, 512, 1, 768, 3072, 1});
}

static const char *const einsums =
    "network: n\nkind: layers\nlayers:\n"
    "- {name: mttkrp, type: einsum, dims: {I: 128, J: 1024, K: 4096, L: 2048}, tensors: [{name: A, role: "
    "output,"
    " index: [I, J]}, {name: B, role: input, index: [I, K, L]}, {name: C, role: input, index: [J, K]},"
    " {name: D, role: input, index: [J, L]}]}\n"
    "- {name: fir, type: einsum, dims: {P: 10, R: 3, N: 5}, tensors: [{name: Taps, role: weights, index: "
    "[R]},"
    " {name: X, role: input, index: [N, 2*P + R]}, {name: Y, role: output, index: [N, P]}]}\n"
    "- {name: pool, type: pool, C: 8, P: 4, Q: 4, R: 2, S: 2, stride: 2}\n";

static void test_layer_problem_of_an_einsum_is_the_file(void **state)
{
    (void)state;
    struct dse_error err = {0};
    struct problem problem;
    char text[128];
    assert_int_equal(problem_of(einsums, 0, 1, &problem, &err), DSE_OK);
    assert_dims(&problem, "IJKL", (const uint32_t[]){128, 1024, 4096, 2048});
    assert_string_equal(describe(&problem, 1, text, sizeof(text)), "B: I; K; L;");
    assert_int_equal(problem_tensor_words(&problem, 1),
                     1073741824); /* words of B in Mind Mappings' problem table */
    assert_int_equal(problem_of(einsums, 1, 4, &problem, &err), DSE_OK);
    assert_dims(&problem, "PRN", (const uint32_t[]){10, 3, 20});
    assert_string_equal(describe(&problem, 1, text, sizeof(text)), "X: N; P*2+R;");
}

static void test_layer_problem_refuses_what_cannot_be_mapped(void **state)
{
    (void)state;
    struct dse_error err = {0};
    struct problem problem;
    assert_int_equal(problem_of(einsums, 0, 2, &problem, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "mttkrp has no dimension N"));
    assert_int_equal(problem_of(einsums, 2, 1, &problem, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "type pool, which has no multiply-accumulates"));
    assert_int_equal(problem_of(einsums, 1, UINT32_MAX, &problem, &err), DSE_LIMIT);
    const char *large = "network: n\nkind: layers\nlayers:\n"
                        "- {name: fc, type: linear, C: 131072, K: 131072, P: 131072}\n";
    assert_int_equal(problem_of(large, 0, 3, &problem, &err), DSE_OK); /* 3 * 2^51 */
    assert_int_equal(problem_of(large, 0, 4, &problem, &err), DSE_LIMIT);
    assert_non_null(strstr(err.text, "fc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layer_problem_of_a_convolution),
        cmocka_unit_test(test_layer_problem_of_a_transposed_convolution),
        cmocka_unit_test(test_layer_macs_of_a_transposed_convolution_count_no_zeros),
        cmocka_unit_test(test_layer_problem_of_groups_is_per_group),
        cmocka_unit_test(test_layer_problem_of_a_matmul_has_a_second_operand_per_sample),
        cmocka_unit_test(test_layer_problem_of_a_linear_layer_has_unit_filter),
        cmocka_unit_test(test_layer_problem_of_an_einsum_is_the_file),
        cmocka_unit_test(test_layer_problem_refuses_what_cannot_be_mapped),
    };
    return cmocka_run_group_tests_name("layer_problem", tests, NULL, NULL);
}
