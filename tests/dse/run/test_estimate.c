/* What --dry-run says. Points, searches and bytes are worked out by hand from the specification; how long
 * searches take is not looked at, only whether it is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "dse/run/runner.h"
#include "tests/support/sweep_case.h"

/* 2 buffers x 2 seeds, two layers each: 8 searches. */
#define HEAD "experiment: e\narchitecture: simba\nnetwork: resnet50\nlayers: [conv2_0_a, conv2_0_b]\n"
#define AXES "axes:\n  GlobalBuffer.capacity: [64 KiB, 128 KiB]\n  seed: [1, 2]\n"
#define SWEEP HEAD "engine: random\noptions: {search_size: 1}\nlimits: {max_evaluations: 20}\n" AXES
#define OTHER HEAD "engine: random\noptions: {search_size: 1}\nlimits: {max_evaluations: 21}\n" AXES

static char folder[512], out[600];

static int make_folder(void **state)
{
    const char *base = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof folder, "%s/dse-estimate-XXXXXX", base && base[0] ? base : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    snprintf(out, sizeof out, "%s/o.h5", folder);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const ending[] = {"h5", "csv", "layers.csv"};
    char path[600];
    (void)state;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        snprintf(path, sizeof path, "%s/o.%s", folder, ending[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static struct sweep_case *open_sweep(const char *text)
{
    struct dse_error err = {0};
    struct sweep_case *o = sweep_case_open(text, NULL, 0, &err);
    if (!o)
        fail_msg("%s", err.text);
    return o;
}

static struct run_estimate estimate(const char *text, struct run_options options)
{
    struct sweep_case *o = open_sweep(text);
    struct run_estimate e;
    struct dse_error err = {0};
    options.out = out;
    options.n_thread = 1;
    if (runner_estimate(&o->sweep, &options, &e, &err) != DSE_OK)
        fail_msg("%s", err.text);
    sweep_case_close(o);
    return e;
}

/* A row of a point takes 600 bytes and one of a layer 2200; the cube half as much again: 4 x 1.5 x 5000. */
static void test_a_new_sweep_is_all_to_do(void **state)
{
    struct run_estimate e = estimate(SWEEP, (struct run_options){0});
    (void)state;
    assert_int_equal(e.n_point, 4);
    assert_int_equal(e.n_reused, 0);
    assert_int_equal(e.n_foreign, 0);
    assert_int_equal(e.n_task, 8);
    assert_int_equal(e.n_shared, 0);
    assert_true(e.seconds > 0 && !e.at_least);
    assert_true(e.byte == 30000);
    assert_int_not_equal(access(out, F_OK), 0); /* nothing was written */
}

static void test_shards_have_their_points(void **state)
{
    struct run_estimate one = estimate(SWEEP, (struct run_options){.shard = 1, .n_shard = 2}),
                        two = estimate(SWEEP, (struct run_options){.shard = 2, .n_shard = 2});
    (void)state;
    assert_int_equal(one.n_point + two.n_point, 4);
    assert_int_equal(one.n_task + two.n_task, 8);
    assert_true(one.byte + two.byte == 30000);
}

/* An engine that may hang or crash is not tried: the time is a lower limit. */
static void test_untrusted_engines_are_not_tried(void **state)
{
    struct run_estimate e =
        estimate(HEAD "engine: drill\noptions: {fault: abort}\n", (struct run_options){0});
    (void)state;
    assert_int_equal(e.n_point, 1);
    assert_int_equal(e.n_task, 2);
    assert_true(e.at_least);
}

/* After a run of the first shard (2 points). Another limit makes other points of the same cells. */
static void test_finished_points_are_reused(void **state)
{
    char *messages = NULL;
    size_t size;
    struct sweep_case *o = open_sweep(SWEEP);
    struct run_summary summary;
    struct dse_error err = {0};
    FILE *stream = open_memstream(&messages, &size);
    (void)state;
    assert_non_null(stream);
    const struct run_options options = {
        .out = out, .n_thread = 1, .shard = 1, .n_shard = 2, .command = "", .err = stream};
    if (runner_run(&o->sweep, &options, &summary, &err) != DSE_OK)
        fail_msg("%s", err.text);
    size_t n = summary.n_point;
    sweep_case_close(o);
    assert_int_equal(fclose(stream), 0);
    free(messages);
    assert_true(n > 0 && n < 4);
    struct run_estimate e = estimate(SWEEP, (struct run_options){0});
    assert_int_equal(e.n_point, 4);
    assert_int_equal(e.n_reused, n);
    assert_int_equal(e.n_task, 2 * (4 - n));
    e = estimate(SWEEP, (struct run_options){.shard = 1, .n_shard = 2});
    assert_true(e.n_reused == n && e.n_task == 0 && e.seconds == 0);
    e = estimate(SWEEP, (struct run_options){.fresh = true});
    assert_true(e.n_reused == 0 && e.n_task == 8);
    e = estimate(OTHER, (struct run_options){0});
    assert_true(e.n_foreign == n && e.n_reused == 0 && e.n_task == 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_sweep_is_all_to_do),
        cmocka_unit_test(test_shards_have_their_points),
        cmocka_unit_test(test_untrusted_engines_are_not_tried),
        cmocka_unit_test(test_finished_points_are_reused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
