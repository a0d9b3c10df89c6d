/* Tests: uop_memory.c, step_list.c, uop_needs.c, uop_steps.c, uop_way.c, uop_memory_bound.c.
 * Plans and times by hand; what the tiles of a network need by hand; random plans against a second planner
 * and a second simulation (tests/support/uop_fed.h); and what must hold of every run with every network: no
 * core holds more than it can, what a uop reads is there, nothing is lost, none beats the bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/uop/uop_flits.h"
#include "tests/support/uop_fed.h"

struct ran {
    struct uop_fed fed;
    struct uop_steps steps;
    uint64_t start[UOP_FED_STEP_MAX], finish[UOP_FED_STEP_MAX];
};

static void plan(struct ran *r)
{
    struct uop_placed *p = &r->fed.placed;
    struct dse_error err = {0};
    if (uop_memory_plan(&p->small.graph, &r->fed.needs, &p->schedule, &p->arena, &r->steps, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_true(r->steps.n_step <= UOP_FED_STEP_MAX);
}

/* flit_bit 0: messages take no time. */
static void run(struct ran *r, uint32_t flit_bit, bool as_flits)
{
    struct uop_placed *p = &r->fed.placed;
    struct dse_error err = {0};
    const struct uop_step_times times = {r->start, r->finish};
    p->machine.noc.flit_bit = flit_bit;
    const enum dse_status status =
        as_flits
            ? uop_steps_flits(&p->small.graph, &p->machine, &r->steps, NULL, &p->arena, &times, p->link, &err)
            : uop_steps_run(&p->small.graph, &p->machine, &r->steps, &p->arena, &times, p->link, &err);
    if (status != DSE_OK)
        fail_msg("%s", err.text);
}

static uint32_t find(const struct ran *r, enum uop_step_kind kind, uint32_t item)
{
    for (uint32_t i = 0; i < r->steps.n_step; i++)
        if (r->steps.step[i].kind == kind && r->steps.step[i].item == item)
            return i;
    fail_msg("there is no step %d of item %u", (int)kind, item);
    return 0;
}

static uint64_t end_of(const struct ran *r, enum uop_step_kind kind, uint32_t item)
{
    return r->finish[find(r, kind, item)];
}

/* Core 0 runs a, then b, which reads a's output; core 1 runs c. a and c read tile v, b reads w; both 10
 * words, the DRAM brings a word a cycle. Outputs are 4 words; b's and c's are results. */
static void by_hand(struct ran *r, uint64_t capacity)
{
    static const uint32_t core[] = {0, 0, 1}, uses[] = {1, 2, 1};
    static const uint64_t word[] = {10, 10};
    uop_placed_init(&r->fed.placed, 2, 1, 0);
    r->fed.placed.machine.dram = (struct byte_rate){1, 1};
    for (uint32_t u = 0; u < 3; u++)
        r->fed.placed.small.uop[u] = (struct uop){.cycle = u == 1 ? 5 : 20, .output_word = 4};
    r->fed.placed.small.edge[0][1] = true;
    uop_placed_put(&r->fed.placed, 3, core);
    uop_fed_put(&r->fed, 2, word, uses, capacity);
    plan(r);
    run(r, 0, false);
}

static void test_tiles_come_once_and_ahead(void **state)
{
    struct ran r;
    (void)state;
    by_hand(&r, 24);                               /* while a runs, 14 words are taken: w fits beside */
    assert_int_equal(end_of(&r, UOP_READ, 3), 10); /* v, for both */
    assert_int_equal(r.steps.step[find(&r, UOP_READ, 3)].n_to, 2);
    assert_int_equal(end_of(&r, UOP_READ, 4), 20);
    assert_int_equal(end_of(&r, UOP_RUN, 0), 10 + 20);
    assert_int_equal(end_of(&r, UOP_RUN, 2), 10 + 20);
    assert_int_equal(end_of(&r, UOP_RUN, 1), 30 + 5);
    assert_int_equal(end_of(&r, UOP_WRITE, 2), 30 + 4);
    assert_int_equal(end_of(&r, UOP_WRITE, 1), 35 + 4);
    arena_free(&r.fed.placed.arena);
    by_hand(&r, 23); /* w only when a has ended, as c has: its output goes first, by the order of turns */
    assert_int_equal(end_of(&r, UOP_WRITE, 2), 30 + 4);
    assert_int_equal(end_of(&r, UOP_READ, 4), 34 + 10);
    assert_int_equal(end_of(&r, UOP_RUN, 1), 44 + 5);
    assert_int_equal(end_of(&r, UOP_WRITE, 1), 49 + 4);
    assert_int_equal(r.steps.n_step, 3 + 2 + 2);
    arena_free(&r.fed.placed.arena);
}

