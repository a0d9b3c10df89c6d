/* Engine soma through the driver: what it finds beside the published program, threads, budgets, options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/network.h"
#include "costmodel/readers.h"
#include "engines/soma/soma_engines.h"

enum { OPTION_MAX = 40 };

struct run {
    struct architecture arch;
    struct network network;
    struct arena arena;
    struct engine_task task;
    struct engine_result result;
    double option[OPTION_MAX];
    struct dse_error err;
};

static struct run *open_run(const char *network, const char *capacity)
{
    struct run *r = calloc(1, sizeof *r);
    struct yaml_doc doc;
    const struct arch_override override = {"GBUF.capacity", capacity};
    assert_non_null(r);
    arena_init(&r->arena);
    if (yaml_read(&doc, "experiments/architectures/soma_edge.yaml", &r->err) != DSE_OK ||
        architecture_build(&doc, &override, 1, &r->arch, &r->err) != DSE_OK ||
        network_read(network, &r->network, &r->err) != DSE_OK)
        fail_msg("%s", r->err.text);
    yaml_doc_free(&doc);
    assert_true(engine_soma.n_option <= OPTION_MAX);
    engine_option_defaults(&engine_soma, r->option);
    r->task = (struct engine_task){.network = &r->network,
                                   .architecture = &r->arch,
                                   .batch = 1,
                                   .objective = {1, 1},
                                   .option = r->option,
                                   .n_thread = 1};
    return r;
}

static void set(struct run *r, const char *name, const char *value)
{
    if (engine_option_set(&engine_soma, name, value, r->option, &r->err) != DSE_OK)
        fail_msg("%s", r->err.text);
}

static void solve(struct run *r)
{
    arena_reset(&r->arena);
    if (engine_solve(&engine_soma, &r->task, &r->arena, &r->result, &r->err) != DSE_OK)
        fail_msg("%s", r->err.text);
}

static void close_run(struct run *r)
{
    network_free(&r->network);
    arena_free(&r->arena);
    free(r);
}

/* tests/known/soma/public.csv, 8 MB, 16 GB/s: 1,624,151 cycles, 2.82305 mJ. The driver has read the schedule back and evaluated it
 * anew. */
static void test_engine_soma_is_as_good_as_published(void **state)
{
    (void)state;
    struct run *r = open_run("experiments/networks/resnet50_soma.yaml", "8 MiB");
    set(r, "compat", "1");
    set(r, "starts", "1");
    solve(r);
    const struct engine_schedule *s = &r->result.schedule;
    assert_true(r->result.feasible && r->result.stop == STOP_CONVERGED);
    assert_true(s->energy_j * (double)s->cycle <= 1.01 * 2.8230510593566e-3 * 1624151);
    assert_true(s->cycle < s->stage1_cycle);
    assert_string_equal(s->accounting, "soma-compat");
    close_run(r);
}

static void test_engine_soma_finds_the_same_on_any_threads(void **state)
{
    (void)state;
    static const int n_thread[] = {1, 2, 3};
    struct run *r = open_run("tests/known/soma/tiny6.yaml", "1 MiB");
    char *text = NULL;
    double cost = 0;
    uint64_t evaluations = 0;
    set(r, "lfa_rounds", "30");
    set(r, "dlsa_rounds", "50");
    set(r, "starts", "5");
    for (int i = 0; i < 3; i++) {
        r->task.n_thread = n_thread[i];
        solve(r);
        assert_true(r->result.feasible);
        if (i == 0) {
            text = strdup(r->result.schedule.text);
            cost = r->result.cost;
            evaluations = r->result.n_evaluation;
        }
        assert_string_equal(text, r->result.schedule.text);
        assert_true(cost == r->result.cost && evaluations == r->result.n_evaluation);
    }
    free(text);
    close_run(r);
}

/* More starts are never worse: the first ones are the same. */
static void test_engine_soma_gains_by_starts(void **state)
{
    (void)state;
    struct run *r = open_run("tests/known/soma/tiny6.yaml", "64 KiB");
    double cost[2];
    set(r, "lfa_rounds", "5");
    set(r, "dlsa_rounds", "10");
    for (int i = 0; i < 2; i++) {
        set(r, "starts", i ? "8" : "1");
        solve(r);
        cost[i] = r->result.cost;
    }
    assert_true(cost[1] <= cost[0]);
    close_run(r);
}

static void test_engine_soma_keeps_to_its_budget(void **state)
{
    (void)state;
    struct run *r = open_run("tests/known/soma/tiny6.yaml", "1 MiB");
    set(r, "starts", "3");
    r->task.budget.max_evaluations = 500;
    solve(r);
    assert_true(r->result.feasible && r->result.stop == STOP_MAX_EVALUATIONS);
    assert_true(r->result.n_evaluation <= 500);
    close_run(r);
}

/* Section V-C's termination: from a start's 300th round on 20 greedy rounds a stage. */
static void test_engine_soma_ends_by_its_rounds(void **state)
{
    (void)state;
    struct run *r = open_run("tests/known/soma/tiny6.yaml", "1 MiB");
    set(r, "starts", "1");
    set(r, "end_rounds", "300");
    set(r, "greedy_rounds", "20");
    solve(r);
    assert_true(r->result.feasible && r->result.stop == STOP_CONVERGED);
    assert_true(r->result.n_evaluation <= 340);
    close_run(r);
}

static void test_engine_soma_has_the_published_variants(void **state)
{
    (void)state;
    struct run *r = open_run("tests/known/soma/tiny6.yaml", "1 MiB");
    set(r, "compat", "1");
    set(r, "moves", "published");
    set(r, "allocator", "published");
    set(r, "tidy_rounds", "0.1");
    set(r, "starts", "1");
    solve(r);
    assert_true(r->result.feasible);
    set(r, "first_tiles", "coarse");
    set(r, "moves", "paper");
    set(r, "allocator", "paper");
    solve(r);
    assert_true(r->result.feasible);
    close_run(r);
}

static void test_engine_soma_says_why_nothing_fits(void **state)
{
    (void)state;
    struct run *r = open_run("tests/known/soma/tiny6.yaml", "4 KiB");
    solve(r);
    assert_false(r->result.feasible);
    assert_non_null(strstr(r->result.reason, "bytes of the global buffer, which has 4,096"));
    close_run(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine_soma_is_as_good_as_published),
        cmocka_unit_test(test_engine_soma_finds_the_same_on_any_threads),
        cmocka_unit_test(test_engine_soma_gains_by_starts),
        cmocka_unit_test(test_engine_soma_keeps_to_its_budget),
        cmocka_unit_test(test_engine_soma_ends_by_its_rounds),
        cmocka_unit_test(test_engine_soma_has_the_published_variants),
        cmocka_unit_test(test_engine_soma_says_why_nothing_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
