/* Descents on a surrogate: what falls, projections, injections, and the engine around them. The surrogate is
 * a network of one linear layer with chosen weights, so that what it predicts is known.
 * Tests: mm_walk.c, mm_engine.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/mindmappings/mm_walk.h"
#include "tests/support/engine_case.h"
#include "tests/support/mapping_same.h"
#include "tests/support/mm_case.h"

static const uint32_t size[] = {2, 8, 16, 3, 3, 6, 6};
static const struct objective edp = {1, 1};

enum { N_NET = 2 };

/* All outputs are logarithms; energy and cycles of network i are (i ? 1 : -1) times the logarithm of the
 * spatial factors, all else is 0. So network 0 wants as many PEs as there are, the other one as few. */
struct fixture {
    struct mm_case c;
    struct mm_model model;
    struct mm_net net[N_NET];
};

static void begin(struct fixture *f)
{
    struct dse_error err;
    memset(f, 0, sizeof *f);
    mm_case_begin(&f->c, MM_CNN, NULL, 0);
    mm_case_space(&f->c, size, MM_AUTOBYPASS);
    const struct mm_algorithm *cnn = mm_algorithm(MM_CNN);
    struct mm_encoding *encoding = &f->model.encoding;
    *encoding = (struct mm_encoding){.algorithm = cnn, .input = MM_INPUT_LOG2, .output = MM_OUTPUT_LOG};
    for (uint32_t i = 0; i < cnn->n_value; i++)
        encoding->input_deviation[i] = 1;
    for (uint32_t i = 0; i < cnn->n_cost; i++)
        encoding->output_deviation[i] = 1;
    f->model.machine = architecture_hash(&f->c.arch);
    f->model.architecture = "mindmappings_banks";
    f->model.n_net = N_NET;
    f->model.net = f->net;
    for (int n = 0; n < N_NET; n++) {
        const uint32_t width[] = {cnn->n_value, cnn->n_cost};
        struct mlp *mlp = &f->net[n].mlp;
        assert_int_equal(mlp_new(width, 1, &f->c.arena, mlp, &err), DSE_OK);
        for (uint32_t d = 0; d < cnn->n_dim; d++)
            for (uint32_t o = mm_energy_place(cnn); o < cnn->n_cost; o++)
                mlp_weight(mlp, 0)[(cnn->n_dim * (1 + MM_SPATIAL) + d) * cnn->n_cost + o] = n ? 1 : -1;
        assert_int_equal(mlp_freeze(mlp, &f->c.arena, &f->net[n].frozen, &err), DSE_OK);
    }
}

static void end(struct fixture *f)
{
    mm_case_end(&f->c);
}

static struct mm_walk *walk_of(struct fixture *f, int net, const struct mm_walk_options *options,
                               uint64_t seed)
{
    struct mm_walk *walk;
    struct dse_error err;
    assert_int_equal(mm_walk_new(f->c.space, &f->model, &f->net[net], &edp, options,
                                 random_stream_make(seed, 0, RANDOM_TEST), &f->c.arena, &walk, &err),
                     DSE_OK);
    return walk;
}

static double n_pe(const struct mm_mapping *mapping)
{
    double n = 1;
    for (int d = 0; d < 7; d++)
        n *= mapping->factor[MM_SPATIAL][d];
    return n;
}

static const struct mm_walk_options usual = {
    .rate = 0.5, .doubles = true, .injection = 10, .distance = MM_DISTANCE_LOG2, .from_projection = true};

/* Whatever falls, members come out, descents begin where told, and one ends lower than it began: of this
 * problem 256 PEs can be used, and 1. */
