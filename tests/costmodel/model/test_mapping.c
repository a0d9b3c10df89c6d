/* The mapping that all others start from: complete, and kept where the machine's roles allow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/model/mapping.h"
#include "tests/support/random_case.h"

static void test_mapping_init_is_complete_on_random_machines(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(3, 1, RANDOM_TEST);
    for (int i = 0; i < 200; i++) {
        struct problem problem;
        struct architecture arch;
        struct mapping mapping;
        struct random_case_options options = {.roles = i % 2};
        char reason[256];
        random_case_problem(&stream, 20000, &problem);
        random_case_architecture(&stream, &options, &arch);
        mapping_init(&mapping, &problem, &arch);
        uint32_t all = (1u << problem.n_tensor) - 1;
        assert_int_equal(mapping.level[arch.n_level - 1].keep, all);
        for (uint32_t d = 0; d < problem.n_dim; d++) {
            assert_int_equal(mapping.level[arch.n_level - 1].temporal[d], problem.bound[d]);
            assert_int_equal(mapping.level[0].temporal[d], 1);
            assert_int_equal(mapping.level[0].spatial[d], 1);
        }
        if (!checker_accepts(&problem, &arch, &mapping, reason, sizeof reason))
            fail_msg("case %d: %s", i, reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mapping_init_is_complete_on_random_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
