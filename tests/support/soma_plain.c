/* Marks every element that every tile reads, and compares boxes, loads and lifetimes with what the parser
 * made. */
#include "tests/support/soma_plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements of a feature map, or of a part of it. */
struct box {
    uint32_t begin[SOMA_N_DIM], end[SOMA_N_DIM];
};

struct map {
    uint32_t extent[SOMA_N_DIM];
    uint8_t *mark; /* one per element */
};

/* Input channel c of operand copy j stands at [j C + c]. */
struct channel {
    int32_t source;
    uint32_t k;
};

struct plain {
    const struct soma_plan *plan;
    const struct network *network;
    struct arena *arena;
    struct channel **channel; /* (n_layer) */
    struct map *need;         /* (n_layer) what the group's tile reads of it */
    struct map *made;         /* (n_layer) what tiles so far have made */
    struct map *load;         /* (n_layer + n_input) what one tile reads of a source */
    uint32_t *reader;         /* (n_layer) the last layer of the group whose tile read something of it, + 1 */
    uint32_t *n_reader;       /* (n_layer) so many did */
    uint32_t *output;         /* (n_layer) the tensor of its first tile */
    int32_t *last_use;        /* (n_tensor) the last tile that may read an output in the buffer; -1: none */
    char *message;
    size_t size;
};

/* Where reads are noted: of layers in one group, or of one source of one layer. */
struct reads {
    struct plain *plain;
    uint32_t flc; /* of the group; UINT32_MAX: only `source` */
    int32_t source;
    bool second;
    uint32_t reader;  /* number of the reading layer + 1 */
    struct map *into; /* for `source` */
};

static struct map new_map(struct arena *arena, uint32_t b, uint32_t k, uint32_t h, uint32_t w)
{
    struct map map = {{b, k, h, w}, arena_alloc(arena, (size_t)b * k * h * w, 1)};
    if (!map.mark)
        abort();
    return map;
}

static size_t map_size(const struct map *map)
{
    return (size_t)map->extent[0] * map->extent[1] * map->extent[2] * map->extent[3];
}

static uint8_t *at(const struct map *map, uint32_t b, uint32_t k, uint32_t h, uint32_t w)
{
    return &map->mark[((size_t)(b * map->extent[1] + k) * map->extent[2] + h) * map->extent[3] + w];
}

static void note(const struct reads *reads, int32_t source, bool second, uint32_t b, uint32_t k, uint32_t h,
                 uint32_t w)
{
    if (reads->flc == UINT32_MAX) {
        if (source == reads->source && second == reads->second)
            *at(reads->into, b, k, h, w) = 1;
    } else if (source >= 0 && reads->plain->plan->layer[source].flc == reads->flc) {
        *at(&reads->plain->need[source], b, k, h, w) = 1;
        if (reads->plain->reader[source] != reads->reader)
            reads->plain->n_reader[source]++;
        reads->plain->reader[source] = reads->reader;
    }
}

/* Of the n elements from `skip` channels on of all that `source` gives, of which `*before` elements lie in
 * sources before it. */
static void note_all(const struct reads *reads, int32_t source, bool second, uint32_t b, uint32_t skip,
                     uint64_t n, uint64_t *before)
{
    const struct network *network = reads->plain->network;
    uint32_t k = source < 0 ? network->input[-1 - source].c : network->layer[source].k;
    uint32_t h = source < 0 ? network->input[-1 - source].h : network->layer[source].p;
    uint32_t w = source < 0 ? network->input[-1 - source].w : network->layer[source].q;
    uint64_t first = (uint64_t)skip * h * w;
    for (uint32_t i = 0; i < k * h * w; i++, ++*before)
        if (*before >= first && *before < first + n)
            note(reads, source, second, b, i / (h * w), i / w % h, i % w);
}

