/* Lowers the schedule, writes the stream, reads it back and runs it: what is printed has been checked. */
#include "engines/soma/schedule_reports.h"

#include <inttypes.h>

#include "base/yaml_tree.h"
#include "engines/soma/machine/lower.h"
#include "engines/soma/machine/replay.h"

enum { NUMBER_MAX = 32, FAULT_MAX = 512 };

static enum dse_status not_alive(const struct soma_schedule *s, const struct lowered *lowered,
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

/* Even with split tensors: only where rounding to the alignment takes more than there is. */
static enum dse_status no_room(const struct soma_schedule *s, const struct lowered *lowered,
                               struct dse_error *err)
{
    char use[NUMBER_MAX], room[NUMBER_MAX];
    return dse_fail(err, DSE_BAD_INPUT,
                    "no place found for all tensors: with offsets at multiples of %" PRIu64
                    " bytes %s are in use at one "
                    "time, the buffer holds %s; a smaller --align leaves more room",
                    s->alignment, text_thousands(lowered->allocation.need_byte, use, sizeof use),
                    text_thousands(s->machine.buffer_byte, room, sizeof room));
}

/* The stream as its text says it, read again and run; one with more text than is read, as it was written. */
static enum dse_status check(const struct lowered *lowered, const struct text_buffer *text,
                             struct arena *arena, struct dse_error *err)
{
    const struct instruction_program *program = &lowered->program;
    struct instruction_program again;
    struct replay_result result;
    char fault[FAULT_MAX];
    if (text->length <= YAML_FILE_MAX_BYTE) {
        DSE_TRY(instruction_read("instructions", text->data, text->length, arena, &again, err));
        program = &again;
    }
    DSE_TRY(instruction_replay(program, arena, NULL, &result, err));
    if (result.fault != REPLAY_OK)
        return dse_fail(err, DSE_INTERNAL, "the instructions cannot run: %s",
                        replay_fault_text(program, &result, fault, sizeof fault));
    if (result.cycle != lowered->result.cycle)
        return dse_fail(err, DSE_INTERNAL, "the instructions take %llu cycles, the schedule %llu",
                        (unsigned long long)result.cycle, (unsigned long long)lowered->result.cycle);
    return DSE_OK;
}

static double fragmentation(const struct instruction_program *p)
{
    return p->living_byte > 0 ? ((double)p->peak_byte - (double)p->living_byte) / (double)p->living_byte : 0;
}

static void write_remark(const struct soma_schedule *s, const struct lowered *lowered,
                         struct text_buffer *out)
{
    const struct instruction_program *p = &lowered->program;
    char a[NUMBER_MAX], b[NUMBER_MAX];
    text_append(out, "# %s, batch %u, on %s: %u instructions\n", s->network->name, s->batch, s->arch->name,
                p->n_instruction);
    text_append(out, "# peak address %s of %s bytes, ", text_thousands(p->peak_byte, a, sizeof a),
                text_thousands(p->buffer_byte, b, sizeof b));
    text_append(out, "%s alive at most: fragmentation %.3f %%\n", text_thousands(p->living_byte, a, sizeof a),
                100 * fragmentation(p));
    if (lowered->is_tightened)
        text_append(
            out,
            "# durations tightened to the times in use, or it would not fit; as scheduled %s bytes alive "
            "at most\n",
            text_thousands(lowered->result.buffer_max_byte, a, sizeof a));
    if (lowered->split.fits)
        text_append(out, "# %u of %u tensors in several pieces, or it would not fit\n",
                    lowered->split.n_split, s->fused.n_tensor);
    text_append(out, "# replayed: %s cycles, as evaluated; no fault\n",
                text_thousands(p->cycle, a, sizeof a));
}

/* ---- the report ---- */

static const struct cell_column column[] = {
    {.name = "instruction"}, {.name = "kind"},  {.name = "layer"},  {.name = "tile"},
    {.name = "wait"},        {.name = "cycle"}, {.name = "data"},   {.name = "data_name"},
    {.name = "dram_byte"},   {.name = "reads"}, {.name = "writes"},
};

/* tensor@offset+bytes, several separated by blanks */
static void add_rooms(struct cells *rows, const struct instruction_room *room, uint32_t n)
{
    struct text_buffer text;
    text_init(&text);
    for (uint32_t i = 0; i < n; i++)
        text_append(&text, "%s%" PRIu32 "@%" PRIu64 "+%" PRIu64, i ? " " : "", room[i].tensor, room[i].offset,
                    room[i].byte);
    rows->text.failed |= text.failed;
    cells_text(rows, text.data ? text.data : "");
    text_free(&text);
}

static void add_rows(const struct instruction_program *p, struct cells *rows)
{
    cells_init(rows, column, sizeof column / sizeof column[0]);
    for (uint32_t i = 0; i < p->n_instruction; i++) {
        const struct instruction *it = &p->instruction[i];
        const struct instruction_room *room = &p->room[it->first_room];
        bool moved = it->kind != INSTRUCTION_COMPUTE;
        cells_count(rows, i);
        cells_text(rows, instruction_kind_text(it->kind));
        cells_text(rows, p->name[moved ? it->owner : it->name]);
        cells_count(rows, it->tile);
        cells_count(rows, it->wait);
        cells_count(rows, it->cycle);
        cells_text(rows, moved ? instruction_data_text(it->data) : NULL);
        cells_text(rows, moved ? p->name[it->name] : NULL);
        cells_count(rows, moved ? it->dram_byte : UINT64_MAX);
        add_rooms(rows, room, it->n_read);
        add_rooms(rows, room + it->n_read, it->n_write);
    }
}

static void add_about(const struct lowered *lowered, struct cells *about)
{
    const struct instruction_program *p = &lowered->program;
    cells_list_text(about, "network", p->network);
    cells_list_count(about, "latency_cycle", p->cycle);
    cells_list_count(about, "buffer_capacity_byte", p->buffer_byte);
    cells_list_count(about, "alignment_byte", p->alignment);
    cells_list_count(about, "peak_byte", p->peak_byte);
    cells_list_count(about, "living_byte", p->living_byte);
    cells_list_real(about, "fragmentation", lowered->allocation.fragmentation);
}

static enum dse_status fill(const struct soma_schedule *s, const struct lowered *lowered, struct arena *arena,
                            struct report *report, struct dse_error *err)
{
    struct text_buffer remark;
    text_init(&remark);
    write_remark(s, lowered, &remark);
    instruction_write(&lowered->program, remark.data, &report->head);
    enum dse_status status = remark.failed || report->head.failed
                                 ? dse_fail(err, DSE_NO_MEMORY, "out of memory for the instructions")
                                 : check(lowered, &report->head, arena, err);
    text_free(&remark);
    add_about(lowered, &report->about);
    add_rows(&lowered->program, &report->rows);
    return status;
}

static enum dse_status lower_and_fill(const struct soma_schedule *s, struct arena *arena,
                                      struct report *report, struct dse_error *err)
{
    const struct buffer_allocate_options options = {s->alignment, s->machine.buffer_byte,
                                                    BUFFER_ALLOCATE_EFFORT};
    struct soma_graph graph;
    struct lowered lowered;
    DSE_TRY(soma_graph_init(s->network, arena, &graph, err));
    DSE_TRY(instruction_lower(&s->fused, &graph, &s->machine, &options, arena, &lowered, err));
    switch (lowered.fault) {
    case LOWER_OK:
        return fill(s, &lowered, arena, report, err);
    case LOWER_READ:
        return not_alive(s, &lowered, err);
    case LOWER_ROOM:
        return no_room(s, &lowered, err);
    case LOWER_SCHEDULE:
        break;
    }
    return dse_fail(err, DSE_INTERNAL, "the schedule was evaluated without a fault and has one now");
}

enum dse_status soma_report_instructions(const void *schedule, struct report *report, struct dse_error *err)
{
    struct arena arena;
    DSE_TRY(soma_schedule_listed(schedule, err));
    arena_init(&arena);
    enum dse_status status = lower_and_fill(schedule, &arena, report, err);
    arena_free(&arena);
    return status;
}
