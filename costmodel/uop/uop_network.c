/* Follows each layer's inputs back through what is fused, in the network's order, so that every layer has its
 * sources ready when a reader asks. */
#include "costmodel/uop/uop_network.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "costmodel/model/network_graph.h"

enum { SOURCE_MAX = 1 << 24 };

/* Of every layer of the network what its output is made of: for a layer with MACs itself. */
struct builder {
    const struct network *network;
    const bool *by_uops;         /* (n_layer) pools, sums and products that are layers of uops */
    uint32_t n_mac_all;          /* layers with MACs that there will be */
    uint32_t n_mac, n_vector;    /* layers so far */
    struct uop_layer *layer;     /* (n_layer of the network) those with MACs, then the others */
    uint32_t *order;             /* (n_layer of the network) */
    struct uop_source *source;   /* (n_source) grown; by layer of the network */
    struct uop_pass *pass;       /* (n_pass) grown */
    struct network_input *input; /* (n_input) the network's, then what embeddings look up */
    uint32_t n_input;
    size_t n_source, source_capacity, n_pass, pass_capacity;
    size_t *first; /* (n_layer) into source: what the layer's output is made of */
    size_t *count; /* (n_layer) */
};

const char *const uop_vector_name[3] = {"fused", "uops", "blocks"};

/* Pools, sums and products of maps. */
static bool is_vector(enum layer_type type)
{
    return type == LAYER_POOL || type == LAYER_ADD || type == LAYER_MUL;
}

static enum dse_status check_layer(const struct layer *layer, struct dse_error *err)
{
    const bool slides = layer->type == LAYER_CONV || layer->type == LAYER_CONV_TRANSPOSE;
    if (layer->type == LAYER_EINSUM)
        return dse_fail(err, DSE_BAD_USAGE,
                        "layer %s, %s, can be no uops; uops are convolutions and products of matrices",
                        layer->name, layer_type_text(layer->type));
    if (slides && ((layer->dilation[0] > 1 && layer->r > 1) || (layer->dilation[1] > 1 && layer->s > 1)))
        return dse_fail(err, DSE_BAD_USAGE,
                        "layer %s is dilated and can be no uops; MAESTRO's KC-partition knows no dilation",
                        layer->name);
    if (layer->type == LAYER_POOL && (uint64_t)layer->r * layer->s > UINT32_MAX)
        return dse_fail(err, DSE_LIMIT, "layer %s has a window of more than 2^32 values", layer->name);
    return DSE_OK;
}

static enum dse_status add_source(struct builder *b, struct uop_source source, size_t first,
                                  struct dse_error *err)
{
    for (size_t i = first; i < b->n_source; i++)
        if (memcmp(&b->source[i], &source, sizeof source) == 0)
            return DSE_OK;
    if (b->n_source == SOURCE_MAX)
        return dse_fail(err, DSE_LIMIT, "network %s: its layers read more than 2^24 maps", b->network->name);
    struct uop_source *grown = array_grow(b->source, b->n_source + 1, &b->source_capacity, sizeof *b->source);
    if (!grown)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for what layers read");
    b->source = grown;
    b->source[b->n_source++] = source;
    return DSE_OK;
}

/* ---- windows ---- */

/* A map that is as large as the one below. */
static struct uop_slide slide_same(uint32_t size)
{
    return (struct uop_slide){size, 1, 0, 0, 1, false};
}

/* That of a convolution or pool in one direction (0: rows). */
static struct uop_slide slide_window(const struct layer *layer, int direction)
{
    const uint32_t window = direction ? layer->s : layer->r;
    const int32_t pad = (int32_t)layer->pad[direction];
    const uint64_t extent = (uint64_t)(window - 1) * layer->dilation[direction];
    const int32_t reach = extent < INT32_MAX / 2 ? (int32_t)extent : INT32_MAX / 2;
    return (struct uop_slide){
        direction ? layer->w : layer->h, layer->stride[direction], -pad, reach - pad, 1, false};
}

/* A transposed convolution has a row of uops' outputs for each input row y, which reaches rows y stride - pad
 * to y stride - pad + R - 1 of its output. Where its stride divides its filter, that row of uops makes the
 * `stride` rows in the middle of these, from all input rows that reach them (what is left at the ends goes to
 * the first and last); else each input row makes R partial rows, which readers add up. docs/klotski.md, "From
 * layers to tiles". */
