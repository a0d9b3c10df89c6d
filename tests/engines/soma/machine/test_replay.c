/* instruction_replay and the text form, on the instructions of the published schedules
 * (tests/known/soma/oracles): the published events come out; instructions that are broken on purpose are
 * found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "engines/soma/machine/lower.h"
#include "engines/soma/machine/replay.h"
#include "tests/support/soma_case.h"

enum { EFFORT = 20000000, QUICK = 1000000, TENSOR_MAX = 400 };

struct replay_case {
    struct soma_case soma;
    struct fused_oracle oracle;
    struct lowered lowered;
    struct instruction_program *program;
    struct replay_result result;
    struct replay_trace trace;
};

/* With less effort the allocation may be larger, and so is the buffer. */
static void open_oracle(struct replay_case *c, const char *name, uint64_t effort)
{
    const char *path = strncmp(name, "tiny", 4) == 0   ? "tests/known/soma/tiny6.yaml"
                       : strncmp(name, "r50", 3) == 0  ? "experiments/networks/resnet50_soma.yaml"
                       : strncmp(name, "ires", 4) == 0 ? "experiments/networks/inception_resnet_v1.yaml"
                                                       : "experiments/networks/gpt2_small_prefill512.yaml";
    const struct buffer_allocate_options options = {1, 0, effort};
    soma_case_open(&c->soma, path, 8 << 20);
    if (fused_oracle_read(name, &c->soma.arena, &c->oracle, &c->soma.err) != DSE_OK)
        fail_msg("%s: %s", name, c->soma.err.text);
    c->oracle.machine.buffer_byte *= effort == QUICK ? 2 : 1;
    if (instruction_lower(&c->oracle.schedule, &c->soma.graph, &c->oracle.machine, &options, &c->soma.arena,
                          &c->lowered, &c->soma.err) != DSE_OK)
        fail_msg("%s: %s", name, c->soma.err.text);
    c->program = &c->lowered.program;
    c->trace.start = arena_alloc(&c->soma.arena, (size_t)c->program->n_instruction + 1, sizeof(uint64_t));
    c->trace.finish = arena_alloc(&c->soma.arena, (size_t)c->program->n_instruction + 1, sizeof(uint64_t));
    assert_true(c->trace.start && c->trace.finish);
}

static enum replay_fault replay(struct replay_case *c)
{
    if (instruction_replay(c->program, &c->soma.arena, &c->trace, &c->result, &c->soma.err) != DSE_OK)
        fail_msg("%s", c->soma.err.text);
    return c->result.fault;
}

/* ---- what the schedules give ---- */

static void check_events(const struct replay_case *c)
{
    uint32_t k = 0, p = 0;
    for (uint32_t i = 0; i < c->program->n_instruction; i++) {
        bool tile = c->program->instruction[i].kind == INSTRUCTION_COMPUTE;
        uint32_t tensor = tile ? 0 : c->oracle.schedule.dram_order[k];
        assert_int_equal(c->trace.start[i],
                         tile ? c->oracle.trace.tile_start[p] : c->oracle.trace.tensor_start[tensor]);
        assert_int_equal(c->trace.finish[i],
                         tile ? c->oracle.trace.tile_finish[p] : c->oracle.trace.tensor_finish[tensor]);
        p += tile;
        k += !tile;
    }
    assert_true(p == c->oracle.schedule.n_tile && k == c->oracle.schedule.n_dram);
}

/* 15 of the 16; in the other one two stores end before they were read (docs/fused-schedule.md), and it is
 * refused for that. */
