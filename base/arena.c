/* A list of blocks that double in size; a reset keeps the largest, so that after a few rounds one block
 * holds a whole round and nothing calls malloc any more. One that is so large that its pages cost nothing
 * beside what fills them is given back. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ARENA_EXACT: each request is a malloc of its own, so that AddressSanitizer sees overruns, and a test can
 * let any one fail. */
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_EXACT 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_EXACT 1
#endif
#endif
#ifndef ARENA_EXACT
#define ARENA_EXACT 0
#endif

enum { ARENA_ALIGN = _Alignof(max_align_t), ARENA_FIRST_BYTE = 64 * 1024, ARENA_KEEP_BYTE = 64 << 20 };

struct arena_block {
    struct arena_block *next; /* older */
    size_t capacity_byte;
    size_t used_byte;
    _Alignas(max_align_t) unsigned char data[];
};

void arena_init(struct arena *arena)
{
    *arena = (struct arena){0};
}

/* A new newest block of at least `need` bytes. Each is at least twice the one before, so the newest is the
 * largest. */
static struct arena_block *add_block(struct arena *arena, size_t need)
{
    size_t capacity = need;
    if (!ARENA_EXACT) {
        size_t usual = ARENA_FIRST_BYTE;
        if (arena->block && arena->block->capacity_byte <= SIZE_MAX / 4)
            usual = arena->block->capacity_byte * 2;
        if (capacity < usual)
            capacity = usual;
    }
    if (capacity > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    struct arena_block *block = malloc(sizeof *block + capacity);
    if (!block)
        return NULL;
    block->next = arena->block;
    block->capacity_byte = capacity;
    block->used_byte = 0;
    arena->block = block;
    return block;
}

static void *refuse(struct arena *arena, size_t byte)
{
    if (!arena->failed)
        arena->refused_byte = byte;
    arena->failed = true;
    return NULL;
}

void *arena_alloc_unset(struct arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - ARENA_ALIGN) / size)
        return refuse(arena, SIZE_MAX);
    if (arena->failed)
        return NULL;
    size_t wanted = count * size;
    size_t step = wanted;
    if (!ARENA_EXACT)
        step = (wanted + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;

    struct arena_block *block = arena->block;
    if (ARENA_EXACT || !block || block->capacity_byte - block->used_byte < step)
        block = add_block(arena, step);
    if (!block)
        return refuse(arena, wanted);
    void *result = block->data + block->used_byte;
    block->used_byte += step;
    arena->used_byte += wanted;
    return result;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    void *result = arena_alloc_unset(arena, count, size);
    if (result)
        memset(result, 0, count * size);
    return result;
}

char *arena_copy_text(struct arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        return refuse(arena, SIZE_MAX);
    char *copy = arena_alloc_unset(arena, length + 1, 1);
    if (!copy)
        return NULL;
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

enum dse_status arena_check(const struct arena *arena, const char *what, struct dse_error *err)
{
    if (!arena->failed)
        return DSE_OK;
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for %s: %zu bytes asked for, with %zu in use", what,
                    arena->refused_byte, arena->used_byte);
}

static void free_from(struct arena_block *block)
{
    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void arena_reset(struct arena *arena)
{
    if (ARENA_EXACT || (arena->block && arena->block->capacity_byte > ARENA_KEEP_BYTE)) {
        arena_free(arena);
        return;
    }
    arena->used_byte = 0;
    arena->failed = false;
    arena->refused_byte = 0;
    if (!arena->block)
        return;
    /* Keep the newest, which is the largest: after a few rounds one block holds a whole round. */
    free_from(arena->block->next);
    arena->block->next = NULL;
    arena->block->used_byte = 0;
}

void arena_free(struct arena *arena)
{
    free_from(arena->block);
    arena_init(arena);
}
