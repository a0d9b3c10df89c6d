/* Every shipped network: it reads, its totals are those of tests/known/network_totals.csv, and these agree
 * with public figures. The file says where each number comes from.
 * Tests: network_read.c. */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network.h"

enum { LINE_MAX_BYTE = 1024, N_COLUMN = 8 };

static void read_shipped(const char *name, struct network *net)
{
    char path[256];
    struct dse_error err = {0};
    snprintf(path, sizeof(path), "experiments/networks/%s.yaml", name);
    if (network_read(path, net, &err) != DSE_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
}

/* Parameters beyond the weights, by the rule named in the file's head. */
static uint64_t extra_parameters(const struct network *net, const char *rule)
{
    uint64_t n = 0;
    bool norm = strcmp(rule, "batchnorm") == 0;
    bool dense = strcmp(rule, "densenet") == 0;
    bool transformer = strcmp(rule, "transformer") == 0, rmsnorm = strcmp(rule, "rmsnorm") == 0;
    if (strcmp(rule, "none") == 0)
        return 0;
    assert_true(norm || dense || transformer || rmsnorm || strcmp(rule, "bias") == 0);
    for (uint32_t i = 0; i < net->n_layer; i++) {
        const struct layer *layer = &net->layer[i];
        bool first = i == 0;
        if (layer->type == LAYER_CONV || layer->type == LAYER_CONV_TRANSPOSE)
            n += norm ? 2u * layer->k : dense ? 2u * (first ? layer->k : layer->c) : layer->k;
        else if (layer->type == LAYER_LINEAR && !rmsnorm)
            n += layer->k + (dense ? 2u * layer->c : 0u);
        else if (layer->type == LAYER_NORM && (transformer || rmsnorm))
            n += (rmsnorm ? 1u : 2u) * layer->k;
    }
    return n;
}

static void check_near(const char *name, const char *what, double have, const char *public,
                       const char *tolerance)
{
    if (public[0] == '\0')
        return;
    double want = strtod(public, NULL);
    if (fabs(have - want) > want * strtod(tolerance, NULL))
        fail_msg("%s: %s %.17g, published %s, tolerance %s", name, what, have, public, tolerance);
}

/* Cuts a line at its first N_COLUMN commas; the source behind them may hold commas. */
static void split(char *line, const char *column[N_COLUMN])
{
    for (int i = 0; i < N_COLUMN; i++) {
        column[i] = line;
        line = strchr(line, ',');
        assert_non_null(line);
        *line++ = '\0';
    }
    assert_true(strlen(line) > 3); /* the source */
}

static void check_row(char *line)
{
    const char *column[N_COLUMN];
    split(line, column);
    struct network net;
    read_shipped(column[0], &net);
    assert_string_equal(net.name, column[0]);
    uint64_t macs = network_macs(&net, 1);
    uint64_t weights = network_weight_words(&net);
    if (macs != strtoull(column[1], NULL, 10) || weights != strtoull(column[2], NULL, 10))
        fail_msg("%s: %llu MAC, %llu weights; the file has %s and %s", net.name, (unsigned long long)macs,
                 (unsigned long long)weights, column[1], column[2]);
    assert_true(network_macs(&net, 16) == 16 * macs);
    check_near(net.name, "MAC", (double)macs, column[3], column[4]);
    check_near(net.name, "parameters", (double)(weights + extra_parameters(&net, column[7])), column[5],
               column[6]);
    network_free(&net);
}

static size_t check_rows(void)
{
    FILE *file = fopen("tests/known/network_totals.csv", "r");
    assert_non_null(file);
    char line[LINE_MAX_BYTE];
    size_t n = 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        if (line[0] == '#' || strncmp(line, "network,", 8) == 0)
            continue;
        check_row(line);
        n++;
    }
    fclose(file);
    return n;
}

