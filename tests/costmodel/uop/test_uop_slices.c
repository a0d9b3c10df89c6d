/* Tests: uop_slices.c.
 * Slices of a tile by hand; of random tiles: each fits, together they are the tile, and there are none only
 * where not even a pixel with one fold of channels fits. A graph of tiles in slices against the graph whose
 * uops are these slices. The bound of all partitions by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/uop/uop_schedule.h"
#include "costmodel/uop/uop_slices.h"

/* 8 rows, 4 by 4 channels in lanes of 2: outputs, inputs, weights are 32 + 32 + 16 words. Halves of the rows:
 * 16 + 16 + 16 = 48, of input channels 32 + 16 + 8 = 56, of output channels as many: rows. Of 4 rows: 8 + 8 +
 * 16 = 32, 16 + 8 + 8 = 32, 8 + 16 + 8 = 32: rows, as they come first. Of 2 rows: 4 + 4 + 16 = 24, 8 + 4 +
 * 8 = 20, 4 + 8 + 8 = 20: input channels. 20 of 30 words fit: 4 times 2 slices. */
static void test_slices_by_hand(void **state)
{
    const struct kc_machine machine = {.c_lane = 2, .k_lane = 2, .sram_word = 30, .slices = true};
    const struct kc_tile tile = {
        .r = 1, .s = 1, .stride_v = 1, .stride_h = 1, .p = 8, .q = 1, .c = 4, .k = 4, .g = 1};
    struct uop_shape shape[UOP_SHAPE_MAX];
    struct uop_cut cut;
    (void)state;
    assert_true(uop_slice_cut(&machine, &tile, &cut));
    assert_memory_equal(&cut, &((struct uop_cut){2, 1, 2, 4}), sizeof cut);
    assert_int_equal(uop_runs_as(&machine, &tile, shape), 1);
    assert_int_equal(shape[0].n, 8);
    assert_int_equal(shape[0].tile.p, 2);
    assert_int_equal(shape[0].tile.c, 2);
    assert_int_equal(shape[0].tile.k, 4);
}

struct drawn {
    struct kc_machine machine;
    struct kc_tile tile;
};

static struct drawn draw(struct random_stream *rng)
{
    struct drawn d = {.machine = {.c_lane = 1 + random_below(rng, 4),
                                  .k_lane = 1 + random_below(rng, 4),
                                  .delivery = {1 + random_below(rng, 64), 1},
                                  .sram_word = 4 + random_below(rng, 300),
                                  .slices = true}};
    d.tile = (struct kc_tile){.r = 1 + random_below(rng, 3),
                              .s = 1 + random_below(rng, 3),
                              .stride_v = 1 + random_below(rng, 2),
                              .stride_h = 1 + random_below(rng, 2),
                              .p = 1 + random_below(rng, 12),
                              .q = 1 + random_below(rng, 12),
                              .c = 1 + random_below(rng, 12),
                              .k = 1 + random_below(rng, 12),
                              .g = 1 + random_below(rng, 4)};
    return d;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void test_random_slices(void **state)
{
    struct random_stream rng = random_stream_make(16, 0, RANDOM_TEST);
    uint32_t n_none = 0, n_whole = 0;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        const struct drawn d = draw(&rng);
        const struct kc_tile *t = &d.tile;
        const struct uop_need smallest = uop_cut_need(
            t, (struct uop_cut){1, 1, least(t->c, d.machine.c_lane), least(t->k, d.machine.k_lane)});
        struct uop_shape shape[UOP_SHAPE_MAX];
        struct uop_cut cut;
        uint64_t macs = 0, n_slice = 0;
        const bool fits = uop_slice_cut(&d.machine, t, &cut);
        assert_int_equal(fits, uop_need_fits(&smallest, UOP_SRAM_ALL, &d.machine));
        n_none += !fits;
        if (!fits)
            continue;
        const struct uop_cut clipped = uop_cut_clip(t, cut);
        const uint32_t n = uop_runs_as(&d.machine, t, shape);
        assert_memory_equal(&cut, &clipped, sizeof cut);
        for (uint32_t k = 0; k < n; k++) {
            const struct kc_tile *part = &shape[k].tile;
            const struct uop_need need =
                uop_cut_need(part, (struct uop_cut){part->p, part->q, part->c, part->k * part->g});
            assert_true(uop_need_fits(&need, UOP_SRAM_ALL, &d.machine));
            macs += shape[k].n * kc_macs(part);
            n_slice += shape[k].n;
        }
        assert_int_equal(macs, kc_macs(t));
        assert_int_equal(n_slice, uop_cut_count(t, cut));
        n_whole += n_slice == 1;
    }
    assert_true(n_none > 100 && n_whole > 30 && n_none + n_whole < 2700);
}

