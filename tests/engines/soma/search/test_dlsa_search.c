/* SoMa's second stage: moves, bound, search. What is best is enumerated on small random schedules; on the
 * oracles of the reference (tests/known/soma/oracles) the published program's own second stage is what to
 * compare with.
 * Tests: dlsa_bound.c, dlsa_moves.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/search/dlsa_bound.h"
#include "engines/soma/search/dlsa_moves.h"
#include "engines/soma/search/dlsa_search.h"
#include "tests/support/fused_oracle.h"
#include "tests/support/fused_plain.h"

static struct dse_error err;

static void ok(enum dse_status status)
{
    if (status != DSE_OK)
        fail_msg("%s", err.text);
}

static struct fused_oracle *read_oracle(const char *name, struct arena *arena)
{
    struct fused_oracle *oracle = malloc(sizeof *oracle);
    assert_non_null(oracle);
    ok(fused_oracle_read(name, arena, oracle, &err));
    return oracle;
}

static struct fused_result evaluate(const struct fused_schedule *schedule,
                                    const struct fused_machine *machine)
{
    struct arena scratch;
    struct fused_result result;
    arena_init(&scratch);
    ok(fused_evaluate(schedule, machine, &scratch, NULL, &result, &err));
    arena_free(&scratch);
    return result;
}

/* ---- moves ---- */

static bool stands(struct fused_outcome outcome)
{
    return outcome.fault == FUSED_OK || outcome.fault == FUSED_BUFFER;
}

static struct fused_outcome to_time(struct fused_incremental *state, uint32_t tensor, int64_t time)
{
    const struct fused_tensor *moved = &fused_incremental_tensor(state)[tensor];
    bool store = moved->kind == FUSED_OFMAP;
    return fused_move(state, tensor, fused_incremental_place(state, tensor),
                      store ? moved->start : (int32_t)time, store ? (int32_t)time : moved->end);
}

/* Exactly the places of the range make no fault. */
static void check_places(const struct dlsa_moves *moves, struct fused_incremental *state, uint32_t tensor)
{
    struct dlsa_range range = dlsa_places(moves, state, tensor);
    uint32_t from = fused_incremental_place(state, tensor);
    for (uint32_t to = 0; to < moves->n_dram; to++) {
        if (to == from)
            continue;
        bool inside = range.first <= to && to <= range.last;
        if (stands(fused_move_order(state, from, to)) != inside)
            fail_msg("place %u of tensor %u: %d", to, tensor, inside);
        fused_undo(state);
    }
}

/* No time of the range makes a fault, and none beyond it for which there is room makes the schedule shorter
 * than the best in it. */
static void check_times(const struct dlsa_moves *moves, struct fused_incremental *state, uint32_t tensor)
{
    struct dlsa_range range = dlsa_times(moves, state, tensor, fused_incremental_place(state, tensor));
    uint64_t inside = UINT64_MAX, outside = UINT64_MAX;
    for (int64_t time = -1; time <= moves->n_tile; time++) {
        struct fused_outcome outcome = to_time(state, tensor, time);
        uint64_t *best = time >= range.first && time <= range.last ? &inside : &outside;
        if (best == &inside && !stands(outcome))
            fail_msg("time %d of tensor %u makes a fault", (int)time, tensor);
        if ((outcome.fault == FUSED_OK || (best == &inside && stands(outcome))) && outcome.cycle < *best)
            *best = outcome.cycle;
        fused_undo(state);
    }
    assert_true(range.first > range.last || inside <= outside);
}

static bool make_move(const struct dlsa_moves *moves, struct fused_incremental *state,
                      struct random_stream *stream, struct fused_outcome *outcome)
{
    uint32_t tensor = dlsa_choose(moves, stream);
    switch (random_below(stream, 3)) {
    case 0:
        return dlsa_move_order(moves, state, tensor, stream, outcome);
    case 1:
        return dlsa_move_time(moves, state, tensor, stream, outcome);
    default:
        return dlsa_move_both(moves, state, tensor, stream, outcome);
    }
}

/* A stream is loaded in the order of its tiles. */
static void check_streams(const struct dlsa_moves *moves, const struct fused_incremental *state)
{
    const struct fused_tensor *tensor = fused_incremental_tensor(state);
    for (uint32_t i = 0; i < moves->n_tensor; i++) {
        uint32_t before = moves->before[i];
        if (before == UINT32_MAX || tensor[i].kind == FUSED_LOCAL)
            continue;
        assert_true(fused_incremental_place(state, before) < fused_incremental_place(state, i));
        assert_int_equal(tensor[before].index + 1, tensor[i].index);
        assert_true(tensor[i].kind == FUSED_IFMAP ? tensor[before].start <= tensor[i].start
                                                  : tensor[before].end <= tensor[i].end);
    }
}