/* One core runs a, b, c; c reads what a made. b's tile of 20 words leaves no room for a's output of 5: it is
 * written and read again. Nothing can come beside anything else. */
static void test_what_does_not_fit_is_written_and_read_again(void **state)
{
    static const uint32_t core[] = {0, 0, 0}, uses[] = {0, 1, 2};
    static const uint64_t word[] = {20, 10};
    struct ran r;
    (void)state;
    uop_placed_init(&r.fed.placed, 1, 1, 0);
    r.fed.placed.machine.dram = (struct byte_rate){1, 1};
    for (uint32_t u = 0; u < 3; u++)
        r.fed.placed.small.uop[u] = (struct uop){.cycle = 7, .output_word = 5};
    r.fed.placed.small.edge[0][2] = r.fed.placed.small.edge[1][2] = true;
    uop_placed_put(&r.fed.placed, 3, core);
    uop_fed_put(&r.fed, 2, word, uses, 25);
    plan(&r);
    run(&r, 0, false);
    assert_int_equal(end_of(&r, UOP_RUN, 0), 7);
    assert_int_equal(end_of(&r, UOP_READ, 3), 20);      /* its 20 words fit beside a's 5 */
    assert_int_equal(end_of(&r, UOP_WRITE, 0), 20 + 5); /* while that tile came */
    assert_int_equal(end_of(&r, UOP_RUN, 1), 25 + 7);
    assert_int_equal(end_of(&r, UOP_READ, 4), 32 + 10);
    assert_int_equal(end_of(&r, UOP_READ, 0), 42 + 5);
    assert_int_equal(end_of(&r, UOP_RUN, 2), 47 + 7);
    assert_int_equal(end_of(&r, UOP_WRITE, 2), 54 + 5);
    assert_int_equal(r.steps.n_step, 3 + 3 + 2);
    arena_free(&r.fed.placed.arena);
}

/* 3 x 2 cores, of which 0, 2 and 4 run a uop that reads one tile of 100 words, 400 bytes: 50 flits of 64 bit,
 * or 13 packets of 5. Read in 100 cycles it passes the port's link and x more to column x; by flits
 * docs/noc.md has 3 h + 5 n cycles over h routers. Results go back one by one; core 0's is first. */
static void test_rows_carry_a_tile_once(void **state)
{
    static const uint32_t core[] = {0, 2, 4}, uses[] = {1, 1, 1};
    static const uint64_t word[] = {100};
    struct ran r;
    (void)state;
    uop_placed_init(&r.fed.placed, 3, 2, 0);
    r.fed.placed.machine.dram = (struct byte_rate){1, 1};
    for (uint32_t u = 0; u < 3; u++)
        r.fed.placed.small.uop[u] = (struct uop){.cycle = 10, .output_word = 2};
    uop_placed_put(&r.fed.placed, 3, core);
    uop_fed_put(&r.fed, 1, word, uses, UINT64_MAX);
    plan(&r);
    run(&r, 64, false);
    assert_int_equal(r.start[find(&r, UOP_RUN, 0)], 100 + 1 + 50);
    assert_int_equal(r.start[find(&r, UOP_RUN, 1)], 100 + 3 + 50);
    assert_int_equal(r.start[find(&r, UOP_RUN, 2)], 100 + 2 + 50);
    assert_int_equal(end_of(&r, UOP_WRITE, 0), 151 + 10 + 1 + 1 + 2);
    assert_int_equal(end_of(&r, UOP_WRITE, 2), 152 + 10 + 2 + 1 + 2);
    assert_int_equal(r.fed.placed.link[0 * UOP_SIDES + UOP_EAST].byte, 400);
    assert_int_equal(r.fed.placed.link[0 * UOP_SIDES + UOP_EAST].n_message, 1);
    assert_int_equal(r.fed.placed.link[3 * UOP_SIDES + UOP_EAST].byte, 400);
    assert_int_equal(r.fed.placed.link[4 * UOP_SIDES + UOP_EAST].byte, 0);
    assert_int_equal(r.fed.placed.link[1 * UOP_SIDES + UOP_WEST].byte, 8);
    run(&r, 64, true);
    assert_int_equal(r.start[find(&r, UOP_RUN, 0)], 100 + 3 * 1 + 5 * 13);
    assert_int_equal(r.start[find(&r, UOP_RUN, 1)], 100 + 3 * 3 + 5 * 13);
    assert_int_equal(r.start[find(&r, UOP_RUN, 2)], 100 + 3 * 2 + 5 * 13);
    assert_int_equal(end_of(&r, UOP_WRITE, 0), 168 + 10 + 3 * 1 + 5 * 1 + 2);
    assert_int_equal(r.fed.placed.link[0 * UOP_SIDES + UOP_EAST].busy_cycle, 65);
    arena_free(&r.fed.placed.arena);
}

