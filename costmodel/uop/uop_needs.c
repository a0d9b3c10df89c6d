/* Tiles of weights are counted by layer, output channels, input channels; tiles of inputs by layer, source,
 * sample, and then as tiles of outputs, without output channels. */
#include "costmodel/uop/uop_needs.h"

#include <math.h>

#include "costmodel/uop/uop_slices.h"

const char *const uop_sram_name[4] = {"all", "output", "off", "slices"};

static uint64_t length(struct uop_range range)
{
    return range.end > range.first ? range.end - range.first : 0;
}

uint64_t uop_weight_word(const struct uop_box *box, const struct kc_tile *whole)
{
    return whole->r * (uint64_t)whole->s * length(box->ic) * length(box->oc);
}

uint64_t uop_source_word(const struct uop_network *network, const struct uop_layer *of,
                         const struct uop_source *source, const struct uop_box *box)
{
    struct uop_region region;
    if (!uop_source_region(network, of, box, source, &region))
        return 0;
    const uint64_t word = length(region.row) * length(region.column) * length(region.channel);
    const uint64_t all = (uint64_t)of->whole.c * uop_layer_channels(of);
    return source->second
               ? (uint64_t)ceil((double)word * (double)uop_weight_word(box, &of->whole) / (double)all)
               : word;
}

struct builder {
    const struct uop_graph *graph;
    uint32_t per_sample;
    uint32_t *weights; /* (n_layer of all) number of the first tile of weights */
    uint32_t *inputs;  /* (sources) of the first tile of that input; only those of the network */
    uint32_t n_item, n_use;
    uint32_t *first, *item;
    uint64_t *word, *held, *room;
    bool *is_result, *is_sliced; /* is_sliced: NULL but of UOP_SRAM_SLICES */
};

/* How many parts the groups of channels are cut into. */
static uint32_t groups_of(const struct uop_layer *of, const struct uop_cut_layer *layer)
{
    return layer->cut.oc > of->whole.k ? layer->n_oc : of->whole.g;
}

/* Tiles of outputs without channels, and of the channels that tiles read. */
static uint32_t places_of(const struct uop_cut_layer *layer)
{
    return layer->n_h * layer->n_w;
}

static uint32_t parts_of(const struct uop_layer *of, const struct uop_cut_layer *layer)
{
    return of->n_operation ? layer->n_oc : layer->n_ic * groups_of(of, layer);
}

/* Tiles of a second operand lie as those of weights do. */
static uint32_t operand_of(const struct uop_layer *of, const struct uop_cut_layer *layer,
                           const struct uop_source *source)
{
    return source->second ? layer->n_oc * layer->n_ic : places_of(layer) * parts_of(of, layer);
}

/* Numbers for tiles; how often uops use them, at most. */
static void number(struct builder *b)
{
    const struct uop_graph *graph = b->graph;
    b->n_item = graph->n_uop;
    for (uint32_t l = 0; l < graph->network->n_layer; l++) {
        if (!uop_layer_has_weights(&graph->network->layer[l]))
            continue;
        b->weights[l] = b->n_item;
        b->n_item += graph->layer[l].n_oc * graph->layer[l].n_ic;
        b->n_use += graph->layer[l].n_tile * graph->n_sample;
    }
    for (uint32_t l = 0; l < graph->network->n_all; l++) {
        const struct uop_layer *of = &graph->network->layer[l];
        for (uint32_t i = of->first_source; i < of->first_source + of->n_source; i++) {
            if (graph->network->source[i].layer >= 0)
                continue;
            b->inputs[i] = b->n_item;
            b->n_item += operand_of(of, &graph->layer[l], &graph->network->source[i]) * graph->n_sample;
            b->n_use += graph->layer[l].n_tile * graph->n_sample;
        }
    }
}

static void use(struct builder *b, uint32_t item, uint64_t word)
{
    b->word[item] = word;
    b->item[b->n_use++] = item;
}

