/* Parts of layers whose weights stream, by hand.
 * Tests: stream_parts.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/stream_parts.h"

enum { KIB = 1024 };

/* 512 rows of 768 channels in and out: 393,216 words each, 589,824 of weights. */
static const char text[] = "network: one\ninput: {C: 768, H: 512, W: 1}\nlayers:\n"
                           "- {name: q, type: linear, C: 768, K: 768, P: 512, from: input}\n";

/* Every tile has this share of the weights' level. */
static enum dse_status share_of(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                struct dse_error *err)
{
    (void)tile, (void)err;
    *cost = (struct core_cost){.stream_share = *(const double *)self};
    return DSE_OK;
}

static struct stream_parts parts_of(uint32_t streams, double share, uint64_t stay_word, uint32_t n_max)
{
    const struct core_scheduler core = {&share, share_of};
    const struct soma_part_rule rule = {.buffer_byte = 128 * KIB,
                                        .word_bit = 8,
                                        .streams = streams,
                                        .share = SOMA_PART_SHARE,
                                        .stay_word = stay_word,
                                        .core = &core};
    struct stream_parts parts[1];
    struct network network;
    struct arena arena;
    struct dse_error err = {0};
    arena_init(&arena);
    assert_int_equal(network_parse("one.yaml", text, sizeof text - 1, &network, &err), DSE_OK);
    assert_int_equal(soma_stream_parts(&network, &rule, n_max, &arena, parts, &err), DSE_OK);
    network_free(&network);
    arena_free(&arena);
    return parts[0];
}

/* Whole: 2 x 786,432 in 128 KiB are 12 tiles, 12 x 589,824 + 393,216 = 7,471,104 bytes. In 3 parts 196,608
 * words of weights stay of at most 262,144: 589,824 + 3 x 393,216 = 1,769,472. With 2 x 2 they do so as well,
 * but 4 x 147,456 + 2 x 393,216 + 4 x 2 x 196,608 = 2,949,120. */
static void test_weights_of_parts_stay(void **state)
{
    (void)state;
    const struct stream_parts parts = parts_of(1u << TENSOR_WEIGHT, 0.5, 256 * KIB, 100);
    assert_int_equal(parts.k, 3);
    assert_int_equal(parts.c, 1);
}

/* Where none stay, parts are for tiles of more rows: in 3 they have 393,216 + 131,072 words in and out, which
 * are 8 tiles; 3 x (8 x 196,608 + 393,216) = 5,898,240 are less than 0.8 of the whole's. With 3 x 2 it is
 * 5,701,632, which is not less than 0.8 of that. A level of 100,000 words: 6 parts fit, 589,824 + 6 x 393,216
 * = 2,949,120; but 4 x 2 of 73,728 have 589,824 + 4 x 393,216 + 8 x 2 x 98,304 = 3,735,552. */
static void test_parts_are_for_tiles_of_more_rows(void **state)
{
    (void)state;
    const struct stream_parts none = parts_of(1u << TENSOR_WEIGHT, 2, 256 * KIB, 100),
                              small = parts_of(1u << TENSOR_WEIGHT, 0.5, 100000, 100);
    assert_int_equal(none.k, 3);
    assert_int_equal(none.c, 1);
    assert_int_equal(small.k, 6);
    assert_int_equal(small.c, 1);
}

/* Nothing streams; all stream, so that nothing is known to stay; there is no room for three layers. */
static void test_nothing_is_cut_in_vain(void **state)
{
    (void)state;
    const struct stream_parts none = parts_of(0, 0.5, 256 * KIB, 100), all = parts_of(7, 0.5, 256 * KIB, 100),
                              few = parts_of(1u << TENSOR_WEIGHT, 0.5, 256 * KIB, 1);
    assert_int_equal(none.k * none.c, 1);
    assert_int_equal(all.k * all.c, 1);
    assert_int_equal(few.k * few.c, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_of_parts_stay),
        cmocka_unit_test(test_parts_are_for_tiles_of_more_rows),
        cmocka_unit_test(test_nothing_is_cut_in_vain),
    };
    return cmocka_run_group_tests_name("parts of layers whose weights stream", tests, NULL, NULL);
}
