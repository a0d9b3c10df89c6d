/* The driver with a scheduler: offers, counts, bounds, the hook `finish`, and the check of the best. The
 * scheduler here offers the schedules that a test asks for: number i, of CYCLE[i] cycles at 1 GHz and
 * ENERGY[i] joules. Costs are worked out by hand: energy x latency. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network.h"
#include "engines/driver/driver.h"
#include "tests/engines/small_cases.h"

enum { N_OFFER = 4 };

static const uint64_t offer_cycle[N_OFFER] = {400, 200, 300, 100};
static const double offer_energy_j[N_OFFER] = {2, 3, 2, 6}; /* edp in nJ s: 800, 600, 600, 600 */

enum {
    OPTION_OFFERS,
    OPTION_FINISH,
    OPTION_BOUND,
    OPTION_WRONG,
    OPTION_BAD,
    OPTION_EXPLAIN,
    OPTION_RESERVE,
    N_OPTION
};

static const struct engine_option option[N_OPTION] = {
    {"offers", "offer so many, one in a step", "", OPTION_INTEGER, 4, 0, N_OFFER, NULL},
    {"finish", "offer this one at the end; 0: none, else its number", "", OPTION_INTEGER, 0, 0, N_OFFER,
     NULL},
    {"bound", "the lower bound, in nJ s; 0: none", "", OPTION_REAL, 0, 0, 1e6, NULL},
    {"wrong", "what the check finds to differ: 1 cycles, 2 energy, 3 DRAM bytes, 4 split, 5 text", "",
     OPTION_INTEGER, 0, 0, 5, NULL},
    {"bad", "offer without a text, or of no cycles", "", OPTION_INTEGER, 0, 0, 2, NULL},
    {"explain", "say why nothing was found", "", OPTION_BOOL, 0, 0, 1, NULL},
    {"reserve", "the limit of seconds, all of which an offer reserves; 0: none", "s", OPTION_REAL, 0, 0, 1e6,
     NULL},
};

struct state {
    int n_offered;
};

static struct engine_schedule schedule_of(int i, const char *text)
{
    return (struct engine_schedule){.latency_cycle = offer_cycle[i],
                                    .latency_s = (double)offer_cycle[i] * 1e-9,
                                    .energy_j = offer_energy_j[i],
                                    .energy_dram_j = offer_energy_j[i],
                                    .dram_byte = 64,
                                    .n_mac = 10,
                                    .utilization = 0.5,
                                    .accounting = "test",
                                    .text = text,
                                    .text_length = text ? strlen(text) : 0};
}

static enum dse_status offer(struct engine_context *context, int i, struct dse_error *err)
{
    char text[32]; /* gone when the driver reads it back: it has to be copied */
    (void)snprintf(text, sizeof text, "number %d", i);
    struct engine_schedule schedule = schedule_of(i, text);
    int bad = (int)engine_context_option(context, OPTION_BAD);
    if (bad == 1)
        schedule.text = NULL;
    if (bad == 2)
        schedule.latency_cycle = 0;
    DSE_TRY(engine_context_offer(context, &schedule, err));
    memset(text, '?', sizeof text);
    return DSE_OK;
}

static enum dse_status fake_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    (void)memory;
    (void)err;
    assert_int_equal(engine_context_left(context), engine_context_task(context)->budget.max_evaluations
                                                       ? engine_context_task(context)->budget.max_evaluations
                                                       : UINT64_MAX);
    assert_true(isinf(engine_context_best_cost(context)));
    if (engine_context_option(context, OPTION_EXPLAIN) != 0)
        engine_context_explain(context, "layer x does not fit");
    return DSE_OK;
}

static enum dse_status fake_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                 struct dse_error *err)
{
    struct state *state = memory;
    if (state->n_offered >= (int)engine_context_option(context, OPTION_OFFERS)) {
        *stop = STOP_CONVERGED;
        return DSE_OK;
    }
    engine_context_count(context, 10);
    engine_context_bound(context, engine_context_option(context, OPTION_BOUND) * 1e-9);
    assert_false(engine_context_over(context));
    engine_context_reserve(context, engine_context_option(context, OPTION_RESERVE));
    assert_int_equal(engine_context_over(context), engine_context_option(context, OPTION_RESERVE) > 0);
    assert_true(*engine_context_reserved(context) == engine_context_option(context, OPTION_RESERVE));
    return offer(context, state->n_offered++, err);
}

static enum dse_status fake_finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    (void)memory;
    int number = (int)engine_context_option(context, OPTION_FINISH);
    if (engine_context_task(context)->budget.cancel)
        assert_true(engine_context_over(context));
    return number ? offer(context, number - 1, err) : DSE_OK;
}

