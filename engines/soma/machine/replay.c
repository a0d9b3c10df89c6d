/* Two engines and a map of the buffer as pieces that do not overlap; at each event what ends, then what
 * can begin, and the first broken promise stops it. */
#include "engines/soma/machine/replay.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DRAM, CORE, N_ENGINE };

/* How far a tensor is. */
enum stage { ABSENT, BEING_MADE, THERE };

struct content {
    enum stage stage;
    uint32_t first_room, n_room; /* its pieces, where it is made; none: it never is */
    uint32_t n_use;              /* reads and stores that are not over yet */
    uint32_t tile; /* streamed: the compute instruction, counted from 0, that first reads or that makes it */
    bool streamed;
};

/* Bytes from .. to-1 of the buffer hold (a part of) this tensor. */
struct piece {
    uint64_t from, to;
    uint32_t tensor;
};

struct engine_state {
    uint32_t n, next, n_over; /* instructions of its own; the next one; how many are over */
    const uint32_t *queue;    /* (n) into the program */
    bool busy;
    uint64_t finish;
};

struct replay {
    const struct instruction_program *program;
    struct replay_trace *trace;
    struct replay_result *result;
    struct engine_state engine[N_ENGINE];
    uint32_t n_tensor;
    struct content *content; /* (n_tensor) */
    uint32_t n_piece;
    struct piece *piece; /* (n_piece) by offset; they do not overlap */
    uint32_t *map_store; /* (n_name) stores to the feature map that are not over yet */
    bool *map_stored;    /* (n_name) there is one */
    uint64_t now;
};

static bool fail(struct replay *r, enum replay_fault fault, uint32_t instruction, uint32_t tensor)
{
    r->result->fault = fault;
    r->result->instruction = instruction;
    r->result->tensor = tensor;
    r->result->cycle = r->now;
    return false;
}

/* ---- before the start ---- */

static enum dse_status check_program(const struct instruction_program *p, uint32_t *n_tensor,
                                     struct dse_error *err)
{
    *n_tensor = 0;
    for (uint32_t i = 0; i < p->n_instruction; i++) {
        const struct instruction *it = &p->instruction[i];
        bool moved = it->kind != INSTRUCTION_COMPUTE;
        uint64_t n = (uint64_t)it->n_read + it->n_write;
        uint32_t other = it->kind == INSTRUCTION_LOAD ? it->n_read : it->n_write;
        if (it->name >= p->n_name || it->owner >= p->n_name || it->first_room > p->n_room ||
            n > p->n_room - it->first_room || (moved && (n == 0 || other > 0)))
            return dse_fail(err, DSE_BAD_INPUT,
                            "instruction %u: its name or its rooms are not in the program", i);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t tensor = p->room[it->first_room + k].tensor;
            if (moved && tensor != p->room[it->first_room].tensor)
                return dse_fail(err, DSE_BAD_INPUT, "instruction %u moves tensors %u and %u", i,
                                p->room[it->first_room].tensor, tensor);
            if (tensor >= INSTRUCTION_TENSOR_MAX)
                return dse_fail(err, DSE_BAD_INPUT, "instruction %u: tensor %u; numbers must be less than %d",
                                i, tensor, INSTRUCTION_TENSOR_MAX);
            if (tensor >= *n_tensor)
                *n_tensor = tensor + 1;
        }
    }
    return DSE_OK;
}

static enum dse_status make_room(struct replay *r, struct arena *scratch, struct dse_error *err)
{
    const struct instruction_program *p = r->program;
    uint32_t *queue[N_ENGINE];
    for (int e = 0; e < N_ENGINE; e++) {
        queue[e] = arena_alloc(scratch, (size_t)p->n_instruction + 1, sizeof *queue[e]);
        r->engine[e].queue = queue[e];
    }
    r->content = arena_alloc(scratch, (size_t)r->n_tensor + 1, sizeof *r->content);
    r->piece = arena_alloc(scratch, 2 * (size_t)p->n_room + 2, sizeof *r->piece);
    r->map_store = arena_alloc(scratch, (size_t)p->n_name + 1, sizeof *r->map_store);
    r->map_stored = arena_alloc(scratch, (size_t)p->n_name + 1, sizeof *r->map_stored);
    DSE_TRY(arena_check(scratch, "the replay of instructions", err));
    for (uint32_t i = 0; i < p->n_instruction; i++) {
        int e = p->instruction[i].kind == INSTRUCTION_COMPUTE ? CORE : DRAM;
        queue[e][r->engine[e].n++] = i;
    }
    return DSE_OK;
}

