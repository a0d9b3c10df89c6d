/* libdse as a program uses it. Prices must be those of the evaluator, draws those of the sampler, searches
 * those of the solver, which have tests of their own; shapes are those of the shipped files, said here again.
 * Tests: library_open.c, library_layer.c, library_mapping.c, library_map.c. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "costmodel/readers/readers.h"
#include "dse/library/library.h"
#include "dse/solve/sample.h"
#include "dse/solve/solve.h"
#include "tests/dse/library/library_fixture.h"

enum { N_DRAW = 200 };

static void test_metrics_have_names_and_units(void **state)
{
    (void)state;
    const char *unit, *sentence;
    int better;
    assert_string_equal(dse_metric(library_metric("edp_js"), &unit, &sentence, &better), "edp_js");
    assert_string_equal(unit, "J s");
    assert_string_equal(sentence, "Energy-delay product");
    assert_int_equal(better, -1);
    assert_null(dse_metric(1000, NULL, NULL, NULL));
    assert_int_equal(strchr(dse_version(), '.') != NULL, 1);
}

/* conv1 of ResNet-50 (He et al., 2016, table 1): 64 filters of 7 x 7 x 3, 112 x 112 results. Simba has 16 PEs
 * of 8 lanes of 8 MACs, and these levels. */
static void test_a_layer_has_its_shape(void **state)
{
    static const char *const level[] = {"Registers",   "AccumulationBuffer", "WeightBuffer",
                                        "InputBuffer", "GlobalBuffer",       "DRAM"};
    static const uint64_t fanout_x[] = {1, 1, 1, 8, 4, 1}, fanout_y[] = {1, 8, 1, 1, 4, 1};
    static const char *const dim[] = {"R", "S", "P", "Q", "C", "K", "N"};
    static const uint32_t bound[] = {7, 7, 112, 112, 3, 64, 1};
    struct library_fixture fixture, *f = &fixture;
    (void)state;
    library_fixture_open(f, "simba", "resnet50", "conv1", NULL);
    assert_int_equal(f->shape->n_level, 6);
    assert_int_equal(f->shape->n_dim, 7);
    assert_int_equal(f->width, 6 * (4 * 7 + 6));
    assert_string_equal(f->shape->name, "conv1");
    assert_string_equal(f->shape->accounting, "timeloop");
    assert_int_equal(f->shape->n_tensor, 3);
    assert_string_equal(f->shape->tensor[0], "Weights");
    for (int l = 0; l < 6; l++) {
        assert_string_equal(f->shape->level[l], level[l]);
        assert_int_equal(f->shape->fanout_x[l], fanout_x[l]);
        assert_int_equal(f->shape->fanout_y[l], fanout_y[l]);
    }
    for (int d = 0; d < 7; d++) {
        assert_string_equal(f->shape->dim[d], dim[d]);
        assert_int_equal(f->shape->bound[d], bound[d]);
    }
    assert_int_equal(f->shape->keeps[0], 1); /* weights */
    assert_int_equal(f->shape->keeps[4], 6); /* the others */
    assert_int_equal(f->shape->keeps[5], 7);
    library_fixture_close(f);
}

static enum dse_status keep_mapping(void *user, const struct sample_row *row, struct dse_error *err)
{
    struct mapping **next = user;
    (void)err;
    *(*next)++ = *row->mapping;
    return DSE_OK;
}