static struct uop_slide slide_transposed(const struct layer *layer, int direction)
{
    const int32_t window = (int32_t)(direction ? layer->s : layer->r);
    const int32_t stride = (int32_t)layer->stride[direction], middle = (window - stride) / 2;
    struct uop_slide slide = slide_same(direction ? layer->w : layer->h);
    if (layer_is_subpixel(layer)) {
        slide.first = -((window - 1 - middle) / stride);
        slide.last = (middle + stride - 1) / stride;
    }
    return slide;
}

/* From its output down to the rows of uops' outputs. */
static struct uop_slide slide_spread(const struct layer *layer, int direction)
{
    const int32_t window = (int32_t)(direction ? layer->s : layer->r);
    const int32_t stride = (int32_t)layer->stride[direction], pad = (int32_t)layer->pad[direction];
    struct uop_slide slide = {
        direction ? layer->w : layer->h, 1, pad - window + stride, pad, (uint32_t)stride, false};
    if (layer_is_subpixel(layer)) {
        slide.first = slide.last = pad - (window - stride) / 2;
        slide.clamps = true;
    }
    return slide;
}

static struct uop_slide slide_of(const struct layer *layer, int direction)
{
    struct uop_slide slide = slide_same(direction ? layer->q : layer->p);
    switch (layer->type) {
    case LAYER_POOL:
    case LAYER_CONV:
        return slide_window(layer, direction);
    case LAYER_CONV_TRANSPOSE:
        return slide_transposed(layer, direction);
    case LAYER_UPSAMPLE:
        slide.size = (slide.size - 1) / layer->stride[direction] + 1;
        slide.by = layer->stride[direction];
        return slide;
    case LAYER_CROP:
        slide.size = direction ? layer->w : layer->h;
        slide.first = slide.last = (int32_t)layer->pad[direction];
        return slide;
    default:
        return slide;
    }
}

/* ---- ways ---- */

static enum dse_status add_pass(struct builder *b, struct uop_pass pass, int32_t *place,
                                struct dse_error *err)
{
    struct uop_pass *grown = array_grow(b->pass, b->n_pass + 1, &b->pass_capacity, sizeof *b->pass);
    if (!grown)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for what lies between layers");
    b->pass = grown;
    *place = (int32_t)b->n_pass;
    b->pass[b->n_pass++] = pass;
    return DSE_OK;
}

static struct uop_region map_of(const struct builder *b, int32_t producer)
{
    if (producer < 0) {
        const struct network_input *input = &b->network->input[-1 - producer];
        return (struct uop_region){{0, input->c}, {0, input->h}, {0, input->w}};
    }
    const struct layer *layer = &b->network->layer[producer];
    return (struct uop_region){{0, layer->k}, {0, layer->p}, {0, layer->q}};
}

/* What one producer brings, from `channel` of the input on. */
static enum dse_status add_producer(struct builder *b, int32_t producer, uint32_t channel, uint32_t second,
                                    size_t first, struct dse_error *err)
{
    if (producer < 0) {
        const uint32_t channels = b->network->input[-1 - producer].c;
        return add_source(b, (struct uop_source){producer, channel, channels, -1, second}, first, err);
    }
    for (size_t i = 0; i < b->count[producer]; i++) {
        struct uop_source source = b->source[b->first[producer] + i];
        source.channel += channel;
        source.second = second;
        DSE_TRY(add_source(b, source, first, err));
    }
    return DSE_OK;
}

/* The input of a layer: its producers side by side until they fill it, then the next operand; and what stands
 * for weights. */
static enum dse_status add_input(struct builder *b, const struct layer *layer, uint32_t channels,
                                 struct dse_error *err)
{
    const size_t first = b->n_source;
    uint32_t channel = 0;
    for (uint32_t i = 0; i < layer->n_producer; i++) {
        DSE_TRY(add_producer(b, layer->producer[i], channel, 0, first, err));
        channel += map_of(b, layer->producer[i]).channel.end;
        if (channel >= channels)
            channel = 0;
    }
    return layer->weight_producer == LAYER_NO_PRODUCER
               ? DSE_OK
               : add_producer(b, layer->weight_producer, 0, 1, first, err);
}