static void test_replay_gives_every_published_event(void **state)
{
    uint32_t n = 0;
    (void)state;
    for (size_t i = 0; i < FUSED_N_ORACLE; i++) {
        struct replay_case c;
        open_oracle(&c, fused_oracle_name[i], EFFORT);
        if (strcmp(fused_oracle_name[i], "r50_coccolfa_8MB_16GBs_s2") == 0) {
            assert_int_equal(c.lowered.fault, LOWER_SCHEDULE);
            assert_int_equal(c.lowered.result.fault, FUSED_LIFETIME);
            assert_int_equal(c.lowered.result.fault_tensor, 236);
        } else {
            assert_int_equal(c.lowered.fault, LOWER_OK);
            assert_int_equal(replay(&c), REPLAY_OK);
            assert_int_equal(c.result.cycle, c.oracle.cycle);
            assert_int_equal(c.result.peak_byte, c.lowered.allocation.peak_byte);
            check_events(&c);
            n++;
        }
        soma_case_close(&c.soma);
    }
    assert_int_equal(n, 15);
}

/* The worked example of docs/instructions.md: waits by hand from the living durations in
 * docs/fused-schedule.md. 0: none, or one that an earlier wait of the engine covers. */
static void test_lower_counts_what_each_engine_waits_for(void **state)
{
    static const uint32_t transfer[] = {0, 0, 0, 1, 2, 5, 8, 11, 14, 0, 0, 15, 16, 18};
    static const uint32_t tile[] = {2, 3, 4, 5, 0, 0, 6, 0, 0, 7, 0, 0, 8, 0, 10, 11, 12, 13};
    struct replay_case c;
    uint32_t k = 0, p = 0;
    (void)state;
    open_oracle(&c, "tiny_flg_s1", QUICK);
    assert_int_equal(c.program->n_instruction, 14 + 18);
    assert_int_equal(c.program->n_load, 8);
    assert_int_equal(c.program->n_store, 6);
    for (uint32_t i = 0; i < c.program->n_instruction; i++) {
        const struct instruction *it = &c.program->instruction[i];
        assert_int_equal(it->wait, it->kind == INSTRUCTION_COMPUTE ? tile[p] : transfer[k]);
        p += it->kind == INSTRUCTION_COMPUTE;
        k += it->kind != INSTRUCTION_COMPUTE;
    }
    /* D0, the sum: reads B0 and C0, makes what is stored. */
    const struct instruction *sum = &c.program->instruction[9];
    assert_string_equal(c.program->name[sum->name], "D_add");
    assert_int_equal(sum->n_read, 2);
    assert_int_equal(c.program->room[sum->first_room].tensor, 11);
    assert_int_equal(c.program->room[sum->first_room + 1].tensor, 6);
    assert_int_equal(c.program->room[sum->first_room + 2].tensor, 15);
    soma_case_close(&c.soma);
}

/* ---- another look at a replay, at all pairs ---- */

struct use {
    bool made;
    uint64_t offset, byte, from, made_at, to;
};

/* No read before the tensor is made, and no two tensors with common bytes in use at one time. */
static bool plain_is_sound(const struct replay_case *c)
{
    static const struct use none = {0};
    struct use use[TENSOR_MAX];
    const struct instruction_program *p = c->program;
    for (uint32_t i = 0; i < TENSOR_MAX; i++)
        use[i] = none;
    for (uint32_t i = 0; i < p->n_instruction; i++) {
        const struct instruction *it = &p->instruction[i];
        for (uint32_t k = it->n_read; k < it->n_read + it->n_write; k++) {
            const struct instruction_room *room = &p->room[it->first_room + k];
            use[room->tensor] = (struct use){
                true, room->offset, room->byte, c->trace.start[i], c->trace.finish[i], c->trace.finish[i]};
            if (room->offset + room->byte > p->buffer_byte)
                return false;
        }
    }
    for (uint32_t i = 0; i < p->n_instruction; i++) {
        const struct instruction *it = &p->instruction[i];
        for (uint32_t k = 0; k < it->n_read; k++) {
            struct use *u = &use[p->room[it->first_room + k].tensor];
            if (!u->made || c->trace.start[i] < u->made_at)
                return false;
            u->to = c->trace.finish[i] > u->to ? c->trace.finish[i] : u->to;
        }
    }
    for (uint32_t i = 0; i < TENSOR_MAX; i++)
        for (uint32_t j = 0; j < i; j++)
            if (use[i].byte && use[j].byte && use[i].offset < use[j].offset + use[j].byte &&
                use[j].offset < use[i].offset + use[i].byte && use[i].from < use[j].to &&
                use[j].from < use[i].to)
                return false;
    return true;
}

