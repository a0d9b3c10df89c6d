/* Counts first, since a layer may stand before its producers: where the parts of each layer will stand. Then
 * the parts, with the producers of whose channels they read. */
#include "costmodel/model/network_cut.h"

#include <stdio.h>
#include <string.h>

struct range {
    uint32_t begin, end;
};

/* Where the parts of a layer stand in the new network. */
struct place {
    uint32_t first, n; /* all layers that it becomes */
    uint32_t k, c;     /* parts */
    bool whole;        /* the last of them is the concatenation of its parts */
    bool joined;       /* which all read who read the layer */
    uint32_t *begin;   /* (k + 1) where the channels of each part begin; NULL: it is one */
};

struct cutter {
    const struct network *from;
    struct place *place; /* (from->n_layer) */
    struct layer *layer; /* of the new network */
    struct arena *arena;
};

static struct range piece(uint32_t extent, uint32_t n, uint32_t i)
{
    const uint32_t less = extent / n, more = extent % n, begin = i * less + (i < more ? i : more);
    return (struct range){begin, begin + less + (i < more)};
}

static struct network_input shape_of(const struct network *network, int32_t producer)
{
    if (producer < 0)
        return network->input[-1 - producer];
    const struct layer *layer = &network->layer[producer];
    return (struct network_input){layer->name, layer->k, layer->p, layer->q};
}

/* Channels of its input that stand for one channel of its producers: height x width where it flattens. */
static uint32_t flattened(const struct network *network, const struct layer *layer)
{
    const struct network_input from = shape_of(network, layer->producer[0]);
    return layer->type == LAYER_LINEAR && (from.h != layer->p || from.w != layer->q) ? from.h * from.w : 1;
}

/* How the second operand of a matmul lies in the map that it comes from. */
enum second {
    SECOND_UNKNOWN,
    SECOND_GROUPS,  /* whole channels for each group, nobody knows in which order */
    SECOND_OUTPUTS, /* a channel for each output channel, its rows and columns are the input channels */
    SECOND_ROWS     /* a row for each output channel of a group, a channel for each input channel */
};

static enum second second_of(const struct network *network, const struct layer *layer)
{
    const struct network_input second = shape_of(network, layer->weight_producer);
    const uint64_t group = layer_second_operand_words(layer) / layer_operand_groups(layer);
    const uint64_t area = (uint64_t)second.h * second.w;
    if (area == layer->c / layer->groups)
        return SECOND_OUTPUTS;
    if (second.w == 1 && second.h == layer->k / layer->groups)
        return SECOND_ROWS;
    return group % area == 0 ? SECOND_GROUPS : SECOND_UNKNOWN;
}

/* ---- what is possible ---- */

/* Every output channel reads its own input channel. */
static bool is_pointwise(const struct layer *layer)
{
    return layer->type == LAYER_ACTIVATION || layer->type == LAYER_CONCAT || layer->type == LAYER_POOL ||
           layer->type == LAYER_UPSAMPLE || layer->type == LAYER_CROP || layer->type == LAYER_ADD ||
           layer->type == LAYER_MUL;
}

/* Every output channel reads those of its group. */
static bool is_in_groups(const struct layer *layer)
{
    return layer->type == LAYER_SOFTMAX || layer->type == LAYER_NORM;
}

/* Groups of channels of which whole ones go to each of k parts: those that share a second operand stay
 * together as long as there are enough. */
static uint32_t groups_of(const struct layer *layer, uint32_t k)
{
    if (is_pointwise(layer))
        return layer->k;
    return k <= layer_operand_groups(layer) ? layer_operand_groups(layer) : layer->groups;
}

static bool is_cuttable(const struct layer *layer)
{
    return layer->type == LAYER_CONV || layer->type == LAYER_LINEAR || layer->type == LAYER_CONV_TRANSPOSE ||
           layer->type == LAYER_MATMUL || is_pointwise(layer) || is_in_groups(layer);
}

