/* The text form of instructions: what is written is read back, and bad text is named with its line.
 * Tests: instructions_read.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/machine/instructions.h"
#include "engines/soma/machine/replay.h"

/* Two tiles of a layer of one weight byte: the smallest stream with every kind of instruction and of data. */
static const char text[] =
    "instructions: 1\n"
    "network: two\n"
    "buffer: {bytes: 16, alignment: 1, peak: 9, living: 9}\n"
    "count: {load: 4, store: 1, compute: 2}\n"
    "cycles: 14\n"
    "stream:\n"
    "- {load: 1, offset: 8, bytes: 1, cycles: 1, weights: a, of: [a, 0]}\n"
    "- {load: 0, offset: 0, bytes: 4, cycles: 4, input: in, of: [a, 0]}\n"
    "- {compute: a, tile: 0, cycles: 2, wait: 2, reads: [[0, 0, 4], [1, 8, 1]], writes: [[2, 4, 4]]}\n"
    "- {store: 2, offset: 4, bytes: 4, cycles: 3, dram_bytes: 3, wait: 1, map: a, of: [a, 0]}\n"
    "- {load: 3, offset: 0, bytes: 4, cycles: 4, map: a, of: [b, 0]}\n"
    "- {load: 5, offset: 9, bytes: 0, cycles: 0, weights: b, of: [b, 0]}\n"
    "- {compute: b, tile: 0, cycles: 0, wait: 5, reads: [[3, 0, 4], [5, 9, 0]], writes: []}\n";

struct text_case {
    struct arena arena;
    struct dse_error err;
    struct instruction_program program;
};

static enum dse_status read_text(struct text_case *c, const char *bytes)
{
    return instruction_read("stream.yaml", bytes, strlen(bytes), &c->arena, &c->program, &c->err);
}

static void test_instruction_read_takes_what_write_gives(void **state)
{
    struct text_case c;
    struct text_buffer out;
    (void)state;
    arena_init(&c.arena);
    text_init(&out);
    assert_int_equal(read_text(&c, text), DSE_OK);
    assert_int_equal(c.program.n_instruction, 7);
    assert_int_equal(c.program.n_room, 10);
    assert_int_equal(c.program.instruction[3].dram_byte, 3);
    assert_int_equal(c.program.instruction[3].wait, 1);
    assert_int_equal(c.program.instruction[4].data, INSTRUCTION_MAP);
    instruction_write(&c.program, NULL, &out);
    assert_string_equal(out.data, text);
    text_free(&out);
    arena_free(&c.arena);
}

/* By hand: weights 0-1, ifmap 1-5, tile 5-7, store 7-10, load of the map 10-14, weights of no bytes and a
 * tile of no cycles at 14. */
static void test_instruction_replay_of_a_text(void **state)
{
    static const uint64_t start[] = {0, 1, 5, 7, 10, 14, 14}, finish[] = {1, 5, 7, 10, 14, 14, 14};
    struct text_case c;
    struct replay_result result;
    uint64_t got_start[7], got_finish[7];
    struct replay_trace trace = {got_start, got_finish};
    (void)state;
    arena_init(&c.arena);
    assert_int_equal(read_text(&c, text), DSE_OK);
    assert_int_equal(instruction_replay(&c.program, &c.arena, &trace, &result, &c.err), DSE_OK);
    assert_int_equal(result.fault, REPLAY_OK);
    assert_int_equal(result.cycle, 14);
    assert_int_equal(result.peak_byte, 9);
    assert_memory_equal(got_start, start, sizeof start);
    assert_memory_equal(got_finish, finish, sizeof finish);
    arena_free(&c.arena);
}

/* The text with another in place of a part. Release it with text_free. */
static struct text_buffer replaced(const char *in, const char *from, const char *to)
{
    struct text_buffer changed;
    const char *at = strstr(in, from);
    text_init(&changed);
    assert_non_null(at);
    text_append_bytes(&changed, in, (size_t)(at - in));
    text_append(&changed, "%s%s", to, at + strlen(from));
    return changed;
}

