/* libdse in hostile hands: whatever is passed, there is a code and a sentence, and the process lives.
 * Tests: library_open.c, library_layer.c, library_mapping.c, library_map.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "tests/dse/library/library_fixture.h"

/* The call ends with the code, and its error has the words. */
#define WRONG(call, code, words)                                                                             \
    do {                                                                                                     \
        f->error[0] = '\0';                                                                                  \
        assert_int_equal(call, code);                                                                        \
        if (!strstr(f->error, words))                                                                        \
            fail_msg("\"%s\" has not \"%s\"", f->error, words);                                              \
    } while (0)

static void test_missing_things_are_told(void **state)
{
    struct library_fixture fixture, *f = &fixture;
    struct dse_machine *machine = NULL;
    struct dse_network *network = NULL;
    struct dse_layer *layer = NULL;
    struct dse_scratch *scratch = NULL;
    struct dse_result *result = NULL;
    struct dse_field field;
    int32_t row[300] = {0};
    double value[3];
    size_t n;
    char text[8];
    (void)state;
    library_fixture_open(f, "simba", "resnet50", "conv1", NULL);
    WRONG(dse_machine_open(NULL, NULL, 0, &machine, ERROR), 2, "name of the machine is NULL");
    WRONG(dse_machine_open("simba", NULL, 0, NULL, ERROR), 2, "place for the machine is NULL");
    WRONG(dse_machine_open("simba", NULL, 1, &machine, ERROR), 2, "quantities is NULL");
    WRONG(dse_network_open(NULL, NULL, 0, &network, ERROR), 2, "name of the network is NULL");
    WRONG(dse_network_open("gpt2", NULL, 2, &network, ERROR), 2, "parameters is NULL");
    WRONG(dse_network_open("gpt2", NULL, 0, NULL, ERROR), 2, "is NULL");
    WRONG(dse_network_parse(NULL, 0, &network, ERROR), 2, "text of the network is NULL");
    WRONG(dse_network_parse("", 0, NULL, ERROR), 2, "is NULL");
    WRONG(dse_layer_open(NULL, f->network, "conv1", NULL, &layer, ERROR), 2, "machine is NULL");
    WRONG(dse_layer_open(f->machine, NULL, "conv1", NULL, &layer, ERROR), 2, "network is NULL");
    WRONG(dse_layer_open(f->machine, f->network, "conv1", NULL, NULL, ERROR), 2, "layer is NULL");
    WRONG(dse_scratch_new(NULL, &scratch, ERROR), 2, "layer is NULL");
    WRONG(dse_scratch_new(f->layer, NULL, ERROR), 2, "scratch is NULL");
    WRONG(dse_evaluate(NULL, f->scratch, 1, row, 204, NULL, 1, value, NULL, ERROR), 2, "layer is NULL");
    WRONG(dse_evaluate(f->layer, NULL, 1, row, 204, NULL, 1, value, NULL, ERROR), 2, "scratch is NULL");
    WRONG(dse_evaluate(f->layer, f->scratch, 1, NULL, 204, NULL, 1, value, NULL, ERROR), 2, "rows is NULL");
    WRONG(dse_evaluate(f->layer, f->scratch, 1, row, 204, NULL, 1, NULL, NULL, ERROR), 2, "values is NULL");
    WRONG(dse_explain(f->layer, row, 204, NULL, 0, ERROR), 2, "reason is NULL");
    WRONG(dse_explain(f->layer, row, 204, text, 0, ERROR), 2, "reason is NULL");
    WRONG(dse_explain(f->layer, NULL, 204, text, 8, ERROR), 2, "row is NULL");
    WRONG(dse_mapping_read(f->layer, NULL, 9, row, 204, ERROR), 2, "text of the mapping is NULL");
    WRONG(dse_mapping_read(f->layer, "", 0, NULL, 204, ERROR), 2, "row is NULL");
    WRONG(dse_mapping_write(f->layer, row, 204, NULL, NULL, 9, NULL, ERROR), 2, "text is NULL");
    WRONG(dse_draw(f->layer, 1, 0, 0, NULL, NULL, 204, &n, ERROR), 2, "row is NULL");
    WRONG(dse_draw(f->layer, 1, 0, 0, NULL, row, 204, NULL, ERROR), 2, "number of mappings is NULL");
    WRONG(dse_draw(NULL, 1, 0, 0, NULL, row, 204, &n, ERROR), 2, "layer is NULL");
    WRONG(dse_bounds(NULL, value, ERROR), 2, "layer is NULL");
    WRONG(dse_bounds(f->layer, NULL, ERROR), 2, "bounds is NULL");
    WRONG(dse_map(NULL, f->network, NULL, NULL, &result, ERROR), 2, "machine is NULL");
    WRONG(dse_map(f->machine, NULL, NULL, NULL, &result, ERROR), 2, "network is NULL");
    WRONG(dse_map(f->machine, f->network, NULL, NULL, NULL, ERROR), 2, "result is NULL");
    WRONG(dse_result_mapping(NULL, 0, row, 204, ERROR), 2, "result is NULL");
    assert_int_equal(dse_result_field(NULL, 0, 0, &field), 0);
    assert_int_equal(dse_result_count(NULL), 0);
    assert_null(dse_layer_shape(NULL));
    assert_null(dse_network_layer(NULL, 0, NULL, NULL, NULL));
    assert_int_equal(dse_machine_open(NULL, NULL, 0, &machine, NULL, 99), 2); /* no place for the error */
    assert_int_equal(dse_machine_open(NULL, NULL, 0, &machine, f->error, 0), 2);
    dse_result_free(NULL);
    dse_machine_free(NULL);
    assert_int_equal(dse_evaluate(f->layer, f->scratch, 0, NULL, 204, NULL, 0, NULL, NULL, ERROR), 0);
    assert_int_equal(dse_draw(f->layer, 0, 0, 0, NULL, NULL, 0, &n, ERROR), 0);
    library_fixture_close(f);
}