/* The second operand of a matmul: words in order, or of some rows so many channels as make its words. */
static void note_second(const struct reads *reads, const struct layer *layer, uint32_t b)
{
    const struct network *network = reads->plain->network;
    const int32_t source = layer->weight_producer;
    const uint64_t words = (uint64_t)layer->k * (layer->c / layer->groups);
    uint64_t before = 0;
    if (layer->n_second_row == 0) {
        note_all(reads, source, true, b, layer->skip[1], words, &before);
        return;
    }
    const uint32_t w = source < 0 ? network->input[-1 - source].w : network->layer[source].q;
    for (uint64_t i = 0; i < words; i++)
        note(reads, source, true, b, layer->skip[1] + (uint32_t)(i / ((uint64_t)layer->n_second_row * w)),
             layer->second_row + (uint32_t)(i / w % layer->n_second_row), (uint32_t)(i % w));
}

/* Input channel c of every operand, at one place. */
static void note_channel(const struct reads *reads, uint32_t l, uint32_t b, uint32_t c, uint32_t h,
                         uint32_t w)
{
    const struct layer *layer = &reads->plain->network->layer[l];
    for (uint32_t j = 0; j < layer->n_operand; j++) {
        const struct channel *channel = &reads->plain->channel[l][j * layer->c + c];
        note(reads, channel->source, false, b, channel->k, h, w);
    }
}

static void note_window(const struct reads *reads, uint32_t l, uint32_t b, uint32_t c, uint32_t p, uint32_t q)
{
    const struct layer *layer = &reads->plain->network->layer[l];
    for (uint32_t r = 0; r < layer->r; r++)
        for (uint32_t s = 0; s < layer->s; s++) {
            int64_t h = (int64_t)p * layer->stride[0] - layer->pad[0] + (int64_t)r * layer->dilation[0];
            int64_t w = (int64_t)q * layer->stride[1] - layer->pad[1] + (int64_t)s * layer->dilation[1];
            if (h >= 0 && w >= 0 && h < layer->h && w < layer->w)
                note_channel(reads, l, b, c, (uint32_t)h, (uint32_t)w);
        }
}

/* Transposed: the inputs h with h stride - pad + r dilation = p for a tap r. */
static void note_spread(const struct reads *reads, uint32_t l, uint32_t b, uint32_t c, uint32_t p, uint32_t q)
{
    const struct layer *layer = &reads->plain->network->layer[l];
    for (uint32_t h = 0; h < layer->h; h++)
        for (uint32_t w = 0; w < layer->w; w++)
            for (uint32_t r = 0; r < layer->r; r++)
                for (uint32_t s = 0; s < layer->s; s++)
                    if (h * layer->stride[0] + r * layer->dilation[0] == p + layer->pad[0] &&
                        w * layer->stride[1] + s * layer->dilation[1] == q + layer->pad[1])
                        note_channel(reads, l, b, c, h, w);
}

/* A sum over the channels of the group of output channel k. */
static void note_sum(const struct reads *reads, uint32_t l, uint32_t b, uint32_t k, uint32_t p, uint32_t q)
{
    const struct layer *layer = &reads->plain->network->layer[l];
    uint32_t n = layer->c / layer->groups, first = k / (layer->k / layer->groups) * n;
    for (uint32_t c = first; c < first + n; c++)
        (layer->type == LAYER_CONV_TRANSPOSE ? note_spread : note_window)(reads, l, b, c, p, q);
}

