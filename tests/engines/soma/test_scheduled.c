/* Tests: scheduled.c. What the network reader accepts the engines of the family schedule: a small network of
 * every layer type and option, and lists of layers. Each schedule is read back from its text with the same
 * latency, its instructions are placed and replayed; it moves what must be moved and computes what must be
 * computed, by hand. What is refused names layer and reason, before a search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/report.h"
#include "costmodel/fused/accounting_soma.h"
#include "engines/driver/engine_fit.h"
#include "engines/soma/schedule_evaluate.h"
#include "engines/soma/schedule_reports.h"
#include "engines/soma/soma_engines.h"
#include "tests/support/schedule_run.h"

enum { MAC_PER_CYCLE = 512 * 16 }; /* of soma_edge */

struct row {
    const char *head, *layers;
    uint32_t batch;
    uint64_t moved; /* bytes: weights, inputs that are read and outputs once */
    uint64_t macs;
};

#define GRAPH "input: {C: 8, H: 6, W: 6}\n"
#define LIST "kind: layers\n"

static const struct row row[] = {
    {GRAPH, "- {name: a, type: conv, C: 8, K: 4, P: 6, Q: 6, R: 3, S: 3, pad: 1, from: input}\n", 2,
     288 + 2 * (288 + 144), 2 * 144 * 72},
    {GRAPH, "- {name: a, type: conv, C: 8, K: 4, P: 2, Q: 2, R: 3, S: 3, dilation: 2, from: input}\n", 1,
     288 + 288 + 16, 16 * 72},
    {GRAPH,
     "- {name: a, type: conv, C: 8, K: 4, P: 3, Q: 3, R: 2, S: 2, stride: 2, groups: 4, from: input}\n", 1,
     32 + 288 + 36, 36 * 8},
    {GRAPH, "- {name: a, type: depthwise, C: 8, P: 6, Q: 6, R: 3, S: 3, pad: 1, from: input}\n", 1,
     72 + 288 + 288, 288 * 9},
    /* the stride divides the filter; it does not; dilation besides: each element of the input by each tap,
     * but what padding cuts off */
    {GRAPH,
     "- {name: a, type: conv_transpose, C: 8, K: 2, P: 12, Q: 12, R: 2, S: 2, stride: 2, from: input}\n", 1,
     64 + 288 + 288, 36 * 64},
    {GRAPH,
     "- {name: a, type: conv_transpose, C: 8, K: 2, P: 13, Q: 13, R: 3, S: 3, stride: 2, from: input}\n", 1,
     144 + 288 + 338, 36 * 144},
    {GRAPH,
     "- {name: a, type: conv_transpose, C: 8, K: 2, P: 20, Q: 20, R: 3, S: 3, stride: 3, dilation: 2, "
     "groups: 2, "
     "from: input}\n",
     1, 72 + 288 + 800, 36 * 72},
    {GRAPH, "- {name: a, type: linear, C: 8, K: 5, P: 6, Q: 6, from: input}\n", 1, 40 + 288 + 180, 180 * 8},
    {GRAPH, "- {name: a, type: linear, C: 288, K: 5, from: input}\n", 3, 1440 + 3 * (288 + 5), 3 * 1440},
    {"inputs: {q: {C: 8, H: 6}, k: {C: 8, H: 5}}\n",
     "- {name: a, type: matmul, C: 8, K: 20, P: 6, groups: 4, from: q, weights_from: t}\n"
     "- {name: t, type: transpose, C: 8, K: 8, P: 5, permute: CHW, from: k}\n",
     2, 2 * (48 + 40 + 120), 2 * 20 * 2 * 6},
    /* two groups of queries share each of two second operands */
    {"inputs: {q: {C: 8, H: 6}, k: {C: 4, H: 5}}\n",
     "- {name: a, type: matmul, C: 8, K: 20, P: 6, groups: 4, share: 2, from: q, weights_from: k}\n", 2,
     2 * (48 + 20 + 120), 2 * 20 * 2 * 6},
    {GRAPH,
     "- {name: a, type: softmax, C: 8, P: 6, Q: 6, groups: 4, from: input}\n"
     "- {name: b, type: norm, C: 8, P: 6, Q: 6, groups: 2, from: a}\n",
     1, 288 + 288, 0},
    {GRAPH, "- {name: a, type: pool, C: 8, P: 3, Q: 3, R: 2, S: 2, stride: 2, from: input}\n", 1, 288 + 72,
     0},
    {GRAPH,
     "- {name: a, type: add, C: 8, P: 6, Q: 6, from: [input, b]}\n"
     "- {name: b, type: mul, C: 8, P: 6, Q: 6, from: [input, input]}\n",
     1, 288 + 288, 0},
    {GRAPH,
     "- {name: a, type: concat, C: 16, P: 6, Q: 6, from: [input, b]}\n"
     "- {name: b, type: norm, C: 8, P: 6, Q: 6, from: input}\n",
     1, 288 + 576, 0},
    {GRAPH,
     "- {name: a, type: softmax, C: 8, P: 6, Q: 6, from: input}\n"
     "- {name: b, type: activation, C: 8, P: 6, Q: 6, from: a}\n",
     1, 288 + 288, 0},
    {GRAPH, "- {name: a, type: transpose, C: 8, K: 6, P: 8, Q: 6, permute: HCW, from: input}\n", 1, 576, 0},
    {GRAPH, "- {name: a, type: upsample, C: 8, P: 12, Q: 18, factor: [2, 3], from: input}\n", 1, 288 + 1728,
     0},
    {GRAPH, "- {name: a, type: crop, C: 8, P: 4, Q: 3, offset: 1, from: input}\n", 1, 96 + 96, 0},
    /* split by readers: each reads its own channels of what two make */
    {GRAPH,
     "- {name: a, type: conv, C: 8, K: 4, P: 6, Q: 6, from: input}\n"
     "- {name: b, type: conv, C: 8, K: 4, P: 6, Q: 6, from: input}\n"
     "- {name: c, type: conv, C: 8, K: 8, P: 6, Q: 6, groups: 2, from: [a, b]}\n",
     1, 32 + 32 + 32 + 288 + 288, 288 * 8 + 288 * 4},
    /* an index, and the row that it names; the table has 1000 */
    {"input: {C: 1, H: 6}\n", "- {name: a, type: embedding, C: 1000, K: 32, P: 6, from: input}\n", 2,
     2 * (6 + 6 * 32 + 6 * 32), 0},
    /* recommendation: tables, and a perceptron over the rows that they give */
    {"inputs: {dense: {C: 4}, user: {C: 1}, item: {C: 1, H: 1}}\n",
     "- {name: users, type: embedding, C: 1000000, K: 16, from: user}\n"
     "- {name: items, type: embedding, C: 2000000, K: 16, from: item}\n"
     "- {name: bottom, type: linear, C: 4, K: 16, from: dense}\n"
     "- {name: top, type: linear, C: 48, K: 8, from: [users, items, bottom]}\n",
     4, 64 + 384 + 4 * (4 + 17 + 17 + 8), 4 * (64 + 384)},
    {LIST,
     "- {name: a, type: conv, C: 3, K: 4, P: 6, Q: 6, R: 3, S: 3, pad: 1, stride: 2}\n"
     "- {name: b, type: linear, C: 8, K: 9, P: 10, count: 3}\n"
     "- {name: c, type: matmul, C: 8, K: 20, P: 6, groups: 4}\n"
     "- {name: d, type: add, C: 5, P: 2, Q: 2}\n"
     "- {name: e, type: einsum, dims: {M: 3, L: 4, K: 5}, tensors: [{name: A, role: input, index: [M, K]}, "
     "{name: B, role: weights, index: [K, L]}, {name: Z, role: output, index: [M, L]}]}\n",
     1, 108 + 363 + 144 + 3 * (72 + 80 + 90) + (48 + 40 + 120) + 3 * 20 + (20 + 15 + 12),
     144 * 27 + 3 * 720 + 240 + 60},
    /* batches of their own: 4 samples, of the second layer 3 times as many rows */
    {LIST,
     "- {name: a, type: conv, C: 3, K: 4, P: 4, Q: 4, R: 3, S: 3, batch: 4}\n"
     "- {name: b, type: linear, C: 8, K: 9, P: 2, batch: 12}\n",
     0, 108 + 4 * (108 + 64) + 72 + 12 * (16 + 18), 4 * 64 * 27 + 12 * 144},
};