/* All metrics of draws, whichever way they are asked for. */
static void test_prices_are_the_evaluators(void **state)
{
    struct library_fixture fixture, *f = &fixture;
    struct mapping *mapping = calloc(N_DRAW, sizeof *mapping), *next = mapping;
    struct sample_settings settings = {.n_valid = N_DRAW, .max_draws = 1000000, .seed = 3, .n_thread = 1};
    struct sample_summary summary;
    struct dse_error err;
    size_t n_drawn = 0, n_fit = 0;
    (void)state;
    library_fixture_open(f, "simba", "resnet50", "conv1", NULL);
    int32_t *row = calloc(N_DRAW, f->width * sizeof *row);
    double *value = calloc(N_DRAW, f->n_metric * sizeof *value), one[2];
    assert_true(mapping && row && value);
    const struct evaluator *evaluator = f->layer->evaluator;
    assert_int_equal(sample_space(evaluator_problem(evaluator), evaluator_architecture(evaluator), &settings,
                                  keep_mapping, &next, &summary, &err),
                     DSE_OK);
    WELL(dse_draw(f->layer, N_DRAW, 3, 0, NULL, row, f->width, &n_drawn, ERROR));
    assert_int_equal(n_drawn, N_DRAW);
    WELL(dse_evaluate(f->layer, f->scratch, N_DRAW, row, f->width, NULL, f->n_metric, value, &n_fit, ERROR));
    assert_int_equal(n_fit, N_DRAW);
    const uint32_t which[2] = {library_metric("edp_js"), library_metric("bound_edp_ratio")};
    for (int i = 0; i < N_DRAW; i++) {
        struct evaluation e;
        struct metrics metrics;
        int32_t again[6 * (4 * 7 + 6)];
        size_t n;
        const struct metric *all = metric_all(&n);
        library_row_write(&mapping[i], again);
        assert_memory_equal(again, row + (size_t)i * f->width, sizeof again);
        assert_true(evaluator_run(evaluator, f->scratch->workspace, &mapping[i], &e));
        evaluation_metrics(&e, evaluator_architecture(evaluator),
                           architecture_area_mm2(evaluator_architecture(evaluator)), &metrics);
        metrics.bound_latency_ratio = e.latency_s / f->layer->bound.latency_s;
        metrics.bound_energy_ratio = e.energy_j / f->layer->bound.energy_j;
        metrics.bound_edp_ratio = e.edp_js / f->layer->bound.edp_js;
        for (size_t j = 0; j < n; j++) {
            const double expected = metric_number(&all[j], (const char *)&metrics + all[j].offset);
            assert_memory_equal(&value[(size_t)i * n + j], &expected, sizeof expected);
        }
        WELL(dse_evaluate(f->layer, f->scratch, 1, again, f->width, which, 2, one, NULL, ERROR));
        assert_true(one[0] == e.edp_js && one[1] == metrics.bound_edp_ratio && one[1] >= 1);
    }
    free(value);
    free(row);
    free(mapping);
    library_fixture_close(f);
}

static void test_texts_read_back(void **state)
{
    static const char *const form[] = {"yaml", "line", NULL};
    struct library_fixture fixture, *f = &fixture;
    int32_t row[300], again[300];
    char text[16384];
    size_t n, length;
    (void)state;
    library_fixture_open(f, "simba", "resnet50", "conv1", NULL);
    WELL(dse_draw(f->layer, 1, 5, 1, NULL, row, f->width, &n, ERROR));
    for (int i = 0; i < 3; i++) {
        WELL(dse_mapping_write(f->layer, row, f->width, form[i], text, sizeof text, &length, ERROR));
        assert_int_equal(length, strlen(text));
        WELL(dse_mapping_read(f->layer, text, length, again, f->width, ERROR));
        assert_memory_equal(row, again, f->width * sizeof row[0]);
    }
    WELL(dse_mapping_write(f->layer, row, f->width, "nest", text, sizeof text, &length, ERROR));
    assert_non_null(strstr(text, "for "));
    WELL(dse_mapping_write(f->layer, row, f->width, "nest", text, 8, &n, ERROR));
    assert_int_equal(n, length); /* the whole */
    assert_int_equal(strlen(text), 7);
    library_fixture_close(f);
}

/* An override is felt, parameters of networks too, and a problem can be given by its sizes. */
static void test_what_is_set_counts(void **state)
{
    static const char *const set[] = {"DRAM.bandwidth", "10 GB/s", "PE.mesh", "2x2"};
    static const char *const parameter[] = {"network.sequence", "64", "sequence", "32"};
    static const char sizes[] = "{network: mine, kind: layers, layers: "
                                "[{name: a, type: conv, C: 8, K: 4, P: 5, Q: 6, R: 3, S: 1}]}";
    struct library_fixture fixture, *f = &fixture;
    struct dse_machine *machine;
    struct dse_network *network, *gpt2;
    struct dse_layer *layer;
    double bound[3], slow[3];
    uint64_t mac, count;
    const char *type;
    (void)state;
    library_fixture_open(f, "simba", "resnet50", "conv1", NULL);
    WELL(dse_bounds(f->layer, bound, ERROR));
    WELL(dse_machine_open("simba", set, 2, &machine, ERROR));
    WELL(dse_layer_open(machine, f->network, "conv1", NULL, &layer, ERROR));
    dse_machine_free(machine); /* the layer needs it no more */
    WELL(dse_bounds(layer, slow, ERROR));
    assert_int_equal(dse_layer_shape(layer)->fanout_x[4], 2);
    assert_true(slow[0] > bound[0] && bound[0] > 0 && bound[1] > 0 && bound[2] > 0);
    dse_layer_free(layer);
    WELL(dse_network_parse(sizes, strlen(sizes), &network, ERROR));
    assert_string_equal(dse_network_layer(network, 0, &type, &count, &mac), "a");
    assert_string_equal(type, "conv");
    assert_int_equal(mac, 8 * 4 * 5 * 6 * 3);
    assert_int_equal(count, 1);
    assert_null(dse_network_layer(network, 1, NULL, NULL, NULL));
    WELL(dse_layer_open(f->machine, network, NULL, &(struct dse_layer_options){.batch = 2}, &layer, ERROR));
    assert_int_equal(dse_layer_shape(layer)->bound[6], 2);
    dse_layer_free(layer);
    dse_network_free(network);
    WELL(dse_network_open("gpt2", parameter, 2, &gpt2, ERROR));
    dse_network_free(gpt2);
    library_fixture_close(f);
}

