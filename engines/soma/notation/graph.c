/* Operands and their users from the layers' inputs, and which layers count as fully connected. */
#include "engines/soma/notation/graph.h"

#include <string.h>

struct builder {
    const struct network *network;
    struct soma_operand *operand;
    uint32_t *first_operand, *use, *first_use;
    uint64_t *weight_word;
    bool *classifier;
    uint32_t *latest; /* (n_input + n_layer) by source, inputs first: the last of its operands but seconds */
    uint32_t n_operand;
};

/* What a range of output channels needs of the input channels: all, for a sum over channels; its own, or
 * those of its groups. */
static enum soma_dim channels_from(const struct layer *layer)
{
    switch (layer->type) {
    case LAYER_POOL:
    case LAYER_ADD:
    case LAYER_MUL:
    case LAYER_CONCAT:
    case LAYER_ACTIVATION:
    case LAYER_UPSAMPLE:
    case LAYER_CROP:
        return SOMA_K;
    case LAYER_CONV:
    case LAYER_CONV_TRANSPOSE:
    case LAYER_LINEAR:
    case LAYER_MATMUL:
    case LAYER_NORM:
    case LAYER_SOFTMAX:
        return layer->groups > 1 ? SOMA_K : SOMA_N_DIM;
    default:
        return SOMA_N_DIM;
    }
}

static void set_from(const struct layer *layer, struct soma_operand *operand)
{
    for (int d = SOMA_B; d < SOMA_N_DIM; d++)
        operand->from[d] =
            (uint8_t)(d == SOMA_B || !(operand->second || operand->flattened) ? d : SOMA_N_DIM);
    if (operand->second || operand->flattened)
        return;
    if (layer->type != LAYER_TRANSPOSE) {
        operand->from[SOMA_K] = (uint8_t)channels_from(layer);
        return;
    }
    for (int i = 0; i < 3; i++) {
        enum soma_dim of_source = layer->permute[i] == 'C'   ? SOMA_K
                                  : layer->permute[i] == 'H' ? SOMA_H
                                                             : SOMA_W;
        operand->from[of_source] = (uint8_t)(SOMA_K + i);
    }
}

/* A part of a cut layer reads some channels, and rows, of its second operand. */
static void set_second(const struct layer *layer, struct soma_operand *operand)
{
    if (layer->n_second_row > 0)
        operand->h = layer->n_second_row;
    const uint64_t words = layer_second_operand_words(layer), area = (uint64_t)operand->h * operand->w;
    operand->first_k = layer->skip[1];
    operand->n_k = words < operand->k * area ? (uint32_t)(words / area) : operand->k;
}

/* Of a source as a first operand; NULL: the layer that is being added has none of it yet. */
static struct soma_operand *operand_of(const struct builder *b, uint32_t layer, int32_t source)
{
    const uint32_t i = b->latest[(int64_t)source + b->network->n_input];
    const bool is = i >= b->first_operand[layer] && i < b->n_operand && b->operand[i].source == source;
    return is ? &b->operand[i] : NULL;
}

static void widen(struct soma_operand *operand, uint64_t first, uint64_t past)
{
    const uint64_t end = (uint64_t)operand->first_k + operand->n_k;
    if (operand->n_k == 0 || first < operand->first_k)
        operand->first_k = (uint32_t)first;
    operand->n_k = (uint32_t)(past > end ? past : end) - operand->first_k;
}

/* And the channels of its own groups, or of its own share of a sum; of several operands its own of each. */
static void read_channels(const struct builder *b, uint32_t l)
{
    const struct layer *layer = &b->network->layer[l];
    uint64_t at = 0;
    for (uint32_t i = 0, o = 0; i < layer->n_producer; i++) {
        struct soma_operand *operand = operand_of(b, l, layer->producer[i]);
        const uint64_t c = operand->flattened ? layer->c / (operand->h * operand->w) : layer->c;
        const uint64_t k = operand->k, begin = layer_skip(layer, o), end = begin + c;
        const uint64_t first = begin > at ? begin - at : 0, past = end < at + k ? end - at : k;
        if (end > at && past > first)
            widen(operand, first, past);
        at += k;
        if (layer->n_operand > 1 && at >= end)
            at = 0, o++;
    }
}

