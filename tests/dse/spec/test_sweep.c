/* From a specification to its points. Expected counts and values are read off the specifications below by
 * hand.
 * Tests: spec_axes.c, spec_read.c, sweep_load.c, sweep_check.c, sweep_variables.c, sweep_schema.c, keys.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dse/spec/keys.h"
#include "dse/spec/sweep.h"
#include "tests/support/sweep_case.h"

#define HEAD "experiment: e\narchitecture: simba\nnetwork: resnet50\nlayers: [conv1, fc]\n"

static struct sweep_case *open_text(const char *text, const char *const *set, size_t n_set)
{
    char message[2048];
    struct dse_error err = {0};
    struct sweep_case *opened = sweep_case_open(text, set, n_set, &err);
    if (!opened)
        fail_msg("%s", dse_error_print(&err, message, sizeof message));
    return opened;
}

static void test_sweep_expands_axes_in_row_major_order(void **state)
{
    (void)state;
    char text[256];
    struct sweep_case *o =
        open_text(HEAD "engine: random\naxes:\n  GlobalBuffer.capacity: [64 KiB, 128 KiB]\n"
                       "  batch: [1, 2, 4]\n",
                  NULL, 0);
    assert_int_equal(o->sweep.n_point, 6);
    assert_string_equal(sweep_point_print(&o->sweep, 0, text, sizeof text),
                        "GlobalBuffer.capacity=64 KiB batch=1");
    assert_string_equal(sweep_point_print(&o->sweep, 1, text, sizeof text),
                        "GlobalBuffer.capacity=64 KiB batch=2");
    assert_string_equal(sweep_point_print(&o->sweep, 5, text, sizeof text),
                        "GlobalBuffer.capacity=128 KiB batch=4");
    sweep_case_close(o);
}

static void test_sweep_columns_have_units(void **state)
{
    (void)state;
    struct sweep_case *o =
        open_text(HEAD "engine: random\naxes:\n  GlobalBuffer.capacity: [64 KiB]\n"
                       "  DRAM.bandwidth: [1 GB/s]\n  PE.mesh: [2x2]\n  clock: [1 GHz]\n"
                       "  option.search_size: [10]\n  InputBuffer.multiple_buffering: [1, 2]\n",
                  NULL, 0);
    const struct result_schema *schema = &o->sweep.schema;
    assert_int_equal(schema->n_axis, 6);
    assert_string_equal(schema->axis[0].coordinate->name, "GlobalBuffer.capacity_byte");
    assert_string_equal(schema->axis[0].coordinate->unit, "byte");
    assert_true(schema->axis[0].coordinate->number[0] == 65536);
    assert_string_equal(schema->axis[0].coordinate->label[0], "64 KiB");
    assert_string_equal(schema->axis[1].coordinate->name, "DRAM.bandwidth_byte_per_s");
    assert_string_equal(schema->axis[2].coordinate->name, "PE.mesh");
    assert_string_equal(schema->axis[2].coordinate->text[0], "2x2");
    assert_string_equal(schema->axis[3].coordinate->name, "clock_hz");
    assert_string_equal(schema->axis[4].coordinate->name, "option.search_size");
    assert_true(schema->axis[4].coordinate->number[0] == 10);
    assert_true(schema->axis[5].coordinate->number[1] == 2);
    sweep_case_close(o);
}

static void test_sweep_mixed_units_become_text(void **state)
{
    (void)state;
    struct sweep_case *o = open_text(
        HEAD "engine: random\naxes:\n  DRAM.bandwidth: [1 GB/s, 16 word/cycle, unlimited]\n", NULL, 0);
    assert_null(o->sweep.schema.axis[0].coordinate->number);
    assert_string_equal(o->sweep.schema.axis[0].coordinate->name, "DRAM.bandwidth");
    sweep_case_close(o);
}

static void test_sweep_zip_makes_one_dimension(void **state)
{
    (void)state;
    struct sweep_point point;
    struct sweep_case *o =
        open_text(HEAD "engine: random\naxes:\n  GlobalBuffer.capacity: [64 KiB, 128 KiB]\n  batch: [1, 2]\n"
                       "  InputBuffer.capacity: [4 KiB, 8 KiB]\n"
                       "zip: [[GlobalBuffer.capacity, InputBuffer.capacity]]\n",
                  NULL, 0);
    assert_int_equal(o->sweep.n_point, 4);
    assert_int_equal(o->sweep.schema.n_axis, 2);
    assert_int_equal(o->sweep.schema.axis[0].n_coordinate, 2);
    assert_string_equal(o->sweep.schema.axis[0].coordinate[1].name, "InputBuffer.capacity_byte");
    sweep_point(&o->sweep, 3, &point);
    assert_int_equal(point.n_override, 2);
    assert_string_equal(point.override[0].value, "128 KiB");
    assert_string_equal(point.override[1].value, "8 KiB");
    assert_int_equal(point.workload->batch, 2);
    sweep_case_close(o);
}

/* Table 1 of the paper on Mind Mappings: convolutions of batch 16, and a kernel that has no batch. */
static void test_sweep_zip_gives_each_network_its_batch(void **state)
{
    (void)state;
    static const char axes[] = "experiment: t\nengine: random\naxes:\n"
                               "  architecture: [mindmappings_banks, mindmappings_mttkrp_banks]\n"
                               "  network: [mindmappings_resnet_conv4, mindmappings_mttkrp_0]\n"
                               "  batch: [16, 1]\n";
    struct sweep_point point;
    struct dse_error err = {0};
    char text[512];
    snprintf(text, sizeof text, "%szip: [[architecture, network, batch]]\n", axes);
    struct sweep_case *o = open_text(text, NULL, 0);
    assert_int_equal(o->sweep.n_point, 2);
    sweep_point(&o->sweep, 0, &point);
    assert_int_equal(point.workload->batch, 16);
    sweep_point(&o->sweep, 1, &point);
    assert_string_equal(point.workload->network->name, "mindmappings_mttkrp_0");
    assert_int_equal(point.workload->batch, 1);
    sweep_case_close(o);
    assert_null(sweep_case_open(axes, NULL, 0, &err));
    assert_non_null(strstr(err.text, "cannot run with batch 16"));
}

