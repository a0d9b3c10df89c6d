/* Engines that hand over what does not hold: each false number, a mapping outside of the constraints, a
 * cancel that was none, a cost below a scheduler's own bound.
 * Tests: driver.c, driver_context.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/driver/driver_private.h"
#include "engines/mapspace/mapspace_constraints.h"
#include "tests/engines/small_cases.h"

enum lie {
    LIE_NONE,
    LIE_CYCLES,
    LIE_ENERGY,
    LIE_MAC_ENERGY,
    LIE_LEVEL_ENERGY,
    LIE_LEVEL_BYTES,
    LIE_UTILIZATION,
    LIE_COST_NAN,
    LIE_STOP,
    LIE_STATUS,
    N_LIE
};

static const struct engine_option option[] = {
    {"lie", "what is not so", "", OPTION_INTEGER, 0, 0, N_LIE - 1, NULL},
};

static enum dse_status liar_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    (void)memory;
    (void)context;
    (void)err;
    return DSE_OK;
}

/* The plain mapping, whatever the constraints say. */
static enum dse_status liar_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                 struct dse_error *err)
{
    struct mapping mapping;
    double cost;
    struct evaluation *said = &context->result->evaluation;
    enum lie lie = (enum lie)engine_context_option(context, 0);
    (void)memory;
    mapping_init(&mapping, engine_context_problem(context), context->arch);
    assert_true(engine_context_evaluate(context, &mapping, &cost));
    *stop = lie == LIE_STOP ? STOP_INTERRUPTED : STOP_CONVERGED;
    said->latency_cycle += lie == LIE_CYCLES;
    said->energy_j *= lie == LIE_ENERGY ? 1.001 : 1;
    said->energy_mac_j *= lie == LIE_MAC_ENERGY ? 0.5 : 1;
    said->level_energy_j[1] *= lie == LIE_LEVEL_ENERGY ? 2 : 1;
    said->level_byte[2] += lie == LIE_LEVEL_BYTES;
    said->utilization = lie == LIE_UTILIZATION ? 1.5 : said->utilization;
    context->result->cost = lie == LIE_COST_NAN ? NAN : context->result->cost;
    if (lie == LIE_ENERGY) /* its own numbers agree with each other */
        context->result->cost = objective_cost(&context->task->objective, said);
    return lie == LIE_STATUS ? dse_fail(err, DSE_INTERRUPTED, "interrupted") : DSE_OK;
}

static const struct engine liar = {
    .name = "liar",
    .summary = "hands over what a test asks for",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = 1,
    .state_byte = 1,
    .init = liar_init,
    .step = liar_step,
};

static enum dse_status solve(enum lie lie, const struct mapspace_constraints *constraints,
                             const atomic_int *cancel, struct engine_result *result, struct dse_error *err)
{
    struct problem problem;
    struct architecture arch;
    struct evaluator *evaluator;
    struct arena arena;
    double value = lie;
    small_gemm(&problem, 8, 4, 6);
    small_machine(&arch, 8, 60);
    arena_init(&arena);
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, err), DSE_OK);
    struct engine_task task = {.evaluator = evaluator,
                               .constraints = constraints,
                               .architecture = &arch,
                               .objective = {1, 1},
                               .option = &value,
                               .budget = {.cancel = cancel}};
    enum dse_status status = engine_solve(&liar, &task, &arena, result, err);
    evaluator_delete(evaluator);
    arena_free(&arena);
    return status;
}

static void check_refused(enum dse_status status, const struct dse_error *err, const char *why)
{
    assert_int_equal(status, DSE_INTERNAL);
    if (!strstr(err->text, "the engine's answer does not hold: ") || !strstr(err->text, why) ||
        !strstr(err->text, "; this is a fault of the engine"))
        fail_msg("\"%s\" lacks \"%s\"", err->text, why);
}

static void test_driver_takes_what_is_so(void **state)
{
    (void)state;
    struct engine_result r;
    struct dse_error err;
    assert_int_equal(solve(LIE_NONE, NULL, NULL, &r, &err), DSE_OK);
    assert_true(r.feasible);
}

static void test_driver_refuses_every_false_number(void **state)
{
    (void)state;
    static const char *const why[N_LIE] = {
        [LIE_CYCLES] = "it says ",
        [LIE_ENERGY] = " J",
        [LIE_MAC_ENERGY] = " J of MACs",
        [LIE_LEVEL_ENERGY] = " J of a level",
        [LIE_LEVEL_BYTES] = " bytes of a level",
        [LIE_UTILIZATION] = " utilization",
        [LIE_COST_NAN] = "it claims a cost of ",
        [LIE_STOP] = "it says that it was cancelled, and it was not",
        [LIE_STATUS] = "it says that it was cancelled, and it was not",
    };
    for (int lie = LIE_CYCLES; lie < N_LIE; lie++) {
        struct engine_result r;
        struct dse_error err;
        atomic_int cancel = 0;
        check_refused(solve((enum lie)lie, NULL, &cancel, &r, &err), &err, why[lie]);
    }
}

/* The constraints ask for a K of 3 in the buffer; an engine that never looks at them has 1. */
static void test_driver_refuses_what_breaks_constraints(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct mapspace_constraints constraints;
    struct engine_result r;
    struct dse_error err;
    small_gemm(&problem, 8, 4, 6);
    small_machine(&arch, 8, 60);
    mapspace_constraints_init(&constraints, &problem, &arch);
    assert_int_equal(solve(LIE_NONE, &constraints, NULL, &r, &err), DSE_OK);
    constraints.level[1].temporal.fixed[2] = 3;
    check_refused(solve(LIE_NONE, &constraints, NULL, &r, &err), &err,
                  "not in the map space that the constraints leave");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_driver_takes_what_is_so),
        cmocka_unit_test(test_driver_refuses_every_false_number),
        cmocka_unit_test(test_driver_refuses_what_breaks_constraints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