/* Tile `t` of its layer: its weights, and what it reads of the network's inputs. */
static void use_tile(struct builder *b, uint32_t u, uint32_t t, const struct uop_box *box)
{
    const struct uop_graph *graph = b->graph;
    const uint32_t l = graph->uop[u].layer;
    const struct uop_layer *of = &graph->network->layer[l];
    const struct uop_cut_layer *layer = &graph->layer[l];
    const uint32_t ic = t % layer->n_ic, oc = t / layer->n_ic % layer->n_oc;
    const uint32_t weights = oc * layer->n_ic + ic; /* the same for all places of the map */
    const uint32_t group = oc / (layer->n_oc / groups_of(of, layer));
    const uint32_t part = of->n_operation ? oc : group * layer->n_ic + ic;
    const uint32_t place = t / layer->n_ic / layer->n_oc * parts_of(of, layer) + part;
    const struct kc_tile *whole = &of->whole;
    const struct uop_cut cut = {(uint32_t)length(box->row), (uint32_t)length(box->column),
                                (uint32_t)length(box->ic), (uint32_t)length(box->oc)};
    const struct uop_need need = uop_cut_need(whole, cut);
    if (uop_layer_has_weights(of))
        use(b, b->weights[l] + weights, uop_weight_word(box, whole));
    if (!of->n_operation) /* what a pool or sum reads streams through */
        b->room[u] += need.input_word + need.weight_word;
    for (uint32_t i = of->first_source; i < of->first_source + of->n_source; i++) {
        const struct uop_source *source = &graph->network->source[i];
        const uint64_t word = source->layer < 0 ? uop_source_word(graph->network, of, source, box) : 0;
        if (word)
            use(b,
                b->inputs[i] + graph->uop[u].sample * operand_of(of, layer, source) +
                    (source->second ? weights : place),
                word);
    }
}

/* Is this tile's, or sum's, output the whole one that readers of its layer take? */
static bool is_last_part(const struct uop_graph *graph, const struct uop_cut_layer *layer, uint32_t t)
{
    if (graph->sums == UOP_SUMS_REDUCE && layer->n_ic > 1)
        return t >= layer->n_tile;
    return graph->sums != UOP_SUMS_CHAIN || t % layer->n_ic == layer->n_ic - 1;
}

/* Is it larger than the memory? Of one that adds up or pools the output. */
static bool is_sliced(const struct uop_graph *graph, const struct kc_machine *machine, uint32_t u, bool adds,
                      const struct uop_box *box)
{
    const struct uop_layer *of = &graph->network->layer[graph->uop[u].layer];
    const struct uop_cut cut = {(uint32_t)length(box->row), (uint32_t)length(box->column),
                                (uint32_t)length(box->ic), (uint32_t)length(box->oc)};
    const struct uop_need need = uop_cut_need(&of->whole, cut);
    return !uop_need_fits(&need, adds || of->n_operation ? UOP_SRAM_OUTPUT : UOP_SRAM_ALL, machine);
}

static void fill(struct builder *b, const struct kc_machine *machine, enum uop_sram sram, const bool *is_read)
{
    const struct uop_graph *graph = b->graph;
    b->n_use = 0;
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        const struct uop *uop = &graph->uop[u];
        const struct uop_cut_layer *layer = &graph->layer[uop->layer];
        const uint32_t t = u % b->per_sample - layer->first;
        const struct uop_box box = uop_box_of(graph, u);
        b->first[u] = b->n_use;
        b->word[u] = uop->output_word;
        b->room[u] = 0;
        if (b->is_sliced)
            b->is_sliced[u] = is_sliced(graph, machine, u, t >= layer->n_tile, &box);
        const bool is_whole = !b->is_sliced || !b->is_sliced[u];
        if (t < layer->n_tile && is_whole)
            use_tile(b, u, t, &box);
        if (sram == UOP_SRAM_OUTPUT || sram == UOP_SRAM_OFF)
            b->room[u] = 0;
        b->room[u] += sram == UOP_SRAM_OFF ? 0 : is_whole ? uop->output_word : machine->sram_word;
        b->is_result[u] = !is_read[uop->layer] && is_last_part(graph, layer, t);
    }
    b->first[graph->n_uop] = b->n_use;
    for (uint32_t i = 0; i < b->n_item; i++)
        b->held[i] = sram == UOP_SRAM_OFF || (sram == UOP_SRAM_OUTPUT && i >= graph->n_uop) ? 0 : b->word[i];
}

