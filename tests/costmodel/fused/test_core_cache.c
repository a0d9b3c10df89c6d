/* The cache of tile costs: what it returns is what the scheduler behind it computes, on any number of threads
 * and when it is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/fused/core_cache.h"

enum { N_TILE = 500, ROOM = 1 << 16, N_FIELD = 14, N_STREAM = 20000, STREAMED_C = 32 };

static void make_search(struct core_array_search *search, uint64_t mib, bool compat)
{
    const struct core_array_size size = {512, 4, 4, mib << 20, {256, 1}};
    struct dse_error err;
    memset(search, 0xa5, sizeof *search); /* padding must not tell two equal machines apart */
    assert_int_equal(core_array_init(&size, &search->core, &err), DSE_OK);
    search->compat = compat;
}

static struct core_cache *make_cache(uint32_t entry_max)
{
    struct core_cache *cache;
    struct dse_error err;
    assert_int_equal(core_cache_new(entry_max, &cache, &err), DSE_OK);
    return cache;
}

static struct core_cached join(struct core_cache *cache, const struct core_array_search *search)
{
    struct core_cached cached;
    struct dse_error err;
    assert_int_equal(core_cache_join_array(cache, search, &cached, &err), DSE_OK);
    return cached;
}

/* A scheduler behind a cache that counts how often it is asked. */
struct counted {
    struct core_scheduler inner;
    atomic_int asked;
};

static enum dse_status counted_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                    struct dse_error *err)
{
    struct counted *counted = *(struct counted *const *)self;
    atomic_fetch_add(&counted->asked, 1);
    return counted->inner.cost(counted->inner.self, tile, cost, err);
}

/* From now on count the questions that get through to the scheduler of `cached`. */
static void count(struct core_cached *cached, struct counted **counted)
{
    (*counted)->inner = cached->inner;
    cached->inner = (struct core_scheduler){counted, counted_cost};
}

/* N_TILE different tiles in a row. */
static struct core_tile tile_number(uint32_t i)
{
    return (struct core_tile){.b = 1,
                              .k = 8 * (1 + i % 5),
                              .c = 16,
                              .h = 1 + i / 25,
                              .w = 1 + i / 5 % 5,
                              .r = 3,
                              .s = 3,
                              .stride_h = 1,
                              .stride_w = 1,
                              .groups = 1,
                              .operands = 1};
}

/* Ask for tile i; true when the answer is the one of `search` itself. */
static bool ask(struct core_scheduler scheduler, const struct core_array_search *search, uint32_t i)
{
    struct core_tile tile = tile_number(i);
    struct core_cost cost, direct;
    struct dse_error err;
    return scheduler.cost(scheduler.self, &tile, &cost, &err) == DSE_OK &&
           core_array_cost(&search->core, &tile, search->compat, &direct, &err) == DSE_OK &&
           memcmp(&cost, &direct, sizeof cost) == 0;
}

static void test_core_cache_returns_what_the_scheduler_does(void **state)
{
    struct core_array_search search;
    struct core_cache *cache = make_cache(ROOM);
    (void)state;
    make_search(&search, 8, true);
    struct core_cached cached = join(cache, &search);
    struct counted counted = {0}, *self = &counted;
    count(&cached, &self);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < N_TILE; i++)
            assert_true(ask(core_cached_scheduler(&cached), &search, i));
        assert_int_equal(atomic_load(&counted.asked), N_TILE);
    }
    core_cache_free(cache);
}

/* A scheduler that counts how often it is asked; its cost says which tile it was. */
struct counting {
    atomic_int asked;
};

static enum dse_status count_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                  struct dse_error *err)
{
    struct counting *counting = *(struct counting *const *)self;
    atomic_fetch_add(&counting->asked, 1);
    if (tile->h == 13)
        return dse_fail(err, DSE_BAD_INPUT, "13 rows");
    *cost = (struct core_cost){.cycle = tile->h};
    if (tile->c == STREAMED_C) {
        cost->stream_times[1] = tile->h;
        cost->stream_share = 0.5 * tile->k;
        cost->stream_pieces = tile->w;
    }
    return DSE_OK;
}

/* The part of a cost that most tiles do not have comes back with its own tile, past a growth of its list. */
static void test_core_cache_keeps_what_streams(void **state)
{
    struct counting counting = {0}, *self = &counting;
    struct core_cache *cache = make_cache(ROOM);
    struct core_cached cached;
    struct core_cost cost, direct;
    struct dse_error err;
    (void)state;
    assert_int_equal(
        core_cache_join(cache, (struct core_scheduler){&self, count_cost}, "c", 1, &cached, &err), DSE_OK);
    struct core_scheduler scheduler = core_cached_scheduler(&cached);
    for (uint32_t i = 0; i < 2 * N_STREAM; i++) {
        const uint32_t n = i % N_STREAM;
        struct core_tile tile = tile_number(0);
        tile.h = 14 + n % 97;
        tile.w = 1 + n;
        tile.c = n % 2 ? STREAMED_C : 16;
        assert_int_equal(scheduler.cost(scheduler.self, &tile, &cost, &err), DSE_OK);
        assert_int_equal(count_cost(&self, &tile, &direct, &err), DSE_OK);
        assert_memory_equal(&cost, &direct, sizeof cost);
    }
    assert_int_equal(atomic_load(&counting.asked), 3 * N_STREAM);
    core_cache_free(cache);
}

