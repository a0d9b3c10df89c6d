/* The terms of the objective, by hand, and what the formulation takes a problem to be.
 * Tests: relations.c, orders.c, padding.c, settings.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/readers/readers.h"
#include "engines/cosa/formulation.h"
#include "tests/support/random_case.h"

enum { R, S, P, Q, C, K, N };
enum { W, I, O };

static void conv(struct problem *problem, const uint32_t *bound, uint32_t stride)
{
    random_case_conv(problem, "conv", bound, stride == 2 ? "N C P*2+R Q*2+S" : "N C P+R Q+S");
}

static void table_v(struct architecture *arch)
{
    struct dse_error err;
    assert_int_equal(architecture_read("experiments/architectures/simba_tablev.yaml", arch, &err), DSE_OK);
}

/* The worked example of the authors' NoC flow, 1x1 with P = Q = 56, C = K = 64: registers P7; accumulation
 * buffer K4 C16 with spatial K2 C4; weight buffer K2; input buffer spatial Q4 P2; global buffer spatial K4 Q2
 * P2; DRAM Q7 P2. */
static void worked_example(struct mapping *mapping, const struct problem *problem,
                           const struct architecture *arch)
{
    mapping_init(mapping, problem, arch);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        mapping->level[5].temporal[d] = 1;
    mapping->level[0].temporal[P] = 7;
    mapping->level[1].temporal[K] = 4;
    mapping->level[1].temporal[C] = 16;
    mapping->level[1].spatial[K] = 2;
    mapping->level[1].spatial[C] = 4;
    mapping->level[2].temporal[K] = 2;
    mapping->level[3].spatial[Q] = 4;
    mapping->level[3].spatial[P] = 2;
    mapping->level[4].spatial[K] = 4;
    mapping->level[4].spatial[Q] = 2;
    mapping->level[4].spatial[P] = 2;
    mapping->level[5].temporal[Q] = 7;
    mapping->level[5].temporal[P] = 2;
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(1, fabs(b))))
        fail_msg("%.12g instead of %.12g", a, b);
}

/* By hand, with s = log2 7; level factors .80 .84 .88 .92. Bits by level: 0: P s; 1: K 2+1, C 4+2; 2: K 1; 3:
 * Q 2, P 1; 4 spatial: K 2, Q 1, P 1; 5: Q s, P 1. */
static void test_terms_of_the_worked_example(void **state)
{
    (void)state;
    static const uint32_t bound[] = {1, 1, 56, 56, 64, 64, 1};
    const double s = log2(7);
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct cosa_settings settings;
    struct cosa_terms t;
    table_v(&arch);
    conv(&problem, bound, 1);
    cosa_settings_init(&settings);
    worked_example(&mapping, &problem, &arch);
    cosa_terms_of(&problem, &arch, &settings, &mapping, &t);
    near(t.comp, s + 2 + 4 + 1 + s + 1);
    near(t.size[W], 0.84 * 9 + 0.88 * 1);
    near(t.size[I], 0.80 * s + 0.84 * 6 + 0.92 * 3);
    near(t.size[O], 0.80 * s + 0.84 * 3 + 0.88 * 1 + 0.92 * 3);
    for (int v = W; v <= O; v++) {
        near(t.spatial[v], 4);
        near(t.temporal[v], 0);
    }
    near(t.outer, 3.01 * (s + 1));
    /* registers hold weights: 0; accumulators outputs: P7 K4 K2; weight buffer 1.01 x (K4 C16 K2 C4 K2);
     * input buffer all inside */
    near(t.util, 0 + (s + 3) + 1.01 * 10 + (s + 6 + 3));
    near(t.traf, 0.99 * (t.size[W] + t.size[I] + t.size[O]) + 0.99 * 12 + t.outer);
    near(t.objective, -0.1 * t.util + 10 * t.comp + t.traf);
}

