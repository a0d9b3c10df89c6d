/* A slow price chooses among the best mappings of a search. The one here is made up: cycles from a hash of
 * the mapping. What must come out is worked out plainly from all mappings that the search has priced, which
 * the hook `guess` sees. Tests: driver_choose.c, shortlist.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/driver/price_memo.h"
#include "engines/driver/shortlist.h"
#include "tests/engines/small_cases.h"
#include "tests/support/engine_case.h"
#include "tests/support/mapping_same.h"

enum { SEEN_MAX = 20000, N_EVALUATION = 3000 };

struct seen {
    struct mapping mapping;
    struct evaluation evaluation;
    double guess;
};

struct fake {
    struct problem problem;
    struct architecture arch;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct seen *seen; /* (n_seen) in the order of the search */
    size_t n_seen;
    bool guesses;      /* by a hash, too; else what the cost model says */
    bool has_none;     /* no mapping has cycles */
    uint64_t fails_at; /* the call of `cycles` that fails; 0: none */
    enum dse_status failure;
    uint64_t n_call;
};

static uint64_t hash_of(const struct mapping *mapping, uint64_t salt)
{
    return (price_memo_hash(mapping, true) * (2 * salt + 1)) >> 40;
}

static double fake_guess(void *self, const struct problem *problem, const struct mapping *mapping)
{
    struct fake *f = self;
    assert_true(f->n_seen < SEEN_MAX);
    assert_int_equal(problem->n_dim, f->problem.n_dim);
    struct seen *seen = &f->seen[f->n_seen++];
    seen->mapping = *mapping;
    assert_true(evaluator_run(f->evaluator, f->workspace, mapping, &seen->evaluation));
    seen->guess = f->guesses ? (double)(hash_of(mapping, 3) % 50) : (double)seen->evaluation.latency_cycle;
    return seen->guess; /* 0 is one of the guesses: such a mapping is left out */
}

static uint64_t cycles_of(const struct mapping *mapping)
{
    return 1 + hash_of(mapping, 0) % 1000;
}

static enum dse_status fake_cycles(void *self, const struct problem *problem, const struct mapping *mapping,
                                   uint64_t *cycle, struct dse_error *err)
{
    struct fake *f = self;
    (void)problem;
    if (++f->n_call == f->fails_at)
        return dse_fail(err, f->failure, "as asked for");
    *cycle = f->has_none ? 0 : cycles_of(mapping);
    return DSE_OK;
}

static void fake_init(struct fake *f)
{
    struct dse_error err;
    *f = (struct fake){.n_seen = 0};
    small_conv(&f->problem, 3, 4, 4, 6);
    small_machine(&f->arch, 16, 200);
    assert_int_equal(evaluator_new(&accounting_timeloop, &f->problem, &f->arch, &f->evaluator, &err), DSE_OK);
    assert_int_equal(eval_workspace_new(f->evaluator, &f->workspace, &err), DSE_OK);
    f->seen = malloc(SEEN_MAX * sizeof *f->seen);
    assert_non_null(f->seen);
}

static void fake_free(struct fake *f)
{
    eval_workspace_delete(f->workspace);
    evaluator_delete(f->evaluator);
    free(f->seen);
}

static enum dse_status solve(struct fake *f, uint32_t n, bool guesses, struct objective objective,
                             double max_seconds, struct engine_result *result, struct dse_error *err)
{
    const struct engine_slow_price slow = {n, f, guesses ? fake_guess : NULL, fake_cycles};
    struct engine_task task = {.objective = objective, .seed = 3, .key = 5, .slow = n ? &slow : NULL};
    task.budget.max_evaluations = N_EVALUATION;
    task.budget.max_seconds = max_seconds;
    f->n_seen = f->n_call = 0;
    return engine_case_solve("descent", NULL, 0, &f->problem, &f->arch, task, result, err);
}

static double cost_of(const struct fake *f, const struct seen *seen, struct objective objective, double cycle)
{
    return objective_cost_of(&objective, seen->evaluation.energy_j, cycle / f->arch.clock_hz);
}

/* Does a come before b among the best? */
static bool before(const struct fake *f, struct objective objective, const struct seen *a,
                   const struct seen *b)
{
    double x = cost_of(f, a, objective, a->guess), y = cost_of(f, b, objective, b->guess);
    if (x != y)
        return x < y;
    if (a->evaluation.edp_js != b->evaluation.edp_js)
        return a->evaluation.edp_js < b->evaluation.edp_js;
    return a->evaluation.energy_j < b->evaluation.energy_j;
}

/* The mapping of the n best seen that costs least with its slow cycles: one after the other is taken out,
 * with all that equal it. */
static const struct seen *expected(const struct fake *f, uint32_t n, struct objective objective)
{
    bool *gone = calloc(f->n_seen, 1);
    const struct seen *best = NULL;
    assert_non_null(gone);
    for (uint32_t k = 0; k < n; k++) {
        const struct seen *next = NULL;
        for (size_t i = 0; i < f->n_seen; i++)
            if (!gone[i] && f->seen[i].guess > 0 && (!next || before(f, objective, &f->seen[i], next)))
                next = &f->seen[i];
        if (!next)
            break;
        for (size_t i = 0; i < f->n_seen; i++)
            if (!before(f, objective, &f->seen[i], next) && !before(f, objective, next, &f->seen[i]))
                gone[i] = true;
        double cycle = (double)cycles_of(&next->mapping);
        if (!best || cost_of(f, next, objective, cycle) <
                         cost_of(f, best, objective, (double)cycles_of(&best->mapping)))
            best = next;
    }
    free(gone);
    return best;
}

