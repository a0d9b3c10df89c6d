/* Tests: core_mapping.c, core_local.c, core_program.c, core_traffic.c.
 * Random graphs of at most seven uops on a mesh of 2 x 2: costs by plain loops over pairs, the best of all
 * mappings that keep the starts, the best of all assignments of each batch. Whole networks in zig-zag order:
 * hops by an independent program (tests/support/uop_known.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/klotski/order/core_local.h"
#include "engines/klotski/order/order_search.h"
#include "tests/support/uop_known.h"
#include "tests/support/uop_small.h"

enum { SIDE = 2, N_CORE = SIDE * SIDE, SMALL = 7, N_GRAPH = 250 };

static const struct core_settings usual = {
    .mesh = {SIDE, SIDE}, .rule = CORE_LOCAL, .n_move = 50, .deadline_s = INFINITY};

struct timed {
    struct uop_small s;
    uint64_t start[UOP_SMALL_MAX];
};

/* A graph with words to send, and starts of a list schedule. */
static void make(struct random_stream *rng, struct arena *arena, struct timed *t)
{
    uint32_t core[UOP_SMALL_MAX];
    struct order_found found = {.start = t->start, .core = core};
    struct dse_error err;
    const struct order_settings order = {.rule = ORDER_LIST, .n_core = N_CORE, .deadline_s = INFINITY};
    do
        uop_small_random(rng, &t->s);
    while (t->s.graph.n_uop > SMALL);
    for (uint32_t u = 0; u < t->s.graph.n_uop; u++)
        t->s.uop[u].output_word = 1 + random_below(rng, 50);
    assert_int_equal(order_search(&t->s.graph, &order, rng, arena, &found, &err), DSE_OK);
}

static struct core_programs map(const struct timed *t, const struct core_settings *settings,
                                struct arena *arena, uint32_t *core)
{
    struct random_stream random = random_stream_make(1, 0, RANDOM_MOVE);
    struct core_programs programs;
    struct dse_error err;
    if (core_mapping(&t->s.graph, t->start, settings, &random, arena, core, &programs, &err) != DSE_OK)
        fail_msg("%s", err.text);
    return programs;
}

static uint32_t hops(uint32_t a, uint32_t b)
{
    return (uint32_t)(abs((int)(a / SIDE) - (int)(b / SIDE)) + abs((int)(a % SIDE) - (int)(b % SIDE)));
}

static bool overlap(const struct timed *t, uint32_t u, uint32_t v)
{
    return t->start[u] < t->start[v] + t->s.uop[v].cycle && t->start[v] < t->start[u] + t->s.uop[u].cycle;
}

/* What uop `u` costs as a sender to consumers below `end`. */
static double sends(const struct timed *t, bool unweighted, const uint32_t *core, uint32_t u)
{
    bool to[N_CORE] = {false};
    double sum = 0;
    for (uint32_t v = 0; v < t->s.graph.n_uop; v++)
        if (t->s.edge[u][v])
            to[core[v]] = true;
    for (uint32_t c = 0; c < N_CORE; c++)
        sum += to[c] ? hops(core[u], c) * (unweighted ? 1.0 : (double)t->s.uop[u].output_word) : 0;
    return sum;
}

static double cost_of(const struct timed *t, bool unweighted, const uint32_t *core)
{
    double sum = 0;
    for (uint32_t u = 0; u < t->s.graph.n_uop; u++)
        sum += sends(t, unweighted, core, u);
    return sum;
}

/* The best of all mappings, with cores of uops before `u` given. */
static double best_of_all(const struct timed *t, bool unweighted, uint32_t *core, uint32_t u)
{
    double best = INFINITY;
    if (u == t->s.graph.n_uop)
        return cost_of(t, unweighted, core);
    for (core[u] = 0; core[u] < N_CORE; core[u]++) {
        bool free = true;
        for (uint32_t v = 0; v < u; v++)
            free = free && !(core[v] == core[u] && overlap(t, u, v));
        if (free)
            best = fmin(best, best_of_all(t, unweighted, core, u + 1));
    }
    return best;
}