/* ---- random ones ---- */

static bool waits(const struct uop_steps *steps, uint32_t step, uint32_t on)
{
    for (uint32_t k = steps->first_wait[step]; k < steps->first_wait[step + 1]; k++)
        if (steps->wait[k] == on)
            return true;
    return false;
}

static bool goes_to(const struct uop_steps *steps, uint32_t step, uint32_t core)
{
    for (uint32_t k = 0; k < steps->step[step].n_to; k++)
        if (steps->to[steps->step[step].first_to + k] == core)
            return true;
    return false;
}

static void same_as_plain(struct ran *r)
{
    static struct uop_plain_steps plain;
    uint64_t ideal[UOP_SMALL_MAX], start[UOP_FED_STEP_MAX], finish[UOP_FED_STEP_MAX];
    struct uop_placed *p = &r->fed.placed;
    struct dse_error err;
    assert_int_equal(uop_run_ideal(&p->small.graph, &p->schedule, &p->arena, &p->times, &err), DSE_OK);
    memcpy(ideal, p->start, sizeof ideal);
    uop_plain_plan(&r->fed, ideal, &plain);
    assert_int_equal(plain.n, r->steps.n_step);
    for (uint32_t i = 0; i < plain.n; i++) {
        assert_int_equal(plain.step[i].kind, r->steps.step[i].kind);
        assert_int_equal(plain.step[i].item, r->steps.step[i].item);
        assert_int_equal(plain.step[i].core, r->steps.step[i].core);
        for (uint32_t c = 0; c < p->schedule.n_core; c++)
            assert_int_equal(plain.step[i].to >> c & 1, goes_to(&r->steps, i, c));
        for (uint32_t k = 0; k < plain.n; k++)
            assert_int_equal(plain.step[i].wait[k / 64] >> k % 64 & 1, waits(&r->steps, i, k));
    }
    run(r, 0, false);
    uop_plain_times(&r->fed, &plain, start, finish);
    for (uint32_t i = 0; i < plain.n; i++) {
        assert_int_equal(finish[i], r->finish[i]);
        if (plain.step[i].kind != UOP_WRITE)
            assert_int_equal(start[i], r->start[i]);
    }
}

/* The step by which an item is on the core of a RUN that reads it: what that waits for, or one before it in
 * its list, or the run that made it there. */
static uint32_t bringer(const struct ran *r, uint32_t run_step, uint32_t item)
{
    const struct uop_steps *s = &r->steps;
    const uint32_t core = s->step[run_step].core;
    for (uint32_t i = run_step + 1; i-- > 0;) {
        if (s->step[i].kind != UOP_RUN || s->step[i].core != core)
            continue;
        if (s->step[i].item == item)
            return i;
        for (uint32_t k = s->first_wait[i]; k < s->first_wait[i + 1]; k++)
            if (s->step[s->wait[k]].item == item && goes_to(s, s->wait[k], core))
                return s->wait[k];
    }
    fail_msg("uop %u reads item %u, which is not there", s->step[run_step].item, item);
    return 0;
}

static bool reads(const struct uop_fed *f, uint32_t u, uint32_t item)
{
    for (uint32_t k = f->first[u]; k < f->first[u + 1]; k++)
        if (f->item[k] == item)
            return true;
    return item < f->placed.small.graph.n_uop && f->placed.small.edge[item][u];
}

/* The uop whose room is taken on core c in a cycle: the first that has not ended, if all that leaves before
 * it is gone; else UINT32_MAX. */
