/* The arena: memory is zeroed, aligned and disjoint, overflow is refused, texts are copied. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"

static void test_arena_memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    for (int round = 0; round < 3; round++) {
        for (size_t size = 1; size < 3000; size += 7) {
            unsigned char *bytes = arena_alloc(&arena, size, 1);
            assert_non_null(bytes);
            assert_int_equal((uintptr_t)bytes % _Alignof(max_align_t), 0);
            for (size_t i = 0; i < size; i++)
                assert_int_equal(bytes[i], 0);
            memset(bytes, 0xA5, size);
        }
        arena_reset(&arena);
        assert_int_equal(arena.used_byte, 0);
    }
    arena_free(&arena);
}

static void test_arena_requests_do_not_overlap(void **state)
{
    (void)state;
    struct arena arena;
    uint32_t *item[500];
    arena_init(&arena);
    for (uint32_t i = 0; i < 500; i++) {
        item[i] = arena_alloc(&arena, i + 1, sizeof **item);
        assert_non_null(item[i]);
        for (uint32_t k = 0; k <= i; k++)
            item[i][k] = i;
    }
    for (uint32_t i = 0; i < 500; i++)
        for (uint32_t k = 0; k <= i; k++)
            assert_int_equal(item[i][k], i);
    /* 1 + 2 + ... + 500 = 125250 items of 4 bytes */
    assert_int_equal(arena.used_byte, 125250 * 4);
    arena_free(&arena);
}

static void test_arena_refuses_overflow(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    assert_null(arena_alloc(&arena, SIZE_MAX / 2, 3));
    assert_null(arena_alloc(&arena, SIZE_MAX, 1));
    assert_null(arena_copy_text(&arena, "x", SIZE_MAX));
    assert_int_equal(arena.used_byte, 0);
    arena_reset(&arena);
    assert_non_null(arena_alloc(&arena, 0, 8));
    assert_non_null(arena_alloc(&arena, 8, 0));
    arena_free(&arena);
}

static void test_arena_remembers_a_failure(void **state)
{
    (void)state;
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    assert_non_null(arena_alloc(&arena, 3, 1));
    assert_int_equal(arena_check(&arena, "a test", &err), DSE_OK);
    const size_t huge = SIZE_MAX - 20; /* with the head of its block it overflows, so malloc is not asked */
    assert_null(arena_alloc(&arena, 1, huge));
    assert_null(arena_alloc(&arena, 5, 1));
    assert_null(arena_copy_text(&arena, "x", 1));
    assert_int_equal(arena_check(&arena, "a test", &err), DSE_NO_MEMORY);
    assert_int_equal(err.status, DSE_NO_MEMORY);
    char expected[128];
    snprintf(expected, sizeof expected, "out of memory for a test: %zu bytes asked for, with 3 in use", huge);
    assert_string_equal(err.text, expected);
    arena_reset(&arena);
    assert_int_equal(arena_check(&arena, "a test", &err), DSE_OK);
    assert_non_null(arena_alloc(&arena, 5, 1));
    arena_free(&arena);
}

static void test_arena_copies_text(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    assert_string_equal(arena_copy_text(&arena, "capacity: 3", 8), "capacity");
    assert_string_equal(arena_copy_text(&arena, "", 0), "");
    arena_free(&arena);
    arena_free(&arena);
    assert_non_null(arena_alloc(&arena, 1, 1));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena_memory_is_zeroed_and_aligned),
        cmocka_unit_test(test_arena_requests_do_not_overlap),
        cmocka_unit_test(test_arena_refuses_overflow),
        cmocka_unit_test(test_arena_remembers_a_failure),
        cmocka_unit_test(test_arena_copies_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