static enum dse_status fake_verify(const struct engine_task *task, const struct accounting *accounting,
                                   const struct engine_schedule *found, struct arena *arena,
                                   struct engine_schedule *again, struct dse_error *err)
{
    int i;
    (void)arena;
    assert_true(!accounting || accounting->kind == ACCOUNTING_SCHEDULE);
    if (sscanf(found->text, "number %d", &i) != 1 || i < 0 || i >= N_OFFER || task->option[OPTION_WRONG] == 5)
        return dse_fail_at(err, DSE_BAD_INPUT, "schedule", 3, "no number");
    assert_int_equal(strlen(found->text), found->text_length);
    *again = schedule_of(i, NULL);
    again->latency_cycle += task->option[OPTION_WRONG] == 1;
    again->energy_j += task->option[OPTION_WRONG] == 2 ? 1e-6 : 0;
    again->dram_byte += task->option[OPTION_WRONG] == 3;
    again->energy_mac_j += task->option[OPTION_WRONG] == 4;
    return DSE_OK;
}

static const struct engine fake_engine = {
    .name = "fake",
    .summary = "offers what a test asks for",
    .kind = ENGINE_SCHEDULER,
    .option = option,
    .n_option = N_OPTION,
    .state_byte = sizeof(struct state),
    .init = fake_init,
    .step = fake_step,
    .finish = fake_finish,
    .verify = fake_verify,
};

static enum dse_status solve(const struct engine *engine, const double *value, uint64_t max_evaluations,
                             const atomic_int *cancel, struct arena *arena, struct engine_result *result,
                             struct dse_error *err)
{
    static const struct network network = {.name = "none"};
    struct architecture arch;
    small_machine(&arch, 8, 60);
    struct engine_task task = {.network = &network,
                               .architecture = &arch,
                               .batch = 1,
                               .objective = {1, 1},
                               .option = value,
                               .budget = {max_evaluations, value[OPTION_RESERVE], cancel}};
    return engine_solve(engine, &task, arena, result, err);
}

struct found {
    struct arena arena;
    struct engine_result result;
    struct dse_error err;
    enum dse_status status;
    double value[N_OPTION];
};

static void setup(struct found *f)
{
    memset(f, 0, sizeof *f);
    arena_init(&f->arena);
    engine_option_defaults(&fake_engine, f->value);
}

static void run(struct found *f, uint64_t max_evaluations, const atomic_int *cancel)
{
    f->status = solve(&fake_engine, f->value, max_evaluations, cancel, &f->arena, &f->result, &f->err);
}

static void test_driver_keeps_the_first_of_the_best(void **state)
{
    (void)state;
    struct found f;
    setup(&f);
    run(&f, 0, NULL);
    assert_int_equal(f.status, DSE_OK);
    assert_true(f.result.feasible);
    assert_int_equal(f.result.stop, STOP_CONVERGED);
    assert_int_equal(f.result.schedule.latency_cycle, 200);
    assert_string_equal(f.result.schedule.text, "number 1");
    assert_true(f.result.cost == 3 * (200 * 1e-9));
    assert_int_equal(f.result.n_evaluation, 40);
    assert_int_equal(f.result.n_draw, 40);
    assert_int_equal(f.result.n_trace, 2); /* at 10 and 20 evaluations */
    assert_int_equal(f.result.trace[0].evaluation, 10);
    assert_true(f.result.trace[0].cost == 2 * (400 * 1e-9));
    assert_int_equal(f.result.trace[1].evaluation, 20);
    assert_true(f.result.bound == 0);
    arena_free(&f.arena);
}

static void test_driver_stops_at_the_budget_and_takes_what_finish_offers(void **state)
{
    (void)state;
    struct found f;
    setup(&f);
    f.value[OPTION_FINISH] = 4;
    run(&f, 10, NULL);
    assert_int_equal(f.status, DSE_OK);
    assert_int_equal(f.result.stop, STOP_MAX_EVALUATIONS);
    assert_int_equal(f.result.n_evaluation, 10);
    assert_string_equal(f.result.schedule.text, "number 3");
    assert_int_equal(f.result.trace[1].evaluation, 10);
    arena_free(&f.arena);
}

/* An hour, all of it for what follows: the step that says so is the last. */
static void test_driver_ends_a_search_by_the_seconds_that_are_not_reserved(void **state)
{
    (void)state;
    struct found f;
    setup(&f);
    f.value[OPTION_RESERVE] = 3600;
    run(&f, 0, NULL);
    assert_int_equal(f.status, DSE_OK);
    assert_int_equal(f.result.stop, STOP_MAX_SECONDS);
    assert_int_equal(f.result.n_evaluation, 10);
    assert_string_equal(f.result.schedule.text, "number 0");
    arena_free(&f.arena);
}