static void test_sweep_points_are_one_dimension(void **state)
{
    (void)state;
    struct sweep_point point;
    struct sweep_case *o =
        open_text(HEAD "points:\n- {engine: random, batch: 1}\n- {engine: descent, batch: 1}\n"
                       "- {engine: random, batch: 4}\n",
                  NULL, 0);
    assert_int_equal(o->sweep.n_point, 3);
    assert_int_equal(o->sweep.schema.n_axis, 1);
    assert_string_equal(o->sweep.schema.axis[0].coordinate[0].name, "point");
    assert_int_equal(o->sweep.schema.axis[0].n_coordinate, 3);
    sweep_point(&o->sweep, 1, &point);
    assert_string_equal(point.settings.engine->name, "descent");
    sweep_point(&o->sweep, 2, &point);
    assert_string_equal(point.settings.engine->name, "random");
    assert_int_equal(point.workload->batch, 4);
    sweep_case_close(o);
}

/* Whatever the order in which layers are asked for, they come in that of the network. */
static void test_sweep_layers_stand_in_the_order_of_the_network(void **state)
{
    (void)state;
    static const char *const expected[] = {"conv1", "conv2_0_a", "conv5_0_a", "fc"};
    struct sweep_case *o = open_text("experiment: e\narchitecture: simba\nnetwork: resnet50\nengine: random\n"
                                     "layers: [fc, conv2_0_a, conv5_0_a, conv1]\n",
                                     NULL, 0);
    const struct workload *w = &o->sweep.workload[0];
    assert_int_equal(w->n_layer, 4);
    assert_int_equal(o->sweep.schema.n_layer, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(w->network->layer[w->layer[i]].name, expected[i]);
        assert_string_equal(o->sweep.schema.layer[i], expected[i]);
    }
    sweep_case_close(o);
}