static void walk(const char *name, bool in_stream_order, uint32_t n_move)
{
    struct arena arena;
    arena_init(&arena);
    struct fused_oracle *oracle = read_oracle(name, &arena);
    struct random_stream stream = random_stream_make(1, in_stream_order, RANDOM_TEST);
    struct dlsa_moves moves;
    struct fused_incremental *state;
    ok(dlsa_moves_init(&oracle->schedule, in_stream_order, &arena, &moves, &err));
    ok(fused_incremental_new(&oracle->schedule, &oracle->machine, &arena, &state, &err));
    for (uint32_t i = 0; i < n_move; i++) {
        struct fused_outcome before = fused_incremental_outcome(state), outcome;
        if (i % 50 == 0 && !in_stream_order) {
            uint32_t tensor = moves.dram[random_below(&stream, moves.n_dram)];
            check_places(&moves, state, tensor);
            check_times(&moves, state, tensor);
        }
        if (!make_move(&moves, state, &stream, &outcome))
            continue;
        assert_true(stands(outcome));
        if (random_below(&stream, 2) == 0) {
            fused_undo(state);
            outcome = fused_incremental_outcome(state);
            assert_int_equal(outcome.cycle, before.cycle);
            assert_int_equal(outcome.buffer_max_byte, before.buffer_max_byte);
        }
        if (in_stream_order)
            check_streams(&moves, state);
    }
    fused_incremental_save(state, &oracle->schedule);
    struct fused_result result = evaluate(&oracle->schedule, &oracle->machine);
    assert_true(result.fault == FUSED_OK || result.fault == FUSED_BUFFER);
    assert_int_equal(result.cycle, fused_incremental_outcome(state).cycle);
    free(oracle);
    arena_free(&arena);
}

static void test_dlsa_moves_stay_valid(void **state)
{
    (void)state;
    for (int in_order = 0; in_order <= 1; in_order++) {
        walk("tiny_flg_s1", in_order, 2000);
        walk("tiny_cocco_s1", in_order, 2000);
        walk("r50_8MB_16GBs_s1", in_order, 2000);
        walk("ires_8MB_16GBs_s1", in_order, 1000);
    }
}

static void test_dlsa_choose_follows_bytes(void **state)
{
    (void)state;
    enum { N_DRAW = 100000 };
    struct arena arena;
    arena_init(&arena);
    struct fused_oracle *oracle = read_oracle("tiny_fused_s1", &arena);
    const struct fused_schedule *schedule = &oracle->schedule;
    struct random_stream stream = random_stream_make(1, 2, RANDOM_TEST);
    struct dlsa_moves moves;
    uint32_t *n = arena_alloc(&arena, schedule->n_tensor, sizeof *n);
    assert_non_null(n);
    ok(dlsa_moves_init(schedule, false, &arena, &moves, &err));
    for (int i = 0; i < N_DRAW; i++)
        n[dlsa_choose(&moves, &stream)]++;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < schedule->n_tensor; i++)
        sum += schedule->tensor[i].kind == FUSED_LOCAL ? 0 : schedule->tensor[i].byte;
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        bool local = schedule->tensor[i].kind == FUSED_LOCAL;
        double share = local ? 0 : (double)schedule->tensor[i].byte / (double)sum;
        double difference = (double)n[i] / N_DRAW - share; /* five standard deviations are below 0.008 */
        assert_true(difference < 0.008 && difference > -0.008 && (!local || n[i] == 0));
    }
    free(oracle);
    arena_free(&arena);
}

/* ---- search ---- */

static struct soma_dlsa_options paper_options(uint32_t n_dram)
{
    return (struct soma_dlsa_options){.n_round = 1000 * (uint64_t)n_dram,
                                      .first_temperature = 0.1,
                                      .alpha = 8,
                                      .return_share = 0.9,
                                      .order_share = 0.5,
                                      .time_share = 0.5,
                                      .above_bound = true};
}

static struct soma_search search_on(const struct fused_machine *machine)
{
    return (struct soma_search){.machine = *machine, .objective = {1, 1}, .clock_hz = 1e9};
}

