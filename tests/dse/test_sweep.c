/* From a specification to its points. Expected counts and values are read off the specifications below by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "dse/plan.h"
#include "dse/sweep.h"

#define HEAD "experiment: e\narchitecture: simba\nnetwork: resnet50\nlayers: [conv1, fc]\n"

static char folder[512];

struct opened {
    struct sweep_spec spec;
    struct sweep sweep;
};

static struct opened *open_text(const char *text, const char *const *set, size_t n_set)
{
    char path[1024], message[2048];
    struct dse_error err = {0};
    struct opened *opened = calloc(1, sizeof *opened);
    assert_non_null(opened);
    snprintf(path, sizeof path, "%s/spec.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    enum dse_status status = spec_read(&opened->spec, path, set, n_set, &err);
    if (status == DSE_OK)
        status = sweep_init(&opened->sweep, &opened->spec, &err);
    unlink(path);
    if (status != DSE_OK)
        fail_msg("%s", dse_error_print(&err, message, sizeof message));
    return opened;
}

static void close_all(struct opened *opened)
{
    sweep_free(&opened->sweep);
    spec_free(&opened->spec);
    free(opened);
}

static void test_sweep_expands_axes_in_row_major_order(void **state)
{
    (void)state;
    char text[256];
    struct opened *o = open_text(HEAD "engine: random\naxes:\n  GlobalBuffer.capacity: [64 KiB, 128 KiB]\n"
                                      "  batch: [1, 2, 4]\n",
                                 NULL, 0);
    assert_int_equal(o->sweep.n_point, 6);
    assert_string_equal(sweep_point_print(&o->sweep, 0, text, sizeof text),
                        "GlobalBuffer.capacity=64 KiB batch=1");
    assert_string_equal(sweep_point_print(&o->sweep, 1, text, sizeof text),
                        "GlobalBuffer.capacity=64 KiB batch=2");
    assert_string_equal(sweep_point_print(&o->sweep, 5, text, sizeof text),
                        "GlobalBuffer.capacity=128 KiB batch=4");
    close_all(o);
}

static void test_sweep_columns_have_units(void **state)
{
    (void)state;
    struct opened *o =
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
    close_all(o);
}

static void test_sweep_mixed_units_become_text(void **state)
{
    (void)state;
    struct opened *o = open_text(
        HEAD "engine: random\naxes:\n  DRAM.bandwidth: [1 GB/s, 16 word/cycle, unlimited]\n", NULL, 0);
    assert_null(o->sweep.schema.axis[0].coordinate->number);
    assert_string_equal(o->sweep.schema.axis[0].coordinate->name, "DRAM.bandwidth");
    close_all(o);
}

static void test_sweep_zip_makes_one_dimension(void **state)
{
    (void)state;
    struct sweep_point point;
    struct opened *o =
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
    close_all(o);
}

static void test_sweep_points_are_one_dimension(void **state)
{
    (void)state;
    struct sweep_point point;
    struct opened *o = open_text(HEAD "points:\n- {engine: random, batch: 1}\n- {engine: descent, batch: 1}\n"
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
    close_all(o);
}

/* Whatever the order in which layers are asked for, they come in that of the network. */
static void test_sweep_layers_stand_in_the_order_of_the_network(void **state)
{
    (void)state;
    static const char *const expected[] = {"conv1", "conv2_0_a", "conv5_0_a", "fc"};
    struct opened *o = open_text("experiment: e\narchitecture: simba\nnetwork: resnet50\nengine: random\n"
                                 "layers: [fc, conv2_0_a, conv5_0_a, conv1]\n",
                                 NULL, 0);
    const struct workload *w = &o->sweep.workload[0];
    assert_int_equal(w->n_layer, 4);
    assert_int_equal(o->sweep.schema.n_layer, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(w->network->layer[w->layer[i]].name, expected[i]);
        assert_string_equal(o->sweep.schema.layer[i], expected[i]);
    }
    close_all(o);
}