static void test_sweep_options_go_to_their_engines(void **state)
{
    (void)state;
    struct sweep_point random, hybrid;
    struct sweep_case *o =
        open_text(HEAD "options: {search_bypass: true, random: {search_size: 7}}\nseed: 3\n"
                       "axes: {engine: [random, hybrid]}\n"
                       "limits: {max_evaluations: 9, max_seconds: 2.5}\n",
                  NULL, 0);
    sweep_point(&o->sweep, 0, &random);
    sweep_point(&o->sweep, 1, &hybrid);
    assert_string_equal(random.settings.engine->name, "random");
    assert_string_equal(hybrid.settings.engine->name, "hybrid");
    for (size_t i = 0; i < random.settings.engine->n_option; i++) {
        if (strcmp(random.settings.engine->option[i].name, "search_size") == 0)
            assert_true(random.settings.option[i] == 7);
        if (strcmp(random.settings.engine->option[i].name, "search_bypass") == 0)
            assert_true(random.settings.option[i] == 1);
    }
    for (size_t i = 0; i < hybrid.settings.engine->n_option; i++)
        if (strcmp(hybrid.settings.engine->option[i].name, "search_size") == 0)
            assert_true(hybrid.settings.option[i] == hybrid.settings.engine->option[i].standard);
    assert_int_equal(hybrid.settings.seed, 3);
    assert_int_equal(hybrid.settings.max_evaluations, 9);
    assert_true(hybrid.settings.max_seconds == 2.5);
    sweep_case_close(o);
}

static void test_sweep_shares_point_limits_over_different_layers(void **state)
{
    (void)state;
    struct sweep_point point;
    static const char *const set[] = {"limits.max_evaluations=30", "limits.max_seconds=1"};
    /* 2 layers; 101 / 2 = 50 and 5 / 2 s = 2.5 s, or the limits of a search where they are smaller */
    static const char text[] =
        HEAD "engine: random\nlimits: {point_max_evaluations: 101, point_max_seconds: 5}\n";
    struct sweep_case *o = open_text(text, NULL, 0);
    sweep_point(&o->sweep, 0, &point);
    assert_int_equal(point.settings.max_evaluations, 50);
    assert_true(point.settings.max_seconds == 2.5);
    assert_true(point.settings.point_max_seconds == 5);
    sweep_case_close(o);
    o = open_text(text, set, 2);
    sweep_point(&o->sweep, 0, &point);
    assert_int_equal(point.settings.max_evaluations, 30);
    assert_true(point.settings.max_seconds == 1);
    assert_true(point.settings.point_max_seconds == 0);
    sweep_case_close(o);
}

static void test_sweep_set_replaces_what_is_not_swept(void **state)
{
    (void)state;
    static const char *const set[] = {"batch=4", "limits.max_evaluations=5", "option.search_size = 7",
                                      "DRAM.bandwidth=8 GB/s"};
    struct sweep_point point;
    struct architecture arch;
    struct dse_error err = {0};
    struct sweep_case *o = open_text(HEAD "engine: random\n", set, 4);
    assert_int_equal(o->sweep.n_point, 1);
    assert_int_equal(o->sweep.schema.n_axis, 0);
    sweep_point(&o->sweep, 0, &point);
    assert_int_equal(point.workload->batch, 4);
    assert_int_equal(point.settings.max_evaluations, 5);
    assert_true(point.settings.option[0] == 7);
    assert_int_equal(sweep_point_build(&point, &arch, &err), DSE_OK);
    assert_true(arch.level[arch.n_level - 1].shared_bandwidth_word_per_cycle ==
                8); /* 8 GB/s, 8 bit words, 1 GHz */
    assert_int_equal(o->sweep.schema.n_set, 4);
    assert_string_equal(o->sweep.schema.set[0], "batch=4");
    sweep_case_close(o);
}

static uint64_t key_of(const struct sweep *sweep, size_t p)
{
    struct sweep_point point;
    struct machine machine;
    struct point_keys keys;
    machine_init(&machine, sweep);
    sweep_point(sweep, p, &point);
    assert_true(keys_of_point(&machine, &point, &keys));
    return keys.point;
}