static bool room_is_inside(const struct instruction_program *p, const struct instruction_room *room)
{
    return room->offset <= p->buffer_byte && room->byte <= p->buffer_byte - room->offset &&
           (p->alignment == 0 || room->offset % p->alignment == 0);
}

/* How many of the n rooms from `room` on are pieces of its tensor, as it was made; one where it never is. */
static uint32_t pieces_read(const struct replay *r, const struct instruction_room *room, uint32_t n)
{
    uint32_t most = r->content[room->tensor].n_room, k = 1;
    while (k < n && k < most && room[k].tensor == room->tensor)
        k++;
    return k;
}

/* Every room inside, every tensor made once, its pieces one after another. `made` is (n_tensor). */
static bool find_makers(struct replay *r, bool *made)
{
    const struct instruction_program *p = r->program;
    for (uint32_t i = 0; i < p->n_instruction; i++) {
        const struct instruction *it = &p->instruction[i];
        const struct instruction_room *room = &p->room[it->first_room];
        for (uint32_t k = 0; k < it->n_read + it->n_write; k++)
            if (!room_is_inside(p, &room[k]))
                return fail(r, REPLAY_OUTSIDE, i, room[k].tensor);
        for (uint32_t k = it->n_read; k < it->n_read + it->n_write; k++) {
            struct content *content = &r->content[room[k].tensor];
            bool next = k > it->n_read && room[k].tensor == room[k - 1].tensor;
            if (made[room[k].tensor] && !next)
                return fail(r, REPLAY_TWICE, i, room[k].tensor);
            made[room[k].tensor] = true;
            content->first_room = next ? content->first_room : it->first_room + k;
            content->n_room++;
        }
    }
    return true;
}

/* Which tile a tensor that goes past the buffer is of. */
static void find_streams(struct replay *r)
{
    const struct instruction_program *p = r->program;
    for (uint32_t i = 0; i < p->n_instruction; i++)
        if (p->instruction[i].streamed)
            r->content[p->room[p->instruction[i].first_room].tensor].streamed = true;
    for (uint32_t k = r->engine[CORE].n; k-- > 0;) {
        const struct instruction *it = &p->instruction[r->engine[CORE].queue[k]];
        for (uint32_t i = 0; i < it->n_read + it->n_write; i++)
            r->content[p->room[it->first_room + i].tensor].tile = k;
    }
}

static bool reads(const struct replay *r, const struct instruction *it, uint32_t tensor)
{
    const struct instruction_room *room = &r->program->room[it->first_room];
    for (uint32_t k = 0; k < it->n_read; k++)
        if (room[k].tensor == tensor)
            return true;
    return false;
}

/* What the tile before read of its own level is there for a later one only if this one reads it, too. */
static bool check_staying(struct replay *r, uint32_t instruction)
{
    const struct instruction_program *p = r->program;
    const struct engine_state *core = &r->engine[CORE];
    const struct instruction *before = &p->instruction[core->queue[core->next - 1]];
    for (uint32_t k = 0; k < before->n_read; k++) {
        const uint32_t tensor = p->room[before->first_room + k].tensor;
        if (r->content[tensor].streamed && r->content[tensor].n_use > 0 &&
            !reads(r, &p->instruction[instruction], tensor))
            return fail(r, REPLAY_STREAM, instruction, tensor);
    }
    return true;
}

/* A load comes in while the tile before its own is next at the earliest; tiles that read it follow one
 * another; a store is over before the second tile behind its own begins. */
static bool check_streams(struct replay *r, uint32_t instruction)
{
    const struct instruction *it = &r->program->instruction[instruction];
    const struct instruction_room *room = &r->program->room[it->first_room];
    const struct engine_state *core = &r->engine[CORE];
    if (it->kind == INSTRUCTION_LOAD && it->streamed && core->n_over + 1 < r->content[room->tensor].tile)
        return fail(r, REPLAY_STREAM, instruction, room->tensor);
    if (it->kind != INSTRUCTION_COMPUTE || core->next < 1)
        return true;
    if (!check_staying(r, instruction))
        return false;
    if (core->next < 2)
        return true;
    const struct instruction *made = &r->program->instruction[core->queue[core->next - 2]];
    for (uint32_t k = made->n_read; k < made->n_read + made->n_write; k++) {
        uint32_t tensor = r->program->room[made->first_room + k].tensor;
        if (r->content[tensor].streamed && r->content[tensor].n_use > 0)
            return fail(r, REPLAY_STREAM, instruction, tensor);
    }
    return true;
}