/* Every factor of conv4_0_c (C 256, K 1024, P = Q = 14) fixed; only the order of C, K, P at the global buffer is left. */
#define FIXED_FACTORS                                                                                        \
    "constraints:\n"                                                                                         \
    "- {target: DRAM, type: temporal, factors: C=1 K=1 P=1 Q=2 R=1 S=1 N=1}\n"                               \
    "- {target: GlobalBuffer, type: temporal, factors: C=8 K=8 P=14 Q=1 R=1 S=1 N=1}\n"                      \
    "- {target: GlobalBuffer, type: spatial, factors: C=1 K=16 P=1 Q=1 R=1 S=1 N=1}\n"                       \
    "- {target: InputBuffer, type: temporal, factors: C=1 K=1 P=1 Q=1 R=1 S=1 N=1}\n"                        \
    "- {target: InputBuffer, type: spatial, factors: C=1 K=8 P=1 Q=1 R=1 S=1 N=1}\n"                         \
    "- {target: WeightBuffer, type: temporal, factors: C=4 K=1 P=1 Q=1 R=1 S=1 N=1}\n"                       \
    "- {target: AccumulationBuffer, type: temporal, factors: C=1 K=1 P=1 Q=1 R=1 S=1 N=1}\n"                 \
    "- {target: AccumulationBuffer, type: spatial, factors: C=8 K=1 P=1 Q=1 R=1 S=1 N=1}\n"                  \
    "- {target: Registers, type: temporal, factors: C=1 K=1 P=1 Q=7 R=1 S=1 N=1}\n"
#define ORDER(text) "    " text ": [{target: GlobalBuffer, type: temporal, permutation: " text "}]\n"
#define ORDERS "axes:\n  constraints:\n" ORDER("CKP") ORDER("PKC") ORDER("KPC")

/* The one mapping of point p, priced. */
static struct evaluation price_point(const struct sweep *sweep, size_t p, struct mapping *mapping)
{
    struct sweep_point point;
    struct architecture arch;
    struct dse_error err = {0};
    struct arena arena;
    struct solve_result *result = calloc(1, sizeof *result);
    assert_non_null(result);
    arena_init(&arena);
    sweep_point(sweep, p, &point);
    assert_int_equal(sweep_point_build(&point, &arch, &err), DSE_OK);
    assert_int_equal(solve_task(&point.settings, &point.workload->problem[0], &arch, NULL, &arena, result),
                     DSE_OK);
    if (result->outcome != RESULT_OK)
        fail_msg("%s", result->reason);
    struct evaluation evaluation = result->found.evaluation;
    *mapping = result->found.mapping;
    arena_free(&arena);
    free(result);
    return evaluation;
}

static void test_sweep_constraints_axis_prices_given_mappings(void **state)
{
    (void)state;
    static const char *const order[] = {"CKP", "PKC", "KPC"};
    enum { GLOBAL_BUFFER = 4, DRAM = 5 };
    struct mapping mapping[3];
    struct evaluation evaluation[3];
    struct opened *o =
        open_text("experiment: e\narchitecture: simba_tablev\nnetwork: resnet50\nlayers: [conv4_0_c]\n"
                  "engine: random\noptions: {search_size: 1}\n" FIXED_FACTORS ORDERS,
                  NULL, 0);
    const struct problem *problem = &o->sweep.workload[0].problem[0];
    assert_int_equal(o->sweep.n_point, 3);
    assert_string_equal(o->sweep.schema.axis[0].coordinate->name, "constraints");
    for (size_t p = 0; p < 3; p++) {
        assert_string_equal(o->sweep.schema.axis[0].coordinate->text[p], order[p]);
        evaluation[p] = price_point(&o->sweep, p, &mapping[p]);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(problem->dim_name[mapping[p].level[GLOBAL_BUFFER].temporal_order[i]][0],
                             order[p][i]);
        for (uint32_t d = 0; d < problem->n_dim; d++)
            assert_int_equal(mapping[p].level[GLOBAL_BUFFER].temporal[d],
                             mapping[0].level[GLOBAL_BUFFER].temporal[d]);
    }
    /* Weights (256 KiB, not in the global buffer) come from DRAM for each Q (2) and, unless P (14) is the innermost loop, for each
     * P: 2 * 13 * 256 KiB more. All else is the same there. */
    assert_true(evaluation[0].level_byte[DRAM] - evaluation[1].level_byte[DRAM] == 26.0 * 256 * 1024);
    assert_true(evaluation[2].level_byte[DRAM] == evaluation[0].level_byte[DRAM]);
    close_all(o);
}