static void shift(struct instruction_program *p, uint32_t tensor, uint64_t offset)
{
    for (uint32_t k = 0; k < p->n_room; k++)
        if (p->room[k].tensor == tensor)
            p->room[k].offset = offset;
}

/* A tensor at another offset everywhere: times stay, so all pairs can be looked at in those of the sound
 * program. */
static void test_replay_finds_every_tensor_in_a_wrong_place(void **state)
{
    static const char *const name[] = {"tiny_flg_s1", "tiny_flg_s2", "tiny_cocco_s2", "tiny_fused_s2",
                                       "r50_8MB_16GBs_s2"};
    uint32_t n_found = 0, n_harmless = 0;
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        struct random_stream random = random_stream_make(41, i, RANDOM_TEST);
        struct replay_case c;
        open_oracle(&c, name[i], QUICK);
        c.program->buffer_byte = c.lowered.allocation.peak_byte;
        assert_int_equal(replay(&c), REPLAY_OK);
        assert_true(plain_is_sound(&c));
        const struct replay_trace sound = c.trace;
        for (uint32_t round = 0; round < 300; round++) {
            uint32_t tensor = random_below(&random, c.oracle.schedule.n_tensor);
            uint64_t was = c.lowered.allocation.offset[tensor];
            shift(c.program, tensor, random_below(&random, (uint32_t)c.program->buffer_byte));
            c.trace = sound;
            bool expected = plain_is_sound(&c);
            c.trace = (struct replay_trace){NULL, NULL};
            enum replay_fault fault = replay(&c);
            assert_int_equal(fault == REPLAY_OK, expected);
            assert_true(expected || fault == REPLAY_OVERLAP || fault == REPLAY_OUTSIDE);
            n_found += !expected;
            n_harmless += expected;
            shift(c.program, tensor, was);
        }
        soma_case_close(&c.soma);
    }
    assert_true(n_found > 500 && n_harmless > 50);
}

/* A wait that is dropped shows, or does no harm. */
static void test_replay_finds_every_wait_that_is_missed(void **state)
{
    uint32_t n_found = 0, n_harmless = 0;
    (void)state;
    for (size_t o = 0; o < FUSED_N_ORACLE; o++) {
        struct replay_case c;
        open_oracle(&c, fused_oracle_name[o], QUICK);
        for (uint32_t i = 0; c.lowered.fault == LOWER_OK && i < c.program->n_instruction; i++) {
            uint32_t was = c.program->instruction[i].wait;
            if (was == 0)
                continue;
            c.program->instruction[i].wait = 0;
            enum replay_fault fault = replay(&c);
            assert_true(fault == REPLAY_OK || fault == REPLAY_NOT_THERE || fault == REPLAY_OVERLAP);
            if (fault == REPLAY_OK)
                assert_true(plain_is_sound(&c) && c.result.cycle <= c.oracle.cycle);
            n_found += fault != REPLAY_OK;
            n_harmless += fault == REPLAY_OK;
            c.program->instruction[i].wait = was;
        }
        soma_case_close(&c.soma);
    }
    assert_true(n_found > 200);
    assert_true(n_harmless > 0); /* rooms that are free anyway */
}

/* ---- one break of each kind, in the worked example ---- */

/* The instruction that loads, stores (or makes) a tensor. */
static uint32_t find(const struct instruction_program *p, enum instruction_kind kind, uint32_t tensor)
{
    for (uint32_t i = 0; i < p->n_instruction; i++) {
        const struct instruction *it = &p->instruction[i];
        uint32_t last = it->n_read + it->n_write - 1;
        if (it->kind == kind && p->room[it->first_room + last].tensor == tensor)
            return i;
    }
    fail_msg("no instruction for tensor %u", tensor);
    return 0;
}

