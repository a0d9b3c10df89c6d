/* Problems that are drawn are those of the authors' data; those of a network are its layers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "engines/mindmappings/training/mm_problems.h"

enum { N = 4000 };

static void test_sizes_of_convolutions(void **unused)
{
    (void)unused;
    const struct mm_problems problems = {.algorithm = mm_algorithm(MM_CNN)};
    struct random_stream stream = random_stream_make(1, 0, RANDOM_TEST);
    uint32_t least[7], most[7] = {0}, n_three = 0;
    memset(least, 0xff, sizeof least);
    for (int i = 0; i < N; i++) {
        uint32_t size[MM_DIM_MAX];
        mm_problem_draw(&problems, i % 2, &stream, size);
        for (int d = 0; d < 7; d++) {
            least[d] = size[d] < least[d] ? size[d] : least[d];
            most[d] = size[d] > most[d] ? size[d] : most[d];
        }
        n_three += size[1] == 3;
        assert_true(size[1] == 3 || size[1] % 32 == 0);
        assert_true(size[2] % 32 == 0 && (size[0] & (size[0] - 1)) == 0 && size[3] % 2 == 1);
        assert_true(size[3] == size[4] && size[5] == size[6]);
        assert_true((hash_of_bytes(size, 7 * sizeof *size) % 32 == 0) == (i % 2)); /* never both */
    }
    /* N 1-16, C 3-480, K 32-480, R = S 1-7, P = Q 7-223 (the authors' generator of data) */
    const uint32_t lowest[] = {1, 3, 32, 1, 1, 7, 7}, highest[] = {16, 480, 480, 7, 7, 223, 223};
    assert_memory_equal(least, lowest, sizeof lowest);
    assert_memory_equal(most, highest, sizeof highest);
    assert_in_range(n_three, N / 16 - 80, N / 16 + 80); /* one of 16 values of C, within 5 deviations */
}

static void test_sizes_of_mttkrp(void **unused)
{
    (void)unused;
    const struct mm_problems problems = {.algorithm = mm_algorithm(MM_MTTKRP)};
    struct random_stream stream = random_stream_make(2, 0, RANDOM_TEST);
    for (int i = 0; i < N; i++) {
        uint32_t size[MM_DIM_MAX];
        mm_problem_draw(&problems, false, &stream, size);
        for (int d = 0; d < 4; d++)
            assert_true(size[d] % 128 == 0 && size[d] >= 128 && size[d] <= 3968);
    }
}

static struct layer conv(const char *name, uint32_t stride)
{
    return (struct layer){.name = name,
                          .type = LAYER_CONV,
                          .c = 64,
                          .k = 128,
                          .p = 14,
                          .q = 14,
                          .r = 3,
                          .s = 3,
                          .h = 16,
                          .w = 16,
                          .stride = {stride, stride},
                          .dilation = {1, 1},
                          .groups = 1,
                          .count = 1,
                          .weight_producer = LAYER_NO_PRODUCER};
}

static void test_layers_of_a_network(void **unused)
{
    (void)unused;
    struct arena arena;
    struct mm_problems problems;
    struct dse_error err = {0};
    uint32_t n_other, size[MM_DIM_MAX];
    const uint32_t wanted[] = {1, 64, 128, 3, 3, 14, 14};
    struct layer layer[] = {conv("a", 1), conv("strided", 2), conv("again", 1)};
    struct network network = {.name = "three", .n_layer = 3, .layer = layer};
    struct random_stream stream = random_stream_make(3, 0, RANDOM_TEST);
    arena_init(&arena);
    assert_int_equal(
        mm_problems_of_network(&network, mm_algorithm(MM_CNN), &arena, &problems, &n_other, &err), DSE_OK);
    assert_int_equal(problems.n_given, 1);
    assert_int_equal(n_other, 1);
    mm_problem_draw(&problems, true, &stream, size);
    assert_memory_equal(size, wanted, sizeof wanted);
    network.layer = layer + 1;
    network.n_layer = 1;
    assert_int_equal(
        mm_problems_of_network(&network, mm_algorithm(MM_CNN), &arena, &problems, &n_other, &err),
        DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "network three has no layer that is a problem of algorithm cnn; "));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_of_convolutions),
        cmocka_unit_test(test_sizes_of_mttkrp),
        cmocka_unit_test(test_layers_of_a_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
