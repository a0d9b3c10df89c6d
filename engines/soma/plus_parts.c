/* The same rule with other numbers, and no parts at all; layers of one network in two kinds of parts stand in
 * the same order. */
#include "engines/soma/plus_parts.h"

#include <string.h>

#include "costmodel/model/network_cut.h"
#include "engines/soma/parts.h"

/* What differs from the rule (parts.h). */
static const struct {
    double share;
    bool all, even;
} variant[] = {{0.5, false, false}, {0.35, false, false}, {0.65, true, false},
               {0.5, true, false},  {0.35, true, false},  {1, true, true},
               {0.75, true, true},  {0.5, true, true},    {0.35, true, true}};

enum { N_VARIANT = sizeof variant / sizeof *variant };

_Static_assert(N_VARIANT + 1 == PLUS_PARTS, "and the network uncut");

static bool are_alike(const struct network *a, const struct network *b)
{
    bool same = a->n_cut == b->n_cut;
    for (uint32_t i = 0; same && i < a->n_cut; i++)
        same = strcmp(a->cut[i].layer, b->cut[i].layer) == 0 && a->cut[i].k == b->cut[i].k &&
               a->cut[i].c == b->cut[i].c && a->cut[i].joined == b->cut[i].joined;
    return same;
}

static void add(const struct soma_scheduled *one, const struct soma_task *ruled, struct soma_scheduled *other,
                uint32_t *n)
{
    bool is_new = !are_alike(one->network, ruled->scheduled.network);
    for (uint32_t i = 0; i < *n; i++)
        is_new = is_new && !are_alike(one->network, other[i].network);
    if (is_new)
        other[(*n)++] = *one;
}

/* Whether the buffer holds the weights of each layer, so that there may be a schedule of it uncut. */
static bool may_be_whole(const struct network *network, const struct soma_part_rule *rule)
{
    for (uint32_t l = 0; l < network->n_layer; l++)
        if (network->layer[l].type != LAYER_EMBEDDING &&
            fused_words_byte(layer_weight_words(&network->layer[l]), rule->word_bit) > rule->buffer_byte)
            return false;
    return true;
}

enum dse_status plus_parts(const struct soma_task *ruled, struct arena *arena,
                           struct soma_scheduled other[PLUS_PARTS], uint32_t *n, struct dse_error *err)
{
    const struct schedule_pricer *pricer = ruled->core.pricer;
    struct soma_part_rule rule = {.buffer_byte = ruled->search.machine.buffer_byte,
                                  .word_bit = ruled->graph.word_bit,
                                  .streams = ruled->graph.streams,
                                  .stay_word = pricer->stay_word,
                                  .core = &pricer->tile};
    struct soma_scheduled whole, parts;
    *n = 0;
    DSE_TRY(soma_scheduled_network(ruled->task->network, ruled->task->batch, ruled->search.context.compat,
                                   arena, &whole, err));
    for (size_t i = 0; i < N_VARIANT; i++) {
        rule.share = variant[i].share;
        rule.all = variant[i].all;
        rule.even = variant[i].even;
        struct dse_error inner = {0};
        const enum dse_status status = soma_parts_by_rule(&whole, &rule, arena, &parts, &inner);
        if (status == DSE_LIMIT || (status == DSE_OK && parts.network->n_layer > NETWORK_LAYER_MAX))
            continue; /* too many, or too many for a second search */
        if (status != DSE_OK)
            return dse_fail(err, status, "%s", inner.text);
        add(&parts, ruled, other, n);
    }
    if (may_be_whole(whole.network, &rule))
        add(&whole, ruled, other, n);
    return DSE_OK;
}

/* ---- a fusion in other parts ---- */

/* How many layers from l on are parts of one layer, sums of such or their concatenation: they stand together,
 * and have its name before the mark. */
static uint32_t parts_from(const struct network *network, uint32_t l)
{
    const char *name = network->layer[l].name, *mark = strrchr(name, '#');
    uint32_t past = l + 1;
    while (mark && past < network->n_layer &&
           strncmp(network->layer[past].name, name, (size_t)(mark - name) + 1) == 0)
        past++;
    return past - l;
}