static void set_channels(const struct builder *b, uint32_t l)
{
    if (b->network->layer[l].type != LAYER_EMBEDDING)
        read_channels(b, l);
    for (uint32_t i = b->first_operand[l]; i < b->n_operand; i++)
        if (b->operand[i].n_k == 0)
            b->operand[i].n_k = b->operand[i].k;
}

static void add_operand(struct builder *b, uint32_t layer, int32_t source, bool second)
{
    const struct network *network = b->network;
    if (!second && operand_of(b, layer, source))
        return;
    struct soma_operand *operand = &b->operand[b->n_operand];
    *operand = (struct soma_operand){.source = source, .layer = layer, .second = second};
    if (source < 0) {
        const struct network_input *input = &network->input[-1 - source];
        operand->k = input->c, operand->h = input->h, operand->w = input->w;
    } else {
        const struct layer *from = &network->layer[source];
        operand->k = from->k, operand->h = from->p, operand->w = from->q;
    }
    const struct layer *to = &network->layer[layer];
    operand->flattened = to->type == LAYER_LINEAR && (operand->h != to->p || operand->w != to->q);
    if (to->type == LAYER_EMBEDDING)
        operand->k += to->k; /* the DRAM reads an index and then the row of the table that it names */
    set_from(to, operand);
    if (second)
        set_second(to, operand);
    else
        b->latest[(int64_t)source + network->n_input] = b->n_operand;
    b->n_operand++;
}

static void add_operands(struct builder *b)
{
    for (uint32_t l = 0; l < b->network->n_layer; l++) {
        const struct layer *layer = &b->network->layer[l];
        b->first_operand[l] = b->n_operand;
        for (uint32_t i = 0; i < layer->n_producer; i++)
            add_operand(b, l, layer->producer[i], false);
        set_channels(b, l);
        if (layer->weight_producer != LAYER_NO_PRODUCER)
            add_operand(b, l, layer->weight_producer, true);
        if (layer->type != LAYER_EMBEDDING) /* of a table only rows are read, as operands */
            b->weight_word[l] = layer_weight_words(layer);
    }
    b->first_operand[b->network->n_layer] = b->n_operand;
}

/* The operands by producer: a counting sort. */
static void add_uses(struct builder *b)
{
    uint32_t n = b->network->n_layer;
    for (uint32_t i = 0; i < b->n_operand; i++)
        if (b->operand[i].source >= 0)
            b->first_use[b->operand[i].source + 1]++;
    for (uint32_t l = 0; l < n; l++)
        b->first_use[l + 1] += b->first_use[l];
    for (uint32_t i = 0; i < b->n_operand; i++)
        if (b->operand[i].source >= 0)
            b->use[b->first_use[b->operand[i].source]++] = i;
    for (uint32_t l = n; l > 0; l--)
        b->first_use[l] = b->first_use[l - 1];
    b->first_use[0] = 0;
}

/* The reference's tables have fully connected layers and, in transformers, 1x1 convolutions; ours call both
 * linear. */
static void mark_classifiers(struct builder *b)
{
    for (uint32_t i = 0; i < b->network->n_layer; i++) {
        uint32_t l = b->network->order[i];
        const struct layer *layer = &b->network->layer[l];
        if (layer->type != LAYER_LINEAR || layer->p != 1 || layer->q != 1)
            continue;
        for (uint32_t o = 0; o < layer->n_producer; o++) {
            int32_t source = layer->producer[o];
            if (source < 0)
                continue;
            enum layer_type type = b->network->layer[source].type;
            if (type == LAYER_POOL || type == LAYER_CONV || b->classifier[source])
                b->classifier[l] = true;
        }
    }
}