static void test_core_cache_asks_once_per_tile_and_keeps_no_failure(void **state)
{
    struct counting counting = {0}, *self = &counting;
    struct core_cache *cache = make_cache(ROOM);
    struct core_cached cached;
    struct core_tile tile = tile_number(0);
    struct core_cost cost;
    struct dse_error err;
    (void)state;
    assert_int_equal(
        core_cache_join(cache, (struct core_scheduler){&self, count_cost}, "c", 1, &cached, &err), DSE_OK);
    struct core_scheduler scheduler = core_cached_scheduler(&cached);
    for (int i = 0; i < 3; i++)
        assert_int_equal(scheduler.cost(scheduler.self, &tile, &cost, &err), DSE_OK);
    assert_int_equal(atomic_load(&counting.asked), 1);
    tile.h = 13;
    for (int i = 0; i < 3; i++)
        assert_int_equal(scheduler.cost(scheduler.self, &tile, &cost, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "13 rows");
    assert_int_equal(atomic_load(&counting.asked), 4);
    core_cache_free(cache);
}

/* Every field of a tile tells two tiles apart. */
static void test_core_cache_looks_at_every_field(void **state)
{
    struct counting counting = {0}, *self = &counting;
    struct core_cache *cache = make_cache(ROOM);
    struct core_cached cached;
    struct core_tile tile[N_FIELD];
    struct core_cost cost;
    struct dse_error err;
    (void)state;
    assert_int_equal(
        core_cache_join(cache, (struct core_scheduler){&self, count_cost}, NULL, 0, &cached, &err), DSE_OK);
    struct core_scheduler scheduler = core_cached_scheduler(&cached);
    for (int i = 0; i < N_FIELD; i++)
        tile[i] = tile_number(0);
    tile[0].operation = CORE_VECTOR;
    tile[1].b = tile[2].k = tile[3].c = tile[4].h = tile[5].w = tile[6].r = tile[7].s = 77;
    tile[8].stride_h = tile[9].stride_w = tile[10].groups = tile[11].operands = 77;
    tile[12].weights_from_layer = true;
    tile[13].group_k = 77;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N_FIELD; i++) {
            assert_int_equal(scheduler.cost(scheduler.self, &tile[i], &cost, &err), DSE_OK);
            assert_int_equal(cost.cycle, tile[i].h);
        }
    }
    assert_int_equal(atomic_load(&counting.asked), N_FIELD);
    core_cache_free(cache);
}

/* Equal machines share entries; another buffer size or rule set does not. */
static void test_core_cache_shares_between_equal_machines_only(void **state)
{
    struct core_array_search search[4];
    struct core_cache *cache = make_cache(ROOM);
    (void)state;
    make_search(&search[0], 8, true);
    make_search(&search[1], 8, true);
    make_search(&search[2], 8, false);
    make_search(&search[3], 4, true);
    static const int asked[] = {100, 0, 100, 100};
    for (int i = 0; i < 4; i++) {
        struct core_cached cached = join(cache, &search[i]);
        struct counted counted = {0}, *self = &counted;
        count(&cached, &self);
        for (uint32_t t = 0; t < 100; t++)
            assert_true(ask(core_cached_scheduler(&cached), &search[i], t));
        assert_int_equal(atomic_load(&counted.asked), asked[i]);
    }
    core_cache_free(cache);
}

static void test_core_cache_answers_when_it_is_full(void **state)
{
    static const uint32_t room[] = {0, 1, 64, 256};
    struct core_array_search search;
    (void)state;
    make_search(&search, 8, false);
    for (int r = 0; r < 4; r++) {
        struct core_cache *cache = make_cache(room[r]);
        struct core_cached cached = join(cache, &search);
        struct counted counted = {0}, *self = &counted;
        count(&cached, &self);
        for (uint32_t i = 0; i < 2 * N_TILE; i++)
            assert_true(ask(core_cached_scheduler(&cached), &search, i % N_TILE));
        int known = 2 * N_TILE - atomic_load(&counted.asked);
        assert_true(known <= (int)room[r] && (known > 0) == (room[r] >= 64));
        core_cache_free(cache);
    }
}

