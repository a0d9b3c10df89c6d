/* The rule goes over the network's order again and again, and cuts one layer of a pair that does not fit,
 * until all do. */
#include "engines/soma/parts.h"

#include <math.h>

#include "base/text.h"
#include "costmodel/model/network_cut.h"
#include "engines/soma/notation/notation.h"
#include "engines/soma/stream_parts.h"

enum { NUMBER_MAX = 32 };

/* Bytes of a layer, at least. */
struct need {
    double held;    /* weights, or a second operand */
    double again;   /* a second operand that the next tile loads meanwhile */
    double in, out; /* of one output position */
    double alone;   /* with what its own tiles load ahead and store late, as one tile or with the smallest */
    double last;    /* while its last tile is computed, without what the next layer loads */
};

/* How the rule cuts a layer, and the need of its largest part. */
struct parts {
    uint32_t k, c;
    bool joined;
    double share; /* of the buffer that two parts may take, when it is cut next */
    struct need need;
};

struct rule {
    const struct soma_part_rule *by;
    const struct network *network;
    uint32_t batch;
    struct parts *parts; /* (n_layer) */
};

/* Whole ones, of one tensor. */
static double byte_of(const struct rule *rule, double word)
{
    return ceil(word * soma_word_byte(rule->by));
}

/* Bytes of the buffer that a layer's weights, or its second operand, take. A table of rows has no place there
 * (graph.h). */
static double room_of(const struct rule *rule, const struct layer *layer)
{
    const bool streams = rule->by->streams >> TENSOR_WEIGHT & 1u;
    if (streams || layer->type == LAYER_EMBEDDING)
        return 0;
    const uint64_t words =
        layer->type == LAYER_MATMUL ? layer_second_operand_words(layer) : layer_weight_words(layer);
    return byte_of(rule, (double)words);
}

/* Input rows (or columns) of n output rows at least; padding may be among them. */
static double rows_of(const struct layer *layer, int direction, uint32_t n)
{
    const uint32_t filter = direction == 0 ? layer->r : layer->s, stride = layer->stride[direction];
    const uint32_t pads = layer->pad[direction] + layer->pad[direction + 2];
    switch (layer->type) {
    case LAYER_CONV:
    case LAYER_POOL:
        return fmax(1, (double)filter + (n - 1.0) * fmin(stride, filter) - pads);
    case LAYER_CONV_TRANSPOSE:
        return 1; /* one input row reaches many */
    case LAYER_UPSAMPLE:
        return (n + stride - 1) / stride;
    default:
        return n;
    }
}

/* Input of n[0] x n[1] output positions. */
static double input_of(const struct rule *rule, const struct layer *layer, uint32_t rows, uint32_t columns)
{
    const uint32_t channels = layer->type == LAYER_EMBEDDING ? layer->k + 1 : layer->c; /* an index, a row */
    if (rule->by->streams >> TENSOR_INPUT & 1u)
        return 0;
    return byte_of(rule, (double)channels * layer->n_operand * rows_of(layer, 0, rows) *
                             rows_of(layer, 1, columns));
}

/* Two tiles have two inputs or two outputs at a time, more have both. A second operand comes with every tile,
 * the next one while this one is computed; unless there is but one. */
static struct need need_of(const struct rule *rule, const struct layer *layer)
{
    const double places = (double)rule->batch * layer->p * layer->q;
    const double stored = rule->by->streams >> TENSOR_OUTPUT & 1u ? 0 : byte_of(rule, layer->k);
    struct need need = {.held = room_of(rule, layer), .in = input_of(rule, layer, 1, 1), .out = stored};
    const double whole =
        need.held + rule->batch * input_of(rule, layer, layer->p, layer->q) + places * stored;
    need.again = layer->type == LAYER_MATMUL && whole > (double)rule->by->buffer_byte ? need.held : 0;
    need.alone = need.held + need.again + need.in + need.out +
                 (places > 2 ? need.in + need.out : fmax(need.in, need.out));
    need.last = need.held + need.in + 2 * need.out;
    need.alone = fmin(need.alone, whole);
    need.last = fmin(need.last, whole);
    return need;
}

/* Two parts one behind the other, both double-buffered; the sum of parts along C is no smaller matter. All of
 * the buffer is the last resort, where one of them need not load its second operand again. */