/* Tensor 0 in two pieces, of which tile 0 reads what it says; by hand: as above but for the last byte. */
static void test_instruction_pieces_are_kept_and_watched(void **state)
{
    static const struct {
        const char *load, *reads;
        enum replay_fault fault;
    } one[] = {
        {"pieces: [[0, 3], [12, 1]]", "[0, 0, 3], [0, 12, 1]", REPLAY_OK},
        {"pieces: [[0, 3], [12, 1]]", "[0, 12, 1], [0, 0, 3]", REPLAY_ELSEWHERE},
        {"pieces: [[0, 3], [12, 1]]", "[0, 0, 3]", REPLAY_ELSEWHERE},
        {"offset: 0, bytes: 4", "[0, 0, 3], [0, 3, 1]", REPLAY_ELSEWHERE},
        {"pieces: [[0, 3], [2, 1]]", "[0, 0, 3], [0, 2, 1]", REPLAY_OVERLAP},
        {"pieces: [[0, 3], [8, 1]]", "[0, 0, 3], [0, 8, 1]", REPLAY_OVERLAP},
        {"pieces: [[0, 3], [16, 1]]", "[0, 0, 3], [0, 16, 1]", REPLAY_OUTSIDE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++) {
        struct text_case c = {0};
        struct replay_result result;
        struct text_buffer half = replaced(text, "offset: 0, bytes: 4", one[i].load), out;
        struct text_buffer whole = replaced(half.data, "[0, 0, 4]", one[i].reads);
        arena_init(&c.arena);
        text_init(&out);
        assert_int_equal(read_text(&c, whole.data), DSE_OK);
        assert_int_equal(c.program.instruction[1].dram_byte, 4);
        instruction_write(&c.program, NULL, &out);
        assert_string_equal(out.data, whole.data);
        assert_int_equal(instruction_replay(&c.program, &c.arena, NULL, &result, &c.err), DSE_OK);
        assert_int_equal(result.fault, one[i].fault);
        if (result.fault == REPLAY_OK)
            assert_true(result.cycle == 14 && result.peak_byte == 13);
        text_free(&out);
        text_free(&whole);
        text_free(&half);
        arena_free(&c.arena);
    }
}

/* Each replaces a part of the text. */
static void test_instruction_read_names_bad_lines(void **state)
{
    static const struct {
        const char *from, *to;
        int line;
        const char *words;
    } bad[] = {
        {"instructions: 1", "instructions: 2", 1, "instructions"},
        {"network: two\n", "", 0, "network"},
        {"peak: 9", "peek: 9", 3, "peek"},
        {"count: {load: 4, ", "count: {", 4, "load"},
        {"{load: 1, offset", "{lead: 1, offset", 7, "a load, a store or a compute"},
        {"offset: 8, bytes: 1", "bytes: 1", 7, "offset"},
        {"weights: a, of: [a", "weights: a, map: a, of: [a", 7, "one of input, weights, map and rows"},
        {"of: [a, 0]}", "of: [a]}", 7, "of needs [layer, tile]"},
        {"map: a, of: [a", "input: a, of: [a", 10, "a store needs the map"},
        {"dram_bytes: 3", "dram_bytes: 5", 10, "dram_bytes"},
        {"wait: 2", "wait: -2", 9, "wait"},
        {"reads: [[0, 0, 4]", "reads: [[0, 0]", 9, "reads needs [tensor, offset, bytes]"},
        {"[1, 8, 1]", "[40000000, 8, 1]", 9, "tensor 40000000; numbers must be less than 33554432"},
        {"cycles: 4, input", "cycles: 4e9, input", 8, "cycles"},
        {"offset: 0, bytes: 4", "pieces: [[0, 4]]", 8, "two or more [offset, bytes]"},
        {"offset: 0, bytes: 4", "bytes: 4, pieces: [[0, 2], [2, 2]]", 8, "in place of offset and bytes"},
        {"offset: 0, bytes: 4", "pieces: [[0, 2], [2]]", 8, "[offset, bytes] for each piece"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct text_case c = {0};
        struct text_buffer changed = replaced(text, bad[i].from, bad[i].to);
        arena_init(&c.arena);
        assert_int_equal(read_text(&c, changed.data), DSE_BAD_INPUT);
        if (!strstr(c.err.text, bad[i].words) || (bad[i].line && c.err.line != bad[i].line))
            fail_msg("%s: line %d: %s", bad[i].to, c.err.line, c.err.text);
        text_free(&changed);
        arena_free(&c.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instruction_read_takes_what_write_gives),
        cmocka_unit_test(test_instruction_replay_of_a_text),
        cmocka_unit_test(test_instruction_pieces_are_kept_and_watched),
        cmocka_unit_test(test_instruction_read_names_bad_lines),
    };
    return cmocka_run_group_tests_name("instructions", tests, NULL, NULL);
}
