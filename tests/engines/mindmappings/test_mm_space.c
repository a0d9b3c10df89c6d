/* The map space: its size, members and why not, draws that are uniform, attributes. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/mm_case.h"

/* Sizes before the limits of PEs and tiles: counted by the factorisations of each dimension, 5040 or 24
 * orders three times, 105 or 455 shares of banks twice; the same as an independent count (ResNet Conv_4
 * 5.5e24, VGG 1.6e26, Inception 9.1e26, AlexNet Conv_4 1.7e24, both MTTKRP 1.6e19). */
static void test_space_has_the_size_of_table_1(void **state)
{
    (void)state;
    static const struct {
        const char *problem;
        double size;
    } known[] = {{"ResNet_Conv_4", 5.5e24},  {"VGG_Conv_2", 1.6e26}, {"Inception_Conv_2", 9.1e26},
                 {"AlexNet_Conv_4", 1.7e24}, {"MTTKRP_0", 1.6e19},   {"MTTKRP_1", 1.6e19}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct mm_case c;
        uint32_t size[MM_DIM_MAX];
        mm_case_begin(&c, mm_case_problem(known[i].problem, size), NULL, 0);
        const double is = pow(10, mm_space_log10(mm_case_space(&c, size, MM_AUTOBYPASS)));
        if (fabs(is / known[i].size - 1) > 0.04) /* two digits */
            fail_msg("%s: %g, known %g", known[i].problem, is, known[i].size);
        mm_case_end(&c);
    }
}

static void test_draws_are_members(void **state)
{
    (void)state;
    static const char *const problem[] = {"ResNet_Conv_4", "Inception_Conv_2", "MTTKRP_0"};
    for (int p = 0; p < 3; p++)
        for (int mode = 0; mode < MM_MODE_COUNT; mode++) {
            struct random_stream stream = random_stream_make(1, (uint64_t)p, RANDOM_TEST);
            struct mm_case c;
            uint32_t size[MM_DIM_MAX];
            mm_case_begin(&c, mm_case_problem(problem[p], size), NULL, 0);
            const struct mm_space *space = mm_case_space(&c, size, (enum mm_mode)mode);
            for (int i = 0; i < 2000; i++) {
                struct mm_mapping mapping;
                char reason[256];
                mm_space_draw(space, &stream, &mapping);
                if (!mm_space_contains(space, &mapping, reason, sizeof reason))
                    fail_msg("%s, draw %d: %s", problem[p], i, reason);
            }
            mm_case_end(&c);
        }
}

/* How likely a chi-square as large as that of these counts is when all are equally likely. */
static double chance_of(const int *count, int n, int total)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += pow(count[i] - (double)total / n, 2) * n / total;
    return gsl_cdf_chisq_Q(sum, n - 1);
}

/* N = 12 has 40 factorisations: 4 places for the 3 times 10 for the two 2s. All of them, all orders of a nest
 * and all 105 shares of banks come equally often. */