static void test_sweep_measures_are_columns_and_part_of_the_keys(void **state)
{
    (void)state;
    static const char *const measure[] = {"",
                                          "measure: [noc]\nplot: {metric: noc_latency_cycle}\n",
                                          "measure: [cosa]\n",
                                          "measure: [cosa, noc]\n",
                                          "measure: {noc: {max_steps: 9}}\n",
                                          "measure: {noc: {simulations: 9}}\n",
                                          "measure: {noc: {simulations: 10, max_steps: 9}}\n",
                                          "measure: {noc: , cosa: {}}\n"};
    static const char *const what[] = {"", "noc", "cosa", "noc cosa", "noc", "noc", "noc", "noc cosa"};
    static const size_t n_layer_extra[] = {0, 1, 4, 5, 1, 2, 2, 5},
                        n_point_extra[] = {0, 1, 0, 1, 1, 1, 1, 1};
    uint64_t key[8];
    for (size_t i = 0; i < 8; i++) {
        char text[512];
        snprintf(text, sizeof text, HEAD "engine: random\n%s", measure[i]);
        struct sweep_case *o = open_text(text, NULL, 0);
        assert_string_equal(o->sweep.schema.measures, what[i]);
        assert_int_equal(o->sweep.schema.n_extra[RESULT_LAYERS], n_layer_extra[i]);
        assert_int_equal(o->sweep.schema.n_extra[RESULT_POINTS], n_point_extra[i]);
        key[i] = key_of(&o->sweep, 0);
        sweep_case_close(o);
    }
    for (size_t i = 0; i < 7; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(key[i] != key[k]);
    assert_true(key[7] == key[3]); /* the same in another form */
}

static void test_sweep_keys_depend_on_what_matters(void **state)
{
    (void)state;
    static const char *const text[] = {
        HEAD "engine: random\naxes: {batch: [1, 2]}\n",
        HEAD "engine: random\ntitle: another title\naxes: {batch: [2, 1]}\n",
        HEAD "engine: random\nseed: 1\naxes: {batch: [1, 2]}\n",
        HEAD "engine: random\noptions: {search_size: 5}\naxes: {batch: [1, 2]}\n",
        HEAD "engine: random\nset: {DRAM.bandwidth: 19 GB/s}\naxes: {batch: [1, 2]}\n",
        HEAD "engine: random\nlimits: {point_max_evaluations: 99}\naxes: {batch: [1, 2]}\n",
        HEAD "engine: random\nlimits: {point_max_seconds: 99}\naxes: {batch: [1, 2]}\n",
        HEAD "engine: random\nlimits: {max_seconds: 49.5}\naxes: {batch: [1, 2]}\n",
    };
    uint64_t key[8][2];
    for (size_t i = 0; i < 8; i++) {
        struct sweep_case *o = open_text(text[i], NULL, 0);
        key[i][0] = key_of(&o->sweep, 0);
        key[i][1] = key_of(&o->sweep, 1);
        sweep_case_close(o);
    }
    assert_true(key[0][0] != key[0][1]);
    assert_true(key[1][1] == key[0][0] && key[1][0] == key[0][1]); /* order and title do not matter */
    for (size_t i = 2; i < 8; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(k == 1 || key[i][0] != key[k][0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep_expands_axes_in_row_major_order),
        cmocka_unit_test(test_sweep_columns_have_units),
        cmocka_unit_test(test_sweep_mixed_units_become_text),
        cmocka_unit_test(test_sweep_zip_makes_one_dimension),
        cmocka_unit_test(test_sweep_zip_gives_each_network_its_batch),
        cmocka_unit_test(test_sweep_points_are_one_dimension),
        cmocka_unit_test(test_sweep_layers_stand_in_the_order_of_the_network),
        cmocka_unit_test(test_sweep_options_go_to_their_engines),
        cmocka_unit_test(test_sweep_shares_point_limits_over_different_layers),
        cmocka_unit_test(test_sweep_set_replaces_what_is_not_swept),
        cmocka_unit_test(test_sweep_measures_are_columns_and_part_of_the_keys),
        cmocka_unit_test(test_sweep_keys_depend_on_what_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