uint32_t network_cut_k_max(const struct network *network, uint32_t l)
{
    const struct layer *layer = &network->layer[l];
    if (!network->is_graph || !is_cuttable(layer))
        return 1;
    if (layer->type == LAYER_MATMUL && second_of(network, layer) < SECOND_OUTPUTS)
        return second_of(network, layer) == SECOND_GROUPS ? layer_operand_groups(layer) : 1;
    return is_in_groups(layer) ? layer->groups : layer->k;
}

uint32_t network_cut_c_max(const struct network *network, uint32_t l, uint32_t k)
{
    const struct layer *layer = &network->layer[l];
    if (!network->is_graph || !layer_has_macs(layer) || layer->type == LAYER_MATMUL || k < layer->groups)
        return 1;
    return layer->c / layer->groups / flattened(network, layer);
}

uint32_t network_cut_k_next(const struct network *network, uint32_t l, uint32_t k)
{
    const uint32_t few = groups_of(&network->layer[l], 1), groups = groups_of(&network->layer[l], k);
    const uint64_t next = k <= few ? k : ((uint64_t)k + groups - 1) / groups * groups;
    return next <= network_cut_k_max(network, l) ? (uint32_t)next : 0;
}

static enum dse_status fail(const struct layer *layer, struct dse_error *err, const char *what,
                            uint32_t parts, uint32_t most)
{
    return dse_fail(err, DSE_BAD_INPUT,
                    "layer %.100s cannot be cut into %u parts along its %s channels: %s %u", layer->name,
                    parts, what, "the most is", most);
}

enum dse_status network_cut_check(const struct network *network, const struct network_cut *cut,
                                  struct dse_error *err)
{
    const int l = network_find_layer(network, cut->layer);
    if (l < 0)
        return dse_fail(err, DSE_BAD_INPUT, "network %s has no layer \"%.100s\"", network->name, cut->layer);
    const struct layer *layer = &network->layer[l];
    const uint32_t k_max = network_cut_k_max(network, (uint32_t)l);
    if (k_max == 1 && network_cut_c_max(network, (uint32_t)l, 1) == 1)
        return dse_fail(err, DSE_BAD_INPUT, "layer %.100s cannot be cut: it is of type %s%s", layer->name,
                        layer_type_text(layer->type),
                        is_cuttable(layer) ? ", and has no groups of whole channels" : "");
    if (cut->k == 0 || cut->c == 0 || (cut->k == 1 && cut->c == 1))
        return dse_fail(err, DSE_BAD_INPUT, "layer %.100s is cut into %u x %u parts; it must be 2 or more",
                        layer->name, cut->k, cut->c);
    if (cut->k > k_max)
        return fail(layer, err, "output", cut->k, k_max);
    if (cut->joined && cut->k == 1)
        return dse_fail(err, DSE_BAD_INPUT, "layer %.100s is one part along its output channels, and joined",
                        layer->name);
    if (network_cut_k_next(network, (uint32_t)l, cut->k) != cut->k)
        return dse_fail(
            err, DSE_BAD_INPUT,
            "layer %.100s cannot be cut into %u parts along its output channels: it has %u groups, "
            "and more parts than that must be a multiple of it",
            layer->name, cut->k, layer->groups);
    const uint32_t c_max = network_cut_c_max(network, (uint32_t)l, cut->k);
    return cut->c > c_max ? fail(layer, err, "input", cut->c, c_max) : DSE_OK;
}

/* ---- parts ---- */

/* What the part reads of the second operand: of groups from `group` on all, or (`of` not NULL) what output
 * channels `of` of one need. */
static void set_second(const struct network *network, const struct layer *layer, uint32_t group,
                       const struct range *of, struct layer *part)
{
    const struct network_input second = shape_of(network, layer->weight_producer);
    if (part->groups == 1 && layer->share > 1)
        part->share = 0;
    part->skip[1] = second.c / layer_operand_groups(layer) * group;
    if (of && second_of(network, layer) == SECOND_OUTPUTS)
        part->skip[1] += of->begin;
    else if (of)
        part->second_row = of->begin, part->n_second_row = of->end - of->begin;
}

