/* The contract of every scheduler of fused schedules, on a network of six layers and the edge core of SoMa.
 * Nothing here is a known value: an engine is compared with itself (seeds, threads, caches) and with its
 * budget. That what it finds is what it says is for the driver, which reads every answer back.
 * Tests: driver_context.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "costmodel/fused/core_cache.h"
#include "costmodel/readers/readers.h"
#include "engines/soma/soma_metrics.h"
#include "tests/support/schedule_run.h"

enum { SMALL_BUDGET = 300, BUDGET = 3000 };

struct how {
    uint64_t seed;
    uint64_t max_evaluations;
    double max_seconds;
    const atomic_int *cancel;
    struct core_cache *cache;
    int n_thread;
    uint32_t batch;
    bool compat;
};

static void solve(struct schedule_run *m, const struct engine *engine, const struct how *how,
                  struct engine_result *result)
{
    struct dse_error err = {0};
    struct engine_task task = m->task;
    schedule_run_set(m, "compat", how->compat ? "true" : "false");
    task.batch = how->batch ? how->batch : 1;
    task.seed = how->seed;
    task.key = 5;
    task.budget = (struct engine_budget){how->max_evaluations, how->max_seconds, how->cancel};
    task.core_cache = how->cache;
    task.n_thread = how->n_thread;
    if (engine_solve(engine, &task, &m->arena, result, &err) != DSE_OK)
        fail_msg("%s: %s", engine->name, err.text);
}

static void assert_same(const struct engine *engine, const struct engine_result *a,
                        const struct engine_result *b)
{
    if (a->feasible != b->feasible || a->stop != b->stop || a->n_evaluation != b->n_evaluation ||
        a->n_trace != b->n_trace || a->cost < b->cost || a->cost > b->cost || a->bound < b->bound ||
        a->bound > b->bound)
        fail_msg("%s: two runs differ: %s after %llu and %s after %llu evaluations, cost %.17g and %.17g",
                 engine->name, engine_stop_text(a->stop), (unsigned long long)a->n_evaluation,
                 engine_stop_text(b->stop), (unsigned long long)b->n_evaluation, a->cost, b->cost);
    if (a->feasible)
        assert_string_equal(a->schedule.text, b->schedule.text);
}

static void for_each_scheduler(void (*check)(struct schedule_run *m, const struct engine *engine),
                               const char *capacity)
{
    size_t n, n_checked = 0;
    const struct engine *const *all = engine_all(&n);
    for (size_t i = 0; i < n; i++) {
        struct schedule_run m;
        if (all[i]->kind != ENGINE_SCHEDULER || all[i]->group != &soma_group)
            continue;
        schedule_run_open(&m, all[i], "tests/known/soma/tiny6.yaml", capacity);
        check(&m, all[i]);
        schedule_run_close(&m);
        n_checked++;
    }
    assert_true(n_checked > 0);
}

static void check_numbers(struct schedule_run *m, const struct engine *engine)
{
    for (uint32_t batch = 1; batch <= 4; batch += 3)
        for (int compat = 0; compat < 2; compat++) {
            struct engine_result r;
            const struct how how = {.max_evaluations = BUDGET, .batch = batch, .compat = compat};
            solve(m, engine, &how, &r);
            const struct engine_schedule *s = &r.schedule;
            const struct soma_metrics own = soma_metrics_get(s);
            if (!r.feasible)
                fail_msg("%s: batch %u: %s", engine->name, batch, r.reason);
            assert_true(r.cost >= r.bound * (1 - 1e-12));
            assert_true(r.n_evaluation <= BUDGET && r.n_draw >= r.n_evaluation && r.n_trace > 0);
            assert_true(s->latency_cycle >= own.compute_cycle && s->latency_cycle >= own.dram_cycle);
            assert_true(s->latency_cycle >= own.compute_cycle + own.stall_cycle);
            assert_true(own.buffer_max_byte <= 4 * 1024 * 1024 &&
                        own.buffer_average_byte <= own.buffer_max_byte);
            assert_true(own.buffer_average_compute_byte > 0 &&
                        own.buffer_average_compute_byte <= own.buffer_max_byte);
            assert_true(s->utilization > 0 && s->utilization <= 1);
            assert_true(s->n_mac == network_macs(&m->network, batch));
            assert_true(own.n_layer_group >= 1 && own.n_layer_group <= own.n_fine_group);
            assert_true(own.n_fine_group <= m->network.n_layer && own.n_tile >= m->network.n_layer);
            assert_true(own.stage1_latency_cycle == METRIC_U64_MISSING ||
                        own.stage1_latency_cycle >= s->latency_cycle || own.stage1_energy_j >= s->energy_j);
            double sum = s->energy_mac_j + s->energy_buffer_j + s->energy_noc_j + s->energy_dram_j;
            assert_true(sum <= s->energy_j * (1 + 1e-9) && sum >= s->energy_j * (1 - 1e-9));
        }
}

static void test_schedulers_find_schedules_that_add_up(void **state)
{
    (void)state;
    for_each_scheduler(check_numbers, "4 MiB");
}

/* Whatever the cache holds and however many threads there are. */
static void check_repeats(struct schedule_run *m, const struct engine *engine)
{
    struct core_cache *cache;
    struct engine_result first, again;
    struct dse_error err;
    assert_int_equal(core_cache_new(1 << 14, &cache, &err), DSE_OK);
    for (uint64_t seed = 0; seed < 2; seed++) {
        const struct how alone = {.seed = seed, .max_evaluations = BUDGET, .n_thread = 1};
        const struct how together = {.seed = seed, .max_evaluations = BUDGET, .n_thread = 3, .cache = cache};
        solve(m, engine, &alone, &first);
        for (int i = 0; i < 2; i++) {
            solve(m, engine, &together, &again);
            assert_same(engine, &first, &again);
        }
    }
    core_cache_free(cache);
}

