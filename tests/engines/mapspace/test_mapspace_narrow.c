/* The narrow part of the Mind Mappings machine's space: one level of loops on either side of the PEs; a level
 * that a user spoke of is left alone, and a machine without such levels has no narrow part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/mapspace/mapspace_narrow.h"
#include "engines/mapspace/mapspace_project.h"
#include "tests/support/conv4_case.h"

/* Bit l: level l may have temporal loops. */
static uint32_t open_levels(const struct mapspace *space)
{
    struct mapspace_place place[MAPSPACE_PLACE_MAX];
    uint32_t n = mapspace_places(space, place), open = 0;
    for (uint32_t s = 0; s < n; s++)
        if (!place[s].spatial && place[s].open)
            open |= 1u << place[s].level;
    return open;
}

static uint32_t narrow_levels(const char *path, const char *spoken_of, uint32_t *all)
{
    struct conv4_case conv4;
    struct dse_error err;
    const struct mapspace *space, *narrow;
    struct mapspace_constraints constraints;
    assert_int_equal(conv4_case_init(&conv4, path, false, &err), DSE_OK);
    mapspace_constraints_init(&constraints, &conv4.problem, &conv4.arch);
    if (spoken_of)
        constraints.level[architecture_find_level(&conv4.arch, spoken_of)].temporal.highest[0] = 2;
    assert_int_equal(
        mapspace_new(&conv4.problem, &conv4.arch, &constraints, true, &conv4.arena, &space, &err), DSE_OK);
    assert_int_equal(mapspace_new_narrow(space, &conv4.arena, &narrow, &err), DSE_OK);
    *all = open_levels(space);
    uint32_t open = narrow ? open_levels(narrow) : 0;
    struct random_stream stream = random_stream_make(14, 6, RANDOM_TEST);
    struct mapping mapping = {0};
    for (int i = 0; i < 100 && narrow; i++) {
        assert_true(mapspace_draw(narrow, &stream, &mapping, NULL, NULL));
        assert_true(mapspace_contains(space, &mapping, NULL));
    }
    conv4_case_free(&conv4);
    return open;
}

static void test_one_level_on_either_side_of_the_array(void **state)
{
    (void)state;
    static const char path[] = "experiments/architectures/mindmappings.yaml";
    uint32_t all;
    /* from inside InputRegFile 0, WeightRegFile, PsumRegFile, PsumBuffer 3, WeightBuffer, InputBuffer, DRAM
     * 6 */
    assert_int_equal(narrow_levels(path, NULL, &all), 1u << 0 | 1u << 3 | 1u << 6);
    assert_int_equal(all, 0x7f);
    assert_int_equal(narrow_levels(path, "InputBuffer", &all), 1u << 0 | 1u << 3 | 1u << 5 | 1u << 6);
}

static void test_levels_of_all_tensors_have_no_narrow_part(void **state)
{
    (void)state;
    uint32_t all;
    assert_int_equal(narrow_levels("experiments/architectures/eyeriss_16x16.yaml", NULL, &all), 0);
    assert_int_equal(all, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_level_on_either_side_of_the_array),
        cmocka_unit_test(test_levels_of_all_tensors_have_no_narrow_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