/* Part i of `k`, as a layer that reads the channels `*of` of what its producers give (before flattening). */
static struct layer part_along_k(const struct network *network, const struct layer *layer, uint32_t k,
                                 uint32_t i, struct range *of)
{
    struct layer part = *layer;
    const uint32_t n = groups_of(layer, k), group_c = layer->c / n / flattened(network, layer);
    const uint32_t per_group = k <= n ? 1 : k / n; /* parts of one group */
    const struct range groups =
        per_group == 1 ? piece(n, k < n ? k : n, i) : (struct range){i / per_group, i / per_group + 1};
    const struct range within =
        n == 1 ? piece(layer->k, k, i) : piece(layer->k / n, per_group, i % per_group);
    if (!is_pointwise(layer))
        part.groups = layer->groups / n * (groups.end - groups.begin);
    part.k = (within.end - within.begin) * (groups.end - groups.begin);
    part.c = layer->c / n * (groups.end - groups.begin);
    *of = (struct range){groups.begin * group_c, groups.end * group_c};
    if (layer->type == LAYER_MATMUL)
        set_second(network, layer, groups.begin / (n / layer_operand_groups(layer)),
                   within.end - within.begin < layer->k / n ? &within : NULL, &part);
    return part;
}

/* Part j of `c` of such a one, which has one group. */
static struct layer part_along_c(const struct network *network, const struct layer *layer, struct layer part,
                                 uint32_t c, uint32_t j, struct range *of)
{
    const struct range share = piece(of->end - of->begin, c, j);
    part.c = (share.end - share.begin) * flattened(network, layer);
    *of = (struct range){of->begin + share.begin, of->begin + share.end};
    return part;
}

struct layer network_cut_largest(const struct network *network, uint32_t l, uint32_t k, uint32_t c)
{
    const struct layer *layer = &network->layer[l];
    struct range of;
    struct layer part = part_along_k(network, layer, k, 0, &of);
    return c > 1 ? part_along_c(network, layer, part, c, 0, &of) : part;
}

/* The number of the layer that makes part i of what layer l makes. */
static uint32_t maker_of(const struct place *place, uint32_t i)
{
    return place->first + (place->c > 1 ? i * (place->c + 1) + place->c : i);
}

static uint32_t n_makers(const struct cutter *cutter, int32_t producer)
{
    return producer < 0 || cutter->place[producer].joined ? 1 : cutter->place[producer].k;
}

/* The concatenation of all parts. */
static uint32_t whole_of(const struct place *place)
{
    return place->first + place->n - 1;
}

/* The number of the layer that makes part m of what a producer gives to who reads it. */
static int32_t given_by(const struct cutter *cutter, int32_t producer, uint32_t m)
{
    if (producer < 0)
        return producer;
    const struct place *place = &cutter->place[producer];
    return (int32_t)(place->joined ? whole_of(place) : maker_of(place, m));
}

/* Where the channels of part m of n begin. */
static uint32_t begin_of(const struct cutter *cutter, int32_t producer, uint32_t n, uint32_t m)
{
    return n == 1 ? m * shape_of(cutter->from, producer).c : cutter->place[producer].begin[m];
}

/* The parts of what a producer gives, from channel `first` on, that have channels `of` (NULL: all). */
static struct range makers_of(const struct cutter *cutter, int32_t p, uint32_t first, const struct range *of)
{
    const uint32_t n = n_makers(cutter, p);
    uint32_t low = 0, high = n;
    if (!of)
        return (struct range){0, n};
    while (low < high) { /* the first that ends behind of->begin */
        const uint32_t m = low + (high - low) / 2;
        const bool ends_behind = first + begin_of(cutter, p, n, m + 1) > of->begin;
        *(ends_behind ? &high : &low) = ends_behind ? m : m + 1;
    }
    while (high < n && first + begin_of(cutter, p, n, high) < of->end)
        high++;
    return (struct range){low, high};
}

