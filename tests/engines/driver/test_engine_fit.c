/* What an engine takes: the answer without a search is the one that a search would give, and every engine
 * that refuses something says so in its words for help. Tests: engine_fit.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/driver/engine_fit.h"
#include "tests/engines/small_cases.h"

enum { OPTION_MAX = 64 };

struct asked {
    struct problem problem;
    struct architecture arch;
    struct evaluator *evaluator;
    double option[OPTION_MAX];
    struct engine_task task;
};

static void ask_init(struct asked *a, const struct engine *engine)
{
    struct dse_error err;
    small_conv(&a->problem, 3, 4, 4, 2);
    small_machine(&a->arch, 8, 60);
    engine_option_defaults(engine, a->option);
    assert_int_equal(evaluator_new(&accounting_timeloop, &a->problem, &a->arch, &a->evaluator, &err), DSE_OK);
    a->task = (struct engine_task){.evaluator = a->evaluator,
                                   .architecture = &a->arch,
                                   .batch = 1,
                                   .objective = {1, 1},
                                   .option = a->option,
                                   .budget = {.max_evaluations = 10}};
}

static void test_engine_fit_says_what_a_search_would(void **state)
{
    const struct engine *engine = engine_find("exhaustive");
    static struct engine_result result;
    struct dse_error before = {0}, err = {0};
    struct asked a;
    struct arena arena;
    (void)state;
    ask_init(&a, engine);
    arena_init(&arena);
    const struct engine_question question = {engine, &a.task, &accounting_timeloop};
    assert_true(engine_question_option(&question, "max_size") == 1e8);
    assert_int_equal(engine_takes(&question, &err), DSE_OK);
    assert_int_equal(engine_solve(engine, &a.task, &arena, &result, &err), DSE_OK);
    a.option[0] = 2; /* max_size */
    assert_int_equal(engine_takes_machine(&question, &err), DSE_OK);
    assert_int_equal(engine_takes(&question, &before), DSE_BAD_USAGE);
    assert_non_null(strstr(before.text, "too large for exhaustive"));
    assert_int_equal(engine_solve(engine, &a.task, &arena, &result, &err), DSE_BAD_USAGE);
    assert_string_equal(err.text, before.text);
    arena_free(&arena);
    evaluator_delete(a.evaluator);
}

/* Of the machine the accounting is asked first: Timeloop's knows one memory per level. */
static void test_engine_fit_asks_the_accounting_first(void **state)
{
    const struct engine *engine = engine_find("descent");
    struct dse_error err = {0};
    struct asked a;
    (void)state;
    ask_init(&a, engine);
    const struct engine_question question = {engine, &a.task, &accounting_timeloop};
    assert_int_equal(engine_takes_machine(&question, &err), DSE_OK);
    a.arch.level[1].n_part = 2;
    assert_int_equal(engine_takes_machine(&question, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "memories side by side"));
    evaluator_delete(a.evaluator);
}

/* The hook of a machine does not look at what is not there yet. */
static void test_engine_fit_of_a_machine_needs_no_work(void **state)
{
    size_t n;
    const struct engine *const *all = engine_all(&n);
    (void)state;
    for (size_t i = 0; i < n; i++) {
        struct dse_error err = {0};
        struct asked a;
        assert_true(all[i]->n_option <= OPTION_MAX);
        ask_init(&a, all[i]);
        a.task.evaluator = NULL;
        const struct engine_question question = {all[i], &a.task,
                                                 engine_accounting(all[i], a.option, &a.arch)};
        const enum dse_status status = engine_takes_machine(&question, &err);
        if (status != DSE_OK && status != DSE_BAD_INPUT && status != DSE_BAD_USAGE)
            fail_msg("%s: %s", all[i]->name, err.text);
        assert_true(status == DSE_OK || strlen(err.text) > 0);
        assert_true((!all[i]->takes_machine && !all[i]->takes_task) || all[i]->takes_only);
        evaluator_delete(a.evaluator);
    }
}

/* A file that no option names is none; one that is named is found by its id. */
static void test_engine_fit_finds_files(void **state)
{
    const struct engine *engine = engine_find("mindmappings");
    const struct engine_file file = {7, "content"};
    struct asked a;
    (void)state;
    ask_init(&a, engine);
    a.task.file = &file;
    a.task.n_file = 1;
    const struct engine_question question = {engine, &a.task, &accounting_timeloop};
    assert_null(engine_question_file(&question, "model"));
    for (size_t i = 0; i < engine->n_option; i++)
        if (strcmp(engine->option[i].name, "model") == 0)
            a.option[i] = 7;
    assert_ptr_equal(engine_question_file(&question, "model"), file.content);
    evaluator_delete(a.evaluator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine_fit_says_what_a_search_would),
        cmocka_unit_test(test_engine_fit_asks_the_accounting_first),
        cmocka_unit_test(test_engine_fit_of_a_machine_needs_no_work),
        cmocka_unit_test(test_engine_fit_finds_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