static void test_wrong_names_and_sizes_are_told(void **state)
{
    static char path[5000];
    static const char *const many[140] = {NULL};
    const char *const unknown[] = {"DRAM.bandwith", "10 GB/s"}, *const unit[] = {"DRAM.bandwidth", "10"},
                      *const longest[] = {path, "1"}, *const lacking[] = {"DRAM.bandwidth", NULL},
                      *const option[] = {"samples", "many"}, *const pad[] = {"P", "3"},
                      *const evil[] = {"n%s\x01\n", "%n"}, *const table[] = {"ert", "/no/ert.yaml"};
    struct library_fixture fixture, *f = &fixture;
    struct dse_machine *machine;
    struct dse_network *network;
    struct dse_layer *layer;
    struct dse_result *result;
    int32_t row[300] = {0};
    double value[3];
    size_t n;
    (void)state;
    memset(path, 'x', sizeof path - 1);
    library_fixture_open(f, "simba", "resnet50", "conv1", NULL);
    WRONG(dse_machine_open("simbo", NULL, 0, &machine, ERROR), 1, "did you mean simba?");
    assert_null(machine);
    WRONG(dse_machine_open("", NULL, 0, &machine, ERROR), 1, "empty");
    WRONG(dse_machine_open(path, NULL, 0, &machine, ERROR), 1, "unknown architecture");
    WRONG(dse_machine_open("/no/such.yaml", NULL, 0, &machine, ERROR), 3, "/no/such.yaml");
    WRONG(dse_machine_open("simba", unknown, 1, &machine, ERROR), 1, "DRAM.bandwidth");
    WRONG(dse_machine_open("simba", unit, 1, &machine, ERROR), 1, "unit");
    WRONG(dse_machine_open("simba", longest, 1, &machine, ERROR), 1, "so long a path");
    WRONG(dse_machine_open("simba", lacking, 1, &machine, ERROR), 2, "pair 0 has no value");
    WRONG(dse_machine_open("simba", evil, 1, &machine, ERROR), 1, "n%s??");
    WRONG(dse_machine_open("simba", table, 1, &machine, ERROR), 3, "/no/ert.yaml");
    WRONG(dse_machine_open("simba", many, 70, &machine, ERROR), 5, "more than 64");
    WRONG(dse_network_open("resnet", NULL, 0, &network, ERROR), 1, "unknown network");
    WRONG(dse_network_open("resnet50", unit, 1, &network, ERROR), 1, "DRAM.bandwidth");
    WRONG(dse_network_parse("{", 1, &network, ERROR), 1, "the network:");
    WRONG(dse_network_parse("network: a\nkind: layers\nlayers: []", 34, &network, ERROR), 1, "layers");
    WRONG(dse_layer_open(f->machine, f->network, "conv", NULL, &layer, ERROR), 1, "has no layer \"conv\"");
    WRONG(dse_layer_open(f->machine, f->network, "pool1", NULL, &layer, ERROR), 1, "pool1");
    WRONG(dse_layer_open(f->machine, f->network, NULL, NULL, &layer, ERROR), 2, "choose one");
    WRONG(dse_layer_open(f->machine, f->network, "conv1", &(struct dse_layer_options){.pad = pad, .n_pad = 1},
                         &layer, ERROR),
          2, "a whole number from 112");
    WRONG(dse_layer_open(f->machine, f->network, "conv1", &(struct dse_layer_options){.accounting = "soma"},
                         &layer, ERROR),
          2, "soma prices no mappings");
    WRONG(dse_layer_open(f->machine, f->network, "conv1", &(struct dse_layer_options){.batch = UINT32_MAX},
                         &layer, ERROR),
          5, "");
    WRONG(dse_evaluate(f->layer, f->scratch, 1, row, 203, NULL, 1, value, NULL, ERROR), 2,
          "rows of conv1 have 204 numbers, not 203");
    WRONG(dse_evaluate(f->layer, f->scratch, 1, row, 204, NULL, 999, value, NULL, ERROR), 2, "999 metrics");
    WRONG(dse_evaluate(f->layer, f->scratch, 1, row, 204, &(uint32_t){999}, 1, value, NULL, ERROR), 2,
          "no metric 999");
    WRONG(dse_draw(f->layer, SIZE_MAX, 0, 0, NULL, row, 204, &n, ERROR), 5, "at most");
    WRONG(dse_mapping_read(f->layer, "mapping: [{target: L9, type: temporal}]", 39, row, 204, ERROR), 1,
          "the mapping:1:");
    WRONG(dse_mapping_write(f->layer, row, 204, "nests", NULL, 0, NULL, ERROR), 2, "no form \"nests\"");
    WRONG(dse_mapping_write(f->layer, row, 204, NULL, NULL, 0, NULL, ERROR), 1, "does not fit: column 0");
    WRONG(dse_map(f->machine, f->network, "conv1", &(struct dse_search){.engine = "casa"}, &result, ERROR), 1,
          "did you mean cosa?");
    WRONG(dse_map(f->machine, f->network, "conv1", &(struct dse_search){.option = option, .n_option = 1},
                  &result, ERROR),
          1, "samples");
    WRONG(
        dse_map(f->machine, f->network, "conv1", &(struct dse_search){.objective = "speed"}, &result, ERROR),
        1, "speed");
    WRONG(dse_map(f->machine, f->network, "conv1", &(struct dse_search){.max_seconds = NAN}, &result, ERROR),
          2, "max_seconds");
    WRONG(dse_map(f->machine, f->network, "conv1", &(struct dse_search){.engine = "soma"}, &result, ERROR), 2,
          "schedules whole networks");
    WRONG(dse_map(f->machine, f->network, "conv1", &(struct dse_search){.constraints = "/no/file"}, &result,
                  ERROR),
          3, "/no/file");
    library_fixture_close(f);
}

