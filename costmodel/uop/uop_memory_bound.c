/* What no schedule is below that brings weights and inputs from the DRAM. No uop starts before all that it
 * waits for has run and has been read. When the first of some uops starts, accelerators hold at most their
 * memories of what only these read; the rest comes after. */
#include <stdlib.h>

#include "costmodel/uop/uop_memory.h"
#include "costmodel/uop/uop_stream.h"

enum { SET_MAX = 8192 }; /* uops up to which sets of all that each waits for are made */

struct bound {
    const struct uop_graph *graph;
    const struct uop_needs *needs;
    const struct kc_machine *machine;
    uint32_t n_core;
    uint64_t *start;     /* (n_uop) no uop starts before */
    uint32_t *n_user;    /* (n_item) uops that read a tile */
    struct later *later; /* (n_uop) */
};

struct later {
    uint64_t start;
    uint32_t uop;
};

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool is_sliced(const struct bound *b, uint32_t u)
{
    return b->needs->stream && b->needs->stream[u];
}

/* From a uop's start to its end, at least. */
static uint64_t duration(const struct bound *b, uint32_t u)
{
    return is_sliced(b, u) ? most(b->needs->stream[u]->cycle, b->graph->uop[u].cycle)
                           : b->graph->uop[u].cycle;
}

/* Of words that are read or written, at the faster of the two rates. */
static uint64_t cycles_of(const struct kc_machine *machine, uint64_t word)
{
    const uint64_t read = kc_dram_cycle(machine, word, false), written = kc_dram_cycle(machine, word, true);
    return read < written ? read : written;
}

/* Words of the tiles in a set. */
static uint64_t words_in(const struct bound *b, const uint64_t *set)
{
    const uint32_t n_uop = b->graph->n_uop, n_tile = b->needs->n_item - n_uop;
    uint64_t sum = 0;
    for (uint32_t w = 0; w < (n_tile + 63) / 64; w++)
        for (uint64_t bits = set[w]; bits; bits &= bits - 1)
            sum += b->needs->word[n_uop + w * 64 + (uint32_t)__builtin_ctzll(bits)];
    return sum;
}

static uint64_t work_in(const struct bound *b, const uint64_t *set)
{
    uint64_t sum = 0;
    for (uint32_t w = 0; w < (b->graph->n_uop + 63) / 64; w++)
        for (uint64_t bits = set[w]; bits; bits &= bits - 1)
            sum += b->graph->uop[w * 64 + (uint32_t)__builtin_ctzll(bits)].cycle;
    return sum;
}

/* Longest paths; and for all that a uop waits for, their work over the cores and what they and it read. `set`
 * (n_uop of n_word words: uops, then tiles) or NULL. */
static void find_starts(struct bound *b, uint64_t *set, size_t n_word)
{
    const struct uop_graph *graph = b->graph;
    const size_t n_uop_word = (graph->n_uop + (size_t)63) / 64;
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        uint64_t *mine = set ? set + u * n_word : NULL;
        for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++) {
            const uint32_t from = graph->producer[k];
            b->start[u] = most(b->start[u], b->start[from] + duration(b, from));
            for (size_t w = 0; set && w < n_word; w++)
                mine[w] |= set[from * n_word + w];
            if (set)
                mine[from / 64] |= UINT64_C(1) << from % 64;
        }
        if (!set)
            continue;
        for (uint32_t k = b->needs->first[u]; k < b->needs->first[u + 1]; k++) {
            const uint32_t tile = b->needs->item[k] - graph->n_uop;
            mine[n_uop_word + tile / 64] |= UINT64_C(1) << tile % 64;
        }
        const uint64_t work = work_in(b, mine);
        b->start[u] = most(b->start[u], work / b->n_core + (work % b->n_core != 0));
        b->start[u] = most(b->start[u], cycles_of(b->machine, words_in(b, mine + n_uop_word)));
    }
}

/* Where all later uops wait for all earlier ones, the bounds of the parts add up; UINT64_MAX: out of
 * memory. */
static uint64_t pass_segments(struct bound *b, const uint32_t *first, uint32_t n, struct arena *scratch)
{
    uint64_t passed = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t begin = UINT64_MAX;
        for (uint32_t u = first[i]; u < first[i + 1]; u++)
            begin = b->start[u] < begin ? b->start[u] : begin;
        passed = most(passed, begin);
        for (uint32_t u = first[i]; u < first[i + 1]; u++)
            b->start[u] = most(b->start[u], passed);
        const uint64_t segment = uop_segment_bound(b->graph, first[i], first[i + 1], b->n_core, scratch);
        if (segment == UINT64_MAX)
            return UINT64_MAX;
        passed += segment;
    }
    return passed;
}

static int latest_first(const void *a, const void *b)
{
    const struct later *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start) - (x->start > y->start)
                                : (x->uop > y->uop) - (x->uop < y->uop);
}

/* The uops that start no earlier than some time: what only they read and all memories together do not hold,
 * and their results, pass after that. */
