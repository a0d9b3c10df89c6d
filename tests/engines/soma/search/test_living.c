/* Bytes alive at each position: sums and searches agree with a plain array after random additions, for sizes
 * around those of blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/random.h"
#include "engines/soma/search/living.h"

enum { N_MAX = 5 * SOMA_LIVING_BLOCK, N_HELD = 20, BYTE_MAX = 50 };

struct held {
    uint32_t first, past;
    uint64_t byte;
};

static uint32_t plain_back(const uint64_t *plain, uint32_t first, uint32_t past, uint64_t byte)
{
    while (past > first && plain[past - 1] <= byte)
        past--;
    return past;
}

/* One search of each kind from random places. */
static void check_searches(const struct soma_living *living, const uint64_t *plain,
                           struct random_stream *stream)
{
    uint32_t past = random_below(stream, living->n + 1), first = random_below(stream, past + 1), at = first;
    uint64_t byte = random_below(stream, N_HELD * BYTE_MAX / 2), most = 0, plain_most = 0;
    assert_int_equal(soma_living_back(living, first, past, byte), plain_back(plain, first, past, byte));
    bool below = true;
    for (uint32_t x = first; x < past; x++)
        below &= plain[x] <= byte;
    assert_true(soma_living_below(living, &at, past, byte, &most) == below);
    assert_true(below ? at == past : at > first && at <= past);
    for (uint32_t x = first; x < at; x++)
        plain_most = plain[x] > plain_most ? plain[x] : plain_most;
    assert_int_equal(most, plain_most);
}

/* Ranges come and go, as the rooms of loads do. */
static void check_size(uint32_t n, struct random_stream *stream)
{
    struct arena arena;
    struct soma_living living, copy;
    struct held held[N_HELD] = {{0}};
    uint64_t plain[N_MAX] = {0};
    arena_init(&arena);
    soma_living_new(n, &arena, &living);
    soma_living_new(n, &arena, &copy);
    for (int round = 0; round < 300; round++) {
        struct held *h = &held[random_below(stream, N_HELD)];
        soma_living_add(&living, h->first, h->past, 0 - h->byte);
        for (uint32_t x = h->first; x < h->past; x++)
            plain[x] -= h->byte;
        h->past = random_below(stream, n + 1);
        h->first = random_below(stream, h->past + 1);
        h->byte = random_below(stream, BYTE_MAX);
        soma_living_add(&living, h->first, h->past, h->byte);
        for (uint32_t x = h->first; x < h->past; x++)
            plain[x] += h->byte;
        for (uint32_t x = 0; x < n; x++)
            assert_int_equal(soma_living_at(&living, x), plain[x]);
        check_searches(&living, plain, stream);
    }
    soma_living_copy(&living, &copy);
    check_searches(&copy, plain, stream);
    arena_free(&arena);
}

static void test_it_is_what_a_plain_array_says(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(1, 2, 3);
    for (uint32_t n = 1; n <= N_MAX; n++)
        check_size(n, &stream);
}

/* A search stops at the first position that has too much, or behind the block that holds it. */
static void test_a_search_goes_on_where_the_last_one_stopped(void **state)
{
    (void)state;
    struct arena arena;
    struct soma_living living;
    uint32_t at = 0;
    uint64_t most = 0;
    arena_init(&arena);
    soma_living_new(10, &arena, &living);
    soma_living_add(&living, 3, 6, 7);
    assert_true(soma_living_below(&living, &at, 3, 0, &most));
    assert_int_equal(at, 3);
    assert_false(soma_living_below(&living, &at, 10, 6, &most));
    assert_int_equal(at, 4);
    assert_int_equal(most, 7);
    assert_true(soma_living_below(&living, &at, 10, 7, &most));
    assert_int_equal(at, 10);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_what_a_plain_array_says),
        cmocka_unit_test(test_a_search_goes_on_where_the_last_one_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
