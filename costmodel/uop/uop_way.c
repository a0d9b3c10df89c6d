/* A message takes all links on its way at once for the times to come. */
#include "costmodel/uop/uop_way.h"

#include <string.h>

enum { BYTE_BIT = 8 };

void uop_way_init(const struct kc_machine *machine, struct arena *scratch, struct uop_link *link,
                  struct uop_way *way)
{
    const size_t n_link = (size_t)machine->columns * machine->rows * UOP_SIDES;
    *way = (struct uop_way){.machine = machine, .link = link};
    way->free = arena_alloc(scratch, n_link + machine->rows, sizeof *way->free);
    for (int k = 0; k < 2; k++)
        way->route[k] =
            arena_alloc_unset(scratch, (size_t)machine->columns + machine->rows, sizeof *way->route[k]);
    if (link)
        memset(link, 0, n_link * sizeof *link);
}

static uint64_t flits_of(const struct uop_way *way, uint64_t byte)
{
    const uint32_t flit_bit = way->machine->noc.flit_bit;
    return flit_bit ? (byte * BYTE_BIT + flit_bit - 1) / flit_bit : 0;
}

/* When the head has passed the last link. */
static uint64_t head_end(const struct uop_way *way, const uint32_t *route, uint32_t n, uint64_t cycle)
{
    for (uint32_t i = 0; i < n; i++)
        cycle = (cycle > way->free[route[i]] ? cycle : way->free[route[i]]) + 1;
    return cycle;
}

/* The head takes a link; when it has passed. */
static uint64_t take(struct uop_way *way, uint32_t link, uint64_t byte, uint64_t flits, uint64_t cycle)
{
    if (link < way->machine->columns * way->machine->rows * UOP_SIDES) {
        way->link[link].n_message++;
        way->link[link].byte += byte;
        way->link[link].busy_cycle += flits;
    }
    if (flits == 0)
        return cycle;
    cycle = cycle > way->free[link] ? cycle : way->free[link];
    way->free[link] = cycle + flits;
    return cycle + 1;
}

uint64_t uop_way_send(struct uop_way *way, uint32_t from, uint32_t to, uint64_t byte, uint64_t cycle)
{
    const uint64_t flits = flits_of(way, byte);
    uint64_t end[2];
    uint32_t n = 0;
    for (int k = 0; k < 2; k++) {
        n = uop_route(way->machine, from, to, k == 0, way->route[k]);
        end[k] = head_end(way, way->route[k], n, cycle);
    }
    const uint32_t *route = way->route[flits && end[1] < end[0]];
    for (uint32_t i = 0; i < n; i++)
        cycle = take(way, route[i], byte, flits, cycle);
    return cycle + flits;
}

void uop_way_fetch(struct uop_way *way, const uint32_t *to, uint32_t n, uint64_t byte, uint64_t cycle,
                   uint64_t *there)
{
    const uint32_t columns = way->machine->columns, row = to[0] / columns;
    const uint64_t flits = flits_of(way, byte);
    uint32_t k = 0;
    cycle = take(way, columns * way->machine->rows * UOP_SIDES + row, byte, flits, cycle);
    for (uint32_t core = row * columns; k < n; core++) {
        if (to[k] == core)
            there[k++] = cycle + flits;
        if (k < n)
            cycle = take(way, core * UOP_SIDES + UOP_EAST, byte, flits, cycle);
    }
}

uint64_t uop_way_store(struct uop_way *way, uint32_t from, uint64_t byte, uint64_t cycle)
{
    const uint32_t columns = way->machine->columns;
    const uint64_t flits = flits_of(way, byte);
    for (uint32_t core = from;; core--) {
        cycle = take(way, core * UOP_SIDES + UOP_WEST, byte, flits, cycle);
        if (core % columns == 0)
            return cycle + flits;
    }
}

static void add(struct uop_link *link, uint64_t n, uint64_t byte)
{
    link->n_message += n;
    link->byte += byte;
}

void uop_way_stream(struct uop_way *way, uint32_t core, const struct uop_stream *stream)
{
    const uint64_t word_byte = way->machine->word_byte;
    for (uint32_t at = core;; at--) {
        if (at < core)
            add(&way->link[at * UOP_SIDES + UOP_EAST], stream->n_read, stream->read_word * word_byte);
        add(&way->link[at * UOP_SIDES + UOP_WEST], stream->n_written, stream->written_word * word_byte);
        if (at % way->machine->columns == 0)
            return;
    }
}
