/* A bump allocator: many small requests, one free. One per worker, reset per design point.
 * Under AddressSanitizer each request is a malloc of its own, so overruns are seen. Not thread-safe.
 *
 * It remembers the first request that it could not meet and refuses all later ones, so code asks for all that
 * it needs and looks once (arena_check), before it writes to any of it. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct arena_block;

struct arena {
    struct arena_block *block; /* newest first; owned */
    size_t used_byte;          /* total handed out since the last reset */
    bool failed;               /* a request since the last reset could not be met */
    size_t refused_byte;       /* the size of the first of these; SIZE_MAX when it overflowed */
};

/* An empty arena; allocates nothing yet. */
void arena_init(struct arena *arena);

/* Zeroed memory for `count` items of `size` bytes, aligned for any type; NULL when out of memory or on
 * overflow, and after an earlier failure. Owned by the arena. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* The same, not zeroed: for large things of which little is used. */
void *arena_alloc_unset(struct arena *arena, size_t count, size_t size);

/* A copy of `length` bytes of `text` plus a terminator; NULL when out of memory. Owned by the arena. */
char *arena_copy_text(struct arena *arena, const char *text, size_t length);

/* DSE_OK when every request since the last reset was met, so no pointer that came from one is NULL; else
 * DSE_NO_MEMORY, with `what` the memory was for ("a map space"). */
DSE_MUST_CHECK enum dse_status arena_check(const struct arena *arena, const char *what,
                                           struct dse_error *err);

/* Forget everything handed out, and a failure; keeps the memory for reuse, unless it is very much (or under
 * ASan). */
void arena_reset(struct arena *arena);

/* Give all memory back; the arena is empty and may be used again. */
void arena_free(struct arena *arena);

#endif