/* A search finds what the solver finds; its mapping costs what its columns say. */
static void test_a_layer_is_mapped(void **state)
{
    struct library_fixture fixture, *f = &fixture;
    struct dse_search search = {.engine = "random", .max_evaluations = 300, .seed = 7, .n_thread = 1};
    struct dse_result *result;
    int32_t row[300];
    double value;
    const uint32_t edp = library_metric("edp_js");
    (void)state;
    library_fixture_open(f, "simba", "resnet50", "conv1", NULL);
    WELL(dse_map(f->machine, f->network, "conv1", &search, &result, ERROR));
    assert_int_equal(dse_result_count(result), 1);
    struct solve_settings settings;
    struct solve_result *found = calloc(1, sizeof *found);
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    assert_int_equal(solve_settings_init(&settings, "random", &err), DSE_OK);
    settings.seed = 7;
    settings.max_evaluations = 300;
    assert_int_equal(
        solve_task(&settings, evaluator_problem(f->layer->evaluator), &f->machine->arch, NULL, &arena, found),
        DSE_OK);
    WELL(dse_result_mapping(result, 0, row, f->width, ERROR));
    WELL(dse_evaluate(f->layer, f->scratch, 1, row, f->width, &edp, 1, &value, NULL, ERROR));
    assert_true(value == found->found.evaluation.edp_js);
    assert_true(value == library_field(result, 0, "edp_js").number);
    assert_true(value == library_field(result, 1, "edp_js").number); /* the total of one layer */
    assert_string_equal(library_field(result, 0, "layer").text, "conv1");
    assert_string_equal(library_field(result, 1, "layer").text, "total");
    assert_string_equal(library_field(result, 0, "status").text, "ok");
    assert_string_equal(library_field(result, 0, "stop").text, "max_evaluations");
    assert_true(library_field(result, 0, "evaluations").number == 300);
    assert_true(library_field(result, 0, "DRAM.energy_j").number > 0);
    assert_non_null(strstr(library_field(result, 0, "mapping").text, "mapping: ["));
    dse_result_free(result);
    arena_free(&arena);
    free(found);
    library_fixture_close(f);
}

/* conv5 of AlexNet has 13 rows, a prime above 7, which CoSA enlarges to 14 when it is told to: the row is one
 * of the layer with this padding, and of no other. */
static void test_padded_mappings_fit_the_padded_layer(void **state)
{
    static const char *const pad[] = {"P", "14", "Q", "14"}, *const option[] = {"pad", "7"};
    struct library_fixture fixture, *f = &fixture;
    struct dse_search search = {.engine = "cosa", .option = option, .n_option = 1, .n_thread = 1};
    struct dse_layer *layer;
    struct dse_result *result;
    int32_t row[300];
    double value;
    const uint32_t energy = library_metric("energy_j");
    (void)state;
    library_fixture_open(f, "simba_tablev", "alexnet", "conv5", NULL);
    WELL(dse_map(f->machine, f->network, "conv5", &search, &result, ERROR));
    assert_string_equal(library_field(result, 0, "padded").text, "P 13->14, Q 13->14");
    WELL(dse_result_mapping(result, 0, row, f->width, ERROR));
    WELL(dse_evaluate(f->layer, f->scratch, 1, row, f->width, &energy, 1, &value, NULL, ERROR));
    assert_true(isnan(value));
    WELL(dse_layer_open(f->machine, f->network, "conv5", &(struct dse_layer_options){.pad = pad, .n_pad = 2},
                        &layer, ERROR));
    WELL(dse_evaluate(layer, f->scratch, 1, row, f->width, &energy, 1, &value, NULL, ERROR));
    assert_true(value == library_field(result, 0, "energy_j").number);
    dse_layer_free(layer);
    dse_result_free(result);
    library_fixture_close(f);
}

