/* A direct-mapped table that compares hashes alone; the hash leaves out what cannot change a cost (unit
 * loops, except where the accounting looks at the place of spatial ones). */
#include "engines/driver/price_memo.h"

enum dse_status price_memo_new(struct price_memo *memo, struct engine_context *context, struct arena *arena,
                               struct dse_error *err)
{
    *memo = (struct price_memo){.context = context};
    memo->entry = arena_alloc(arena, PRICE_MEMO_SIZE, sizeof *memo->entry);
    return arena_check(arena, "the known prices of a search", err);
}

/* Multiply by the golden ratio, fold the high half down. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

uint64_t price_memo_hash(const struct mapping *mapping, bool orders_spatial)
{
    enum { SPATIAL_X = 1 << 6, SPATIAL_Y = 1 << 7 };
    uint64_t hash = 1;
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        const struct mapping_level *level = &mapping->level[l];
        hash = mix(hash, 1ull << 60 | (uint64_t)level->further << 8 | level->keep);
        for (uint32_t i = 0; i < mapping->n_dim; i++) {
            uint32_t d = level->temporal_order[i];
            bool spread = orders_spatial && l + 1u < mapping->n_level && level[1].spatial[d] > 1;
            if (level->temporal[d] > 1 || spread)
                hash = mix(hash, (uint64_t)level->temporal[d] << 8 | d);
        }
        for (uint32_t i = 0; i < mapping->n_dim; i++) {
            uint32_t d = level->spatial_order[i];
            if (level->spatial[d] > 1)
                hash = mix(hash,
                           (uint64_t)level->spatial[d] << 8 | d | (i < level->split ? SPATIAL_X : SPATIAL_Y));
        }
    }
    return hash ? hash : 1;
}

struct price_memo_entry *price_memo_at(struct price_memo *memo, uint64_t hash)
{
    return &memo->entry[hash % PRICE_MEMO_SIZE];
}

bool price_memo_price(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    struct price_memo *memo = self;
    struct engine_context *context = memo->context;
    uint64_t hash = price_memo_hash(mapping, engine_context_accounting(context)->orders_spatial);
    struct price_memo_entry *known = price_memo_at(memo, hash);
    if (known->hash != hash) {
        double found;
        if (!engine_context_evaluate(context, mapping, &found))
            return false;
        *known = (struct price_memo_entry){hash, memo->guide ? memo->guide(memo->guide_self, found) : found,
                                           engine_context_last(context)->edp_js};
    }
    *cost = known->cost;
    *tie = known->tie;
    return true;
}
