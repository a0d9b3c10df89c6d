/* A quick price with one prefetching rule; and polishing, which tries all rules and then walks over orders
 * of the loads. */
#include "engines/soma/search/plus_price.h"

#include <math.h>
#include <string.h>

#include "costmodel/fused/fused_rule.h"
#include "engines/search/annealing.h"
#include "engines/soma/search/dlsa_bound.h"
#include "engines/soma/search/prefetch.h"

enum { LOOK_AHEAD = 16, LOOK_FAR = 64, REACH = 12, MANY = 300 };

static const double WORTH = 0.01, ROUNDING = 1e-9; /* of the cycles */

/* From so many tensors on, orders are tried until they have had so many together. */
static const double FEW_TENSORS = 1e5, TENSORS_MAX = 8e6;

static const struct soma_prefetch_options usual = {SOMA_STORE_LATE, SOMA_FILL_ANY, LOOK_AHEAD};

/* Energy, and the cycles of the busier engine: no DRAM order is better. */
static void price_bound(const struct soma_search *search, const struct fused_schedule *schedule,
                        struct soma_price *price)
{
    uint64_t compute = 0, dram = 0, byte[FUSED_N_WAY] = {0};
    double energy = 0;
    for (uint32_t x = 0; x < schedule->n_tile; x++) {
        energy += schedule->tile[x].energy_j;
        compute += schedule->tile[x].cycle;
    }
    for (uint32_t k = 0; k < schedule->n_dram; k++) {
        const struct fused_tensor *moved = &schedule->tensor[schedule->dram_order[k]];
        byte[fused_way(moved)] += moved->dram_byte;
        dram += fused_transfer_cycle(moved, &search->machine);
    }
    price->energy_j = energy + fused_dram_energy_j(byte, &search->machine);
    price->cycle = compute > dram ? compute : dram;
    price->cost = soma_cost(search, price->energy_j, price->cycle);
}

static enum dse_status parse(const struct soma_search *search, const struct soma_lfa *lfa,
                             struct arena *arena, struct fused_schedule *schedule, struct soma_price *price,
                             struct dse_error *err)
{
    struct soma_fault_info fault;
    *price = (struct soma_price){.cost = INFINITY};
    DSE_TRY(soma_parse(&search->context, lfa, arena, schedule, &fault, err));
    if (fault.what == SOMA_OK && !soma_context_gives_up(&search->context, schedule->n_tile))
        price_bound(search, schedule, price);
    return DSE_OK;
}

/* Ways to move the same tensors; the schedule has the best so far. */
struct trial {
    const struct soma_search *search;
    struct fused_schedule *schedule;
    struct soma_prefetcher *prefetcher;
    uint32_t n_load;
    uint32_t *order; /* (n_load) */
    double *key;     /* (n_load) */
    uint32_t full;   /* without a prefetcher: the tile that does not fit */
    uint64_t cycle;  /* of the best; FUSED_NEVER: none fits */
    uint64_t left;   /* schedules that may be looked at */
};

static enum dse_status trial_new(const struct soma_search *search, struct fused_schedule *schedule,
                                 struct arena *arena, struct trial *t, struct dse_error *err)
{
    *t = (struct trial){.search = search, .schedule = schedule, .cycle = FUSED_NEVER, .left = 1};
    DSE_TRY(soma_prefetcher_new(schedule, search, arena, &t->prefetcher, &t->full, err));
    if (!t->prefetcher)
        return DSE_OK;
    (void)soma_prefetcher_loads(t->prefetcher, &t->n_load);
    t->order = arena_alloc(arena, (size_t)t->n_load + 1, sizeof *t->order);
    t->key = arena_alloc(arena, (size_t)t->n_load + 1, sizeof *t->key);
    return arena_check(arena, "prefetching", err);
}

/* FUSED_NEVER when no more may be looked at, or when it takes more than `most` cycles. */
static uint64_t try_order(struct trial *t, const struct soma_prefetch_options *options, const uint32_t *order,
                          uint64_t most)
{
    if (t->left == 0)
        return FUSED_NEVER;
    t->left--;
    uint64_t cycle = soma_prefetcher_run(t->prefetcher, options, order, most);
    if (cycle < t->cycle) {
        t->cycle = cycle;
        soma_prefetcher_save(t->prefetcher, t->schedule);
    }
    return cycle;
}