static void swap(struct instruction_program *p, uint32_t i, uint32_t j)
{
    struct instruction kept = p->instruction[i];
    p->instruction[i] = p->instruction[j];
    p->instruction[j] = kept;
}

static void expect(struct replay_case *c, enum replay_fault fault, uint32_t instruction, uint32_t tensor,
                   const char *words)
{
    char text[256];
    assert_int_equal(replay(c), fault);
    assert_int_equal(c->result.instruction, instruction);
    assert_int_equal(c->result.tensor, tensor);
    if (!strstr(replay_fault_text(c->program, &c->result, text, sizeof text), words))
        fail_msg("\"%s\" does not say \"%s\"", text, words);
    soma_case_close(&c->soma);
    open_oracle(c, "tiny_flg_s1", QUICK);
}

/* Tensors (docs/instructions.md): 0, 1 ifmaps of A, 2 its weights, 10 the weights of B, 15 to 18 the outputs
 * of D, 19 and 20 the ifmaps of E, 24 and 25 the outputs of F. */
static void test_replay_names_each_fault(void **state)
{
    struct replay_case c;
    (void)state;
    open_oracle(&c, "tiny_flg_s1", QUICK);
    uint32_t tile0 = find(c.program, INSTRUCTION_COMPUTE, 3), tile1 = find(c.program, INSTRUCTION_COMPUTE, 4);
    uint32_t d0 = find(c.program, INSTRUCTION_COMPUTE, 15), store_d0 = find(c.program, INSTRUCTION_STORE, 15);
    uint32_t store_d3 = find(c.program, INSTRUCTION_STORE, 18),
             load_e0 = find(c.program, INSTRUCTION_LOAD, 19);
    uint32_t load_wb = find(c.program, INSTRUCTION_LOAD, 10), f1 = find(c.program, INSTRUCTION_COMPUTE, 25);

    c.program->instruction[tile0].wait = 1; /* for the weights alone: the ifmap is still being loaded */
    expect(&c, REPLAY_NOT_THERE, tile0, 0,
           "at cycle 54 instruction 3 (compute A_conv3x3, tile 0) reads tensor 0 before");
    c.program->instruction[store_d0].wait = 4;
    expect(&c, REPLAY_NOT_THERE, store_d0, 15, "reads tensor 15 before it is there");
    c.program->room[c.program->instruction[tile1].first_room].offset += 1;
    expect(&c, REPLAY_ELSEWHERE, tile1, 1, "reads tensor 1 at another place");
    c.program->room[c.program->instruction[f1].first_room].byte -= 1;
    expect(&c, REPLAY_ELSEWHERE, f1, c.program->room[c.program->instruction[f1].first_room].tensor, "size");
    c.program->room[c.program->instruction[load_wb].first_room].offset = c.program->buffer_byte - 4607;
    expect(&c, REPLAY_OUTSIDE, load_wb, 10, "outside the buffer");
    c.program->alignment = 1 << 20;
    expect(&c, REPLAY_OUTSIDE, 0, 2, "not aligned");
    shift(c.program, 15, c.lowered.allocation.offset[11]); /* D0 over B0, which it reads */
    expect(&c, REPLAY_OVERLAP, d0, 15, "writes tensor 15 over tensor 11, which is still needed");
    c.program->instruction[store_d0] = c.program->instruction[store_d3];
    expect(&c, REPLAY_TWICE, store_d3, 18, "a second time");
    c.program->n_instruction--;
    expect(&c, REPLAY_COUNT, c.program->n_instruction, 0, "as many loads, stores and tiles");
    c.program->instruction[store_d0].kind = INSTRUCTION_LOAD; /* nobody stores 15, but it is made twice */
    c.program->instruction[store_d0].n_read = 0;
    c.program->instruction[store_d0].n_write = 1;
    expect(&c, REPLAY_TWICE, store_d0, 15, "a second time");
    c.program->instruction[d0]
        .n_read--; /* the room of 6, the only reader of which was D0, is its second one */
    c.program->instruction[d0].n_write++;
    expect(&c, REPLAY_TWICE, d0, 6, "makes or stores tensor 6");
    swap(c.program, store_d3, load_e0); /* E's input before the last tile of D is stored */
    expect(&c, REPLAY_MAP, store_d3, 19, "feature map that is not stored to its end");
    swap(c.program, load_wb, store_d0); /* B0 waits for its weights, behind D0, which comes after B0 */
    expect(&c, REPLAY_DEADLOCK, load_wb, 0, "waits for ever");
    soma_case_close(&c.soma);
}

