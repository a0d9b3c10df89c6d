/* Instructions of fused schedules: any bytes give a program or an error; a program is written and read again
 * as the same, and its replay ends, with a fault that has words or without. */
#include "engines/soma/machine/instructions.h"
#include "engines/soma/machine/replay.h"
#include "tests/fuzz/fuzz.h"

static void check_replay(const struct instruction_program *program, struct arena *arena)
{
    struct replay_result result;
    struct dse_error err;
    char text[512];
    if (!fuzz_ok(instruction_replay(program, arena, NULL, &result, &err), &err))
        return;
    if (result.fault != REPLAY_OK)
        fuzz_check_text(replay_fault_text(program, &result, text, sizeof text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct instruction_program program, again;
    struct text_buffer first, second;
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    if (fuzz_ok(instruction_read("fuzz.yaml", (const char *)data, size, &arena, &program, &err), &err)) {
        text_init(&first);
        text_init(&second);
        instruction_write(&program, NULL, &first);
        FUZZ_REQUIRE(!first.failed, "out of memory");
        FUZZ_REQUIRE(instruction_read("written.yaml", first.data, first.length, &arena, &again, &err) ==
                         DSE_OK,
                     "%s\n%s", err.text, first.data);
        instruction_write(&again, NULL, &second);
        FUZZ_REQUIRE(first.length == second.length && memcmp(first.data, second.data, first.length) == 0,
                     "another program\n%s", first.data);
        check_replay(&program, &arena);
        text_free(&first);
        text_free(&second);
    }
    arena_free(&arena);
    return 0;
}
