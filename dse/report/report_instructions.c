/* Lowers the schedule, writes the stream, reads it back and runs it: what is printed has been checked. */
#include "dse/report/report_instructions.h"

#include <jansson.h>
#include <stdio.h>

#include "dse/console/json_text.h"
#include "engines/soma/machine/lower.h"
#include "engines/soma/machine/replay.h"

enum { NUMBER_MAX = 32, FAULT_MAX = 512 };

static enum dse_status not_alive(const struct schedule *s, const struct lowered *lowered,
                                 struct dse_error *err)
{
    const struct fused_tile *tile = &s->fused.tile[lowered->tile];
    const struct fused_tensor *tensor = &s->fused.tensor[lowered->tensor];
    return dse_fail(err, DSE_BAD_INPUT,
                    "the schedule has no instructions: tile %u of %.60s (position %u) reads tensor %u, the "
                    "output of tile %u of %.60s, which lives at positions %d to %d",
                    tile->index, s->network->layer[tile->layer].name, lowered->tile, lowered->tensor,
                    tensor->index, s->network->layer[tensor->layer].name, tensor->start, tensor->end - 1);
}

static enum dse_status no_room(const struct schedule *s, const struct lowered *lowered, struct dse_error *err)
{
    const struct buffer_allocation *a = &lowered->allocation;
    uint32_t tensor = lowered->tensor;
    uint64_t end = a->offset[tensor] + s->fused.tensor[tensor].byte;
    char alive[NUMBER_MAX], room[NUMBER_MAX], peak[NUMBER_MAX], use[NUMBER_MAX], beyond[NUMBER_MAX];
    return dse_fail(
        err, DSE_BAD_INPUT,
        "no place found for all tensors: %s bytes are alive at most and %s in use at one time (a load may "
        "begin "
        "before the store that makes room for it), the best allocation takes %s, the buffer holds %s; %u "
        "tensor%s beyond, tensor %u of %.60s by %s bytes",
        text_thousands(a->living_byte, alive, sizeof alive), text_thousands(a->need_byte, use, sizeof use),
        text_thousands(a->peak_byte, peak, sizeof peak),
        text_thousands(s->machine.buffer_byte, room, sizeof room), a->n_outside,
        a->n_outside == 1 ? " reaches" : "s reach", tensor,
        s->network->layer[s->fused.tensor[tensor].layer].name,
        text_thousands(end > s->machine.buffer_byte ? end - s->machine.buffer_byte : 0, beyond,
                       sizeof beyond));
}

/* The stream as its text says it, read again and run. */
static enum dse_status check(const struct lowered *lowered, const struct text_buffer *text,
                             struct arena *arena, struct dse_error *err)
{
    struct instruction_program again;
    struct replay_result result;
    char fault[FAULT_MAX];
    DSE_TRY(instruction_read("instructions", text->data, text->length, arena, &again, err));
    DSE_TRY(instruction_replay(&again, arena, NULL, &result, err));
    if (result.fault != REPLAY_OK)
        return dse_fail(err, DSE_INTERNAL, "the instructions cannot run: %s",
                        replay_fault_text(&again, &result, fault, sizeof fault));
    if (result.cycle != lowered->result.cycle)
        return dse_fail(err, DSE_INTERNAL, "the instructions take %llu cycles, the schedule %llu",
                        (unsigned long long)result.cycle, (unsigned long long)lowered->result.cycle);
    return DSE_OK;
}

static void write_remark(const struct schedule *s, const struct lowered *lowered, struct text_buffer *out)
{
    const struct instruction_program *p = &lowered->program;
    char a[NUMBER_MAX], b[NUMBER_MAX];
    text_append(out, "# %s, batch %u, on %s: %u instructions\n", s->network->name, s->batch, s->arch->name,
                p->n_instruction);
    text_append(out, "# peak address %s of %s bytes, ", text_thousands(p->peak_byte, a, sizeof a),
                text_thousands(p->buffer_byte, b, sizeof b));
    text_append(out, "%s alive at most: fragmentation %.3f %%\n", text_thousands(p->living_byte, a, sizeof a),
                100 * lowered->allocation.fragmentation);
    if (lowered->is_tightened)
        text_append(
            out,
            "# durations tightened to the times in use, or it would not fit; as scheduled %s bytes alive "
            "at most\n",
            text_thousands(lowered->result.buffer_max_byte, a, sizeof a));
    text_append(out, "# replayed: %s cycles, as evaluated; no fault\n",
                text_thousands(p->cycle, a, sizeof a));
}

/* ---- JSON ---- */

