/* Tests: network_names.c. Which names an operand is made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "dse/inputs/network_names.h"

/* Networks a, b, a+b and dir/x+y.yaml. */
static bool is_there(void *user, const char *name)
{
    static const char *const known[] = {"a", "b", "a+b", "dir/x+y.yaml"};
    (void)user;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i], name) == 0)
            return true;
    return false;
}

static void test_names(void **state)
{
    static const struct {
        const char *name, *part[4];
    } row[] = {
        {"a", {"a"}},
        {"none", {"none"}},
        {"a+b", {"a+b"}}, /* is there as a whole */
        {"b+a", {"b", "a"}},
        {"b+b+b", {"b", "b", "b"}},
        {"b+a+b", {"b", "a+b"}},
        {"a+b+b", {"a+b", "b"}},
        {"dir/x+y.yaml+a", {"dir/x+y.yaml", "a"}},
        {"a+none+b", {"a", "none", "b"}},
        {"none+a+b", {"none", "a+b"}},
        {"a+", {"a", ""}},
        {"+a", {"", "a"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct arena arena;
        struct dse_error err;
        const char *const *part;
        size_t n;
        arena_init(&arena);
        assert_int_equal(network_names(row[i].name, is_there, NULL, &arena, &part, &n, &err), DSE_OK);
        for (size_t k = 0; k < n; k++) {
            assert_non_null(row[i].part[k]);
            assert_string_equal(part[k], row[i].part[k]);
        }
        assert_true(n == 4 || !row[i].part[n]);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