/* Whether two layers are the same one, or parts of it. */
static bool are_of_one(const char *a, const char *b)
{
    const size_t length = strcspn(a, "#");
    return length == strcspn(b, "#") && memcmp(a, b, length) == 0;
}

/* For each layer of `to` the one of `from` that it comes with: the last that has a share of its channels.
 * False: the two are not the same network in parts. */
static bool find_origins(const struct network *from, const struct network *to, uint32_t *origin)
{
    uint32_t a = 0, b = 0;
    while (a < from->n_layer && b < to->n_layer) {
        const uint64_t n = parts_from(from, a), m = parts_from(to, b);
        if (!are_of_one(from->layer[a].name, to->layer[b].name))
            return false;
        for (uint64_t j = 0; j < m; j++)
            origin[b + j] = a + (uint32_t)(((j + 1) * n + m - 1) / m - 1);
        a += (uint32_t)n;
        b += (uint32_t)m;
    }
    return a == from->n_layer && b == to->n_layer;
}

static uint32_t latest(const uint32_t *place, int32_t producer, uint32_t place_now)
{
    return producer >= 0 && place[producer] > place_now ? place[producer] : place_now;
}

/* In which place of the fusion's order each layer of `to` stands, in its network's order behind the others
 * there. `at` (lfa->n_layer) is working memory. */
static void find_places(const struct soma_lfa *lfa, const struct network *to, const uint32_t *origin,
                        uint32_t *at, uint32_t *place)
{
    for (uint32_t i = 0; i < lfa->n_layer; i++)
        at[lfa->order[i]] = i;
    for (uint32_t i = 0; i < to->n_layer; i++) {
        const uint32_t l = to->order[i];
        const struct layer *layer = &to->layer[l];
        place[l] = latest(place, layer->weight_producer, at[origin[l]]);
        for (uint32_t k = 0; k < layer->n_producer; k++)
            place[l] = latest(place, layer->producer[k], place[l]);
    }
}

/* `first` (n_place + 1) is working memory. */
static void sort_by_place(uint32_t n_place, const struct network *to, const uint32_t *place, uint32_t *first,
                          uint32_t *order)
{
    memset(first, 0, ((size_t)n_place + 1) * sizeof *first);
    for (uint32_t l = 0; l < to->n_layer; l++)
        first[place[l] + 1]++;
    for (uint32_t i = 0; i < n_place; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < to->n_layer; i++)
        order[first[place[to->order[i]]]++] = to->order[i];
}

/* A group begins where the place is in another one than the place before. */
static void set_groups(const struct soma_lfa *lfa, const uint32_t *place, struct plus_point *out)
{
    uint32_t g = 0;
    uint8_t border = PLUS_CUT;
    for (uint32_t i = 0; i < out->n_layer; i++) {
        for (; g + 1 < lfa->n_flc && lfa->flc[g + 1] <= place[out->order[i]]; g++)
            border = lfa->dram_cut[g + 1] || border == PLUS_CUT ? PLUS_CUT : PLUS_GROUP;
        out->tiling[i] = lfa->tiling[g];
        out->border[i] = border;
        border = PLUS_NONE;
    }
}

enum dse_status plus_translate(const struct network *from, const struct soma_lfa *lfa, const int32_t *lead,
                               const struct network *to, struct arena *arena, struct plus_point *out,
                               bool *is_same, struct dse_error *err)
{
    uint32_t *origin = arena_alloc(arena, to->n_layer, sizeof *origin);
    uint32_t *place = arena_alloc(arena, to->n_layer, sizeof *place);
    uint32_t *at = arena_alloc(arena, (size_t)from->n_layer + 1, sizeof *at);
    DSE_TRY(arena_check(arena, "a fusion in other parts", err));
    *is_same = find_origins(from, to, origin);
    if (!*is_same)
        return DSE_OK;
    find_places(lfa, to, origin, at, place);
    sort_by_place(lfa->n_layer, to, place, at, out->order);
    set_groups(lfa, place, out);
    for (uint32_t l = 0; l < to->n_layer; l++)
        out->lead[l] = lead[origin[l]];
    return DSE_OK;
}
