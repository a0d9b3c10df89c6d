/* Tiles and transfers become instructions with waits and rooms in the buffer; where the schedule's
 * durations do not fit, they are cut to what time needs first. */
#include "engines/soma/machine/lower.h"

#include "costmodel/fused/fused_rule.h"
#include "engines/soma/notation/notation.h"

static const uint32_t no_tensor = UINT32_MAX;

struct lowering {
    const struct fused_schedule *schedule;
    const struct soma_graph *graph;
    const struct fused_machine *machine;
    struct lowered *out;
    struct fused_trace trace; /* of the schedule; its times alone */
    uint32_t *first_tile;     /* (n_layer + 1) into tile_at */
    uint32_t *tile_at;        /* (n_tile) position of each tile, by layer and index */
    uint32_t *output;         /* (n_tile) the tensor that the tile at a position makes */
    int32_t *last_read; /* (n_tensor) the last tile that reads it in the buffer, loads left out; -1: none */
    uint32_t *barrier; /* (n_tile + 1) as many transfers as the tile at a position is the first to wait for */
};

static const char what[] = "instructions";

/* ---- who makes what ---- */

static enum dse_status find_tiles(struct lowering *l, struct arena *arena, struct dse_error *err)
{
    const struct fused_schedule *s = l->schedule;
    uint32_t n_layer = l->graph->network->n_layer;
    l->first_tile = arena_alloc(arena, (size_t)n_layer + 2, sizeof *l->first_tile);
    l->tile_at = arena_alloc(arena, (size_t)s->n_tile + 1, sizeof *l->tile_at);
    l->output = arena_alloc(arena, (size_t)s->n_tile + 1, sizeof *l->output);
    l->barrier = arena_alloc(arena, (size_t)s->n_tile + 1, sizeof *l->barrier);
    l->last_read = arena_alloc(arena, (size_t)s->n_tensor + 1, sizeof *l->last_read);
    DSE_TRY(arena_check(arena, what, err));
    for (uint32_t p = 0; p < s->n_tile; p++) {
        l->first_tile[s->tile[p].layer + 1]++;
        l->output[p] = no_tensor;
    }
    for (uint32_t i = 0; i < n_layer; i++)
        l->first_tile[i + 1] += l->first_tile[i];
    for (uint32_t p = 0; p < s->n_tile; p++)
        l->tile_at[l->first_tile[s->tile[p].layer] + s->tile[p].index] = p;
    for (uint32_t i = 0; i < s->n_tensor; i++)
        l->last_read[i] = -1;
    for (uint32_t i = 0; i < s->n_tensor; i++)
        if (s->tensor[i].producer_tile >= 0)
            l->output[s->tensor[i].producer_tile] = i;
    for (uint32_t k = 0; k < s->n_dram; k++)
        l->barrier[fused_first_waiter(&s->tensor[s->dram_order[k]], s->n_tile)] = k + 1;
    return DSE_OK;
}

/* Tiles of a producer that tile p of `operand->layer` reads in the buffer: into tile_at; none when it comes
 * from the DRAM. */
static uint32_t read_tiles(const struct lowering *l, const struct soma_operand *operand, uint32_t p,
                           uint32_t *first)
{
    const struct fused_tile *tile = &l->schedule->tile[p];
    if (operand->source < 0)
        return 0;
    uint32_t source = (uint32_t)operand->source, begin = l->first_tile[source];
    if (l->first_tile[source + 1] == begin)
        return 0; /* of layer groups cut out of a schedule: made before */
    const struct fused_tile *made = &l->schedule->tile[l->tile_at[begin]];
    if (made->layer_group != tile->layer_group)
        return 0;
    *first = made->flc == tile->flc ? begin + tile->index : begin;
    return made->flc == tile->flc ? 1 : l->first_tile[source + 1] - begin;
}

/* ---- instructions ---- */

