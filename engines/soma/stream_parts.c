/* Bytes over parts are looked at for numbers along K that grow by a sixteenth, and for powers of 2 along C; a
 * number that leaves all parts alike is worth some bytes, since such tiles fill a mesh. Where the parts would
 * be more than there may be, each costs something, as little as keeps to that: what gains most by its parts
 * has them. */
#include "engines/soma/stream_parts.h"

#include <math.h>

#include "costmodel/model/network_cut.h"

/* Less than this share of the bytes makes up for what parts wait for one another, and for partial sums. */
static const double worth = 0.8;

/* So many more bytes, and so many times the parts, for parts that are alike. */
static const double alike_bytes = 1.2, alike_parts = 1.5;

enum {
    C_MAX = 64, /* parts along input channels */
    TRANSFERS_MAX = 10000000,
    PRICE_STEPS = 6 /* of a part's price, each halving the range in which it is on a scale of powers */
};

struct streaming {
    const struct network *network;
    const struct soma_part_rule *rule;
    double part_byte; /* what a part costs */
    bool *stays;      /* (n_layer) whether weights that fit stay */
};

/* Of the largest part: inputs and outputs of a sample, weights or second operand. */
struct words {
    double in, out, weight;
};

/* A table of rows has no level of its own (graph.h). */
static uint64_t weight_words(const struct layer *layer)
{
    if (layer->type == LAYER_EMBEDDING)
        return 0;
    return layer->type == LAYER_MATMUL ? layer_second_operand_words(layer) : layer_weight_words(layer);
}

static struct words words_of(const struct layer *part)
{
    return (struct words){.in = (double)part->c * part->h * part->w,
                          .out = (double)part->k * part->p * part->q,
                          .weight = (double)weight_words(part)};
}

/* So many tiles at least: one, or double-buffered. */
static double tiles_of(const struct streaming *s, const struct words *words)
{
    const double filled = (words->in + words->out) * soma_word_byte(s->rule) / (double)s->rule->buffer_byte;
    return filled <= 1 ? 1 : ceil(2 * filled);
}

/* What layer l moves but for its outputs, which it does once, with what the parts cost. */
static double price(const struct streaming *s, uint32_t l, struct stream_parts parts)
{
    const struct layer part = network_cut_largest(s->network, l, parts.k, parts.c);
    const struct words words = words_of(&part);
    const bool stays = s->stays[l] && words.weight <= (double)s->rule->stay_word;
    const double moved = words.weight * (stays ? 1 : tiles_of(s, &words)) + words.in;
    const double sums = parts.c > 1 ? 2 * words.out : 0, n = (double)parts.k * parts.c;
    return n * ((moved + sums) * soma_word_byte(s->rule) + (n > 1 ? s->part_byte : 0));
}

/* The least number along K of parts that are alike, not much more than these and hardly worse; else these. */
static struct stream_parts alike(const struct streaming *s, uint32_t l, struct stream_parts parts)
{
    const struct layer *layer = &s->network->layer[l];
    const uint32_t most = (uint32_t)(alike_parts * parts.k), groups = layer_operand_groups(layer);
    for (uint32_t n = parts.k; n > 0 && n <= most; n = network_cut_k_next(s->network, l, n + 1)) {
        const struct stream_parts now = {n, parts.c};
        if ((n < groups ? groups : layer->k) % n == 0 && parts.c <= network_cut_c_max(s->network, l, n))
            return price(s, l, now) <= alike_bytes * price(s, l, parts) ? now : parts;
    }
    return parts;
}

static struct stream_parts best_parts(const struct streaming *s, uint32_t l)
{
    struct stream_parts best = {1, 1};
    double least = worth * price(s, l, best);
    for (uint32_t c = 1; c <= C_MAX; c *= 2) {
        for (uint32_t k = 1; k > 0; k = network_cut_k_next(s->network, l, k + 1 + k / 16)) {
            const struct stream_parts now = {k, c};
            if (c > network_cut_c_max(s->network, l, k) || s->network->layer[l].c % c != 0)
                continue;
            const double cost = price(s, l, now);
            if (cost < least * (c > best.c ? worth : 1)) {
                least = cost;
                best = now;
            }
        }
    }
    return best.k > 1 || best.c > 1 ? alike(s, l, best) : best;
}

/* The same layer of a block's first repetition; l: there is none before. */
static uint32_t first_of(const struct network *network, uint32_t l)
{
    for (uint32_t r = 0; r < network->n_repeat; r++) {
        const struct network_repeat *repeat = &network->repeat[r];
        if (l >= repeat->first_layer && l - repeat->first_layer < repeat->n_layer * repeat->times)
            return repeat->first_layer + (l - repeat->first_layer) % repeat->n_layer;
    }
    return l;
}

