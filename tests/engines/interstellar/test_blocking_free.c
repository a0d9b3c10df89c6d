/* Random small spaces without a schedule file, where a machine may have several arrays, several MACs at a
 * register, tensors that pass by levels, bandwidths; where bounds may be padded and time limited: branch and
 * bound and the enumeration find what a plain search finds that prices every factorisation, every place in
 * the arrays and every order of loops by the accounting, and no bound on the way is above it. With a number:
 * so many spaces.
 *
 * Tests: blocking_debt.c, proof_load.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/interstellar/accounting_interstellar.h"
#include "engines/interstellar/blocking_search.h"
#include "tests/engines/interstellar/blocking_plain.h"

static long n_space = 1500; /* main may set another, before any test */

/* The least energy by one of the two searches; every bound on the way must hold. False: not priced exactly.
 */
static bool search(const struct task *task, long i, bool prove, double optimum, double *found_j)
{
    struct blocking_search search = {.done = false};
    struct arena arena;
    struct dse_error err;
    struct blocking_space *space = calloc(1, sizeof *space);
    assert_non_null(space);
    arena_init(&arena);
    assert_int_equal(
        blocking_space_build(&task->problem, &task->arch, NULL, &task->settings, &arena, space, &err),
        DSE_OK);
    assert_int_equal(prove ? blocking_prove(space, &search, &err) : blocking_enumerate(space, &search, &err),
                     DSE_OK);
    const bool exact = space->model.exact && space->model.times;
    while (!search.done) {
        assert_int_equal(blocking_search_step(&search, &err), DSE_OK);
        if (space->model.exact && search.bound_j > optimum * (1 + 1e-9))
            fail_msg("space %ld: a bound of %.17g is above the optimum of %.17g", i, search.bound_j, optimum);
    }
    *found_j = search.found ? search.best_j : INFINITY;
    if (space->model.exact && *found_j > optimum * (1 + 1e-9))
        fail_msg("space %ld: %.17g, but there is %.17g", i, *found_j, optimum);
    blocking_search_free(&search);
    blocking_space_free(space);
    free(space);
    arena_free(&arena);
    return exact;
}

static void compare(const struct task *task, long i, bool prove, double optimum, long *n_exact)
{
    double found_j;
    if (!search(task, i, prove, optimum, &found_j))
        return;
    ++*n_exact;
    if (!(found_j == optimum || fabs(found_j - optimum) <= 1e-9 * optimum))
        fail_msg("space %ld: %s says %.17g, the plain search %.17g", i,
                 prove ? "the proof" : "the enumeration", found_j, optimum);
}

static void test_random_spaces(void **state)
{
    long n_exact = 0, n_found = 0, n_late = 0;
    (void)state;
    for (long i = 0; i < n_space; i++) {
        struct random_stream stream = random_stream_make(17, (uint64_t)i, RANDOM_TEST);
        struct task task;
        struct evaluator *evaluator;
        struct dse_error err;
        draw(&stream, &task);
        if (evaluator_new(task.settings.rule == REUSE_COMPAT ? &accounting_interstellar_compat
                                                             : &accounting_interstellar,
                          &task.problem, &task.arch, &evaluator, &err) != DSE_OK)
            fail_msg("space %ld: %s", i, err.text);
        const double optimum = search_plainly(&task, evaluator, NULL);
        n_found += isfinite(optimum);
        compare(&task, i, true, optimum, &n_exact);
        compare(&task, i, false, optimum, &n_exact);
        for (double cycle = (double)problem_macs(&task.problem); cycle >= 1 && isfinite(optimum);
             cycle = floor(cycle / 2)) {
            bool timed = false;
            for (uint32_t l = 0; l < task.arch.n_level; l++)
                timed = timed || isfinite(task.arch.level[l].shared_bandwidth_word_per_cycle) ||
                        isfinite(task.arch.level[l].read_bandwidth_word_per_cycle);
            if (!timed)
                break;
            task.settings.most_cycle = cycle;
            const double late = search_plainly(&task, evaluator, NULL);
            n_late += isfinite(late) && late > optimum * (1 + 1e-9);
            compare(&task, i, true, late, &n_exact);
        }
        evaluator_delete(evaluator);
    }
    print_message("%ld spaces, %ld with a mapping, %ld searches priced exactly, %ld held back by time\n",
                  n_space, n_found, n_exact, n_late);
    assert_true(n_found > n_space / 4 && n_exact > n_space && n_late > n_space / 50);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_spaces)};
    if (argc > 1)
        n_space = strtol(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