static uint32_t turn_at(const struct ran *r, uint32_t c, uint64_t cycle)
{
    const struct uop_fed *f = &r->fed;
    const struct uop_steps *s = &r->steps;
    uint32_t turn = UINT32_MAX;
    for (uint32_t k = f->placed.first[c + 1]; k-- > f->placed.first[c];)
        if (end_of(r, UOP_RUN, f->placed.order[k]) > cycle)
            turn = f->placed.order[k];
    for (uint32_t k = 0; turn != UINT32_MAX && k < s->n_step; k++)
        if (waits(s, find(r, UOP_RUN, turn), k) && s->step[k].core == c && r->finish[k] > cycle &&
            (s->step[k].kind == UOP_WRITE || (s->step[k].kind == UOP_SEND && !goes_to(s, k, c))))
            return UINT32_MAX;
    return turn;
}

/* The words that core c holds in a cycle, of what steps have brought or made and others still need there,
 * besides the room of the uop whose turn it is. */
static uint64_t held_at(const struct ran *r, uint32_t c, uint64_t cycle)
{
    const struct uop_fed *f = &r->fed;
    const struct uop_steps *s = &r->steps;
    const uint32_t n_uop = f->placed.small.graph.n_uop, turn = turn_at(r, c, cycle);
    uint64_t sum = turn == UINT32_MAX ? 0 : f->room[turn];
    for (uint32_t i = 0; i < s->n_step; i++) {
        const struct uop_step *step = &s->step[i];
        const bool is_home = step->kind == UOP_RUN && step->core == c;
        const bool comes = (step->kind == UOP_SEND || step->kind == UOP_READ) && goes_to(s, i, c);
        const uint64_t from = is_home ? r->finish[i] : r->start[i];
        uint64_t until = 0;
        uint32_t n_use = 0;
        bool is_used_now = false;
        if (!is_home && !comes)
            continue;
        for (uint32_t k = 0; k < s->n_step; k++) {
            const struct uop_step *other = &s->step[k];
            if (other->item == step->item && other->core == c && waits(s, k, i) &&
                (other->kind == UOP_WRITE || (is_home && other->kind == UOP_SEND)))
                until = r->finish[k] > until ? r->finish[k] : until;
            if (other->kind == UOP_RUN && other->core == c && reads(f, other->item, step->item) &&
                bringer(r, k, step->item) == i) {
                until = r->finish[k] > until ? r->finish[k] : until;
                is_used_now = is_used_now || other->item == turn;
                n_use++;
            }
        }
        if (cycle < from || cycle >= until || (is_used_now && comes && (step->item >= n_uop || n_use == 1)))
            continue; /* that is among what the uop takes */
        sum += f->held[step->item];
    }
    return sum;
}

static void check_run(struct ran *r)
{
    const struct uop_fed *f = &r->fed;
    const struct uop_steps *s = &r->steps;
    const struct uop_placed *p = &f->placed;
    const uint32_t n_uop = p->small.graph.n_uop;
    uint32_t n_read[UOP_FED_ITEM_MAX] = {0}, n_written[UOP_FED_ITEM_MAX] = {0}, n_run[UOP_SMALL_MAX] = {0};
    uint64_t last = 0, served = 0;
    for (uint32_t i = 0; i < s->n_step; i++) {
        const struct uop_step *step = &s->step[i];
        last = r->finish[i] > last ? r->finish[i] : last;
        n_read[step->item] += step->kind == UOP_READ;
        n_written[step->item] += step->kind == UOP_WRITE;
        if (step->kind == UOP_READ || step->kind == UOP_WRITE)
            served += (f->word[step->item] + p->machine.dram.byte - 1) / p->machine.dram.byte;
        if (step->kind != UOP_RUN)
            continue;
        n_run[step->item]++;
        assert_int_equal(r->finish[i] - r->start[i], p->small.uop[step->item].cycle);
        for (uint32_t item = 0; item < f->needs.n_item; item++) {
            if (!reads(f, step->item, item))
                continue;
            const uint32_t from = bringer(r, i, item);
            assert_true(r->start[i] >= (s->step[from].n_to > 1 ? r->start[from] : r->finish[from]));
            if (s->step[from].kind == UOP_READ && item < n_uop)
                assert_true(n_written[item] == 1);
        }
    }
    for (uint32_t u = 0; u < n_uop; u++) {
        assert_int_equal(n_run[u], 1);
        assert_true(n_written[u] <= 1 && n_written[u] >= f->is_result[u]);
        assert_true(n_read[u] == 0 || n_written[u] == 1);
    }
    for (uint32_t t = n_uop; t < f->needs.n_item; t++) {
        bool is_used = false;
        for (uint32_t u = 0; u < n_uop; u++)
            is_used = is_used || reads(f, u, t);
        assert_true(n_read[t] >= is_used);
    }
    assert_true(last >= served);
    assert_true(last >= uop_memory_bound(&p->small.graph, &f->needs, &p->machine, &r->fed.placed.arena));
    if (f->needs.capacity_word == UINT64_MAX)
        return;
    for (uint32_t i = 0; i < s->n_step; i++) /* it grows only then */
        for (uint32_t c = 0; c < p->schedule.n_core; c++) {
            assert_true(held_at(r, c, r->start[i]) <= f->needs.capacity_word);
            assert_true(held_at(r, c, r->finish[i]) <= f->needs.capacity_word);
        }
}

