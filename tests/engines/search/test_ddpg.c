/* Deep deterministic policy gradient on worlds so small that the best action is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/search/ddpg.h"

static const struct ddpg_options usual = {.n_state = 1,
                                          .n_action = 1,
                                          .n_hidden = 32,
                                          .actor_rate = 1e-3,
                                          .critic_rate = 3e-3,
                                          .tau = 0.05,
                                          .discount = 1,
                                          .n_batch = 32,
                                          .n_memory = 2000};

static struct ddpg *make(const struct ddpg_options *options, uint64_t seed, struct arena *arena)
{
    struct ddpg *agent;
    struct dse_error err;
    assert_int_equal(ddpg_new(options, random_stream_make(seed, 0, RANDOM_TEST), arena, &agent, &err),
                     DSE_OK);
    return agent;
}

/* One step: the reward is -(a - s / 2)^2, so the best action is half the state. */
static void test_the_best_action_is_learned(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct arena arena;
        struct dse_error err;
        struct random_stream stream = random_stream_make(seed, 1, RANDOM_TEST);
        arena_init(&arena);
        struct ddpg *agent = make(&usual, seed, &arena);
        for (int i = 0; i < 2500; i++) {
            float s = (float)(2 * random_unit(&stream) - 1), a;
            assert_int_equal(ddpg_act(agent, &s, i < 1500 ? 0.5 : 0.2, &a, &err), DSE_OK);
            assert_true(a >= -1 && a <= 1);
            ddpg_remember(agent, &s, &a, -pow(a - s / 2, 2), &s, true);
            assert_int_equal(ddpg_learn(agent, &err), DSE_OK);
        }
        for (float s = -0.8f; s <= 0.8f; s += 0.4f) {
            float a;
            assert_int_equal(ddpg_act(agent, &s, 0, &a, &err), DSE_OK);
            if (fabs(a - s / 2) > 0.12)
                fail_msg("seed %d, state %g: action %g", (int)seed, s, a);
        }
        arena_free(&arena);
    }
}

/* Two steps: the first one is paid -a / 5 at once, and leads to where the second one is paid a. Who counts
 * only what is paid at once goes to -1, who counts both to 1. */
static void test_later_rewards_count(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        struct arena arena;
        struct dse_error err;
        struct ddpg_options options = usual;
        const float first = 0;
        float last;
        arena_init(&arena);
        options.discount = d;
        struct ddpg *agent = make(&options, 7, &arena);
        for (int i = 0; i < 2000; i++) {
            float a, second, b;
            assert_int_equal(ddpg_act(agent, &first, 0.5, &a, &err), DSE_OK);
            second = 2 + a;
            ddpg_remember(agent, &first, &a, -a / 5, &second, false);
            assert_int_equal(ddpg_act(agent, &second, 0.5, &b, &err), DSE_OK);
            ddpg_remember(agent, &second, &b, a, &second, true);
            assert_int_equal(ddpg_learn(agent, &err), DSE_OK);
        }
        assert_int_equal(ddpg_act(agent, &first, 0, &last, &err), DSE_OK);
        if (d ? last < 0.8F : last > -0.8F)
            fail_msg("discount %d: action %g", d, last);
        arena_free(&arena);
    }
}

/* The noise is a normal one cut off at -1 and 1: its mean square around 0 is that of the cut distribution,
 * 1 - 2 c phi(c) / (2 Phi(c) - 1) of the deviation's square with c = 1 / deviation; 0.7737 for c = 2. */
static void test_noise_is_a_cut_normal_one(void **state)
{
    (void)state;
    struct arena arena;
    struct dse_error err;
    const float zero = 0;
    double mean = 0, square = 0;
    enum { N = 20000 };
    arena_init(&arena);
    struct ddpg *agent = make(&usual, 1, &arena);
    float still;
    assert_int_equal(ddpg_act(agent, &zero, 0, &still, &err), DSE_OK);
    assert_true(still == 0); /* biases are 0 before it learns */
    for (int i = 0; i < N; i++) {
        float a;
        assert_int_equal(ddpg_act(agent, &zero, 0.5, &a, &err), DSE_OK);
        mean += a / N;
        square += a * a / N;
    }
    assert_true(fabs(mean) < 0.015);
    assert_true(fabs(square - 0.25 * 0.7737) < 0.006);
    arena_free(&arena);
}

static void test_what_cannot_learn_is_refused(void **state)
{
    (void)state;
    struct arena arena;
    struct ddpg *agent;
    struct dse_error err;
    struct ddpg_options options = usual;
    arena_init(&arena);
    options.n_memory = 31;
    assert_int_equal(ddpg_new(&options, random_stream_make(0, 0, RANDOM_TEST), &arena, &agent, &err),
                     DSE_BAD_INPUT);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_best_action_is_learned),
        cmocka_unit_test(test_later_rewards_count),
        cmocka_unit_test(test_noise_is_a_cut_normal_one),
        cmocka_unit_test(test_what_cannot_learn_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
