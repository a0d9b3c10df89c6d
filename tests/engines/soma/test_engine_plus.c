/* Engine soma-plus: what it finds is better than layer by layer, above its own lower bound, and the same on
 * any number of threads. Tests: engine_plus.c, plus_run.c, plus_walks.c. */
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

/* What is solved, beside engine and options: batch 1 and no limit where nothing is said. */
struct job {
    const char *network, *capacity, *bandwidth;
    uint64_t seed, max_evaluations;
    uint32_t batch;
    int n_thread;
};

static void solve_job(struct found *f, const struct engine *engine, const struct job *job,
                      const char *settings[][2])
{
    struct yaml_doc doc;
    struct dse_error err = {0};
    const struct arch_override set[] = {{"GBUF.capacity", job->capacity}, {"DRAM.bandwidth", job->bandwidth}};
    memset(f, 0, sizeof *f);
    arena_init(&f->arena);
    assert_true(engine->n_option <= OPTION_MAX);
    if (yaml_read(&doc, "experiments/architectures/soma_edge.yaml", &err) != DSE_OK ||
        architecture_build(&doc, set, job->bandwidth ? 2 : 1, &f->arch, &err) != DSE_OK ||
        network_read(job->network, &f->network, &err) != DSE_OK)
        fail_msg("%s", err.text);
    yaml_doc_free(&doc);
    engine_option_defaults(engine, f->option);
    for (; settings && (*settings)[0]; settings++)
        if (engine_option_set(engine, (*settings)[0], (*settings)[1], f->option, &err) != DSE_OK)
            fail_msg("%s", err.text);
    const struct engine_task task = {.network = &f->network,
                                     .architecture = &f->arch,
                                     .batch = job->batch > 0 ? job->batch : 1,
                                     .objective = {1, 1},
                                     .option = f->option,
                                     .seed = job->seed,
                                     .budget = {.max_evaluations = job->max_evaluations},
                                     .n_thread = job->n_thread};
    if (engine_solve(engine, &task, &f->arena, &f->result, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void solve(struct found *f, const struct engine *engine, const char *network, const char *capacity,
                  const char *settings[][2], uint64_t max_evaluations, int n_thread)
{
    const struct job job = {
        .network = network, .capacity = capacity, .max_evaluations = max_evaluations, .n_thread = n_thread};
    solve_job(f, engine, &job, settings);
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

/* With as many starts of soma and the same seed, whatever the walks do. */
static void test_engine_plus_is_no_worse_than_soma(void **state)
{
    (void)state;
    const char *one[][2] = {{NULL, NULL}};
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

/* Where searches that begin alike and cold all end at 5.214e-6 J s: the best of seeds 0 to 5 and of several
 * temperatures is 3.6753e-6. At 12 soma is caught, too. */
static void test_engine_plus_leaves_a_valley(void **state)
{
    (void)state;
    static const char gpt2[] = "experiments/networks/gpt2_small_prefill512.yaml";
    const struct {
        struct job job;
        double cost; /* J s; 0: no figure */
    } one[] = {{{.network = gpt2, .capacity = "4 MiB", .bandwidth = "4 GB/s", .seed = 1}, 3.6753e-6},
               {{.network = gpt2, .capacity = "4 MiB", .bandwidth = "4 GB/s", .seed = 12}, 3.6753e-6},
               {{.network = gpt2, .capacity = "8 MiB", .bandwidth = "8 GB/s", .seed = 3}, 0}};
    const char *compat[][2] = {{"compat", "1"}, {NULL, NULL}};
    for (size_t k = 0; k < sizeof one / sizeof one[0]; k++) {
        struct found plus, soma;
        solve_job(&plus, &engine_soma_plus, &one[k].job, compat);
        solve_job(&soma, &engine_soma, &one[k].job, compat);
        assert_true(plus.result.feasible && soma.result.feasible);
        assert_true(plus.result.cost <= soma.result.cost);
        if (one[k].cost > 0)
            assert_true(plus.result.cost <= 1.01 * one[k].cost);
        close_found(&plus);
        close_found(&soma);
    }
}

/* Two ways out of a valley that walks ended in: the value matrix behind a DRAM cut, where it fits only with
 * finer tiles for the groups there, and groups of seven tiles, which no doubling and halving comes to. The
 * costs are the best of seeds 0 to 3 with all default options, 8 % and 3 % below the worst of them then; here
 * the walks have to come there on their own. */
static void test_engine_plus_refines_and_divides(void **state)
{
    (void)state;
    const struct {
        struct job job;
        double cost; /* J s */
    } one[] = {{{.network = "experiments/networks/gpt2_small_prefill512.yaml",
                 .capacity = "4 MiB",
                 .bandwidth = "4 GB/s",
                 .seed = 3,
                 .batch = 4},
                5.8629e-5},
               {{.network = "experiments/networks/resnet50_soma.yaml",
                 .capacity = "16 MiB",
                 .bandwidth = "64 GB/s",
                 .seed = 1,
                 .batch = 4},
                1.0377e-5}};
    const char *alone[][2] = {{"compat", "1"},   {"two_stage", "0"},   {"polish", "0"}, {"dlsa_rounds", "0"},
                              {"rounds", "160"}, {"bound_tiles", "0"}, {NULL, NULL}};
    for (size_t k = 0; k < sizeof one / sizeof one[0]; k++) {
        struct found plus;
        solve_job(&plus, &engine_soma_plus, &one[k].job, alone);
        assert_true(plus.result.feasible && plus.result.cost <= 1.01 * one[k].cost);
        close_found(&plus);
    }
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
    const char *compat[][2] = {{"compat", "1"}, {NULL, NULL}};
    struct found f;
    solve(&f, &engine_soma_plus, "tests/known/soma/tiny6.yaml", "1 KiB", compat, 0, 1);
    assert_false(f.result.feasible);
    assert_non_null(strstr(f.result.reason, "buffer"));
    close_found(&f);
}

/* Nothing fits with double buffering, and what fits otherwise has 140,288 tiles: soma-plus begins at the
 * schedule that soma has, with a text that says its 434,183 loads and stores in runs, and reads back. */
static void test_engine_plus_begins_with_late_loads(void **state)
{
    (void)state;
    const char *none[][2] = {{"lfa_rounds", "0"}, {"dlsa_rounds", "0"}, {NULL, NULL}};
    const char *brief[][2] = {{"rounds", "4"},      {"starts", "1"}, {"two_stage", "1"},
                              {"generations", "1"}, {"polish", "2"}, {"dlsa_rounds", "2"},
                              {"bound_tiles", "0"}, {NULL, NULL}};
    struct found soma, plus;
    solve(&soma, &engine_soma, "tests/known/soma/rows.yaml", "1300 B", none, 0, 1);
    solve(&plus, &engine_soma_plus, "tests/known/soma/rows.yaml", "1300 B", brief, 0, 1);
    assert_true(soma.result.feasible && plus.result.feasible);
    assert_true(plus.result.cost <= soma.result.cost);
    assert_non_null(
        strstr(plus.result.schedule.text, "tensors: 434183\ndram: # tensor, start, end; of runs"));
    assert_true(plus.result.schedule.text_length < 100000);
    close_found(&soma);
    close_found(&plus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine_plus_beats_layer_by_layer),
        cmocka_unit_test(test_engine_plus_is_no_worse_than_soma),
        cmocka_unit_test(test_engine_plus_leaves_a_valley),
        cmocka_unit_test(test_engine_plus_refines_and_divides),
        cmocka_unit_test(test_engine_plus_is_the_same_on_any_number_of_threads),
        cmocka_unit_test(test_engine_plus_keeps_its_budget),
        cmocka_unit_test(test_engine_plus_begins_with_late_loads),
        cmocka_unit_test(test_engine_plus_says_why_nothing_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