/* Stored at most once; then every tensor has what it will be needed for. `stored` is (n_tensor). */
static bool count_uses(struct replay *r, bool *stored)
{
    const struct instruction_program *p = r->program;
    for (uint32_t i = 0; i < p->n_instruction; i++) {
        const struct instruction *it = &p->instruction[i];
        const struct instruction_room *room = &p->room[it->first_room];
        for (uint32_t k = 0; k < it->n_read; k += pieces_read(r, &room[k], it->n_read - k))
            r->content[room[k].tensor].n_use++;
        if (it->kind != INSTRUCTION_STORE)
            continue;
        if (stored[room->tensor])
            return fail(r, REPLAY_TWICE, i, room->tensor);
        stored[room->tensor] = true;
        r->map_store[it->name]++;
        r->map_stored[it->name] = true;
    }
    return true;
}

static bool check_counts(struct replay *r)
{
    const struct instruction_program *p = r->program;
    uint32_t n[3] = {0};
    for (uint32_t i = 0; i < p->n_instruction; i++)
        n[p->instruction[i].kind]++;
    if (n[INSTRUCTION_LOAD] != p->n_load || n[INSTRUCTION_STORE] != p->n_store ||
        n[INSTRUCTION_COMPUTE] != p->n_compute)
        return fail(r, REPLAY_COUNT, p->n_instruction, 0);
    for (uint32_t i = 0; i < p->n_instruction; i++) {
        const struct instruction *it = &p->instruction[i];
        const struct instruction_room *room = &p->room[it->first_room];
        for (uint32_t k = it->n_read; k < it->n_read + it->n_write; k++)
            if (r->content[room[k].tensor].n_use == 0)
                return fail(r, REPLAY_UNUSED, i, room[k].tensor);
    }
    return true;
}

/* ---- bytes of the buffer ---- */

/* The first piece that ends beyond `from`. */
static uint32_t find_piece(const struct replay *r, uint64_t from)
{
    uint32_t low = 0, high = r->n_piece;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->piece[middle].to > from)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool is_needed(const struct content *content)
{
    return content->stage == BEING_MADE || (content->stage == THERE && content->n_use > 0);
}

/* The room becomes the tensor's: whoever had bytes there and still needs them is a fault. */
static bool claim(struct replay *r, uint32_t instruction, const struct instruction_room *room)
{
    uint64_t from = room->offset, to = room->offset + room->byte;
    uint32_t first = find_piece(r, from), last = first;
    struct piece keep[3];
    uint32_t n_keep = 0;
    r->content[room->tensor].stage = BEING_MADE;
    if (room->byte == 0)
        return true;
    for (; last < r->n_piece && r->piece[last].from < to; last++)
        if (is_needed(&r->content[r->piece[last].tensor])) {
            r->result->other = r->piece[last].tensor;
            return fail(r, REPLAY_OVERLAP, instruction, room->tensor);
        }
    if (first < last && r->piece[first].from < from)
        keep[n_keep++] = (struct piece){r->piece[first].from, from, r->piece[first].tensor};
    keep[n_keep++] = (struct piece){from, to, room->tensor};
    if (first < last && r->piece[last - 1].to > to)
        keep[n_keep++] = (struct piece){to, r->piece[last - 1].to, r->piece[last - 1].tensor};
    memmove(&r->piece[first + n_keep], &r->piece[last], (r->n_piece - last) * sizeof *r->piece);
    memcpy(&r->piece[first], keep, n_keep * sizeof *keep);
    r->n_piece = r->n_piece - (last - first) + n_keep;
    if (to > r->result->peak_byte)
        r->result->peak_byte = to;
    return true;
}