static void test_draws_are_uniform(void **state)
{
    (void)state;
    enum { DRAWS = 200000, FACTORISATIONS = 40, ORDERS = 5040, SHARES = 105 };
    static int by_factor[FACTORISATIONS], by_order[ORDERS], by_share[SHARES];
    static const uint32_t size[MM_DIM_MAX] = {12, 1, 1, 1, 1, 1, 1};
    struct random_stream stream = random_stream_make(2, 3, RANDOM_TEST);
    struct mm_case c;
    mm_case_begin(&c, MM_CNN, NULL, 0);
    const struct mm_space *space = mm_case_space(&c, size, MM_AUTOBYPASS);
    for (int i = 0; i < DRAWS; i++) {
        struct mm_mapping m;
        int two[MM_BLOCK_COUNT], factor = 0, order = 0, share = 0;
        mm_space_draw(space, &stream, &m);
        for (int b = 0; b < MM_BLOCK_COUNT; b++) /* where the 3 and the two 2s are: 4 x 10 ways */
            two[b] = m.factor[b][0] % 4 == 0 ? 2 : m.factor[b][0] % 2 == 0;
        for (int b = 0; b < MM_BLOCK_COUNT; b++)
            if (m.factor[b][0] % 3 == 0)
                factor = 10 * b;
        for (int b = 0, pair = 0; b < MM_BLOCK_COUNT; b++)
            for (int k = b; k < MM_BLOCK_COUNT; k++, pair++)
                if (b == k ? two[b] == 2 : two[b] == 1 && two[k] == 1)
                    factor += pair;
        for (int d = 0; d < 7; d++) { /* Lehmer's code */
            int before = 0;
            for (int k = d + 1; k < 7; k++)
                before += m.place[MM_NEST_SHARED][k] < m.place[MM_NEST_SHARED][d];
            order = order * (7 - d) + before;
        }
        const uint32_t *banks = m.banks[MM_MEMORY_PRIVATE];
        for (uint32_t first = 1; first < banks[0]; first++)
            share += 15 - (int)first;
        share += (int)banks[1] - 1;
        by_factor[factor]++;
        by_order[order]++;
        by_share[share]++;
    }
    assert_true(chance_of(by_factor, FACTORISATIONS, DRAWS) > 1e-4);
    assert_true(chance_of(by_order, ORDERS, DRAWS) > 1e-4);
    assert_true(chance_of(by_share, SHARES, DRAWS) > 1e-4);
    mm_case_end(&c);
}

/* Where tiles must fit, all members of a small space come equally often, and nothing else. */
static void test_draws_that_must_fit_are_uniform(void **state)
{
    (void)state;
    enum { DRAWS = 100000, KEYS = 1 << 16 };
    static const char *const small[] = {
        "SharedBuffer.banks", "4",      "SharedBuffer.bank", "8 word", "PrivateBuffer.banks", "3",
        "PrivateBuffer.bank", "2 word", "PE.mesh",           "2x1"};
    static const uint32_t size[MM_DIM_MAX] = {1, 4, 2, 1, 1, 2, 1};
    static int count[KEYS], member[KEYS];
    struct random_stream stream = random_stream_make(2, 4, RANDOM_TEST);
    struct mm_case c;
    int n = 0;
    mm_case_begin(&c, MM_CNN, small, 5);
    const struct mm_space *space = mm_case_space(&c, size, MM_MUSTFIT);
    struct mm_mapping m;
    for (int i = 0; i < DRAWS; i++) {
        unsigned key = 0;
        mm_space_draw(space, &stream, &m);
        for (int b = 1; b < MM_BLOCK_COUNT; b++) /* the DRAM's factor follows; C 1, 2, 4; K and P 1, 2 */
            key = key * 12 + (m.factor[b][1] / 2) * 4 + (m.factor[b][2] - 1) * 2 + (m.factor[b][5] - 1);
        key = key * 3 + (m.banks[0][0] == 2 ? 0 : m.banks[0][1] == 2 ? 1 : 2);
        assert_true(key < KEYS);
        n += count[key]++ == 0;
    }
    for (int i = 0, at = 0; i < KEYS; i++)
        if (count[i] > 0)
            member[at++] = count[i];
    print_message("%d members without their orders\n", n);
    assert_true(n > 20 && chance_of(member, n, DRAWS) > 1e-4);
    mm_case_end(&c);
}