/* Whether the mapping of a tile of layer l in these parts leaves the weights where they are. */
static enum dse_status ask(const struct streaming *s, uint32_t l, struct stream_parts parts, bool *stays,
                           struct dse_error *err)
{
    const struct layer part = network_cut_largest(s->network, l, parts.k, parts.c);
    const struct words words = words_of(&part);
    const double tiles = tiles_of(s, &words), rows = fmax(1, floor(part.p / tiles));
    const double columns = fmax(1, floor(part.p * (double)part.q / (tiles * rows)));
    const struct core_tile tile =
        core_tile_of(&part, 1, part.k, (uint32_t)rows, (uint32_t)fmin(columns, part.q));
    struct core_cost cost = {0};
    *stays = true;
    if (words.weight > (double)s->rule->stay_word || tiles == 1)
        return DSE_OK;
    const enum dse_status status = s->rule->core->cost(s->rule->core->self, &tile, &cost, err);
    *stays = status == DSE_OK && cost.stream_share <= 1;
    return status == DSE_BAD_INPUT ? DSE_OK : status;
}

/* Where they do not with the parts that are best if they do, they are taken to do with none. */
static enum dse_status find_stays(const struct streaming *s, struct dse_error *err)
{
    for (uint32_t l = 0; l < s->network->n_layer; l++) {
        const uint32_t first = first_of(s->network, l);
        s->stays[l] = first < l ? s->stays[first] : true;
        if (first == l && weight_words(&s->network->layer[l]) > 0)
            DSE_TRY(ask(s, l, best_parts(s, l), &s->stays[l], err));
    }
    return DSE_OK;
}

/* How many layers that makes. */
static uint64_t find_parts(const struct streaming *s, struct stream_parts *parts)
{
    uint64_t n = 0;
    for (uint32_t l = 0; l < s->network->n_layer; l++) {
        const uint32_t first = first_of(s->network, l);
        parts[l] = (struct stream_parts){1, 1};
        if (first < l)
            parts[l] = parts[first];
        else if (weight_words(&s->network->layer[l]) > 0)
            parts[l] = best_parts(s, l);
        n += (uint64_t)parts[l].k * (parts[l].c + (parts[l].c > 1));
    }
    return n;
}

/* What the DRAM moves for them one after the other: of each part for each of its tiles weights, outputs, and
 * inputs from each part of what makes these. */
static double transfers(const struct streaming *s, const struct stream_parts *parts)
{
    double n = 0;
    for (uint32_t l = 0; l < s->network->n_layer; l++) {
        const struct layer *layer = &s->network->layer[l];
        const struct layer part = network_cut_largest(s->network, l, parts[l].k, parts[l].c);
        const struct words words = words_of(&part);
        double loads = 0;
        for (uint32_t i = 0; i < layer->n_producer; i++)
            loads += layer->producer[i] < 0 ? 1 : fmax(1, (double)parts[layer->producer[i]].k / parts[l].c);
        n += parts[l].k * parts[l].c * tiles_of(s, &words) * (2 + loads);
    }
    return n;
}

/* Whether they are too many for a network, or for a schedule to be handled in seconds. */
static bool too_many(const struct streaming *s, uint32_t n_max, struct stream_parts *parts)
{
    return find_parts(s, parts) > n_max || transfers(s, parts) > TRANSFERS_MAX;
}

static void set_whole(const struct network *network, struct stream_parts *parts)
{
    for (uint32_t l = 0; l < network->n_layer; l++)
        parts[l] = (struct stream_parts){1, 1};
}

enum dse_status soma_stream_parts(const struct network *network, const struct soma_part_rule *rule,
                                  uint32_t n_max, struct arena *arena, struct stream_parts *parts,
                                  struct dse_error *err)
{
    struct streaming s = {network, rule, 0, NULL};
    double too_little = 0, enough = 1;
    set_whole(network, parts);
    if (rule->streams != 1u << TENSOR_WEIGHT || !rule->core || network->n_layer > n_max)
        return DSE_OK;
    s.stays = arena_alloc(arena, network->n_layer, sizeof *s.stays);
    DSE_TRY(arena_check(arena, "the cuts of a network", err));
    DSE_TRY(find_stays(&s, err));
    if (!too_many(&s, n_max, parts))
        return DSE_OK;
    for (s.part_byte = enough; too_many(&s, n_max, parts); s.part_byte = enough) {
        too_little = enough;
        enough *= 4;
        if (enough > 0x1p60) { /* without any parts, too */
            set_whole(network, parts);
            return DSE_OK;
        }
    }
    for (int i = 0; i < PRICE_STEPS; i++) {
        s.part_byte = sqrt(too_little * enough);
        *(too_many(&s, n_max, parts) ? &too_little : &enough) = s.part_byte;
    }
    s.part_byte = enough;
    (void)find_parts(&s, parts);
    return DSE_OK;
}
