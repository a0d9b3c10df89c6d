/* Cost vectors: the published best mappings, the minima, random search, MTTKRP by hand, and the plain
 * evaluation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "tests/support/mm_case.h"

static void near_to(const char *what, double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected)))
        fail_msg("%s is %.12g, expected %.12g", what, value, expected);
}

static struct mm_pricer *pricer_of(const struct mm_space *space)
{
    struct mm_pricer *pricer;
    struct dse_error err = {0};
    if (mm_pricer_new(space, &pricer, &err) != DSE_OK)
        fail_msg("%s", err.text);
    return pricer;
}

/* Energies and cycles of Timeloop v3.0.3. The table lists orders as the dimension in each place. */
static void test_best_mappings_cost_what_timeloop_says(void **state)
{
    (void)state;
    struct mm_table table;
    struct mm_case c;
    int n = 0;
    mm_table_open(&table, "best_mappings_cnn.csv");
    for (; mm_table_next(&table); n++) {
        double vector[MM_VALUE_MAX];
        uint32_t size[MM_DIM_MAX];
        struct mm_mapping mapping;
        struct mm_cost cost, minimum;
        char reason[256];
        const enum mm_mode mode = strcmp(table.field[1], "mustfit") == 0 ? MM_MUSTFIT : MM_AUTOBYPASS;
        for (int i = 0; i < MM_VALUE_MAX; i++)
            vector[i] = atof(table.field[2 + i]);
        for (int i = 0; i < 21; i++) {
            const int nest = i / 7;
            vector[35 + 7 * nest + atoi(table.field[2 + 35 + i])] = i % 7;
        }
        assert_true(mm_vector_read(mm_algorithm(MM_CNN), vector, size, &mapping, reason, sizeof reason));
        mm_case_begin(&c, MM_CNN, NULL, 0);
        const struct mm_space *space = mm_case_space(&c, size, mode);
        struct mm_pricer *pricer = pricer_of(space);
        if (!mm_space_contains(space, &mapping, reason, sizeof reason))
            fail_msg("%s: %s", table.field[0], reason);
        assert_true(mm_price(pricer, &mapping, &cost));
        mm_minimum(space, MM_MINIMUM_CODE, &minimum);
        near_to("energy", cost.energy_uj, atof(table.field[64]), 1e-9);
        assert_true(fabs(cost.cycle - atof(table.field[65])) < 0.5);
        near_to("edp_norm", cost.edp / minimum.edp, atof(table.field[66]), 2e-6);
        mm_pricer_delete(pricer);
        mm_case_end(&c);
    }
    mm_table_close(&table);
    assert_int_equal(n, 12);
}

static void test_minima_are_those_of_the_table(void **state)
{
    (void)state;
    struct mm_table table;
    int n = 0;
    mm_table_open(&table, "problems.csv");
    for (; mm_table_next(&table); n++) {
        struct mm_case c;
        uint32_t size[MM_DIM_MAX];
        const enum mm_algorithm_id id = mm_case_problem(table.field[0], size);
        mm_case_begin(&c, id, NULL, 0);
        const struct mm_space *space = mm_case_space(&c, size, MM_AUTOBYPASS);
        assert_int_equal(problem_macs(mm_space_problem(space)), strtoull(table.field[9], NULL, 10));
        for (int m = 0; m < MM_MINIMUM_COUNT; m++) {
            struct mm_cost minimum;
            double sum = 0;
            mm_minimum(space, (enum mm_minimum)m, &minimum);
            near_to("energy", minimum.energy_uj, atof(table.field[10 + 2 * m]), 1e-9);
            near_to("edp", minimum.edp, atof(table.field[11 + 2 * m]), 1e-8);
            for (uint32_t i = 0; i + 3 < mm_algorithm(id)->n_cost; i++)
                sum += minimum.value[i];
            if (m == MM_MINIMUM_NO_MAC)
                near_to("sum of the levels", sum, minimum.energy_uj, 1e-12);
        }
        mm_case_end(&c);
    }
    mm_table_close(&table);
    assert_int_equal(n, 9);
}