static void open_run(struct schedule_run *run, const struct engine *engine, const char *head,
                     const char *layers, uint32_t batch)
{
    char text[1200];
    struct dse_error err = {0};
    (void)snprintf(text, sizeof text, "network: small\n%slayers:\n%s", head, layers);
    schedule_run_open(run, engine, "tests/known/soma/tiny6.yaml", "64 KiB");
    network_free(&run->network);
    if (network_parse("small.yaml", text, strlen(text), &run->network, &err) != DSE_OK)
        fail_msg("%s\n%s", err.text, text);
    run->task.batch = batch;
    run->task.budget.max_evaluations = 400;
}

/* Read from its text, with a replay of its instructions. */
static void read_back(struct schedule_run *run)
{
    const struct engine_schedule *found = &run->result.schedule;
    struct soma_schedule s = {
        .arch = &run->arch, .network = &run->network, .batch = run->task.batch, .alignment = 1};
    struct dse_error err = {0};
    struct report report;
    if (soma_schedule_evaluate(&s, "found", found->text, found->text_length, &run->arena, &err) != DSE_OK)
        fail_msg("%s\n%s", err.text, found->text);
    assert_true((double)s.detail.result.cycle == found->latency_cycle);
    assert_true((double)s.detail.result.dram_byte == found->dram_byte);
    report_init(&report, "instructions");
    if (soma_report_instructions(&s, &report, &err) != DSE_OK)
        fail_msg("%s\n%s", err.text, found->text);
    bool gathers = false;
    for (uint32_t l = 0; l < run->network.n_layer; l++)
        gathers |= run->network.layer[l].type == LAYER_EMBEDDING;
    assert_int_equal(gathers, strstr(report.head.data, ", rows: ") != NULL);
    report_free(&report);
}