/* The part of a layer that gives all channels that `part` reads as its second operand, and how many channels
 * stand before it; -1: none does. */
static int64_t second_part(const struct cutter *cutter, const struct layer *part, uint32_t *before)
{
    const int32_t second = part->weight_producer;
    const struct network_input shape = shape_of(cutter->from, second);
    const uint64_t rows = part->n_second_row ? part->n_second_row : shape.h;
    const uint64_t n = layer_second_operand_words(part) / (rows * shape.w);
    const uint32_t n_part = second < 0 ? 1 : cutter->place[second].k;
    for (uint32_t m = 0; m < n_part; m++) {
        *before = begin_of(cutter, second, n_part, m);
        if (part->skip[1] >= *before && part->skip[1] + n <= begin_of(cutter, second, n_part, m + 1))
            return m;
    }
    return -1;
}

static void set_second_producer(const struct cutter *cutter, struct layer *layer)
{
    const int32_t second = layer->weight_producer;
    uint32_t before = 0;
    if (second < 0)
        return;
    const struct place *place = &cutter->place[second];
    const int64_t m = place->whole ? -1 : second_part(cutter, layer, &before);
    layer->weight_producer = (int32_t)(place->whole ? whole_of(place) : maker_of(place, (uint32_t)m));
    layer->skip[1] -= place->whole ? 0 : before;
}

/* How many of the producers, one after the other, give channels `of` (NULL: all) of each operand, and which;
 * `skip`, by operand: what the first of them gives before. Both may be NULL. */
static uint32_t list_producers(const struct cutter *cutter, const struct layer *from, const struct range *of,
                               int32_t *producer, uint32_t *skip)
{
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0, o = 0, first = 0; i < from->n_producer; i++) {
        const int32_t p = from->producer[i];
        const struct range makers = makers_of(cutter, p, at, of);
        for (uint32_t m = makers.begin; m < makers.end; m++, n++) {
            if (n == first && of && skip)
                skip[o] = of->begin - (at + begin_of(cutter, p, n_makers(cutter, p), m));
            if (producer)
                producer[n] = given_by(cutter, p, m);
        }
        at += shape_of(cutter->from, p).c;
        if (from->n_operand > 1 && at == from->c)
            at = 0, o++, first = n;
    }
    return n;
}

static enum dse_status set_producers(const struct cutter *cutter, const struct layer *from,
                                     const struct range *of, struct layer *layer, struct dse_error *err)
{
    layer->n_producer = list_producers(cutter, from, of, NULL, NULL);
    int32_t *producer = arena_alloc(cutter->arena, layer->n_producer, sizeof *producer);
    uint32_t *skip = arena_alloc(cutter->arena, from->n_operand, sizeof *skip);
    DSE_TRY(arena_check(cutter->arena, "a network in parts", err));
    (void)list_producers(cutter, from, of, producer, skip);
    layer->producer = producer;
    if (from->n_operand > 1)
        layer->operand_skip = skip;
    else if (of)
        layer->skip[0] = skip[0];
    set_second_producer(cutter, layer);
    return DSE_OK;
}

static enum dse_status set_name(const struct cutter *cutter, const char *name, const char *suffix,
                                struct layer *layer, struct dse_error *err)
{
    char text[PROBLEM_NAME_MAX];
    const int n = snprintf(text, sizeof text, "%s#%s", name, suffix);
    if (n < 0 || (size_t)n >= sizeof text)
        return dse_fail(err, DSE_LIMIT, "layer %s cannot be cut: %s#%s is longer than %d bytes", name, name,
                        suffix, PROBLEM_NAME_MAX - 1);
    layer->name = arena_copy_text(cutter->arena, text, (size_t)n);
    return arena_check(cutter->arena, "a network in parts", err);
}