/* The best of 1000 draws, mean of 30 seeds: within four standard errors of the table's mean of 30. */
static void test_random_search_finds_what_the_authors_sampler_finds(void **state)
{
    (void)state;
    enum { SEEDS = 30, DRAWS = 1000 };
    struct mm_table table;
    int n = 0;
    mm_table_open(&table, "random_search.csv");
    for (; mm_table_next(&table); n++) {
        struct mm_case c;
        uint32_t size[MM_DIM_MAX];
        struct mm_cost minimum;
        double sum = 0;
        mm_case_begin(&c, mm_case_problem(table.field[0], size), NULL, 0);
        const enum mm_mode mode = strcmp(table.field[1], "mustfit") == 0 ? MM_MUSTFIT : MM_AUTOBYPASS;
        const struct mm_space *space = mm_case_space(&c, size, mode);
        struct mm_pricer *pricer = pricer_of(space);
        mm_minimum(space, MM_MINIMUM_CODE, &minimum);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct random_stream stream = random_stream_make(seed, 77, RANDOM_TEST);
            double best = INFINITY;
            for (int i = 0; i < DRAWS; i++) {
                struct mm_mapping mapping;
                struct mm_cost cost;
                mm_space_draw(space, &stream, &mapping);
                assert_true(mm_price(pricer, &mapping, &cost));
                best = fmin(best, cost.edp / minimum.edp);
            }
            sum += best / SEEDS;
        }
        const double mean = atof(table.field[2]), error = atof(table.field[3]) * sqrt(2.0 / SEEDS);
        print_message("%s %s: %.3f, table %.3f +- %.3f\n", table.field[0], table.field[1], sum, mean, error);
        assert_true(fabs(sum - mean) < 4 * error);
        mm_pricer_delete(pricer);
        mm_case_end(&c);
    }
    mm_table_close(&table);
    assert_int_equal(n, 8);
}

/* ---------------------------------------- MTTKRP by hand */

static void price_by_hand(const double *vector, double macs, double energy_pj, double cycle,
                          const double *level_pj)
{
    const struct mm_algorithm *algorithm = mm_algorithm(MM_MTTKRP);
    uint32_t size[MM_DIM_MAX];
    struct mm_mapping mapping;
    struct mm_cost cost;
    struct mm_case c;
    char reason[256];
    assert_true(mm_vector_read(algorithm, vector, size, &mapping, reason, sizeof reason));
    mm_case_begin(&c, MM_MTTKRP, NULL, 0);
    const struct mm_space *space = mm_case_space(&c, size, MM_MUSTFIT);
    struct mm_pricer *pricer = pricer_of(space);
    assert_true(mm_space_contains(space, &mapping, reason, sizeof reason));
    assert_true(mm_price(pricer, &mapping, &cost));
    for (uint32_t i = 0; i < 12; i++)
        near_to(mm_cost_name(&c.machine, i, reason, sizeof reason), cost.value[i], level_pj[i] * 1e-6, 1e-12);
    near_to("energy", cost.energy_uj, energy_pj * 1e-6, 1e-12);
    near_to("cycles", cost.cycle, cycle, 1e-12);
    near_to("utilization", cost.value[12], macs / cycle / 256, 1e-12);
    mm_pricer_delete(pricer);
    mm_case_end(&c);
}

/* I = J = K = L = 2, all loops at the DRAM, innermost first I J K L; every tile is one word. Fills: B and A
 * 16 (I, the innermost, moves them), C and D 8. A: 16 updates, 16 - 4 reads and fills at each level. Blocks
 * of 2 words inside, of 4 outside: private D 4 reads... = 12 blocks at 2.24 pJ (8 reads of 16 words, 4 fills
 * of 8), C the same, B 8 + 8, A 8 + 6 + 6; shared D and C 2 + 2 at 8.8 pJ, B 4 + 4, A 4 + 3 + 3; DRAM B 4 at
 * 800 pJ, C 2, D 2, A 4 + 3. 16 MACs. */
static void test_mttkrp_all_at_the_dram(void **state)
{
    (void)state;
    static const double vector[] = {2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                    0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4};
    static const double level[] = {12 * 2.24, 12 * 2.24, 16 * 2.24, 20 * 2.24, 4 * 8.8, 4 * 8.8,
                                   8 * 8.8,   10 * 8.8,  4 * 800,   2 * 800,   2 * 800, 7 * 800};
    price_by_hand(vector, 16, 12379.2, 16, level);
}

/* J = 4 over 2 PEs and 2 inside, K = 2 inside, innermost. A PE does 4 of 8 MACs. Its B, C and D hold one
 * word each: K, the innermost, moves B and C (4 fills), J moves D (2; K inside it is free); A holds 2 words,
 * and all its sums end there: 4 updates, 4 - 2 reads, no fills. Per PE blocks of 2: D 2 + 1, C 2 + 2, B 2 +
 * 2, A 2 + 1. Shared: B goes to both PEs at once, 4 reads; 2 words stay, 2 fills: blocks 1 + 1. C 8 + 8: 2 +
 * 2. D 4 + 4: 1 + 1. A 4 updates: 1. DRAM: B 2 words, C 8, D 4, A 4: 1, 2, 1, 1 blocks. */
