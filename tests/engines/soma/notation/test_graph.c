/* The networks of the SoMa experiments against the layer tables of the reference (tests/known/soma/parser),
 * layer by layer: order, operator, shapes, pads, producers, second operands, weights. And what the graph
 * makes of a network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/soma_case.h"

enum { FIELD_COUNT = 19, LINE_MAX_BYTE = 1024 };

struct table_row {
    char line[LINE_MAX_BYTE];
    char *field[FIELD_COUNT];
    const char *file;
    uint32_t layer;
};

static bool next_row(FILE *file, struct table_row *row)
{
    if (fgets(row->line, sizeof(row->line), file) == NULL)
        return false;
    row->line[strcspn(row->line, "\n")] = '\0';
    char *rest = row->line;
    for (int i = 0; i < FIELD_COUNT; i++)
        row->field[i] = strsep(&rest, ",");
    assert_non_null(row->field[FIELD_COUNT - 1]);
    return true;
}

static uint32_t number(const struct table_row *row, int field)
{
    return (uint32_t)strtoul(row->field[field], NULL, 10);
}

static void expect(const struct table_row *row, const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        fail_msg("%s, layer %u: %s is %llu, not %llu", row->file, row->layer, what, (unsigned long long)got,
                 (unsigned long long)want);
}

/* The tables have fewer operators: norms, softmax, activations and copies are "Pointwise", and so on. */
static bool same_type(const struct table_row *row, enum layer_type type)
{
    const char *name = row->field[0];
    if (strcmp(name, "Conv") == 0)
        return type == LAYER_CONV || type == LAYER_LINEAR;
    if (strcmp(name, "GroupConv") == 0)
        return type == LAYER_CONV || type == LAYER_MATMUL;
    if (strcmp(name, "FC") == 0)
        return type == LAYER_LINEAR;
    if (strcmp(name, "Pool") == 0)
        return type == LAYER_POOL;
    if (strcmp(name, "Eltwise") == 0)
        return number(row, 17) == 1 ? type == LAYER_ACTIVATION : type == LAYER_ADD;
    if (strcmp(name, "Transpose") == 0)
        return type == LAYER_TRANSPOSE;
    return strcmp(name, "Pointwise") == 0 &&
           (type == LAYER_NORM || type == LAYER_SOFTMAX || type == LAYER_ACTIVATION || type == LAYER_CONCAT);
}

static void check_shape(const struct table_row *row, const struct layer *layer)
{
    const uint32_t got[10] = {layer->k,      layer->p,         layer->q,         layer->r,
                              layer->s,      layer->stride[0], layer->stride[1], layer->pad[0],
                              layer->pad[1], layer->groups};
    static const char *const what[10] = {"K", "P", "Q", "R", "S", "stride", "stride", "pad", "pad", "groups"};
    for (int i = 0; i < 10; i++)
        if (!(i == 5 && layer->p == 1) && !(i == 6 && layer->q == 1)) /* one output has no stride */
            expect(row, what[i], got[i], number(row, i + 4));
    expect(row, "operands", layer->n_operand, number(row, 17));
    expect(row, "C", (uint64_t)layer->c * layer->n_operand, number(row, 1));
    bool window = layer->type == LAYER_CONV || layer->type == LAYER_POOL;
    if (window ? layer->h < number(row, 2) || layer->w < number(row, 3)
               : layer->h != number(row, 2) || layer->w != number(row, 3))
        fail_msg("%s, layer %u: input %u x %u", row->file, row->layer, layer->h, layer->w);
    if (window && (layer->dilation[0] != 1 || layer->dilation[1] != 1))
        fail_msg("%s, layer %u: dilation", row->file, row->layer);
}