/* All that output element (b, k, p, q) of layer l reads. */
static void note_element(const struct reads *reads, uint32_t l, uint32_t b, uint32_t k, uint32_t p,
                         uint32_t q)
{
    const struct layer *layer = &reads->plain->network->layer[l];
    const uint32_t out[3] = {k, p, q};
    uint32_t in[3] = {0}; /* C, H, W */
    uint64_t before = 0;
    switch (layer->type) {
    case LAYER_POOL:
        note_window(reads, l, b, k, p, q);
        return;
    case LAYER_LINEAR:
        for (uint32_t i = 0; i < layer->n_producer; i++) {
            int32_t source = layer->producer[i];
            uint32_t h = source < 0 ? reads->plain->network->input[-1 - source].h
                                    : reads->plain->network->layer[source].p;
            uint32_t w = source < 0 ? reads->plain->network->input[-1 - source].w
                                    : reads->plain->network->layer[source].q;
            if (h == layer->p && w == layer->q)
                continue;
            note_all(reads, source, false, b, layer->skip[0], layer->c, &before);
            if (i + 1 == layer->n_producer)
                return;
        }
        note_sum(reads, l, b, k, p, q);
        return;
    case LAYER_MATMUL:
        note_second(reads, layer, b);
        note_sum(reads, l, b, k, p, q);
        return;
    case LAYER_UPSAMPLE:
        note_channel(reads, l, b, k, p / layer->stride[0], q / layer->stride[1]);
        return;
    case LAYER_CROP:
        note_channel(reads, l, b, k, p + layer->pad[0], q + layer->pad[1]);
        return;
    case LAYER_CONV:
    case LAYER_CONV_TRANSPOSE:
        note_sum(reads, l, b, k, p, q);
        return;
    case LAYER_NORM:
    case LAYER_SOFTMAX:
        for (uint32_t n = layer->c / layer->groups, c = k / n * n; c < k / n * n + n; c++)
            note_channel(reads, l, b, c, p, q);
        return;
    case LAYER_TRANSPOSE:
        for (int i = 0; i < 3; i++)
            in[strchr("CHW", layer->permute[i]) - "CHW"] = out[i];
        note_channel(reads, l, b, in[0], in[1], in[2]);
        return;
    default:
        note_channel(reads, l, b, k, p, q);
    }
}

static void note_box(const struct reads *reads, uint32_t l, const struct box *box)
{
    for (uint32_t b = box->begin[0]; b < box->end[0]; b++)
        for (uint32_t k = box->begin[1]; k < box->end[1]; k++)
            for (uint32_t h = box->begin[2]; h < box->end[2]; h++)
                for (uint32_t w = box->begin[3]; w < box->end[3]; w++)
                    note_element(reads, l, b, k, h, w);
}

/* The smallest box with all marks; a grouped layer's in whole groups. False: no marks. */
static bool find_box(const struct map *map, const struct layer *layer, struct box *box)
{
    bool found = false;
    memset(box, 0, sizeof *box);
    for (size_t i = 0; i < map_size(map); i++) {
        size_t rest = i;
        if (!map->mark[i])
            continue;
        for (int d = SOMA_N_DIM - 1; d >= 0; d--) {
            uint32_t x = (uint32_t)(rest % map->extent[d]);
            rest /= map->extent[d];
            if (!found || x < box->begin[d])
                box->begin[d] = x;
            if (!found || x + 1 > box->end[d])
                box->end[d] = x + 1;
        }
        found = true;
    }
    if (found && layer && layer->groups > 1) {
        uint32_t k = layer->k / layer->groups;
        while (box->begin[SOMA_K] % k)
            box->begin[SOMA_K]--;
        while (box->end[SOMA_K] % k)
            box->end[SOMA_K]++;
    }
    return found;
}

static struct box tile_box(const struct soma_plan *plan, uint32_t l, uint32_t i)
{
    const struct soma_layer_plan *layer = &plan->layer[l];
    const uint32_t *part = plan->grid[layer->flc].part;
    const uint32_t place[SOMA_N_AXIS] = {0, i / (part[2] * part[3]), i / part[3] % part[2], i % part[3]};
    struct box box;
    for (int d = 0; d < SOMA_N_DIM; d++) {
        box.begin[d] = layer->range[d][place[layer->axis[d]]].begin;
        box.end[d] = layer->range[d][place[layer->axis[d]]].end;
    }
    return box;
}

static bool differ(const struct plain *plain, uint32_t l, uint32_t i, const char *what)
{
    snprintf(plain->message, plain->size, "tile %u of %s: %s", i, plain->network->layer[l].name, what);
    return false;
}

/* Whether the tile of every layer of the group that reads l reads something of it: one with nothing but
 * padding in one direction may still count in the other. */
