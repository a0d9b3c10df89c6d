/* Instructions as text. */
#include "engines/soma/machine/instructions.h"

#include <inttypes.h>
#include <stdbool.h>

const char *instruction_kind_text(enum instruction_kind kind)
{
    static const char *const text[] = {"load", "store", "compute"};
    return text[kind];
}

const char *instruction_data_text(enum instruction_data data)
{
    static const char *const text[] = {"input", "weights", "map", "rows"};
    return text[data];
}

static void write_rooms(const struct instruction_room *room, uint32_t n, const char *key,
                        struct text_buffer *out)
{
    text_append(out, ", %s: [", key);
    for (uint32_t i = 0; i < n; i++)
        text_append(out, "%s[%" PRIu32 ", %" PRIu64 ", %" PRIu64 "]", i ? ", " : "", room[i].tensor,
                    room[i].offset, room[i].byte);
    text_append(out, "]");
}

static void write_transfer(const struct instruction_program *program, const struct instruction *it,
                           struct text_buffer *out)
{
    const struct instruction_room *room = &program->room[it->first_room];
    uint32_t n = it->n_read + it->n_write;
    uint64_t byte = 0;
    text_append(out, "- {%s: %" PRIu32, instruction_kind_text(it->kind), room->tensor);
    if (it->streamed)
        text_append(out, ", stream: %" PRIu64, it->dram_byte);
    else if (n == 1)
        text_append(out, ", offset: %" PRIu64 ", bytes: %" PRIu64, room->offset, room->byte);
    for (uint32_t k = 0; k < n; k++) {
        byte += room[k].byte;
        if (n > 1)
            text_append(out, "%s[%" PRIu64 ", %" PRIu64 "]", k ? ", " : ", pieces: [", room[k].offset,
                        room[k].byte);
    }
    text_append(out, "%s, cycles: %" PRIu64, n > 1 ? "]" : "", it->cycle);
    if (it->dram_byte != byte && !it->streamed)
        text_append(out, ", dram_bytes: %" PRIu64, it->dram_byte);
    if (it->wait)
        text_append(out, ", wait: %" PRIu32, it->wait);
    text_append(out, ", %s: %s, of: [%s, %" PRIu32 "]}\n", instruction_data_text(it->data),
                program->name[it->name], program->name[it->owner], it->tile);
}

static void write_compute(const struct instruction_program *program, const struct instruction *it,
                          struct text_buffer *out)
{
    const struct instruction_room *room = &program->room[it->first_room];
    text_append(out, "- {compute: %s, tile: %" PRIu32 ", cycles: %" PRIu64, program->name[it->name], it->tile,
                it->cycle);
    if (it->wait)
        text_append(out, ", wait: %" PRIu32, it->wait);
    if (it->ahead)
        text_append(out, ", ahead: %" PRIu64, it->ahead);
    write_rooms(room, it->n_read, "reads", out);
    write_rooms(room + it->n_read, it->n_write, "writes", out);
    text_append(out, "}\n");
}

void instruction_write(const struct instruction_program *program, const char *remark, struct text_buffer *out)
{
    if (remark)
        text_append(out, "%s", remark);
    text_append(out, "instructions: 1\nnetwork: %s\n", program->network);
    text_append(
        out, "buffer: {bytes: %" PRIu64 ", alignment: %" PRIu64 ", peak: %" PRIu64 ", living: %" PRIu64 "}\n",
        program->buffer_byte, program->alignment, program->peak_byte, program->living_byte);
    text_append(out, "count: {load: %" PRIu32 ", store: %" PRIu32 ", compute: %" PRIu32 "}\n",
                program->n_load, program->n_store, program->n_compute);
    text_append(out, "cycles: %" PRIu64 "\nstream:\n", program->cycle);
    for (uint32_t i = 0; i < program->n_instruction; i++) {
        const struct instruction *it = &program->instruction[i];
        if (it->kind == INSTRUCTION_COMPUTE)
            write_compute(program, it, out);
        else
            write_transfer(program, it, out);
    }
}