static void check_valid(const struct timed *t, const uint32_t *core)
{
    for (uint32_t u = 0; u < t->s.graph.n_uop; u++) {
        assert_true(core[u] < N_CORE);
        for (uint32_t v = 0; v < u; v++)
            assert_false(core[u] == core[v] && overlap(t, u, v));
    }
}

static void test_never_below_the_best_nor_above_the_sweep(void **state)
{
    struct random_stream rng = random_stream_make(7, 0, RANDOM_TEST);
    struct arena arena;
    int n_best = 0, n_better = 0;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < N_GRAPH; i++) {
        struct timed t;
        struct core_settings settings = usual;
        uint32_t core[UOP_SMALL_MAX], all[UOP_SMALL_MAX];
        double cost[CORE_LOCAL + 1];
        make(&rng, &arena, &t);
        settings.unweighted = i % 2;
        for (settings.rule = CORE_ZIGZAG; settings.rule <= CORE_LOCAL; settings.rule++) {
            (void)map(&t, &settings, &arena, core);
            check_valid(&t, core);
            cost[settings.rule] = cost_of(&t, settings.unweighted, core);
        }
        const double best = best_of_all(&t, settings.unweighted, all, 0);
        assert_true(cost[CORE_ZIGZAG] >= best && cost[CORE_LOCAL] >= best);
        assert_true(cost[CORE_LOCAL] <= cost[CORE_SWEEP]);
        n_best += cost[CORE_LOCAL] <= best;
        n_better += cost[CORE_LOCAL] < cost[CORE_SWEEP];
        arena_reset(&arena);
    }
    arena_free(&arena);
    assert_true(n_best >= N_GRAPH * 99 / 100);
    assert_true(n_better > 10);
}

/* Different starts before a time. */
static uint32_t steps_before(const struct timed *t, uint64_t time)
{
    uint32_t n = 0;
    for (uint32_t u = 0; u < t->s.graph.n_uop; u++) {
        bool first = t->start[u] < time;
        for (uint32_t v = 0; v < u; v++)
            first = first && t->start[v] != t->start[u];
        n += first;
    }
    return n;
}

/* From zig-zag, which leaves more to do than the sweep. */
static void test_local_search_from_far(void **state)
{
    struct random_stream rng = random_stream_make(12, 0, RANDOM_TEST);
    struct arena arena;
    int n_best = 0, n_far = 0;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < N_GRAPH; i++) {
        struct timed t;
        struct core_settings settings = usual;
        struct core_traffic traffic;
        struct dse_error err;
        uint32_t core[UOP_SMALL_MAX], step[UOP_SMALL_MAX], end_step[UOP_SMALL_MAX];
        make(&rng, &arena, &t);
        settings.rule = CORE_ZIGZAG;
        (void)map(&t, &settings, &arena, core);
        const double zigzag = cost_of(&t, false, core);
        for (uint32_t u = 0; u < t.s.graph.n_uop; u++) {
            step[u] = steps_before(&t, t.start[u]);
            end_step[u] = steps_before(&t, t.start[u] + t.s.uop[u].cycle);
        }
        assert_int_equal(core_traffic_init(&traffic, &t.s.graph, &usual.mesh, false, &arena, &err), DSE_OK);
        core_traffic_set(&traffic, core);
        assert_int_equal(
            core_local(&traffic, step, end_step, steps_before(&t, UINT64_MAX), &usual, &rng, &arena, &err),
            DSE_OK);
        check_valid(&t, traffic.core);
        const double local = cost_of(&t, false, traffic.core), best = best_of_all(&t, false, core, 0);
        assert_true(local <= zigzag && local >= best);
        n_best += local <= best;
        n_far += zigzag > best;
        arena_reset(&arena);
    }
    arena_free(&arena);
    assert_true(n_best >= N_GRAPH * 99 / 100 && n_far > N_GRAPH / 4);
}