static bool parts_fit(const struct rule *rule, uint32_t l, uint32_t k, uint32_t c, double share,
                      struct need *need)
{
    const struct layer part = network_cut_largest(rule->network, l, k, c);
    const double room = share * (double)rule->by->buffer_byte, word = soma_word_byte(rule->by);
    *need = need_of(rule, &part);
    const double again = (share < 1 ? 2 : 1) * need->again;
    return 2 * (need->held + need->in + need->out) + again <= room &&
           (c == 1 || 2.0 * (c + 1) * part.k * word <= room);
}

/* The fewest parts along K of which two fit; 0: none do. What fits with some fits with more. */
static uint32_t fewest(const struct rule *rule, uint32_t l, uint32_t c, double share)
{
    uint32_t low = 1, high = network_cut_k_max(rule->network, l);
    struct need need;
    if (c > network_cut_c_max(rule->network, l, high) || !parts_fit(rule, l, high, c, share, &need))
        return 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2, k = network_cut_k_next(rule->network, l, middle);
        if (c <= network_cut_c_max(rule->network, l, k) && parts_fit(rule, l, k, c, share, &need))
            high = middle;
        else
            low = middle + 1;
    }
    return network_cut_k_next(rule->network, l, low);
}

static uint64_t layers_of(uint32_t k, uint32_t c)
{
    return (uint64_t)k * (c > 1 ? c + 1 : 1);
}

/* Into other parts than it is in, of which two fit into `share`: along output channels where that is enough,
 * else along both, into the fewest layers. */
static bool cut_into(const struct rule *rule, uint32_t l, double share)
{
    struct parts *parts = &rule->parts[l];
    uint32_t best_k = 0, best_c = 1;
    for (uint32_t c = 1; c <= NETWORK_DIM_MAX && (best_k == 0 || best_c > 1); c += (c + 3) / 4) {
        const uint32_t k = fewest(rule, l, c, share);
        if (k > 0 && (best_k == 0 || layers_of(k, c) < layers_of(best_k, best_c)))
            best_k = k, best_c = c;
    }
    if (best_k == 0 || (best_k == parts->k && best_c == parts->c))
        return false;
    parts->k = best_k;
    parts->c = best_c;
    return parts_fit(rule, l, best_k, best_c, share, &parts->need);
}

/* The same with the largest share that it has not had; where none is small enough at first, with all of the
 * buffer. False: there are no such parts, or smaller ones are no help: something else takes the room. */
static bool cut_further(const struct rule *rule, uint32_t l)
{
    static const double less = 0.75, least = 0.05;
    struct parts *parts = &rule->parts[l];
    for (; parts->share > least; parts->share *= less)
        if (cut_into(rule, l, parts->share)) {
            parts->share *= less;
            return true;
        }
    return parts->k == 1 && parts->c == 1 && cut_into(rule, l, 1);
}

/* A layer (or its last part) in the buffer with what the next one (NULL: it is alone) loads ahead. */
static bool pair_fits(const struct rule *rule, const struct need *one, const struct need *next)
{
    const double room = (double)rule->by->buffer_byte;
    return next ? one->last + next->held + next->in <= room : one->alone <= room;
}

/* Cut one of the two until they fit; neither, where that cannot be. Whether one was. */
static bool fit_pair(const struct rule *rule, uint32_t one, uint32_t next)
{
    const struct parts before[] = {rule->parts[one], rule->parts[next]};
    const struct need *a = &rule->parts[one].need, *b = &rule->parts[next].need;
    bool any = false;
    while (!pair_fits(rule, a, b)) {
        const uint32_t first = a->held >= b->held ? one : next, second = first == one ? next : one;
        if (!cut_further(rule, first) && !cut_further(rule, second)) {
            rule->parts[one] = before[0];
            rule->parts[next] = before[1];
            return false;
        }
        any = true;
    }
    return any;
}

/* The same with a layer by itself. */
static bool fit_alone(const struct rule *rule, uint32_t l)
{
    struct parts *parts = &rule->parts[l];
    const struct parts before = *parts;
    bool any = false;
    while (!pair_fits(rule, &parts->need, NULL) && cut_further(rule, l))
        any = true;
    if (!pair_fits(rule, &parts->need, NULL)) {
        *parts = before;
        return false;
    }
    if (parts->k > 1 || parts->c > 1)
        any |= fit_pair(rule, l, l);
    return any;
}