/* The same channels of a map of another size. */
static enum dse_status slide_input(struct builder *b, const struct layer *layer, size_t first,
                                   struct dse_error *err)
{
    struct uop_pass pass = {
        .kind = UOP_PASS_SAME, .v = slide_of(layer, 0), .h = slide_of(layer, 1), .channels = UINT32_MAX};
    for (size_t i = first; i < b->n_source; i++) {
        int32_t place = -1;
        pass.next = b->source[i].pass;
        for (size_t k = first; k < i; k++) /* chains that are equal stay equal */
            if (b->pass[b->source[k].pass].next == pass.next)
                place = b->source[k].pass;
        if (place < 0)
            DSE_TRY(add_pass(b, pass, &place, err));
        b->source[i].pass = place;
    }
    return DSE_OK;
}

static uint32_t place_of(char letter)
{
    return letter == 'C' ? 0 : letter == 'H' ? 1 : 2;
}

/* Behind a transpose, or a sum over channels, what comes from where is no matter of channels any more. */
static enum dse_status mix_input(struct builder *b, const struct layer *layer, size_t first,
                                 struct dse_error *err)
{
    struct uop_pass pass = {.kind = UOP_PASS_ALL, .v = slide_of(layer, 0), .h = slide_of(layer, 1)};
    if (layer->type == LAYER_TRANSPOSE) {
        pass.kind = UOP_PASS_PERMUTE;
        for (uint32_t i = 0; i < 3; i++)
            pass.from[place_of(layer->permute[i])] = i;
    }
    for (size_t i = first; i < b->n_source; i++) {
        struct uop_source *source = &b->source[i];
        pass.channel = source->channel;
        pass.channels = source->channels;
        pass.next = source->pass;
        DSE_TRY(add_pass(b, pass, &source->pass, err));
        source->channel = 0;
        source->channels = layer->k;
    }
    return DSE_OK;
}

/* What a layer that takes no time makes of its input. */
static enum dse_status pass_input(struct builder *b, const struct layer *layer, size_t first,
                                  struct dse_error *err)
{
    switch (layer->type) {
    case LAYER_POOL:
    case LAYER_UPSAMPLE:
    case LAYER_CROP:
        return slide_input(b, layer, first, err);
    case LAYER_NORM:
    case LAYER_SOFTMAX:
    case LAYER_TRANSPOSE:
        return mix_input(b, layer, first, err);
    default:
        return DSE_OK;
    }
}

/* ---- layers ---- */

/* A fully connected layer behind a map of several pixels has it as its window. */
static void flatten(const struct builder *b, const struct layer *layer, struct uop_layer *made)
{
    const struct uop_region map = map_of(b, layer->producer[0]);
    const uint32_t rows = map.row.end, columns = map.column.end;
    if (layer->type != LAYER_LINEAR || (rows == layer->p && columns == layer->q) ||
        layer->c % (rows * columns))
        return;
    made->whole.r = rows;
    made->whole.s = columns;
    made->whole.c = layer->c / (rows * columns);
    made->v = (struct uop_slide){rows, 1, 0, (int32_t)rows - 1, 1, false};
    made->h = (struct uop_slide){columns, 1, 0, (int32_t)columns - 1, 1, false};
}

/* Channels of uops' outputs for each output channel of the layer. */
static uint64_t channel_times(const struct layer *layer)
{
    if (layer->type != LAYER_CONV_TRANSPOSE)
        return 1;
    return layer_is_subpixel(layer) ? (uint64_t)layer->stride[0] * layer->stride[1]
                                    : (uint64_t)layer->r * layer->s;
}