static void test_contains_says_why_not(void **state)
{
    (void)state;
    static const uint32_t size[MM_DIM_MAX] = {16, 256, 256, 3, 3, 14, 14};
    struct mm_case c;
    struct mm_mapping good, bad;
    char reason[256];
    mm_case_begin(&c, MM_CNN, NULL, 0);
    const struct mm_space *all = mm_case_space(&c, size, MM_AUTOBYPASS),
                          *fit = mm_case_space(&c, size, MM_MUSTFIT);
    struct random_stream stream = random_stream_make(1, 9, RANDOM_TEST);
    mm_space_draw(fit, &stream, &good);
#define REFUSED(space, change, words)                                                                        \
    bad = good;                                                                                              \
    change;                                                                                                  \
    assert_false(mm_space_contains(space, &bad, reason, sizeof reason));                                     \
    if (!strstr(reason, words))                                                                              \
        fail_msg("\"%s\" lacks \"%s\"", reason, words);
    REFUSED(all, bad.factor[MM_DRAM][0] *= 2, "the factors of N multiply to 32, its size is 16");
    REFUSED(all, bad.place[MM_NEST_SHARED][0] = bad.place[MM_NEST_SHARED][1],
            "the order of the shared block");
    REFUSED(all, bad.place[MM_NEST_PRIVATE][0] = 7, "the order of the private block");
    REFUSED(all, bad.banks[MM_MEMORY_SHARED][0]++, "17 banks of SharedBuffer are dealt out, it has 16");
    REFUSED(all, bad.banks[MM_MEMORY_PRIVATE][1] = 0, "WeightRegFile has no bank");
    static const uint32_t spread[MM_BLOCK_COUNT][MM_DIM_MAX] = {
        {16, 1, 1, 3, 3, 14, 14}, {1, 1, 1, 1, 1, 1, 1}, {1, 256, 2, 1, 1, 1, 1}, {1, 1, 128, 1, 1, 1, 1}};
    REFUSED(all, memcpy(bad.factor, spread, sizeof spread), "need 512 PEs, there are 256");
    static const uint32_t large[MM_BLOCK_COUNT][MM_DIM_MAX] = {
        {16, 1, 1, 3, 3, 14, 14}, {1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1}, {1, 256, 256, 1, 1, 1, 1}};
    REFUSED(fit, memcpy(bad.factor, large, sizeof large), "needs 65536 words, its");
    assert_true(mm_space_contains(all, &bad, reason, sizeof reason)); /* WeightRegFile is bypassed */
#undef REFUSED
    mm_case_end(&c);
}

/* An attribute drawn anew or copied changes nothing else. */
static void test_attributes_are_apart(void **state)
{
    (void)state;
    static const uint32_t size[MM_DIM_MAX] = {128, 96, 64, 100};
    struct random_stream stream = random_stream_make(1, 5, RANDOM_TEST);
    struct mm_case c;
    struct mm_mapping a, b;
    double before[MM_VALUE_MAX], after[MM_VALUE_MAX], other[MM_VALUE_MAX];
    mm_case_begin(&c, MM_MTTKRP, NULL, 0);
    const struct mm_space *space = mm_case_space(&c, size, MM_AUTOBYPASS);
    uint32_t n_changed = 0;
    for (uint32_t attribute = 0; attribute < 9; attribute++) {
        mm_space_draw(space, &stream, &a);
        mm_space_draw(space, &stream, &b);
        mm_space_vector(space, &a, before);
        mm_space_vector(space, &b, other);
        mm_space_copy_attribute(space, attribute, &b, &a);
        mm_space_vector(space, &a, after);
        for (uint32_t i = 0; i < 40; i++) {
            const bool own = attribute < 4   ? i >= 4 && i < 20 && i % 4 == attribute
                             : attribute < 7 ? i / 4 == attribute + 1
                                             : i / 4 == attribute + 1;
            assert_true(own ? !(after[i] < other[i] || after[i] > other[i])
                            : !(after[i] < before[i] || after[i] > before[i]));
            n_changed += own && (before[i] < other[i] || before[i] > other[i]);
        }
        mm_space_draw_attribute(space, attribute, &stream, &a);
        mm_space_vector(space, &a, before);
        for (uint32_t i = 0; i < 40; i++) {
            const bool own = attribute < 4 ? i >= 4 && i < 20 && i % 4 == attribute : i / 4 == attribute + 1;
            assert_true(own || !(after[i] < before[i] || after[i] > before[i]));
        }
    }
    assert_true(n_changed > 10);
    mm_case_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_space_has_the_size_of_table_1),
        cmocka_unit_test(test_draws_are_members),
        cmocka_unit_test(test_draws_are_uniform),
        cmocka_unit_test(test_draws_that_must_fit_are_uniform),
        cmocka_unit_test(test_contains_says_why_not),
        cmocka_unit_test(test_attributes_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
