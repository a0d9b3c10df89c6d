/* Positions in blocks, each with what was added to all of it and its maximum. Most ranges are short, so a
 * tree would cost more. */
#include "engines/soma/search/living.h"

#include <string.h>

static size_t n_block(uint32_t n)
{
    return (size_t)n / SOMA_LIVING_BLOCK + 1;
}

void soma_living_new(uint32_t n, struct arena *arena, struct soma_living *living)
{
    living->n = n;
    living->byte = arena_alloc(arena, (size_t)n + 1, sizeof *living->byte);
    living->added = arena_alloc(arena, n_block(n), sizeof *living->added);
    living->most = arena_alloc(arena, n_block(n), sizeof *living->most);
}

void soma_living_copy(const struct soma_living *from, struct soma_living *to)
{
    memcpy(to->byte, from->byte, from->n * sizeof *to->byte);
    memcpy(to->added, from->added, n_block(from->n) * sizeof *to->added);
    memcpy(to->most, from->most, n_block(from->n) * sizeof *to->most);
}

/* Where the block of a position ends, or `past` before that. */
static uint32_t block_end(uint32_t at, uint32_t past)
{
    uint32_t end = (at / SOMA_LIVING_BLOCK + 1) * SOMA_LIVING_BLOCK;
    return end < past ? end : past;
}

/* first .. past-1 lie in one block. The most there, behind it. */
static uint64_t add_within(struct soma_living *living, uint32_t first, uint32_t past, uint64_t byte)
{
    uint64_t most = 0, added = living->added[first / SOMA_LIVING_BLOCK];
    for (uint32_t x = first; x < past; x++) {
        uint64_t here = living->byte[x] += byte;
        most = here + added > most ? here + added : most;
    }
    return most;
}

/* The maximum of the block is looked for only when it became less. */
static void add_part(struct soma_living *living, uint32_t first, uint32_t past, uint64_t byte)
{
    uint32_t block = first / SOMA_LIVING_BLOCK, start = block * SOMA_LIVING_BLOCK;
    uint64_t before = living->most[block], most = add_within(living, first, past, byte);
    if (most >= before)
        living->most[block] = most;
    else if (most - byte == before)
        living->most[block] = add_within(living, start, block_end(start, living->n), 0);
}

void soma_living_add(struct soma_living *living, uint32_t first, uint32_t past, uint64_t byte)
{
    for (uint32_t end; first < past; first = end) {
        uint32_t block = first / SOMA_LIVING_BLOCK;
        end = block_end(first, past);
        if (end - first < SOMA_LIVING_BLOCK) {
            add_part(living, first, end, byte);
        } else {
            living->added[block] += byte;
            living->most[block] += byte;
        }
    }
}

uint32_t soma_living_back(const struct soma_living *living, uint32_t first, uint32_t past, uint64_t byte)
{
    while (past > first) {
        uint32_t block = (past - 1) / SOMA_LIVING_BLOCK, low = block * SOMA_LIVING_BLOCK;
        low = low > first ? low : first;
        if (living->most[block] > byte) {
            while (past > low && soma_living_at(living, past - 1) <= byte)
                past--;
            if (past > low)
                return past;
        }
        past = low;
    }
    return past;
}

bool soma_living_below(const struct soma_living *living, uint32_t *at, uint32_t past, uint64_t byte,
                       uint64_t *most)
{
    while (*at < past) {
        uint32_t block = *at / SOMA_LIVING_BLOCK, end = block_end(*at, past);
        bool whole = end - *at == SOMA_LIVING_BLOCK;
        uint64_t here = whole ? living->most[block] : soma_living_at(living, *at);
        *at = whole ? end : *at + 1;
        *most = here > *most ? here : *most;
        if (here > byte)
            return false;
    }
    return true;
}