/* Run to the end in steps of `n`; the best is in `schedule`. */
static uint64_t solve(const struct soma_dlsa_options *options, struct fused_schedule *schedule,
                      const struct fused_machine *machine, uint64_t seed, uint64_t n, uint64_t *rounds)
{
    struct arena arena;
    struct soma_dlsa_search *search;
    struct soma_search context = search_on(machine);
    struct soma_price price;
    bool done = false;
    arena_init(&arena);
    ok(soma_dlsa_search_new(&context, options, schedule, machine->buffer_byte,
                            random_stream_make(seed, 1, RANDOM_MOVE), &arena, &search, &err));
    while (!done)
        ok(soma_dlsa_search_step(search, n, &done, &err));
    if (rounds)
        *rounds = soma_dlsa_search_rounds(search);
    soma_dlsa_search_best(search, schedule, &price);
    arena_free(&arena);
    struct fused_result result = evaluate(schedule, machine);
    assert_int_equal(result.fault, FUSED_OK);
    assert_int_equal(result.cycle, price.cycle);
    assert_int_equal(result.buffer_max_byte, price.buffer_max_byte);
    assert_true(price.cost > 0 && price.energy_j == result.energy_j);
    return price.cycle;
}

/* Every start of every load, every end of every store, in every order. */
struct enumeration {
    struct fused_schedule schedule;
    const struct fused_machine *machine;
    uint64_t best;
};

static void enumerate_times(struct enumeration *e, uint32_t place)
{
    if (place == e->schedule.n_dram) {
        struct fused_result result = evaluate(&e->schedule, e->machine);
        if (result.fault == FUSED_OK && result.cycle < e->best)
            e->best = result.cycle;
        return;
    }
    struct fused_tensor *tensor = &e->schedule.tensor[e->schedule.dram_order[place]], old = *tensor;
    int32_t n_tile = (int32_t)e->schedule.n_tile;
    bool store = tensor->kind == FUSED_OFMAP;
    int32_t first = store ? tensor->producer_tile + 1 : -1, last = store ? n_tile : tensor->first_use;
    for (int32_t time = first; time <= last; time++) {
        *(store ? &tensor->end : &tensor->start) = time;
        enumerate_times(e, place + 1);
    }
    *tensor = old;
}

static void enumerate_orders(struct enumeration *e, uint32_t n)
{
    uint32_t *order = e->schedule.dram_order;
    if (n == 0) {
        enumerate_times(e, 0);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t swapped = order[i];
        order[i] = order[n - 1];
        order[n - 1] = swapped;
        enumerate_orders(e, n - 1);
        order[n - 1] = order[i];
        order[i] = swapped;
    }
}

static double count_all(const struct fused_schedule *schedule)
{
    double n = 1;
    for (uint32_t i = 0; i < schedule->n_dram; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[schedule->dram_order[i]];
        n *= i + 1;
        n *= tensor->kind == FUSED_OFMAP ? (int32_t)schedule->n_tile - tensor->producer_tile
                                         : tensor->first_use + 2;
    }
    return n;
}

static void test_dlsa_search_finds_the_optimum(void **state)
{
    (void)state;
    enum { N_CASE = 40, ALL_MAX = 4000 };
    struct random_stream stream = random_stream_make(5, 5, RANDOM_TEST);
    uint32_t improved = 0, tight = 0;
    for (uint32_t n = 0; n < N_CASE;) {
        struct arena arena;
        struct fused_schedule schedule;
        struct fused_machine machine;
        arena_init(&arena);
        assert_true(fused_random(&stream, 5, 0, &arena, &schedule, &machine));
        struct fused_result first = evaluate(&schedule, &machine);
        machine.buffer_byte = first.buffer_max_byte * (100 + random_below(&stream, 100)) / 100;
        if (schedule.n_dram >= 3 && count_all(&schedule) <= ALL_MAX) {
            struct enumeration all = {schedule, &machine, UINT64_MAX};
            struct soma_dlsa_options options = paper_options(schedule.n_dram);
            uint64_t bound;
            ok(dlsa_bound(&schedule, &machine, machine.buffer_byte, &arena, &bound, &err));
            enumerate_orders(&all, schedule.n_dram);
            assert_true(bound <= all.best && bound >= first.compute_cycle && bound >= first.dram_cycle);
            assert_int_equal(solve(&options, &schedule, &machine, n, 100, NULL), all.best);
            improved += all.best < first.cycle;
            tight += bound == all.best;
            n++;
        }
        arena_free(&arena);
    }
    assert_true(improved > N_CASE / 8 && tight > N_CASE / 2); /* the cases say something */
}

/* Two tiles of 10 cycles, the second of which reads a load past the buffer of 8 cycles in so many pieces,
 * from `limit` on. */
