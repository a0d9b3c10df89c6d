/* Tests: network_fold.c. A network with a block three times, by hand: what the folded one has, in which
 * segments; what cannot be folded stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network_fold.h"

/* Two layers before the block, of which nobody reads the second one; one behind that reads a repetition in
 * the middle as well. */
static const char text[] = "network: blocks\ninput: {C: 4, H: 8, W: 8}\nlayers:\n"
                           "- {name: pre, type: conv, C: 4, K: 6, P: 8, Q: 8, from: input}\n"
                           "- {name: alone, type: conv, C: 4, K: 2, P: 8, Q: 8, from: input}\n"
                           "- {name: b1.up, type: conv, C: 6, K: 12, P: 8, Q: 8, from: pre}\n"
                           "- {name: b1.down, type: conv, C: 12, K: 6, P: 8, Q: 8, from: b1.up}\n"
                           "- {name: b2.up, type: conv, C: 6, K: 12, P: 8, Q: 8, from: b1.down}\n"
                           "- {name: b2.down, type: conv, C: 12, K: 6, P: 8, Q: 8, from: b2.up}\n"
                           "- {name: b3.up, type: conv, C: 6, K: 12, P: 8, Q: 8, from: b2.down}\n"
                           "- {name: b3.down, type: conv, C: 12, K: 6, P: 8, Q: 8, from: b3.up}\n"
                           "- {name: post, type: conv, C: 12, K: 3, P: 8, Q: 8, from: [b3.down, b2.down]}\n";

struct fixture {
    struct network network;
    struct network_repeat repeat;
    struct arena arena;
    const struct network_fold *fold;
};

static void open_case(struct fixture *f, struct network_repeat repeat)
{
    struct dse_error err = {0};
    arena_init(&f->arena);
    f->repeat = repeat;
    if (network_parse("blocks.yaml", text, sizeof text - 1, &f->network, &err) != DSE_OK)
        fail_msg("%s", err.text);
    f->network.n_repeat = 1;
    f->network.repeat = &f->repeat;
    assert_int_equal(network_fold_new(&f->network, &f->arena, &f->fold, &err), DSE_OK);
}

static void close_case(struct fixture *f)
{
    network_free(&f->network);
    arena_free(&f->arena);
}

static void test_a_block_stands_once(void **state)
{
    static const char *const name[] = {"pre", "alone", "b1.up", "b1.down", "post"};
    static const uint32_t layer[] = {0, 1, 2, 3, 8}, segment[] = {0, 0, 1, 1, 2};
    static const uint32_t times[] = {1, 3, 1}, stride[] = {0, 2, 0};
    struct fixture f;
    (void)state;
    open_case(&f, (struct network_repeat){"b", 2, 2, 3});
    assert_non_null(f.fold);
    const struct network *folded = &f.fold->network;
    assert_int_equal(folded->n_layer, 5);
    assert_memory_equal(f.fold->layer, layer, sizeof layer);
    assert_memory_equal(f.fold->segment, segment, sizeof segment);
    assert_int_equal(f.fold->n_segment, 3);
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(folded->layer[i].name, name[i]);
        assert_int_equal(folded->order[i], i);
    }
    for (uint32_t s = 0; s < 3; s++) {
        assert_int_equal(f.fold->of[s].times, times[s]);
        assert_int_equal(f.fold->of[s].stride, stride[s]);
    }
    assert_int_equal(folded->layer[2].producer[0], 0);
    assert_int_equal(folded->layer[4].producer[0], 3);
    assert_int_equal(folded->layer[4].producer[1], 3);
    assert_int_equal(folded->n_repeat, 0);
    close_case(&f);
}

static void test_what_is_not_alike_is_not_folded(void **state)
{
    static const struct network_repeat no_block[] = {
        {"b", 1, 2, 3}, /* alone and b1.up differ from b1.down and b2.up */
        {"b", 2, 2, 4}, /* beyond the network */
        {"b", 2, 3, 2}, /* the second begins with b2.down */
    };
    (void)state;
    for (size_t i = 0; i < sizeof no_block / sizeof *no_block; i++) {
        struct fixture f;
        open_case(&f, no_block[i]);
        assert_null(f.fold);
        close_case(&f);
    }
}

static void test_unroll_keeps_all(void **state)
{
    struct fixture f;
    struct dse_error err;
    (void)state;
    open_case(&f, (struct network_repeat){"b", 2, 2, 3});
    f.network.unroll = true;
    assert_int_equal(network_fold_new(&f.network, &f.arena, &f.fold, &err), DSE_OK);
    assert_null(f.fold);
    close_case(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_block_stands_once),
        cmocka_unit_test(test_what_is_not_alike_is_not_folded),
        cmocka_unit_test(test_unroll_keeps_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