static void test_random_plans_against_a_second_planner(void **state)
{
    struct random_stream rng = random_stream_make(21, 0, RANDOM_TEST);
    uint32_t n_spilled = 0, n_joined = 0, n_again = 0;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct ran r;
        uop_fed_random(&rng, &r.fed);
        plan(&r);
        same_as_plain(&r);
        check_run(&r);
        for (uint32_t k = 0; k < r.steps.n_step; k++) {
            const struct uop_step *s = &r.steps.step[k];
            n_spilled += s->kind == UOP_WRITE && !r.fed.is_result[s->item];
            n_joined += s->kind == UOP_READ && s->n_to > 1;
            n_again += s->kind == UOP_READ && find(&r, UOP_READ, s->item) != k;
        }
        arena_free(&r.fed.placed.arena);
    }
    assert_true(n_spilled > 100 && n_joined > 1000 && n_again > 100);
}

static void test_random_plans_by_links_and_flits(void **state)
{
    struct random_stream rng = random_stream_make(22, 0, RANDOM_TEST);
    static const uint32_t flit_bit[] = {64, 192, 4096};
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct ran r;
        uop_fed_random(&rng, &r.fed);
        plan(&r);
        run(&r, flit_bit[i % 3], false);
        check_run(&r);
        run(&r, flit_bit[i % 3], true);
        check_run(&r);
        arena_free(&r.fed.placed.arena);
    }
}

/* With endless room, a DRAM that takes no time and messages that take none, it is the run without. */
static void test_a_fast_dram_and_room_change_nothing(void **state)
{
    struct random_stream rng = random_stream_make(23, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct ran r;
        struct dse_error err;
        uop_fed_random(&rng, &r.fed);
        struct uop_placed *p = &r.fed.placed;
        r.fed.needs.capacity_word = UINT64_MAX;
        p->machine.dram = (struct byte_rate){0, 1};
        plan(&r);
        run(&r, 0, false);
        assert_int_equal(uop_run_ideal(&p->small.graph, &p->schedule, &p->arena, &p->times, &err), DSE_OK);
        for (uint32_t u = 0; u < p->small.graph.n_uop; u++)
            assert_int_equal(r.start[find(&r, UOP_RUN, u)], p->start[u]);
        run(&r, 64, true); /* without counts of the DRAM */
        arena_free(&p->arena);
    }
}

/* The lists that an order and an assignment (bit u: on which of two cores) make. */
static void set_lists(struct uop_placed *p, const uint32_t *order, uint32_t n, uint32_t core_of)
{
    uint32_t at = 0;
    for (uint32_t c = 0; c < 2; c++) {
        p->first[c] = at;
        for (uint32_t i = 0; i < n; i++)
            if ((core_of >> order[i] & 1) == c)
                p->order[at++] = order[i];
    }
    p->first[2] = at;
}

/* The fewest cycles of all lists on two cores whose order begins with `order` (n_order of them). */
static uint64_t best_of_all(struct ran *r, uint32_t *order, uint32_t n_order, uint32_t taken)
{
    struct uop_placed *p = &r->fed.placed;
    const uint32_t n = p->small.graph.n_uop;
    uint64_t best = UINT64_MAX;
    for (uint32_t core_of = 0; n_order == n && core_of < 1U << n; core_of++) {
        struct arena own;
        uint64_t last = 0;
        const struct arena kept = p->arena;
        arena_init(&own);
        p->arena = own;
        set_lists(p, order, n, core_of);
        plan(r);
        run(r, 0, false);
        for (uint32_t i = 0; i < r->steps.n_step; i++)
            last = r->finish[i] > last ? r->finish[i] : last;
        best = last < best ? last : best;
        arena_free(&p->arena);
        p->arena = kept;
    }
    for (uint32_t u = 0; n_order < n && u < n; u++) {
        bool is_ready = !(taken >> u & 1);
        for (uint32_t v = 0; v < u; v++)
            is_ready = is_ready && (!p->small.edge[v][u] || taken >> v & 1);
        if (!is_ready)
            continue;
        order[n_order] = u;
        const uint64_t so = best_of_all(r, order, n_order + 1, taken | 1U << u);
        best = so < best ? so : best;
    }
    return best;
}

