/* Schedules that were found: random layer fusion of four networks, by both sets of rules, with a DLSA that
 * random moves improved. Each is lowered, written, read again and replayed: every start and finish is the
 * evaluator's. Where no place is found for whole tensors, some are split, and all fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/fused/fused_incremental.h"
#include "engines/soma/machine/lower.h"
#include "engines/soma/machine/replay.h"
#include "tests/support/soma_case.h"

enum { SMALL_EFFORT = 500000, N_MOVE = 4000 };

/* Layers in the network's order; where compat wants a classifier alone, it is. */
static struct soma_lfa draw_lfa(struct soma_case *c, struct random_stream *random)
{
    uint32_t n = c->network.n_layer, sparse = 1 + random_below(random, 8);
    struct soma_lfa lfa = {.n_layer = n};
    lfa.order = arena_alloc(&c->arena, n, sizeof *lfa.order);
    lfa.flc = arena_alloc(&c->arena, n, sizeof *lfa.flc);
    lfa.tiling = arena_alloc(&c->arena, n, sizeof *lfa.tiling);
    lfa.dram_cut = arena_alloc(&c->arena, n, sizeof *lfa.dram_cut);
    assert_true(lfa.order && lfa.flc && lfa.tiling && lfa.dram_cut);
    for (uint32_t at = 0; at < n; at++) {
        bool last = at + 1 == n;
        bool pool_before = at > 0 && c->network.layer[at - 1].type == LAYER_POOL;
        bool alone = (at > 0 && c->graph.classifier[at - 1]) || (c->graph.classifier[at] && !pool_before) ||
                     (c->network.layer[at].type == LAYER_POOL && !last && c->graph.classifier[at + 1]);
        lfa.order[at] = at;
        if (at > 0 && !alone && (c->graph.classifier[at] || random_below(random, sparse) != 0))
            continue;
        lfa.flc[lfa.n_flc] = at;
        lfa.tiling[lfa.n_flc] = alone ? 1 : 1u << random_below(random, 4);
        lfa.dram_cut[lfa.n_flc++] = at == 0 || alone || random_below(random, 3) == 0;
    }
    return lfa;
}

/* One move of a random tensor: another place and another duration nearby. */
static struct fused_outcome draw_move(const struct fused_schedule *s, struct fused_incremental *state,
                                      struct random_stream *random)
{
    uint32_t at = random_below(random, s->n_dram), tensor = fused_incremental_order(state)[at];
    const struct fused_tensor *t = &fused_incremental_tensor(state)[tensor];
    int32_t start = t->start, end = t->end, by = (int32_t)random_below(random, 21) - 10;
    uint32_t to = at + random_below(random, 21);
    to = to < 10 ? 0 : to - 10 < s->n_dram ? to - 10 : s->n_dram - 1;
    if (t->kind == FUSED_OFMAP)
        end = end + by > (int32_t)s->n_tile ? (int32_t)s->n_tile : end + by;
    else
        start = start + by < -1 ? -1 : start + by > t->first_use ? t->first_use : start + by;
    return fused_move(state, tensor, to, start, end);
}

/* Keep what is not slower; bytes alive may grow by a quarter. */
static void improve(struct soma_case *c, struct fused_machine *machine, struct random_stream *random)
{
    struct fused_incremental *state;
    struct fused_result result;
    machine->buffer_byte = UINT64_MAX / 2;
    assert_int_equal(fused_evaluate(&c->schedule, machine, &c->arena, NULL, &result, &c->err), DSE_OK);
    assert_int_equal(result.fault, FUSED_OK);
    machine->buffer_byte = result.buffer_max_byte + result.buffer_max_byte / 4;
    if (fused_incremental_new(&c->schedule, machine, &c->arena, &state, &c->err) != DSE_OK)
        fail_msg("%s", c->err.text);
    uint64_t cycle = result.cycle;
    for (uint32_t k = 0; k < N_MOVE; k++) {
        struct fused_outcome outcome = draw_move(&c->schedule, state, random);
        if (outcome.fault == FUSED_OK && outcome.cycle <= cycle)
            cycle = outcome.cycle;
        else if (outcome.fault == FUSED_OK || outcome.fault == FUSED_BUFFER)
            fused_undo(state);
    }
    fused_incremental_save(state, &c->schedule);
}

/* Instructions of an engine stand in its own order: the k-th transfer is the k-th of the DRAM order. */
static void check_events(const struct fused_schedule *s, const struct fused_trace *want,
                         const struct instruction_program *program, const struct replay_trace *got)
{
    uint32_t k = 0, p = 0;
    for (uint32_t i = 0; i < program->n_instruction; i++) {
        if (program->instruction[i].kind == INSTRUCTION_COMPUTE) {
            assert_int_equal(got->start[i], want->tile_start[p]);
            assert_int_equal(got->finish[i], want->tile_finish[p++]);
        } else {
            uint32_t tensor = s->dram_order[k++];
            assert_int_equal(program->room[program->instruction[i].first_room].tensor, tensor);
            assert_int_equal(got->start[i], want->tensor_start[tensor]);
            assert_int_equal(got->finish[i], want->tensor_finish[tensor]);
        }
    }
    assert_true(k == s->n_dram && p == s->n_tile);
}