/* What the messages to uop `u` cost that earlier consumers of the same producers did not cause. */
static double receives(const struct timed *t, const uint32_t *core, uint32_t u)
{
    double sum = 0;
    for (uint32_t p = 0; p < u; p++) {
        bool sent = !t->s.edge[p][u];
        for (uint32_t v = 0; v < t->s.graph.n_uop; v++)
            sent = sent || (t->s.edge[p][v] && t->start[v] < t->start[u] && core[v] == core[u]);
        sum += sent ? 0 : hops(core[p], core[u]) * (double)t->s.uop[p].output_word;
    }
    return sum;
}

/* Uops `u` and later that start at `at` on any cores that are free, one each. */
static double best_of_batch(const struct timed *t, uint64_t at, uint32_t *core, uint32_t u)
{
    double best = INFINITY;
    for (; u < t->s.graph.n_uop && t->start[u] != at; u++)
        ;
    if (u == t->s.graph.n_uop)
        return 0;
    const uint32_t was = core[u];
    for (core[u] = 0; core[u] < N_CORE; core[u]++) {
        bool free = true;
        for (uint32_t v = 0; v < t->s.graph.n_uop; v++) {
            const bool placed = t->start[v] < at || (t->start[v] == at && v < u);
            free = free && !(placed && core[v] == core[u] && overlap(t, u, v));
        }
        if (free)
            best = fmin(best, receives(t, core, u) + best_of_batch(t, at, core, u + 1));
    }
    core[u] = was;
    return best;
}

static void test_batches_of_the_sweep_are_best(void **state)
{
    struct random_stream rng = random_stream_make(8, 0, RANDOM_TEST);
    struct core_settings settings = usual;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    settings.rule = CORE_SWEEP;
    for (int i = 0; i < N_GRAPH; i++) {
        struct timed t;
        uint32_t core[UOP_SMALL_MAX];
        double total = 0;
        make(&rng, &arena, &t);
        (void)map(&t, &settings, &arena, core);
        for (uint32_t u = 0; u < t.s.graph.n_uop; u++) {
            double batch = 0;
            total += receives(&t, core, u);
            for (uint32_t v = 0; v < t.s.graph.n_uop; v++)
                batch += t.start[v] == t.start[u] ? receives(&t, core, v) : 0;
            assert_true(batch == best_of_batch(&t, t.start[u], core, 0));
        }
        assert_true(total == cost_of(&t, false, core));
        arena_reset(&arena);
    }
    arena_free(&arena);
}

/* The first free core along the first row, back along the second. */
static void test_zigzag_takes_the_first(void **state)
{
    static const uint32_t way[N_CORE] = {0, 1, 3, 2};
    struct random_stream rng = random_stream_make(9, 0, RANDOM_TEST);
    struct core_settings settings = usual;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    settings.rule = CORE_ZIGZAG;
    for (int i = 0; i < N_GRAPH; i++) {
        struct timed t;
        uint32_t core[UOP_SMALL_MAX];
        make(&rng, &arena, &t);
        (void)map(&t, &settings, &arena, core);
        for (uint32_t u = 0; u < t.s.graph.n_uop; u++)
            for (uint32_t k = 0; k < N_CORE && way[k] != core[u]; k++) {
                bool taken = false;
                for (uint32_t v = 0; v < t.s.graph.n_uop; v++)
                    taken = taken || (core[v] == way[k] && overlap(&t, u, v) &&
                                      (t.start[v] < t.start[u] || (t.start[v] == t.start[u] && v < u)));
                assert_true(taken);
            }
        arena_reset(&arena);
    }
    arena_free(&arena);
}