/* How many pieces a tensor is in. */
static uint32_t count_pieces(const struct lowering *l, uint32_t tensor)
{
    const struct buffer_split *split = &l->out->split;
    if (l->schedule->tensor[tensor].streamed)
        return 1;
    return split->fits ? split->first[tensor + 1] - split->first[tensor] : 1;
}

/* All pieces of it; how many. */
static uint32_t add_rooms(struct lowering *l, uint32_t tensor)
{
    struct instruction_program *program = &l->out->program;
    const struct buffer_split *split = &l->out->split;
    uint32_t n = count_pieces(l, tensor);
    if (l->schedule->tensor[tensor].streamed) {
        program->room[program->n_room++] = (struct instruction_room){tensor, 0, 0};
        return 1;
    }
    if (!split->fits)
        program->room[program->n_room++] = (struct instruction_room){
            tensor, l->out->allocation.offset[tensor], l->schedule->tensor[tensor].byte};
    for (uint32_t k = 0; k < n && split->fits; k++) {
        const struct buffer_piece *piece = &split->piece[split->first[tensor] + k];
        program->room[program->n_room++] = (struct instruction_room){tensor, piece->offset, piece->byte};
    }
    return n;
}

static uint32_t data_name(const struct lowering *l, const struct fused_tensor *tensor,
                          enum instruction_data *data)
{
    const bool gathered =
        tensor->kind == FUSED_IFMAP && l->graph->network->layer[tensor->layer].type == LAYER_EMBEDDING;
    *data = tensor->kind == FUSED_WEIGHT                        ? INSTRUCTION_WEIGHTS
            : gathered                                          ? INSTRUCTION_ROWS
            : tensor->kind == FUSED_IFMAP && tensor->source < 0 ? INSTRUCTION_INPUT
                                                                : INSTRUCTION_MAP;
    if (tensor->kind != FUSED_IFMAP || gathered)
        return tensor->layer;
    return tensor->source >= 0 ? (uint32_t)tensor->source
                               : l->graph->network->n_layer + (uint32_t)(-1 - tensor->source);
}

/* `*waited`: what the engine has waited for already; a wait that adds nothing is left out. */
static uint32_t wait_for(uint32_t count, uint32_t *waited)
{
    if (count <= *waited)
        return 0;
    *waited = count;
    return count;
}

static void add_transfer(struct lowering *l, uint32_t tensor, uint32_t *waited)
{
    struct instruction_program *program = &l->out->program;
    const struct fused_tensor *t = &l->schedule->tensor[tensor];
    struct instruction *it = &program->instruction[program->n_instruction++];
    bool load = fused_is_load(t);
    *it = (struct instruction){
        .kind = load ? INSTRUCTION_LOAD : INSTRUCTION_STORE,
        .owner = t->layer,
        .tile = t->index,
        .wait = wait_for(fused_release(t), waited),
        .cycle = fused_transfer_cycle(t, l->machine),
        .dram_byte = t->dram_byte,
        .streamed = t->streamed > 0,
        .first_room = program->n_room,
    };
    it->name = data_name(l, t, &it->data);
    program->n_load += load;
    program->n_store += !load;
    *(load ? &it->n_write : &it->n_read) = add_rooms(l, tensor);
}

/* How much before the last transfer that it waits for is over tile p may begin. */
static uint64_t ahead_of(const struct lowering *l, uint32_t p)
{
    const struct fused_schedule *s = l->schedule;
    uint32_t n = l->barrier[p];
    const struct fused_tensor *last = n > 0 ? &s->tensor[s->dram_order[n - 1]] : NULL;
    return last && last->first_use == (int32_t)p
               ? fused_ahead(last->streamed, fused_transfer_cycle(last, l->machine), s->tile[p].cycle)
               : 0;
}