static void test_network_totals_equal_the_known_ones(void **state)
{
    (void)state;
    size_t n = check_rows();
    glob_t found;
    assert_int_equal(glob("experiments/networks/*.yaml", 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, n); /* no shipped file without a row */
    globfree(&found);
}

static void read_set(const char *name, const struct network_set *set, size_t n, struct network *net)
{
    char path[256];
    struct dse_error err = {0};
    const struct network_settings settings = {set, n, false};
    snprintf(path, sizeof(path), "experiments/networks/%s.yaml", name);
    if (network_read_with(path, &settings, NULL, net, &err) != DSE_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
}

/* All blocks of each size: the published model is them and 50,257 token and 1,024 position embeddings,
 * biases and normalisation parameters (13 width a block) and the final normalisation (2 width). Published:
 * the parameter counts of openai-community/gpt2, -medium, -large and -xl on Hugging Face. */
static void test_gpt2_has_the_published_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        uint64_t width, depth, published;
    } row[] = {
        {"small", 768, 12, 124439808},
        {"medium", 1024, 24, 354823168},
        {"large", 1280, 36, 774030080},
        {"xl", 1600, 48, 1557611200},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct network_set set = {"size", row[i].size, NULL, 0, false};
        const uint64_t width = row[i].width;
        struct network net;
        read_set("gpt2", &set, 1, &net);
        uint64_t rest = (50257 + 1024) * width + 13 * width * row[i].depth + 2 * width;
        assert_true(network_weight_words(&net) == 12 * width * width * row[i].depth);
        assert_true(network_weight_words(&net) + rest == row[i].published);
        assert_true(network_weight_words(&net) + extra_parameters(&net, "transformer") ==
                    row[i].published - (50257 + 1024) * width - 2 * width);
        network_free(&net);
    }
}

/* Tables 6 (width) and 7 (resolution) of arXiv 1704.04861: millions of multiply-additions and of
 * parameters. */
static void test_mobilenet_scales_as_published(void **state)
{
    (void)state;
    static const struct {
        const char *width, *resolution;
        double macs, parameters;
    } row[] = {
        {"1.0", "224", 569e6, 4.2e6}, {"0.75", "224", 325e6, 2.6e6}, {"0.5", "224", 149e6, 1.3e6},
        {"0.25", "224", 41e6, 0.5e6}, {"1.0", "192", 418e6, 4.2e6},  {"1.0", "160", 290e6, 4.2e6},
        {"1.0", "128", 186e6, 4.2e6},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct network_set set[] = {{"width", row[i].width, NULL, 0, false},
                                          {"resolution", row[i].resolution, NULL, 0, false}};
        struct network net;
        read_set("mobilenet_v1", set, 2, &net);
        double parameters = (double)(network_weight_words(&net) + extra_parameters(&net, "batchnorm"));
        assert_true(fabs((double)network_macs(&net, 1) - row[i].macs) < 0.7e6);
        assert_true(fabs(parameters - row[i].parameters) < 0.05e6);
        network_free(&net);
    }
}

/* Twelve blocks of 12 width^2 weights per token and two products of all tokens with all, and the pooler
 * once. */
static void test_bert_has_the_macs_of_its_length(void **state)
{
    (void)state;
    static const char *const word[] = {"1", "128", "384", "512"};
    static const uint64_t length[] = {1, 128, 384, 512};
    for (size_t i = 0; i < sizeof length / sizeof length[0]; i++) {
        const struct network_set set = {"sequence", word[i], NULL, 0, false};
        const uint64_t n = length[i], square = 768 * 768;
        struct network net;
        read_set("bert_base", &set, 1, &net);
        assert_true(network_macs(&net, 1) == 12 * (12 * square * n + 2 * 768 * n * n) + square);
        assert_true(network_weight_words(&net) == 109360128);
        network_free(&net);
    }
}

/* Every weight but the embedding once per token, and two products of all queries with all keys: formula in
 * the file. The cache is read once for four heads. */
static void test_llama_has_the_macs_of_its_formula(void **state)
{
    (void)state;
    static const struct {
        const char *phase, *sequence, *cache;
        uint64_t rows, keys;
    } row[] = {
        {"prefill", "1", "5", 1, 1},
        {"prefill", "100", "5", 100, 100},
        {"decode", "7", "4096", 1, 4097},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct network_set set[] = {{"phase", row[i].phase, NULL, 0, false},
                                          {"sequence", row[i].sequence, NULL, 0, false},
                                          {"cache", row[i].cache, NULL, 0, false}};
        struct network net;
        struct problem problem;
        struct dse_error err;
        read_set("llama3_8b", set, 3, &net);
        uint64_t weights = 32ull * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 128256ull * 4096;
        assert_true(network_weight_words(&net) == weights + 128256ull * 4096);
        assert_true(network_macs(&net, 1) == row[i].rows * (weights + 32ull * 2 * 4096 * row[i].keys));
        const struct layer *scores = &net.layer[network_find_layer(&net, "block32.scores")];
        assert_true(layer_second_operand_words(scores) == 1024 * row[i].keys);
        assert_int_equal(layer_problem(scores, 1, &problem, &err), DSE_OK);
        assert_true(problem_tensor_words(&problem, 0) == 1024 * row[i].keys);
        assert_true(problem_tensor_words(&problem, 1) == 4096 * row[i].rows);
        assert_true(problem_tensor_words(&problem, 2) == 32 * row[i].keys * row[i].rows);
        assert_true(problem_macs(&problem) == 4096 * row[i].keys * row[i].rows);
        network_free(&net);
    }
}

