/* The contract of engines, asked of every engine in the registry: a new engine is tested by being listed.
 * Tests: registry.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/model/measure.h"
#include "dse/solve/measure_settings.h"
#include "engines/mapspace/mapspace_constraints.h"
#include "tests/engines/small_cases.h"
#include "tests/support/mapping_same.h"

enum { OPTION_MAX = 32, N_CASE = 4 };

/* A problem, a machine, and an objective on which every mapper must find something. */
struct small_case {
    struct problem problem;
    struct architecture arch;
    struct objective objective;
};

static void make_case(int i, struct small_case *c)
{
    static const struct objective objective[N_CASE] = {{1, 1}, {0, 1}, {1, 0}, {1, 2}};
    c->objective = objective[i];
    if (i % 2 == 0)
        small_gemm(&c->problem, 8, 4, 6);
    else
        small_conv(&c->problem, 3, 4, 4, 2);
    small_machine(&c->arch, i < 2 ? 8 : 40, i == 3 ? 100 : 60);
    c->arch.link_transfers = i == 3;
}

/* What prices an engine's search when nobody chooses. */
static const struct accounting *accounting_of(const struct engine *engine, const struct small_case *c)
{
    double option[OPTION_MAX];
    engine_option_defaults(engine, option);
    return engine_accounting(engine, option, &c->arch);
}

static enum dse_status solve(const struct engine *engine, const struct small_case *c, uint64_t seed,
                             struct engine_budget budget, struct engine_result *result, struct dse_error *err)
{
    struct evaluator *evaluator;
    struct arena arena;
    double option[OPTION_MAX];
    assert_true(engine->n_option <= OPTION_MAX);
    arena_init(&arena);
    engine_option_defaults(engine, option);
    assert_int_equal(evaluator_new(accounting_of(engine, c), &c->problem, &c->arch, &evaluator, err), DSE_OK);
    struct engine_task task = {.evaluator = evaluator,
                               .architecture = &c->arch,
                               .batch = 1,
                               .objective = c->objective,
                               .option = option,
                               .seed = seed,
                               .key = 99,
                               .budget = budget};
    enum dse_status status = engine_solve(engine, &task, &arena, result, err);
    evaluator_delete(evaluator);
    arena_free(&arena);
    return status;
}

/* Solve or fail the test. */
static void must_solve(const struct engine *engine, const struct small_case *c, uint64_t seed,
                       struct engine_budget budget, struct engine_result *result)
{
    struct dse_error err;
    if (solve(engine, c, seed, budget, result, &err) != DSE_OK)
        fail_msg("%s: %s", engine->name, err.text);
}

/* Call `check` for every mapper of the registry, but for those that take only some machines: a test of theirs
 * asks the same (tests/engines/mindmappings/test_mm_search.c). */
static void for_each_mapper(void (*check)(const struct engine *engine))
{
    size_t n;
    const struct engine *const *all = engine_all(&n);
    assert_true(n >= 6);
    for (size_t i = 0; i < n; i++)
        if (all[i]->kind == ENGINE_MAPPER && !all[i]->takes_machine)
            check(all[i]);
}

static void check_solves(const struct engine *engine)
{
    for (int i = 0; i < N_CASE; i++) {
        struct small_case c;
        struct engine_result r;
        char reason[256];
        struct engine_budget budget = {.max_evaluations = 3000};
        make_case(i, &c);
        must_solve(engine, &c, 1, budget, &r);
        assert_true(r.feasible);
        assert_true(accounting_of(engine, &c)->check(&c.problem, &c.arch, &r.mapping, reason, sizeof reason));
        assert_true(r.cost > 0 && r.bound > 0 && r.cost >= r.bound * (1 - 1e-12));
        assert_true(r.cost == objective_cost(&c.objective, &r.evaluation));
        assert_true(r.n_evaluation >= 1 && r.n_evaluation <= 3000 && r.n_draw >= r.n_evaluation);
        assert_true(r.stop != STOP_RUNNING);
        assert_true(r.stop != STOP_MAX_EVALUATIONS || r.n_evaluation == 3000);
        assert_true(r.n_trace >= 1 && r.n_trace <= ENGINE_TRACE_MAX);
        assert_true(r.trace[r.n_trace - 1].cost == r.cost);
        for (uint32_t k = 1; k < r.n_trace; k++)
            assert_true(r.trace[k].cost < r.trace[k - 1].cost &&
                        r.trace[k].evaluation > r.trace[k - 1].evaluation &&
                        r.trace[k].seconds >= r.trace[k - 1].seconds);
        assert_int_equal(r.reason[0], '\0');
    }
}