/* The layer `of` (a sum, a concatenation), of what layers first, first + step, ... make. */
static enum dse_status join_parts(const struct cutter *cutter, enum layer_type type, const struct layer *of,
                                  uint32_t first, uint32_t step, uint32_t n, struct layer *to,
                                  struct dse_error *err)
{
    int32_t *producer = arena_alloc(cutter->arena, n, sizeof *producer);
    DSE_TRY(arena_check(cutter->arena, "a network in parts", err));
    for (uint32_t i = 0; i < n; i++)
        producer[i] = (int32_t)(first + i * step);
    *to = (struct layer){.name = of->name,
                         .type = type,
                         .line = of->line,
                         .c = of->k,
                         .k = of->k,
                         .p = of->p,
                         .q = of->q,
                         .r = 1,
                         .s = 1,
                         .h = of->p,
                         .w = of->q,
                         .stride = {1, 1},
                         .dilation = {1, 1},
                         .groups = 1,
                         .count = of->count,
                         .batch = of->batch,
                         .permute = "",
                         .n_producer = n,
                         .producer = producer,
                         .n_operand = type == LAYER_ADD ? n : 1,
                         .weight_producer = LAYER_NO_PRODUCER};
    return DSE_OK;
}

/* Part i along K: one layer, or its parts along C and their sum. */
static enum dse_status make_part(const struct cutter *cutter, uint32_t l, uint32_t i, struct dse_error *err)
{
    const struct layer *from = &cutter->from->layer[l];
    const struct place *place = &cutter->place[l];
    const uint32_t at = maker_of(place, i);
    struct layer *to = &cutter->layer[at];
    struct range of;
    char suffix[32];
    struct layer part = part_along_k(cutter->from, from, place->k, i, &of);
    snprintf(suffix, sizeof suffix, "%u", i + 1);
    DSE_TRY(set_name(cutter, from->name, suffix, &part, err));
    if (place->c == 1) {
        *to = part;
        return set_producers(cutter, from, &of, to, err);
    }
    for (uint32_t j = 0; j < place->c; j++) {
        struct layer *term = &cutter->layer[at - place->c + j];
        struct range share = of;
        *term = part_along_c(cutter->from, from, part, place->c, j, &share);
        snprintf(suffix, sizeof suffix, "%u.%u", i + 1, j + 1);
        DSE_TRY(set_name(cutter, from->name, suffix, term, err));
        DSE_TRY(set_producers(cutter, from, &share, term, err));
    }
    return join_parts(cutter, LAYER_ADD, &part, at - place->c, 1, place->c, to, err);
}

static enum dse_status make_layer(const struct cutter *cutter, uint32_t l, struct dse_error *err)
{
    const struct layer *from = &cutter->from->layer[l];
    const struct place *place = &cutter->place[l];
    if (place->k == 1 && place->c == 1) {
        cutter->layer[place->first] = *from;
        return set_producers(cutter, from, NULL, &cutter->layer[place->first], err);
    }
    for (uint32_t i = 0; i < place->k; i++)
        DSE_TRY(make_part(cutter, l, i, err));
    if (!place->whole)
        return DSE_OK;
    struct layer *whole = &cutter->layer[whole_of(place)];
    DSE_TRY(join_parts(cutter, LAYER_CONCAT, from, maker_of(place, 0), place->c > 1 ? place->c + 1 : 1,
                       place->k, whole, err));
    return set_name(cutter, from->name, "all", whole, err);
}