static void test_sweep_constraints_axis_is_part_of_the_keys(void **state)
{
    (void)state;
    struct dse_error err = {0};
    static const char head[] = HEAD "engine: random\naxes:\n  constraints:\n";
    static const char *const lists[] = {
        "    one: [{target: DRAM, type: temporal, permutation: K}]\n    none: []\n",
        "    one: [{target: DRAM, type: temporal, permutation: C}]\n    none: []\n",
        "    one: [{target: DRAM, type: temporal, permutation: K}]\n"
        "    two: [{target: DRAM, type: temporal, permutation: K}]\n"};
    uint64_t key[3][2], settings_key[3][2];
    for (size_t i = 0; i < 3; i++) {
        char text[512];
        struct plan plan;
        snprintf(text, sizeof text, "%s%s", head, lists[i]);
        struct opened *o = open_text(text, NULL, 0);
        assert_int_equal(plan_init(&plan, &o->sweep, 1, &err), DSE_OK);
        for (size_t p = 0; p < 2; p++) {
            key[i][p] = plan.point_key[p];
            settings_key[i][p] = plan.point[p].settings_key;
        }
        plan_free(&plan);
        close_all(o);
    }
    assert_true(key[0][0] != key[1][0]);
    assert_true(key[0][1] == key[1][1]);
    assert_true(settings_key[2][0] == settings_key[2][1]); /* the same search */
    assert_true(key[2][0] != key[2][1]);                   /* two points */
}

static void test_sweep_skip_and_only_choose_cells(void **state)
{
    (void)state;
    /* 3 x 2 cells; only batch 1 or 4: 4 cells; without (64 KiB as 65536 B, 4): 3 */
    struct opened *o = open_text(
        HEAD "engine: random\naxes:\n  batch: [1, 2, 4]\n  GlobalBuffer.capacity: [64 KiB, 128 KiB]\n"
             "only: [{batch: [1, 4]}]\nskip: [{GlobalBuffer.capacity: 65536 B, batch: 4}]\n",
        NULL, 0);
    assert_int_equal(o->sweep.n_cell, 6);
    assert_int_equal(o->sweep.n_point, 3);
    assert_int_equal(o->sweep.cell[0], 0);
    assert_int_equal(o->sweep.cell[1], 1);
    assert_int_equal(o->sweep.cell[2], 5);
    close_all(o);
}

/* Entries of random sets over three dimensions, the second of two linked axes. */
enum { RANDOM_VALUE = 6, RANDOM_ENTRY = 12 };

struct random_entry {
    unsigned set[4]; /* per axis the accepted values as bits; 0: any */
};

static unsigned draw(uint64_t *state, unsigned n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*state >> 33) % n;
}

/* Append the entries as YAML; every entry says something. */
static void write_entries(uint64_t *state, const char *key, struct random_entry *entry, size_t n, char *text)
{
    static const char *const axis[] = {"batch", "seed", "option.search_size", "DRAM.bandwidth"};
    static const char *const unit[] = {"", "", "", " GB/s"};
    text += sprintf(text, "%s:\n", key);
    for (size_t e = 0; e < n; e++) {
        unsigned said = 1 + draw(state, 15);
        text += sprintf(text, "- {");
        for (size_t v = 0; v < 4; v++) {
            entry[e].set[v] = said >> v & 1 ? 1 + draw(state, (1U << RANDOM_VALUE) - 1) : 0;
            if (entry[e].set[v])
                text += sprintf(text, "%s: [", axis[v]);
            for (unsigned i = 0; i < RANDOM_VALUE; i++)
                if (entry[e].set[v] >> i & 1)
                    text += sprintf(text, "%u%s, ", i + 1, unit[v]);
            if (entry[e].set[v])
                text += sprintf(text, "], ");
        }
        text += sprintf(text, "}\n");
    }
}

