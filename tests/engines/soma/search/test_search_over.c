/* When a search of the SoMa family has to end.
 * Tests: search.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/clock.h"
#include "engines/soma/search/fusion_bound.h"
#include "engines/soma/search/layerwise.h"
#include "engines/soma/search/lfa_price.h"
#include "engines/soma/search/lfa_search.h"
#include "engines/soma/search/plus_price.h"
#include "engines/soma/search/plus_start.h"
#include "tests/support/soma_case.h"

/* Parts of layers and what goes past the buffer, each alone; rounds are for the layers before the cut. */
static void test_search_is_large_in_parts_or_past_the_buffer(void **state)
{
    (void)state;
    const struct network network = {.n_layer = 40};
    struct soma_graph graph = {0};
    struct soma_search search = {.context = {.network = &network, .graph = &graph}};
    assert_false(soma_search_is_large(&search));
    assert_true(soma_search_layers(&search) == 40);
    search.layer_share = 1;
    assert_false(soma_search_is_large(&search));
    search.layer_share = 0.25;
    assert_true(soma_search_is_large(&search));
    assert_true(soma_search_layers(&search) == 10);
    search.layer_share = 0;
    graph.streams = 1u << TENSOR_WEIGHT;
    assert_true(soma_search_is_large(&search));
    assert_true(soma_search_layers(&search) == 40);
}

static void test_search_is_over_when_time_or_cancel_says_so(void **state)
{
    (void)state;
    atomic_int cancel = 0;
    struct soma_search search = {0};
    assert_false(soma_search_is_over(&search));
    search.cancel = &cancel;
    search.stop_at_s = clock_wall_s() + 3600;
    assert_false(soma_search_is_over(&search));
    cancel = 1;
    assert_true(soma_search_is_over(&search));
    search.cancel = NULL;
    search.stop_at_s = clock_wall_s();
    assert_true(soma_search_is_over(&search));
}

static void test_search_ends_earlier_by_what_is_reserved(void **state)
{
    (void)state;
    double reserved_s = 0;
    struct soma_search search = {.reserved_s = &reserved_s};
    reserved_s = 1;
    assert_true(soma_search_end(&search) == 0);
    assert_false(soma_search_is_over(&search));
    search.stop_at_s = clock_wall_s() + 3600;
    assert_true(soma_search_end(&search) == search.stop_at_s - 1);
    assert_false(soma_search_is_over(&search));
    reserved_s = 3600;
    assert_true(soma_search_is_over(&search));
    search.stop_at_s = 1800; /* a clock that has just begun */
    assert_true(soma_search_end(&search) > 0);
    assert_true(soma_search_reserve(0) == 0);
    assert_true(soma_search_reserve(2) - soma_search_reserve(1) >= 1);
}

/* An hour is 9e9 parts of 4e-7 s; of a long schedule a block of 3 layers counts once, not 3 times (5 of 11
 * layers). */
static void test_search_makes_what_there_is_time_for(void **state)
{
    (void)state;
    const struct network whole = {.n_layer = 11};
    const struct network_fold fold = {.whole = &whole, .network = {.n_layer = 5}};
    struct soma_graph graph = {0};
    atomic_int cancel = 0;
    struct soma_search search = {.context = {.graph = &graph}, .cancel = &cancel};
    struct soma_price price = {.n_part = 18000000000};
    assert_true(soma_search_can_make(&search, &price)); /* no limit */
    search.stop_at_s = clock_wall_s() + 3600;
    assert_false(soma_search_can_make(&search, &price));
    graph.fold = &fold;
    assert_false(soma_search_can_make(&search, &price));
    price.is_long = true;
    assert_true(soma_search_can_make(&search, &price));
    graph.fold = NULL;
    assert_false(soma_search_can_make(&search, &price));
    price.n_part = 8000000000;
    assert_true(soma_search_can_make(&search, &price));
    atomic_store(&cancel, 1);
    assert_false(soma_search_can_make(&search, &price));
    price.n_part = 300000; /* 0.12 s: in an instant */
    assert_true(soma_search_can_make(&search, &price));
}

/* tiny6 with 16 tiles a layer: polishing gives a schedule all the same, of less than all it would look at. */
static void test_search_that_is_over_polishes_no_more(void **state)
{
    (void)state;
    struct soma_case c;
    struct soma_lfa lfa;
    struct fused_schedule schedule;
    struct soma_price price;
    struct arena scratch;
    struct dse_error err;
    atomic_int cancel = 0;
    uint64_t left = 1000000;
    soma_case_open(&c, "tests/known/soma/tiny6.yaml", 1 << 20);
    struct soma_search search = {.context = c.context,
                                 .machine = {1 << 20, {1, 1}, 84e-12},
                                 .objective = {1, 1},
                                 .clock_hz = 1e9,
                                 .cancel = &cancel};
    arena_init(&scratch);
    soma_lfa_new(6, &c.arena, &lfa);
    assert_int_equal(soma_initial_lfa(&search, SOMA_MOVES_PAPER, 1 << 20, NULL, &lfa, &price, &err), DSE_OK);
    atomic_store(&cancel, 1);
    assert_int_equal(plus_polish(&search, &lfa, NULL, 350, &left, random_stream_make(1, 1, RANDOM_TEST),
                                 &scratch, &schedule, &price, &err),
                     DSE_OK);
    assert_true(isfinite(price.cost));
    assert_true(left > 999990);
    arena_free(&scratch);
    soma_case_close(&c);
}

/* A core array that ends the search when it has been asked so often, and counts what follows. */
struct ending_core {
    struct core_scheduler core;
    uint64_t until, after;
    atomic_int cancel;
};

/* What the scheduler's hook gets is const. */
struct handle {
    struct ending_core *ending;
};