static void add_tile(struct lowering *l, uint32_t p, uint32_t *waited)
{
    const struct fused_schedule *s = l->schedule;
    struct instruction_program *program = &l->out->program;
    const struct fused_tile *tile = &s->tile[p];
    struct instruction *it = &program->instruction[program->n_instruction++];
    *it = (struct instruction){
        .kind = INSTRUCTION_COMPUTE,
        .name = tile->layer,
        .owner = tile->layer,
        .tile = tile->index,
        .wait = wait_for(l->barrier[p], waited),
        .ahead = ahead_of(l, p),
        .cycle = tile->cycle,
        .first_room = program->n_room,
    };
    for (uint32_t k = 0; k < s->n_read[p]; k++)
        (void)add_rooms(l, s->read[s->first_read[p] + k]);
    for (uint32_t o = l->graph->first_operand[tile->layer]; o < l->graph->first_operand[tile->layer + 1];
         o++) {
        uint32_t first = 0, n = read_tiles(l, &l->graph->operand[o], p, &first);
        for (uint32_t k = 0; k < n; k++)
            (void)add_rooms(l, l->output[l->tile_at[first + k]]);
    }
    it->n_read = program->n_room - it->first_room;
    if (l->output[p] != no_tensor)
        it->n_write = add_rooms(l, l->output[p]);
    program->n_compute++;
}

/* Both queues in one stream: before each tile every transfer that may begin when the tile before it is over,
 * so that no wait is for what stands further back. */
static void make_stream(struct lowering *l)
{
    const struct fused_schedule *s = l->schedule;
    uint32_t k = 0, waited_tile = 0, waited_transfer = 0;
    for (uint32_t p = 0; p <= s->n_tile; p++) {
        for (; k < s->n_dram && fused_release(&s->tensor[s->dram_order[k]]) <= p; k++)
            add_transfer(l, s->dram_order[k], &waited_tile);
        if (p < s->n_tile)
            add_tile(l, p, &waited_transfer);
    }
}

/* Every tensor that a tile reads in the buffer is made before it and alive. */
static bool reads_are_alive(struct lowering *l)
{
    const struct fused_schedule *s = l->schedule;
    for (uint32_t p = 0; p < s->n_tile; p++) {
        uint32_t layer = s->tile[p].layer, first = 0;
        for (uint32_t o = l->graph->first_operand[layer]; o < l->graph->first_operand[layer + 1]; o++) {
            uint32_t n = read_tiles(l, &l->graph->operand[o], p, &first);
            for (uint32_t k = 0; k < n; k++) {
                uint32_t made_at = l->tile_at[first + k], tensor = l->output[made_at];
                if (tensor != no_tensor && made_at < p && s->tensor[tensor].end > (int32_t)p) {
                    l->last_read[tensor] = (int32_t)p;
                    continue;
                }
                l->out->fault = LOWER_READ;
                l->out->tensor = tensor == no_tensor ? 0 : tensor;
                l->out->tile = p;
                return false;
            }
        }
    }
    return true;
}

/* Pieces that all instructions read and write. */
static uint64_t count_rooms(const struct lowering *l)
{
    const struct fused_schedule *s = l->schedule;
    uint64_t n = 0;
    for (uint32_t k = 0; k < s->n_dram; k++)
        n += count_pieces(l, s->dram_order[k]);
    for (uint32_t p = 0; p < s->n_tile; p++) {
        uint32_t layer = s->tile[p].layer, first = 0;
        for (uint32_t k = 0; k < s->n_read[p]; k++)
            n += count_pieces(l, s->read[s->first_read[p] + k]);
        for (uint32_t o = l->graph->first_operand[layer]; o < l->graph->first_operand[layer + 1]; o++) {
            uint32_t n_tile = read_tiles(l, &l->graph->operand[o], p, &first);
            for (uint32_t k = 0; k < n_tile; k++)
                n += count_pieces(l, l->output[l->tile_at[first + k]]);
        }
        n += l->output[p] != no_tensor ? count_pieces(l, l->output[p]) : 0;
    }
    return n;
}

