/* A sweep over the tensors by the time they begin to live, with a list of free spans: what is over gives its
 * spans back, what begins takes the best gap, or as few spans as there are. */
#include "engines/soma/machine/buffer_split.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Where a tensor goes when several gaps are wide enough. */
enum rule {
    TIGHTEST,
    LOWEST,
    BY_DURATION, /* long ones low, short ones high */
    N_RULE
};

#define NONE UINT32_MAX /* in a list of tensors */

/* As many as are needed, which are about as many as tensors, and never more than 16 times that. */
struct pieces {
    struct buffer_piece *at; /* (n); owned */
    uint32_t n;
    size_t room;
};

struct sweep {
    const struct fused_schedule *schedule;
    uint64_t alignment, buffer_byte;
    uint32_t *place; /* (n_tensor) in the DRAM order; UINT32_MAX: not moved */
    uint32_t *order; /* (n_tensor) as they begin to live */
    int32_t lasting; /* positions from which on a duration is a long one */
    /* Of those placed and not over, by the position where they end: (n_tile + 3) the first, from -1 on;
     * (n_tensor) the next. */
    uint32_t *ending, *after;
    int32_t now;               /* what ends before that is dropped */
    struct pieces span;        /* free ones by offset, never adjacent */
    uint32_t *first, *n_piece; /* (n_tensor) into piece, by order of placing */
    struct pieces piece;
    uint32_t room_for; /* how many pieces there may be */
    uint32_t n_split;
    uint64_t peak;
    bool failed; /* there was no memory */
};

static bool is_load(const struct fused_tensor *tensor)
{
    return tensor->kind == FUSED_IFMAP || tensor->kind == FUSED_WEIGHT;
}

/* Its place among those that begin to live where it does. */
static void add_birth(struct sweep *s, uint32_t *begin, uint32_t i)
{
    s->order[begin[s->schedule->tensor[i].start + 1]++] = i;
}

/* By start; at one position loads as the DRAM moves them, then what tiles make. In this order a tensor that
 * may take the bytes of one before it may do so whatever follows: buffer_conflict is an overlap of
 * intervals. */
static enum dse_status sort_births(struct sweep *s, struct arena *arena, struct dse_error *err)
{
    const struct fused_schedule *of = s->schedule;
    const struct fused_tensor *tensor = of->tensor;
    uint32_t *begin = arena_alloc(arena, (size_t)of->n_tile + 3, sizeof *begin); /* by start, from -1 on */
    int64_t sum = 0;
    DSE_TRY(arena_check(arena, "the places of tensors", err));
    for (uint32_t i = 0; i < of->n_tensor; i++) {
        begin[tensor[i].start + 2]++;
        sum += tensor[i].end - tensor[i].start;
    }
    for (uint32_t p = 0; p <= of->n_tile; p++)
        begin[p + 1] += begin[p];
    memset(s->place, 0xff, of->n_tensor * sizeof *s->place);
    for (uint32_t k = 0; k < of->n_dram; k++) {
        s->place[of->dram_order[k]] = k;
        if (is_load(&tensor[of->dram_order[k]]))
            add_birth(s, begin, of->dram_order[k]);
    }
    for (uint32_t i = 0; i < of->n_tensor; i++)
        if (!is_load(&tensor[i]))
            add_birth(s, begin, i);
    s->lasting = of->n_tensor > 0 ? (int32_t)(sum / of->n_tensor) : 0;
    return DSE_OK;
}

/* Room for one more. */
static bool grow(struct sweep *s, struct pieces *pieces)
{
    if (pieces->n < pieces->room)
        return true;
    struct buffer_piece *larger =
        array_grow(pieces->at, (size_t)pieces->n + 1, &pieces->room, sizeof *larger);
    s->failed |= !larger;
    pieces->at = larger ? larger : pieces->at;
    return larger;
}

/* ---- free spans ---- */

static uint64_t rounded(const struct sweep *s, uint64_t byte)
{
    return (byte + s->alignment - 1) / s->alignment * s->alignment;
}

