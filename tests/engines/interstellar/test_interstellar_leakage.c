/* Machines that leak, by engine interstellar against a plain search of its space: without power gating it
 * finds the least cost and proves it; with it the bound it ends with is below the least cost, and it calls
 * nothing optimal that is not. With a number: so many spaces. Tests: interstellar_engine.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "costmodel/interstellar/accounting_interstellar.h"
#include "tests/engines/interstellar/blocking_plain.h"
#include "tests/support/engine_case.h"

static long n_space = 60; /* main may set another, before any test */

/* The space's rules in the words of the engine's options. */
static enum dse_status solve(const struct task *task, const struct evaluator *evaluator,
                             const struct objective *objective, struct engine_result *found,
                             struct dse_error *err)
{
    char threshold[32];
    snprintf(threshold, sizeof threshold, "%g", task->settings.array.threshold);
    const struct engine_setting setting[] = {
        {"threshold", threshold},
        {"replication", task->settings.array.replication ? "true" : "false"},
        {"effort", "0"}};
    const struct engine_task asked = {
        .seed = 1, .key = 1, .batch = 1, .evaluator = evaluator, .objective = *objective};
    return engine_case_solve("interstellar", setting, 3, &task->problem, &task->arch, asked, found, err);
}

static void test_leakage_is_part_of_the_proof(void **state)
{
    static const struct objective objective[] = {{1, 0}, {1, 1}, {0, 1}, {1, 2}};
    long n_optimal = 0, n_gated = 0, n_bounded = 0;
    (void)state;
    for (long i = 0, n = 0; n < n_space; i++) {
        struct random_stream stream = random_stream_make(23, (uint64_t)i, RANDOM_TEST);
        struct task task;
        struct evaluator *evaluator;
        struct engine_result found;
        struct dse_error err;
        draw(&stream, &task);
        if (task.settings.rule == REUSE_COMPAT || task.settings.pad > 1)
            continue;
        random_case_leakage(&stream, &task.arch);
        for (uint32_t l = 0; l < task.arch.n_level; l++) /* accesses take about a joule here */
            task.arch.level[l].leakage_w *= 1e10;
        task.arch.mac.leakage_w *= 1e10;
        if (evaluator_new(&accounting_interstellar, &task.problem, &task.arch, &evaluator, &err) != DSE_OK)
            fail_msg("space %ld: %s", i, err.text);
        const struct objective *goal = &objective[i % 4];
        const double least = search_plainly(&task, evaluator, goal);
        if (isinf(least)) {
            evaluator_delete(evaluator);
            continue;
        }
        n++;
        if (solve(&task, evaluator, goal, &found, &err) != DSE_OK)
            fail_msg("space %ld: %s", i, err.text);
        evaluator_delete(evaluator);
        if (!found.feasible || found.cost < least * (1 - 1e-9) || found.bound > least * (1 + 1e-9) ||
            (found.stop == STOP_OPTIMAL && found.cost > least * (1 + 1e-9)))
            fail_msg("space %ld, gating %d: %.17g (%s), bound %.17g, the plain search %.17g", i,
                     task.arch.power_gating, found.cost, engine_stop_text(found.stop), found.bound, least);
        n_optimal += !task.arch.power_gating && found.stop == STOP_OPTIMAL;
        n_gated += task.arch.power_gating;
        n_bounded += found.bound > 0;
    }
    print_message("%ld of %ld without power gating proved; %ld bounds\n", n_optimal, n_space - n_gated,
                  n_bounded);
    assert_true(n_optimal > (n_space - n_gated) * 3 / 4 && n_bounded > n_space * 3 / 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_leakage_is_part_of_the_proof)};
    if (argc > 1)
        n_space = strtol(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