static void test_every_mapper_solves_small_problems(void **state)
{
    (void)state;
    for_each_mapper(check_solves);
}

static void check_same_seed(const struct engine *engine)
{
    struct small_case c;
    struct engine_result a, b;
    struct engine_budget budget = {.max_evaluations = 2000};
    make_case(1, &c);
    must_solve(engine, &c, 5, budget, &a);
    must_solve(engine, &c, 5, budget, &b);
    assert_true(a.cost == b.cost && a.n_evaluation == b.n_evaluation && a.n_draw == b.n_draw &&
                a.stop == b.stop);
    assert_true(mapping_same(&a.mapping, &b.mapping));
    assert_int_equal(a.n_trace, b.n_trace);
}

static void test_same_seed_gives_the_same_result(void **state)
{
    (void)state;
    for_each_mapper(check_same_seed);
}

/* With a handful of evaluations the seed shows; exhaustive, interstellar and drill have nothing random, nor
 * have CoSA's solves. gradient's descents all lead to one mapping of so small a problem. */
static void check_other_seed(const struct engine *engine)
{
    if (strcmp(engine->name, "gradient") == 0)
        return;
    struct small_case c;
    struct engine_result first, r;
    struct engine_budget budget = {.max_evaluations = 3};
    int n_different = 0;
    make_case(0, &c);
    must_solve(engine, &c, 1, budget, &first);
    for (uint64_t seed = 2; seed < 12; seed++) {
        must_solve(engine, &c, seed, budget, &r);
        n_different += !mapping_same(&r.mapping, &first.mapping);
    }
    if (strcmp(engine->name, "exhaustive") == 0 || strcmp(engine->name, "drill") == 0 ||
        strcmp(engine->name, "interstellar") == 0 || strncmp(engine->name, "cosa", 4) == 0)
        assert_int_equal(n_different, 0);
    else
        assert_true(n_different >= 5);
}

static void test_other_seeds_give_other_searches(void **state)
{
    (void)state;
    for_each_mapper(check_other_seed);
}

/* Registers of 2 words cannot hold one word of each of three tensors. */
static void check_infeasible(const struct engine *engine)
{
    struct small_case c;
    struct engine_result r;
    make_case(0, &c);
    small_machine(&c.arch, 2, 60);
    must_solve(engine, &c, 1, (struct engine_budget){.max_evaluations = 1000}, &r);
    assert_false(r.feasible);
    assert_int_equal(r.n_evaluation, 0);
    assert_string_equal(r.reason, "Registers needs 3 B for A+B+Z, has 2 B");
}

static void test_infeasible_machine_gives_its_reason(void **state)
{
    (void)state;
    for_each_mapper(check_infeasible);
}

/* A minimum utilisation nothing can reach: found out by looking, not by the smallest tile. */
static void check_unreachable(const struct engine *engine)
{
    struct small_case c;
    struct engine_result r;
    make_case(0, &c);
    if (accounting_of(engine, &c) != &accounting_timeloop)
        return; /* the rule is Timeloop's */
    small_machine(&c.arch, 8, 4000);
    c.arch.level[1].min_utilization = 0.9; /* the whole problem has 8*6 + 6*4 + 8*4 = 104 words */
    must_solve(engine, &c, 1, (struct engine_budget){.max_evaluations = 1000}, &r);
    assert_false(r.feasible);
    assert_true(r.stop == STOP_CONVERGED || r.stop == STOP_MAX_EVALUATIONS);
    if (!strstr(r.reason, "Buffer holds ") || !strstr(r.reason, "minimum utilisation"))
        fail_msg("%s: %s", engine->name, r.reason);
}