char *network_cut_part(const struct network *network, uint32_t l, char *text, size_t size)
{
    const char *name = network->layer[l].name, *mark = strrchr(name, '#');
    const size_t length = mark ? (size_t)(mark - name) : 0;
    unsigned k = 0, c = 0;
    text[0] = '\0';
    for (uint32_t i = 0; mark && i < network->n_cut; i++) {
        const struct network_cut *cut = &network->cut[i];
        if (strncmp(cut->layer, name, length) != 0 || cut->layer[length])
            continue;
        const int n = sscanf(mark, "#%u.%u", &k, &c);
        if (n == 1)
            (void)snprintf(text, size, "%u of %u", k, cut->k);
        else if (n == 2)
            (void)snprintf(text, size, "%u of %u, %u of %u", k, cut->k, c, cut->c);
        break;
    }
    return text;
}

/* ---- the network ---- */

/* Whether a part of layer l reads several parts of its second operand, which is one layer. */
static bool reads_several(const struct cutter *cutter, uint32_t l)
{
    const struct layer *layer = &cutter->from->layer[l];
    const uint32_t n = cutter->place[l].k;
    uint32_t before;
    struct range of;
    for (uint32_t i = 0; i < n && cutter->place[layer->weight_producer].k > 1; i++) {
        const struct layer part = part_along_k(cutter->from, layer, n, i, &of);
        if (second_part(cutter, &part, &before) < 0)
            return true;
    }
    return false;
}

/* Where parts begin: found once, since every part of a reader asks. */
static enum dse_status find_begins(struct cutter *cutter, struct dse_error *err)
{
    struct range of;
    for (uint32_t l = 0; l < cutter->from->n_layer; l++) {
        struct place *place = &cutter->place[l];
        if (place->k == 1)
            continue;
        place->begin = arena_alloc(cutter->arena, (size_t)place->k + 1, sizeof *place->begin);
        DSE_TRY(arena_check(cutter->arena, "a network in parts", err));
        for (uint32_t m = 0; m < place->k; m++)
            place->begin[m + 1] =
                place->begin[m] + part_along_k(cutter->from, &cutter->from->layer[l], place->k, m, &of).k;
    }
    return DSE_OK;
}

static enum dse_status find_places(struct cutter *cutter, const struct network_cut *cut, uint32_t n,
                                   uint32_t *n_layer, struct dse_error *err)
{
    const struct network *from = cutter->from;
    uint64_t at = 0;
    for (uint32_t l = 0; l < from->n_layer; l++)
        cutter->place[l] = (struct place){.k = 1, .c = 1};
    for (uint32_t i = 0; i < n; i++) {
        DSE_TRY(network_cut_check(from, &cut[i], err));
        struct place *place = &cutter->place[network_find_layer(from, cut[i].layer)];
        if (place->k > 1 || place->c > 1)
            return dse_fail(err, DSE_BAD_INPUT, "layer %.100s is cut a second time", cut[i].layer);
        place->k = cut[i].k;
        place->c = cut[i].c;
        place->whole = place->joined = cut[i].joined;
    }
    DSE_TRY(find_begins(cutter, err));
    for (uint32_t l = 0; l < from->n_layer; l++)
        if (from->layer[l].weight_producer >= 0 && reads_several(cutter, l))
            cutter->place[from->layer[l].weight_producer].whole = true;
    for (uint32_t l = 0; l < from->n_layer; l++) {
        struct place *place = &cutter->place[l];
        const uint64_t parts = (uint64_t)place->k * (place->c > 1 ? place->c + 1 : 1) + place->whole;
        if (at + parts > NETWORK_PART_MAX)
            return dse_fail(err, DSE_LIMIT, "network %s in parts has more than %d layers", from->name,
                            NETWORK_PART_MAX);
        place->first = (uint32_t)at;
        place->n = (uint32_t)parts;
        at += parts;
    }
    *n_layer = (uint32_t)at;
    return DSE_OK;
}