/* Cycles of all uops of a layer alone. */
static uint64_t work_of(const struct drawn *d, struct uop_cut cut, bool slices, struct arena *arena)
{
    const struct uop_layer layer = {.whole = d->tile};
    const struct uop_network network = {
        .n_layer = 1, .n_all = 1, .layer = &layer, .order = (const uint32_t[]){0}};
    struct kc_machine machine = d->machine;
    struct uop_graph graph;
    struct dse_error err;
    uint64_t work = 0;
    machine.slices = slices;
    if (uop_graph_of(&network, &machine, &cut, UOP_SUMS_ALL, 1, arena, &graph, &err) != DSE_OK)
        fail_msg("%s", err.text);
    for (uint32_t u = 0; u < graph.n_uop; u++)
        work += graph.uop[u].cycle;
    return work;
}

/* One uop in slices takes the cycles of uops that are these slices; so do several, where whole slices fill
 * them. What partitions take at least is less. */
static void test_slices_as_uops(void **state)
{
    struct random_stream rng = random_stream_make(17, 0, RANDOM_TEST);
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < 500; i++) {
        struct drawn d = draw(&rng);
        struct uop_cut cut;
        arena_reset(&arena);
        if (!uop_slice_cut(&d.machine, &d.tile, &cut))
            continue;
        const struct uop_cut whole = {d.tile.p, d.tile.q, d.tile.c, d.tile.k * d.tile.g};
        const uint64_t work = work_of(&d, cut, false, &arena);
        assert_int_equal(work_of(&d, whole, true, &arena), work);
        const struct uop_layer layer = {.whole = d.tile};
        const struct uop_network network = {.n_layer = 1, .n_all = 1, .layer = &layer};
        d.machine.columns = d.machine.rows = 1;
        assert_true(uop_partition_bound(&network, &d.machine, 1) <= work);
        const struct uop_cut any = {1 + random_below(&rng, d.tile.p), 1 + random_below(&rng, d.tile.q),
                                    1 + random_below(&rng, d.tile.c), 1 + random_below(&rng, d.tile.k)};
        assert_true(uop_partition_bound(&network, &d.machine, 1) <= work_of(&d, any, true, &arena));
    }
    arena_free(&arena);
}

/* 224 input channels on 96 lanes, 128 words a cycle: a part of c channels takes 1 + ceil(c / 64) cycles a
 * pixel. Of equal parts but the last 96, 96 and 32 take the least, 3 + 3 + 2 = 8 (three of which the first
 * two have 75 to 96; or four of 2 at least). Slices may be 96, 64 and 64: 3 + 2 + 2 = 7, 3 + ceil(224 / 64).
 */
static void test_the_bound_with_slices(void **state)
{
    struct kc_machine machine = {.columns = 1, .rows = 1, .c_lane = 96, .k_lane = 14, .delivery = {128, 1}};
    const struct uop_layer layer = {
        .whole = {.r = 1, .s = 1, .stride_v = 1, .stride_h = 1, .p = 32, .q = 1, .c = 224, .k = 14, .g = 1}};
    const struct uop_network network = {.n_layer = 1, .n_all = 1, .layer = &layer};
    (void)state;
    assert_int_equal(uop_partition_bound(&network, &machine, 1), 32 * 8);
    machine.slices = true;
    assert_int_equal(uop_partition_bound(&network, &machine, 1), 32 * 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_by_hand),
        cmocka_unit_test(test_random_slices),
        cmocka_unit_test(test_slices_as_uops),
        cmocka_unit_test(test_the_bound_with_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