static uint64_t pass_after(struct bound *b)
{
    const struct uop_needs *needs = b->needs;
    const uint32_t n_uop = b->graph->n_uop;
    const uint64_t room =
        needs->capacity_word > UINT64_MAX / b->n_core ? UINT64_MAX : needs->capacity_word * b->n_core;
    uint64_t bound = 0, held = 0, read = 0, written = 0;
    for (uint32_t u = 0; u < n_uop; u++)
        b->later[u] = (struct later){b->start[u], u};
    qsort(b->later, n_uop, sizeof *b->later, latest_first);
    for (uint32_t i = 0; i < n_uop; i++) {
        const uint32_t u = b->later[i].uop;
        for (uint32_t k = needs->first[u]; k < needs->first[u + 1]; k++)
            if (--b->n_user[needs->item[k]] == 0) {
                held += needs->held[needs->item[k]];
                read += needs->word[needs->item[k]];
            }
        written += needs->is_result[u] && !is_sliced(b, u) ? needs->word[u] : 0;
        const uint64_t word = (held > room ? held - room : 0) + written;
        bound = most(bound, b->later[i].start + cycles_of(b->machine, word));
    }
    return most(bound, cycles_of(b->machine, read + written)); /* nothing is held at the start */
}

/* Those in slices: each to its end, and the DRAM's part of all, with the items of the others. */
static uint64_t pass_streams(const struct bound *b)
{
    const struct uop_needs *needs = b->needs;
    const uint32_t n_uop = b->graph->n_uop;
    uint64_t last = 0, busy = 0, word = 0;
    for (uint32_t u = 0; u < n_uop; u++) {
        last = most(last, b->start[u] + duration(b, u));
        busy += is_sliced(b, u) ? needs->stream[u]->busy_cycle : 0;
        word += needs->is_result[u] && !is_sliced(b, u) ? needs->word[u] : 0;
    }
    for (uint32_t i = n_uop; i < needs->n_item; i++)
        word += needs->word[i];
    return most(last, busy + cycles_of(b->machine, word));
}

uint64_t uop_memory_bound(const struct uop_graph *graph, const struct uop_needs *needs,
                          const struct kc_machine *machine, struct arena *scratch)
{
    const uint32_t n_uop = graph->n_uop, n_tile = needs->n_item - n_uop;
    const size_t n_word = (n_uop + (size_t)63) / 64 + (n_tile + (size_t)63) / 64;
    struct bound b = {.graph = graph, .needs = needs, .machine = machine};
    b.n_core = machine->columns * machine->rows;
    uint32_t *first = arena_alloc_unset(scratch, n_uop + (size_t)1, sizeof *first);
    b.start = arena_alloc(scratch, n_uop, sizeof *b.start);
    b.n_user = arena_alloc(scratch, needs->n_item, sizeof *b.n_user);
    b.later = arena_alloc_unset(scratch, n_uop, sizeof *b.later);
    uint64_t *set = n_uop <= SET_MAX ? arena_alloc(scratch, n_uop * n_word, sizeof *set) : NULL;
    const uint32_t n = first ? uop_segments(graph, scratch, first) : 0;
    if (n == 0 || scratch->failed)
        return UINT64_MAX;
    for (uint32_t k = 0; k < needs->first[n_uop]; k++)
        b.n_user[needs->item[k]]++;
    find_starts(&b, set, n_word);
    const uint64_t passed = pass_segments(&b, first, n, scratch);
    if (passed == UINT64_MAX)
        return passed;
    const uint64_t bound = most(passed, pass_after(&b));
    return needs->stream ? most(bound, pass_streams(&b)) : bound;
}

/* Words of a network's inputs that its layers see at least: of each the largest part that one layer does. */
static uint64_t least_input(const struct uop_network *network)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < network->n_input; i++) {
        uint64_t largest = 0;
        for (uint32_t l = 0; l < network->n_all; l++) {
            const struct uop_layer *of = &network->layer[l];
            for (uint32_t k = of->first_source; k < of->first_source + of->n_source; k++)
                if (network->source[k].layer == -1 - (int32_t)i)
                    largest = most(largest, uop_input_word(network, of, &network->source[k]));
        }
        sum += largest;
    }
    return sum;
}

uint64_t uop_memory_partition_bound(const struct uop_network *network, const struct kc_machine *machine,
                                    uint32_t batch)
{
    uint64_t weights = 0, result = 0;
    for (uint32_t l = 0; l < network->n_all; l++) {
        const struct kc_tile *whole = &network->layer[l].whole;
        const uint64_t channels = uop_layer_channels(&network->layer[l]);
        if (uop_layer_has_weights(&network->layer[l]))
            weights += (uint64_t)whole->r * whole->s * whole->c * channels;
        result += uop_is_read(network, l) ? 0 : (uint64_t)whole->p * whole->q * channels;
    }
    const uint64_t word = weights + batch * (least_input(network) + result);
    return most(uop_partition_bound(network, machine, batch), cycles_of(machine, word));
}