static void check_producers(const struct table_row *row, const struct soma_graph *graph)
{
    uint32_t o = graph->first_operand[row->layer], end = graph->first_operand[row->layer + 1];
    for (int second = 0; second < 2; second++) {
        char *rest = row->field[14 + second];
        for (char *word; (word = strsep(&rest, " ")) != NULL;) {
            if (word[0] == '\0')
                continue;
            assert_true(o < end);
            if (graph->operand[o].source != (int32_t)strtol(word, NULL, 10))
                fail_msg("%s, layer %u: producer %d, not %s", row->file, row->layer, graph->operand[o].source,
                         word);
            assert_int_equal(graph->operand[o++].second, second);
        }
    }
    expect(row, "operand count", o, end);
}

static void check_network(const char *network, const char *table)
{
    struct soma_case c;
    struct table_row row = {.file = table};
    soma_case_open(&c, network, 8 << 20);
    FILE *file = fopen(table, "r");
    assert_non_null(file);
    for (; next_row(file, &row); row.layer++) {
        assert_true(row.layer < c.network.n_layer);
        const struct layer *layer = &c.network.layer[row.layer];
        if (!same_type(&row, layer->type))
            fail_msg("%s, layer %u is a %s, not %s", table, row.layer, row.field[0],
                     layer_type_text(layer->type));
        check_shape(&row, layer);
        check_producers(&row, &c.graph);
        expect(&row, "weights", c.graph.weight_word[row.layer], number(&row, 16));
        expect(&row, "classifier", c.graph.classifier[row.layer], strcmp(row.field[0], "FC") == 0);
        if (layer->type == LAYER_TRANSPOSE)
            assert_string_equal(layer->permute, row.field[18]);
    }
    expect(&row, "number of layers", c.network.n_layer, row.layer);
    fclose(file);
    soma_case_close(&c);
}

static void test_graph_equals_the_tables(void **state)
{
    static const char *const name[][2] = {
        {"resnet50_soma", "resnet50"},
        {"resnet101_soma", "resnet101"},
        {"inception_resnet_v1", "inception_resnet_v1"},
        {"randwire_small", "randwire_small"},
        {"randwire_large", "randwire_large"},
        {"gpt2_small_prefill512", "gpt2_small_prefill512"},
        {"gpt2_small_decode513", "gpt2_small_decode513"},
        {"gpt2_xl_prefill1024", "gpt2_xl_prefill1024"},
        {"gpt2_xl_decode1025", "gpt2_xl_decode1025"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
        char network[128], table[128];
        snprintf(network, sizeof(network), "experiments/networks/%s.yaml", name[i][0]);
        snprintf(table, sizeof(table), "tests/known/soma/parser/%s.csv", name[i][1]);
        check_network(network, table);
    }
    check_network("tests/known/soma/tiny6.yaml", "tests/known/soma/parser/tiny6.csv");
}

/* tiny6 by hand: A is read by B and C, B and C by D, D by E, E by F. */
static void test_graph_lists_who_reads_a_layer(void **state)
{
    static const uint32_t first[7] = {0, 2, 3, 4, 5, 6, 6}, reader[6] = {1, 2, 3, 3, 4, 5};
    struct soma_case c;
    (void)state;
    soma_case_open(&c, "tests/known/soma/tiny6.yaml", 1 << 20);
    assert_memory_equal(c.graph.first_use, first, sizeof(first));
    for (int i = 0; i < 6; i++)
        assert_int_equal(c.graph.operand[c.graph.use[i]].layer, reader[i]);
    soma_case_close(&c);
}

static void test_graph_refuses_a_list(void **state)
{
    static const char text[] = "network: list\nkind: layers\nlayers:\n- {name: a, type: conv, C: 3, K: 4}\n";
    struct network network;
    struct arena arena;
    struct soma_graph graph;
    struct dse_error err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(network_parse("list.yaml", text, sizeof(text) - 1, &network, &err), DSE_OK);
    assert_int_equal(soma_graph_init(&network, &arena, &graph, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "it needs a graph"));
    network_free(&network);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph_equals_the_tables),
        cmocka_unit_test(test_graph_lists_who_reads_a_layer),
        cmocka_unit_test(test_graph_refuses_a_list),
    };
    return cmocka_run_group_tests_name("soma graph", tests, NULL, NULL);
}
