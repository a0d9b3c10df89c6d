/* Costs are those of the mapper core with `quick`. Guesses are a table: a tile's extents are rounded to
 * powers of 2, the mapper prices that tile in haste, and the tile takes as many cycles for each MAC. */
#include "engines/klotski/node_pricer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "costmodel/uop/accounting_maestro_kc.h"
#include "costmodel/uop/node_machine.h"
#include "engines/driver/engine.h"
#include "engines/soma/machine/core_choice.h"
#include "engines/soma/machine/quick_tile.h"

enum {
    OWN_COST_MAX = 1 << 18,
    ROUGH_EVALUATIONS = 400, /* of a round tile */
    TABLE_LEAST = 256        /* slots; a power of 2 */
};

/* A mapper behind a cache. */
struct mapper {
    struct mapper_core core;
    struct core_cached cached;
    struct core_scheduler scheduler;
};

struct slot {
    struct kc_tile tile; /* r 0: none */
    double cycle_per_mac;
};

/* Guesses of round tiles. */
struct table {
    struct slot *slot; /* (size) */
    size_t n, size;
};

struct node_pricer {
    struct mapper exact, rough;
    struct table *table; /* which a const pricer fills, too */
    uint64_t n_mac;
    struct core_cache *own; /* NULL: the caller's is used */
    const atomic_int *cancel;
};

const char *node_accounting(const struct kc_machine *machine)
{
    return machine->n_mac ? "maestro-kc-quick" : accounting_maestro_kc.name;
}

/* ---- costs ---- */

static enum dse_status ask(const struct mapper *mapper, const struct kc_tile *t, struct core_cost *cost,
                           struct dse_error *err)
{
    const uint64_t g = kc_groups(t), k = t->k * g, c = t->c * g;
    if (k > UINT32_MAX || c > UINT32_MAX)
        return dse_fail(err, DSE_LIMIT, "a uop of 2^32 channels or more; divide it");
    const struct core_tile tile = {.operation = CORE_MATRIX,
                                   .b = 1,
                                   .k = (uint32_t)k,
                                   .c = (uint32_t)c,
                                   .h = t->p,
                                   .w = t->q,
                                   .r = t->r,
                                   .s = t->s,
                                   .stride_h = t->stride_v,
                                   .stride_w = t->stride_h,
                                   .groups = (uint32_t)g};
    return mapper->scheduler.cost(mapper->scheduler.self, &tile, cost, err);
}

static bool is_cancelled(const struct node_pricer *pricer)
{
    return pricer->cancel && atomic_load_explicit(pricer->cancel, memory_order_relaxed);
}

static enum dse_status cost_of(const void *self, const struct kc_tile *tile, struct uop_cost *cost,
                               struct dse_error *err)
{
    const struct node_pricer *pricer = self;
    struct core_cost found;
    const enum dse_status status = ask(&pricer->exact, tile, &found, err);
    if (status != DSE_OK)
        return is_cancelled(pricer) ? dse_fail(err, DSE_INTERRUPTED, "interrupted") : status;
    *cost = (struct uop_cost){.cycle = found.cycle,
                              .mac_j = found.mac_energy_j,
                              .memory_j = found.buffer_energy_j + found.local_energy_j,
                              .network_j = found.bus_energy_j};
    return DSE_OK;
}

/* ---- guesses ---- */

/* The nearest power of 2, by its logarithm. */
static uint32_t rounded(uint32_t n)
{
    uint32_t power = 1;
    while ((uint64_t)power * power * 2 < (uint64_t)n * n && power < UINT32_C(1) << 31)
        power *= 2;
    return power;
}

static struct kc_tile round_tile(const struct kc_tile *tile)
{
    struct kc_tile round = *tile;
    if (round.r == 1 && round.s == 1 && round.stride_v == 1 && round.stride_h == 1 &&
        (uint64_t)round.p * round.q <= UINT32_MAX) {
        round.p *= round.q;
        round.q = 1;
    }
    round.p = rounded(round.p);
    round.q = rounded(round.q);
    round.c = rounded(round.c);
    round.k = rounded(round.k);
    round.g = rounded((uint32_t)kc_groups(tile));
    return round;
}