static void test_driver_finishes_after_a_cancel(void **state)
{
    (void)state;
    struct found f;
    atomic_int cancel = 1;
    setup(&f);
    f.value[OPTION_FINISH] = 2;
    run(&f, 0, &cancel);
    assert_int_equal(f.status, DSE_OK);
    assert_int_equal(f.result.stop, STOP_INTERRUPTED);
    assert_int_equal(f.result.n_evaluation, 0);
    assert_string_equal(f.result.schedule.text, "number 1");
    arena_free(&f.arena);
}

/* Offers 2 to 4 all reach 600; the search ends with the first of them. */
static void test_driver_is_optimal_at_the_bound(void **state)
{
    (void)state;
    struct found f;
    setup(&f);
    f.value[OPTION_BOUND] = 600;
    run(&f, 0, NULL);
    assert_int_equal(f.status, DSE_OK);
    assert_int_equal(f.result.stop, STOP_OPTIMAL);
    assert_int_equal(f.result.n_evaluation, 20);
    assert_true(f.result.bound == 600 * 1e-9);
    arena_free(&f.arena);
}

static void test_driver_is_optimal_when_finish_reaches_the_bound(void **state)
{
    (void)state;
    struct found f;
    setup(&f);
    f.value[OPTION_BOUND] = 600;
    f.value[OPTION_OFFERS] = 1;
    f.value[OPTION_FINISH] = 3;
    run(&f, 0, NULL);
    assert_int_equal(f.status, DSE_OK);
    assert_int_equal(f.result.stop, STOP_OPTIMAL);
    assert_string_equal(f.result.schedule.text, "number 2");
    arena_free(&f.arena);
}

static void test_driver_tells_a_bound_that_is_not_reached(void **state)
{
    (void)state;
    struct found f;
    setup(&f);
    f.value[OPTION_BOUND] = 500;
    run(&f, 0, NULL);
    assert_int_equal(f.status, DSE_OK);
    assert_int_equal(f.result.stop, STOP_CONVERGED);
    assert_true(f.result.bound == 500 * 1e-9);
    arena_free(&f.arena);
}

static void test_driver_refuses_what_does_not_read_back(void **state)
{
    (void)state;
    static const char *const said[] = {
        "", "201 latency_cycle", "3.000001", "65 dram_byte", "energy_mac_j", "schedule:3: no number"};
    for (int wrong = 1; wrong <= 5; wrong++) {
        struct found f;
        setup(&f);
        f.value[OPTION_WRONG] = wrong;
        run(&f, 0, NULL);
        assert_int_equal(f.status, DSE_INTERNAL);
        if (!strstr(f.err.text, said[wrong]))
            fail_msg("\"%s\" lacks \"%s\"", f.err.text, said[wrong]);
        arena_free(&f.arena);
    }
}

/* It proves a bound of 700 after it offered 600. */
static void test_driver_refuses_a_cost_below_the_engines_own_bound(void **state)
{
    (void)state;
    struct found f;
    setup(&f);
    f.value[OPTION_BOUND] = 700;
    f.value[OPTION_OFFERS] = 1;
    f.value[OPTION_FINISH] = 2;
    run(&f, 0, NULL);
    assert_int_equal(f.status, DSE_INTERNAL);
    assert_non_null(strstr(f.err.text, "below the lower bound of"));
    arena_free(&f.arena);
}

static void test_driver_refuses_offers_that_cannot_be(void **state)
{
    (void)state;
    for (int bad = 1; bad <= 2; bad++) {
        struct found f;
        setup(&f);
        f.value[OPTION_BAD] = bad;
        run(&f, 0, NULL);
        assert_int_equal(f.status, DSE_INTERNAL);
        assert_non_null(strstr(f.err.text, "engine fake offers a schedule without text"));
        arena_free(&f.arena);
    }
}

static void test_driver_says_why_nothing_was_found(void **state)
{
    (void)state;
    struct found f;
    setup(&f);
    f.value[OPTION_OFFERS] = 0;
    run(&f, 0, NULL);
    assert_int_equal(f.status, DSE_OK);
    assert_false(f.result.feasible);
    assert_non_null(strstr(f.result.reason, "before it looked at any schedule"));
    f.value[OPTION_EXPLAIN] = 1;
    run(&f, 0, NULL);
    assert_string_equal(f.result.reason, "layer x does not fit");
    arena_free(&f.arena);
}