/* Parts with which all fits, or as much as can. Whether there are any. */
static bool find_parts(const struct rule *rule)
{
    const struct network *network = rule->network;
    bool any = false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < network->n_layer; i++) {
            changed |= fit_alone(rule, network->order[i]);
            if (i > 0)
                changed |= fit_pair(rule, network->order[i - 1], network->order[i]);
        }
        any |= changed;
    }
    return any;
}

/* The layers of a block's repetitions as the one of them that is in most parts. */
static void cut_alike(const struct rule *rule)
{
    for (uint32_t r = 0; r < rule->network->n_repeat; r++) {
        const struct network_repeat *repeat = &rule->network->repeat[r];
        for (uint32_t i = 0; i < repeat->n_layer; i++) {
            struct parts *first = &rule->parts[repeat->first_layer + i], most = *first;
            for (uint32_t t = 1; t < repeat->times; t++) {
                const struct parts *other = &first[(size_t)t * repeat->n_layer];
                if ((uint64_t)other->k * other->c > (uint64_t)most.k * most.c)
                    most = *other;
            }
            for (uint32_t t = 0; t < repeat->times; t++)
                first[(size_t)t * repeat->n_layer] = most;
        }
    }
}

/* Where parts are needed anyway: those of a matmul load less second operands in all, and others may be asked
 * for. */
static void cut_besides(const struct rule *rule)
{
    struct need need;
    for (uint32_t l = 0; l < rule->network->n_layer; l++) {
        const struct parts *parts = &rule->parts[l];
        const bool wanted = parts->need.again > 0 || (rule->by->all && parts->need.held > 0);
        if (wanted && !parts_fit(rule, l, parts->k, parts->c, rule->by->share, &need))
            (void)cut_further(rule, l);
    }
}

static void set_parts(const struct rule *rule, uint32_t l, uint32_t k)
{
    struct parts *parts = &rule->parts[l];
    const struct layer part = network_cut_largest(rule->network, l, k, parts->c);
    parts->k = k;
    parts->need = need_of(rule, &part);
}

/* Whether parts along K leave all of a layer alike. */
static bool is_even(const struct rule *rule, uint32_t l, uint32_t k)
{
    const struct layer *layer = &rule->network->layer[l];
    const uint32_t groups = layer_operand_groups(layer);
    return (k < groups ? groups : layer->k) % k == 0 &&
           rule->parts[l].c <= network_cut_c_max(rule->network, l, k);
}

/* Parts that are alike, where at most twice as many are. */
static void make_even(const struct rule *rule)
{
    for (uint32_t l = 0; l < rule->network->n_layer; l++) {
        const uint32_t most = 2 * rule->parts[l].k;
        uint32_t k = rule->parts[l].k;
        while (k > 0 && k <= most && !is_even(rule, l, k))
            k = network_cut_k_next(rule->network, l, k + 1);
        if (k > 0 && k <= most)
            set_parts(rule, l, k);
    }
}

/* The least divisor of n that is a multiple of `of` and at least `least`; n has one. */
static uint32_t divisor(uint32_t n, uint32_t of, uint32_t least)
{
    uint32_t d = of;
    while (n % d != 0 || d < least)
        d += of;
    return d;
}

/* A map without weights that a matmul takes as its second operand is in parts since all its channels at one
 * place are too much, and so would their concatenation be: parts of the matmul read one of these each. */
static void align_seconds(const struct rule *rule)
{
    for (uint32_t l = 0; l < rule->network->n_layer; l++) {
        const struct layer *layer = &rule->network->layer[l];
        const uint32_t n = layer_operand_groups(layer);
        const int32_t second = layer->weight_producer;
        if (second < 0 || layer_has_macs(&rule->network->layer[second]))
            continue;
        const uint32_t k = rule->parts[second].k;
        if (k == 1 || k > n || network_cut_k_max(rule->network, (uint32_t)second) < n)
            continue;
        set_parts(rule, (uint32_t)second, divisor(n, 1, k));
        if (rule->parts[l].k < n)
            set_parts(rule, l, divisor(n, rule->parts[second].k, rule->parts[l].k));
    }
}