static void check_streamed(int32_t limit, uint32_t pieces, uint64_t expected)
{
    struct arena arena;
    struct fused_tile tile[2] = {{.layer = 0, .cycle = 10}, {.layer = 1, .cycle = 10}};
    struct fused_tensor load = {.kind = FUSED_WEIGHT,
                                .layer = 1,
                                .source = INT32_MIN,
                                .dram_byte = 8,
                                .start = limit,
                                .end = 2,
                                .producer_tile = -1,
                                .first_use = 1,
                                .last_use = 1,
                                .last_read = 1,
                                .limit = limit,
                                .streamed = pieces};
    uint32_t order = 0;
    struct fused_schedule schedule = {
        .n_tile = 2, .n_tensor = 1, .n_dram = 1, .tile = tile, .tensor = &load, .dram_order = &order};
    const struct fused_machine machine = {
        .buffer_byte = 100, .dram_rate = {1, 1}, .differs = true, .store_rate = {1, 1}};
    uint64_t bound;
    arena_init(&arena);
    assert_true(fused_schedule_list_reads(&schedule, &arena));
    ok(dlsa_bound(&schedule, &machine, machine.buffer_byte, &arena, &bound, &err));
    assert_int_equal(bound, expected);
    const struct fused_result result = evaluate(&schedule, &machine);
    assert_int_equal(result.fault, FUSED_OK);
    assert_int_equal(result.cycle, expected);
    arena_free(&arena);
}

/* Worked out by hand. From the first tile on it comes in the shade of that; behind it, 10 + 8 + 10 cycles, or
 * in four pieces, of which the first is there after two cycles and the others no later than they are needed,
 * 10 + 2 + 10. */
static void test_dlsa_bound_of_a_streamed_load(void **state)
{
    (void)state;
    check_streamed(0, 1, 20);
    check_streamed(1, 1, 28);
    check_streamed(1, 4, 22);
}

/* No search ends below the bound, with other buffers too. */
static void test_dlsa_bound_holds_on_random_schedules(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(6, 6, RANDOM_TEST);
    for (uint32_t n = 0; n < 60; n++) {
        struct arena arena;
        struct fused_schedule schedule;
        struct fused_machine machine;
        uint64_t bound;
        arena_init(&arena);
        assert_true(fused_random(&stream, 30, 0, &arena, &schedule, &machine));
        machine.buffer_byte =
            evaluate(&schedule, &machine).buffer_max_byte * (100 + random_below(&stream, 60)) / 100;
        if (schedule.n_dram > 0) {
            struct soma_dlsa_options options = paper_options(schedule.n_dram);
            options.n_round = 3000;
            ok(dlsa_bound(&schedule, &machine, machine.buffer_byte, &arena, &bound, &err));
            assert_true(solve(&options, &schedule, &machine, n, 1000, NULL) >= bound);
        }
        arena_free(&arena);
    }
}

/* The published program's results from the same layer fusion. */
static void test_dlsa_search_matches_the_published_stage2(void **state)
{
    (void)state;
    static const char *const name[][2] = {
        {"r50_8MB_16GBs_s1", "r50_8MB_16GBs_s2"},
        {"r50_4MB_16GBs_s1", "r50_4MB_16GBs_s2"},
        {"ires_8MB_16GBs_s1", "ires_8MB_16GBs_s2"},
        {"gpt2_small_prefill_8MB_16GBs_s1", "gpt2_small_prefill_8MB_16GBs_s2"},
        {"tiny_flg_s1", "tiny_flg_s2"},
        {"tiny_fused_s1", "tiny_fused_s2"},
        {"tiny_cocco_s1", "tiny_cocco_s2"}};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        struct arena arena;
        arena_init(&arena);
        struct fused_oracle *start = read_oracle(name[i][0], &arena), *end = read_oracle(name[i][1], &arena);
        struct soma_dlsa_options options = paper_options(start->schedule.n_dram);
        uint64_t cycle = solve(&options, &start->schedule, &start->machine, 1, 1000, NULL);
        if ((double)cycle > 1.002 * (double)end->cycle)
            fail_msg("%s: %lu cycles, the published program has %lu", name[i][0], (unsigned long)cycle,
                     (unsigned long)end->cycle);
        free(start);
        free(end);
        arena_free(&arena);
    }
}