static void test_driver_needs_a_network_and_a_check(void **state)
{
    (void)state;
    struct found f;
    struct architecture arch;
    struct engine unchecked = fake_engine;
    setup(&f);
    small_machine(&arch, 8, 60);
    struct engine_task task = {.architecture = &arch, .option = f.value};
    assert_int_equal(engine_solve(&fake_engine, &task, &f.arena, &f.result, &f.err), DSE_BAD_USAGE);
    assert_non_null(strstr(f.err.text, "needs a network"));
    unchecked.verify = NULL;
    assert_int_equal(solve(&unchecked, f.value, 0, NULL, &f.arena, &f.result, &f.err), DSE_INTERNAL);
    assert_non_null(strstr(f.err.text, "cannot verify"));
    arena_free(&f.arena);
}

/* What it offers says "test". */
static void test_driver_refuses_another_accounting(void **state)
{
    (void)state;
    static const char *const name[] = {"soma", "tes", "test"};
    for (int i = 0; i < 3; i++) {
        const struct accounting accounting = {.name = name[i], .kind = ACCOUNTING_SCHEDULE};
        const struct engine_accounting list[] = {{&accounting, NULL, 0}, {NULL, NULL, 0}};
        struct engine engine = fake_engine;
        struct found f;
        setup(&f);
        engine.accounting = list;
        f.status = solve(&engine, f.value, 0, NULL, &f.arena, &f.result, &f.err);
        assert_int_equal(f.status, i == 2 ? DSE_OK : DSE_INTERNAL);
        if (i < 2)
            assert_non_null(
                strstr(f.err.text, "it says that its schedule is priced by test, and the search"));
        arena_free(&f.arena);
    }
}

/* As many improvements as the budget has evaluations: one offer after the other, each of less energy. */
static enum dse_status improving_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                      struct dse_error *err)
{
    (void)memory;
    (void)stop;
    struct engine_schedule schedule = schedule_of(0, "number 0");
    engine_context_count(context, 1);
    schedule.energy_j = 1.0 / (double)engine_context_evaluations(context);
    return engine_context_offer(context, &schedule, err);
}

static enum dse_status agree(const struct engine_task *task, const struct accounting *accounting,
                             const struct engine_schedule *found, struct arena *arena,
                             struct engine_schedule *again, struct dse_error *err)
{
    (void)accounting;
    (void)task;
    (void)arena;
    (void)err;
    *again = *found;
    return DSE_OK;
}

static void test_driver_thins_the_trace_but_keeps_its_ends(void **state)
{
    (void)state;
    static const uint64_t n[] = {1, ENGINE_TRACE_MAX, ENGINE_TRACE_MAX + 1, 5000};
    struct engine engine = fake_engine;
    engine.step = improving_step;
    engine.verify = agree;
    for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
        struct found f;
        setup(&f);
        assert_int_equal(solve(&engine, f.value, n[i], NULL, &f.arena, &f.result, &f.err), DSE_OK);
        const struct engine_result *r = &f.result;
        assert_true(r->n_trace <= ENGINE_TRACE_MAX &&
                    (r->n_trace == n[i] || r->n_trace > ENGINE_TRACE_MAX / 4));
        assert_int_equal(r->trace[0].evaluation, 1);
        assert_int_equal(r->trace[r->n_trace - 1].evaluation, n[i]);
        for (uint32_t k = 1; k < r->n_trace; k++)
            assert_true(r->trace[k].evaluation > r->trace[k - 1].evaluation);
        arena_free(&f.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_driver_refuses_another_accounting),
        cmocka_unit_test(test_driver_thins_the_trace_but_keeps_its_ends),
        cmocka_unit_test(test_driver_keeps_the_first_of_the_best),
        cmocka_unit_test(test_driver_stops_at_the_budget_and_takes_what_finish_offers),
        cmocka_unit_test(test_driver_ends_a_search_by_the_seconds_that_are_not_reserved),
        cmocka_unit_test(test_driver_finishes_after_a_cancel),
        cmocka_unit_test(test_driver_is_optimal_at_the_bound),
        cmocka_unit_test(test_driver_is_optimal_when_finish_reaches_the_bound),
        cmocka_unit_test(test_driver_tells_a_bound_that_is_not_reached),
        cmocka_unit_test(test_driver_refuses_what_does_not_read_back),
        cmocka_unit_test(test_driver_refuses_a_cost_below_the_engines_own_bound),
        cmocka_unit_test(test_driver_refuses_offers_that_cannot_be),
        cmocka_unit_test(test_driver_says_why_nothing_was_found),
        cmocka_unit_test(test_driver_needs_a_network_and_a_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
