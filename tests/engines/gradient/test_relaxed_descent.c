/* Descents keep every bound and every fixed factor, lower the cost, and end nearly where tiles fit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/gradient/relaxed_descent.h"
#include "tests/support/conv4_case.h"

struct descent_case {
    struct conv4_case conv4;
    struct mapspace_constraints constraints;
    const struct mapspace *space;
    struct relaxed *model;
    struct mapping choice;
};

static void setup(struct descent_case *c)
{
    struct dse_error err;
    const struct objective edp = {1, 1};
    assert_int_equal(conv4_case_init(&c->conv4, "experiments/architectures/mindmappings.yaml", false, &err),
                     DSE_OK);
    mapspace_constraints_init(&c->constraints, &c->conv4.problem, &c->conv4.arch);
    int d = problem_find_dim(&c->conv4.problem, "C"), l = architecture_find_level(&c->conv4.arch, "DRAM");
    assert_true(d >= 0 && l >= 0);
    c->constraints.level[l].temporal.fixed[d] = 4;
    assert_int_equal(mapspace_new(&c->conv4.problem, &c->conv4.arch, &c->constraints, false, &c->conv4.arena,
                                  &c->space, &err),
                     DSE_OK);
    assert_int_equal(
        relaxed_new(&c->conv4.problem, &c->conv4.arch, c->space, &edp, &c->conv4.arena, &c->model, &err),
        DSE_OK);
    mapping_init(&c->choice, &c->conv4.problem, &c->conv4.arch);
    relaxed_choose(c->model, &c->choice);
}

static double descend(struct descent_case *c, uint32_t steps, uint64_t seed, relaxed_factors factor)
{
    const struct relaxed_schedule schedule = {steps, 0.3};
    const struct relaxed_terms terms = {.sharpness = 3, .penalty = 1};
    struct random_stream stream = random_stream_make(seed, 5, RANDOM_TEST);
    relaxed_descend(c->model, &c->conv4.problem, &schedule, &stream, factor);
    return relaxed_value(c->model, factor, &terms, NULL);
}

static void test_products_are_the_bounds(void **state)
{
    (void)state;
    struct descent_case c;
    relaxed_factors factor;
    uint32_t n;
    setup(&c);
    const struct mapspace_place *place = relaxed_places(c.model, &n);
    for (uint32_t steps = 1; steps < 100; steps += 33) {
        (void)descend(&c, steps, steps, factor);
        for (uint32_t d = 0; d < c.conv4.problem.n_dim; d++) {
            double sum = 0;
            for (uint32_t s = 0; s < n; s++) {
                sum += factor[s][d];
                assert_true(factor[s][d] >= 0);
                if (!(place[s].open >> d & 1u))
                    assert_true(factor[s][d] == log(place[s].fixed[d]));
            }
            assert_true(fabs(sum - log(c.conv4.problem.bound[d])) < 1e-12);
        }
    }
    conv4_case_free(&c.conv4);
}

/* 80 steps against 1, from the same points. */
static void test_descents_go_down(void **state)
{
    (void)state;
    struct descent_case c;
    relaxed_factors factor;
    double gained = 0;
    setup(&c);
    for (uint64_t seed = 0; seed < 20; seed++) {
        double before = descend(&c, 1, seed, factor), after = descend(&c, 80, seed, factor);
        assert_true(after < before);
        gained += (before - after) / 20;
    }
    assert_true(gained > 1); /* a factor of e in energy-delay product and penalties */
    conv4_case_free(&c.conv4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_are_the_bounds),
        cmocka_unit_test(test_descents_go_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