static void test_descents_go_down(void **state)
{
    (void)state;
    for (int o = 0; o < 8; o++) {
        struct fixture f;
        struct mm_walk_options options = usual;
        double most = 0, least = 1e9;
        options.outputs = o & 1;
        options.from_projection = o & 2;
        options.distance = o & 4 ? MM_DISTANCE_RAW : MM_DISTANCE_LOG2;
        begin(&f);
        for (int n = 0; n < N_NET; n++) {
            struct mm_walk *walk = walk_of(&f, n, &options, 3);
            double first = 0, predicted, sum = 0;
            for (int i = 0; i < 100; i++) {
                struct mm_mapping at;
                assert_int_equal(mm_walk_next(walk, &at, &predicted), i % 10 == 0);
                assert_true(mm_space_contains(f.c.space, &at, NULL, 0));
                /* by both outputs: 2 log2 of the PEs, however it is weighted */
                assert_true(fabs(predicted - (n ? 2 : -2) * log2(n_pe(&at))) < 1e-5);
                first = i % 10 == 0 ? predicted : first;
                sum += i % 10 == 9 ? predicted - first : 0;
                most = fmax(most, n_pe(&at));
                least = fmin(least, n_pe(&at));
            }
            if (!(sum / 10 < -0.5))
                fail_msg("options %d, network %d: %g", o, n, sum / 10);
        }
        if (options.distance == MM_DISTANCE_LOG2)
            assert_true(most == 256 && least == 1);
        end(&f);
    }
}

/* Without doubling a rate that is too small changes nothing until the next injection. */
static void test_doubling_leaves_the_mapping(void **state)
{
    (void)state;
    for (int doubles = 0; doubles < 2; doubles++) {
        struct fixture f;
        struct mm_walk_options options = usual;
        struct mm_mapping at, before;
        double predicted;
        options.rate = 1e-3;
        options.doubles = doubles;
        begin(&f);
        struct mm_walk *walk = walk_of(&f, 1, &options, 1);
        (void)mm_walk_next(walk, &before, &predicted);
        assert_true(n_pe(&before) > 1);
        (void)mm_walk_next(walk, &at, &predicted);
        assert_int_equal(n_pe(&at) < n_pe(&before), doubles);
        end(&f);
    }
}

/* At the first temperature, 50, an injection that is worse by 2 log2(256) = 16 at most is refused with a
 * chance of 1 - exp(-16 / 50) = 0.27 at most; after 50 coolings of 50 injections each hardly any is taken. */
static void test_injections_are_annealed(void **state)
{
    (void)state;
    struct fixture f;
    struct mm_walk_options options = usual;
    double first = 0, last = 0, predicted;
    int n_refused[2] = {0};
    options.annealed = true;
    options.injection = 2;
    begin(&f);
    struct mm_walk *walk = walk_of(&f, 0, &options, 1);
    for (int i = 0; i < 2 * 50 * 50; i++) {
        struct mm_mapping at;
        bool begins = mm_walk_next(walk, &at, &predicted);
        if (begins && i > 0 && predicted == last)
            n_refused[i >= 50 * 50]++;
        first = begins ? predicted : first;
        last = predicted;
    }
    assert_true(n_refused[0] < n_refused[1] && n_refused[1] > 1000);
    end(&f);
}

static void solve(const struct fixture *f, const struct engine_setting *setting, size_t n, uint64_t limit,
                  struct engine_result *result)
{
    const struct engine_file file = {.id = 7, .content = &f->model};
    const struct engine_task task = {
        .objective = edp, .file = &file, .n_file = 1, .budget = {.max_evaluations = limit}};
    struct dse_error err;
    if (engine_case_solve("mindmappings", setting, n, mm_space_problem(f->c.space), &f->c.arch, task, result,
                          &err) != DSE_OK)
        fail_msg("%s", err.text);
}

