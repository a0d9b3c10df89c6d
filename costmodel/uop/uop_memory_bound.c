/* What no schedule is below that brings weights and inputs from the DRAM. Where all later uops wait for all
 * earlier ones, the accelerators hold at most their memories of what the later ones read; the rest comes
 * after. */
#include "costmodel/uop/uop_memory.h"

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t cycles_of(const struct kc_machine *machine, uint64_t word)
{
    return machine->dram.byte ? byte_rate_cycle(word, machine->dram) : 0;
}

struct after {
    uint64_t read, held,
        written; /* words from a segment on: of its tiles, what of them takes room, results */
};

/* Tiles that uops from `first` to `end` - 1 read which none of `seen` is; they are then. */
static void add_uops(const struct uop_needs *needs, uint32_t first, uint32_t end, bool *seen,
                     struct after *sum)
{
    for (uint32_t u = first; u < end; u++) {
        sum->written += needs->is_result[u] ? needs->word[u] : 0;
        for (uint32_t k = needs->first[u]; k < needs->first[u + 1]; k++) {
            const uint32_t item = needs->item[k];
            sum->read += seen[item] ? 0 : needs->word[item];
            sum->held += seen[item] ? 0 : needs->held[item];
            seen[item] = true;
        }
    }
}

uint64_t uop_memory_bound(const struct uop_graph *graph, const struct uop_needs *needs,
                          const struct kc_machine *machine, struct arena *scratch)
{
    const uint32_t n_core = machine->columns * machine->rows;
    uint32_t *first = arena_alloc_unset(scratch, graph->n_uop + (size_t)1, sizeof *first);
    const uint32_t n = first ? uop_segments(graph, scratch, first) : 0;
    struct after *after = arena_alloc(scratch, n + (size_t)1, sizeof *after);
    bool *later = arena_alloc(scratch, needs->n_item, sizeof *later);
    bool *before = arena_alloc(scratch, needs->n_item, sizeof *before);
    struct after so_far = {0};
    uint64_t passed = 0, bound = 0;
    if (n == 0 || !after || !later || !before)
        return UINT64_MAX;
    for (uint32_t i = n; i-- > 0;) {
        after[i] = after[i + 1];
        add_uops(needs, first[i], first[i + 1], later, &after[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t room = i == 0                                       ? 0
                              : needs->capacity_word > UINT64_MAX / n_core ? UINT64_MAX
                                                                           : n_core * needs->capacity_word;
        const uint64_t come = i == 0 ? after[i].read : after[i].held;
        const uint64_t word = (come > room ? come - room : 0) + after[i].written;
        bound = most(bound, passed + cycles_of(machine, word));
        const uint64_t segment = uop_segment_bound(graph, first[i], first[i + 1], n_core, scratch);
        if (segment == UINT64_MAX)
            return UINT64_MAX;
        add_uops(needs, first[i], first[i + 1], before, &so_far);
        passed = most(passed + segment, cycles_of(machine, so_far.read));
    }
    return most(bound, passed);
}

/* Words of a network's inputs that its layers see at least: of each the largest part that one layer does. */
static uint64_t least_input(const struct uop_network *network)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < network->network->n_input; i++) {
        uint64_t largest = 0;
        for (uint32_t l = 0; l < network->n_layer; l++) {
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
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct kc_tile *whole = &network->layer[l].whole;
        weights += (uint64_t)whole->r * whole->s * whole->c * whole->k;
        result += uop_is_read(network, l) ? 0 : (uint64_t)whole->p * whole->q * whole->k;
    }
    const uint64_t word = weights + batch * (least_input(network) + result);
    return most(uop_partition_bound(network, machine, batch), cycles_of(machine, word));
}