static enum dse_status make_room(struct lowering *l, struct arena *arena, struct dse_error *err)
{
    const struct network *network = l->graph->network;
    struct instruction_program *program = &l->out->program;
    uint64_t n_room = count_rooms(l);
    if (n_room > SOMA_TENSOR_MAX)
        return dse_fail(err, DSE_LIMIT,
                        "instructions that read more than %d tensors; use smaller tiling numbers",
                        SOMA_TENSOR_MAX);
    program->n_name = network->n_layer + network->n_input;
    program->name = arena_alloc(arena, (size_t)program->n_name + 1, sizeof *program->name);
    program->instruction = arena_alloc(arena, (size_t)l->schedule->n_tile + l->schedule->n_dram + 1,
                                       sizeof *program->instruction);
    program->room = arena_alloc(arena, n_room + 1, sizeof *program->room);
    DSE_TRY(arena_check(arena, what, err));
    for (uint32_t i = 0; i < network->n_layer; i++)
        program->name[i] = network->layer[i].name;
    for (uint32_t i = 0; i < network->n_input; i++)
        program->name[network->n_layer + i] = network->input[i].name;
    return DSE_OK;
}

/* ---- durations no longer than time needs ---- */

/* A load starts no earlier than when it is moved: at the tile that is next then. A store ends at the first
 * tile that begins when it is over, unless the tensor is read later. The times that the schedule has meet
 * these waits too, so they stay. */
static void tighten(const struct lowering *l, uint32_t i, struct fused_tensor *tensor)
{
    const struct fused_trace *trace = &l->trace;
    if (fused_is_load(tensor)) {
        int32_t limit = tensor->first_use >= 0 ? tensor->first_use : tensor->end - 1;
        while (tensor->start < limit &&
               (tensor->start < 0 || trace->tile_finish[tensor->start] <= trace->tensor_start[i]))
            tensor->start++;
    } else if (tensor->kind == FUSED_OFMAP) {
        int32_t limit = tensor->producer_tile;
        limit = tensor->last_use > limit ? tensor->last_use : limit;
        limit = l->last_read[i] > limit ? l->last_read[i] : limit;
        while (tensor->end > limit + 1 && trace->tile_start[tensor->end - 1] >= trace->tensor_finish[i])
            tensor->end--;
    }
}

/* A copy of the schedule with durations tightened. */
static enum dse_status tightened(const struct lowering *l, struct arena *arena, struct fused_schedule *copy,
                                 struct dse_error *err)
{
    const struct fused_schedule *s = l->schedule;
    *copy = *s;
    copy->tensor = arena_alloc_unset(arena, (size_t)s->n_tensor + 1, sizeof *copy->tensor);
    DSE_TRY(arena_check(arena, what, err));
    for (uint32_t i = 0; i < s->n_tensor; i++) {
        copy->tensor[i] = s->tensor[i];
        tighten(l, i, &copy->tensor[i]);
    }
    return DSE_OK;
}

/* Split tensors: of the tightened durations where the schedule's own need more of it. */
static enum dse_status split(struct lowering *l, const struct fused_schedule *given,
                             const struct fused_schedule *tight,
                             const struct buffer_allocate_options *options, struct arena *arena,
                             bool *tighter, struct dse_error *err)
{
    struct buffer_split other;
    *tighter = false;
    DSE_TRY(buffer_split(given, options, arena, &l->out->split, err));
    if (l->out->split.fits && l->out->split.n_split == 0)
        return DSE_OK;
    DSE_TRY(buffer_split(tight, options, arena, &other, err));
    *tighter = other.fits && (!l->out->split.fits || other.n_split < l->out->split.n_split);
    if (*tighter)
        l->out->split = other;
    return DSE_OK;
}