/* All layers with their total; the points of a front; a schedule with its text and what its engine knows. */
static void test_networks_are_mapped_and_scheduled(void **state)
{
    static const char *const option[] = {"sampling", "primes"};
    struct library_fixture fixture, *f = &fixture;
    struct dse_machine *edge;
    struct dse_network *tiny;
    struct dse_result *result;
    struct dse_search search = {.engine = "random",
                                .objective = "latency",
                                .option = option,
                                .n_option = 1,
                                .max_evaluations = 20,
                                .n_thread = 2};
    double sum = 0;
    (void)state;
    library_fixture_open(f, "simba", "alexnet", "conv1", NULL);
    WELL(dse_map(f->machine, f->network, NULL, &search, &result, ERROR));
    const size_t n = dse_result_count(result);
    assert_int_equal(n, 8); /* five convolutions, three linear layers */
    for (size_t i = 0; i < n; i++)
        sum += library_field(result, i, "latency_cycle").number * library_field(result, i, "count").number;
    assert_true(sum == library_field(result, n, "latency_cycle").number);
    dse_result_free(result);
    WELL(dse_machine_open("soma_edge", NULL, 0, &edge, ERROR));
    WELL(dse_network_open("tests/known/soma/tiny6.yaml", NULL, 0, &tiny, ERROR));
    search = (struct dse_search){.engine = "unfused", .n_thread = 1};
    WELL(dse_map(edge, tiny, NULL, &search, &result, ERROR));
    assert_int_equal(dse_result_count(result), 1);
    assert_string_equal(library_field(result, 0, "layer").text, "(network)");
    assert_true(library_field(result, 0, "latency_s").number > 0);
    assert_true(library_field(result, 0, "latency_s").number == library_field(result, 1, "latency_s").number);
    assert_non_null(strstr(library_field(result, 0, "mapping").text, "network: tiny6"));
    assert_int_equal(dse_result_mapping(result, 0, &(int32_t){0}, 1, ERROR), DSE_CODE_USAGE);
    dse_result_free(result);
    dse_network_free(tiny);
    dse_machine_free(edge);
    library_fixture_close(f);
}

/* The flag is an int of the caller's. */
static void test_searches_and_draws_are_cancelled(void **state)
{
    struct library_fixture fixture, *f = &fixture;
    const volatile int flag = 1;
    struct dse_search search = {.engine = "genetic", .cancel = &flag};
    struct dse_result *result;
    int32_t row[300];
    size_t n = 77;
    (void)state;
    library_fixture_open(f, "simba", "resnet50", "conv1", NULL);
    assert_int_equal(dse_map(f->machine, f->network, NULL, &search, &result, ERROR), DSE_CODE_CANCELLED);
    assert_null(result);
    assert_string_equal(f->error, "interrupted");
    assert_int_equal(dse_draw(f->layer, 1, 0, 0, &flag, row, f->width, &n, ERROR), DSE_CODE_CANCELLED);
    assert_int_equal(n, 77);
    library_fixture_close(f);
}

struct thread {
    const struct library_fixture *f;
    const int32_t *row;
    double *value;
    int code;
};

static void *evaluate_all(void *user)
{
    struct thread *t = user;
    struct dse_scratch *scratch;
    t->code = dse_scratch_new(t->f->layer, &scratch, NULL, 0);
    for (int i = 0; t->code == 0 && i < 10; i++)
        t->code = dse_evaluate(t->f->layer, scratch, N_DRAW, t->row, t->f->width, NULL, t->f->n_metric,
                               t->value, NULL, NULL, 0);
    dse_scratch_free(scratch);
    return NULL;
}

static void test_threads_share_a_layer(void **state)
{
    struct library_fixture fixture, *f = &fixture;
    pthread_t id[4];
    struct thread thread[4];
    size_t n;
    (void)state;
    library_fixture_open(f, "simba", "resnet50", "conv1", NULL);
    int32_t *row = calloc(N_DRAW, f->width * sizeof *row);
    const size_t n_value = N_DRAW * f->n_metric;
    double *value = calloc(4 * n_value, sizeof *value);
    assert_true(row && value);
    WELL(dse_draw(f->layer, N_DRAW, 1, 0, NULL, row, f->width, &n, ERROR));
    for (size_t i = 0; i < 4; i++) {
        thread[i] = (struct thread){f, row, value + i * n_value, -1};
        assert_int_equal(pthread_create(&id[i], NULL, evaluate_all, &thread[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(id[i], NULL);
        assert_int_equal(thread[i].code, 0);
        assert_memory_equal(value, thread[i].value, n_value * sizeof *value);
    }
    free(value);
    free(row);
    library_fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics_have_names_and_units),
        cmocka_unit_test(test_a_layer_has_its_shape),
        cmocka_unit_test(test_prices_are_the_evaluators),
        cmocka_unit_test(test_texts_read_back),
        cmocka_unit_test(test_what_is_set_counts),
        cmocka_unit_test(test_a_layer_is_mapped),
        cmocka_unit_test(test_padded_mappings_fit_the_padded_layer),
        cmocka_unit_test(test_networks_are_mapped_and_scheduled),
        cmocka_unit_test(test_searches_and_draws_are_cancelled),
        cmocka_unit_test(test_threads_share_a_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
