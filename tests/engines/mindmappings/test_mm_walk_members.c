/* Walks on a surrogate: down the prediction where it can be followed, through members only, the problem as it
 * is. Tests: mm_walk.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/mindmappings/mm_walk.h"
#include "tests/support/mm_case.h"
#include "tests/support/mm_model_case.h"

static const uint32_t size[] = {4, 32, 64, 3, 3, 28, 28};
static const struct objective edp = {.energy_exponent = 1, .delay_exponent = 1};

static struct mm_case cnn;
static const struct mm_space *space;
static struct mm_model model;
static struct arena arena;

static int set_up(void **unused)
{
    (void)unused;
    arena_init(&arena);
    mm_case_begin(&cnn, MM_CNN, NULL, 0);
    space = mm_case_space(&cnn, size, MM_AUTOBYPASS);
    mm_model_case(&cnn.machine, MM_AUTOBYPASS, &arena, &model);
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    mm_case_end(&cnn);
    arena_free(&arena);
    return 0;
}

static struct mm_walk *start(bool from_projection, uint32_t injection)
{
    const struct mm_walk_options options = {.rate = 2,
                                            .doubles = true,
                                            .injection = injection,
                                            .distance = MM_DISTANCE_LOG2,
                                            .from_projection = from_projection,
                                            .outputs = true};
    struct mm_walk *walk;
    assert_int_equal(mm_walk_new(space, &model, &model.net[0], &edp, &options,
                                 random_stream_make(1, 7, RANDOM_TEST), &arena, &walk, NULL),
                     DSE_OK);
    return walk;
}

/* Whether two mappings are the same vectors from value `from` on. */
static bool same_from(const struct mm_mapping *a, const struct mm_mapping *b, uint32_t from)
{
    double x[MM_VALUE_MAX], y[MM_VALUE_MAX];
    mm_space_vector(space, a, x);
    mm_space_vector(space, b, y);
    return memcmp(x + from, y + from, (62 - from) * sizeof *x) == 0;
}

/* A network that only looks at one factor: the more K there is in the private block, the lower output 0. */
static void look_at_one_factor(void)
{
    struct mlp *mlp = &model.net[0].mlp;
    memset(mlp->parameter, 0, mlp->n_parameter * sizeof(float));
    enum { INPUT = 7 + 3 * 7 + 2 };
    mlp_weight(mlp, 0)[INPUT * mlp->width[1]] = -1;
    mlp_bias(mlp, 0)[0] = 1000; /* never behind the kink */
    mlp_weight(mlp, 1)[0] = 1;
    assert_int_equal(mlp_freeze(mlp, &arena, &model.net[0].frozen, NULL), DSE_OK);
}

static void test_it_goes_where_the_network_points(void **unused)
{
    (void)unused;
    struct mm_mapping first, mapping;
    double before, predicted;
    look_at_one_factor();
    struct mm_walk *walk = start(true, 1000);
    assert_true(mm_walk_next(walk, &first, &before));
    for (int i = 0; i < 20; i++, before = predicted) {
        (void)mm_walk_next(walk, &mapping, &predicted);
        assert_true(mm_space_contains(space, &mapping, NULL, 0));
        assert_true(predicted <= before);
    }
    assert_int_equal(mapping.factor[MM_PRIVATE][2], 64);
    assert_true(same_from(&mapping, &first, 35)); /* orders and banks have no reason to move */
    assert_int_equal(mapping.factor[MM_DRAM][5], first.factor[MM_DRAM][5]);
}

static void test_walks_depend_on_nothing_else(void **unused)
{
    (void)unused;
    for (int way = 0; way < 2; way++) {
        struct mm_walk *a = start(way, 10), *b = start(way, 10);
        struct mm_mapping x, y;
        uint32_t n_begun = 0;
        double p, q;
        for (int i = 0; i < 40; i++) {
            bool begins = mm_walk_next(a, &x, &p);
            assert_int_equal(mm_walk_next(b, &y, &q), begins);
            assert_true(p == q && same_from(&x, &y, 0) && mm_space_contains(space, &x, NULL, 0));
            n_begun += begins;
        }
        assert_int_equal(n_begun, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_goes_where_the_network_points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_walks_depend_on_nothing_else, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