static void test_every_layer_type_is_scheduled(void **state)
{
    static const struct engine *const engine[] = {&engine_unfused, &engine_cocco, &engine_soma,
                                                  &engine_soma_plus};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (size_t e = 0; e < sizeof engine / sizeof *engine; e++) {
            struct schedule_run run;
            open_run(&run, engine[e], row[i].head, row[i].layers, row[i].batch);
            schedule_run_solve(&run);
            if (!run.result.feasible)
                fail_msg("%s: %s\n%s", engine[e]->name, run.result.reason, row[i].layers);
            const struct engine_schedule *s = &run.result.schedule;
            if (s->dram_byte < (double)row[i].moved || s->dram_byte > 5.0 * (double)row[i].moved)
                fail_msg("%s moves %.0f bytes, %llu at least\n%s", engine[e]->name, s->dram_byte,
                         (unsigned long long)row[i].moved, row[i].layers);
            assert_true(s->latency_cycle * MAC_PER_CYCLE >= (double)row[i].macs);
            read_back(&run);
            schedule_run_close(&run);
        }
}

/* With room for all of it soma-plus moves nothing twice. */
static void test_a_gather_moves_its_rows_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct schedule_run run;
        if (!strstr(row[i].layers, "embedding"))
            continue;
        open_run(&run, &engine_soma_plus, row[i].head, row[i].layers, row[i].batch);
        schedule_run_solve(&run);
        assert_true(run.result.feasible);
        assert_true(run.result.schedule.dram_byte == (double)row[i].moved);
        schedule_run_close(&run);
    }
}