static void give_back(struct sweep *s, const struct buffer_piece *piece)
{
    uint64_t from = piece->offset, to = from + rounded(s, piece->byte);
    uint32_t at = 0;
    if (from == to || !grow(s, &s->span))
        return;
    struct buffer_piece *span = s->span.at;
    while (at < s->span.n && span[at].offset < from)
        at++;
    bool left = at > 0 && span[at - 1].offset + span[at - 1].byte == from;
    bool right = at < s->span.n && span[at].offset == to;
    if (left && right) {
        span[at - 1].byte += to - from + span[at].byte;
        memmove(&span[at], &span[at + 1], (s->span.n - at - 1) * sizeof *span);
        s->span.n--;
    } else if (left) {
        span[at - 1].byte += to - from;
    } else if (right) {
        span[at] = (struct buffer_piece){from, span[at].byte + to - from};
    } else {
        memmove(&span[at + 1], &span[at], (s->span.n - at) * sizeof *span);
        span[at] = (struct buffer_piece){from, to - from};
        s->span.n++;
    }
}

/* `room` bytes of a span, from its low end or its high one. */
static uint64_t take(struct sweep *s, uint32_t at, uint64_t room, bool high)
{
    struct buffer_piece *span = &s->span.at[at];
    uint64_t offset = high ? span->offset + span->byte - room : span->offset;
    span->offset += high ? 0 : room;
    span->byte -= room;
    if (span->byte == 0) {
        memmove(span, span + 1, (s->span.n - at - 1) * sizeof *span);
        s->span.n--;
    }
    return offset;
}

static void drop_at(struct sweep *s, int32_t position, uint32_t next)
{
    const struct fused_tensor *tensor = s->schedule->tensor;
    for (uint32_t *link = &s->ending[position + 1]; *link != NONE;) {
        uint32_t i = *link;
        if (buffer_conflict(&tensor[i], s->place[i], &tensor[next], s->place[next])) {
            link = &s->after[i];
            continue;
        }
        for (uint32_t p = 0; p < s->n_piece[i]; p++)
            give_back(s, &s->piece.at[s->first[i] + p]);
        *link = s->after[i];
    }
}

/* What ends where `next` starts may still have to be stored; what ends earlier is over. */
static void drop_dead(struct sweep *s, uint32_t next)
{
    int32_t start = s->schedule->tensor[next].start;
    for (; s->now < start; s->now++)
        drop_at(s, s->now, next);
    drop_at(s, start, next);
}

static void keep_until(struct sweep *s, uint32_t i)
{
    int32_t end = s->schedule->tensor[i].end;
    uint32_t *first = &s->ending[(end > s->now ? end : s->now) + 1];
    s->after[i] = *first;
    *first = i;
}

/* ---- placing ---- */

/* The span that a whole tensor goes to; span.n: none is wide enough. */
static uint32_t pick_whole(const struct sweep *s, uint64_t room, enum rule rule, bool high)
{
    const struct buffer_piece *span = s->span.at;
    uint32_t found = s->span.n;
    for (uint32_t k = 0; k < s->span.n; k++) {
        if (span[k].byte < room)
            continue;
        if (found == s->span.n || (rule == TIGHTEST && span[k].byte < span[found].byte) || high)
            found = k;
        if (rule == LOWEST)
            break;
    }
    return found;
}

/* The widest span, or the tightest that holds all that is left. */
static uint32_t pick_part(const struct sweep *s, uint64_t room)
{
    uint32_t whole = pick_whole(s, room, TIGHTEST, false), widest = 0;
    if (whole < s->span.n)
        return whole;
    for (uint32_t k = 1; k < s->span.n; k++)
        if (s->span.at[k].byte > s->span.at[widest].byte)
            widest = k;
    return widest;
}

static bool add_piece(struct sweep *s, uint32_t i, uint64_t offset, uint64_t byte)
{
    uint64_t end = offset + rounded(s, byte);
    if (!grow(s, &s->piece))
        return false;
    s->piece.at[s->piece.n++] = (struct buffer_piece){offset, byte};
    s->n_piece[i]++;
    s->peak = end > s->peak ? end : s->peak;
    return true;
}