static enum dse_status layer_of(const struct builder *b, uint32_t l, struct uop_layer *made,
                                struct dse_error *err)
{
    const struct layer *layer = &b->network->layer[l];
    const bool is_conv = layer->type == LAYER_CONV, is_transposed = layer->type == LAYER_CONV_TRANSPOSE;
    const bool is_subpixel = is_transposed && layer_is_subpixel(layer);
    const uint64_t channels = layer->k * channel_times(layer);
    if (channels > UINT32_MAX)
        return dse_fail(err, DSE_LIMIT, "layer %s makes more than 2^32 channels of partial sums",
                        layer->name);
    *made = (struct uop_layer){
        .of = l,
        .whole = {.r = is_conv       ? layer->r
                       : is_subpixel ? layer->r / layer->stride[0]
                                     : 1,
                  .s = is_conv       ? layer->s
                       : is_subpixel ? layer->s / layer->stride[1]
                                     : 1,
                  .stride_v = is_conv ? layer->stride[0] : 1,
                  .stride_h = is_conv ? layer->stride[1] : 1,
                  .p = is_transposed ? layer->h : layer->p,
                  .q = is_transposed ? layer->w : layer->q,
                  .c = layer->c / layer->groups,
                  .k = (uint32_t)channels / layer->groups,
                  .g = layer->groups},
        .v = slide_of(layer, 0),
        .h = slide_of(layer, 1),
        .share = 1,
    };
    if (layer->weight_producer != LAYER_NO_PRODUCER) {
        made->second = map_of(b, layer->weight_producer);
        made->share = layer->groups / layer_operand_groups(layer);
        made->whole.g /= made->share;
        made->whole.q *= made->share;
    }
    flatten(b, layer, made);
    return DSE_OK;
}

/* A pool or sum as a layer. */
static struct uop_layer vector_of(const struct network *network, uint32_t l)
{
    const struct layer *layer = &network->layer[l];
    const bool is_pool = layer->type == LAYER_POOL;
    return (struct uop_layer){
        .of = l,
        .whole = {.r = is_pool ? layer->r : 1,
                  .s = is_pool ? layer->s : 1,
                  .stride_v = is_pool ? layer->stride[0] : 1,
                  .stride_h = is_pool ? layer->stride[1] : 1,
                  .p = layer->p,
                  .q = layer->q,
                  .c = 1,
                  .k = layer->k,
                  .g = 1},
        .v = slide_of(layer, 0),
        .h = slide_of(layer, 1),
        .share = 1,
        .n_operation = is_pool ? layer->r * layer->s : layer->n_operand - 1,
        .n_read = is_pool ? layer->r * layer->s : layer->n_operand,
    };
}

/* The rows that an embedding looks up come from outside. */
static enum dse_status follow_embedding(struct builder *b, uint32_t l, struct dse_error *err)
{
    const struct layer *layer = &b->network->layer[l];
    const struct uop_source source = {-1 - (int32_t)b->n_input, 0, layer->k, -1, 0};
    b->input[b->n_input++] = (struct network_input){layer->name, layer->k, layer->p, layer->q};
    b->first[l] = b->n_source;
    b->count[l] = 1;
    return add_source(b, source, b->n_source, err);
}

/* What the output of uops' layer `number` is, as readers see it. */
static enum dse_status add_output(struct builder *b, const struct layer *layer, uint32_t number,
                                  struct dse_error *err)
{
    struct uop_source source = {(int32_t)number, 0, layer->k, -1, 0};
    if (layer->type == LAYER_CONV_TRANSPOSE)
        DSE_TRY(add_pass(b,
                         (struct uop_pass){.kind = UOP_PASS_TIMES,
                                           .v = slide_spread(layer, 0),
                                           .h = slide_spread(layer, 1),
                                           .times = (uint32_t)channel_times(layer),
                                           .channels = UINT32_MAX,
                                           .next = -1},
                         &source.pass, err));
    else if (b->layer[number].share > 1)
        DSE_TRY(add_pass(b,
                         (struct uop_pass){.kind = UOP_PASS_SHARED,
                                           .v = slide_of(layer, 0),
                                           .h = slide_of(layer, 1),
                                           .times = b->layer[number].share,
                                           .channel_size = b->layer[number].whole.k,
                                           .channels = UINT32_MAX,
                                           .next = -1},
                         &source.pass, err));
    return add_source(b, source, b->n_source, err);
}