static void test_no_lists_beat_the_bound(void **state)
{
    struct random_stream rng = random_stream_make(24, 0, RANDOM_TEST);
    uint32_t n_tried = 0, n_reached = 0;
    (void)state;
    while (n_tried < 150) {
        struct ran r;
        uint32_t order[UOP_SMALL_MAX];
        uop_fed_random(&rng, &r.fed);
        struct uop_placed *p = &r.fed.placed;
        if (p->small.graph.n_uop >= 2 && p->small.graph.n_uop <= 4) {
            p->machine.columns = 2;
            p->machine.rows = 1;
            p->schedule.n_core = 2;
            n_tried++;
            const uint64_t best = best_of_all(&r, order, 0, 0);
            const uint64_t bound = uop_memory_bound(&p->small.graph, &r.fed.needs, &p->machine, &p->arena);
            assert_true(best >= bound);
            n_reached += best == bound;
        }
        arena_free(&p->arena);
    }
    assert_true(n_reached > 10); /* so it is not idle */
}

/* A 3 x 3 convolution of an input of 4 channels of 8 x 8, then a 1 x 1 one. Cut into two halves of rows, and
 * the second's output channels in two: the first layer's tiles see 5 of 8 rows each (padding is not read),
 * all 8 columns, all channels. */
static void test_needs_of_a_network(void **state)
{
    static const char text[] =
        "network: two\ninput: {C: 4, H: 8, W: 8}\nlayers:\n"
        "- {name: a, type: conv, C: 4, K: 6, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
        "- {name: b, type: conv, C: 6, K: 4, P: 8, Q: 8, R: 1, S: 1, from: a}\n";
    static const struct uop_cut cut[] = {{4, 8, 4, 6}, {4, 8, 3, 2}};
    static const uint64_t sums[] = {UOP_SUMS_ALL, UOP_SUMS_CHAIN, UOP_SUMS_REDUCE};
    struct kc_machine machine = {.columns = 1,
                                 .rows = 1,
                                 .c_lane = 12,
                                 .k_lane = 14,
                                 .delivery = {128, 1},
                                 .dram = {4, 1},
                                 .sram_word = 5000};
    struct arena arena;
    struct network network;
    struct uop_network uops;
    struct dse_error err = {0};
    (void)state;
    arena_init(&arena);
    assert_int_equal(network_parse("two.yaml", text, strlen(text), &network, &err), DSE_OK);
    assert_int_equal(uop_network_of(&network, UOP_FUSED, &arena, &uops, &err), DSE_OK);
    for (int k = 0; k < 3; k++) {
        struct uop_graph graph;
        struct uop_needs needs;
        uint64_t weights = 0, inputs = 0, results = 0;
        assert_int_equal(uop_graph_of(&uops, &machine, cut, (enum uop_sums)sums[k], 1, &arena, &graph, &err),
                         DSE_OK);
        assert_int_equal(uop_needs_of(&graph, &machine, UOP_SRAM_ALL, &arena, &needs, &err), DSE_OK);
        /* a: 1 tile of weights; b: 2 x 2; the input: 2 */
        assert_int_equal(needs.n_item, graph.n_uop + 1 + 4 + 2);
        for (uint32_t i = graph.n_uop; i < graph.n_uop + 5; i++)
            weights += needs.word[i];
        for (uint32_t i = graph.n_uop + 5; i < needs.n_item; i++)
            inputs += needs.word[i];
        assert_int_equal(weights, 4 * 6 * 3 * 3 + 6 * 4);
        assert_int_equal(inputs, 2 * 5 * 8 * 4);
        for (uint32_t u = 0; u < graph.n_uop; u++)
            results += needs.is_result[u] ? needs.word[u] : 0;
        /* with all parts of sums: both of 4 x 8 x 8; else the sum alone */
        assert_int_equal(results, (k == 0 ? 2 : 1) * 4 * 8 * 8);
        /* 4 x 8 x 6 outputs, 6 x 10 x 4 inputs with the halo, weights */
        assert_int_equal(needs.room[0], 4 * 8 * 6 + 6 * 10 * 4 + 4 * 6 * 3 * 3);
        assert_int_equal(needs.first[1] - needs.first[0], 2);
        assert_int_equal(needs.capacity_word, 5000);
        assert_int_equal(uop_needs_of(&graph, &machine, UOP_SRAM_OUTPUT, &arena, &needs, &err), DSE_OK);
        assert_int_equal(needs.room[0], 4 * 8 * 6);
        assert_int_equal(needs.held[graph.n_uop], 0);
        assert_int_equal(needs.held[0], 4 * 8 * 6);
        assert_int_equal(uop_needs_of(&graph, &machine, UOP_SRAM_OFF, &arena, &needs, &err), DSE_OK);
        assert_int_equal(needs.room[0], 0);
        assert_int_equal(needs.capacity_word, UINT64_MAX);
    }
    /* each weight, the whole input and the output once, 4 words a cycle */
    const uint64_t word = 4 * 6 * 3 * 3 + 6 * 4 + 4 * 8 * 8 + 4 * 8 * 8;
    machine.delivery = (struct byte_rate){100000, 1}; /* so that this is longer than the work */
    machine.dram = (struct byte_rate){1, 4};
    assert_int_equal(uop_memory_partition_bound(&uops, &machine, 1), word * 4);
    network_free(&network);
    arena_free(&arena);
}