/* What the published program's rules do not know. */
static enum dse_status check_published(const struct network *network, const struct layer *layer,
                                       struct dse_error *err)
{
    if (layer->type == LAYER_EMBEDDING)
        return dse_fail(err, DSE_BAD_USAGE,
                        "network %s: layer %s is an embedding, which the published program's rules (compat) "
                        "have no place for",
                        network->name, layer->name);
    if (layer->type == LAYER_CONV_TRANSPOSE && !layer_is_subpixel(layer))
        return dse_fail(
            err, DSE_BAD_USAGE,
            "network %s: the output rows of layer %s, a transposed convolution, have different numbers of "
            "taps, and the published program's rules (compat) have tiles that are alike; its stride must "
            "divide its filter, without dilation (%ux%u by %ux%u)",
            network->name, layer->name, layer->r, layer->s, layer->stride[0], layer->stride[1]);
    return DSE_OK;
}

enum dse_status soma_graph_check(const struct network *network, bool compat, struct dse_error *err)
{
    if (!network->is_graph)
        return dse_fail(
            err, DSE_BAD_USAGE,
            "network %s is a list of layers; SoMa fuses layers that are connected: it needs a graph",
            network->name);
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct layer *layer = &network->layer[l];
        for (uint32_t i = 0; layer->type == LAYER_EMBEDDING && i < layer->n_producer; i++)
            if (layer->producer[i] >= 0)
                return dse_fail(err, DSE_BAD_USAGE,
                                "network %s: layer %s is an embedding whose indices layer %s makes; which "
                                "rows the DRAM gathers must be known before, so its indices must be an input "
                                "of the network",
                                network->name, layer->name, network->layer[layer->producer[i]].name);
        if (compat)
            DSE_TRY(check_published(network, layer, err));
    }
    return DSE_OK;
}

/* Parts of a layer stand in a row, called L#1, L#2, ... (network_cut.h). */
static void count_parts(const struct network *network, uint32_t *n_part)
{
    for (uint32_t l = 0, past; n_part && l < network->n_layer; l = past) {
        const char *name = network->layer[l].name;
        const size_t length = strcspn(name, "#");
        for (past = l + 1; name[length] == '#' && past < network->n_layer; past++)
            if (strncmp(network->layer[past].name, name, length + 1) != 0)
                break;
        for (uint32_t i = l; i < past; i++)
            n_part[i] = past - l;
    }
}

enum dse_status soma_graph_init(const struct network *network, struct arena *arena, struct soma_graph *graph,
                                struct dse_error *err)
{
    DSE_TRY(soma_graph_check(network, false, err));
    size_t n = network->n_layer, n_operand = 0;
    for (size_t l = 0; l < n; l++)
        n_operand += (size_t)network->layer[l].n_producer + 1;
    struct builder b = {.network = network};
    b.operand = arena_alloc(arena, n_operand, sizeof(*b.operand));
    b.use = arena_alloc(arena, n_operand, sizeof(*b.use));
    b.first_operand = arena_alloc(arena, n + 1, sizeof(*b.first_operand));
    b.first_use = arena_alloc(arena, n + 1, sizeof(*b.first_use));
    b.weight_word = arena_alloc(arena, n + 1, sizeof(*b.weight_word));
    b.classifier = arena_alloc(arena, n + 1, sizeof(*b.classifier));
    b.latest = arena_alloc(arena, n + network->n_input, sizeof(*b.latest));
    uint32_t *n_part = network->n_cut > 0 ? arena_alloc(arena, n, sizeof *n_part) : NULL;
    DSE_TRY(arena_check(arena, "the graph of a network", err));
    add_operands(&b);
    add_uses(&b);
    mark_classifiers(&b);
    count_parts(network, n_part);
    *graph = (struct soma_graph){.network = network,
                                 .n_operand = b.n_operand,
                                 .operand = b.operand,
                                 .first_operand = b.first_operand,
                                 .use = b.use,
                                 .first_use = b.first_use,
                                 .weight_word = b.weight_word,
                                 .classifier = b.classifier,
                                 .n_part = n_part,
                                 .word_bit = 8};
    return DSE_OK;
}
