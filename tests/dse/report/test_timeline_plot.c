/* What a panel is called. Expected texts are written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dse/report/timeline_plot.h"

static void test_timeline_title_is_the_name_of_the_file(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    assert_string_equal(timeline_title("a.b/stage1.yaml", &arena), "stage1");
    assert_string_equal(timeline_title("stage.1", &arena), "stage");
    assert_string_equal(timeline_title(".hidden", &arena), ".hidden");
    assert_string_equal(timeline_title("a/plain", &arena), "plain");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeline_title_is_the_name_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