/* ---- joining ---- */

/* What the readers of a layer read, in parts of it. More than this is joined first: then each has one load in
 * place of many, and the map goes once more to the DRAM and back. */
enum { READS_MAX = 1024 };

static uint64_t reads_of(const struct rule *rule, uint32_t l)
{
    uint64_t n = 0;
    for (uint32_t r = 0; r < rule->network->n_layer; r++) {
        const struct layer *reader = &rule->network->layer[r];
        if (!layer_has_macs(reader) || reader->type == LAYER_MATMUL || reader->groups > 1)
            continue; /* their parts read their own channels */
        for (uint32_t i = 0; i < reader->n_producer; i++)
            n += reader->producer[i] == (int32_t)l ? rule->parts[r].k : 0;
    }
    return n * rule->parts[l].k;
}

/* Whether the concatenation of layer l fits behind its parts and before layer `next` (n_layer: it is the
 * last). */
static bool join_fits(const struct rule *rule, uint32_t l, uint32_t next)
{
    const struct layer *layer = &rule->network->layer[l];
    const struct layer all = {.type = LAYER_CONCAT,
                              .c = layer->k,
                              .k = layer->k,
                              .p = layer->p,
                              .q = layer->q,
                              .groups = 1,
                              .n_operand = 1};
    const struct need need = need_of(rule, &all);
    return pair_fits(rule, &need, NULL) && pair_fits(rule, &rule->parts[l].need, &need) &&
           (next == rule->network->n_layer || pair_fits(rule, &need, &rule->parts[next].need));
}

static void join_many(const struct rule *rule)
{
    const uint32_t n = rule->network->n_layer;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t l = rule->network->order[i], next = i + 1 < n ? rule->network->order[i + 1] : n;
        rule->parts[l].joined =
            rule->parts[l].k > 1 && reads_of(rule, l) > READS_MAX && join_fits(rule, l, next);
    }
}

/* Says at once which layer is in most parts, where all together are too many. */
static enum dse_status check_number(const struct rule *rule, struct dse_error *err)
{
    const struct network *network = rule->network;
    char n_all[NUMBER_MAX], n_most[NUMBER_MAX], byte[NUMBER_MAX], limit[NUMBER_MAX];
    uint64_t n = 0;
    uint32_t most = 0;
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct parts *parts = &rule->parts[l], *first = &rule->parts[most];
        n += layers_of(parts->k, parts->c) + 1;
        most = layers_of(parts->k, parts->c) > layers_of(first->k, first->c) ? l : most;
    }
    if (n <= NETWORK_PART_MAX)
        return DSE_OK;
    return dse_fail(
        err, DSE_LIMIT,
        "network %s: in parts of which two fit into a buffer of %s bytes it has %s layers (layer "
        "%.100s alone %s); a network has at most %s",
        network->name, text_thousands(rule->by->buffer_byte, byte, sizeof byte),
        text_thousands(n, n_all, sizeof n_all), network->layer[most].name,
        text_thousands(layers_of(rule->parts[most].k, rule->parts[most].c), n_most, sizeof n_most),
        text_thousands(NETWORK_PART_MAX, limit, sizeof limit));
}

/* Tiles of layer l in these parts, with those of the sums: as many rows and columns as double buffering
 * leaves room for beside the weights of two parts. Not finite: they do not fit. */
static double tiles_of(const struct rule *rule, uint32_t l, uint32_t k, uint32_t c)
{
    const struct layer part = network_cut_largest(rule->network, l, k, c);
    const double room = (double)rule->by->buffer_byte, places = rule->batch * (double)part.p * part.q;
    struct need need;
    if (!parts_fit(rule, l, k, c, rule->by->share, &need))
        return INFINITY;
    const double beside = room - (2 + (need.again > 0)) * need.held;
    const double n = (double)k * c * ceil(places / floor(beside / (2 * (need.in + need.out))));
    const double sum = 2.0 * (c + 1) * part.k * soma_word_byte(rule->by);
    return c > 1 ? n + k * ceil(places / floor(room / sum)) : n;
}