static enum dse_status ending_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                   struct dse_error *err)
{
    struct ending_core *ending = ((const struct handle *)self)->ending;
    if (ending->until > 0)
        ending->until--;
    else
        ending->after++;
    if (ending->until == 0)
        atomic_store(&ending->cancel, 1);
    return ending->core.cost(ending->core.self, tile, cost, err);
}

enum { START, TUNING, BOUND, GROUPS, N_PART };

/* One part of a search's beginning, which would go on for long. */
static enum dse_status begin_part(int part, const struct soma_search *search, struct arena *scratch,
                                  struct soma_lfa *lfa, struct soma_price *price, struct dse_error *err)
{
    struct soma_lfa_prices *prices;
    struct soma_bound bound;
    uint64_t n;
    if (part == START)
        return soma_initial_lfa(search, SOMA_MOVES_PAPER, 1 << 20, NULL, lfa, price, err);
    if (part == BOUND)
        return soma_bound(search, UINT64_MAX, scratch, &bound, err);
    if (part == GROUPS)
        return plus_start(search, 64, scratch, lfa, price, err);
    DSE_TRY(soma_lfa_prices_new(search, &prices, err));
    enum dse_status status = soma_cheap_lfa(search, prices, lfa, price, err);
    if (status == DSE_OK && price->cost < INFINITY)
        status = soma_layerwise(search, prices, UINT64_MAX, lfa, price, &n, err);
    soma_lfa_prices_free(prices);
    return status;
}

/* Every part of the beginning looks while it asks what tiles cost: none goes on for more than what belongs to
 * one layer group or one row of shapes, of hundreds to thousands that it would ask for. */
static void test_search_that_is_over_begins_no_more(void **state)
{
    static const uint64_t until[] = {1, 20, 60};
    (void)state;
    for (int part = 0; part < N_PART; part++)
        for (size_t i = 0; i < sizeof until / sizeof until[0]; i++) {
            struct soma_case c;
            struct soma_lfa lfa;
            struct soma_price price;
            struct arena scratch;
            struct dse_error err;
            soma_case_open(&c, "experiments/networks/resnet50_soma.yaml", 1 << 20);
            struct soma_search search = soma_case_search(&c, 8 << 20, 16);
            struct ending_core ending = {.core = search.context.core, .until = until[i]};
            const struct handle handle = {&ending};
            search.context.core = (struct core_scheduler){.cost = ending_cost, .self = &handle};
            search.cancel = &ending.cancel;
            arena_init(&scratch);
            soma_lfa_new(c.network.n_layer, &c.arena, &lfa);
            assert_int_equal(begin_part(part, &search, &scratch, &lfa, &price, &err), DSE_OK);
            assert_int_equal(ending.until, 0);
            assert_true(ending.after <= 112); /* columns of the first layer's output */
            arena_free(&scratch);
            soma_case_close(&c);
        }
}

/* VGG-16 with a tile for each place of the two layers of 224 x 224: more than 2^16 tiles. What is `made` is
 * whatever the flag says where all layers are one tile. */
static void test_large_schedules_are_given_up(void **state)
{
    (void)state;
    struct soma_case c;
    struct soma_lfa lfa;
    struct soma_price price;
    struct fused_schedule schedule;
    struct arena scratch;
    struct dse_error err;
    atomic_int cancel = 0;
    soma_case_open(&c, "experiments/networks/vgg16.yaml", 1 << 20);
    c.context.compat = false;
    struct soma_search search = soma_case_search(&c, 1ull << 30, 16);
    search.context.cancel = &cancel;
    arena_init(&scratch);
    soma_lfa_new(c.network.n_layer, &c.arena, &lfa);
    struct soma_lfa_prices *prices;
    assert_int_equal(soma_lfa_prices_new(&search, &prices, &err), DSE_OK);
    for (int large = 0; large < 2; large++) {
        assert_int_equal(soma_cheap_lfa(&search, prices, &lfa, &price, &err), DSE_OK);
        for (uint32_t g = 0; g < 2 && large; g++)
            lfa.tiling[g] = 224 * 224;
        for (int over = 0; over < 3; over++) { /* not; cancelled; the time is over */
            const bool made = over == 0 || !large;
            atomic_store(&cancel, over == 1);
            search.context.end_s = over == 2 ? clock_wall_s() : 0;
            arena_reset(&scratch);
            assert_int_equal(soma_price_lfa(&search, &lfa, 1ull << 30, &scratch, &schedule, &price, &err),
                             DSE_OK);
            assert_int_equal(isfinite(price.cost), made);
            assert_int_equal(schedule.n_tile > 0, made);
            arena_reset(&scratch);
            assert_int_equal(
                plus_price(&search, &lfa, NULL, INFINITY, &scratch, &schedule, &price, NULL, &err), DSE_OK);
            assert_int_equal(isfinite(price.cost), made);
            assert_int_equal(soma_lfa_price(prices, &lfa, 1ull << 30, &price, &err), DSE_OK);
            assert_int_equal(isfinite(price.cost), made);
        }
        atomic_store(&cancel, 0);
        search.context.end_s = 0;
    }
    soma_lfa_prices_free(prices);
    arena_free(&scratch);
    soma_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_that_is_over_begins_no_more),
        cmocka_unit_test(test_large_schedules_are_given_up),
        cmocka_unit_test(test_search_is_large_in_parts_or_past_the_buffer),
        cmocka_unit_test(test_search_is_over_when_time_or_cancel_says_so),
        cmocka_unit_test(test_search_makes_what_there_is_time_for),
        cmocka_unit_test(test_search_ends_earlier_by_what_is_reserved),
        cmocka_unit_test(test_search_that_is_over_polishes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