/* Weights, rows of tables and outputs once, inputs not counted: bytes that any schedule moves. */
static double least_moved(const struct network *network)
{
    double byte = 0;
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct layer *layer = &network->layer[l];
        const double map = (double)layer->k * layer->p * layer->q;
        bool is_read = false;
        for (uint32_t r = 0; r < network->n_layer; r++) {
            is_read |= network->layer[r].weight_producer == (int32_t)l;
            for (uint32_t i = 0; i < network->layer[r].n_producer; i++)
                is_read |= network->layer[r].producer[i] == (int32_t)l;
        }
        byte += layer->type == LAYER_EMBEDDING ? map : (double)layer_weight_words(layer);
        byte += is_read ? 0 : map;
    }
    return byte;
}

/* bert_base has three embeddings, gpt2 a block twelve times; of Llama 3 8B most layers are in parts. */
static void test_whole_networks(void **state)
{
    static const struct {
        const struct engine *engine;
        const char *network, *machine;
        double mac_per_cycle;
    } whole[] = {{&engine_unfused, "bert_base", "soma_edge", MAC_PER_CYCLE},
                 {&engine_soma, "bert_base", "soma_edge", MAC_PER_CYCLE},
                 {&engine_soma_plus, "gpt2", "soma_edge", MAC_PER_CYCLE},
                 {&engine_unfused, "llama3_8b_decode4096", "soma_edge", MAC_PER_CYCLE},
                 {&engine_soma, "llama3_8b_decode4096", "simba", 4 * 4 * 64}};
    (void)state;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        struct schedule_run run;
        char path[128];
        (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", whole[i].network);
        schedule_run_open_on(&run, whole[i].engine, path, whole[i].machine, NULL, 0);
        run.task.budget.max_evaluations = 100;
        schedule_run_solve(&run);
        if (!run.result.feasible)
            fail_msg("%s, %s: %s", whole[i].network, whole[i].machine, run.result.reason);
        assert_true(run.result.schedule.dram_byte >= least_moved(&run.network));
        assert_true((double)run.result.schedule.latency_cycle * whole[i].mac_per_cycle >=
                    (double)network_macs(&run.network, 1));
        read_back(&run);
        schedule_run_close(&run);
    }
}

static void test_refusals_name_layer_and_reason(void **state)
{
    static const struct {
        const char *head, *layers, *why;
        bool compat;
    } refused[] = {
        {"input: {C: 8, H: 6}\n",
         "- {name: a, type: activation, C: 8, P: 6, from: input}\n"
         "- {name: b, type: embedding, C: 1000, K: 4, P: 6, from: a}\n",
         "layer b is an embedding whose indices layer a makes", false},
        {"input: {C: 1, H: 6}\n", "- {name: b, type: embedding, C: 1000, K: 4, P: 6, from: input}\n",
         "layer b is an embedding, which the published program's rules", true},
        {GRAPH,
         "- {name: a, type: conv_transpose, C: 8, K: 2, P: 13, Q: 13, R: 3, S: 3, stride: 2, from: input}\n",
         "its stride must divide its filter", true},
        {LIST,
         "- {name: a, type: linear, C: 2, K: 3, batch: 4}\n- {name: b, type: conv, C: 2, K: 3, P: 4, Q: 4, "
         "R: 3, "
         "S: 3, batch: 8}\n",
         "samples of layer b (conv) are not one larger layer", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct schedule_run run;
        struct dse_error err = {0};
        open_run(&run, &engine_soma, refused[i].head, refused[i].layers, 0);
        const struct engine_question question = {
            run.engine, &run.task, refused[i].compat ? &accounting_soma_compat : &accounting_soma};
        assert_int_not_equal(engine_takes(&question, &err), DSE_OK);
        if (!strstr(err.text, refused[i].why))
            fail_msg("%s", err.text);
        schedule_run_close(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_layer_type_is_scheduled),
        cmocka_unit_test(test_a_gather_moves_its_rows_alone),
        cmocka_unit_test(test_whole_networks),
        cmocka_unit_test(test_refusals_name_layer_and_reason),
    };
    return cmocka_run_group_tests_name("soma scheduled", tests, NULL, NULL);
}