/* Of a layer that is whole, or that fits in no way, every tile is in the buffer with what it reads and makes:
 * parts along K read all input channels unless they have groups of their own. */
static double least_tiles_of(const struct rule *rule, uint32_t l)
{
    const struct layer *layer = &rule->network->layer[l];
    const struct parts *parts = &rule->parts[l];
    const double doubled = parts->need.held > 0 ? tiles_of(rule, l, parts->k, parts->c) : INFINITY;
    if (isfinite(doubled) && (parts->k > 1 || parts->c > 1))
        return doubled;
    const struct layer part = network_cut_largest(rule->network, l, parts->k, parts->c);
    const double reads = parts->c > 1 || part.c == layer->c ? parts->k : 1;
    const double made = need_of(rule, layer).out * layer->p * layer->q;
    const double byte = reads * input_of(rule, layer, layer->p, layer->q) + parts->c * made;
    return rule->batch * byte / (double)rule->by->buffer_byte;
}

static double all_tiles(const struct rule *rule)
{
    double n = 0;
    for (uint32_t l = 0; l < rule->network->n_layer; l++)
        n += least_tiles_of(rule, l);
    return n;
}

/* Other parts of layer l: those that make the fewest tiles. */
static void cut_into_few_tiles(const struct rule *rule, uint32_t l)
{
    struct parts *parts = &rule->parts[l];
    const uint32_t c_max = rule->network->layer[l].c;
    double least = tiles_of(rule, l, parts->k, parts->c);
    for (uint32_t c = 1; c <= c_max; c += (c + 7) / 8)
        for (uint32_t k = fewest(rule, l, c, rule->by->share); k > 0;
             k = network_cut_k_next(rule->network, l, k + 1 + k / 8)) {
            if (c > network_cut_c_max(rule->network, l, k))
                continue;
            const double n = tiles_of(rule, l, k, c);
            if (n >= least)
                continue;
            least = n;
            parts->k = k;
            parts->c = c;
        }
    if (isfinite(least))
        (void)parts_fit(rule, l, parts->k, parts->c, rule->by->share, &parts->need);
}

/* Where parts make so many tiles that a schedule of them is not held as a whole, and twice that: those of few
 * input channels, although their partial sums go out and in again, leave room for tiles of many rows. */
static enum dse_status cut_for_few_tiles(const struct rule *rule, struct dse_error *err)
{
    if (rule->by->streams || all_tiles(rule) <= 2.0 * SOMA_TILE_MAX)
        return DSE_OK;
    for (uint32_t l = 0; l < rule->network->n_layer; l++)
        if (rule->parts[l].need.held > 0 && (rule->parts[l].k > 1 || rule->parts[l].c > 1))
            cut_into_few_tiles(rule, l);
    align_seconds(rule);
    cut_alike(rule);
    join_many(rule);
    cut_alike(rule);
    return check_number(rule, err);
}

static enum dse_status check_tiles(const struct rule *rule, struct dse_error *err)
{
    char n_tile[NUMBER_MAX], byte[NUMBER_MAX], limit[NUMBER_MAX];
    const double n = all_tiles(rule);
    if (n <= SOMA_LONG_TILE_MAX)
        return DSE_OK;
    return dse_fail(
        err, DSE_LIMIT,
        "network %s: the maps of its layers go through a buffer of %s bytes in %s tiles at "
        "least; a schedule has at most %s: take a larger buffer, or less of the network (a shorter "
        "sequence, fewer samples)",
        rule->network->name, text_thousands(rule->by->buffer_byte, byte, sizeof byte),
        text_thousands((uint64_t)fmin(n, 0x1p62), n_tile, sizeof n_tile),
        text_thousands(SOMA_LONG_TILE_MAX, limit, sizeof limit));
}

/* What follows from parts that must be. */
static enum dse_status fit_together(const struct rule *rule, struct dse_error *err)
{
    cut_besides(rule);
    if (rule->by->even)
        make_even(rule);
    align_seconds(rule);
    cut_alike(rule);
    join_many(rule);
    cut_alike(rule);
    return check_number(rule, err);
}

/* Whether one tile of each layer can be computed while the next is loaded and the last one stored. Else a
 * schedule has the finest tiles of all and loads late, and more layers would make too many of them. */