/* n channels of one word, each a uop, and n that read all of these: n n producers, and n tiles each of two
 * layers' weights and of the input. The largest n within UOP_USE_MAX is 4,094, by n n + 3 n. */
static enum dse_status needs_of_channels(uint32_t n, struct dse_error *err)
{
    const struct kc_machine machine = {
        .columns = 1, .rows = 1, .c_lane = 1, .k_lane = 1, .delivery = {1, 1}, .dram = {1, 1}};
    const struct uop_cut cut[] = {{1, 1, 1, 1}, {1, 1, n, 1}};
    char text[400];
    struct arena arena;
    struct network network;
    struct uop_network uops;
    struct uop_graph graph;
    struct uop_needs needs;
    (void)snprintf(text, sizeof text,
                   "network: channels\ninput: {C: 1, H: 1, W: 1}\nlayers:\n"
                   "- {name: a, type: conv, C: 1, K: %u, P: 1, Q: 1, R: 1, S: 1, from: input}\n"
                   "- {name: b, type: conv, C: %u, K: %u, P: 1, Q: 1, R: 1, S: 1, from: a}\n",
                   n, n, n);
    arena_init(&arena);
    assert_int_equal(network_parse("channels.yaml", text, strlen(text), &network, err), DSE_OK);
    assert_int_equal(uop_network_of(&network, UOP_FUSED, &arena, &uops, err), DSE_OK);
    assert_int_equal(uop_graph_of(&uops, &machine, cut, UOP_SUMS_ALL, 1, &arena, &graph, err), DSE_OK);
    assert_int_equal(graph.first_producer[graph.n_uop], n * n);
    const enum dse_status status = uop_needs_of(&graph, &machine, UOP_SRAM_OFF, &arena, &needs, err);
    network_free(&network);
    arena_free(&arena);
    return status;
}

static void test_a_plan_has_a_size(void **state)
{
    struct dse_error err = {0};
    (void)state;
    assert_int_equal(needs_of_channels(4094, &err), DSE_OK);
    assert_int_equal(needs_of_channels(4095, &err), DSE_LIMIT);
    assert_non_null(strstr(err.text, "its 8190 uops need more than 16777216 tiles"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needs_of_a_network),
        cmocka_unit_test(test_a_plan_has_a_size),
        cmocka_unit_test(test_tiles_come_once_and_ahead),
        cmocka_unit_test(test_what_does_not_fit_is_written_and_read_again),
        cmocka_unit_test(test_rows_carry_a_tile_once),
        cmocka_unit_test(test_random_plans_against_a_second_planner),
        cmocka_unit_test(test_random_plans_by_links_and_flits),
        cmocka_unit_test(test_no_lists_beat_the_bound),
        cmocka_unit_test(test_a_fast_dram_and_room_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
