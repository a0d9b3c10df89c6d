/* The hash of a mapping agrees with mapping_same; a memo gives back what was stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/driver/price_memo.h"
#include "engines/mapspace/mapspace_move.h"
#include "tests/engines/small_cases.h"
#include "tests/support/mapping_same.h"

struct fixture {
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    const struct mapspace *space;
    struct random_stream stream;
};

static void make(struct fixture *f, bool search_bypass)
{
    struct dse_error err;
    arena_init(&f->arena);
    small_gemm(&f->problem, 24, 16, 30);
    small_machine(&f->arch, 64, 512);
    f->stream = random_stream_make(7, 1, RANDOM_TEST);
    assert_int_equal(mapspace_new(&f->problem, &f->arch, NULL, search_bypass, &f->arena, &f->space, &err),
                     DSE_OK);
}

/* Hashes agree exactly where mapping_same does, over all pairs of 300 mappings from a walk. */
static void test_hash_agrees_with_mapping_same(void **state)
{
    (void)state;
    enum { N = 300 };
    static struct mapping seen[N];
    struct fixture f;
    make(&f, true);
    assert_true(mapspace_draw(f.space, &f.stream, &seen[0], NULL, NULL));
    for (int i = 1; i < N; i++)
        assert_true(mapspace_neighbour(f.space, &f.stream, &seen[i - 1], &seen[i]));
    int n_same = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            bool same = mapping_same(&seen[i], &seen[j]);
            n_same += same;
            assert_int_equal(price_memo_hash(&seen[i], false) == price_memo_hash(&seen[j], false), same);
        }
    assert_true(n_same > 0);
    arena_free(&f.arena);
}

static void test_orders_of_unit_loops_do_not_count(void **state)
{
    (void)state;
    struct fixture f;
    struct mapping a, b;
    make(&f, false);
    mapping_init(&a, &f.problem, &f.arch); /* all loops at the outermost level */
    b = a;
    b.level[0].temporal_order[0] = 2;
    b.level[0].temporal_order[2] = 0;
    assert_true(price_memo_hash(&a, false) == price_memo_hash(&b, false));
    b.level[2].temporal_order[0] = 2;
    b.level[2].temporal_order[2] = 0;
    assert_true(price_memo_hash(&a, false) != price_memo_hash(&b, false));
    arena_free(&f.arena);
}

/* Interstellar's accountings look where a loop that is only spatial stands among its level's others. */
static void test_places_of_spatial_loops_count_if_asked(void **state)
{
    (void)state;
    struct fixture f;
    struct mapping a, b;
    make(&f, false);
    mapping_init(&a, &f.problem, &f.arch);
    a.level[0].temporal[2] = 2;
    a.level[1].spatial[0] = 2;
    b = a;
    b.level[0].temporal_order[0] = 2;
    b.level[0].temporal_order[2] = 0;
    assert_true(price_memo_hash(&a, false) == price_memo_hash(&b, false));
    assert_true(price_memo_hash(&a, true) != price_memo_hash(&b, true));
    b = a;
    b.level[0].temporal_order[1] = 2; /* unit loops outside that one */
    b.level[0].temporal_order[2] = 1;
    assert_true(price_memo_hash(&a, true) == price_memo_hash(&b, true));
    arena_free(&f.arena);
}

static void test_memo_keeps_what_was_stored(void **state)
{
    (void)state;
    struct price_memo memo;
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    assert_int_equal(price_memo_new(&memo, NULL, &arena, &err), DSE_OK);
    assert_true(price_memo_at(&memo, 5)->hash == 0);
    *price_memo_at(&memo, 5) = (struct price_memo_entry){5, 2.5, 0.5};
    assert_true(price_memo_at(&memo, 5)->cost == 2.5);
    assert_true(price_memo_at(&memo, 5 + PRICE_MEMO_SIZE)->hash == 5); /* the same place */
    assert_true(price_memo_at(&memo, 6)->hash == 0);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_agrees_with_mapping_same),
        cmocka_unit_test(test_orders_of_unit_loops_do_not_count),
        cmocka_unit_test(test_places_of_spatial_loops_count_if_asked),
        cmocka_unit_test(test_memo_keeps_what_was_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