/* No schedule of more cycles costs `limit` or less, when `price` is one of the same energy: costs rise with a
 * power of the cycles. With leakage they rise with that of the delay at least, and fall with that of both at
 * most. A little more, for what rounding does. */
static uint64_t cycle_within(const struct soma_search *search, const struct soma_price *price, double limit)
{
    double power = search->objective.delay_exponent;
    double ratio = limit / price->cost;
    if (search->leakage_w > 0 && ratio < 1)
        power += search->objective.energy_exponent;
    if (!(power > 0) || !(price->cost > 0) || !isfinite(ratio))
        return UINT64_MAX;
    double cycle = (double)price->cycle * (power == 1 ? ratio : pow(ratio, 1 / power)) * (1 + ROUNDING) + 1;
    return cycle < 0x1p63 ? (uint64_t)cycle : UINT64_MAX;
}

static void set_cycle(const struct soma_search *search, uint64_t cycle, struct soma_price *price)
{
    price->cycle = cycle;
    price->cost = cycle == FUSED_NEVER ? INFINITY : soma_cost(search, price->energy_j, cycle);
}

/* ---- the quick price ---- */

struct plus_fusion {
    struct arena *arena; /* borrowed */
    const struct soma_search *search;
    struct soma_lfa lfa; /* not of plus_price */
    struct fused_schedule schedule;
    struct soma_price bound; /* energy, and the busier engine's cycles; cost INFINITY: not valid */
    bool prepared;
    struct trial trial; /* when it is prepared */
    uint32_t *ran;      /* (n_load) the order that gave `cycle` */
    uint64_t cycle;     /* FUSED_NEVER: none ran to its end yet */
};

enum dse_status plus_fusion_new(const struct soma_search *search, struct arena *arena, struct arena *scratch,
                                struct plus_fusion **made, struct dse_error *err)
{
    struct plus_fusion *fusion = arena_alloc(arena, 1, sizeof *fusion);
    DSE_TRY(arena_check(arena, "a fusion of layers", err));
    *fusion = (struct plus_fusion){.arena = scratch, .search = search};
    soma_lfa_new(search->context.network->n_layer, arena, &fusion->lfa);
    *made = fusion;
    return arena_check(arena, "a fusion of layers", err);
}

bool plus_fusion_is(const struct plus_fusion *fusion, const struct soma_lfa *lfa)
{
    const struct soma_lfa *own = &fusion->lfa;
    return own->n_flc == lfa->n_flc &&
           memcmp(own->order, lfa->order, lfa->n_layer * sizeof *lfa->order) == 0 &&
           memcmp(own->flc, lfa->flc, lfa->n_flc * sizeof *lfa->flc) == 0 &&
           memcmp(own->tiling, lfa->tiling, lfa->n_flc * sizeof *lfa->tiling) == 0 &&
           memcmp(own->dram_cut, lfa->dram_cut, lfa->n_flc * sizeof *lfa->dram_cut) == 0;
}

enum dse_status plus_fusion_set(struct plus_fusion *fusion, const struct soma_lfa *lfa, struct dse_error *err)
{
    soma_lfa_copy(lfa, &fusion->lfa);
    arena_reset(fusion->arena);
    fusion->prepared = false;
    return parse(fusion->search, lfa, fusion->arena, &fusion->schedule, &fusion->bound, err);
}

static enum dse_status prepare(struct plus_fusion *fusion, struct dse_error *err)
{
    fusion->prepared = true;
    fusion->cycle = FUSED_NEVER;
    DSE_TRY(trial_new(fusion->search, &fusion->schedule, fusion->arena, &fusion->trial, err));
    fusion->ran = arena_alloc(fusion->arena, (size_t)fusion->trial.n_load + 1, sizeof *fusion->ran);
    return arena_check(fusion->arena, "prefetching", err);
}

/* Many leads make one order, and the same order the same cycles. */
static uint64_t run_order(struct plus_fusion *fusion, const uint32_t *order, uint64_t most)
{
    struct trial *t = &fusion->trial;
    size_t size = t->n_load * sizeof *order;
    if (fusion->cycle != FUSED_NEVER && memcmp(fusion->ran, order, size) == 0)
        return fusion->cycle;
    uint64_t cycle = soma_prefetcher_run(t->prefetcher, &usual, order, most);
    if (cycle != FUSED_NEVER) {
        fusion->cycle = cycle;
        memcpy(fusion->ran, order, size);
    }
    return cycle;
}

