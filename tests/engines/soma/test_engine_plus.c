/* Engine soma-plus: what it finds is better than layer by layer, above its own lower bound, and the same on
 * any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "engines/soma/soma_engines.h"

enum { OPTION_MAX = 32 };

struct found {
    struct architecture arch;
    struct network network;
    struct arena arena;
    struct engine_result result;
    double option[OPTION_MAX];
};

static void solve(struct found *f, const struct engine *engine, const char *network, const char *capacity,
                  const char *settings[][2], uint64_t max_evaluations, int n_thread)
{
    struct yaml_doc doc;
    struct dse_error err = {0};
    const struct arch_override buffer = {"GBUF.capacity", capacity};
    memset(f, 0, sizeof *f);
    arena_init(&f->arena);
    assert_true(engine->n_option <= OPTION_MAX);
    if (yaml_read(&doc, "experiments/architectures/soma_edge.yaml", &err) != DSE_OK ||
        architecture_build(&doc, &buffer, 1, &f->arch, &err) != DSE_OK ||
        network_read(network, &f->network, &err) != DSE_OK)
        fail_msg("%s", err.text);
    yaml_doc_free(&doc);
    engine_option_defaults(engine, f->option);
    for (; settings && (*settings)[0]; settings++)
        if (engine_option_set(engine, (*settings)[0], (*settings)[1], f->option, &err) != DSE_OK)
            fail_msg("%s", err.text);
    const struct engine_task task = {.network = &f->network,
                                     .architecture = &f->arch,
                                     .batch = 1,
                                     .objective = {1, 1},
                                     .option = f->option,
                                     .budget = {.max_evaluations = max_evaluations},
                                     .n_thread = n_thread};
    if (engine_solve(engine, &task, &f->arena, &f->result, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void close_found(struct found *f)
{
    network_free(&f->network);
    arena_free(&f->arena);
}

static void test_engine_plus_beats_layer_by_layer(void **state)
{
    (void)state;
    const char *compat[][2] = {{"compat", "1"}, {NULL, NULL}};
    const char *brief[][2] = {{"rounds", "20"}, {"polish", "10"}, {"compat", "1"}, {NULL, NULL}};
    for (int k = 0; k < 2; k++) {
        struct found plus, unfused;
        solve(&plus, &engine_soma_plus, "tests/known/soma/tiny6.yaml", "64 KiB", k ? brief : brief + 3, 0, 1);
        solve(&unfused, &engine_unfused, "tests/known/soma/tiny6.yaml", "64 KiB", k ? compat : NULL, 0, 1);
        assert_true(plus.result.feasible && unfused.result.feasible);
        assert_int_equal(plus.result.stop, STOP_CONVERGED);
        assert_true(plus.result.cost < unfused.result.cost);
        assert_true(plus.result.bound > 0 && plus.result.bound <= plus.result.cost);
        close_found(&plus);
        close_found(&unfused);
    }
}

/* With as many starts of soma and the same seed, whatever the joint search does. */
static void test_engine_plus_is_no_worse_than_soma(void **state)
{
    (void)state;
    const char *one[][2] = {{"starts", "1"}, {NULL, NULL}};
    const char *none[][2] = {
        {"starts", "1"}, {"rounds", "0"}, {"polish", "0"}, {"dlsa_rounds", "0"}, {NULL, NULL}};
    struct found plus, soma;
    solve(&plus, &engine_soma_plus, "tests/known/soma/tiny6.yaml", "64 KiB", none, 0, 1);
    solve(&soma, &engine_soma, "tests/known/soma/tiny6.yaml", "64 KiB", one, 0, 1);
    assert_true(plus.result.feasible && soma.result.feasible);
    assert_true(plus.result.cost <= soma.result.cost);
    close_found(&plus);
    close_found(&soma);
}

static void test_engine_plus_is_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    const char *brief[][2] = {{"rounds", "5"}, {"polish", "5"}, {NULL, NULL}};
    struct found one, three;
    solve(&one, &engine_soma_plus, "experiments/networks/resnet50_soma.yaml", "4 MiB", brief, 0, 1);
    solve(&three, &engine_soma_plus, "experiments/networks/resnet50_soma.yaml", "4 MiB", brief, 0, 3);
    assert_int_equal(one.result.schedule.text_length, three.result.schedule.text_length);
    assert_memory_equal(one.result.schedule.text, three.result.schedule.text,
                        one.result.schedule.text_length);
    assert_int_equal(one.result.n_evaluation, three.result.n_evaluation);
    close_found(&one);
    close_found(&three);
}

static void test_engine_plus_keeps_its_budget(void **state)
{
    (void)state;
    const char *bare[][2] = {{"bound_tiles", "0"}, {NULL, NULL}};
    struct found f;
    solve(&f, &engine_soma_plus, "experiments/networks/resnet50_soma.yaml", "8 MiB", bare, 300, 1);
    assert_true(f.result.feasible);
    assert_int_equal(f.result.stop, STOP_MAX_EVALUATIONS);
    assert_int_equal(f.result.n_evaluation, 300);
    assert_true(f.result.bound == 0);
    close_found(&f);
}

static void test_engine_plus_says_why_nothing_fits(void **state)
{
    (void)state;
    struct found f;
    solve(&f, &engine_soma_plus, "tests/known/soma/tiny6.yaml", "1 KiB", NULL, 0, 1);
    assert_false(f.result.feasible);
    assert_non_null(strstr(f.result.reason, "buffer"));
    close_found(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine_plus_beats_layer_by_layer),
        cmocka_unit_test(test_engine_plus_is_no_worse_than_soma),
        cmocka_unit_test(test_engine_plus_is_the_same_on_any_number_of_threads),
        cmocka_unit_test(test_engine_plus_keeps_its_budget),
        cmocka_unit_test(test_engine_plus_says_why_nothing_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