/* All bytes of the n rooms are the tensor's, in the pieces in which it was made, and it is complete. */
static bool check_read(struct replay *r, uint32_t instruction, const struct instruction_room *room,
                       uint32_t n)
{
    const struct content *content = &r->content[room->tensor];
    const struct instruction_room *made = &r->program->room[content->first_room];
    bool in_time = content->streamed && r->program->instruction[instruction].ahead > 0;
    if (content->stage != THERE && !(in_time && content->stage == BEING_MADE))
        return fail(r, REPLAY_NOT_THERE, instruction, room->tensor);
    for (uint32_t k = 0; k < n; k++)
        if (content->n_room != n || made[k].offset != room[k].offset || made[k].byte != room[k].byte)
            return fail(r, REPLAY_ELSEWHERE, instruction, room->tensor);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t at = find_piece(r, room[k].offset);
        if (room[k].byte > 0 &&
            (at == r->n_piece || r->piece[at].tensor != room->tensor || r->piece[at].from > room[k].offset ||
             r->piece[at].to < room[k].offset + room[k].byte))
            return fail(r, REPLAY_NOT_THERE, instruction, room->tensor);
    }
    return true;
}

/* ---- events ---- */

static bool begin(struct replay *r, uint32_t instruction)
{
    const struct instruction *it = &r->program->instruction[instruction];
    const struct instruction_room *room = &r->program->room[it->first_room];
    if (it->kind == INSTRUCTION_LOAD && it->data == INSTRUCTION_MAP &&
        (!r->map_stored[it->name] || r->map_store[it->name] > 0))
        return fail(r, REPLAY_MAP, instruction, room->tensor);
    if (!check_streams(r, instruction))
        return false;
    for (uint32_t k = 0, n; k < it->n_read; k += n) {
        n = pieces_read(r, &room[k], it->n_read - k);
        if (!check_read(r, instruction, &room[k], n))
            return false;
    }
    for (uint32_t k = it->n_read; k < it->n_read + it->n_write; k++)
        if (!claim(r, instruction, &room[k]))
            return false;
    if (r->trace && r->trace->start)
        r->trace->start[instruction] = r->now;
    return true;
}

static void end(struct replay *r, uint32_t instruction)
{
    const struct instruction *it = &r->program->instruction[instruction];
    const struct instruction_room *room = &r->program->room[it->first_room];
    for (uint32_t k = 0; k < it->n_read; k += pieces_read(r, &room[k], it->n_read - k))
        r->content[room[k].tensor].n_use--;
    for (uint32_t k = it->n_read; k < it->n_read + it->n_write; k++)
        r->content[room[k].tensor].stage = THERE;
    if (it->kind == INSTRUCTION_STORE)
        r->map_store[it->name]--;
    if (r->trace && r->trace->finish)
        r->trace->finish[instruction] = r->now;
}

/* Whether the next instruction of an engine need not wait for the other any more; when its last wait is for a
 * load on its way, `*at` is when that is far enough. */
static bool is_released(const struct replay *r, int e, uint64_t *at)
{
    const struct engine_state *engine = &r->engine[e], *other = &r->engine[!e];
    const struct instruction *it = &r->program->instruction[engine->queue[engine->next]];
    *at = UINT64_MAX;
    if (it->wait <= other->n_over)
        return true;
    if (it->ahead == 0 || it->wait != other->n_over + 1 || !other->busy)
        return false;
    *at = other->finish > it->ahead ? other->finish - it->ahead : 0;
    return *at <= r->now;
}

/* What ends now, then what can begin now, until nothing more happens at this time. False: a fault. */
static bool happen(struct replay *r)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (int e = 0; e < N_ENGINE; e++) {
            struct engine_state *engine = &r->engine[e];
            if (engine->busy && engine->finish == r->now) {
                end(r, engine->queue[engine->n_over++]);
                engine->busy = false;
                changed = true;
            }
        }
        for (int e = 0; e < N_ENGINE; e++) {
            struct engine_state *engine = &r->engine[e];
            if (engine->busy || engine->next == engine->n)
                continue;
            uint32_t instruction = engine->queue[engine->next];
            uint64_t at;
            if (!is_released(r, e, &at))
                continue;
            if (!begin(r, instruction))
                return false;
            engine->next++;
            engine->busy = true;
            engine->finish = r->now + r->program->instruction[instruction].cycle;
            changed = true;
        }
    }
    return true;
}