static void test_unreachable_minimum_gives_its_reason(void **state)
{
    (void)state;
    for_each_mapper(check_unreachable);
}

static void check_budget(const struct engine *engine)
{
    struct small_case c;
    struct engine_result r;
    static const uint64_t limit[] = {1, 2, 17, 1000, 1001};
    make_case(1, &c);
    for (size_t i = 0; i < sizeof limit / sizeof limit[0]; i++) {
        must_solve(engine, &c, 1, (struct engine_budget){.max_evaluations = limit[i]}, &r);
        assert_true(r.n_evaluation <= limit[i]);
        assert_true(r.feasible);
    }
}

static void test_budget_of_evaluations_is_kept(void **state)
{
    (void)state;
    for_each_mapper(check_budget);
}

static void check_cancel(const struct engine *engine)
{
    struct small_case c;
    struct engine_result r;
    atomic_int cancel = 1;
    make_case(1, &c);
    must_solve(engine, &c, 1, (struct engine_budget){.cancel = &cancel}, &r);
    assert_int_equal(r.stop, STOP_INTERRUPTED);
    assert_int_equal(r.n_evaluation, 0);
    assert_false(r.feasible);
    assert_non_null(strstr(r.reason, "interrupted"));
}

static void test_cancel_flag_ends_the_search(void **state)
{
    (void)state;
    for_each_mapper(check_cancel);
}

/* A search without an end of its own stops at the clock. */
static void test_seconds_end_the_search(void **state)
{
    (void)state;
    struct small_case c;
    struct engine_result r;
    struct evaluator *evaluator;
    struct arena arena;
    struct dse_error err;
    double option[OPTION_MAX];
    const struct engine *engine = engine_find("random");
    arena_init(&arena);
    make_case(2, &c);
    engine_option_defaults(engine, option);
    assert_int_equal(engine_option_set(engine, "search_size", "0", option, &err), DSE_OK);
    assert_int_equal(evaluator_new(&accounting_timeloop, &c.problem, &c.arch, &evaluator, &err), DSE_OK);
    struct engine_task task = {.evaluator = evaluator,
                               .architecture = &c.arch,
                               .objective = c.objective,
                               .option = option,
                               .budget = {.max_seconds = 0.05}};
    assert_int_equal(engine_solve(engine, &task, &arena, &r, &err), DSE_OK);
    assert_int_equal(r.stop, STOP_MAX_SECONDS);
    assert_true(r.feasible && r.seconds >= 0.05 && r.seconds < 2);
    evaluator_delete(evaluator);
    arena_free(&arena);
}

/* One MAC, no bandwidth limit: every mapping takes as many cycles as there are MACs, which is the bound. */
static void check_bound(const struct engine *engine)
{
    struct small_case c;
    struct engine_result r;
    make_case(0, &c);
    c.objective = (struct objective){0, 1};
    c.arch.level[0].instances = c.arch.level[0].mesh_x = c.arch.level[0].mesh_y = 1;
    c.arch.mac.instances = c.arch.mac.mesh_x = c.arch.mac.mesh_y = 1;
    c.arch.level[2].shared_bandwidth_word_per_cycle = INFINITY;
    must_solve(engine, &c, 1, (struct engine_budget){0}, &r);
    assert_int_equal(r.stop, STOP_OPTIMAL);
    assert_int_equal(r.n_evaluation, 1);
    assert_int_equal(r.evaluation.latency_cycle, 8 * 4 * 6);
}

static void test_reaching_the_bound_ends_the_search(void **state)
{
    (void)state;
    for_each_mapper(check_bound);
}