static bool all_read(const struct plain *plain, uint32_t l)
{
    const struct soma_graph *graph = plain->plan->graph;
    uint32_t n = 0, last = UINT32_MAX;
    for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++) {
        uint32_t reader = graph->operand[graph->use[u]].layer;
        n += reader != last && plain->plan->layer[reader].flc == plain->plan->layer[l].flc;
        last = reader;
    }
    return plain->n_reader[l] == n;
}

static bool check_range(struct plain *plain, uint32_t l, uint32_t i, const struct box *box)
{
    const struct soma_layer_plan *layer = &plain->plan->layer[l];
    struct box need;
    for (int d = 0; d < SOMA_N_DIM; d++)
        if (box->begin[d] >= box->end[d] || box->end[d] > plain->need[l].extent[d])
            return differ(plain, l, i, "range outside the feature map");
    if (!layer->inside)
        return true;
    if (!find_box(&plain->need[l], &plain->network->layer[l], &need))
        return layer->outside || differ(plain, l, i, "not needed");
    for (int d = 0; d < SOMA_N_DIM; d++) {
        if (box->begin[d] > need.begin[d] || box->end[d] < need.end[d])
            return differ(plain, l, i, "less than is needed");
        if (!layer->outside && all_read(plain, l) &&
            (box->begin[d] < need.begin[d] || box->end[d] > need.end[d]))
            return differ(plain, l, i, "more than is needed");
    }
    return true;
}

/* Tile i of every layer of group g, from the last layer backwards. */
static bool check_group_tile(struct plain *plain, uint32_t g, uint32_t i)
{
    const struct soma_lfa *lfa = plain->plan->lfa;
    struct reads reads = {.plain = plain, .flc = g};
    uint32_t stop = g + 1 < lfa->n_flc ? lfa->flc[g + 1] : lfa->n_layer;
    for (uint32_t n = lfa->flc[g]; n < stop; n++) {
        uint32_t l = lfa->order[n];
        memset(plain->need[l].mark, 0, map_size(&plain->need[l]));
        plain->reader[l] = plain->n_reader[l] = 0;
    }
    for (uint32_t n = stop; n > lfa->flc[g]; n--) {
        uint32_t l = lfa->order[n - 1];
        struct box box = tile_box(plain->plan, l, i);
        if (!check_range(plain, l, i, &box))
            return false;
        reads.reader = l + 1;
        note_box(&reads, l, &box);
    }
    return true;
}

/* So many elements of the tile are new to its layer. */
static uint64_t make(struct plain *plain, uint32_t l, const struct box *box)
{
    uint64_t n_new = 0;
    for (uint32_t b = box->begin[0]; b < box->end[0]; b++)
        for (uint32_t k = box->begin[1]; k < box->end[1]; k++)
            for (uint32_t h = box->begin[2]; h < box->end[2]; h++)
                for (uint32_t w = box->begin[3]; w < box->end[3]; w++) {
                    uint8_t *mark = at(&plain->made[l], b, k, h, w);
                    n_new += !*mark;
                    *mark = 1;
                }
    return n_new;
}

static uint64_t volume(const struct box *box)
{
    uint64_t n = 1;
    for (int d = 0; d < SOMA_N_DIM; d++)
        n *= box->end[d] - box->begin[d];
    return n;
}

static bool meet(const struct box *a, const struct box *b)
{
    for (int d = 0; d < SOMA_N_DIM; d++)
        if (a->begin[d] >= b->end[d] || b->begin[d] >= a->end[d])
            return false;
    return true;
}

/* What a tile reads of a layer in its own layer group is alive. */
static bool check_alive(struct plain *plain, const struct fused_schedule *schedule, uint32_t l, uint32_t i,
                        const struct soma_operand *operand)
{
    const struct soma_layer_plan *reader = &plain->plan->layer[l];
    uint32_t s = (uint32_t)operand->source;
    const struct soma_layer_plan *source = &plain->plan->layer[s];
    bool own = source->flc == reader->flc;
    int32_t p = (int32_t)(reader->first + i * reader->step);
    const struct reads reads = {plain, UINT32_MAX, operand->source, operand->second, l + 1, &plain->load[s]};
    struct box box = tile_box(plain->plan, l, i), need;
    memset(reads.into->mark, 0, map_size(reads.into));
    note_box(&reads, l, &box);
    bool any = find_box(reads.into, NULL, &need);
    for (uint32_t j = own ? i : 0; j < (own ? i + 1 : source->n_tile); j++) {
        const struct fused_tensor *tensor = &schedule->tensor[plain->output[s] + j];
        struct box part = tile_box(plain->plan, s, j);
        int32_t *last = &plain->last_use[plain->output[s] + j];
        *last = *last > p ? *last : p;
        if (any && meet(&need, &part) &&
            (tensor->first_use > p || tensor->last_use < p || tensor->start > p || tensor->end <= p))
            return differ(plain, l, i, "something that it reads is not alive");
    }
    return true;
}

