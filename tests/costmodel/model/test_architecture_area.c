/* The area of a machine: sums by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/architecture.h"

/* DRAM, a buffer of 1,000 words of 16 bit, four registers with two MACs each. */
static struct architecture chip(void)
{
    struct architecture arch;
    memset(&arch, 0, sizeof arch);
    arch.n_level = 3;
    arch.level[2].size_word = ARCH_UNLIMITED;
    arch.level[1].size_word = 1000;
    arch.level[0].size_word = 8;
    arch.level[2].instances = arch.level[1].instances = 1;
    arch.level[0].instances = 4;
    arch.level[0].word_bit = arch.level[1].word_bit = arch.level[2].word_bit = 16;
    arch.mac.instances = 8;
    return arch;
}

static void test_area_without_numbers(void **state)
{
    (void)state;
    struct architecture arch = chip();
    char reason[128] = "";
    assert_true(isnan(architecture_area_mm2(&arch)));
    assert_true(architecture_area_fits(&arch, reason, sizeof reason));
}

/* Buffer 0.5 + 2,000 bytes of 0.001; an array of four registers with links of 0.25 and 0.125 each; MACs
 * 0.0625: 2.5 + 4 x 0.375 + 8 x 0.0625 = 4.5. A byte of what is not limited takes nothing. */
static void test_area_of_all_instances(void **state)
{
    (void)state;
    struct architecture arch = chip();
    char reason[128] = "";
    arch.level[1].area_mm2 = 0.5;
    arch.level[1].byte_area_mm2 = 0.001;
    arch.level[1].hop_area_mm2 = 0.25;
    arch.level[0].area_mm2 = 0.125;
    arch.mac.area_mm2 = 0.0625;
    arch.level[2].byte_area_mm2 = 1;
    assert_true(fabs(architecture_area_mm2(&arch) - 4.5) < 1e-12);
    arch.max_area_mm2 = 4.6;
    assert_true(architecture_area_fits(&arch, reason, sizeof reason));
    arch.max_area_mm2 = 4.4;
    assert_false(architecture_area_fits(&arch, reason, sizeof reason));
    assert_string_equal(reason, "the machine takes 4.5 mm2, max_area is 4.4 mm2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_area_without_numbers),
        cmocka_unit_test(test_area_of_all_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
