/* A schedule in runs against the same schedule as a whole: all totals, of random networks and schemes on
 * machines with and without streams, and of a network with a block several times, whose runs repeat. And the
 * parts of layers that make few tiles. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "costmodel/fused/accounting_soma.h"
#include "costmodel/model/network_cut.h"
#include "engines/soma/long_schedule.h"
#include "engines/soma/notation/unroll.h"
#include "engines/soma/parts.h"
#include "engines/soma/search/lfa_price.h"
#include "engines/soma/search/lfa_search.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/task.h"
#include "tests/support/schedule_run.h"
#include "tests/support/soma_plain.h"

enum { N_NETWORK = 40, N_LFA = 8 };

struct long_case {
    struct schedule_run run;
    struct soma_task task;
    struct arena scratch, runs;
    uint32_t n_good, n_bad; /* schedules without and with a fault */
    uint64_t n_run, n_evaluated;
};

static void open_case(struct long_case *c, const char *machine, const char *yaml, size_t length,
                      const struct network_repeat *repeat)
{
    struct dse_error err = {0};
    schedule_run_open_on(&c->run, &engine_unfused, "tests/known/soma/tiny6.yaml", machine, NULL, 0);
    network_free(&c->run.network);
    if (network_parse("random.yaml", yaml, length, &c->run.network, &err) != DSE_OK)
        fail_msg("%s", err.text);
    c->run.network.n_repeat = repeat != NULL;
    c->run.network.repeat = repeat;
    if (soma_task_prepare(&c->run.task, NULL, &accounting_soma, (struct soma_core_choice){SOMA_CORE_AUTO, 0},
                          &c->run.arena, &c->task, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void close_case(struct long_case *c)
{
    c->run.network.n_repeat = 0;
    soma_task_free(&c->task);
    schedule_run_close(&c->run);
}

static void near(const char *what, double a, double b)
{
    if (fabs(a - b) > 1e-11 * fabs(b))
        fail_msg("%s: %.17g in runs, %.17g as a whole", what, a, b);
}

static void same_totals(const struct schedule_detail *a, const struct schedule_detail *b)
{
    const struct fused_result *one = &a->result, *two = &b->result;
    assert_int_equal(one->cycle, two->cycle);
    assert_int_equal(one->compute_cycle, two->compute_cycle);
    assert_int_equal(one->dram_cycle, two->dram_cycle);
    assert_int_equal(one->stall_cycle, two->stall_cycle);
    assert_int_equal(one->dram_byte, two->dram_byte);
    assert_int_equal(one->stream_byte, two->stream_byte);
    assert_int_equal(one->buffer_max_byte, two->buffer_max_byte);
    assert_int_equal(a->bound_cycle, b->bound_cycle);
    assert_int_equal(a->tiles.cycle, b->tiles.cycle);
    near("core_energy_j", one->core_energy_j, two->core_energy_j);
    near("dram_energy_j", one->dram_energy_j, two->dram_energy_j);
    near("energy_j", one->energy_j, two->energy_j);
    near("buffer_average_byte", one->buffer_average_byte, two->buffer_average_byte);
    near("buffer_average_compat_byte", one->buffer_average_compat_byte, two->buffer_average_compat_byte);
    near("buffer_average_compute_byte", one->buffer_average_compute_byte, two->buffer_average_compute_byte);
    near("tiles.buffer_energy_j", a->tiles.buffer_energy_j, b->tiles.buffer_energy_j);
    near("tiles.local_energy_j", a->tiles.local_energy_j, b->tiles.local_energy_j);
    near("tiles.bus_energy_j", a->tiles.bus_energy_j, b->tiles.bus_energy_j);
    near("tiles.mac_energy_j", a->tiles.mac_energy_j, b->tiles.mac_energy_j);
}

/* Runs of at least so many tiles: of each layer group, of some, of all. With a buffer that is too small by
 * half, the first position that holds too much is the same. */
static void compare_in(struct long_case *c, const struct soma_lfa *lfa, uint64_t *peak_byte)
{
    static const uint64_t run_tile[] = {1, 5, 17, 1000000};
    const struct soma_search search = soma_task_whole(&c->task);
    struct fused_schedule whole;
    struct schedule_detail detail;
    struct soma_fault_info fault;
    struct dse_error err = {0};
    arena_reset(&c->scratch);
    assert_int_equal(soma_parse(&search.context, lfa, &c->scratch, &whole, &fault, &err), DSE_OK);
    if (fault.what != SOMA_OK)
        return;
    assert_int_equal(schedule_price_detail(c->task.core.pricer, &whole, &c->scratch, &detail, &err), DSE_OK);
    *peak_byte = detail.result.buffer_max_byte;
    for (size_t i = 0; i < sizeof run_tile / sizeof *run_tile; i++) {
        struct soma_long found;
        const bool place = i == 1;
        if (soma_long_evaluate(&search.context, c->task.core.pricer, lfa, run_tile[i], place, &c->runs,
                               &found, &err) != DSE_OK)
            fail_msg("%s", err.text);
        assert_int_equal(found.has_fault, detail.result.fault != FUSED_OK);
        c->n_bad += found.has_fault;
        if (found.has_fault) {
            assert_int_equal(found.detail.result.fault, detail.result.fault);
            assert_int_equal((int64_t)found.first + found.detail.result.fault_position,
                             detail.result.fault_position);
            continue;
        }
        c->n_good++;
        c->n_run += found.n_run;
        c->n_evaluated += found.n_evaluated;
        same_totals(&found.detail, &detail);
        assert_int_equal(found.fused.n_tile, whole.n_tile);
        assert_int_equal(found.fused.n_tensor, whole.n_tensor);
        assert_int_equal(found.fused.n_dram, whole.n_dram);
        assert_int_equal(soma_lfa_tiles(lfa), whole.n_tile);
        assert_true(!place || found.placed);
    }
}

static void compare(struct long_case *c, const struct soma_lfa *lfa)
{
    struct fused_machine *machine = &c->task.core.pricer->machine;
    const uint64_t byte = machine->buffer_byte;
    uint64_t peak_byte = 0;
    compare_in(c, lfa, &peak_byte);
    machine->buffer_byte = peak_byte / 2;
    compare_in(c, lfa, &peak_byte);
    machine->buffer_byte = byte;
}

static void test_runs_add_up_to_the_whole(void **state)
{
    static const char *const machine[] = {"soma_edge", "simba", "mindmappings", "eyeriss_16x16"};
    struct long_case c = {0};
    (void)state;
    arena_init(&c.scratch);
    arena_init(&c.runs);
    struct random_stream stream = random_stream_make(16, 1, RANDOM_TEST);
    for (uint32_t i = 0; i < N_NETWORK; i++) {
        struct text_buffer text;
        text_init(&text);
        soma_random_network(&stream, &text);
        open_case(&c, machine[i % 4], text.data, text.length, NULL);
        text_free(&text);
        for (int k = 0; k < N_LFA; k++) {
            const struct soma_lfa lfa = soma_random_lfa(&stream, &c.task.graph, &c.run.arena);
            compare(&c, &lfa);
        }
        close_case(&c);
    }
    assert_true(c.n_good > 100 && c.n_bad > 100 && c.n_run > 200);
    assert_int_equal(c.n_run, c.n_evaluated);
    arena_free(&c.scratch);
    arena_free(&c.runs);
}

/* Blocks of two layers behind one another. */
static void test_repetitions_are_evaluated_once(void **state)
{
    static const struct network_repeat repeat = {"b", 1, 2, 6};
    struct long_case c = {0};
    struct text_buffer text;
    (void)state;
    arena_init(&c.scratch);
    arena_init(&c.runs);
    text_init(&text);
    text_append(&text, "network: blocks\ninput: {C: 16, H: 8, W: 8}\nlayers:\n"
                       "- {name: pre, type: conv, C: 16, K: 16, P: 8, Q: 8, from: input}\n");
    for (int b = 1; b <= 6; b++)
        text_append(
            &text,
            "- {name: b%d.up, type: conv, C: 16, K: 64, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: %s%d.down}\n"
            "- {name: b%d.down, type: conv, C: 64, K: 16, P: 8, Q: 8, from: b%d.up}\n",
            b, "b", b - 1, b, b);
    text_append(&text, "- {name: fc, type: linear, C: 1024, K: 10, from: b6.down}\n");
    char *first = strstr(text.data, "b0.down");
    memcpy(first, "pre    ", strlen("pre    "));
    for (int m = 0; m < 2; m++) {
        struct soma_lfa_prices *prices;
        struct soma_price price;
        struct soma_lfa folded, whole;
        struct dse_error err = {0};
        open_case(&c, m ? "simba" : "soma_edge", text.data, text.length, &repeat);
        assert_non_null(c.task.fold);
        const struct soma_search search = soma_task_whole(&c.task);
        soma_lfa_new(c.task.search.context.network->n_layer, &c.run.arena, &folded);
        soma_lfa_new(search.context.network->n_layer, &c.run.arena, &whole);
        assert_int_equal(soma_lfa_prices_new(&c.task.search, &prices, &err), DSE_OK);
        assert_int_equal(soma_initial_lfa(&c.task.search, SOMA_MOVES_PAPER, search.machine.buffer_byte,
                                          prices, &folded, &price, &err),
                         DSE_OK);
        assert_true(isfinite(price.cost));
        c.n_run = c.n_evaluated = 0;
        for (uint32_t t = 1; t <= 16; t *= 4) {
            for (uint32_t g = 0; g + 1 < folded.n_flc; g++)
                folded.tiling[g] = t;
            soma_unroll_lfa(c.task.fold, &folded, &whole);
            compare(&c, &whole);
        }
        assert_true(c.n_evaluated < c.n_run * 3 / 4);
        soma_lfa_prices_free(prices);
        close_case(&c);
    }
    assert_true(c.n_good >= 16);
    text_free(&text);
    arena_free(&c.scratch);
    arena_free(&c.runs);
}

/* Along output channels alone each part would have a tile for every row or two of 2,048. Two parts' weights
 * fit: at most 24,576 each. */
static void test_parts_that_make_few_tiles(void **state)
{
    const struct soma_part_rule rule = {128 << 10, 16, 0, SOMA_PART_SHARE, 0, NULL, false, false};
    struct network network;
    struct soma_scheduled out;
    struct arena arena;
    struct dse_error err = {0};
    (void)state;
    arena_init(&arena);
    assert_int_equal(network_read("experiments/networks/llama3_8b.yaml", &network, &err), DSE_OK);
    const struct soma_scheduled given = {&network, 1};
    assert_int_equal(soma_parts_by_rule(&given, &rule, &arena, &out, &err), DSE_OK);
    for (uint32_t i = 0; i < out.network->n_cut; i++) {
        const struct network_cut *cut = &out.network->cut[i];
        if (strcmp(cut->layer, "block7.gate") == 0)
            assert_true(cut->c > 8 && cut->k < 512 && cut->c * cut->k > 14336 * 4096 / 24576);
    }
    assert_int_equal(network_macs(out.network, 1), network_macs(&network, 1));
    assert_int_equal(network_weight_words(out.network), network_weight_words(&network));
    network_free(&network);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_add_up_to_the_whole),
        cmocka_unit_test(test_repetitions_are_evaluated_once),
        cmocka_unit_test(test_parts_that_make_few_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