/* What the layer's output is made of, and the layer itself if uops run it. */
static enum dse_status follow(struct builder *b, uint32_t l, struct dse_error *err)
{
    const struct layer *layer = &b->network->layer[l];
    const size_t first = b->n_source;
    const bool by_uops = b->by_uops[l];
    DSE_TRY(check_layer(layer, err));
    if (layer->type == LAYER_EMBEDDING)
        return follow_embedding(b, l, err);
    b->first[l] = first;
    if (!layer_has_macs(layer) && !by_uops) {
        DSE_TRY(add_input(b, layer, layer->c, err));
        DSE_TRY(pass_input(b, layer, first, err));
        b->count[l] = b->n_source - first;
        return DSE_OK;
    }
    const uint32_t number = by_uops ? b->n_mac_all + b->n_vector++ : b->n_mac++;
    struct uop_layer *mine = &b->layer[number];
    if (by_uops)
        *mine = vector_of(b->network, l);
    else
        DSE_TRY(layer_of(b, l, mine, err));
    b->order[b->n_mac + b->n_vector - 1] = number;
    DSE_TRY(add_input(b, layer, by_uops ? layer->c : mine->whole.c * layer->groups, err));
    mine->first_source = (uint32_t)first;
    mine->n_source = (uint32_t)(b->n_source - first);
    b->first[l] = b->n_source;
    b->count[l] = 1;
    return add_output(b, layer, number, err);
}

static enum dse_status build(struct builder *b, struct arena *arena, struct uop_network *out,
                             struct dse_error *err)
{
    const struct network *network = b->network;
    b->layer = arena_alloc(arena, network->n_layer, sizeof *b->layer);
    b->order = arena_alloc(arena, network->n_layer, sizeof *b->order);
    b->first = arena_alloc(arena, network->n_layer, sizeof *b->first);
    b->count = arena_alloc(arena, network->n_layer, sizeof *b->count);
    b->input = arena_alloc(arena, (size_t)network->n_input + network->n_layer, sizeof *b->input);
    DSE_TRY(arena_check(arena, "the layers of a network", err));
    for (uint32_t i = 0; i < network->n_input; i++)
        b->input[b->n_input++] = network->input[i];
    for (uint32_t i = 0; i < network->n_layer; i++)
        b->n_mac_all += layer_has_macs(&network->layer[i]);
    for (uint32_t i = 0; i < network->n_layer; i++)
        DSE_TRY(follow(b, network->order[i], err));
    if (!b->n_mac)
        return dse_fail(err, DSE_BAD_USAGE, "network %s has no layer with MACs", network->name);
    struct uop_source *source = arena_alloc_unset(arena, b->n_source, sizeof *source);
    struct uop_pass *pass = arena_alloc_unset(arena, b->n_pass + 1, sizeof *pass);
    DSE_TRY(arena_check(arena, "what layers read", err));
    memcpy(source, b->source, b->n_source * sizeof *source);
    if (b->n_pass)
        memcpy(pass, b->pass, b->n_pass * sizeof *pass);
    out->n_layer = b->n_mac;
    out->n_all = b->n_mac + b->n_vector;
    out->layer = b->layer;
    out->order = b->order;
    out->source = source;
    out->pass = pass;
    out->n_input = b->n_input;
    out->input = b->input;
    return DSE_OK;
}

/* ---- which pools and sums are uops ---- */

/* The repetition of a block that a layer is in, or UINT32_MAX; numbers tell repetitions apart. */
static uint32_t repetition_of(const struct network *network, uint32_t l)
{
    for (uint32_t b = 0; b < network->n_repeat; b++) {
        const struct network_repeat *repeat = &network->repeat[b];
        if (l >= repeat->first_layer && l - repeat->first_layer < repeat->n_layer * repeat->times)
            return repeat->first_layer + (l - repeat->first_layer) / repeat->n_layer;
    }
    return UINT32_MAX;
}

/* What makes the map of a layer that is read outside its repetition: a layer with MACs, which is of uops in
 * any case, or those pools and sums in the repetition that are the first on the way down. */
static void mark_makers(const struct network *network, int32_t l, uint32_t repetition, bool *by_uops)
{
    if (l < 0 || repetition_of(network, (uint32_t)l) != repetition || by_uops[l])
        return;
    const struct layer *layer = &network->layer[l];
    if (layer_has_macs(layer) || layer->type == LAYER_EMBEDDING)
        return;
    if (is_vector(layer->type)) {
        by_uops[l] = true;
        return;
    }
    for (uint32_t k = 0; k < layer->n_producer; k++)
        mark_makers(network, layer->producer[k], repetition, by_uops);
}

