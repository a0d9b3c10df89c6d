/* Tests: unroll.c. A network with a block several times: prices of the folded network are those of the whole
 * one with the scheme unrolled; what the engines find for it is a schedule of the whole, as good as when
 * every layer is searched for itself within a few percent, and above the bound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "costmodel/fused/accounting_soma.h"
#include "engines/soma/notation/unroll.h"
#include "engines/soma/schedule_evaluate.h"
#include "engines/soma/search/lfa_move.h"
#include "engines/soma/search/lfa_price.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/task.h"
#include "tests/support/schedule_run.h"

enum { BLOCKS = 5, N_BLOCK_LAYER = 4, N_LFA = 200 };

static const struct network_repeat repeat = {"b", 1, N_BLOCK_LAYER, BLOCKS};

static void write_network(struct text_buffer *out)
{
    const char *from = "pre";
    char name[32];
    text_append(out,
                "network: blocks\ninput: {C: 3, H: 4, W: 4}\nlayers:\n"
                "- {name: pre, type: conv, C: 3, K: 128, P: 4, Q: 4, R: 3, S: 3, pad: 1, from: input}\n");
    for (int b = 1; b <= BLOCKS; b++) {
        text_append(
            out,
            "- {name: b%d.up, type: conv, C: 128, K: 256, P: 4, Q: 4, from: %s}\n"
            "- {name: b%d.middle, type: depthwise, C: 256, P: 4, Q: 4, R: 3, S: 3, pad: 1, from: b%d.up}\n"
            "- {name: b%d.down, type: conv, C: 256, K: 128, P: 4, Q: 4, from: b%d.middle}\n"
            "- {name: b%d.sum, type: add, C: 128, P: 4, Q: 4, from: [%s, b%d.down]}\n",
            b, from, b, b, b, b, b, from, b);
        (void)snprintf(name, sizeof name, "b%d.sum", b);
        from = name;
    }
    text_append(out,
                "- {name: pool, type: pool, C: 128, R: 4, S: 4, from: %s}\n"
                "- {name: fc, type: linear, C: 128, K: 100, from: pool}\n",
                from);
}

static void open_run(struct schedule_run *run, const struct engine *engine, const char *capacity, bool unroll)
{
    struct text_buffer text;
    struct dse_error err = {0};
    text_init(&text);
    write_network(&text);
    schedule_run_open(run, engine, "tests/known/soma/tiny6.yaml", capacity);
    network_free(&run->network);
    if (network_parse("blocks.yaml", text.data, text.length, &run->network, &err) != DSE_OK)
        fail_msg("%s", err.text);
    text_free(&text);
    run->network.n_repeat = 1;
    run->network.repeat = &repeat;
    run->network.unroll = unroll;
}

static void test_folded_prices_are_those_of_the_whole(void **state)
{
    struct schedule_run run;
    struct soma_task task;
    struct soma_lfa_prices *prices;
    struct soma_mover mover;
    struct soma_lfa lfa, next, whole_lfa;
    struct soma_price folded, whole;
    struct arena scratch;
    struct dse_error err = {0};
    struct random_stream stream = random_stream_make(1, 2, RANDOM_TEST);
    uint32_t n_valid = 0, n_fused = 0;
    (void)state;
    open_run(&run, &engine_soma, "96 KiB", false);
    arena_init(&scratch);
    assert_int_equal(soma_task_prepare(&run.task, NULL, &accounting_soma,
                                       (struct soma_core_choice){SOMA_CORE_ARRAY, 0}, &run.arena, &task,
                                       &err),
                     DSE_OK);
    assert_non_null(task.fold);
    assert_int_equal(task.search.context.network->n_layer, 1 + N_BLOCK_LAYER + 2);
    const struct soma_search search = soma_task_whole(&task);
    const uint64_t limit = search.machine.buffer_byte;
    assert_int_equal(soma_lfa_prices_new(&task.search, &prices, &err), DSE_OK);
    soma_lfa_new(task.search.context.network->n_layer, &run.arena, &lfa);
    soma_lfa_new(task.search.context.network->n_layer, &run.arena, &next);
    soma_lfa_new(search.context.network->n_layer, &run.arena, &whole_lfa);
    soma_mover_init(&task.search, SOMA_MOVES_PAPER, NULL, &run.arena, &mover);
    assert_int_equal(soma_initial_lfa(&task.search, SOMA_MOVES_PAPER, limit, prices, &lfa, &folded, &err),
                     DSE_OK);
    assert_true(isfinite(folded.cost));
    for (int i = 0; i < N_LFA; i++) {
        soma_lfa_copy(&lfa, &next);
        for (uint32_t k = random_below(&stream, 3); k < 3; k++)
            (void)soma_lfa_move(&mover, &stream, &next);
        assert_int_equal(soma_lfa_price(prices, &next, limit, &folded, &err), DSE_OK);
        if (isinf(folded.cost))
            continue;
        arena_reset(&scratch);
        soma_unroll_lfa(task.fold, &next, &whole_lfa);
        assert_int_equal(soma_price_lfa(&search, &whole_lfa, limit, &scratch, NULL, &whole, &err), DSE_OK);
        assert_int_equal(folded.cycle, whole.cycle);
        assert_int_equal(folded.buffer_max_byte, whole.buffer_max_byte);
        assert_true(fabs(folded.energy_j - whole.energy_j) <= 1e-12 * whole.energy_j);
        n_valid++;
        n_fused += next.n_flc < next.n_layer;
        soma_lfa_copy(&next, &lfa);
    }
    assert_true(n_valid > 20 && n_fused > 10);
    soma_lfa_prices_free(prices);
    soma_task_free(&task);
    arena_free(&scratch);
    schedule_run_close(&run);
}

/* Every layer of every repetition is in the text, and all repetitions are fused alike. */
static void check_text(struct schedule_run *run)
{
    const struct engine_schedule *found = &run->result.schedule;
    struct soma_schedule s = {.arch = &run->arch, .network = &run->network, .batch = 1, .alignment = 1};
    struct dse_error err = {0};
    uint32_t n_group[BLOCKS] = {0};
    if (soma_schedule_evaluate(&s, "found", found->text, found->text_length, &run->arena, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_true((double)s.detail.result.cycle == found->latency_cycle);
    for (uint32_t g = 0; g < s.lfa.n_flc; g++) {
        const uint32_t first = s.lfa.order[s.lfa.flc[g]], last = s.lfa.order[soma_group_stop(&s.lfa, g) - 1];
        if (first < 1 || first >= 1 + N_BLOCK_LAYER * BLOCKS)
            continue;
        assert_int_equal((first - 1) / N_BLOCK_LAYER, (last - 1) / N_BLOCK_LAYER);
        n_group[(first - 1) / N_BLOCK_LAYER]++;
    }
    for (int b = 0; b < BLOCKS; b++)
        assert_int_equal(n_group[b], n_group[0]);
    assert_true(n_group[0] > 0);
}

static void test_engines_repeat_what_they_find(void **state)
{
    static const struct engine *const engine[] = {&engine_unfused, &engine_cocco, &engine_soma,
                                                  &engine_soma_plus};
    (void)state;
    for (size_t e = 0; e < sizeof engine / sizeof *engine; e++) {
        double cost[2];
        for (int unroll = 0; unroll < 2; unroll++) {
            struct schedule_run run;
            open_run(&run, engine[e], "96 KiB", unroll);
            run.task.budget.max_evaluations = 20000;
            schedule_run_solve(&run);
            if (!run.result.feasible)
                fail_msg("%s: %s", engine[e]->name, run.result.reason);
            cost[unroll] = run.result.schedule.energy_j * run.result.schedule.latency_s;
            assert_true(run.result.bound <= cost[unroll] * (1 + 1e-12));
            if (!unroll)
                check_text(&run);
            schedule_run_close(&run);
        }
        print_message("%s: %.4f of what is found with every layer by itself\n", engine[e]->name,
                      cost[0] / cost[1]);
        assert_true(cost[0] < 1.25 * cost[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folded_prices_are_those_of_the_whole),
        cmocka_unit_test(test_engines_repeat_what_they_find),
    };
    return cmocka_run_group_tests_name("soma unrolled", tests, NULL, NULL);
}