/* A scratch belongs to a machine and an accounting. */
static void test_a_scratch_of_another_machine_is_refused(void **state)
{
    struct library_fixture fixture, *f = &fixture, other;
    int32_t row[300];
    double value;
    (void)state;
    library_fixture_open(f, "simba", "resnet50", "conv1", NULL);
    library_fixture_open(&other, "eyeriss_16x16", "resnet50", "conv1",
                         &(struct dse_layer_options){.accounting = "interstellar"});
    WRONG(dse_evaluate(f->layer, other.scratch, 1, row, 204, NULL, 1, &value, NULL, ERROR), 2,
          "the scratch was made for another");
    library_fixture_close(&other);
    library_fixture_close(f);
}

/* Rows with nonsense in them: no price, and a sentence. */
static void explain(struct library_fixture *f, const int32_t *row, const char *words)
{
    char reason[DSE_TEXT_MAX];
    double value = 0;
    size_t n_fit = 9;
    WELL(dse_evaluate(f->layer, f->scratch, 1, row, f->width, NULL, 1, &value, &n_fit, ERROR));
    assert_true(isnan(value) && n_fit == 0);
    WELL(dse_explain(f->layer, row, f->width, reason, sizeof reason, ERROR));
    if (!strstr(reason, words))
        fail_msg("\"%s\" has not \"%s\"", reason, words);
}