static bool fits_doubled(const struct rule *rule)
{
    for (uint32_t l = 0; l < rule->network->n_layer; l++) {
        const struct need *need = &rule->parts[l].need;
        if (2 * (need->in + need->out) > (double)rule->by->buffer_byte)
            return false;
    }
    return true;
}

/* What fits but streams its weights. */
static enum dse_status cut_streams(const struct rule *rule, struct arena *arena, bool *any,
                                   struct dse_error *err)
{
    const uint32_t n = rule->network->n_layer;
    uint32_t others = n; /* a layer can be a concatenation besides */
    if (!fits_doubled(rule))
        return DSE_OK;
    struct stream_parts *found = arena_alloc(arena, n, sizeof *found);
    DSE_TRY(arena_check(arena, "the cuts of a network", err));
    for (uint32_t l = 0; l < n; l++)
        others += (uint32_t)layers_of(rule->parts[l].k, rule->parts[l].c) - 1;
    const uint32_t left = others < NETWORK_LAYER_MAX ? NETWORK_LAYER_MAX - others : 0;
    DSE_TRY(soma_stream_parts(rule->network, rule->by, left, arena, found, err));
    for (uint32_t l = 0; l < n; l++) {
        struct parts *parts = &rule->parts[l];
        if (parts->k > 1 || parts->c > 1 || (found[l].k == 1 && found[l].c == 1))
            continue;
        parts->k = found[l].k;
        parts->c = found[l].c;
        *any = true;
    }
    return DSE_OK;
}

/* The network in the parts that were found. */
static enum dse_status cut_network(const struct rule *rule, struct arena *arena, struct soma_scheduled *out,
                                   struct dse_error *err)
{
    const struct network *network = rule->network;
    struct network_cut *cut = arena_alloc(arena, network->n_layer, sizeof *cut);
    struct network *made = arena_alloc(arena, 1, sizeof *made);
    uint32_t n = 0;
    DSE_TRY(arena_check(arena, "the cuts of a network", err));
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct parts *parts = &rule->parts[l];
        if (parts->k > 1 || parts->c > 1)
            cut[n++] = (struct network_cut){network->layer[l].name, parts->k, parts->c, parts->joined};
    }
    out->network = made;
    return network_cut(network, cut, n, arena, made, err);
}

enum dse_status soma_parts_by_rule(const struct soma_scheduled *given, const struct soma_part_rule *by,
                                   struct arena *arena, struct soma_scheduled *out, struct dse_error *err)
{
    const struct network *network = given->network;
    const struct rule rule = {by, network, given->batch,
                              arena_alloc(arena, network->n_layer, sizeof *rule.parts)};
    DSE_TRY(arena_check(arena, "the cuts of a network", err));
    *out = *given;
    for (uint32_t l = 0; l < network->n_layer; l++)
        rule.parts[l] = (struct parts){1, 1, false, by->share, need_of(&rule, &network->layer[l])};
    bool any = find_parts(&rule);
    if (any)
        DSE_TRY(fit_together(&rule, err));
    DSE_TRY(cut_streams(&rule, arena, &any, err));
    DSE_TRY(cut_for_few_tiles(&rule, err));
    DSE_TRY(check_tiles(&rule, err));
    return any ? cut_network(&rule, arena, out, err) : DSE_OK;
}

enum dse_status soma_parts_check(const struct soma_scheduled *parts, const struct soma_part_rule *by,
                                 struct dse_error *err)
{
    const struct network *network = parts->network;
    const struct rule rule = {by, network, parts->batch, NULL};
    char needs[NUMBER_MAX], has[NUMBER_MAX];
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct need need = need_of(&rule, &network->layer[l]);
        const double least = need.held + need.in + need.out;
        if (least > (double)by->buffer_byte)
            return dse_fail(
                err, DSE_LIMIT,
                "network %s: layer %.100s needs %s bytes of the buffer at least, and there are no "
                "parts of it of which two fit; the buffer has %s: take a larger one",
                network->name, network->layer[l].name, text_thousands((uint64_t)least, needs, sizeof needs),
                text_thousands(by->buffer_byte, has, sizeof has));
    }
    return DSE_OK;
}