static void test_moves_change_the_cost_as_counted_anew(void **state)
{
    struct random_stream rng = random_stream_make(10, 0, RANDOM_TEST);
    const struct core_mesh mesh = {SIDE, SIDE};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < N_GRAPH; i++) {
        struct timed t;
        struct core_traffic traffic;
        struct dse_error err;
        uint32_t core[UOP_SMALL_MAX];
        make(&rng, &arena, &t);
        map(&t, &usual, &arena, core);
        assert_int_equal(core_traffic_init(&traffic, &t.s.graph, &mesh, false, &arena, &err), DSE_OK);
        core_traffic_set(&traffic, core);
        double cost = cost_of(&t, false, core);
        assert_true(core_traffic_cost(&traffic) == cost);
        for (int k = 0; k < 40; k++) {
            const uint32_t u = random_below(&rng, t.s.graph.n_uop);
            cost += core_traffic_move(&traffic, u, core[u] = random_below(&rng, N_CORE));
            assert_true(cost == cost_of(&t, false, core));
            assert_true(cost == core_traffic_cost(&traffic));
        }
        arena_reset(&arena);
    }
    arena_free(&arena);
}

static void test_limits(void **state)
{
    struct random_stream rng = random_stream_make(11, 0, RANDOM_TEST);
    struct arena arena;
    atomic_int cancel = 1;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < N_GRAPH; i++) {
        struct timed t;
        uint32_t core[5][UOP_SMALL_MAX];
        struct core_settings settings[5] = {usual, usual, usual, usual, usual};
        make(&rng, &arena, &t);
        settings[1].cancel = &cancel;
        settings[2].rule = CORE_SWEEP;
        settings[4].rule = CORE_MIP;
        settings[4].cancel = &cancel;
        for (int k = 0; k < 5; k++)
            (void)map(&t, &settings[k], &arena, core[k]);
        assert_memory_equal(core[0], core[3], t.s.graph.n_uop * sizeof core[0][0]); /* the same again */
        assert_memory_equal(core[1], core[2], t.s.graph.n_uop * sizeof core[0][0]); /* cancelled at once */
        assert_memory_equal(core[4], core[2], t.s.graph.n_uop * sizeof core[0][0]);
        arena_reset(&arena);
    }
    arena_free(&arena);
}

static void test_more_uops_than_cores(void **state)
{
    struct timed t = {.s = {.graph = {.n_sample = 1, .n_uop = 2}}};
    struct core_settings settings = usual;
    struct random_stream random = random_stream_make(1, 0, RANDOM_MOVE);
    struct core_programs programs;
    struct arena arena;
    struct dse_error err;
    uint32_t core[2];
    (void)state;
    arena_init(&arena);
    t.s.graph.uop = t.s.uop;
    t.s.graph.first_producer = t.s.first_producer;
    t.s.graph.first_consumer = t.s.first_consumer;
    t.s.uop[0].cycle = t.s.uop[1].cycle = 3;
    settings.mesh = (struct core_mesh){1, 1};
    t.start[1] = 2;
    assert_int_equal(core_mapping(&t.s.graph, t.start, &settings, &random, &arena, core, &programs, &err),
                     DSE_INTERNAL);
    t.start[1] = 3;
    assert_int_equal(core_mapping(&t.s.graph, t.start, &settings, &random, &arena, core, &programs, &err),
                     DSE_OK);
    assert_true(core[0] == 0 && core[1] == 0);
    arena_free(&arena);
}