/* The loads of a tile are tensors `*id` and on. */
static bool check_loads(struct plain *plain, const struct fused_schedule *schedule, uint32_t l, uint32_t i,
                        uint32_t *id)
{
    const struct soma_graph *graph = plain->plan->graph;
    struct box box = tile_box(plain->plan, l, i), need;
    for (uint32_t o = graph->first_operand[l]; o < graph->first_operand[l + 1]; o++) {
        const struct soma_operand *operand = &graph->operand[o];
        if (operand->source >= 0 &&
            plain->plan->layer[operand->source].layer_group == plain->plan->layer[l].layer_group) {
            if (!check_alive(plain, schedule, l, i, operand))
                return false;
            continue;
        }
        struct map *into = operand->source < 0
                               ? &plain->load[plain->network->n_layer + (uint32_t)(-1 - operand->source)]
                               : &plain->load[operand->source];
        const struct reads reads = {plain, UINT32_MAX, operand->source, operand->second, l + 1, into};
        memset(into->mark, 0, map_size(into));
        note_box(&reads, l, &box);
        if (!find_box(into, NULL, &need))
            continue;
        const struct fused_tensor *tensor = &schedule->tensor[(*id)++];
        if (*id > schedule->n_tensor || tensor->kind != FUSED_IFMAP || tensor->layer != l ||
            tensor->index != i || tensor->source != operand->source)
            return differ(plain, l, i, "a load is missing");
        if (tensor->byte != volume(&need) || tensor->dram_byte != tensor->byte)
            return differ(plain, l, i, "a load is not what it reads");
    }
    return true;
}

static bool check_output(struct plain *plain, const struct fused_schedule *schedule, uint32_t l, uint32_t i,
                         uint32_t id)
{
    const struct soma_layer_plan *layer = &plain->plan->layer[l];
    const struct fused_tile *tile = &schedule->tile[layer->first + i * layer->step];
    struct box box = tile_box(plain->plan, l, i);
    uint64_t n_new = make(plain, l, &box);
    if (id >= schedule->n_tensor || schedule->tensor[id].layer != l || schedule->tensor[id].index != i)
        return differ(plain, l, i, "no tensor of its output");
    const struct fused_tensor *tensor = &schedule->tensor[id];
    if (tile->layer != l || tile->index != i || tile->b != box.end[0] - box.begin[0] ||
        tile->k != box.end[1] - box.begin[1] || tile->h != box.end[2] - box.begin[2] ||
        tile->w != box.end[3] - box.begin[3] || tensor->byte != volume(&box))
        return differ(plain, l, i, "not the shape of its ranges");
    if (!layer->inside && n_new != volume(&box))
        return differ(plain, l, i, "elements of an output twice");
    if (tensor->dram_byte != (tensor->kind == FUSED_OFMAP ? n_new : 0))
        return differ(plain, l, i, "a store that is not what is new");
    return true;
}