/* Constraints of the task hold in the answer, or are refused. */
static void check_constraints(const struct engine *engine)
{
    struct small_case c;
    struct engine_result r;
    struct evaluator *evaluator;
    struct arena arena;
    struct dse_error err;
    struct mapspace_constraints constraints;
    double option[OPTION_MAX];
    arena_init(&arena);
    make_case(0, &c);
    engine_option_defaults(engine, option);
    mapspace_constraints_init(&constraints, &c.problem, &c.arch);
    constraints.level[1].temporal.fixed[0] = 2;
    constraints.level[1].spatial.fixed[1] = 2;
    constraints.level[1].bypass = 2;
    assert_int_equal(evaluator_new(accounting_of(engine, &c), &c.problem, &c.arch, &evaluator, &err), DSE_OK);
    struct engine_task task = {.evaluator = evaluator,
                               .architecture = &c.arch,
                               .constraints = &constraints,
                               .objective = c.objective,
                               .option = option,
                               .budget = {.max_evaluations = 500}};
    enum dse_status status = engine_solve(engine, &task, &arena, &r, &err);
    if (engine->takes_hint) { /* and nothing else */
        assert_int_equal(status, DSE_BAD_USAGE);
        assert_non_null(strstr(err.text, "no other constraints"));
    } else {
        assert_int_equal(status, DSE_OK);
        assert_true(r.feasible);
        assert_int_equal(r.mapping.level[1].temporal[0], 2);
        assert_int_equal(r.mapping.level[1].spatial[1], 2);
        assert_int_equal(r.mapping.level[1].keep, 5);
    }
    evaluator_delete(evaluator);
    arena_free(&arena);
}

static void test_constraints_hold_in_the_answer(void **state)
{
    (void)state;
    for_each_mapper(check_constraints);
}

static void test_option_tables_are_sane(void **state)
{
    (void)state;
    size_t n;
    const struct engine *const *all = engine_all(&n);
    for (size_t e = 0; e < n; e++) {
        double value[OPTION_MAX];
        assert_ptr_equal(engine_find(all[e]->name), all[e]);
        assert_true(strlen(all[e]->summary) > 10 && all[e]->init && all[e]->step);
        engine_option_defaults(all[e], value);
        for (size_t i = 0; i < all[e]->n_option; i++) {
            const struct engine_option *o = &all[e]->option[i];
            char text[64];
            struct dse_error err;
            double again[OPTION_MAX];
            assert_true(o->lowest <= o->standard && o->standard <= o->highest);
            assert_true(strlen(o->sentence) > 10 && o->unit);
            assert_true((o->kind == OPTION_CHOICE) == (o->choice != NULL));
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(o->name, all[e]->option[k].name);
            engine_option_print(o, value[i], text, sizeof text);
            assert_int_equal(engine_option_set(all[e], o->name, text, again, &err), DSE_OK);
            assert_true(again[i] == value[i]);
        }
    }
    assert_null(engine_find("no such engine"));
}

/* The page says of every engine its name and of every option name and default: "| `name` | default |". */
static void assert_is_option(const struct engine *engine, const char *name)
{
    bool found = name == NULL;
    for (size_t k = 0; k < engine->n_option; k++)
        found = found || strcmp(engine->option[k].name, name) == 0;
    if (!found)
        fail_msg("the effort of %s depends on %s, which is no option of it", engine->name, name);
}

/* Every engine says what it takes, by options that it has. */
static void test_efforts_are_sane(void **state)
{
    (void)state;
    size_t n;
    const struct engine *const *all = engine_all(&n);
    for (size_t i = 0; i < n; i++) {
        const struct engine_effort *effort = &all[i]->effort;
        assert_true(effort->fixed_s > 0 && effort->fixed_s < 1);
        assert_true(effort->evaluations >= 0 && effort->evaluation_s >= 0 && effort->evaluation_s < 1e-2);
        assert_is_option(all[i], effort->option[0]);
        assert_is_option(all[i], effort->option[1]);
        assert_is_option(all[i], effort->seconds);
    }
}