static void test_choose_takes_the_best_of_the_best(void **state)
{
    (void)state;
    static const struct objective objective[] = {{0, 1}, {1, 1}, {1, 0}};
    static const uint32_t n[] = {1, 2, 7, 100};
    struct fake f;
    struct engine_result r;
    struct dse_error err;
    fake_init(&f);
    for (int guesses = 0; guesses < 2; guesses++)
        for (size_t o = 0; o < 3; o++)
            for (size_t i = 0; i < 4; i++) {
                f.guesses = guesses;
                assert_int_equal(solve(&f, n[i], true, objective[o], 0, &r, &err), DSE_OK);
                assert_true(f.n_seen > 1000);
                const struct seen *best = expected(&f, n[i], objective[o]);
                assert_true(mapping_same(&r.mapping, &best->mapping));
                assert_int_equal(r.slow_cycle, cycles_of(&best->mapping));
                assert_int_equal(r.evaluation.latency_cycle, best->evaluation.latency_cycle);
                assert_true(r.cost == cost_of(&f, best, objective[o], (double)r.evaluation.latency_cycle));
                assert_int_equal(r.n_slow, f.n_call);
                assert_true(r.n_slow <= n[i] && (n[i] > 7 || r.n_slow == n[i]));
            }
    fake_free(&f);
}

/* Without a guess the evaluation's own cycles say which are the best. */
static void test_choose_without_a_guess(void **state)
{
    (void)state;
    const struct objective objective = {0, 1};
    struct fake f;
    struct engine_result with, without;
    struct dse_error err;
    fake_init(&f);
    assert_int_equal(solve(&f, 9, true, objective, 0, &with, &err), DSE_OK);
    assert_int_equal(solve(&f, 9, false, objective, 0, &without, &err), DSE_OK);
    assert_int_equal(f.n_seen, 0);
    assert_true(mapping_same(&with.mapping, &without.mapping));
    assert_int_equal(with.slow_cycle, without.slow_cycle);
    fake_free(&f);
}

/* A search that stops at the lower bound goes on where its cost is not what chooses. */
static void test_choose_is_not_over_at_the_lower_bound(void **state)
{
    (void)state;
    const struct objective objective = {0, 1};
    struct fake f;
    struct engine_result plain, chosen;
    struct dse_error err;
    fake_init(&f);
    f.arch.level[2].shared_bandwidth_word_per_cycle = INFINITY;
    assert_int_equal(solve(&f, 0, false, objective, 0, &plain, &err), DSE_OK);
    assert_int_equal(plain.stop, STOP_OPTIMAL);
    assert_int_equal(plain.slow_cycle, 0);
    assert_int_equal(solve(&f, 5, false, objective, 0, &chosen, &err), DSE_OK);
    assert_true(chosen.n_evaluation > plain.n_evaluation);
    assert_true(chosen.stop == STOP_CONVERGED || chosen.stop == STOP_MAX_EVALUATIONS);
    assert_int_equal(chosen.n_slow, 5);
    fake_free(&f);
}

/* Where no mapping has slow cycles, what costs least is found as ever. */
static void test_choose_among_none(void **state)
{
    (void)state;
    const struct objective objective = {1, 1};
    struct fake f;
    struct engine_result plain, chosen;
    struct dse_error err;
    fake_init(&f);
    f.has_none = true;
    assert_int_equal(solve(&f, 0, false, objective, 0, &plain, &err), DSE_OK);
    assert_int_equal(solve(&f, 5, false, objective, 0, &chosen, &err), DSE_OK);
    assert_int_equal(chosen.slow_cycle, 0);
    assert_int_equal(chosen.n_slow, 5);
    assert_true(chosen.cost == plain.cost);
    assert_true(mapping_same(&chosen.mapping, &plain.mapping));
    fake_free(&f);
}

/* Whatever the time, one mapping gets the slow price; errors are the hook's. */
static void test_choose_ends_in_time_and_with_errors(void **state)
{
    (void)state;
    static const enum dse_status failure[] = {DSE_INTERRUPTED, DSE_NO_MEMORY, DSE_INTERNAL};
    const struct objective objective = {1, 1};
    struct fake f;
    struct engine_result r;
    struct dse_error err;
    fake_init(&f);
    assert_int_equal(solve(&f, 5, false, objective, 1e-9, &r, &err), DSE_OK);
    assert_int_equal(r.n_slow, 1);
    assert_true(r.slow_cycle > 0);
    assert_int_equal(r.stop, STOP_MAX_SECONDS);
    for (size_t i = 0; i < 3; i++) {
        f.fails_at = 2;
        f.failure = failure[i];
        assert_int_equal(solve(&f, 5, false, objective, 0, &r, &err), failure[i]);
        assert_string_equal(err.text, "as asked for");
        assert_int_equal(f.n_call, 2);
    }
    fake_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose_takes_the_best_of_the_best),
        cmocka_unit_test(test_choose_without_a_guess),
        cmocka_unit_test(test_choose_is_not_over_at_the_lower_bound),
        cmocka_unit_test(test_choose_among_none),
        cmocka_unit_test(test_choose_ends_in_time_and_with_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