static void test_nonsense_is_explained(void **state)
{
    /* the column, what is put there, what is said; columns by the layout of dse.h with 7 dimensions */
    static const struct {
        int column;
        int32_t value;
        const char *words;
    } wrong[] = {
        {0, 0, "column 0: temporal factor of R at Registers is 0"},
        {0, 13, "R"},
        {8, INT32_MIN, "column 8: spatial factor of S at Registers is -2147483648"},
        {14, 7, "column 14: temporal order at Registers: 7 is not a dimension that is left"},
        {14, -1, "-1 is not a dimension"},
        {21, INT32_MAX, "column 21: spatial order at Registers"},
        {28, 8, "column 28: split at Registers is 8"},
        {29, 8, "column 29: keep at Registers is 8"},
        {30, 1, "column 30: further at Registers"},
        {31, -1, "no_temporal_reuse"},
        {32, 256, "no_link_transfer"},
        {33, 8, "no_multicast"},
        {5 * 34 + 29, 3, "keep at DRAM is 3, which cannot be"},
        {4 * 34 + 7, 1 << 20, "R"},
    };
    struct library_fixture fixture, *f = &fixture;
    int32_t row[300];
    char reason[DSE_TEXT_MAX];
    size_t n;
    (void)state;
    library_fixture_open(f, "simba", "resnet50", "conv1", NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        WELL(dse_draw(f->layer, 1, i, 0, NULL, row, f->width, &n, ERROR));
        WELL(dse_explain(f->layer, row, f->width, reason, sizeof reason, ERROR));
        assert_string_equal(reason, "");
        row[wrong[i].column] = wrong[i].value;
        explain(f, row, wrong[i].words);
    }
    library_fixture_close(f);
}

/* Draws with some numbers replaced by others of the row, by small ones or by any. What is priced all the same
 * is priced by numbers. */
static void scramble(struct library_fixture *f, uint64_t seed, int times)
{
    struct random_stream stream = random_stream_make(seed, 1, RANDOM_TEST);
    int32_t *row = calloc(f->width, sizeof *row), *broken = calloc(f->width, sizeof *broken);
    double value[64];
    char reason[64];
    size_t n, n_fit;
    assert_true(row && broken && f->n_metric <= 64);
    WELL(dse_draw(f->layer, 1, seed, 1, NULL, row, f->width, &n, ERROR));
    for (int i = 0; i < times; i++) {
        memcpy(broken, row, f->width * sizeof *row);
        for (uint32_t k = 1 + random_below(&stream, 6); k > 0; k--) {
            const uint32_t kind = random_below(&stream, 3), at = random_below(&stream, (uint32_t)f->width);
            broken[at] = kind == 0   ? row[random_below(&stream, (uint32_t)f->width)]
                         : kind == 1 ? (int32_t)random_below(&stream, 9) - 1
                                     : (int32_t)random_u32(&stream);
        }
        WELL(
            dse_evaluate(f->layer, f->scratch, 1, broken, f->width, NULL, f->n_metric, value, &n_fit, ERROR));
        WELL(dse_explain(f->layer, broken, f->width, reason, sizeof reason, ERROR));
        assert_int_equal(n_fit, !reason[0]);
        assert_int_equal(n_fit, isfinite(value[0]) && value[0] > 0);
    }
    free(broken);
    free(row);
}

static void test_scrambled_rows_cost_nothing_but_a_sentence(void **state)
{
    static const struct {
        const char *machine, *network, *layer, *accounting;
    } on[] = {
        {"simba", "resnet50", "conv1", NULL},
        {"eyeriss_16x16", "alexnet", "conv2", "interstellar"},
        {"eyeriss_16x16", "alexnet", "conv2", "interstellar-compat"},
        {"mindmappings_banks", "mindmappings_mttkrp_0", NULL, NULL},
        {"k80", "alexnet", "fc6", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
        struct library_fixture fixture;
        library_fixture_open(&fixture, on[i].machine, on[i].network, on[i].layer,
                             &(struct dse_layer_options){.accounting = on[i].accounting});
        scramble(&fixture, i, 1500);
        library_fixture_close(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_things_are_told),
        cmocka_unit_test(test_wrong_names_and_sizes_are_told),
        cmocka_unit_test(test_a_scratch_of_another_machine_is_refused),
        cmocka_unit_test(test_nonsense_is_explained),
        cmocka_unit_test(test_scrambled_rows_cost_nothing_but_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