/* The loop nest of every layer has the layer's own counts. */
static void check_layers(const struct network *net)
{
    for (uint32_t i = 0; i < net->n_layer; i++) {
        const struct layer *layer = &net->layer[i];
        struct problem problem;
        struct dse_error err = {0};
        if (!layer_has_macs(layer))
            continue;
        if (layer_problem(layer, 1, &problem, &err) != DSE_OK)
            fail_msg("%s: %s", net->name, err.text);
        assert_true(problem_macs(&problem) == layer_macs(layer, 1));
        if (layer->type == LAYER_EINSUM)
            continue;
        assert_true(problem_tensor_words(&problem, 0) == layer_second_operand_words(layer));
        assert_true(problem_tensor_words(&problem, 2) == (uint64_t)layer->k * layer->p * layer->q);
    }
}

static void test_network_totals_loop_nests_agree(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("experiments/networks/*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct network net;
        struct dse_error err = {0};
        if (network_read(found.gl_pathv[i], &net, &err) != DSE_OK)
            fail_msg("%s:%d: %s", err.file, err.line, err.text);
        check_layers(&net);
        assert_true(net.title[0] != '\0' && net.source[0] != '\0');
        network_free(&net);
    }
    globfree(&found);
}

static size_t distinct_layers(const char *name)
{
    struct network net;
    read_shipped(name, &net);
    size_t n = 0;
    for (uint32_t i = 0; i < net.n_layer; i++) {
        uint32_t j = 0;
        while (j < i && !layer_same_problem(&net.layer[i], &net.layer[j]))
            j++;
        n += layer_has_macs(&net.layer[i]) && j == i;
    }
    network_free(&net);
    return n;
}

/* Rows of the unique-layer tables that CoSA schedules (ISCA 2021, Fig. 6; the ResNet-50 table has 24, of
 * which the figure shows 23). Their contents were compared when the files were written: equal, occurrences
 * included. */
static void test_network_totals_distinct_layers_are_those_of_cosa(void **state)
{
    (void)state;
    assert_int_equal(distinct_layers("alexnet_one_tower"), 8);
    assert_int_equal(distinct_layers("vgg16"), 12);
    assert_int_equal(distinct_layers("resnet18"), 12);
    assert_int_equal(distinct_layers("resnet50_v1_5"), 24);
    assert_int_equal(distinct_layers("resnext50_32x4d"), 25);
    assert_int_equal(distinct_layers("densenet161"), 87);
    assert_int_equal(distinct_layers("deepbench"), 9);
    assert_int_equal(distinct_layers("dlrm"), 7);
}

/* Figure 1 of the paper by hand: 64 channels, doubled four times and halved again; each step has two 3x3
 * convolutions that take two rows each, each way up a 2x2 up-convolution. "In total the network has 23
 * convolutional layers", its output is 388x388 (section 2, figure 1). */
static void test_unet_is_figure_1(void **state)
{
    struct network net;
    uint64_t macs = 0, weights = 0, size = 572, c = 1, k = 64;
    uint32_t n = 0;
    (void)state;
    read_shipped("unet", &net);
    for (int step = 1; step <= 9; step++) {
        if (step > 5) { /* up: halves the channels; those of the other side come back */
            macs += c * (c / 2) * 4 * size * size;
            weights += c * (c / 2) * 4;
            size *= 2;
            k = c / 2;
        }
        for (int i = 0; i < 2; i++, c = k) {
            size -= 2;
            macs += c * k * 9 * size * size;
            weights += c * k * 9;
        }
        if (step < 5) {
            size /= 2;
            k *= 2;
        }
    }
    assert_int_equal(size, 388);
    for (uint32_t i = 0; i < net.n_layer; i++)
        n += layer_has_macs(&net.layer[i]);
    assert_int_equal(n, 23);
    assert_true(network_macs(&net, 1) == macs + 64 * 2 * size * size);
    assert_true(network_weight_words(&net) == weights + 64 * 2);
    network_free(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_network_totals_equal_the_known_ones),
        cmocka_unit_test(test_gpt2_has_the_published_parameters),
        cmocka_unit_test(test_mobilenet_scales_as_published),
        cmocka_unit_test(test_bert_has_the_macs_of_its_length),
        cmocka_unit_test(test_llama_has_the_macs_of_its_formula),
        cmocka_unit_test(test_network_totals_loop_nests_agree),
        cmocka_unit_test(test_unet_is_figure_1),
        cmocka_unit_test(test_network_totals_distinct_layers_are_those_of_cosa),
    };
    return cmocka_run_group_tests_name("network_totals", tests, NULL, NULL);
}
