/* The queue and the windows of a sweep: which points, in which order, with which searches shared. Expected
 * numbers are counted by hand from the specification.
 * Tests: queue.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "dse/run/plan.h"
#include "tests/support/sweep_case.h"

/* 3 buffers x 2 batches x 2 seeds, two layers each. */
#define SWEEP                                                                                                \
    "experiment: plan\narchitecture: simba\nnetwork: resnet50\nlayers: [conv2_0_a, conv2_0_b]\nengine: "     \
    "random\n"                                                                                               \
    "options: {search_size: 1}\naxes:\n  GlobalBuffer.capacity: [64 KiB, 128 KiB, 256 KiB]\n"                \
    "  batch: [1, 2]\n  seed: [1, 2]\n"

static struct sweep_case *open_sweep(const char *text)
{
    struct dse_error err = {0};
    struct sweep_case *opened = sweep_case_open(text, NULL, 0, &err);
    if (!opened)
        fail_msg("%s", err.text);
    return opened;
}

static void all_points(const struct sweep *sweep, struct bits *mine, struct bits *done)
{
    assert_true(bits_init(mine, sweep->n_point) && bits_init(done, sweep->n_point));
    for (size_t p = 0; p < sweep->n_point; p++)
        bits_set(mine, p);
}

static void test_queue_leaves_out_what_is_done_and_sorts_by_expectation(void **state)
{
    struct sweep_case *opened = open_sweep(SWEEP);
    struct bits mine, done;
    struct queue queue;
    const struct queue_entry *entry;
    struct search_time *time;
    struct dse_error err;
    (void)state;
    all_points(&opened->sweep, &mine, &done);
    bits_set(&done, 5);
    assert_int_equal(queue_init(&queue, &opened->sweep, &mine, &done, &err), DSE_OK);
    assert_int_equal(queue.n, 11);
    assert_int_equal(search_time_new(&opened->sweep, &time, &err), DSE_OK);
    for (uint32_t i = 0; i < 20; i++) { /* batch 2 takes ten times as long, nothing else matters */
        search_time_learn(time, (uint32_t[]){i % 3, 0, i % 2}, i % 2, 0.1);
        search_time_learn(time, (uint32_t[]){i % 3, 1, i % 2}, i % 2, 1);
    }
    queue_sort(&queue, time);
    search_time_free(time);
    /* two searches a point: a window of five uses has two points; all of batch 2 come before those of batch
     * 1 */
    assert_int_equal(queue_take(&queue, 5, &entry), 2);
    assert_int_equal(entry[0].point / 2 % 2, 1);
    assert_int_equal(entry[1].point / 2 % 2, 1);
    assert_int_equal(queue_take(&queue, 1000, &entry), 9);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(entry[i].point / 2 % 2, i < 4);
    assert_int_equal(queue_take(&queue, 1000, &entry), 0);
    queue_free(&queue);
    bits_free(&mine);
    bits_free(&done);
    sweep_case_close(opened);
}

static void test_a_window_has_at_least_one_point(void **state)
{
    struct sweep_case *opened = open_sweep(SWEEP);
    struct bits mine, done;
    struct queue queue;
    const struct queue_entry *entry;
    struct dse_error err;
    (void)state;
    all_points(&opened->sweep, &mine, &done);
    assert_int_equal(queue_init(&queue, &opened->sweep, &mine, &done, &err), DSE_OK);
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(queue_take(&queue, 0, &entry), 1);
    assert_int_equal(queue_take(&queue, 0, &entry), 0);
    queue_free(&queue);
    bits_free(&mine);
    bits_free(&done);
    sweep_case_close(opened);
}

/* Both networks have these layers, with the same loop nests. */
#define TWICE                                                                                                \
    "experiment: plan\narchitecture: simba\nlayers: [conv2_0_a, conv2_0_b]\nengine: random\n"                \
    "options: {search_size: 1}\naxes:\n  network: [resnet50, resnet101]\n  seed: [1, 2]\n"

static struct plan *plan_all(const struct sweep *sweep)
{
    struct queue_entry *entry = calloc(sweep->n_point, sizeof *entry);
    struct machine machine;
    struct plan *plan;
    struct dse_error err;
    machine_init(&machine, sweep);
    assert_non_null(entry);
    for (uint32_t p = 0; p < sweep->n_point; p++)
        entry[p] = (struct queue_entry){p, (float)p};
    assert_int_equal(plan_new(sweep, entry, sweep->n_point, &machine, &plan, &err), DSE_OK);
    free(entry);
    return plan;
}

static void test_equal_searches_of_a_window_are_shared(void **state)
{
    struct sweep_case *opened = open_sweep(TWICE);
    struct plan *plan = plan_all(&opened->sweep);
    (void)state;
    assert_int_equal(plan->n_link, 8); /* four points of two layers */
    assert_int_equal(plan->n_task, 4);
    for (size_t t = 0; t < plan->n_task; t++)
        assert_int_equal(plan->task[t].n_user, 2);
    /* a result lives until its last point is written */
    for (size_t t = 0; t < plan->n_task; t++)
        plan->task[t].result = calloc(1, sizeof *plan->task[t].result);
    plan_release(plan, &plan->point[0]);
    plan_release(plan, &plan->point[1]);
    for (size_t t = 0; t < plan->n_task; t++)
        assert_non_null(plan->task[t].result);
    plan_release(plan, &plan->point[2]);
    plan_release(plan, &plan->point[3]);
    for (size_t t = 0; t < plan->n_task; t++)
        assert_null(plan->task[t].result);
    plan_free(plan);
    sweep_case_close(opened);
}

static void test_dear_points_come_first_and_their_searches_stay_together(void **state)
{
    struct sweep_case *opened = open_sweep(SWEEP);
    struct plan *plan = plan_all(&opened->sweep);
    (void)state;
    assert_int_equal(plan->n_task, 24);
    for (size_t i = 0; i < plan->n_task; i++) {
        const struct plan_task *task = &plan->task[plan->order[i]];
        assert_int_equal(plan->point[task->point].number, 11 - i / 2);
        assert_int_equal(task->problem, i % 2);
    }
    /* what is handed out stays as it is when the rest is sorted anew, and its point is finished first */
    uint32_t first = plan->order[0];
    plan->next = 1;
    for (size_t i = 0; i < plan->n_point; i++)
        plan->point[i].expected_s = -plan->point[i].expected_s;
    plan_sort(plan);
    assert_int_equal(plan->order[0], first);
    assert_int_equal(plan->point[plan->task[plan->order[1]].point].number, 11);
    assert_int_equal(plan->task[plan->order[1]].problem, 1);
    assert_int_equal(plan->point[plan->task[plan->order[2]].point].number, 0);
    assert_int_equal(plan->point[plan->task[plan->order[23]].point].number, 10);
    plan_free(plan);
    sweep_case_close(opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_leaves_out_what_is_done_and_sorts_by_expectation),
        cmocka_unit_test(test_a_window_has_at_least_one_point),
        cmocka_unit_test(test_equal_searches_of_a_window_are_shared),
        cmocka_unit_test(test_dear_points_come_first_and_their_searches_stay_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
