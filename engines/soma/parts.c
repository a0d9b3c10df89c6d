/* The rule goes over the network's order again and again, and cuts one layer of a pair that does not fit,
 * until all do. */
#include "engines/soma/parts.h"

#include "base/yaml.h"
#include "costmodel/model/network_cut.h"
#include "engines/soma/stream_parts.h"

/* ---- by a text ---- */

static enum dse_status read_cut(const struct yaml_doc *doc, const struct ynode *node,
                                const struct network *network, struct network_cut *cut, struct dse_error *err)
{
    static const char *const key[] = {"layer", "outputs", "inputs"};
    const struct ynode *layer = NULL, *outputs = yaml_find(node, "outputs"),
                       *inputs = yaml_find(node, "inputs");
    uint64_t k = 1, c = 1;
    struct dse_error inner = {0};
    DSE_TRY(yaml_check_keys(doc, node, "a cut", key, sizeof key / sizeof *key, err));
    DSE_TRY(yaml_require(doc, node, "a cut", "layer", &layer, err));
    DSE_TRY(yaml_text(doc, layer, "layer", &cut->layer, err));
    if (outputs)
        DSE_TRY(yaml_u64(doc, outputs, "outputs", 1, NETWORK_DIM_MAX, &k, err));
    if (inputs)
        DSE_TRY(yaml_u64(doc, inputs, "inputs", 1, NETWORK_DIM_MAX, &c, err));
    cut->k = (uint32_t)k;
    cut->c = (uint32_t)c;
    return network_cut_check(network, cut, &inner) == DSE_OK
               ? DSE_OK
               : yaml_fail(doc, node, err, "%.700s", inner.text);
}

static enum dse_status read_cuts(const struct yaml_doc *doc, const struct soma_scheduled *given,
                                 struct arena *arena, struct soma_scheduled *out, struct dse_error *err)
{
    const struct ynode *cuts = yaml_find(doc->root, "cuts");
    struct dse_error inner = {0};
    *out = *given;
    if (!cuts)
        return DSE_OK;
    DSE_TRY(yaml_is_sequence(doc, cuts, "cuts", err));
    struct network_cut *cut = arena_alloc(arena, cuts->n_item, sizeof *cut);
    struct network *made = arena_alloc(arena, 1, sizeof *made);
    DSE_TRY(arena_check(arena, "the cuts of a schedule", err));
    for (size_t i = 0; i < cuts->n_item; i++)
        DSE_TRY(read_cut(doc, cuts->item[i], given->network, &cut[i], err));
    const enum dse_status status =
        network_cut(given->network, cut, (uint32_t)cuts->n_item, arena, made, &inner);
    out->network = made;
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, doc->path, cuts->line, "%.700s", inner.text);
}

enum dse_status soma_parts_read(const char *name, const char *bytes, size_t length,
                                const struct soma_scheduled *given, struct arena *arena,
                                struct soma_scheduled *out, struct dse_error *err)
{
    struct yaml_doc doc;
    DSE_TRY(yaml_parse(&doc, name, bytes, length, err));
    const enum dse_status status = read_cuts(&doc, given, arena, out, err);
    yaml_doc_free(&doc);
    return status;
}

/* ---- by the rule ---- */

/* Bytes of a layer with tiles of one output position. */
struct need {
    double held;  /* weights, or a second operand */
    double again; /* a second operand that the next tile loads meanwhile */
    double in, out;
};

/* How the rule cuts a layer, and the need of its largest part. */
struct parts {
    uint32_t k, c;
    double share; /* of the buffer that two parts may take, when it is cut next */
    struct need need;
};

struct rule {
    const struct soma_part_rule *by;
    const struct network *network;
    struct parts *parts; /* (n_layer) */
};

/* Bytes of the buffer that a layer's weights, or its second operand, take. A table of rows has no place there
 * (graph.h). */
static double room_of(const struct rule *rule, const struct layer *layer)
{
    const bool streams = rule->by->streams >> TENSOR_WEIGHT & 1u;
    if (streams || layer->type == LAYER_EMBEDDING)
        return 0;
    const uint64_t words =
        layer->type == LAYER_MATMUL ? layer_second_operand_words(layer) : layer_weight_words(layer);
    return (double)words * rule->by->word_byte;
}

/* Input rows (or columns) of one output row at least; padding may be among them. */
static double rows_of(const struct layer *layer, int direction)
{
    const uint32_t filter = direction == 0 ? layer->r : layer->s;
    if (layer->type != LAYER_CONV && layer->type != LAYER_POOL)
        return 1;
    const uint32_t pads = layer->pad[direction] + layer->pad[direction + 2];
    return filter > pads ? filter - pads : 1;
}

/* Every tile loads the second operand, the next one while this one is computed; unless there is but one. */
static bool is_reloaded(const struct rule *rule, const struct layer *layer)
{
    const double words =
        (double)layer_second_operand_words(layer) + ((double)layer->c + layer->k) * layer->p * layer->q;
    return layer->type == LAYER_MATMUL && words * rule->by->word_byte > (double)rule->by->buffer_byte;
}

static struct need need_of(const struct rule *rule, const struct layer *layer)
{
    const double word = rule->by->word_byte, place = rows_of(layer, 0) * rows_of(layer, 1);
    const double held = room_of(rule, layer);
    const uint32_t channels = layer->type == LAYER_EMBEDDING ? layer->k + 1 : layer->c; /* an index, a row */
    return (struct need){
        .held = held,
        .again = is_reloaded(rule, layer) ? held : 0,
        .in = rule->by->streams >> TENSOR_INPUT & 1u ? 0 : (double)channels * layer->n_operand * place * word,
        .out = (double)layer->k * word};
}

