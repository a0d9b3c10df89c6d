/* Searches that share what their sweeps find, and lists of spreads, end as they do alone: random problems on
 * machines that differ in bandwidth alone, and in capacity and the energies of accesses, one after the other
 * and back again, for all objectives. The same mapping, cost, bound and evaluations. -D OPTIMAL_CASES=1000
 * makes more of them. Tests: optimal_known.c, optimal_list.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/driver/known_bounds.h"
#include "tests/engines/optimal/optimal_case.h"
#include "tests/support/engine_case.h"
#include "tests/support/mapping_same.h"

#ifndef OPTIMAL_CASES
#define OPTIMAL_CASES 20
#endif

static const char *const objectives[] = {"edp", "energy", "latency", "ed2p", "energy^2*delay^1"};

/* Cell i of a sweep: 5 bandwidths of the outermost level, of 2 capacities inside, each with its energies. */
static void make_cell(const struct architecture *base, uint32_t i, struct architecture *arch)
{
    *arch = *base;
    arch->level[arch->n_level - 1].shared_bandwidth_word_per_cycle = 0.25 * (1u << (i % 5));
    if (i % 2 == 0 || arch->n_level <= 2 || arch->n_group > 0)
        return;
    struct storage_level *inner = &arch->level[arch->n_level - 2];
    inner->size_word *= inner->size_word == ARCH_UNLIMITED ? 1 : 2;
    inner->read_energy_j *= 1.125;
    inner->write_energy_j *= 1.25;
}

static void test_what_is_known_changes_nothing(void **state)
{
    (void)state;
    enum { N_CELL = 15 };
    struct known_bounds *known;
    struct dse_error err;
    uint32_t n_feasible = 0;
    assert_int_equal(known_bounds_new(1 << 16, &known, &err), DSE_OK);
    for (uint64_t i = 0; i < OPTIMAL_CASES; i++) {
        struct problem problem;
        struct architecture base, arch;
        struct engine_task task = {.seed = 1, .key = i, .batch = 1};
        const char *objective = objectives[i % (sizeof objectives / sizeof objectives[0])];
        const struct engine_setting setting[] = {{"starts", i % 2 ? "0" : "2"},
                                                 {"search_bypass", i % 4 == 1 ? "true" : "false"}};
        optimal_case(i, 48, &problem, &base);
        assert_int_equal(objective_parse(objective, &task.objective, &err), DSE_OK);
        for (uint32_t cell = 0; cell < N_CELL; cell++) {
            struct engine_result alone, found;
            make_cell(&base, cell, &arch);
            task.known = NULL;
            if (engine_case_solve("optimal", setting, 2, &problem, &arch, task, &alone, &err) != DSE_OK)
                fail_msg("case %llu, cell %u: %s", (unsigned long long)i, cell, err.text);
            task.known = known;
            assert_int_equal(engine_case_solve("optimal", setting, 2, &problem, &arch, task, &found, &err),
                             DSE_OK);
            assert_int_equal(alone.feasible, found.feasible);
            if (alone.n_evaluation != found.n_evaluation || alone.n_draw != found.n_draw ||
                alone.stop != found.stop)
                fail_msg("case %llu, cell %u: %llu evaluations alone, %llu else", (unsigned long long)i, cell,
                         (unsigned long long)alone.n_evaluation, (unsigned long long)found.n_evaluation);
            if (!alone.feasible)
                continue;
            n_feasible++;
            assert_true(alone.cost == found.cost && alone.bound == found.bound);
            assert_true(mapping_same(&alone.mapping, &found.mapping));
        }
    }
    known_bounds_free(known);
    print_message("%u of %u cells have a mapping\n", n_feasible, OPTIMAL_CASES * N_CELL);
    assert_true(n_feasible > OPTIMAL_CASES * N_CELL / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_known_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
