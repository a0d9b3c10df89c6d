/* Layers and keys of workloads: the four old GPT-2 networks have the keys that they had as files of their
 * own, and blocks that repeat are one row each.
 * Tests: workload.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dse/solve/workload.h"

static void read(const char *path, const struct network_settings *settings, struct network *net)
{
    struct dse_error err = {0};
    if (network_read_with(path, settings, NULL, net, &err) != DSE_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
}

/* Written down from the program and the files before gpt2.yaml took their place (November 2026). */
static void test_old_networks_keep_their_keys(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        uint64_t hash, network_hash, whole_of_4;
    } row[] = {
        {"experiments/networks/gpt2_small_prefill512.yaml", 0x436b9d096db93749, 0xad855a6d353a02ba,
         0xe20241e6c56b6978},
        {"experiments/networks/gpt2_small_decode513.yaml", 0x6a550ff28d0283bf, 0xdd458c52e3c32199,
         0x3c0d0638fff1ac1a},
        {"experiments/networks/gpt2_xl_prefill1024.yaml", 0xcc27b2ce5bfd597c, 0x3b42e8a6c5838522,
         0x2f64b6e07761acc4},
        {"experiments/networks/gpt2_xl_decode1025.yaml", 0xd06535afba28ed28, 0xeba9355412eea107,
         0x4b394115ed6b7f9a},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct network net;
        struct workload layers, whole;
        struct dse_error err = {0};
        read(row[i].path, NULL, &net);
        assert_int_equal(workload_init(&layers, &net, 2, NULL, 0, 0, &err), DSE_OK);
        assert_true(layers.hash == row[i].hash && layers.network_hash == row[i].network_hash);
        workload_init_whole(&whole, &net, 4);
        assert_true(whole.network_hash == row[i].whole_of_4);
        workload_free(&layers);
        network_free(&net);
    }
}

/* GPT-2 small: 12 blocks of 6 kinds of 19 products. */
static void test_blocks_are_counted(void **state)
{
    (void)state;
    static const struct network_set unroll = {"unroll", "true", NULL, 0, false};
    static const struct network_settings unrolled = {&unroll, 1, false};
    const char *const name = "block5.ffn1";
    struct network net, all;
    struct workload once, each, one;
    struct dse_error err = {0};
    uint64_t n = 0;
    read("experiments/networks/gpt2.yaml", NULL, &net);
    read("experiments/networks/gpt2.yaml", &unrolled, &all);
    assert_int_equal(workload_init(&once, &net, 1, NULL, 0, 0, &err), DSE_OK);
    assert_int_equal(workload_init(&each, &all, 1, NULL, 0, 0, &err), DSE_OK);
    assert_int_equal(workload_init(&one, &net, 1, &name, 1, 0, &err), DSE_OK);
    assert_int_equal(once.n_layer, 19);
    assert_int_equal(once.n_skipped, 19);
    assert_int_equal(once.n_problem, 6);
    assert_int_equal(each.n_layer, 12 * 19);
    for (uint32_t i = 0; i < once.n_layer; i++)
        assert_int_equal(once.count[i], 12);
    for (uint32_t p = 0; p < once.n_problem; p++) {
        assert_true(workload_count(&once, p) == workload_count(&each, p));
        n += workload_count(&once, p);
    }
    assert_int_equal(n, 12 * 19);
    assert_true(once.hash != each.hash && once.network_hash != each.network_hash);
    assert_int_equal(one.n_layer, 1);
    assert_int_equal(one.count[0], 1); /* a layer that is named stands for itself */
    workload_free(&once);
    workload_free(&each);
    workload_free(&one);
    network_free(&net);
    network_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_networks_keep_their_keys),
        cmocka_unit_test(test_blocks_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