static bool agrees(const struct random_entry *entry, size_t n, const unsigned *index)
{
    for (size_t e = 0; e < n; e++) {
        bool all = true;
        for (size_t v = 0; v < 4; v++)
            all = all && (entry[e].set[v] == 0 || (entry[e].set[v] >> index[v] & 1));
        if (all)
            return true;
    }
    return false;
}

/* The definition in docs/sweeps.md, cell by cell, against the walk that the program takes. */
static void test_sweep_filters_are_what_they_say(void **state)
{
    (void)state;
    uint64_t stream = 1;
    for (unsigned round = 0; round < 60; round++) {
        struct random_entry skip[RANDOM_ENTRY], only[RANDOM_ENTRY];
        char text[16384] =
            HEAD "engine: random\naxes:\n  batch: [1, 2, 3, 4, 5, 6]\n  seed: [1, 2, 3, 4, 5, 6]\n"
                 "  option.search_size: [1, 2, 3, 4, 5, 6]\n"
                 "  DRAM.bandwidth: [1 GB/s, 2 GB/s, 3 GB/s, 4 GB/s, 5 GB/s, 6 GB/s]\n"
                 "zip: [[seed, option.search_size]]\n";
        size_t n_skip = draw(&stream, RANDOM_ENTRY), n_only = draw(&stream, RANDOM_ENTRY), n = 0;
        uint32_t kept[RANDOM_VALUE * RANDOM_VALUE * RANDOM_VALUE];
        if (n_skip)
            write_entries(&stream, "skip", skip, n_skip, text + strlen(text));
        if (n_only)
            write_entries(&stream, "only", only, n_only, text + strlen(text));
        for (unsigned cell = 0; cell < RANDOM_VALUE * RANDOM_VALUE * RANDOM_VALUE; cell++) {
            unsigned linked = cell / RANDOM_VALUE % RANDOM_VALUE;
            unsigned index[] = {cell / RANDOM_VALUE / RANDOM_VALUE, linked, linked, cell % RANDOM_VALUE};
            if ((n_only == 0 || agrees(only, n_only, index)) && !agrees(skip, n_skip, index))
                kept[n++] = cell;
        }
        if (n == 0)
            continue; /* refused; a case of test_bad_input */
        struct opened *o = open_text(text, NULL, 0);
        assert_int_equal(o->sweep.n_point, n);
        assert_memory_equal(o->sweep.cell, kept, n * sizeof *kept);
        close_all(o);
    }
}