/* Where a tile is, or the free slot that it may have. */
static struct slot *find(struct table *table, const struct kc_tile *tile)
{
    size_t i = hash_of_bytes(tile, sizeof *tile) & (table->size - 1);
    while (table->slot[i].tile.r && memcmp(&table->slot[i].tile, tile, sizeof *tile) != 0)
        i = (i + 1) & (table->size - 1);
    return &table->slot[i];
}

/* Twice as many slots; false: there is no memory. */
static bool grow(struct table *table)
{
    struct table larger = {.n = table->n, .size = table->size ? 2 * table->size : TABLE_LEAST};
    larger.slot = calloc(larger.size, sizeof *larger.slot);
    if (!larger.slot)
        return false;
    for (size_t i = 0; i < table->size; i++)
        if (table->slot[i].tile.r)
            *find(&larger, &table->slot[i].tile) = table->slot[i];
    free(table->slot);
    *table = larger;
    return true;
}

/* Where the mapper finds nothing, or is stopped, all MAC units are busy: what is offered is priced anyway. */
static double price_round(const struct node_pricer *pricer, const struct kc_tile *round)
{
    struct core_cost cost;
    struct dse_error ignored = {0};
    const double least = 1 / (double)pricer->n_mac;
    if (is_cancelled(pricer) || ask(&pricer->rough, round, &cost, &ignored) != DSE_OK)
        return least;
    return fmax(least, (double)cost.cycle / (double)kc_macs(round));
}

static uint64_t guess_of(const void *self, const struct kc_tile *tile)
{
    const struct node_pricer *pricer = self;
    struct table *table = pricer->table;
    const struct kc_tile round = round_tile(tile);
    double cycle_per_mac;
    if (2 * (table->n + 1) > table->size && !grow(table)) {
        cycle_per_mac = price_round(pricer, &round);
    } else {
        struct slot *slot = find(table, &round);
        if (!slot->tile.r) {
            *slot = (struct slot){round, price_round(pricer, &round)};
            table->n++;
        }
        cycle_per_mac = slot->cycle_per_mac;
    }
    return (uint64_t)ceil(cycle_per_mac * (double)kc_macs(tile));
}

/* ---- */

static enum dse_status open_mapper(const struct core_split *node, uint64_t max_evaluations,
                                   const atomic_int *cancel, struct core_cache *cache, struct mapper *mapper,
                                   struct dse_error *err)
{
    const struct engine *engine = engine_find("descent");
    if (!engine)
        return dse_fail(err, DSE_INTERNAL, "there is no engine descent for the nodes of a mesh");
    DSE_TRY(mapper_core_init(node, engine, NULL, max_evaluations, &mapper->core, err));
    mapper->core.quick = true;
    mapper->core.cancel = cancel;
    DSE_TRY(mapper_core_join(cache, &mapper->core, &mapper->cached, err));
    mapper->core.shared = &mapper->cached;
    mapper->scheduler = quick_tile_scheduler(&mapper->cached);
    return DSE_OK;
}

enum dse_status node_pricer_new(const struct architecture *arch, struct core_cache *cache,
                                const atomic_int *cancel, struct arena *arena, struct kc_machine *machine,
                                struct node_pricer **out, struct dse_error *err)
{
    struct core_split node;
    *out = NULL;
    DSE_TRY(node_machine_of(arch, machine, &node, err));
    if (!machine->n_mac)
        return DSE_OK;
    struct node_pricer *pricer = arena_alloc(arena, 1, sizeof *pricer);
    DSE_TRY(arena_check(arena, "a node's pricer", err));
    pricer->table = arena_alloc(arena, 1, sizeof *pricer->table);
    DSE_TRY(arena_check(arena, "a node's pricer", err));
    pricer->n_mac = machine->n_mac;
    pricer->cancel = cancel;
    *out = pricer;
    if (!cache)
        DSE_TRY(core_cache_new(OWN_COST_MAX, &pricer->own, err));
    cache = cache ? cache : pricer->own;
    DSE_TRY(open_mapper(&node, SOMA_CORE_EVALUATIONS, cancel, cache, &pricer->exact, err));
    DSE_TRY(open_mapper(&node, ROUGH_EVALUATIONS, cancel, cache, &pricer->rough, err));
    machine->pricer = (struct uop_pricer){pricer, guess_of, cost_of};
    return DSE_OK;
}

void node_pricer_delete(struct node_pricer *pricer)
{
    if (!pricer)
        return;
    core_cache_free(pricer->own);
    free(pricer->table->slot);
}
