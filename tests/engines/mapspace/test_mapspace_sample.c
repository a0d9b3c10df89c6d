/* Sampled mappings: what is said to fit does, what is said not to does not, and slots are equally likely. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/mapspace/mapspace.h"
#include "tests/engines/small_cases.h"

static void test_sample_says_what_the_checker_says(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    int n_fit = 0;
    arena_init(&arena);
    small_gemm(&problem, 8, 4, 6);
    small_machine(&arch, 8, 64);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    struct random_stream stream = random_stream_make(6, 1, RANDOM_TEST);
    for (int i = 0; i < 2000; i++) {
        struct mapping mapping = {0};
        struct misfit_info fit = {.what = FITS};
        if (mapspace_sample(space, &stream, &mapping, &fit)) {
            assert_true(checker_accepts(&problem, &arch, &mapping, NULL, 0));
            n_fit++;
        } else {
            assert_int_not_equal(fit.what, FITS);
        }
    }
    assert_true(n_fit > 0 && n_fit < 2000);
    arena_free(&arena);
}

/* One prime, M = 2: it goes to each of the three levels' temporal loops or to X or Y with a chance of 1/5:
 * 5,000 draws give 1000 each, five deviations are 5 sqrt(800) = 141. */
static void test_sample_is_uniform_over_slots(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    int n_outer = 0, n_spatial = 0;
    arena_init(&arena);
    small_gemm(&problem, 2, 1, 1);
    small_machine(&arch, 64, 4096);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    struct random_stream stream = random_stream_make(6, 2, RANDOM_TEST);
    for (int i = 0; i < 5000; i++) {
        struct mapping mapping = {0};
        assert_true(mapspace_sample(space, &stream, &mapping, NULL));
        n_outer += mapping.level[mapping.n_level - 1].temporal[0] == 2;
        for (uint32_t l = 0; l < mapping.n_level; l++)
            n_spatial += mapping.level[l].spatial[0] == 2;
    }
    assert_in_range(n_outer, 1000 - 141, 1000 + 141);
    assert_in_range(n_spatial, 2000 - 173, 2000 + 173);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample_says_what_the_checker_says),
        cmocka_unit_test(test_sample_is_uniform_over_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