static void run(struct replay *r)
{
    const struct engine_state *dram = &r->engine[DRAM], *core = &r->engine[CORE];
    while (happen(r)) {
        if (!dram->busy && !core->busy) {
            r->result->cycle = r->now;
            if (dram->next < dram->n || core->next < core->n)
                fail(r, REPLAY_DEADLOCK,
                     dram->next < dram->n ? dram->queue[dram->next] : core->queue[core->next], 0);
            return;
        }
        uint64_t at = UINT64_MAX, before = r->now;
        if (!core->busy && core->next < core->n)
            (void)is_released(r, CORE, &at);
        r->now = !core->busy || (dram->busy && dram->finish < core->finish) ? dram->finish : core->finish;
        r->now = at > before && at < r->now ? at : r->now;
    }
}

enum dse_status instruction_replay(const struct instruction_program *program, struct arena *scratch,
                                   struct replay_trace *trace, struct replay_result *result,
                                   struct dse_error *err)
{
    struct replay r = {.program = program, .trace = trace, .result = result};
    *result = (struct replay_result){.fault = REPLAY_OK};
    DSE_TRY(check_program(program, &r.n_tensor, err));
    DSE_TRY(make_room(&r, scratch, err));
    bool *made = arena_alloc(scratch, (size_t)r.n_tensor + 1, sizeof *made);
    bool *stored = arena_alloc(scratch, (size_t)r.n_tensor + 1, sizeof *stored);
    DSE_TRY(arena_check(scratch, "the replay of instructions", err));
    for (uint32_t i = 0; trace && i < program->n_instruction; i++) {
        if (trace->start)
            trace->start[i] = 0;
        if (trace->finish)
            trace->finish[i] = 0;
    }
    find_streams(&r);
    if (find_makers(&r, made) && count_uses(&r, stored) && check_counts(&r))
        run(&r);
    return DSE_OK;
}

/* What the instruction does wrong. */
static void fault_words(const struct replay_result *result, char *buffer, size_t size)
{
    switch (result->fault) {
    case REPLAY_OK:
        snprintf(buffer, size, "has no fault");
        break;
    case REPLAY_COUNT:
        snprintf(buffer, size, "does not have as many loads, stores and tiles as its head says");
        break;
    case REPLAY_TWICE:
        snprintf(buffer, size, "makes or stores tensor %u a second time", result->tensor);
        break;
    case REPLAY_UNUSED:
        snprintf(buffer, size, "makes tensor %u, which is neither read nor stored", result->tensor);
        break;
    case REPLAY_OUTSIDE:
        snprintf(buffer, size, "has tensor %u outside the buffer or not aligned", result->tensor);
        break;
    case REPLAY_OVERLAP:
        snprintf(buffer, size, "writes tensor %u over tensor %u, which is still needed", result->tensor,
                 result->other);
        break;
    case REPLAY_NOT_THERE:
        snprintf(buffer, size, "reads tensor %u before it is there", result->tensor);
        break;
    case REPLAY_ELSEWHERE:
        snprintf(buffer, size, "reads tensor %u at another place or size than it was made", result->tensor);
        break;
    case REPLAY_MAP:
        snprintf(buffer, size, "loads tensor %u of a feature map that is not stored to its end",
                 result->tensor);
        break;
    case REPLAY_STREAM:
        snprintf(buffer, size, "finds tensor %u, which goes past the buffer, a tile too early or too late",
                 result->tensor);
        break;
    case REPLAY_DEADLOCK:
        snprintf(buffer, size, "waits for ever: so does the other engine, or it has nothing left");
        break;
    }
}

char *replay_fault_text(const struct instruction_program *program, const struct replay_result *result,
                        char *buffer, size_t size)
{
    enum { WHO_MAX = 160, WHAT_MAX = 128 };
    char who[WHO_MAX] = "the stream", what[WHAT_MAX];
    fault_words(result, what, sizeof what);
    if (result->fault != REPLAY_OK && result->instruction < program->n_instruction) {
        const struct instruction *it = &program->instruction[result->instruction];
        bool moved = it->kind != INSTRUCTION_COMPUTE;
        snprintf(who, sizeof who, "instruction %u (%s %s%.60s, tile %u)", result->instruction,
                 instruction_kind_text(it->kind), moved ? "for " : "",
                 program->name[moved ? it->owner : it->name], it->tile);
    }
    snprintf(buffer, size, "at cycle %llu %s %s", (unsigned long long)result->cycle, who, what);
    return buffer;
}
