/* The same rule with other numbers, and no parts at all. */
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
            layer_weight_words(&network->layer[l]) * rule->word_byte > rule->buffer_byte)
            return false;
    return true;
}

enum dse_status plus_parts(const struct soma_task *ruled, struct arena *arena,
                           struct soma_scheduled other[PLUS_PARTS], uint32_t *n, struct dse_error *err)
{
    const struct schedule_pricer *pricer = ruled->core.pricer;
    struct soma_part_rule rule = {.buffer_byte = ruled->search.machine.buffer_byte,
                                  .word_byte = ruled->graph.word_byte,
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