static void test_mttkrp_inside_the_pes(void **state)
{
    (void)state;
    static const double vector[] = {1, 4, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 2, 2, 1,
                                    0, 1, 2, 3, 0, 1, 2, 3, 2, 1, 0, 3, 4, 4, 4, 4, 4, 4, 4, 4};
    static const double level[] = {6 * 2.24, 8 * 2.24, 8 * 2.24, 6 * 2.24, 2 * 8.8, 4 * 8.8,
                                   2 * 8.8,  1 * 8.8,  1 * 800,  2 * 800,  1 * 800, 1 * 800};
    price_by_hand(vector, 8, 4149.92, 4, level);
}

/* ---------------------------------------- against the plain evaluation */

static void compare_plain(const struct mm_case *c, const struct mm_mapping *mapping,
                          const struct mm_cost *cost, struct arena *arena)
{
    struct evaluator *evaluator;
    struct evaluation_detail detail;
    struct mapping decoded;
    struct dse_error err;
    double sum = 0;
    mm_space_decode(c->space, mapping, &decoded);
    assert_int_equal(
        evaluator_new(&accounting_timeloop, mm_space_problem(c->space), &c->arch, &evaluator, &err), DSE_OK);
    assert_int_equal(evaluator_detail(evaluator, &decoded, arena, &detail, &err), DSE_OK);
    const uint32_t n = c->machine.algorithm->n_tensor;
    assert_int_equal(detail.total.fit.what, FITS);
    near_to("energy", cost->energy_uj, detail.total.energy_j * 1e6, 1e-12);
    near_to("cycles", cost->cycle, (double)detail.total.latency_cycle, 0);
    for (uint32_t l = 0; l < 2 * n; l++)
        near_to("level", cost->value[l], detail.total.level_energy_j[l] * 1e6, 1e-12);
    for (uint32_t i = 0, at = 2 * n; i < n; i++)
        for (uint32_t t = 0; t < n; t++) {
            const struct tensor_counts *counts = &detail.level[c->machine.dram].tensor[t];
            char name[128], want[128];
            snprintf(want, sizeof want, "DRAM_%s_uJ", mm_space_problem(c->space)->tensor[t].name);
            if (strcmp(want, mm_cost_name(&c->machine, at + i, name, sizeof name)) == 0)
                near_to(name, cost->value[at + i], (counts->access_energy_j + counts->address_energy_j) * 1e6,
                        1e-12);
        }
    for (uint32_t i = 0; i < 3 * n; i++)
        sum += cost->value[i];
    near_to("sum", sum + 1e-6 * (double)problem_macs(mm_space_problem(c->space)), cost->energy_uj, 1e-9);
    evaluator_delete(evaluator);
}

static void test_costs_are_those_of_the_plain_evaluation(void **state)
{
    (void)state;
    static const uint32_t size[MM_ALGORITHM_COUNT][MM_DIM_MAX] = {{4, 12, 8, 3, 3, 14, 14},
                                                                  {64, 96, 128, 60}};
    struct arena arena;
    arena_init(&arena);
    for (int id = 0; id < MM_ALGORITHM_COUNT; id++) {
        static const char *const small[] = {"SharedBuffer.bank", "256 word", "PrivateBuffer.bank", "8 word"};
        struct random_stream stream = random_stream_make(5, (uint64_t)id, RANDOM_TEST);
        struct mm_case c;
        mm_case_begin(&c, (enum mm_algorithm_id)id, small, 2);
        const struct mm_space *space = mm_case_space(&c, size[id], MM_AUTOBYPASS);
        struct mm_pricer *pricer = pricer_of(space);
        for (int i = 0; i < 300; i++) {
            struct mm_mapping mapping;
            struct mm_cost cost;
            mm_space_draw(space, &stream, &mapping);
            assert_true(mm_price(pricer, &mapping, &cost));
            compare_plain(&c, &mapping, &cost, &arena);
            arena_reset(&arena);
        }
        mm_pricer_delete(pricer);
        mm_case_end(&c);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_mappings_cost_what_timeloop_says),
        cmocka_unit_test(test_minima_are_those_of_the_table),
        cmocka_unit_test(test_random_search_finds_what_the_authors_sampler_finds),
        cmocka_unit_test(test_mttkrp_all_at_the_dram),
        cmocka_unit_test(test_mttkrp_inside_the_pes),
        cmocka_unit_test(test_costs_are_those_of_the_plain_evaluation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