/* With stride 2 each of the primes 7 and 2 of P and 2, 2 of Q inside the input buffer counts one bit more
 * there. With related spatial loops only, weights see K (2 bits), inputs P, Q (2), outputs all (4). */
static void test_terms_of_strides_and_multicast(void **state)
{
    (void)state;
    static const uint32_t bound[] = {1, 1, 56, 56, 64, 64, 1};
    struct problem plain, strided;
    struct architecture arch;
    struct mapping mapping;
    struct cosa_settings settings;
    struct cosa_terms a, b;
    table_v(&arch);
    conv(&plain, bound, 1);
    conv(&strided, bound, 2);
    cosa_settings_init(&settings);
    worked_example(&mapping, &plain, &arch);
    cosa_terms_of(&plain, &arch, &settings, &mapping, &a);
    cosa_terms_of(&strided, &arch, &settings, &mapping, &b);
    near(b.util, a.util + 4);
    near(b.traf, a.traf);
    settings.spatial_related_only = true;
    cosa_terms_of(&plain, &arch, &settings, &mapping, &b);
    near(b.spatial[W], 2);
    near(b.spatial[I], 2);
    near(b.spatial[O], 4);
}

/* Loops K2, P2, C2 at the global buffer, innermost first: K saves the inputs, nothing saves weights and
 * outputs. R innermost saves both inputs and outputs although it moves the window. */
static void test_terms_follow_the_order(void **state)
{
    (void)state;
    static const uint32_t bound[] = {3, 1, 2, 1, 2, 2, 1};
    static const uint8_t order[] = {K, P, C, R, S, Q, N}, window[] = {R, S, C, K, P, Q, N};
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct cosa_settings settings;
    struct cosa_terms t;
    table_v(&arch);
    conv(&problem, bound, 1);
    cosa_settings_init(&settings);
    mapping_init(&mapping, &problem, &arch);
    memcpy(mapping.level[4].temporal, mapping.level[5].temporal, sizeof mapping.level[4].temporal);
    for (uint32_t d = 0; d < 7; d++)
        mapping.level[5].temporal[d] = 1;
    mapping.level[4].temporal[R] = 1;
    mapping.level[5].temporal[R] = 3;
    memcpy(mapping.level[4].temporal_order, order, sizeof order);
    cosa_terms_of(&problem, &arch, &settings, &mapping, &t);
    near(t.temporal[W], 3);
    near(t.temporal[I], 2);
    near(t.temporal[O], 3);
    near(t.outer, 3.01 * log2(3));
    mapping.level[4].temporal[R] = 3;
    mapping.level[5].temporal[R] = 1;
    memcpy(mapping.level[4].temporal_order, window, sizeof window);
    cosa_terms_of(&problem, &arch, &settings, &mapping, &t);
    near(t.temporal[W], 3 + log2(3));
    near(t.temporal[I], 3);
    near(t.temporal[O], 2); /* R and then C */
}

/* ---------------------------------------- relations and choices */