enum dse_status plus_fusion_price(struct plus_fusion *fusion, const int32_t *lead, double limit,
                                  struct soma_price *price, struct plus_limits *limits, struct dse_error *err)
{
    struct trial *t = &fusion->trial;
    *price = fusion->bound;
    *limits = (struct plus_limits){.bound = price->cost, .full = UINT32_MAX};
    if (price->cost > limit || isinf(price->cost))
        return DSE_OK;
    if (!fusion->prepared)
        DSE_TRY(prepare(fusion, err));
    uint64_t cycle = FUSED_NEVER;
    if (!t->prefetcher) {
        limits->full = fusion->schedule.tile[t->full].layer;
    } else if (lead) {
        soma_prefetcher_lead(t->prefetcher, lead, t->order, t->key);
        cycle = run_order(fusion, t->order, cycle_within(fusion->search, price, limit));
    } else {
        cycle = run_order(fusion, soma_prefetcher_loads(t->prefetcher, &t->n_load),
                          cycle_within(fusion->search, price, limit));
    }
    set_cycle(fusion->search, cycle, price);
    return DSE_OK;
}

enum dse_status plus_price(const struct soma_search *search, const struct soma_lfa *lfa, const int32_t *lead,
                           double limit, struct arena *arena, struct fused_schedule *schedule,
                           struct soma_price *price, struct plus_limits *limits, struct dse_error *err)
{
    struct plus_fusion fusion = {.arena = arena, .search = search};
    struct plus_limits own;
    DSE_TRY(parse(search, lfa, arena, &fusion.schedule, &fusion.bound, err));
    DSE_TRY(plus_fusion_price(&fusion, lead, limit, price, limits ? limits : &own, err));
    *schedule = fusion.schedule;
    if (fusion.cycle != FUSED_NEVER && fusion.prepared)
        soma_prefetcher_save(fusion.trial.prefetcher, schedule);
    return DSE_OK;
}

/* ---- all that can be done ---- */

/* Every rule, with loads by first use and, the larger the earlier, by what the last order made of the tiles'
 * times. No order takes less than `bound`. */
static void try_rules(struct trial *t, uint64_t bound)
{
    static const double weight[] = {1, 2, 4};
    for (unsigned k = 0; k < 8 && t->cycle > bound && !soma_search_is_over(t->search); k++) {
        const struct soma_prefetch_options options = {k & 1 ? SOMA_STORE_LATE : SOMA_STORE_SOON,
                                                      k & 2 ? SOMA_FILL_ANY : SOMA_FILL_FIT,
                                                      k & 4 ? LOOK_FAR : LOOK_AHEAD};
        (void)try_order(t, &options, NULL, UINT64_MAX);
        for (size_t w = 0; w < sizeof weight / sizeof weight[0]; w++) {
            soma_prefetcher_order(t->prefetcher, weight[w], t->order, t->key);
            (void)try_order(t, &options, t->order, UINT64_MAX);
        }
    }
}

/* The order of the loads as a space to walk. */
struct order_space {
    struct trial *trial;
    uint32_t *now; /* (n_load) */
    uint32_t from, to;
    uint64_t bound; /* cycles that no order beats */
};

static void shift(uint32_t *order, uint32_t from, uint32_t to)
{
    uint32_t id = order[from];
    for (; from < to; from++)
        order[from] = order[from + 1];
    for (; from > to; from--)
        order[from] = order[from - 1];
    order[to] = id;
}

static enum search_outcome order_propose(void *self, struct random_stream *stream, double *cost)
{
    struct order_space *s = self;
    if (s->trial->cycle <= s->bound || soma_search_is_over(s->trial->search))
        return SEARCH_OVER;
    uint32_t n = s->trial->n_load, from = random_below(stream, n), by = 1 + random_below(stream, REACH);
    s->from = from;
    s->to = random_below(stream, 2) ? (n - 1 - from > by ? from + by : n - 1) : from > by ? from - by : 0;
    shift(s->now, s->from, s->to);
    *cost = (double)try_order(s->trial, &usual, s->now, *cost < 0x1p63 ? (uint64_t)*cost : UINT64_MAX);
    return SEARCH_PRICED;
}

