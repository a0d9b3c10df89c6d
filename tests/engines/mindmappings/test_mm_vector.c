/* Vectors to mappings and back; what a vector is as a loop nest, and which loop nests are vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/mapping_same.h"
#include "tests/support/mm_case.h"

static const struct {
    enum mm_algorithm_id id;
    uint32_t size[MM_DIM_MAX];
} problem[] = {{MM_CNN, {8, 96, 256, 5, 5, 27, 27}}, {MM_MTTKRP, {128, 1024, 4096, 2048}}};

static void test_vectors_come_back(void **state)
{
    (void)state;
    for (int p = 0; p < 2; p++) {
        struct random_stream stream = random_stream_make(1, (uint64_t)p, RANDOM_TEST);
        struct mm_case c;
        mm_case_begin(&c, problem[p].id, NULL, 0);
        const struct mm_space *space = mm_case_space(&c, problem[p].size, MM_AUTOBYPASS);
        for (int i = 0; i < 500; i++) {
            struct mm_mapping from, to;
            double vector[MM_VALUE_MAX], back[MM_VALUE_MAX];
            uint32_t size[MM_DIM_MAX];
            char reason[256];
            mm_space_draw(space, &stream, &from);
            mm_space_vector(space, &from, vector);
            assert_true(mm_vector_read(c.machine.algorithm, vector, size, &to, reason, sizeof reason));
            assert_memory_equal(size, problem[p].size, c.machine.algorithm->n_dim * sizeof *size);
            mm_space_vector(space, &to, back);
            assert_memory_equal(vector, back, c.machine.algorithm->n_value * sizeof *vector);
        }
        mm_case_end(&c);
    }
}

/* A mapping of the space, as a loop nest, has a vector that is the same loop nest. Its banks may be others:
 * what is kept is the same. */
static void test_loop_nests_come_back(void **state)
{
    (void)state;
    for (int p = 0; p < 2; p++)
        for (int mode = 0; mode < MM_MODE_COUNT; mode++) {
            struct random_stream stream = random_stream_make(2, (uint64_t)p, RANDOM_TEST);
            struct mm_case c;
            mm_case_begin(&c, problem[p].id, NULL, 0);
            const struct mm_space *space = mm_case_space(&c, problem[p].size, (enum mm_mode)mode);
            for (int i = 0; i < 500; i++) {
                struct mm_mapping from, to;
                struct mapping nest, again;
                char reason[256];
                mm_space_draw(space, &stream, &from);
                mm_space_decode(space, &from, &nest);
                if (!mm_space_encode(space, &nest, &to, reason, sizeof reason))
                    fail_msg("%s", reason);
                assert_true(mm_space_contains(space, &to, reason, sizeof reason));
                mm_space_decode(space, &to, &again);
                assert_true(mapping_same(&nest, &again));
            }
            mm_case_end(&c);
        }
}

/* CNN: loops of the private block stand at the InputRegFile, the innermost; MTTKRP: at the ARegFile, the
 * outermost private buffer. Shared ones at the outermost shared buffer, spatial ones above the PEs. */
static void test_loops_stand_where_the_authors_put_them(void **state)
{
    (void)state;
    static const char *const place[2][MM_BLOCK_COUNT] = {
        {"DRAM", "InputBuffer", "PsumBuffer", "InputRegFile"}, {"DRAM", "ABuffer", "DBuffer", "ARegFile"}};
    for (int p = 0; p < 2; p++) {
        static const uint32_t size[MM_DIM_MAX] = {16, 1, 1, 1, 1, 1, 1};
        struct mm_case c;
        struct mapping nest;
        struct mm_mapping mapping = {.banks = {{4, 4, 4, 4}, {4, 4, 4, 4}}};
        mm_case_begin(&c, problem[p].id, NULL, 0);
        const struct mm_space *space = mm_case_space(&c, size, MM_AUTOBYPASS);
        for (int b = 0; b < MM_BLOCK_COUNT; b++)
            for (uint32_t d = 0; d < c.machine.algorithm->n_dim; d++)
                mapping.factor[b][d] = d == 0 ? 2 : 1;
        for (int n = 0; n < MM_NEST_COUNT; n++)
            for (uint32_t d = 0; d < c.machine.algorithm->n_dim; d++)
                mapping.place[n][d] = (uint8_t)((d + (uint32_t)n) % c.machine.algorithm->n_dim);
        mm_space_decode(space, &mapping, &nest);
        const uint32_t first =
            (uint32_t)problem_find_dim(mm_space_problem(space), c.machine.algorithm->dim[0]);
        for (uint32_t l = 0; l < nest.n_level; l++) {
            const char *name = c.arch.level[l].name;
            uint32_t temporal = 1, spatial = 1;
            for (int b = 0; b < MM_BLOCK_COUNT; b++)
                if (strcmp(name, place[p][b]) == 0)
                    *(b == MM_SPATIAL ? &spatial : &temporal) = 2;
            assert_int_equal(nest.level[l].temporal[first], temporal);
            assert_int_equal(nest.level[l].spatial[first], spatial);
        }
        const uint32_t inner = (uint32_t)architecture_find_level(&c.arch, place[p][MM_PRIVATE]);
        assert_int_equal(nest.level[inner].temporal_order[2], first); /* place 2 in the third nest */
        mm_case_end(&c);
    }
}