/* False: there are not as many free bytes, or far more pieces than any schedule needs, or no memory. */
static bool place(struct sweep *s, uint32_t i, enum rule rule)
{
    const struct fused_tensor *tensor = &s->schedule->tensor[i];
    bool high = rule == BY_DURATION && tensor->end - tensor->start < s->lasting;
    uint64_t left = tensor->byte, room = rounded(s, left);
    uint32_t at = room > 0 ? pick_whole(s, room, rule, high) : s->span.n;
    s->first[i] = s->piece.n;
    s->n_piece[i] = 0;
    if (room == 0 || at < s->span.n) {
        if (!add_piece(s, i, room > 0 ? take(s, at, room, high) : 0, left))
            return false;
        left = 0;
    }
    while (left > 0) {
        if (s->span.n == 0 || s->piece.n + 1 >= s->room_for)
            return false;
        uint32_t part = pick_part(s, rounded(s, left));
        room = s->span.at[part].byte < left ? s->span.at[part].byte : left;
        if (!add_piece(s, i, take(s, part, rounded(s, room), false), room))
            return false;
        left -= room;
    }
    s->n_split += s->n_piece[i] > 1;
    keep_until(s, i);
    return !s->failed;
}

static bool run(struct sweep *s, enum rule rule)
{
    s->piece.n = s->span.n = s->n_split = 0;
    s->peak = 0;
    s->now = -1;
    memset(s->ending, 0xff, ((size_t)s->schedule->n_tile + 3) * sizeof *s->ending);
    give_back(s, &(struct buffer_piece){0, s->buffer_byte / s->alignment * s->alignment});
    for (uint32_t k = 0; k < s->schedule->n_tensor; k++) {
        drop_dead(s, s->order[k]);
        if (!place(s, s->order[k], rule))
            return false;
    }
    return !s->failed;
}

/* ---- the best of the rules ---- */

/* `best`: its pieces, tensor by tensor. */
static void keep(struct sweep *s, struct buffer_split *split, struct pieces *best)
{
    split->n_split = s->n_split;
    split->peak_byte = s->peak;
    split->fits = true;
    best->n = 0;
    for (uint32_t i = 0; i < s->schedule->n_tensor; i++) {
        split->first[i] = best->n;
        for (uint32_t p = 0; p < s->n_piece[i] && grow(s, best); p++)
            best->at[best->n++] = s->piece.at[s->first[i] + p];
    }
    split->first[s->schedule->n_tensor] = best->n;
}

/* The best of the rules, its pieces into the arena. */
static enum dse_status try_rules(struct sweep *s, struct buffer_split *split, struct pieces *best,
                                 struct arena *arena, struct dse_error *err)
{
    for (int rule = TIGHTEST; rule < N_RULE && !s->failed && !(split->fits && split->n_split == 0); rule++)
        if (run(s, (enum rule)rule) && (!split->fits || s->n_split < split->n_split))
            keep(s, split, best);
    if (s->failed)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the places of %u tensors",
                        s->schedule->n_tensor);
    split->piece = arena_alloc_unset(arena, (size_t)best->n + 1, sizeof *split->piece);
    DSE_TRY(arena_check(arena, "the places of tensors", err));
    if (best->n > 0)
        memcpy(split->piece, best->at, best->n * sizeof *split->piece);
    return DSE_OK;
}

enum dse_status buffer_split(const struct fused_schedule *schedule,
                             const struct buffer_allocate_options *options, struct arena *arena,
                             struct buffer_split *split, struct dse_error *err)
{
    enum { PIECES = 16 }; /* of a tensor on average, at most */
    size_t n = (size_t)schedule->n_tensor + 2;
    struct sweep s = {.schedule = schedule,
                      .alignment = options->alignment,
                      .buffer_byte = options->buffer_byte,
                      .room_for = (uint32_t)(PIECES * n)};
    struct pieces best = {0};
    uint32_t **index[] = {&s.place, &s.order, &s.after, &s.first, &s.n_piece, &split->first};
    *split = (struct buffer_split){0};
    for (size_t i = 0; i < sizeof index / sizeof index[0]; i++)
        *index[i] = arena_alloc(arena, n, sizeof(uint32_t));
    s.ending = arena_alloc(arena, (size_t)schedule->n_tile + 3, sizeof *s.ending);
    DSE_TRY(arena_check(arena, "the places of tensors", err));
    DSE_TRY(sort_births(&s, arena, err));
    const enum dse_status status = try_rules(&s, split, &best, arena, err);
    free(s.span.at);
    free(s.piece.at);
    free(best.at);
    return status;
}