enum dse_status uop_needs_of(const struct uop_graph *graph, const struct kc_machine *machine,
                             enum uop_sram sram, struct arena *arena, struct uop_needs *out,
                             struct dse_error *err)
{
    const struct uop_network *network = graph->network;
    uint32_t n_source = 0;
    for (uint32_t l = 0; l < network->n_all; l++) {
        const uint32_t end = network->layer[l].first_source + network->layer[l].n_source;
        n_source = end > n_source ? end : n_source;
    }
    struct builder b = {.graph = graph, .per_sample = graph->n_uop / graph->n_sample};
    b.weights = arena_alloc_unset(arena, network->n_all, sizeof *b.weights);
    b.inputs = arena_alloc_unset(arena, n_source + (size_t)1, sizeof *b.inputs);
    bool *is_read = arena_alloc(arena, network->n_all, sizeof *is_read);
    DSE_TRY(arena_check(arena, "what uops need", err));
    for (uint32_t l = 0; l < network->n_all; l++)
        is_read[l] = uop_is_read(network, l);
    number(&b);
    if ((uint64_t)b.n_use + graph->first_producer[graph->n_uop] > UOP_USE_MAX)
        return dse_fail(
            err, DSE_LIMIT,
            "its %u uops need more than %d tiles for the plan of their memories; larger tiles, in "
            "larger memories, need fewer",
            graph->n_uop, UOP_USE_MAX);
    b.first = arena_alloc_unset(arena, graph->n_uop + (size_t)1, sizeof *b.first);
    b.item = arena_alloc_unset(arena, b.n_use + (size_t)1, sizeof *b.item);
    b.word = arena_alloc(arena, b.n_item, sizeof *b.word);
    b.held = arena_alloc_unset(arena, b.n_item, sizeof *b.held);
    b.room = arena_alloc_unset(arena, graph->n_uop, sizeof *b.room);
    b.is_result = arena_alloc_unset(arena, graph->n_uop, sizeof *b.is_result);
    if (sram == UOP_SRAM_SLICES)
        b.is_sliced = arena_alloc_unset(arena, graph->n_uop, sizeof *b.is_sliced);
    DSE_TRY(arena_check(arena, "what uops need", err));
    fill(&b, machine, sram, is_read);
    *out = (struct uop_needs){
        .n_item = b.n_item,
        .word = b.word,
        .held = b.held,
        .first = b.first,
        .item = b.item,
        .room = b.room,
        .is_result = b.is_result,
        .is_sliced = b.is_sliced,
        .capacity_word =
            sram == UOP_SRAM_OFF || machine->sram_word == ARCH_UNLIMITED ? UINT64_MAX : machine->sram_word,
    };
    return DSE_OK;
}

bool uop_is_read(const struct uop_network *network, uint32_t layer)
{
    for (uint32_t l = 0; l < network->n_all; l++)
        for (uint32_t i = 0; i < network->layer[l].n_source; i++)
            if (network->source[network->layer[l].first_source + i].layer == (int32_t)layer)
                return true;
    return false;
}

uint64_t uop_input_word(const struct uop_network *network, const struct uop_layer *layer,
                        const struct uop_source *source)
{
    const struct kc_tile *whole = &layer->whole;
    return uop_source_word(
        network, layer, source,
        &(struct uop_box){{0, whole->p}, {0, whole->q}, {0, uop_layer_channels(layer)}, {0, whole->c}});
}
