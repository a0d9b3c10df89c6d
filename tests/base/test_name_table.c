/* The map from names to indices: 5,000 names, replacing, forgetting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/name_table.h"

enum { N_NAME = 5000 };

static void test_name_table_finds_what_was_put(void **state)
{
    (void)state;
    char name[N_NAME][24];
    struct name_table table;
    name_table_init(&table);
    size_t index = 0;
    assert_false(name_table_get(&table, "k0", &index));
    for (size_t i = 0; i < N_NAME; i++) {
        snprintf(name[i], sizeof name[i], "k%zu", i);
        assert_true(name_table_put(&table, name[i], i));
    }
    for (size_t i = 0; i < N_NAME; i++) {
        char copy[24];
        snprintf(copy, sizeof copy, "k%zu", i);
        assert_true(name_table_get(&table, copy, &index));
        assert_int_equal(index, i);
    }
    assert_false(name_table_get(&table, "k", &index));
    assert_false(name_table_get(&table, "k5000", &index));
    name_table_free(&table);
}

static void test_name_table_put_again_replaces(void **state)
{
    (void)state;
    struct name_table table;
    name_table_init(&table);
    size_t index = 0;
    assert_true(name_table_put(&table, "a", 1));
    assert_true(name_table_put(&table, "a", 2));
    assert_int_equal(table.n_name, 1);
    assert_true(name_table_get(&table, "a", &index));
    assert_int_equal(index, 2);
    name_table_free(&table);
}

static void test_name_table_clear_forgets(void **state)
{
    (void)state;
    char name[100][24];
    struct name_table table;
    name_table_init(&table);
    size_t index = 0;
    name_table_clear(&table);
    for (size_t n = 3; n <= 100; n += 97) { /* small: memory kept; large: given back */
        for (size_t i = 0; i < n; i++) {
            snprintf(name[i], sizeof name[i], "n%zu", i);
            assert_true(name_table_put(&table, name[i], i));
        }
        name_table_clear(&table);
        assert_false(name_table_get(&table, "n1", &index));
        assert_int_equal(table.n_name, 0);
    }
    name_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name_table_finds_what_was_put),
        cmocka_unit_test(test_name_table_put_again_replaces),
        cmocka_unit_test(test_name_table_clear_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