static void test_schedulers_repeat_for_any_threads_and_cache(void **state)
{
    (void)state;
    for_each_scheduler(check_repeats, "4 MiB");
}

/* One evaluation is the least; what `finish` offers counts. */
static void check_budget(struct schedule_run *m, const struct engine *engine)
{
    static const uint64_t budget[] = {1, 7, SMALL_BUDGET};
    struct engine_result r;
    for (size_t i = 0; i < sizeof budget / sizeof budget[0]; i++) {
        const struct how how = {.max_evaluations = budget[i]};
        solve(m, engine, &how, &r);
        if (r.n_evaluation > budget[i])
            fail_msg("%s: %llu evaluations of %llu", engine->name, (unsigned long long)r.n_evaluation,
                     (unsigned long long)budget[i]);
        if (!r.feasible)
            assert_true(strlen(r.reason) > 10);
    }
    assert_true(r.feasible);
}

static void test_schedulers_keep_the_budget(void **state)
{
    (void)state;
    for_each_scheduler(check_budget, "4 MiB");
}

static void check_cancel(struct schedule_run *m, const struct engine *engine)
{
    struct engine_result r;
    atomic_int cancel = 1;
    const struct how how = {.cancel = &cancel};
    double start_s = clock_wall_s();
    solve(m, engine, &how, &r);
    assert_int_equal(r.stop, STOP_INTERRUPTED);
    const struct how late = {.max_seconds = 1e-9};
    solve(m, engine, &late, &r);
    assert_int_equal(r.stop, STOP_MAX_SECONDS);
    assert_true(clock_wall_s() - start_s < 10);
}

static void test_schedulers_end_when_told(void **state)
{
    (void)state;
    for_each_scheduler(check_cancel, "4 MiB");
}

/* The largest weights alone are more than 1 KiB, and by the published rules layers stay whole. */
static void check_infeasible(struct schedule_run *m, const struct engine *engine)
{
    struct engine_result r;
    const struct how how = {.max_evaluations = BUDGET, .compat = true};
    solve(m, engine, &how, &r);
    assert_false(r.feasible);
    if (!strstr(r.reason, "layer") || !strstr(r.reason, "the global buffer has 1,024"))
        fail_msg("%s: the reason does not say what does not fit: %s", engine->name, r.reason);
}

static void test_schedulers_say_what_does_not_fit(void **state)
{
    (void)state;
    for_each_scheduler(check_infeasible, "1 KiB");
}

static void check_refuses(struct schedule_run *m, const struct engine *engine)
{
    struct yaml_doc doc;
    struct engine_result r;
    struct dse_error err = {0};
    assert_int_equal(yaml_read(&doc, "experiments/architectures/simba.yaml", &err), DSE_OK);
    struct architecture simba;
    assert_int_equal(architecture_build(&doc, NULL, 0, &simba, &err), DSE_OK);
    yaml_doc_free(&doc);
    struct engine_task task = m->task;
    task.architecture = &simba;
    schedule_run_set(m, "core", "array");
    assert_int_equal(engine_solve(engine, &task, &m->arena, &r, &err), DSE_BAD_INPUT);
    assert_true(strlen(err.text) > 10);
}

/* Simba is no machine of the built-in core array. */
static void test_schedulers_refuse_another_machine(void **state)
{
    (void)state;
    for_each_scheduler(check_refuses, "4 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedulers_find_schedules_that_add_up),
        cmocka_unit_test(test_schedulers_repeat_for_any_threads_and_cache),
        cmocka_unit_test(test_schedulers_keep_the_budget),
        cmocka_unit_test(test_schedulers_end_when_told),
        cmocka_unit_test(test_schedulers_say_what_does_not_fit),
        cmocka_unit_test(test_schedulers_refuse_another_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