/* Every step, the last one, the best predictions: so many prices, never more than the budget. */
static void test_engine_prices_what_it_is_told(void **state)
{
    (void)state;
    static const struct {
        struct engine_setting setting[3];
        uint64_t limit, n_evaluation;
    } row[] = {
        {{{"steps", "300"}}, 0, 300},
        {{{"steps", "300"}}, 41, 41},
        {{{"steps", "300"}, {"evaluate", "last"}}, 0, 1},
        {{{"steps", "300"}, {"evaluate", "best"}, {"best", "25"}}, 0, 25},
        {{{"steps", "300"}, {"evaluate", "best"}, {"best", "25"}}, 3, 3},
        {{{"steps", "7"}, {"evaluate", "best"}, {"best", "25"}}, 0, 7},
        {{{"steps", "300"}, {"preset", "paper"}}, 0, 300},
        {{{"steps", "300"}, {"preset", "code"}}, 0, 300},
    };
    struct fixture f;
    begin(&f);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct engine_result r, again;
        size_t n = 0;
        while (n < 3 && row[i].setting[n].name)
            n++;
        solve(&f, row[i].setting, n, row[i].limit, &r);
        solve(&f, row[i].setting, n, row[i].limit, &again);
        assert_true(r.feasible);
        assert_int_equal(r.n_evaluation, row[i].n_evaluation);
        assert_true(r.cost == again.cost && mapping_same(&r.mapping, &again.mapping));
    }
    end(&f);
}

/* The network of the lowest trial, or that of a number: 64 PEs or more are used by one, few by the other. */
static void test_engine_chooses_a_network(void **state)
{
    (void)state;
    static const char *const number[] = {"0", "1", "2"};
    for (int best = 0; best < N_NET; best++)
        for (int k = 0; k < 3; k++) {
            struct fixture f;
            struct engine_result r;
            struct mm_mapping vector;
            const struct engine_setting setting[] = {
                {"steps", "9"}, {"evaluate", "last"}, {"network", number[k]}};
            begin(&f);
            f.net[best].quality.trial = -1;
            solve(&f, setting, 3, 0, &r);
            assert_true(mm_space_encode(f.c.space, &r.mapping, &vector, NULL, 0));
            assert_int_equal(n_pe(&vector) >= 64, k ? k == 1 : best == 0);
            end(&f);
        }
    struct fixture f;
    struct engine_result r;
    struct dse_error err;
    begin(&f);
    const struct engine_setting third = {"network", "3"};
    const struct engine_file file = {.id = 7, .content = &f.model};
    const struct engine_task task = {.objective = edp, .file = &file, .n_file = 1};
    assert_int_equal(
        engine_case_solve("mindmappings", &third, 1, mm_space_problem(f.c.space), &f.c.arch, task, &r, &err),
        DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "network 3 of a model with 2"));
    end(&f);
}

/* One sentence without a model, and with one for another machine or mode. */
static void test_engine_refuses_models(void **state)
{
    (void)state;
    struct fixture f;
    struct engine_result r;
    struct dse_error err;
    begin(&f);
    const struct problem *problem = mm_space_problem(f.c.space);
    const struct engine_file file = {.id = 7, .content = &f.model};
    struct engine_task task = {.objective = edp};
    assert_int_equal(engine_case_solve("mindmappings", NULL, 0, problem, &f.c.arch, task, &r, &err),
                     DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "dse train"));
    task.file = &file;
    task.n_file = 1;
    f.model.machine++;
    assert_int_equal(engine_case_solve("mindmappings", NULL, 0, problem, &f.c.arch, task, &r, &err),
                     DSE_BAD_INPUT);
    f.model.machine--;
    const struct engine_setting mustfit = {"mode", "mustfit"};
    assert_int_equal(engine_case_solve("mindmappings", &mustfit, 1, problem, &f.c.arch, task, &r, &err),
                     DSE_BAD_INPUT);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descents_go_down),         cmocka_unit_test(test_doubling_leaves_the_mapping),
        cmocka_unit_test(test_injections_are_annealed),  cmocka_unit_test(test_engine_prices_what_it_is_told),
        cmocka_unit_test(test_engine_chooses_a_network), cmocka_unit_test(test_engine_refuses_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
