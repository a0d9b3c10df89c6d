/* The tables of lower bounds, mappings and lists: what is raised or kept is found, the highest bound counts,
 * other keys never are, and what no longer fits takes the place of others. By several threads. */
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/driver/known_bounds.h"

static struct hash_128 key_of(uint64_t i)
{
    return (struct hash_128){i * 0x9e3779b97f4a7c15u, i * 0xc2b2ae3d27d4eb4fu};
}

static void test_the_highest_is_found(void **state)
{
    (void)state;
    struct known_bounds *known;
    struct dse_error err;
    assert_int_equal(known_bounds_new(4096, &known, &err), DSE_OK);
    assert_true(known_bounds_get(known, key_of(1)).bound == 0);
    known_bounds_raise(known, key_of(1), (struct known_bound){2, false});
    known_bounds_raise(known, key_of(1), (struct known_bound){5, false});
    known_bounds_raise(known, key_of(1), (struct known_bound){3, false});
    assert_true(known_bounds_get(known, key_of(1)).bound == 5);
    assert_false(known_bounds_get(known, key_of(1)).exact);
    known_bounds_raise(known, key_of(1), (struct known_bound){6, true});
    known_bounds_raise(known, key_of(1), (struct known_bound){7, false});
    assert_true(known_bounds_get(known, key_of(1)).bound == 6 && known_bounds_get(known, key_of(1)).exact);
    const struct hash_128 half = {key_of(1).low, key_of(2).high}; /* found by the same hash */
    assert_true(known_bounds_get(known, half).bound == 0);
    known_bounds_free(known);
    known_bounds_free(NULL);
}

/* Of 100,000 bounds a small table keeps some, each of them right. */
static void test_a_full_table_keeps_what_is_right(void **state)
{
    (void)state;
    enum { N = 100000, ROOM = 4096 };
    struct known_bounds *known;
    struct dse_error err;
    uint32_t n_kept = 0, n_wrong = 0;
    assert_int_equal(known_bounds_new(ROOM, &known, &err), DSE_OK);
#pragma omp parallel for num_threads(4) reduction(+ : n_wrong)
    for (uint64_t i = 1; i <= N; i++) {
        known_bounds_raise(known, key_of(i), (struct known_bound){(double)i, i % 2 == 0});
        const struct known_bound found = known_bounds_get(known, key_of(i / 2));
        n_wrong += found.bound != 0 && (found.bound != (double)(i / 2) || found.exact != (i / 2 % 2 == 0));
    }
    for (uint64_t i = 1; i <= N; i++) {
        const double found = known_bounds_get(known, key_of(i)).bound;
        n_kept += found != 0;
        n_wrong += found != 0 && found != (double)i;
    }
    assert_int_equal(n_wrong, 0);
    assert_true(n_kept > ROOM / 2 && n_kept <= ROOM);
    known_bounds_free(known);
}

/* Of 1,000 mappings a table with places for 8 keeps some, each of them right. */
static void test_mappings_are_kept(void **state)
{
    (void)state;
    enum { N = 1000, ROOM = 4096, N_PLACE = ROOM / 512 };
    struct known_bounds *known;
    struct known_mapping found;
    struct dse_error err;
    uint32_t n_kept = 0, n_wrong = 0;
    assert_int_equal(known_bounds_new(ROOM, &known, &err), DSE_OK);
    assert_false(known_mappings_get(NULL, key_of(1), &found));
    assert_false(known_mappings_get(known, key_of(1), &found));
#pragma omp parallel for num_threads(4) reduction(+ : n_wrong) private(found)
    for (uint64_t i = 0; i < N; i++) {
        const struct known_mapping one = {.n_evaluation = i, .cost = 2.0 * (double)i, .mapping.n_level = 3};
        known_mappings_keep(known, key_of(i), &one);
        n_wrong += known_mappings_get(known, key_of(i / 2), &found) && found.n_evaluation != i / 2;
    }
    for (uint64_t i = 0; i < N; i++) {
        const struct hash_128 half = {key_of(i).low, key_of(i + 1).high};
        n_wrong += known_mappings_get(known, half, &found);
        if (!known_mappings_get(known, key_of(i), &found))
            continue;
        n_kept++;
        n_wrong += found.n_evaluation != i || found.cost != 2.0 * (double)i || found.mapping.n_level != 3;
    }
    assert_int_equal(n_wrong, 0);
    assert_int_equal(n_kept, N_PLACE);
    known_bounds_free(known);
}

/* Of lists of 1 to 90 kB a table with room for 128 kB keeps what fits, each of them whole. */
static void test_lists_are_kept(void **state)
{
    (void)state;
    enum { N = 90, KB = 1024 };
    static char list[N * KB];
    struct known_bounds *known;
    struct dse_error err;
    size_t byte, sum = 0;
    assert_int_equal(known_bounds_new(4096, &known, &err), DSE_OK); /* 32 bytes for each bound */
    for (uint64_t i = 1; i <= N; i++) {
        memset(list, (int)i, i * KB);
        known_lists_keep(known, key_of(i), list, i * KB);
    }
    for (uint64_t i = 1; i <= N; i++) {
        char *found = known_lists_get(known, key_of(i), &byte);
        assert_int_equal(byte, found ? i * KB : 0);
        for (size_t k = 0; k < byte; k++)
            assert_int_equal(found[k], i);
        sum += byte;
        free(found);
    }
    assert_true(sum > 16 * KB && sum <= 128 * KB);
    known_lists_keep(known, key_of(N), list, KB); /* in its own place, or that of another */
    void *found = known_lists_get(known, key_of(N), &byte);
    assert_int_equal(byte, KB);
    free(found);
    known_bounds_free(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_highest_is_found),
        cmocka_unit_test(test_a_full_table_keeps_what_is_right),
        cmocka_unit_test(test_mappings_are_kept),
        cmocka_unit_test(test_lists_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
