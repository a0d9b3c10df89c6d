/* What the driver lends to engines: the padded problem, and the counts of candidates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/driver/driver.h"
#include "tests/engines/small_cases.h"

enum { OPTION_DIM, OPTION_BOUND, OPTION_LATE, N_OPTION };

static const struct engine_option option[N_OPTION] = {
    {"dim", "the dimension to pad", "", OPTION_INTEGER, 0, 0, 2, NULL},
    {"bound", "its new bound", "", OPTION_INTEGER, 8, 1, 1e6, NULL},
    {"late", "pad only after the map space was asked for", "", OPTION_BOOL, 0, 0, 1, NULL},
};

struct state {
    const struct mapspace *space;
    struct random_stream stream;
    struct mapping mapping;
};

static enum dse_status pad_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    uint32_t bound[PROBLEM_DIM_MAX];
    memcpy(bound, engine_context_problem(context)->bound, sizeof bound);
    bound[(int)engine_context_option(context, OPTION_DIM)] =
        (uint32_t)engine_context_option(context, OPTION_BOUND);
    state->stream = engine_context_stream(context, RANDOM_INIT);
    if (engine_context_option(context, OPTION_LATE) != 0)
        DSE_TRY(engine_context_mapspace(context, false, &state->space, err));
    DSE_TRY(engine_context_pad(context, bound, err));
    return engine_context_mapspace(context, false, &state->space, err);
}

/* Some random mappings of whatever is searched. */
static enum dse_status pad_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                struct dse_error *err)
{
    struct state *state = memory;
    double cost;
    (void)err;
    for (int i = 0; i < 200; i++)
        if (mapspace_draw(state->space, &state->stream, &state->mapping, NULL, NULL))
            (void)engine_context_evaluate(context, &state->mapping, &cost);
    *stop = STOP_CONVERGED;
    return DSE_OK;
}

static const struct engine padding_engine = {
    .name = "padding",
    .summary = "random mappings of a padded problem",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .state_byte = sizeof(struct state),
    .init = pad_init,
    .step = pad_step,
};

static enum dse_status solve_within(double max_seconds, const struct problem *problem, const double *value,
                                    struct engine_result *result, struct dse_error *err)
{
    struct architecture arch;
    struct evaluator *evaluator;
    struct arena arena;
    small_machine(&arch, 8, 60);
    arch.level[2].shared_bandwidth_word_per_cycle = INFINITY;
    arena_init(&arena);
    assert_int_equal(evaluator_new(&accounting_timeloop, problem, &arch, &evaluator, err), DSE_OK);
    struct engine_task task = {.evaluator = evaluator,
                               .architecture = &arch,
                               .batch = 1,
                               .objective = {0, 1},
                               .option = value,
                               .seed = 1,
                               .key = 7,
                               .budget = {.max_seconds = max_seconds}};
    enum dse_status status = engine_solve(&padding_engine, &task, &arena, result, err);
    evaluator_delete(evaluator);
    arena_free(&arena);
    return status;
}

static enum dse_status solve(const struct problem *problem, const double *value, struct engine_result *result,
                             struct dse_error *err)
{
    return solve_within(0, problem, value, result, err);
}

/* Where init takes all the time, one step follows, so that there is an answer. */
static void test_first_step_is_made_whatever_the_time(void **state)
{
    (void)state;
    struct problem problem;
    struct engine_result r;
    struct dse_error err;
    double value[N_OPTION] = {0, 5, 0};
    small_gemm(&problem, 5, 2, 1);
    assert_int_equal(solve_within(1e-9, &problem, value, &r, &err), DSE_OK);
    assert_true(r.feasible);
    assert_int_equal(r.evaluation.latency_cycle, 5);
}

/* M = 5, N = 2 on 2 x 2 MACs: 5 is prime, so only N spreads and 10 MACs take 5 cycles. With M padded to 8
 * both spread: 4 cycles for 16 MACs of 1 pJ, of which 10 are useful: utilization 10 / (4 * 4). */
static void test_padding_prices_the_padded_loops(void **state)
{
    (void)state;
    struct problem problem, padded;
    struct engine_result r;
    struct dse_error err;
    struct architecture arch;
    struct lower_bound own;
    char reason[256], text[64];
    double value[N_OPTION] = {0, 8, 0};
    small_gemm(&problem, 5, 2, 1);
    assert_int_equal(solve(&problem, value, &r, &err), DSE_OK);
    assert_true(r.feasible && r.padded);
    assert_int_equal(r.padded_bound[0], 8);
    assert_int_equal(r.padded_bound[1], 2);
    assert_int_equal(r.evaluation.latency_cycle, 4);
    assert_true(r.evaluation.n_compute == 10 && r.evaluation.utilization == 10.0 / 16);
    assert_true(r.evaluation.energy_mac_j > 15.99e-12 && r.evaluation.energy_mac_j < 16.01e-12);
    assert_int_equal(r.stop, STOP_OPTIMAL);
    assert_true(r.bound == r.cost);
    assert_string_equal(engine_result_padding_text(&r, &problem, text, sizeof text), "M 5->8");
    small_machine(&arch, 8, 60);
    small_gemm(&padded, 8, 2, 1);
    assert_true(checker_accepts(&padded, &arch, &r.mapping, reason, sizeof reason));
    arch.level[2].shared_bandwidth_word_per_cycle = INFINITY;
    lower_bound_compute(&problem, &arch, &own); /* the task's own bound does not hold for padded loops */
    assert_true(own.latency_s > 4.99e-9 && r.evaluation.latency_s < 4.01e-9);
}

static void test_equal_bounds_pad_nothing(void **state)
{
    (void)state;
    struct problem problem;
    struct engine_result r;
    struct dse_error err;
    char text[64];
    double value[N_OPTION] = {0, 5, 0};
    small_gemm(&problem, 5, 2, 1);
    assert_int_equal(solve(&problem, value, &r, &err), DSE_OK);
    assert_true(r.feasible && !r.padded);
    assert_int_equal(r.evaluation.latency_cycle, 5);
    assert_string_equal(engine_result_padding_text(&r, &problem, text, sizeof text), "");
}

static void test_wrong_padding_is_refused(void **state)
{
    (void)state;
    struct problem problem;
    struct engine_result r;
    struct dse_error err;
    double smaller[N_OPTION] = {1, 3, 0}, late[N_OPTION] = {1, 5, 1}, huge[N_OPTION] = {1, 1000000, 0};
    small_gemm(&problem, 5, 4, 3);
    assert_int_equal(solve(&problem, smaller, &r, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "dimension N cannot be padded from 4 to 3"));
    assert_int_equal(solve(&problem, late, &r, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "before the search"));
    small_gemm(&problem, 4000000000u, 4, 100000);
    assert_int_equal(solve(&problem, huge, &r, &err), DSE_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_step_is_made_whatever_the_time),
        cmocka_unit_test(test_padding_prices_the_padded_loops),
        cmocka_unit_test(test_equal_bounds_pad_nothing),
        cmocka_unit_test(test_wrong_padding_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