/* One load that nobody reads. */
static void test_replay_finds_what_is_never_used(void **state)
{
    static const char text[] = "instructions: 1\nnetwork: n\n"
                               "buffer: {bytes: 8, alignment: 1, peak: 8, living: 8}\n"
                               "count: {load: 1, store: 0, compute: 0}\ncycles: 1\nstream:\n"
                               "- {load: 0, offset: 0, bytes: 8, cycles: 1, weights: a, of: [a, 0]}\n";
    struct instruction_program program;
    struct replay_result result;
    struct arena arena;
    struct dse_error err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(instruction_read("t", text, strlen(text), &arena, &program, &err), DSE_OK);
    assert_int_equal(instruction_replay(&program, &arena, NULL, &result, &err), DSE_OK);
    assert_int_equal(result.fault, REPLAY_UNUSED);
    arena_free(&arena);
}

/* By hand: weights past the buffer, 0, that two tiles read. Their level is theirs while one follows the
 * other, not behind a tile of another layer. */
static void test_what_stays_is_read_by_tiles_in_a_row(void **state)
{
    static const char head[] = "instructions: 1\nnetwork: n\n"
                               "buffer: {bytes: 8, alignment: 1, peak: 0, living: 0}\n"
                               "count: {load: 1, store: 0, compute: 3}\ncycles: 31\nstream:\n"
                               "- {load: 0, stream: 8, cycles: 1, weights: a, of: [a, 0]}\n";
    static const char first[] =
        "- {compute: a, tile: 0, wait: 1, cycles: 10, reads: [[0, 0, 0]], writes: []}\n",
                      second[] = "- {compute: a, tile: 1, cycles: 10, reads: [[0, 0, 0]], writes: []}\n",
                      other[] = "- {compute: b, tile: 0, cycles: 10, reads: [], writes: []}\n";
    (void)state;
    for (int between = 0; between < 2; between++) {
        char text[1024];
        struct instruction_program program;
        struct replay_result result;
        struct arena arena;
        struct dse_error err;
        snprintf(text, sizeof text, "%s%s%s%s", head, first, between ? other : second,
                 between ? second : other);
        arena_init(&arena);
        assert_int_equal(instruction_read("t", text, strlen(text), &arena, &program, &err), DSE_OK);
        assert_int_equal(instruction_replay(&program, &arena, NULL, &result, &err), DSE_OK);
        assert_int_equal(result.fault, between ? REPLAY_STREAM : REPLAY_OK);
        assert_int_equal(result.cycle, between ? 11 : 31);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay_gives_every_published_event),
        cmocka_unit_test(test_lower_counts_what_each_engine_waits_for),
        cmocka_unit_test(test_replay_finds_every_tensor_in_a_wrong_place),
        cmocka_unit_test(test_replay_finds_every_wait_that_is_missed),
        cmocka_unit_test(test_replay_names_each_fault),
        cmocka_unit_test(test_replay_finds_what_is_never_used),
        cmocka_unit_test(test_what_stays_is_read_by_tiles_in_a_row),
    };
    return cmocka_run_group_tests_name("replay of instructions", tests, NULL, NULL);
}