static uint32_t bits(const uint32_t *dims, uint32_t n)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < n; i++)
        mask |= 1u << dims[i];
    return mask;
}
#define DIMS(...)                                                                                            \
    bits((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static bool has_choice(const struct cosa_choice *choice, uint32_t n, uint32_t n_tensor, const uint32_t *saved)
{
    for (uint32_t c = 0; c < n; c++)
        if (memcmp(choice[c].saved, saved, n_tensor * sizeof *saved) == 0)
            return true;
    return false;
}

/* The paper's Table IV; orders as docs/cosa.md derives them: weights stay under P Q N, inputs under R S K,
 * outputs under R S C, and R S save inputs and outputs both. */
static void test_convolution_has_three_orders(void **state)
{
    (void)state;
    static const uint32_t bound[] = {3, 3, 8, 8, 16, 16, 2};
    struct problem problem;
    struct architecture arch;
    struct cosa_settings settings;
    struct cosa_shape shape;
    struct cosa_choice choice[COSA_CHOICE_MAX];
    table_v(&arch);
    conv(&problem, bound, 2);
    cosa_settings_init(&settings);
    cosa_shape_init(&shape, &problem, &arch, NULL, &settings);
    assert_int_equal(shape.related[W], DIMS(R, S, C, K));
    assert_int_equal(shape.related[I], DIMS(P, Q, C, N));
    assert_int_equal(shape.related[O], DIMS(P, Q, K, N));
    assert_int_equal(shape.halo[I], DIMS(R, S));
    assert_int_equal(shape.halo[W] | shape.halo[O], 0);
    assert_int_equal(shape.permutation, 4);
    assert_int_equal(shape.util_level, 2);
    near(cosa_tile_bits(&shape, I, P, log2(7), true), log2(14));
    near(cosa_tile_bits(&shape, I, P, log2(7), false), log2(7));
    near(cosa_tile_bits(&shape, I, R, log2(3), true), 0);
    near(cosa_window_bits(&shape, I, R, log2(3)), log2(3));
    uint32_t n = cosa_choices(&shape, shape.permutation, -1, choice);
    assert_int_equal(n, 3);
    assert_true(has_choice(choice, n, 3, (uint32_t[]){DIMS(P, Q, N), 0, 0}));
    assert_true(has_choice(choice, n, 3, (uint32_t[]){0, DIMS(R, S, K), DIMS(R, S)}));
    assert_true(has_choice(choice, n, 3, (uint32_t[]){0, DIMS(R, S), DIMS(R, S, C)}));
    assert_int_equal(cosa_choices(&shape, shape.permutation, O, choice), 1);
    assert_int_equal(choice[0].saved[O], DIMS(R, S, C));
}

/* A[i,j] += B[i,k,l] C[k,j] D[l,j]. B is saved by j alone. C (not indexed by i, l), D (i, k) and A (k, l)
 * share one loop each two of them: six orders. */
static void test_mttkrp_has_seven_orders(void **state)
{
    (void)state;
    static const uint32_t bound[] = {4, 4, 4, 4};
    enum { i, j, k, l };
    struct problem problem;
    struct architecture arch;
    struct cosa_settings settings;
    struct cosa_shape shape;
    struct cosa_choice choice[COSA_CHOICE_MAX];
    table_v(&arch);
    random_case_dims(&problem, "mttkrp", "IJKL", bound);
    random_case_tensor(&problem, "B", TENSOR_WEIGHT, "I K L");
    random_case_tensor(&problem, "C", TENSOR_INPUT, "K J");
    random_case_tensor(&problem, "D", TENSOR_INPUT, "L J");
    random_case_tensor(&problem, "A", TENSOR_OUTPUT, "I J");
    cosa_settings_init(&settings);
    cosa_shape_init(&shape, &problem, &arch, NULL, &settings);
    uint32_t n = cosa_choices(&shape, shape.permutation, -1, choice);
    assert_int_equal(n, 7);
    assert_true(has_choice(choice, n, 4, (uint32_t[]){DIMS(j), 0, 0, 0}));
    assert_true(has_choice(choice, n, 4, (uint32_t[]){0, DIMS(i, l), DIMS(i), 0}));
    assert_true(has_choice(choice, n, 4, (uint32_t[]){0, DIMS(i, l), 0, DIMS(l)}));
    assert_true(has_choice(choice, n, 4, (uint32_t[]){0, DIMS(i), DIMS(i, k), 0}));
    assert_true(has_choice(choice, n, 4, (uint32_t[]){0, 0, DIMS(i, k), DIMS(k)}));
    assert_true(has_choice(choice, n, 4, (uint32_t[]){0, DIMS(l), 0, DIMS(k, l)}));
    assert_true(has_choice(choice, n, 4, (uint32_t[]){0, 0, DIMS(k), DIMS(k, l)}));
}

/* Groups index every tensor: their loop goes outermost in the default order, for else it would undo every
 * stay. */
static void test_default_order_has_groups_last(void **state)
{
    (void)state;
    static const uint32_t bound[] = {4, 3, 3, 8, 8, 2, 2, 1};
    static const uint8_t wanted[] = {1, 2, 3, 4, 5, 6, 7, 0};
    struct problem problem;
    struct architecture arch;
    struct cosa_settings settings;
    struct cosa_shape shape;
    uint8_t order[PROBLEM_DIM_MAX];
    table_v(&arch);
    random_case_dims(&problem, "grouped", "GRSPQCKN", bound);
    random_case_tensor(&problem, "Weights", TENSOR_WEIGHT, "G C K R S");
    random_case_tensor(&problem, "Inputs", TENSOR_INPUT, "N G C P+R Q+S");
    random_case_tensor(&problem, "Outputs", TENSOR_OUTPUT, "N G K P Q");
    cosa_settings_init(&settings);
    cosa_shape_init(&shape, &problem, &arch, NULL, &settings);
    cosa_default_order(&shape, order);
    assert_memory_equal(order, wanted, sizeof wanted);
}

/* The global buffer (131,072 words, two tensors with equal shares), then 0.25 : 0.75, then shares of less
 * than a word. */
static void test_shares_split_what_a_level_keeps(void **state)
{
    (void)state;
    static const uint32_t bound[] = {3, 3, 8, 8, 16, 16, 2};
    struct problem problem;
    struct architecture arch;
    struct cosa_settings settings;
    struct cosa_shape shape;
    table_v(&arch);
    conv(&problem, bound, 1);
    cosa_settings_init(&settings);
    cosa_shape_init(&shape, &problem, &arch, NULL, &settings);
    near(shape.room[4][I], 65536);
    near(shape.room[4][O], 65536);
    near(shape.room[3][I], 8192);
    assert_int_equal(shape.keep[4], 1u << I | 1u << O);
    assert_true(isinf(shape.room[5][W]));
    settings.share[TENSOR_INPUT] = 0.25;
    settings.share[TENSOR_OUTPUT] = 0.75;
    arch.level[4].size_word = 3;
    cosa_shape_init(&shape, &problem, &arch, NULL, &settings);
    near(shape.room[4][I], 1); /* 0.75 words become one, the outputs get the rest */
    near(shape.room[4][O], 2);
}

/* ---------------------------------------- padding */

static void test_padding_takes_the_next_smooth_bound(void **state)
{
    (void)state;
    static const uint32_t bound[] = {11, 7, 53, 127, 64, 1, 4294967291u};
    static const uint32_t seven[] = {12, 7, 54, 128, 64, 1, 4294967291u},
                          two[] = {16, 8, 64, 128, 64, 1, 4294967291u};
    struct problem problem;
    uint32_t padded[PROBLEM_DIM_MAX];
    random_case_dims(&problem, "bounds", "RSPQCKN", bound);
    assert_true(cosa_pad_bounds(&problem, 7, padded));
    assert_memory_equal(padded, seven, 6 * sizeof *seven);
    assert_true(cosa_pad_bounds(&problem, 2, padded));
    assert_memory_equal(padded, two, 6 * sizeof *two);
    assert_int_equal(padded[6], two[6]); /* far too large: left alone */
    assert_false(cosa_pad_bounds(&problem, 0, padded));
    assert_memory_equal(padded, bound, sizeof bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms_of_the_worked_example),
        cmocka_unit_test(test_terms_of_strides_and_multicast),
        cmocka_unit_test(test_terms_follow_the_order),
        cmocka_unit_test(test_convolution_has_three_orders),
        cmocka_unit_test(test_mttkrp_has_seven_orders),
        cmocka_unit_test(test_default_order_has_groups_last),
        cmocka_unit_test(test_shares_split_what_a_level_keeps),
        cmocka_unit_test(test_padding_takes_the_next_smooth_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