/* Of a joined network: which of its layers are whose. */
static enum dse_status set_parts(const struct cutter *cutter, struct network *out, struct dse_error *err)
{
    const struct network *from = cutter->from;
    struct network_part *part = arena_alloc(cutter->arena, from->n_part, sizeof *part);
    DSE_TRY(arena_check(cutter->arena, "a network in parts", err));
    for (uint32_t i = 0; i < from->n_part; i++) {
        const struct place *last = &cutter->place[from->part[i].first_layer + from->part[i].n_layer - 1];
        part[i] = from->part[i];
        part[i].first_layer = cutter->place[from->part[i].first_layer].first;
        part[i].n_layer = last->first + last->n - part[i].first_layer;
    }
    out->part = part;
    return DSE_OK;
}

static bool is_cut_alike(const struct cutter *cutter, const struct network_repeat *repeat)
{
    for (uint32_t i = 0; i < repeat->n_layer; i++)
        for (uint32_t t = 1; t < repeat->times; t++) {
            const struct place *one = &cutter->place[repeat->first_layer + i],
                               *other = &one[(size_t)t * repeat->n_layer];
            if (one->k != other->k || one->c != other->c || one->whole != other->whole ||
                one->joined != other->joined)
                return false;
        }
    return true;
}

/* The blocks whose repetitions are cut alike; others are layers like any from here on. */
static enum dse_status set_repeats(const struct cutter *cutter, struct network *out, struct dse_error *err)
{
    const struct network *from = cutter->from;
    struct network_repeat *repeat = arena_alloc(cutter->arena, from->n_repeat, sizeof *repeat);
    DSE_TRY(arena_check(cutter->arena, "a network in parts", err));
    out->n_repeat = 0;
    for (uint32_t r = 0; r < from->n_repeat; r++) {
        const struct network_repeat *old = &from->repeat[r];
        if (!is_cut_alike(cutter, old))
            continue;
        const struct place *last = &cutter->place[old->first_layer + old->n_layer - 1];
        repeat[out->n_repeat] = *old;
        repeat[out->n_repeat].first_layer = cutter->place[old->first_layer].first;
        repeat[out->n_repeat].n_layer = last->first + last->n - repeat[out->n_repeat].first_layer;
        out->n_repeat++;
    }
    out->repeat = repeat;
    return DSE_OK;
}

enum dse_status network_cut(const struct network *from, const struct network_cut *cut, uint32_t n,
                            struct arena *arena, struct network *out, struct dse_error *err)
{
    struct cutter cutter = {.from = from, .arena = arena};
    uint32_t n_layer = 0;
    if (!from->is_graph)
        return dse_fail(err, DSE_BAD_USAGE, "network %s is a list of layers; only layers of graphs are cut",
                        from->name);
    cutter.place = arena_alloc(arena, from->n_layer, sizeof *cutter.place);
    DSE_TRY(arena_check(arena, "a network in parts", err));
    DSE_TRY(find_places(&cutter, cut, n, &n_layer, err));
    struct network_cut *own = arena_alloc(arena, n, sizeof *own);
    uint32_t *order = arena_alloc(arena, n_layer, sizeof *order), at = 0;
    cutter.layer = arena_alloc(arena, n_layer, sizeof *cutter.layer);
    DSE_TRY(arena_check(arena, "a network in parts", err));
    for (uint32_t i = 0; i < n; i++) {
        own[i] = cut[i];
        own[i].layer = from->layer[network_find_layer(from, cut[i].layer)].name;
    }
    for (uint32_t l = 0; l < from->n_layer; l++)
        DSE_TRY(make_layer(&cutter, l, err));
    for (uint32_t i = 0; i < from->n_layer; i++)
        for (uint32_t m = 0; m < cutter.place[from->order[i]].n; m++)
            order[at++] = cutter.place[from->order[i]].first + m;
    *out = *from;
    memset(&out->arena, 0, sizeof out->arena);
    out->n_layer = n_layer;
    out->layer = cutter.layer;
    out->order = order;
    out->n_cut = n;
    out->cut = own;
    if (from->n_repeat > 0)
        DSE_TRY(set_repeats(&cutter, out, err));
    return from->n_part > 0 ? set_parts(&cutter, out, err) : DSE_OK;
}
