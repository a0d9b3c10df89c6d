/* The order of a network's layers, producers first; a cycle has none. */
#include "base/text.h"
#include "costmodel/model/network.h"
#include "costmodel/native/network_parts.h"

/* stack[0 .. n-1] is a cycle: the producer of each is the next one, that of the last is the first. */
static enum dse_status fail_cycle(const struct network_reader *reader, const uint32_t *stack, uint32_t n,
                                  struct dse_error *err)
{
    enum { SHOWN_MAX = 8 };
    uint32_t first = 0;
    for (uint32_t i = 1; i < n; i++)
        if (stack[i] < stack[first])
            first = i;
    struct text_buffer text;
    text_init(&text);
    for (uint32_t i = 0; i < n && i < SHOWN_MAX; i++)
        text_append(&text, "%s -> ", reader->layer[stack[(first + n - i) % n]].name);
    if (n > SHOWN_MAX)
        text_append(&text, "... -> ");
    const struct layer *layer = &reader->layer[stack[first]];
    enum dse_status status =
        dse_fail_at(err, DSE_BAD_INPUT, reader->doc->path, layer->line,
                    "the layers form a cycle of %u: %s%s; a network has none", n, text.data, layer->name);
    text_free(&text);
    return status;
}

enum visit { VISIT_NEW, VISIT_OPEN, VISIT_DONE };

struct sorter {
    uint8_t *visit;  /* (n_layer) enum visit */
    uint32_t *next;  /* (n_layer) the next producer to look at */
    uint32_t *stack; /* (n_layer) */
    uint32_t *order; /* (n_layer) */
    uint32_t n_order;
};

/* Producer number `i` of a layer, the one of the second operand last; LAYER_NO_PRODUCER behind the end. */
static int32_t nth_producer(const struct layer *layer, uint32_t i)
{
    if (i < layer->n_producer)
        return layer->producer[i];
    return i == layer->n_producer ? layer->weight_producer : LAYER_NO_PRODUCER;
}

/* Depth first from `root` along producers. */
static enum dse_status visit_from(const struct network_reader *reader, struct sorter *sorter, uint32_t root,
                                  struct dse_error *err)
{
    uint32_t depth = 0;
    sorter->stack[depth++] = root;
    sorter->visit[root] = VISIT_OPEN;
    while (depth > 0) {
        uint32_t at = sorter->stack[depth - 1];
        const struct layer *layer = &reader->layer[at];
        if (sorter->next[at] > layer->n_producer) {
            sorter->visit[at] = VISIT_DONE;
            sorter->order[sorter->n_order++] = at;
            depth--;
            continue;
        }
        int32_t producer = nth_producer(layer, sorter->next[at]++);
        if (producer < 0 || sorter->visit[producer] == VISIT_DONE)
            continue;
        if (sorter->visit[producer] == VISIT_OPEN) {
            uint32_t start = depth - 1;
            while (sorter->stack[start] != (uint32_t)producer)
                start--;
            return fail_cycle(reader, sorter->stack + start, depth - start, err);
        }
        sorter->visit[producer] = VISIT_OPEN;
        sorter->stack[depth++] = (uint32_t)producer;
    }
    return DSE_OK;
}

enum dse_status network_sort(struct network_reader *reader, struct dse_error *err)
{
    uint32_t n = reader->net->n_layer;
    struct arena *arena = &reader->net->arena;
    struct sorter sorter = {0};
    sorter.visit = arena_alloc(arena, n, sizeof(*sorter.visit));
    sorter.next = arena_alloc(arena, n, sizeof(*sorter.next));
    sorter.stack = arena_alloc(arena, n, sizeof(*sorter.stack));
    sorter.order = arena_alloc(arena, n, sizeof(*sorter.order));
    DSE_TRY(arena_check(&reader->net->arena, "a network", err));
    for (uint32_t i = 0; i < n; i++)
        if (sorter.visit[i] == VISIT_NEW)
            DSE_TRY(visit_from(reader, &sorter, i, err));
    reader->net->order = sorter.order;
    return DSE_OK;
}