static json_t *rooms_json(const struct instruction_room *room, uint32_t n, int *good)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++)
        if (json_array_append_new(list, json_pack("[I, I, I]", (json_int_t)room[i].tensor,
                                                  (json_int_t)room[i].offset, (json_int_t)room[i].byte)) != 0)
            *good = 0;
    return list;
}

static json_t *row_json(const struct instruction_program *p, uint32_t i, int *good)
{
    const struct instruction *it = &p->instruction[i];
    const struct instruction_room *room = &p->room[it->first_room];
    bool moved = it->kind != INSTRUCTION_COMPUTE;
    return json_pack(
        "{s:I, s:s, s:s, s:I, s:I, s:I, s:s?, s:s?, s:o, s:o, s:o}", "instruction", (json_int_t)i, "kind",
        instruction_kind_text(it->kind), "layer", p->name[it->owner], "tile", (json_int_t)it->tile, "wait",
        (json_int_t)it->wait, "cycles", (json_int_t)it->cycle, "data",
        moved ? instruction_data_text(it->data) : NULL, "data_name", moved ? p->name[it->name] : NULL,
        "dram_bytes", moved ? json_integer((json_int_t)it->dram_byte) : json_null(), "reads",
        rooms_json(room, it->n_read, good), "writes", rooms_json(room + it->n_read, it->n_write, good));
}

static enum dse_status write_json(const struct lowered *lowered, struct text_buffer *out,
                                  struct dse_error *err)
{
    const struct instruction_program *p = &lowered->program;
    int good = 1;
    json_t *rows = json_array();
    for (uint32_t i = 0; i < p->n_instruction; i++)
        if (json_array_append_new(rows, row_json(p, i, &good)) != 0)
            good = 0;
    json_t *root = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:I, s:o}", "report", "instructions",
                             "network", p->network, "buffer_bytes", (json_int_t)p->buffer_byte, "alignment",
                             (json_int_t)p->alignment, "peak_bytes", (json_int_t)p->peak_byte, "living_bytes",
                             (json_int_t)p->living_byte, "fragmentation", lowered->allocation.fragmentation,
                             "cycles", (json_int_t)p->cycle, "rows", rows);
    return json_text_append(root, good, out, err);
}

static enum dse_status write_stream(const struct schedule *s, const struct lowered *lowered,
                                    enum instruction_format format, struct arena *arena,
                                    struct text_buffer *out, struct dse_error *err)
{
    struct text_buffer remark, text;
    text_init(&remark);
    text_init(&text);
    write_remark(s, lowered, &remark);
    instruction_write(&lowered->program, remark.data, &text);
    enum dse_status status = remark.failed || text.failed
                                 ? dse_fail(err, DSE_NO_MEMORY, "out of memory for the instructions")
                                 : check(lowered, &text, arena, err);
    if (status == DSE_OK && format == INSTRUCTION_FORMAT_JSON)
        status = write_json(lowered, out, err);
    else if (status == DSE_OK && format == INSTRUCTION_FORMAT_CSV)
        instruction_write_csv(&lowered->program, out);
    else if (status == DSE_OK)
        text_append_bytes(out, text.data, text.length);
    text_free(&remark);
    text_free(&text);
    return status;
}

static enum dse_status lower_and_write(const struct schedule *s, uint64_t alignment,
                                       enum instruction_format format, struct arena *arena,
                                       struct text_buffer *out, struct dse_error *err)
{
    const struct buffer_allocate_options options = {alignment, s->machine.buffer_byte,
                                                    BUFFER_ALLOCATE_EFFORT};
    struct soma_graph graph;
    struct lowered lowered;
    DSE_TRY(soma_graph_init(s->network, arena, &graph, err));
    DSE_TRY(instruction_lower(&s->fused, &graph, &s->machine, &options, arena, &lowered, err));
    switch (lowered.fault) {
    case LOWER_OK:
        return write_stream(s, &lowered, format, arena, out, err);
    case LOWER_READ:
        return not_alive(s, &lowered, err);
    case LOWER_ROOM:
        return no_room(s, &lowered, err);
    case LOWER_SCHEDULE:
        break;
    }
    return dse_fail(err, DSE_INTERNAL, "the schedule was evaluated without a fault and has one now");
}

enum dse_status report_instructions(const struct schedule *schedule, uint64_t alignment,
                                    enum instruction_format format, struct text_buffer *out,
                                    struct dse_error *err)
{
    struct arena arena;
    arena_init(&arena);
    enum dse_status status = lower_and_write(schedule, alignment, format, &arena, out, err);
    arena_free(&arena);
    return status;
}