static bool check_tensors(struct plain *plain, const struct fused_schedule *schedule)
{
    const struct soma_lfa *lfa = plain->plan->lfa;
    uint32_t id = 0;
    for (uint32_t n = 0; n < lfa->n_layer; n++) {
        uint32_t l = lfa->order[n];
        const struct soma_layer_plan *layer = &plain->plan->layer[l];
        for (uint32_t i = 0; i < layer->n_tile; i++)
            if (!check_loads(plain, schedule, l, i, &id))
                return false;
        id += plain->plan->graph->weight_word[l] > 0;
        plain->output[l] = id;
        for (uint32_t i = 0; i < layer->n_tile; i++)
            if (!check_output(plain, schedule, l, i, id++))
                return false;
        if ((layer->outside || !layer->inside) && memchr(plain->made[l].mark, 0, map_size(&plain->made[l])))
            return differ(plain, l, layer->n_tile, "not everything is made");
    }
    for (uint32_t t = 0; t < schedule->n_tensor; t++) {
        const struct fused_tensor *tensor = &schedule->tensor[t];
        if (tensor->producer_tile >= 0 && tensor->last_use != plain->last_use[t])
            return differ(plain, tensor->layer, tensor->index, "not its last use");
    }
    return id == schedule->n_tensor || differ(plain, 0, 0, "more tensors than there should be");
}

static void prepare(struct plain *plain)
{
    const struct network *network = plain->network;
    uint32_t batch = plain->plan->context->batch;
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct layer *layer = &network->layer[l];
        uint32_t n = 0, o = 0, skip = layer_skip(layer, 0);
        plain->channel[l] =
            arena_alloc(plain->arena, (size_t)layer->n_operand * layer->c, sizeof(struct channel));
        if (!plain->channel[l])
            abort();
        for (uint32_t i = 0; i < layer->n_producer; i++) {
            int32_t source = layer->producer[i];
            uint32_t k = source < 0 ? network->input[-1 - source].c : network->layer[source].k;
            for (uint32_t c = 0; c < k && n < (o + 1) * layer->c; c++)
                if (skip > 0)
                    skip--;
                else
                    plain->channel[l][n++] = (struct channel){source, c};
            if (o + 1 < layer->n_operand && n == (o + 1) * layer->c)
                skip = layer_skip(layer, ++o);
        }
        plain->need[l] = new_map(plain->arena, batch, layer->k, layer->p, layer->q);
        plain->made[l] = new_map(plain->arena, batch, layer->k, layer->p, layer->q);
        plain->load[l] = new_map(plain->arena, batch, layer->k, layer->p, layer->q);
    }
    for (uint32_t i = 0; i < network->n_input; i++) {
        const struct network_input *input = &network->input[i];
        plain->load[network->n_layer + i] = new_map(plain->arena, batch, input->c, input->h, input->w);
    }
}

bool soma_plain_agrees(const struct soma_plan *plan, const struct fused_schedule *schedule,
                       struct arena *scratch, char *message, size_t size)
{
    const struct network *network = plan->graph->network;
    struct plain plain = {
        .plan = plan, .network = network, .arena = scratch, .message = message, .size = size};
    plain.channel = arena_alloc(scratch, network->n_layer, sizeof *plain.channel);
    plain.need = arena_alloc(scratch, network->n_layer, sizeof *plain.need);
    plain.made = arena_alloc(scratch, network->n_layer, sizeof *plain.made);
    plain.load = arena_alloc(scratch, (size_t)network->n_layer + network->n_input, sizeof *plain.load);
    plain.reader = arena_alloc(scratch, network->n_layer, sizeof *plain.reader);
    plain.n_reader = arena_alloc(scratch, network->n_layer, sizeof *plain.n_reader);
    plain.output = arena_alloc(scratch, network->n_layer, sizeof *plain.output);
    plain.last_use = arena_alloc(scratch, (size_t)schedule->n_tensor + 1, sizeof *plain.last_use);
    if (!plain.output || !plain.last_use || !plain.channel || !plain.need || !plain.made || !plain.load ||
        !plain.reader || !plain.n_reader)
        abort();
    prepare(&plain);
    for (uint32_t t = 0; t < schedule->n_tensor; t++)
        plain.last_use[t] = -1;
    for (uint32_t g = 0; g < plan->lfa->n_flc; g++)
        for (uint32_t i = 0; i < plan->lfa->tiling[g]; i++)
            if (!check_group_tile(&plain, g, i))
                return false;
    return check_tensors(&plain, schedule);
}