/* Two threads ask for the same tiles in different orders, and each joins for itself. */
static void test_core_cache_serves_two_threads(void **state)
{
    struct core_array_search search;
    struct core_cache *cache = make_cache(ROOM);
    atomic_int wrong = 0, asked = 0;
    (void)state;
    make_search(&search, 8, false);
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(static, 1)
        for (uint32_t stream = 0; stream < 2; stream++) {
            struct random_stream random = random_stream_make(7, stream, RANDOM_TEST);
            struct counted counted = {0}, *self = &counted;
            struct core_cached cached;
            struct dse_error err;
            if (core_cache_join_array(cache, &search, &cached, &err) != DSE_OK) {
                atomic_fetch_add(&wrong, 1);
                continue;
            }
            count(&cached, &self);
            for (uint32_t i = 0; i < 4 * N_TILE; i++)
                if (!ask(core_cached_scheduler(&cached), &search, random_below(&random, N_TILE)))
                    atomic_fetch_add(&wrong, 1);
            atomic_fetch_add(&asked, atomic_load(&counted.asked));
        }
    }
    assert_int_equal(atomic_load(&wrong), 0);
    /* each of the tiles that were drawn at least once, and at most once by each thread */
    assert_true(atomic_load(&asked) > N_TILE / 2 && atomic_load(&asked) <= 2 * N_TILE);
    core_cache_free(cache);
}

static void test_core_cache_limits_an_identity(void **state)
{
    static const char byte[(1 << 16) + 1];
    struct core_cache *cache = make_cache(ROOM);
    struct core_cached cached;
    struct dse_error err;
    (void)state;
    assert_int_equal(
        core_cache_join(cache, (struct core_scheduler){NULL, count_cost}, byte, sizeof byte, &cached, &err),
        DSE_LIMIT);
    core_cache_free(cache);
    core_cache_free(NULL);
}

/* By tile and identity; the first one stays; no more than the limit, and that without harm. */
static void test_core_cache_keeps_notes(void **state)
{
    static struct core_array_search search, other;
    struct core_cache *cache = make_cache(ROOM);
    make_search(&search, 8, false);
    make_search(&other, 4, false);
    const struct core_cached mine = join(cache, &search), theirs = join(cache, &other);
    const uint32_t first = 0;
    uint32_t note = 7;
    (void)state;
    assert_false(core_cache_recall(&mine, &first, sizeof first, &note, sizeof note));
    for (uint32_t i = 0; i < CORE_CACHE_NOTE_MAX + 10; i++) {
        core_cache_remember(&mine, &i, sizeof i, &i, sizeof i);
        core_cache_remember(&mine, &i, sizeof i, &note, sizeof note);
    }
    for (uint32_t i = 0; i < CORE_CACHE_NOTE_MAX + 10; i++) {
        const bool known = core_cache_recall(&mine, &i, sizeof i, &note, sizeof note);
        assert_int_equal(known, i < CORE_CACHE_NOTE_MAX);
        assert_true(!known || note == i);
    }
    assert_false(core_cache_recall(&theirs, &first, sizeof first, &note, sizeof note));
    assert_false(core_cache_recall(&mine, &first, 2, &note, sizeof note)); /* another key */
    assert_false(core_cache_recall(&mine, &first, sizeof first, &note, 2));
    core_cache_free(cache);
}

/* Notes of a mebibyte each; their bytes are limited, too. */
static void test_core_cache_limits_the_bytes_of_notes(void **state)
{
    enum { NOTE = 1 << 20 };
    static struct core_array_search search;
    static uint8_t note[NOTE];
    struct core_cache *cache = make_cache(ROOM);
    make_search(&search, 8, false);
    const struct core_cached mine = join(cache, &search);
    (void)state;
    for (uint32_t i = 0; i < CORE_CACHE_NOTE_BYTE_MAX / NOTE + 2; i++) {
        core_cache_remember(&mine, &i, sizeof i, note, sizeof note);
        /* with their keys there is room for one less */
        assert_int_equal(core_cache_recall(&mine, &i, sizeof i, note, sizeof note),
                         i + 1 < CORE_CACHE_NOTE_BYTE_MAX / NOTE);
    }
    core_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_cache_returns_what_the_scheduler_does),
        cmocka_unit_test(test_core_cache_asks_once_per_tile_and_keeps_no_failure),
        cmocka_unit_test(test_core_cache_keeps_what_streams),
        cmocka_unit_test(test_core_cache_looks_at_every_field),
        cmocka_unit_test(test_core_cache_shares_between_equal_machines_only),
        cmocka_unit_test(test_core_cache_answers_when_it_is_full),
        cmocka_unit_test(test_core_cache_serves_two_threads),
        cmocka_unit_test(test_core_cache_limits_an_identity),
        cmocka_unit_test(test_core_cache_keeps_notes),
        cmocka_unit_test(test_core_cache_limits_the_bytes_of_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