/* The reference counts a message for each edge. */
static void test_known_hops(void **state)
{
    static const struct {
        size_t known; /* row */
        uint32_t side;
        uint64_t hops;
        double byte_hop; /* three digits */
    } row[] = {{0, 3, 8166, 4.80e8}, {3, 3, 10261, 7.64e8}, {3, 5, 16661, 1.23e9}, {7, 4, 18377, 8.16e8}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct uop_known_row *known_row = &uop_known_row[row[i].known];
        struct uop_known known;
        struct core_traffic traffic;
        struct core_programs programs;
        struct dse_error err;
        struct random_stream random = random_stream_make(1, 0, RANDOM_MOVE);
        const struct order_settings order = {
            .rule = ORDER_LIST, .n_core = row[i].side * row[i].side, .deadline_s = INFINITY};
        const struct core_settings settings = {
            .rule = CORE_ZIGZAG, .mesh = {row[i].side, row[i].side}, .deadline_s = INFINITY};
        uop_known_open(known_row->network, known_row->cut, &known);
        const struct uop_graph *graph = &known.graph;
        struct arena *arena = &known.arena;
        struct order_found found = {.start = arena_alloc(arena, graph->n_uop, sizeof *found.start),
                                    .core = arena_alloc(arena, graph->n_uop, sizeof *found.core)};
        assert_int_equal(order_search(graph, &order, &random, arena, &found, &err), DSE_OK);
        assert_int_equal(
            core_mapping(graph, found.start, &settings, &random, arena, found.core, &programs, &err), DSE_OK);
        assert_int_equal(core_traffic_init(&traffic, graph, &settings.mesh, false, arena, &err), DSE_OK);
        uint64_t hops = 0, word_hops = 0;
        for (uint32_t u = 0; u < graph->n_uop; u++)
            for (uint32_t k = graph->first_consumer[u]; k < graph->first_consumer[u + 1]; k++) {
                const uint32_t to = found.core[graph->consumer[k]];
                const uint64_t h = traffic.hops[found.core[u] * traffic.n_core + to];
                hops += h;
                word_hops += h * graph->uop[u].output_word;
            }
        assert_int_equal(hops, row[i].hops);
        assert_true(fabs(4 * (double)word_hops / row[i].byte_hop - 1) < 0.005);
        uop_known_close(&known);
    }
}

/* Windows have as many uops as there are cores. Where each uop sends to one at most, a window that is the
 * whole graph is priced as it is, and its program finds the best of all. */
static void test_programs(void **state)
{
    struct random_stream rng = random_stream_make(14, 0, RANDOM_TEST);
    struct core_settings settings = usual;
    struct arena arena;
    int n_best = 0, n_better = 0, n_whole = 0;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < N_GRAPH; i++) {
        struct timed t;
        uint32_t core[UOP_SMALL_MAX], all[UOP_SMALL_MAX];
        struct core_programs programs;
        make(&rng, &arena, &t);
        for (uint32_t u = 0; i % 2 && u < t.s.graph.n_uop; u++)
            for (uint32_t v = u + 1, n = 0; v < t.s.graph.n_uop; v++) {
                n += t.s.edge[u][v];
                t.s.edge[u][v] = t.s.edge[u][v] && n == 1;
            }
        uop_small_link(&t.s, t.s.graph.n_uop);
        settings.unweighted = i / 2 % 2;
        settings.rule = CORE_SWEEP;
        (void)map(&t, &settings, &arena, core);
        const double sweep = cost_of(&t, settings.unweighted, core);
        settings.rule = CORE_MIP;
        programs = map(&t, &settings, &arena, core);
        check_valid(&t, core);
        const double mip = cost_of(&t, settings.unweighted, core);
        const double best = best_of_all(&t, settings.unweighted, all, 0);
        assert_true(programs.n_proved == programs.n_window && programs.n_window > 0);
        assert_true(best <= mip && mip <= sweep);
        n_better += mip < sweep;
        n_best += mip <= best;
        if (i % 2 && t.s.graph.n_uop <= N_CORE) {
            assert_true(mip <= best);
            n_whole++;
        }
        arena_reset(&arena);
    }
    arena_free(&arena);
    assert_true(n_best >= N_GRAPH * 9 / 10 && n_better > 10 && n_whole > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_below_the_best_nor_above_the_sweep),
        cmocka_unit_test(test_local_search_from_far),
        cmocka_unit_test(test_batches_of_the_sweep_are_best),
        cmocka_unit_test(test_zigzag_takes_the_first),
        cmocka_unit_test(test_moves_change_the_cost_as_counted_anew),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_known_hops),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_more_uops_than_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
