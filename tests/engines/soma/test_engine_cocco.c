/* Engine cocco through the driver.
 * Tests: task.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/fused/accounting_soma.h"
#include "engines/soma/search/initial.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/task.h"
#include "tests/support/schedule_run.h"
#include "tests/support/soma_case.h"

static const char resnet50[] = "experiments/networks/resnet50_soma.yaml",
                  tiny6[] = "tests/known/soma/tiny6.yaml";

/* The reconstruction's rows of the reference results (public.csv, cocco_reconstruction, ResNet-50, batch 1,
 * 16 GB/s): energy x time, pJ ns. Its random numbers are others. */
static void test_cocco_is_as_good_as_the_reconstruction(void **state)
{
    static const struct row {
        const char *capacity;
        double theirs;
    } row[] = {{"4 MiB", 8128354599681801.0}, {"8 MiB", 8094217880802944.0}, {"32 MiB", 9068932659335830.0}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct schedule_run r;
        schedule_run_open(&r, &engine_cocco, resnet50, row[i].capacity);
        schedule_run_set(&r, "compat", "true");
        schedule_run_solve(&r);
        assert_true(r.result.feasible);
        assert_true(r.result.cost <= 1.02 * row[i].theirs * 1e-21);
        schedule_run_close(&r);
    }
}

/* Fine-grained groups are layer groups; each has the tiles that its most demanding layer needs. */
static void test_cocco_takes_tiles_from_the_core_array(void **state)
{
    struct schedule_run r;
    struct soma_task made;
    struct soma_lfa lfa;
    struct soma_dlsa dlsa;
    struct dse_error err;
    bool has_dlsa;
    (void)state;
    schedule_run_open(&r, &engine_cocco, resnet50, "8 MiB");
    schedule_run_set(&r, "tiling", "parallel");
    schedule_run_solve(&r);
    assert_true(r.result.feasible);
    assert_int_equal(r.result.n_evaluation, 7200); /* 100 per layer */
    assert_int_equal(r.result.stop, STOP_CONVERGED);
    const struct engine_schedule *s = &r.result.schedule;
    assert_int_equal(
        soma_case_read(s->text, s->text_length, &r.network, &r.arena, &lfa, &dlsa, &has_dlsa, &err), DSE_OK);
    assert_int_equal(soma_task_prepare(&r.task, NULL, &accounting_soma,
                                       (struct soma_core_choice){SOMA_CORE_ARRAY, 0}, &r.arena, &made, &err),
                     DSE_OK);
    for (uint32_t g = 0; g < lfa.n_flc; g++) {
        uint32_t stop = g + 1 < lfa.n_flc ? lfa.flc[g + 1] : lfa.n_layer, most = 1;
        for (uint32_t at = lfa.flc[g]; at < stop; at++) {
            uint32_t n_tile;
            assert_int_equal(soma_parallel_tiles(&made.search, lfa.order[at], &n_tile, &err), DSE_OK);
            most = n_tile > most ? n_tile : most;
        }
        assert_true(lfa.dram_cut[g]);
        assert_int_equal(lfa.tiling[g], most);
    }
    soma_task_free(&made);
    schedule_run_close(&r);
}

/* The paper (section III-B and Fig. 3(d): Transformer-Large, edge chip) has Cocco use 72.5 % of the DRAM's
 * time; 16 bytes a cycle there. Its Cocco knows no network unfused, which would be better. */
static void test_cocco_falls_back_unless_told_not_to(void **state)
{
    static const char *const fallback[] = {"false", "true"};
    double cost[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct schedule_run r;
        schedule_run_open(&r, &engine_cocco, "experiments/soma/networks/transformer_large.yaml", "16 MiB");
        schedule_run_set(&r, "compat", "true");
        schedule_run_set(&r, "tiling", "inherit");
        schedule_run_set(&r, "fallback", fallback[i]);
        schedule_run_solve(&r);
        assert_true(r.result.feasible);
        cost[i] = r.result.cost;
        const struct engine_schedule *s = &r.result.schedule;
        if (i == 0)
            assert_in_range(1000.0 * (double)s->dram_byte / 16 / (double)s->latency_cycle, 689,
                            761); /* 5 % */
        schedule_run_close(&r);
    }
    assert_true(cost[1] < cost[0]);
}

static void test_cocco_does_not_depend_on_threads_and_keeps_the_budget(void **state)
{
    struct schedule_run r[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        schedule_run_open(&r[i], &engine_cocco, tiny6, "64 KiB");
        schedule_run_set(&r[i], "starts", "5");
        r[i].task.n_thread = i == 1 ? 3 : 1;
        r[i].task.budget.max_evaluations = i == 2 ? 333 : 0;
        schedule_run_solve(&r[i]);
        assert_true(r[i].result.feasible);
    }
    assert_true(r[0].result.cost == r[1].result.cost);
    assert_int_equal(r[0].result.schedule.text_length, r[1].result.schedule.text_length);
    assert_memory_equal(r[0].result.schedule.text, r[1].result.schedule.text,
                        r[0].result.schedule.text_length);
    assert_int_equal(r[0].result.n_evaluation, 5 * 600);
    assert_int_equal(r[2].result.n_evaluation, 333);
    assert_int_equal(r[2].result.stop, STOP_MAX_EVALUATIONS);
    for (int i = 0; i < 3; i++)
        schedule_run_close(&r[i]);
}

static void test_cocco_says_when_nothing_fits(void **state)
{
    struct schedule_run r;
    (void)state;
    schedule_run_open(&r, &engine_cocco, resnet50, "2 MiB");
    schedule_run_set(&r, "compat", "1");
    schedule_run_solve(&r);
    assert_false(r.result.feasible);
    assert_non_null(strstr(r.result.reason, "2,359,296 bytes of weights, which must fit whole"));
    schedule_run_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cocco_is_as_good_as_the_reconstruction),
        cmocka_unit_test(test_cocco_takes_tiles_from_the_core_array),
        cmocka_unit_test(test_cocco_falls_back_unless_told_not_to),
        cmocka_unit_test(test_cocco_does_not_depend_on_threads_and_keeps_the_budget),
        cmocka_unit_test(test_cocco_says_when_nothing_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
