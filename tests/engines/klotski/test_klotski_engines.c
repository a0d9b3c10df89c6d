/* Tests: engine_klotski.c, engine_tangram.c, klotski_task.c, klotski_metrics.c, partition.c.
 * Cycles of whole layers by MAESTRO's sums; sizes of Klotski's grid and its best points by an independent
 * program (Python), and how well the Bayesian search finds them; the driver checks every schedule apart. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_metrics.h"
#include "engines/klotski/partition.h"
#include "tests/support/schedule_run.h"

#define NETWORK(NAME) "experiments/networks/" NAME ".yaml"

static void open_on(struct schedule_run *run, const struct engine *engine, const char *network,
                    const char *mesh, const char *bandwidth)
{
    const struct arch_override set[] = {{"Core.mesh", mesh}, {"SRAM.bandwidth", bandwidth}};
    schedule_run_open_on(run, engine, network, "klotski", set, 2);
}

static struct klotski_metrics own_of(const struct schedule_run *run)
{
    struct klotski_metrics own;
    memcpy(&own, run->result.schedule.own, sizeof own);
    return own;
}

/* The sums of MAESTRO's cycles of all layers: reference values, the same on every mesh. */
static void test_tangram_is_layer_after_layer(void **state)
{
    static const struct {
        const char *network, *mesh;
        uint64_t cycle;
    } row[] = {
        {NETWORK("vgg16"), "3x3", 124459226},
        {NETWORK("vgg16"), "5x5", 124459226},
        {NETWORK("vgg19"), "4x4", 156036371},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct schedule_run run;
        open_on(&run, &engine_tangram, row[i].network, row[i].mesh, "128 word/cycle");
        schedule_run_solve(&run);
        assert_true(run.result.feasible);
        assert_int_equal(run.result.schedule.latency_cycle, row[i].cycle);
        assert_int_equal(own_of(&run).work_cycle, row[i].cycle);
        schedule_run_close(&run);
    }
}

static void test_the_grid(void **state)
{
    static const struct {
        const char *network;
        uint32_t n;
    } row[] = {{NETWORK("vgg16"), 178}, {NETWORK("resnet50"), 1186}, {NETWORK("inception_v3"), 998}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct schedule_run run;
        struct kc_machine machine;
        struct uop_network uops;
        struct partition_grid grid;
        struct dse_error err;
        open_on(&run, &engine_tangram, row[i].network, "3x3", "128 word/cycle");
        assert_int_equal(kc_machine_of(&run.arch, &machine, &err), DSE_OK);
        assert_int_equal(uop_network_of(&run.network, &run.arena, &uops, &err), DSE_OK);
        assert_int_equal(
            partition_grid_of(&uops, &machine, UOP_SUMS_ALL, UOP_SRAM_ALL, 1, 1500, &run.arena, &grid, &err),
            DSE_OK);
        assert_int_equal(grid.n, row[i].n);
        assert_int_equal(grid.n_all, 2250);
        for (uint32_t k = 0; k < grid.n * PARTITION_DIM; k++)
            assert_true(grid.at[k] >= 0 && grid.at[k] <= 1);
        schedule_run_close(&run);
    }
}

/* Four digits of the best list schedules, 1000 words a cycle. */
static void test_the_best_of_the_grid(void **state)
{
    static const struct {
        const char *network, *mesh;
        double cycle;
    } row[] = {{NETWORK("vgg16"), "3x3", 1.2591e7},
               {NETWORK("resnet50"), "3x3", 4.6323e6},
               {NETWORK("inception_v3"), "4x4", 3.1999e6}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct schedule_run run;
        open_on(&run, &engine_klotski, row[i].network, row[i].mesh, "1000 word/cycle");
        schedule_run_set(&run, "search", "all");
        schedule_run_set(&run, "schedule", "list");
        schedule_run_solve(&run);
        assert_true(fabs((double)run.result.schedule.latency_cycle / row[i].cycle - 1) < 1e-4);
        const uint64_t all = run.result.schedule.latency_cycle;
        schedule_run_set(&run, "search", "bo");
        int n_best = 0;
        for (run.task.seed = 0; run.task.seed < 3; run.task.seed++) {
            schedule_run_solve(&run);
            assert_true(run.result.n_evaluation <= 50);
            assert_true((double)run.result.schedule.latency_cycle <= 1.005 * (double)all);
            n_best += run.result.schedule.latency_cycle == all;
        }
        assert_true(n_best >= 2);
        schedule_run_set(&run, "schedule", "perturb");
        schedule_run_solve(&run);
        assert_true(run.result.schedule.latency_cycle * 1000 <= all * 1005);
        assert_true(run.result.schedule.bound_latency_ratio >= 1);
        assert_true(run.result.schedule.latency_cycle >= own_of(&run).critical_path_cycle);
        schedule_run_close(&run);
    }
}

static void test_a_fixed_partition(void **state)
{
    struct schedule_run run;
    (void)state;
    open_on(&run, &engine_klotski, NETWORK("resnet50"), "3x3", "1000 word/cycle");
    schedule_run_set(&run, "partition", "fixed");
    schedule_run_set(&run, "h", "14");
    schedule_run_set(&run, "w", "14");
    schedule_run_set(&run, "ic", "516");
    schedule_run_set(&run, "oc", "140");
    schedule_run_solve(&run);
    assert_int_equal(own_of(&run).n_uop, 649);
    assert_int_equal(own_of(&run).n_edge, 5892);
    assert_non_null(strstr(run.result.schedule.text, "- {layer: fc, h: 1, w: 1, ic: 516, oc: 140}"));
    schedule_run_set(&run, "sums", "reduce");
    schedule_run_solve(&run);
    assert_true(own_of(&run).n_uop > 649);
    run.task.batch = 2;
    schedule_run_solve(&run);
    assert_non_null(strstr(run.result.schedule.text, "conv1/0#1"));
    schedule_run_close(&run);
}

/* Never more cycles than a smaller mesh has on the same partition's bound, and less than a serial run. */
static void test_scores_by_entropy(void **state)
{
    static const char *const score[] = {"entropy", "entropy-mean"};
    (void)state;
    for (size_t i = 0; i < sizeof score / sizeof score[0]; i++) {
        struct schedule_run run;
        open_on(&run, &engine_klotski, NETWORK("vgg16"), "3x3", "1000 word/cycle");
        schedule_run_set(&run, "score", score[i]);
        schedule_run_set(&run, "schedule", "list");
        schedule_run_set(&run, "search", "all");
        schedule_run_solve(&run);
        /* the reference's: 1.276e7 with either, 1.3 % above the shortest */
        assert_true(fabs((double)run.result.schedule.latency_cycle / 1.276e7 - 1) < 1e-3);
        schedule_run_close(&run);
    }
}

static void test_what_cannot_be_is_said(void **state)
{
    struct schedule_run run;
    (void)state;
    open_on(&run, &engine_klotski, NETWORK("vgg16"), "3x3", "128 word/cycle");
    schedule_run_set(&run, "max_uops", "10");
    schedule_run_solve(&run);
    assert_false(run.result.feasible);
    assert_non_null(strstr(run.result.reason, "max_uops = 10"));
    schedule_run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tangram_is_layer_after_layer),
        cmocka_unit_test(test_the_grid),
        cmocka_unit_test(test_the_best_of_the_grid),
        cmocka_unit_test(test_a_fixed_partition),
        cmocka_unit_test(test_scores_by_entropy),
        cmocka_unit_test(test_what_cannot_be_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
