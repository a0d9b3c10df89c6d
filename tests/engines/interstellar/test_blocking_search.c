/* Limits end a search in the middle of a step: an early answer, nothing claimed, and no space too large to be
 * held. Tests: blocking_limits.c, blocking_search.c, blocking_walk.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "costmodel/readers/readers.h"
#include "engines/interstellar/blocking_search.h"
#include "tests/support/interstellar_case.h"

struct fixture {
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct blocking_space space;
    struct blocking_search search;
};

/* Bounds as of interstellar_layer: B K C X Y FX FY stride. */
static const uint32_t vgg_conv1_2[8] = {7, 64, 64, 224, 224, 3, 3, 1},
                      many_factors[8] = {16, 2520, 2520, 1260, 1260, 3, 3, 1};

static void setup_padded(struct fixture *f, const char *path, const uint32_t *bound, double pad,
                         struct blocking_limits *limits)
{
    struct dse_error err;
    struct yaml_doc doc;
    memset(f, 0, sizeof *f);
    arena_init(&f->arena);
    interstellar_layer(bound, &f->problem);
    if (yaml_read(&doc, path, &err) != DSE_OK || architecture_build(&doc, NULL, 0, &f->arch, &err) != DSE_OK)
        fail_msg("%s", err.text);
    yaml_doc_free(&doc);
    const struct blocking_settings settings = {.rule = REUSE_SANE,
                                               .pad = pad,
                                               .array = {.any = true, .replication = true, .loops = 2},
                                               .limits = limits};
    if (blocking_space_build(&f->problem, &f->arch, NULL, &settings, &f->arena, &f->space, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void setup(struct fixture *f, const char *path, const uint32_t *bound)
{
    setup_padded(f, path, bound, 1, NULL);
}

static void teardown(struct fixture *f)
{
    blocking_search_free(&f->search);
    blocking_space_free(&f->space);
    arena_free(&f->arena);
}

/* One step of this proof takes a hundred million tries by itself. In a hurry it takes what it finds first. */
static void test_limit_in_a_step_of_a_proof(void **state)
{
    (void)state;
    struct fixture f;
    struct dse_error err;
    setup(&f, "experiments/architectures/mindmappings.yaml", vgg_conv1_2);
    assert_int_equal(blocking_prove(&f.space, &f.search, &err), DSE_OK);
    const double bound_j = f.search.bound_j;
    const uint32_t before = f.search.n_look;
    f.search.limits.hurry_at_s = 1e-9; /* long ago */
    assert_int_equal(blocking_search_step(&f.search, &err), DSE_OK);
    assert_true(f.search.over);
    assert_false(f.search.done);
    assert_in_range(f.search.n_look - before, 1, 400000);
    assert_true(f.search.found && f.search.best_j >= f.search.bound_j && f.search.bound_j == bound_j);
    assert_int_equal(blocking_search_step(&f.search, &err), DSE_OK);
    assert_false(f.search.done);
    teardown(&f);
}

/* Nothing has been found: where time is over, or there is an answer, no more than a few looks are taken. The
 * first answer of this proof takes 140,000. */
static void test_proof_without_an_answer_ends_with_its_time(void **state)
{
    (void)state;
    const struct blocking_limits met[] = {{.stop_at_s = 1e-9}, {.hurry_at_s = 1e-9, .stop_at_s = 1e-9}};
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        struct dse_error err;
        const atomic_int cancel = 1;
        setup(&f, "experiments/architectures/tpu_128x128.yaml", vgg_conv1_2);
        assert_int_equal(blocking_prove(&f.space, &f.search, &err), DSE_OK);
        const uint32_t before = f.search.n_look;
        f.search.limits = i < 2 ? met[i] : (struct blocking_limits){.cancel = &cancel, .answered = true};
        assert_int_equal(blocking_search_step(&f.search, &err), DSE_OK);
        assert_true(f.search.over && !f.search.done && !f.search.found);
        assert_in_range(f.search.n_look - before, 1, 1000);
        teardown(&f);
    }
}

static void test_cancel_while_blockings_are_listed(void **state)
{
    (void)state;
    struct fixture f;
    struct dse_error err;
    const atomic_int cancel = 1;
    setup(&f, "experiments/architectures/simba.yaml", many_factors);
    f.search.limits.cancel = &cancel;
    assert_int_equal(blocking_prove(&f.space, &f.search, &err), DSE_OK);
    assert_true(f.search.over && !f.search.done);
    assert_int_equal(blocking_search_step(&f.search, &err), DSE_OK);
    assert_false(f.search.done);
    blocking_search_free(&f.search);
    f.search = (struct blocking_search){.limits = {.cancel = &cancel}};
    assert_int_equal(blocking_enumerate(&f.space, &f.search, &err), DSE_OK);
    assert_int_equal(blocking_search_step(&f.search, &err), DSE_OK);
    assert_true(f.search.over && !f.search.done);
    teardown(&f);
}

/* With bounds of up to twice the loops' there are hundreds of thousands of choices for the array. */
static void test_limits_end_the_listing_of_a_space(void **state)
{
    (void)state;
    struct fixture f;
    const atomic_int cancel = 1;
    struct blocking_limits met[] = {{.stop_at_s = 1e-9}, {.cancel = &cancel}},
                           far = {.stop_at_s = clock_wall_s() + 1e6};
    for (int i = 0; i < 2; i++) {
        setup_padded(&f, "experiments/architectures/simba.yaml", vgg_conv1_2, 2, &met[i]);
        assert_true(met[i].over);
        for (uint32_t v = 0; v < f.space.model.n_level; v++)
            assert_in_range(f.space.array[v].list.n, 0, 1);
        teardown(&f);
    }
    setup_padded(&f, "experiments/architectures/simba.yaml", vgg_conv1_2, 1.05, &far);
    assert_false(far.over);
    assert_true(f.space.array[4].list.n > 100);
    teardown(&f);
}

static void test_space_too_large_to_hold(void **state)
{
    (void)state;
    struct fixture f;
    struct dse_error err;
    setup(&f, "experiments/architectures/simba.yaml", many_factors);
    assert_int_equal(blocking_prove(&f.space, &f.search, &err), DSE_LIMIT);
    assert_non_null(strstr(err.text, "too large for engine interstellar"));
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_in_a_step_of_a_proof),
        cmocka_unit_test(test_proof_without_an_answer_ends_with_its_time),
        cmocka_unit_test(test_cancel_while_blockings_are_listed),
        cmocka_unit_test(test_limits_end_the_listing_of_a_space),
        cmocka_unit_test(test_space_too_large_to_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