static void test_documentation_has_every_option(void **state)
{
    (void)state;
    static char page[100000];
    size_t n;
    const struct engine *const *all = engine_all(&n);
    FILE *file = fopen("docs/engines.md", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    for (size_t e = 0; e < n; e++) {
        char row[128], value[64];
        (void)snprintf(row, sizeof row, "\n## %s\n", all[e]->name);
        const char *section = strstr(page, row);
        if (!section)
            fail_msg("docs/engines.md has no section %s", all[e]->name);
        for (size_t i = 0; i < all[e]->n_option; i++) {
            const struct engine_option *o = &all[e]->option[i];
            if (strcmp(o->name, "search_bypass") == 0)
                continue; /* said once for all */
            engine_option_print(o, o->standard, value, sizeof value);
            (void)snprintf(row, sizeof row, "| `%s` | %s |", o->name, value);
            if (!strstr(section, row))
                fail_msg("docs/engines.md, section %s, lacks: %s", all[e]->name, row);
        }
    }
}

static void check_group(const struct metric_group *group)
{
    assert_true(group->name[0] && strchr(group->name, ' ') == NULL && group->n >= 1);
    assert_true(group->n <= METRIC_GROUP_MAX);
    for (size_t i = 0; i < group->n; i++) {
        assert_true(group->metric[i].name[0] && group->metric[i].unit[0] && group->metric[i].sentence[0]);
        assert_true(group->metric[i].type != METRIC_TEXT);
    }
}

/* What only some results have fits into its places (dse/solve/measure_settings.h). */
static void test_groups_of_metrics_are_sane(void **state)
{
    (void)state;
    size_t n_engine, n_measure, n_value = 0;
    const struct engine *const *engine = engine_all(&n_engine);
    const struct measure *const *measure = measure_all(&n_measure);
    assert_true(n_measure <= MEASURE_MAX);
    for (size_t i = 0; i < n_measure; i++) {
        check_group(&measure[i]->group);
        n_value += measure[i]->group.n;
        assert_true(measure[i]->compute != NULL &&
                    (measure[i]->limit == NULL) == (measure[i]->limit_unit == NULL));
    }
    assert_true(n_value <= MEASURE_VALUE_MAX);
    for (size_t i = 0; i < n_engine; i++)
        if (engine[i]->group)
            check_group(engine[i]->group);
    check_group(&schedule_group);
}

static void test_wrong_tasks_are_refused(void **state)
{
    (void)state;
    struct small_case c;
    struct engine_result r;
    struct arena arena;
    struct dse_error err;
    const struct engine *engine = engine_find("random");
    double option[OPTION_MAX];
    arena_init(&arena);
    make_case(0, &c);
    engine_option_defaults(engine, option);
    struct engine_task task = {.architecture = &c.arch, .objective = c.objective, .option = option};
    assert_int_equal(engine_solve(engine, &task, &arena, &r, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "needs a layer"));
    struct evaluator *evaluator;
    assert_int_equal(evaluator_new(&accounting_timeloop, &c.problem, &c.arch, &evaluator, &err), DSE_OK);
    task.evaluator = evaluator;
    option[0] = -1;
    assert_int_equal(engine_solve(engine, &task, &arena, &r, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "search_size"));
    evaluator_delete(evaluator);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mapper_solves_small_problems),
        cmocka_unit_test(test_same_seed_gives_the_same_result),
        cmocka_unit_test(test_other_seeds_give_other_searches),
        cmocka_unit_test(test_infeasible_machine_gives_its_reason),
        cmocka_unit_test(test_unreachable_minimum_gives_its_reason),
        cmocka_unit_test(test_budget_of_evaluations_is_kept),
        cmocka_unit_test(test_cancel_flag_ends_the_search),
        cmocka_unit_test(test_seconds_end_the_search),
        cmocka_unit_test(test_reaching_the_bound_ends_the_search),
        cmocka_unit_test(test_constraints_hold_in_the_answer),
        cmocka_unit_test(test_option_tables_are_sane),
        cmocka_unit_test(test_efforts_are_sane),
        cmocka_unit_test(test_groups_of_metrics_are_sane),
        cmocka_unit_test(test_documentation_has_every_option),
        cmocka_unit_test(test_wrong_tasks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