static void check_replay(struct soma_case *c, const struct lowered *lowered,
                         const struct fused_machine *machine)
{
    struct instruction_program program;
    struct replay_result result;
    struct replay_trace got;
    struct fused_trace want = {0};
    struct fused_result evaluated;
    struct text_buffer text;
    char fault[256];
    text_init(&text);
    instruction_write(&lowered->program, NULL, &text);
    assert_int_equal(text.failed, 0);
    if (instruction_read("stream", text.data, text.length, &c->arena, &program, &c->err) != DSE_OK)
        fail_msg("%d: %s", c->err.line, c->err.text);
    text_free(&text);
    got.start = arena_alloc(&c->arena, program.n_instruction, sizeof *got.start);
    got.finish = arena_alloc(&c->arena, program.n_instruction, sizeof *got.finish);
    assert_true(got.start && got.finish && fused_trace_allocate(&c->schedule, &c->arena, &want));
    assert_int_equal(fused_evaluate(&c->schedule, machine, &c->arena, &want, &evaluated, &c->err), DSE_OK);
    assert_int_equal(instruction_replay(&program, &c->arena, &got, &result, &c->err), DSE_OK);
    if (result.fault != REPLAY_OK)
        fail_msg("%s: %s", c->network.name, replay_fault_text(&program, &result, fault, sizeof fault));
    assert_int_equal(result.cycle, evaluated.cycle);
    assert_int_equal(result.peak_byte, lowered->program.peak_byte);
    check_events(&c->schedule, &want, &program, &got);
}

/* Whether the schedule could be lowered. */
static bool try_schedule(const char *name, uint32_t streams, uint32_t round, uint32_t *n_tightened,
                         uint32_t *n_split)
{
    const struct buffer_allocate_options options = {1u << round % 4, 0, round % 3 ? SMALL_EFFORT : 0};
    struct fused_machine machine = {
        .buffer_byte = 0, .dram_rate = {4u << round % 3, 1 + 2 * (round % 2)}, .dram_energy_j = 84e-12};
    struct random_stream random = random_stream_make(31, round, RANDOM_TEST);
    struct soma_case c;
    struct lowered lowered = {.fault = LOWER_SCHEDULE};
    char path[128];
    snprintf(path, sizeof path, "experiments/networks/%s.yaml", name);
    soma_case_open(&c, path, 8 << 20);
    c.context.batch = 1u << random_below(&random, 3);
    c.context.compat = round % 2 == 0;
    if (streams) {
        soma_case_stream(&c, streams);
        soma_case_ways(&machine);
    }
    const struct soma_lfa lfa = draw_lfa(&c, &random);
    if (soma_case_parse(&c, &lfa)) {
        improve(&c, &machine, &random);
        if (round % 3) /* whether it fits is not what is looked at; else tightening is tried at least */
            machine.buffer_byte *= 2;
        if (instruction_lower(&c.schedule, &c.graph, &machine, &options, &c.arena, &lowered, &c.err) !=
            DSE_OK)
            fail_msg("%s", c.err.text);
        assert_true(lowered.fault == LOWER_OK || lowered.fault == LOWER_READ);
        assert_true(!lowered.is_tightened || round % 3 == 0);
        /* A store may be ended before a later group of its layer group has read the tile: then it is this
         * tile that is named. */
        if (lowered.fault == LOWER_READ)
            assert_true(c.schedule.tensor[lowered.tensor].kind == FUSED_OFMAP &&
                        c.schedule.tensor[lowered.tensor].end <= (int32_t)lowered.tile);
        if (lowered.fault == LOWER_OK)
            check_replay(&c, &lowered, &machine);
        *n_split += lowered.fault == LOWER_OK && lowered.split.fits;
    }
    *n_tightened += lowered.fault == LOWER_OK && lowered.is_tightened;
    soma_case_close(&c);
    return lowered.fault == LOWER_OK;
}

static void test_lower_found_schedules_replay_to_their_latency(void **state)
{
    static const char *const name[] = {"resnet50_soma", "gpt2_small_prefill512", "inception_resnet_v1",
                                       "randwire_small"};
    uint32_t n = 0, n_tightened = 0, n_split = 0;
    (void)state;
    for (uint32_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        uint32_t n_of_this = 0;
        for (uint32_t round = 0; round < 14; round++)
            n_of_this += try_schedule(name[i], 0, 100 * i + round, &n_tightened, &n_split);
        assert_true(n_of_this >= 4);
        n += n_of_this;
    }
    assert_true(n >= 24);
    assert_true(n_tightened > 0 && n_split > 0);
}

/* Weights go past the buffer. */
static void test_lower_replays_what_streams(void **state)
{
    uint32_t n = 0, n_tightened = 0, n_split = 0;
    (void)state;
    for (uint32_t round = 0; round < 20; round++)
        n += try_schedule(round % 2 ? "resnet50_soma" : "inception_resnet_v1", 1u << TENSOR_WEIGHT,
                          500 + round, &n_tightened, &n_split);
    assert_true(n >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lower_found_schedules_replay_to_their_latency),
        cmocka_unit_test(test_lower_replays_what_streams),
    };
    return cmocka_run_group_tests_name("lowering of found schedules", tests, NULL, NULL);
}