static void test_sweep_options_go_to_their_engines(void **state)
{
    (void)state;
    struct sweep_point random, hybrid;
    struct opened *o = open_text(HEAD "options: {search_bypass: true, random: {search_size: 7}}\nseed: 3\n"
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
    close_all(o);
}

static void test_sweep_shares_point_limits_over_different_layers(void **state)
{
    (void)state;
    struct sweep_point point;
    static const char *const set[] = {"limits.max_evaluations=30", "limits.max_seconds=1"};
    /* 2 layers; 101 / 2 = 50 and 5 / 2 s = 2.5 s, or the limits of a search where they are smaller */
    static const char text[] =
        HEAD "engine: random\nlimits: {point_max_evaluations: 101, point_max_seconds: 5}\n";
    struct opened *o = open_text(text, NULL, 0);
    sweep_point(&o->sweep, 0, &point);
    assert_int_equal(point.settings.max_evaluations, 50);
    assert_true(point.settings.max_seconds == 2.5);
    assert_true(point.settings.point_max_seconds == 5);
    close_all(o);
    o = open_text(text, set, 2);
    sweep_point(&o->sweep, 0, &point);
    assert_int_equal(point.settings.max_evaluations, 30);
    assert_true(point.settings.max_seconds == 1);
    assert_true(point.settings.point_max_seconds == 0);
    close_all(o);
}

static void test_sweep_set_replaces_what_is_not_swept(void **state)
{
    (void)state;
    static const char *const set[] = {"batch=4", "limits.max_evaluations=5", "option.search_size = 7",
                                      "DRAM.bandwidth=8 GB/s"};
    struct sweep_point point;
    struct architecture arch;
    struct dse_error err = {0};
    struct opened *o = open_text(HEAD "engine: random\n", set, 4);
    assert_int_equal(o->sweep.n_point, 1);
    assert_int_equal(o->sweep.schema.n_axis, 0);
    sweep_point(&o->sweep, 0, &point);
    assert_int_equal(point.workload->batch, 4);
    assert_int_equal(point.settings.max_evaluations, 5);
    assert_true(point.settings.option[0] == 7);
    assert_int_equal(sweep_point_build(&point, &arch, &err), DSE_OK);
    assert_true(arch.level[arch.n_level - 1].shared_bandwidth_word_per_cycle ==
                8); /* 8 GB/s, 8 bit words, 1 GHz */
    assert_non_null(strstr(o->spec.text, "# --set batch=4\n"));
    close_all(o);
}

static void test_sweep_measures_are_columns_and_part_of_the_keys(void **state)
{
    (void)state;
    struct dse_error err = {0};
    static const char *const measure[] = {"",
                                          "measure: [noc]\nplot: {metric: noc_latency_cycle}\n",
                                          "measure: [cosa]\n",
                                          "measure: [cosa, noc]\n",
                                          "measure: {noc: {max_steps: 9}}\n",
                                          "measure: {noc: , cosa: {}}\n"};
    static const unsigned what[] = {0,
                                    RESULT_MEASURE_NOC,
                                    RESULT_MEASURE_COSA,
                                    RESULT_MEASURE_NOC | RESULT_MEASURE_COSA,
                                    RESULT_MEASURE_NOC,
                                    RESULT_MEASURE_NOC | RESULT_MEASURE_COSA};
    uint64_t key[6];
    for (size_t i = 0; i < 6; i++) {
        char text[512];
        struct plan plan;
        snprintf(text, sizeof text, HEAD "engine: random\n%s", measure[i]);
        struct opened *o = open_text(text, NULL, 0);
        assert_int_equal(o->sweep.schema.measures, what[i]);
        assert_int_equal(plan_init(&plan, &o->sweep, 1, &err), DSE_OK);
        key[i] = plan.point_key[0];
        plan_free(&plan);
        close_all(o);
    }
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(key[i] != key[k]);
    assert_true(key[5] == key[3]); /* the same in another form */
}

static void test_sweep_keys_depend_on_what_matters(void **state)
{
    (void)state;
    struct dse_error err = {0};
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
        struct plan plan;
        struct opened *o = open_text(text[i], NULL, 0);
        assert_int_equal(plan_init(&plan, &o->sweep, 1, &err), DSE_OK);
        key[i][0] = plan.point_key[0];
        key[i][1] = plan.point_key[1];
        plan_free(&plan);
        close_all(o);
    }
    assert_true(key[0][0] != key[0][1]);
    assert_true(key[1][1] == key[0][0] && key[1][0] == key[0][1]); /* order and title do not matter */
    for (size_t i = 2; i < 8; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(k == 1 || key[i][0] != key[k][0]);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/dse_sweep_XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep_expands_axes_in_row_major_order),
        cmocka_unit_test(test_sweep_columns_have_units),
        cmocka_unit_test(test_sweep_mixed_units_become_text),
        cmocka_unit_test(test_sweep_zip_makes_one_dimension),
        cmocka_unit_test(test_sweep_points_are_one_dimension),
        cmocka_unit_test(test_sweep_layers_stand_in_the_order_of_the_network),
        cmocka_unit_test(test_sweep_constraints_axis_prices_given_mappings),
        cmocka_unit_test(test_sweep_constraints_axis_is_part_of_the_keys),
        cmocka_unit_test(test_sweep_skip_and_only_choose_cells),
        cmocka_unit_test(test_sweep_filters_are_what_they_say),
        cmocka_unit_test(test_sweep_options_go_to_their_engines),
        cmocka_unit_test(test_sweep_shares_point_limits_over_different_layers),
        cmocka_unit_test(test_sweep_set_replaces_what_is_not_swept),
        cmocka_unit_test(test_sweep_measures_are_columns_and_part_of_the_keys),
        cmocka_unit_test(test_sweep_keys_depend_on_what_matters),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