static void test_dlsa_search_does_not_depend_on_steps(void **state)
{
    (void)state;
    static const uint64_t step[] = {1, 7, 100000};
    struct fused_schedule found[3];
    struct arena arena;
    arena_init(&arena);
    for (int i = 0; i < 3; i++) {
        struct fused_oracle *oracle = read_oracle("tiny_cocco_s1", &arena);
        struct soma_dlsa_options options = paper_options(3);
        options.shrink_round = 300;
        options.both_share = options.time_share = 0.25;
        solve(&options, &oracle->schedule, &oracle->machine, 3, step[i], NULL);
        found[i] = oracle->schedule;
        free(oracle);
        if (i == 0)
            continue;
        assert_memory_equal(found[0].dram_order, found[i].dram_order,
                            found[0].n_dram * sizeof *found[0].dram_order);
        for (uint32_t t = 0; t < found[0].n_tensor; t++) {
            assert_int_equal(found[0].tensor[t].start, found[i].tensor[t].start);
            assert_int_equal(found[0].tensor[t].end, found[i].tensor[t].end);
        }
    }
    arena_free(&arena);
}

/* gpt2 ends when the bound is reached, far before its rounds are done; a smaller buffer is never exceeded. */
static void test_dlsa_search_stops_at_the_bound(void **state)
{
    (void)state;
    struct arena arena;
    uint64_t rounds, bound;
    arena_init(&arena);
    struct fused_oracle *oracle = read_oracle("gpt2_small_prefill_8MB_16GBs_s1", &arena);
    struct soma_dlsa_options options = paper_options(oracle->schedule.n_dram);
    ok(dlsa_bound(&oracle->schedule, &oracle->machine, oracle->machine.buffer_byte, &arena, &bound, &err));
    uint64_t cycle = solve(&options, &oracle->schedule, &oracle->machine, 1, 10, &rounds);
    assert_int_equal(cycle, bound);
    assert_true(rounds < options.n_round);
    free(oracle);
    arena_free(&arena);
}

static void test_dlsa_search_ends_early_with_greedy_rounds(void **state)
{
    (void)state;
    struct arena arena;
    bool done = false;
    arena_init(&arena);
    struct fused_oracle *oracle = read_oracle("r50_8MB_16GBs_s1", &arena);
    struct soma_search context = search_on(&oracle->machine);
    struct soma_dlsa_options options = paper_options(oracle->schedule.n_dram);
    struct soma_dlsa_search *search;
    struct soma_price before, after;
    options.greedy_round = 500;
    ok(soma_dlsa_search_new(&context, &options, &oracle->schedule, oracle->machine.buffer_byte,
                            random_stream_make(1, 1, RANDOM_MOVE), &arena, &search, &err));
    ok(soma_dlsa_search_step(search, 1000, &done, &err));
    soma_dlsa_search_best(search, &oracle->schedule, &before);
    soma_dlsa_search_end_early(search);
    for (int i = 0; i < 10 && !done; i++)
        ok(soma_dlsa_search_step(search, 100, &done, &err));
    soma_dlsa_search_best(search, &oracle->schedule, &after);
    assert_true(done && after.cost <= before.cost);
    assert_int_equal(soma_dlsa_search_rounds(search), 1500);
    free(oracle);
    arena_free(&arena);
}

/* The third stage: no cycle more, less in the buffer. */
static void test_dlsa_shrink_frees_buffer(void **state)
{
    (void)state;
    struct fused_result result[2];
    uint64_t cycle[2];
    for (int i = 0; i < 2; i++) {
        struct arena arena;
        arena_init(&arena);
        struct fused_oracle *oracle = read_oracle("r50_8MB_16GBs_s1", &arena);
        struct soma_dlsa_options options = paper_options(oracle->schedule.n_dram);
        options.n_round /= 4;
        options.shrink_round = i ? options.n_round : 0;
        cycle[i] = solve(&options, &oracle->schedule, &oracle->machine, 1, 1000, NULL);
        result[i] = evaluate(&oracle->schedule, &oracle->machine);
        free(oracle);
        arena_free(&arena);
    }
    assert_true(cycle[1] <= cycle[0]);
    assert_true(result[1].buffer_average_byte < 0.95 * result[0].buffer_average_byte);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dlsa_moves_stay_valid),
        cmocka_unit_test(test_dlsa_choose_follows_bytes),
        cmocka_unit_test(test_dlsa_search_finds_the_optimum),
        cmocka_unit_test(test_dlsa_bound_of_a_streamed_load),
        cmocka_unit_test(test_dlsa_bound_holds_on_random_schedules),
        cmocka_unit_test(test_dlsa_search_matches_the_published_stage2),
        cmocka_unit_test(test_dlsa_search_does_not_depend_on_steps),
        cmocka_unit_test(test_dlsa_search_stops_at_the_bound),
        cmocka_unit_test(test_dlsa_search_ends_early_with_greedy_rounds),
        cmocka_unit_test(test_dlsa_shrink_frees_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