/* Two parts one behind the other, both double-buffered; the sum of parts along C is no smaller matter. All of
 * the buffer is the last resort, where one of them need not load its second operand again. */
static bool parts_fit(const struct rule *rule, uint32_t l, uint32_t k, uint32_t c, double share,
                      struct need *need)
{
    const struct layer part = network_cut_largest(rule->network, l, k, c);
    const double room = share * (double)rule->by->buffer_byte, word = rule->by->word_byte;
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

/* Into more parts than it is in, of which two fit into `share`. */
static bool cut_into(const struct rule *rule, uint32_t l, double share)
{
    struct parts *parts = &rule->parts[l];
    for (uint32_t c = 1; c <= NETWORK_LAYER_MAX; c += (c + 3) / 4) {
        const uint32_t k = fewest(rule, l, c, share);
        if (k == 0 || (uint64_t)k * (c + 1) > NETWORK_LAYER_MAX)
            continue;
        if (k == parts->k && c == parts->c)
            return false;
        parts->k = k;
        parts->c = c;
        return parts_fit(rule, l, k, c, share, &parts->need);
    }
    return false;
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

/* A layer (or its last part) in the buffer with what is loaded ahead: of the next one during its last tile;
 * `next` NULL: of its own next tile. */
static bool pair_fits(const struct rule *rule, const struct need *one, const struct need *next)
{
    const double after = next ? next->held + next->in : one->again;
    return one->held + one->in + one->out + after <= (double)rule->by->buffer_byte;
}

/* Cut one of the two until they fit, or neither can be cut any more. Whether one was. */
static bool fit_pair(const struct rule *rule, uint32_t one, uint32_t next)
{
    const struct need *a = &rule->parts[one].need, *b = &rule->parts[next].need;
    bool any = false;
    while (!pair_fits(rule, a, b)) {
        const uint32_t first = a->held >= b->held ? one : next, second = first == one ? next : one;
        if (!cut_further(rule, first) && !cut_further(rule, second))
            break;
        any = true;
    }
    return any;
}

/* The same with a layer by itself. */
static bool fit_alone(const struct rule *rule, uint32_t l)
{
    const struct parts *parts = &rule->parts[l];
    bool any = false;
    while (!pair_fits(rule, &parts->need, NULL) && cut_further(rule, l))
        any = true;
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

/* Where parts are needed anyway: those of a matmul load less second operands in all. */
static void cut_matmuls(const struct rule *rule)
{
    struct need need;
    for (uint32_t l = 0; l < rule->network->n_layer; l++) {
        const struct parts *parts = &rule->parts[l];
        const struct layer part = network_cut_largest(rule->network, l, parts->k, parts->c);
        if (is_reloaded(rule, &part) && !parts_fit(rule, l, parts->k, parts->c, rule->by->share, &need))
            (void)cut_further(rule, l);
    }
}

/* What fits but streams its weights. */
static enum dse_status cut_streams(const struct rule *rule, struct arena *arena, bool *any,
                                   struct dse_error *err)
{
    const uint32_t n = rule->network->n_layer;
    uint32_t others = n; /* a layer can be a concatenation besides */
    struct stream_parts *found = arena_alloc(arena, n, sizeof *found);
    DSE_TRY(arena_check(arena, "the cuts of a network", err));
    for (uint32_t l = 0; l < n; l++)
        others += rule->parts[l].k * (rule->parts[l].c + 1) - 2;
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

/* The network in the parts that were found; as it is when they are too many for one. */
static enum dse_status cut_network(const struct rule *rule, struct arena *arena, struct soma_scheduled *out,
                                   struct dse_error *err)
{
    const struct network *network = rule->network;
    struct network_cut *cut = arena_alloc(arena, network->n_layer, sizeof *cut);
    struct network *made = arena_alloc(arena, 1, sizeof *made);
    uint32_t n = 0;
    DSE_TRY(arena_check(arena, "the cuts of a network", err));
    cut_matmuls(rule);
    cut_alike(rule);
    for (uint32_t l = 0; l < network->n_layer; l++)
        if (rule->parts[l].k > 1 || rule->parts[l].c > 1)
            cut[n++] = (struct network_cut){network->layer[l].name, rule->parts[l].k, rule->parts[l].c};
    struct dse_error inner = {0};
    const enum dse_status status = network_cut(network, cut, n, arena, made, &inner);
    if (status == DSE_OK)
        out->network = made;
    return status == DSE_LIMIT || status == DSE_OK ? DSE_OK : dse_fail(err, status, "%s", inner.text);
}

enum dse_status soma_parts_by_rule(const struct soma_scheduled *given, const struct soma_part_rule *by,
                                   struct arena *arena, struct soma_scheduled *out, struct dse_error *err)
{
    const struct network *network = given->network;
    const struct rule rule = {by, network, arena_alloc(arena, network->n_layer, sizeof *rule.parts)};
    DSE_TRY(arena_check(arena, "the cuts of a network", err));
    *out = *given;
    for (uint32_t l = 0; l < network->n_layer; l++)
        rule.parts[l] = (struct parts){1, 1, by->share, need_of(&rule, &network->layer[l])};
    bool any = find_parts(&rule);
    DSE_TRY(cut_streams(&rule, arena, &any, err));
    return any ? cut_network(&rule, arena, out, err) : DSE_OK;
}