static void order_undo(void *self)
{
    struct order_space *s = self;
    shift(s->now, s->to, s->from);
}

static void order_pass(void *self)
{
    (void)self; /* the schedule has the best already; walking on from where it is, is good enough */
}

static enum dse_status walk_orders(struct trial *t, uint64_t bound, uint64_t n_round,
                                   struct random_stream stream, struct arena *arena, struct dse_error *err)
{
    struct order_space space = {.trial = t, .bound = bound};
    struct annealing *walk;
    space.now = arena_alloc(arena, (size_t)t->n_load + 1, sizeof *space.now);
    DSE_TRY(arena_check(arena, "prefetching", err));
    memcpy(space.now, t->order, t->n_load * sizeof *space.now);
    const struct annealing_space hooks = {.self = &space,
                                          .propose = order_propose,
                                          .undo = order_undo,
                                          .keep = order_pass,
                                          .restore = order_pass};
    const struct annealing_options options = {
        .n_round = n_round, .first_temperature = 0.003, .alpha = 8, .return_share = 1};
    double cost = (double)try_order(t, &usual, space.now, UINT64_MAX);
    DSE_TRY(annealing_new(&hooks, &options, cost, stream, arena, &walk, err));
    (void)annealing_step(walk, n_round);
    return DSE_OK;
}

/* A round takes time in proportion to the loads, so long orders get fewer; so do those with little left to
 * gain. */
static uint64_t n_rounds(const struct trial *t, uint64_t bound, double round_per_load)
{
    double n = round_per_load * t->n_load, gain = (double)t->cycle / (double)bound - 1;
    n *= gain < WORTH ? gain / WORTH : 1;
    if (t->n_load > MANY)
        n *= MANY * MANY / ((double)t->n_load * t->n_load);
    return (double)t->left < n ? t->left : (uint64_t)n;
}

/* So many orders are looked at, at most: of schedules that take long the usual rule's alone. */
static uint64_t trials_of(const struct fused_schedule *schedule)
{
    const double n = TENSORS_MAX / (schedule->n_tensor + 1.0);
    return schedule->n_tensor < FEW_TENSORS ? UINT64_MAX : n > 1 ? (uint64_t)n : 1;
}

enum dse_status plus_polish(const struct soma_search *search, const struct soma_lfa *lfa, const int32_t *lead,
                            double round_per_load, uint64_t *left, struct random_stream stream,
                            struct arena *arena, struct fused_schedule *schedule, struct soma_price *price,
                            struct dse_error *err)
{
    struct trial t;
    struct fused_result plain;
    DSE_TRY(parse(search, lfa, arena, schedule, price, err));
    if (isinf(price->cost))
        return DSE_OK;
    uint64_t bound;
    DSE_TRY(dlsa_bound(schedule, &search->machine, search->machine.buffer_byte, arena, &bound, err));
    DSE_TRY(fused_evaluate(schedule, &search->machine, arena, NULL, &plain, err));
    DSE_TRY(trial_new(search, schedule, arena, &t, err));
    if (t.prefetcher) {
        const uint64_t given = left ? *left : UINT64_MAX, all = trials_of(schedule),
                       most = given < all ? given : all;
        t.cycle = plain.fault == FUSED_OK ? plain.cycle : FUSED_NEVER;
        if (lead)
            soma_prefetcher_lead(t.prefetcher, lead, t.order, t.key);
        (void)try_order(&t, &usual, lead ? t.order : NULL, UINT64_MAX);
        t.left = most;
        if (t.cycle > bound)
            try_rules(&t, bound);
        if (lead)
            soma_prefetcher_lead(t.prefetcher, lead, t.order, t.key);
        else
            memcpy(t.order, soma_prefetcher_loads(t.prefetcher, &t.n_load), t.n_load * sizeof *t.order);
        if (t.n_load > 1 && t.cycle > bound && t.left > 1)
            DSE_TRY(walk_orders(&t, bound, n_rounds(&t, bound, round_per_load), stream, arena, err));
        if (left)
            *left -= most - t.left;
    }
    set_cycle(search, t.cycle, price);
    return DSE_OK;
}