/* As the schedule has it; when that does not fit, with durations tightened; and then with tensors split. */
static enum dse_status allocate(struct lowering *l, const struct buffer_allocate_options *options,
                                struct arena *arena, struct dse_error *err)
{
    struct lowered *out = l->out;
    const struct fused_schedule *given = l->schedule;
    struct fused_schedule *copy = arena_alloc(arena, 1, sizeof *copy);
    struct buffer_allocation tight;
    DSE_TRY(arena_check(arena, what, err));
    DSE_TRY(buffer_allocate(given, options, arena, &out->allocation, err));
    if (out->allocation.fits)
        return DSE_OK;
    DSE_TRY(tightened(l, arena, copy, err));
    DSE_TRY(buffer_allocate(copy, options, arena, &tight, err));
    bool tighter = tight.peak_byte < out->allocation.peak_byte;
    if (!tight.fits) {
        bool with_split = false;
        DSE_TRY(split(l, given, copy, options, arena, &with_split, err));
        tighter = out->split.fits ? with_split : tighter;
    }
    if (!tighter)
        return DSE_OK;
    out->allocation = tight;
    out->is_tightened = true;
    l->schedule = copy;
    return find_tiles(l, arena, err);
}

static enum dse_status evaluate(struct lowering *l, struct arena *arena, struct dse_error *err)
{
    const struct fused_schedule *s = l->schedule;
    struct fused_trace *trace = &l->trace;
    trace->tile_start = arena_alloc_unset(arena, (size_t)s->n_tile + 1, sizeof *trace->tile_start);
    trace->tile_finish = arena_alloc_unset(arena, (size_t)s->n_tile + 1, sizeof *trace->tile_finish);
    trace->tensor_start = arena_alloc_unset(arena, (size_t)s->n_tensor + 1, sizeof *trace->tensor_start);
    trace->tensor_finish = arena_alloc_unset(arena, (size_t)s->n_tensor + 1, sizeof *trace->tensor_finish);
    DSE_TRY(arena_check(arena, what, err));
    return fused_evaluate(s, l->machine, arena, trace, &l->out->result, err);
}

/* Everything but the instructions. */
static enum dse_status place_all(struct lowering *l, const struct buffer_allocate_options *options,
                                 struct arena *arena, struct dse_error *err)
{
    struct lowered *lowered = l->out;
    struct buffer_allocate_options within = *options;
    *lowered = (struct lowered){.fault = LOWER_OK};
    within.buffer_byte = l->machine->buffer_byte;
    DSE_TRY(evaluate(l, arena, err));
    if (lowered->result.fault != FUSED_OK) {
        lowered->fault = LOWER_SCHEDULE;
        return DSE_OK;
    }
    DSE_TRY(find_tiles(l, arena, err));
    if (!reads_are_alive(l))
        return DSE_OK;
    DSE_TRY(allocate(l, &within, arena, err));
    if (!lowered->allocation.fits && !lowered->split.fits) {
        lowered->fault = LOWER_ROOM;
        lowered->tensor = lowered->allocation.outside;
    }
    return DSE_OK;
}

enum dse_status instruction_place(const struct fused_schedule *schedule, const struct soma_graph *graph,
                                  const struct fused_machine *machine,
                                  const struct buffer_allocate_options *options, struct arena *arena,
                                  struct lowered *lowered, struct dse_error *err)
{
    struct lowering l = {.schedule = schedule, .graph = graph, .machine = machine, .out = lowered};
    return place_all(&l, options, arena, err);
}

enum dse_status instruction_lower(const struct fused_schedule *schedule, const struct soma_graph *graph,
                                  const struct fused_machine *machine,
                                  const struct buffer_allocate_options *options, struct arena *arena,
                                  struct lowered *lowered, struct dse_error *err)
{
    struct lowering l = {.schedule = schedule, .graph = graph, .machine = machine, .out = lowered};
    DSE_TRY(place_all(&l, options, arena, err));
    if (lowered->fault == LOWER_SCHEDULE || lowered->fault == LOWER_READ)
        return DSE_OK;
    DSE_TRY(make_room(&l, arena, err));
    lowered->program.network = graph->network->name;
    lowered->program.buffer_byte = machine->buffer_byte;
    lowered->program.alignment = options->alignment;
    lowered->program.peak_byte =
        lowered->split.fits ? lowered->split.peak_byte : lowered->allocation.peak_byte;
    lowered->program.living_byte = lowered->allocation.living_byte;
    lowered->program.cycle = lowered->result.cycle;
    make_stream(&l);
    return DSE_OK;
}