static void test_values_that_no_mapping_has_are_told(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(3, 1, RANDOM_TEST);
    struct mm_case c;
    struct mm_mapping mapping;
    double good[MM_VALUE_MAX], bad[MM_VALUE_MAX];
    uint32_t size[MM_DIM_MAX];
    char reason[256];
    mm_case_begin(&c, MM_CNN, NULL, 0);
    const struct mm_space *space = mm_case_space(&c, problem[0].size, MM_AUTOBYPASS);
    mm_space_draw(space, &stream, &mapping);
    mm_space_vector(space, &mapping, good);
    static const struct {
        int at;
        double value;
        const char *words;
    } wrong[] = {{0, 0, "value 1, a size, is 0"},
                 {7, 1.5, "value 8, a factor, is 1.5"},
                 {8, -2, "value 9, a factor, is -2"},
                 {9, 1e10, "value 10, a factor, is 1e+10"},
                 {35, -1, "value 36, a place in an order, is -1"},
                 {56, 2.25, "value 57, a number of banks, is 2.25"},
                 {1, 97, "the factors of C multiply to 96, its size is 97"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        memcpy(bad, good, sizeof bad);
        bad[wrong[i].at] = wrong[i].value;
        assert_false(mm_vector_read(c.machine.algorithm, bad, size, &mapping, reason, sizeof reason));
        if (!strstr(reason, wrong[i].words))
            fail_msg("\"%s\" lacks \"%s\"", reason, wrong[i].words);
    }
    mm_case_end(&c);
}

static void test_loop_nests_without_a_vector_say_why(void **state)
{
    (void)state;
    struct mm_case c;
    struct mapping nest, good;
    struct mm_mapping mapping;
    char reason[256];
    mm_case_begin(&c, MM_CNN, NULL, 0);
    const struct mm_space *all = mm_case_space(&c, problem[0].size, MM_AUTOBYPASS),
                          *fit = mm_case_space(&c, problem[0].size, MM_MUSTFIT);
    mapping_init(&good, mm_space_problem(all), &c.arch); /* all loops at the DRAM */
    assert_true(mm_space_encode(all, &good, &mapping, reason, sizeof reason));
#define REFUSED(space, change, words)                                                                        \
    nest = good;                                                                                             \
    change;                                                                                                  \
    assert_false(mm_space_encode(space, &nest, &mapping, reason, sizeof reason));                            \
    if (!strstr(reason, words))                                                                              \
        fail_msg("\"%s\" lacks \"%s\"", reason, words);
    enum { P = 2, Q = 3, C = 4, K = 5 }; /* the problem's order is R S P Q C K N */
    REFUSED(all, nest.level[4].temporal[C] = 2;
            nest.level[6].temporal[C] /= 2, "a loop over C at WeightBuffer");
    REFUSED(all, nest.level[5].keep = 0, "bypasses InputBuffer, and a vector keeps");
    REFUSED(fit, nest.level[5].keep = 0, "bypasses InputBuffer, and in mode mustfit every tile is kept");
    /* 256 x 27 x 27 words of outputs need 92 banks of 2048 */
    REFUSED(all, nest.level[0].temporal[K] = 256; nest.level[6].temporal[K] = 1;
            nest.level[0].temporal[P] = nest.level[0].temporal[Q] = 27;
            nest.level[6].temporal[P] = nest.level[6].temporal[Q] = 1, "no share of all 16 banks");
#undef REFUSED
    mm_case_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_come_back),
        cmocka_unit_test(test_loop_nests_come_back),
        cmocka_unit_test(test_loops_stand_where_the_authors_put_them),
        cmocka_unit_test(test_values_that_no_mapping_has_are_told),
        cmocka_unit_test(test_loop_nests_without_a_vector_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