static void mark_read(const struct network *network, uint32_t reader, int32_t producer, bool *by_uops)
{
    if (producer < 0)
        return;
    const uint32_t from = repetition_of(network, (uint32_t)producer);
    if (from != UINT32_MAX && from != repetition_of(network, reader))
        mark_makers(network, producer, from, by_uops);
}

/* Repetitions are alike, also the last one, whose map nobody may read. */
static void mark_alike(const struct network_repeat *repeat, bool *by_uops)
{
    bool *first = by_uops + repeat->first_layer;
    for (uint32_t i = 0; i < repeat->n_layer; i++) {
        bool any = false;
        for (uint32_t r = 0; r < repeat->times; r++)
            any |= first[r * repeat->n_layer + i];
        for (uint32_t r = 0; r < repeat->times; r++)
            first[r * repeat->n_layer + i] = any;
    }
}

/* `by_uops` (n_layer) is zeroed. */
static void mark_vectors(const struct network *network, enum uop_vector vector, bool *by_uops)
{
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct layer *layer = &network->layer[l];
        if (vector == UOP_VECTOR)
            by_uops[l] = is_vector(layer->type);
        else if (vector == UOP_BLOCKS) {
            mark_read(network, l, layer->weight_producer, by_uops);
            for (uint32_t k = 0; k < layer->n_producer; k++)
                mark_read(network, l, layer->producer[k], by_uops);
        }
    }
    for (uint32_t b = 0; b < network->n_repeat && vector == UOP_BLOCKS; b++)
        mark_alike(&network->repeat[b], by_uops);
}

static enum dse_status make(const struct network *network, enum uop_vector vector, const bool *by_uops,
                            struct arena *arena, struct uop_network *out, struct dse_error *err)
{
    struct builder b = {.network = network, .by_uops = by_uops};
    *out = (struct uop_network){.network = network, .vector = vector};
    enum dse_status status = build(&b, arena, out, err);
    free(b.source);
    free(b.pass);
    return status;
}

enum dse_status uop_network_of(const struct network *network, enum uop_vector vector, struct arena *arena,
                               struct uop_network *out, struct dse_error *err)
{
    if (!network->is_graph)
        return dse_fail(err, DSE_BAD_USAGE,
                        "network %s is a list of layers; uops need to know which layer reads which",
                        network->name);
    bool *by_uops = arena_alloc(arena, network->n_layer, sizeof *by_uops);
    DSE_TRY(arena_check(arena, "the layers of a network", err));
    mark_vectors(network, vector, by_uops);
    return make(network, vector, by_uops, arena, out, err);
}

enum dse_status uop_network_of_fold(const struct network_fold *fold, struct arena *arena,
                                    struct uop_network *out, struct dse_error *err)
{
    const struct network *whole = fold->whole;
    bool *of_whole = arena_alloc(arena, whole->n_layer, sizeof *of_whole);
    bool *by_uops = arena_alloc(arena, fold->network.n_layer, sizeof *by_uops);
    DSE_TRY(arena_check(arena, "the layers of a network", err));
    mark_vectors(whole, UOP_BLOCKS, of_whole);
    for (uint32_t l = 0; l < fold->network.n_layer; l++)
        by_uops[l] = of_whole[fold->layer[l]];
    return make(&fold->network, UOP_BLOCKS, by_uops, arena, out, err);
}

enum dse_status uop_network_for(const struct network *network, uint32_t batch, enum uop_vector vector,
                                struct arena *arena, struct uop_network *out, uint32_t *n_sample,
                                struct dse_error *err)
{
    *n_sample = batch ? batch : 1;
    if (!network->is_graph) {
        struct network *graph = arena_alloc(arena, 1, sizeof *graph);
        DSE_TRY(arena_check(arena, "a network", err));
        DSE_TRY(network_as_graph(network, batch, arena, graph, n_sample, err));
        network = graph;
    }
    return uop_network_of(network, vector, arena, out, err);
}
