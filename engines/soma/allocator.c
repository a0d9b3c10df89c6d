/* A machine of phases (begin, stage 1, stage 2): each iteration has random streams of its own, and two in
 * a row without a gain end it. */
#include "engines/soma/allocator.h"

#include <math.h>
#include <stdlib.h>

#include "engines/soma/search/dlsa_bound.h"
#include "engines/soma/search/lfa_price.h"
#include "engines/soma/search/plus_price.h"
#include "engines/soma/search/starts.h"

enum phase { BEGIN, STAGE1, STAGE2, OVER };

/* Rounds between two looks at clock and cancel flag: a millisecond or so of each stage. */
enum { LFA_BATCH = 16, DLSA_BATCH = 2048 };

enum { PUBLISHED_RUNS = 6, PATIENCE = 2 };

/* Where tiles are many (soma_search_is_large), a second stage has rounds for so many tensors at most, and
 * fewer the more tensors there are beyond the second: a round takes time by their number. */
enum { MANY = 300, VERY_MANY = 3000 };

struct soma_allocator {
    const struct soma_search *search;
    struct soma_allocator_options options;
    uint64_t seed, key;
    uint32_t start;
    enum phase phase;
    uint32_t iteration, failed; /* begun; in a row without a better result */
    uint64_t buffer_max;        /* that the first stage took in the first iteration */
    uint64_t round, stage_round;
    double limit; /* what costs as much is of no use to the caller */
    double floor; /* no second stage of the present fusion costs less */
    bool early;
    struct arena scratch, lfa_arena, dlsa_arena, best_arena, own_arena;
    struct soma_lfa first;        /* where stage 1 starts */
    const struct soma_lfa *begin; /* where it starts when that fits; NULL: as the options say */
    struct soma_price begin_price;
    struct soma_lfa_prices *prices;
    struct soma_lfa_search *lfa;
    struct soma_dlsa_search *dlsa;
    struct soma_allocation present, best;
};

enum dse_status soma_allocator_new(const struct soma_search *search,
                                   const struct soma_allocator_options *options, uint64_t seed, uint64_t key,
                                   uint32_t start, struct soma_allocator **made, struct dse_error *err)
{
    uint32_t n_layer = search->context.network->n_layer;
    struct soma_allocator *a = calloc(1, sizeof *a);
    *made = a;
    if (!a)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a search over %u layers", n_layer);
    a->search = search;
    a->options = *options;
    a->seed = seed;
    a->key = key;
    a->start = start;
    arena_init(&a->scratch);
    arena_init(&a->lfa_arena);
    arena_init(&a->dlsa_arena);
    arena_init(&a->best_arena);
    arena_init(&a->own_arena);
    soma_lfa_new(n_layer, &a->own_arena, &a->first);
    soma_lfa_new(n_layer, &a->own_arena, &a->present.lfa);
    soma_lfa_new(n_layer, &a->own_arena, &a->best.lfa);
    DSE_TRY(arena_check(&a->own_arena, "a search over layers", err));
    a->best.price.cost = a->limit = INFINITY;
    DSE_TRY(soma_lfa_prices_new(search, &a->prices, err));
    a->options.lfa.prices = a->prices;
    return DSE_OK;
}

void soma_allocator_free(struct soma_allocator *a)
{
    if (!a)
        return;
    soma_lfa_search_free(a->lfa);
    soma_lfa_prices_free(a->prices);
    arena_free(&a->scratch);
    arena_free(&a->lfa_arena);
    arena_free(&a->dlsa_arena);
    arena_free(&a->best_arena);
    arena_free(&a->own_arena);
    free(a);
}

/* Of iteration and stage, so that what one draws does not depend on how much another drew. */
static struct random_stream stream_of(const struct soma_allocator *a, uint32_t stage)
{
    enum { USES = 16 }; /* of base/random.h and some to spare */
    return soma_start_stream(a->seed, a->key, a->start, USES + 2 * a->iteration + stage);
}

/* The whole buffer, then less and less of what the first stage took. The published program begins again with
 * just that and goes on by factors. */
static uint64_t stage1_limit(const struct soma_allocator *a)
{
    if (a->iteration == 0)
        return a->search->machine.buffer_byte;
    double share = a->options.published ? pow(1 - a->options.step, a->iteration - 1)
                                        : 1 - a->options.step * a->iteration;
    return share > 0 ? (uint64_t)(share * (double)a->buffer_max) : 0;
}

static uint32_t iteration_max(const struct soma_allocator *a)
{
    uint32_t most = a->options.iteration_max ? a->options.iteration_max : UINT32_MAX;
    return a->options.published && most > PUBLISHED_RUNS ? PUBLISHED_RUNS : most;
}

/* Without a start within the limit nothing less will have one; the first stage's limit only falls. */
static enum dse_status begin_iteration(struct soma_allocator *a, struct dse_error *err)
{
    uint64_t limit = stage1_limit(a);
    struct soma_price price = {.cost = INFINITY};
    if (limit > 0 && a->iteration < iteration_max(a) && a->begin && a->begin_price.buffer_max_byte <= limit) {
        soma_lfa_copy(a->begin, &a->first);
        price = a->begin_price;
    } else if (limit > 0 && a->iteration < iteration_max(a)) {
        DSE_TRY(soma_initial_lfa(a->search, a->options.first, limit, a->prices, &a->first, &price, err));
    }
    if (!(price.cost < INFINITY)) {
        a->phase = OVER;
        return DSE_OK;
    }
    const struct soma_context *context = &a->search->context;
    double round = a->options.round_per_layer * soma_search_layers(a->search);
    if (a->options.published)
        round *= sqrt(context->batch);
    a->options.lfa.n_round = (uint64_t)ceil(round);
    a->stage_round = 0;
    arena_reset(&a->lfa_arena);
    DSE_TRY(soma_lfa_search_new(a->search, &a->options.lfa, &a->first, limit, stream_of(a, 0), &a->lfa_arena,
                                &a->lfa, err));
    if (a->early)
        soma_lfa_search_end_early(a->lfa);
    a->phase = STAGE1;
    return DSE_OK;
}

/* The first stage's best with its double buffering; where that is vast, without its schedule. */
static enum dse_status take_stage1(struct soma_allocator *a, struct dse_error *err)
{
    struct soma_allocation *present = &a->present;
    struct fused_result result;
    soma_lfa_copy(soma_lfa_search_best(a->lfa, &present->price), &present->lfa);
    present->iteration = a->iteration;
    present->is_vast = soma_search_is_vast(a->search, present->price.n_part);
    if (present->is_vast) {
        present->stage1 = present->price;
        present->found = true;
        return DSE_OK;
    }
    arena_reset(&a->dlsa_arena);
    DSE_TRY(soma_price_lfa(a->search, &present->lfa, a->search->machine.buffer_byte, &a->dlsa_arena,
                           &present->schedule, &present->stage1, err));
    present->price = present->stage1;
    present->found = present->price.cost < INFINITY;
    if (!present->found) /* its schedule may have been given up */
        return DSE_OK;
    DSE_TRY(fused_evaluate(&present->schedule, &a->search->machine, &a->dlsa_arena, NULL, &result, err));
    present->stage1_buffer_average_byte = result.buffer_average_byte;
    present->stage1_buffer_average_compute_byte = result.buffer_average_compute_byte;
    return DSE_OK;
}

/* The published program compares times, not costs. */
static bool is_better(const struct soma_allocator *a, const struct soma_price *price)
{
    if (!a->best.found)
        return true;
    return a->options.published ? price->cycle < a->best.price.cycle : price->cost < a->best.price.cost;
}

/* Let the present allocation be the best when it is better. */
static enum dse_status compare(struct soma_allocator *a, bool *better, struct dse_error *err)
{
    struct soma_price price;
    if (a->dlsa)
        soma_dlsa_search_best(a->dlsa, &a->present.schedule, &a->present.price);
    *better = a->present.found && is_better(a, &a->present.price);
    if (!*better)
        return DSE_OK;
    struct soma_lfa lfa = a->best.lfa;
    soma_lfa_copy(&a->present.lfa, &lfa);
    arena_reset(&a->best_arena);
    a->best = a->present;
    a->best.lfa = lfa;
    if (a->best.is_vast)
        return DSE_OK;
    DSE_TRY(soma_price_lfa(a->search, &a->best.lfa, a->search->machine.buffer_byte, &a->best_arena,
                           &a->best.schedule, &price, err));
    a->best.found = isfinite(price.cost); /* else there was no time to make it */
    if (a->dlsa && a->best.found)
        soma_dlsa_search_best(a->dlsa, &a->best.schedule, &price);
    return DSE_OK;
}

/* Two iterations in a row that find nothing better end it. Where the second stage was left out, it might have
 * found something when the fusion's floor is below the best: then this was no failure. */
static enum dse_status end_iteration(struct soma_allocator *a, struct dse_error *err)
{
    bool of_use = !soma_search_is_large(a->search) || a->floor < a->limit;
    bool might = !a->dlsa && of_use && a->floor < a->best.price.cost, better;
    DSE_TRY(compare(a, &better, err));
    a->dlsa = NULL;
    a->present.found = false;
    a->failed = better || might ? 0 : a->failed + 1;
    a->iteration++;
    a->phase = a->early || (!a->options.published && a->failed >= PATIENCE) ? OVER : BEGIN;
    return DSE_OK;
}

/* What the second stage can make of the present fusion at best. The published program compares times, and its
 * third stage may do some good at equal time: there every second stage is run. */
static enum dse_status find_floor(struct soma_allocator *a, struct dse_error *err)
{
    uint64_t cycle;
    a->floor = 0;
    if (a->options.published || a->options.shrink_share > 0)
        return DSE_OK;
    arena_reset(&a->scratch);
    DSE_TRY(dlsa_bound(&a->present.schedule, &a->search->machine, a->search->machine.buffer_byte, &a->scratch,
                       &cycle, err));
    a->floor = soma_cost(a->search, a->present.price.energy_j, cycle);
    return DSE_OK;
}

/* Whether there is time for the first stage's best. */
static bool can_take_stage1(const struct soma_allocator *a)
{
    struct soma_price price;
    (void)soma_lfa_search_best(a->lfa, &price);
    return isfinite(price.cost) && soma_search_can_make(a->search, &price);
}

/* Of a folded network only the fusion is handed on, and the whole one's DRAM order comes from prefetching
 * (soma_offer): so prefetching takes the second stage's place. */
static enum dse_status prefetch(struct soma_allocator *a, struct dse_error *err)
{
    struct fused_schedule schedule;
    struct soma_price price;
    arena_reset(&a->scratch);
    DSE_TRY(plus_polish(a->search, &a->present.lfa, NULL, 0, NULL, (struct random_stream){0}, &a->scratch,
                        &schedule, &price, err));
    if (price.cost < a->present.price.cost)
        a->present.price = price;
    a->floor = a->present.price.cost;
    return end_iteration(a, err);
}

/* For so many tensors the second stage has its rounds. */
static double tensors_of_rounds(const struct soma_allocator *a)
{
    double n = a->present.schedule.n_dram;
    if (!soma_search_is_large(a->search))
        return n;
    return fmin(n, MANY) * fmin(1, VERY_MANY / fmax(n, 1));
}

static enum dse_status begin_stage2(struct soma_allocator *a, struct dse_error *err)
{
    struct soma_dlsa_options *options = &a->options.dlsa;
    if (!can_take_stage1(a)) {
        a->phase = OVER;
        return DSE_OK;
    }
    DSE_TRY(take_stage1(a, err));
    soma_lfa_search_free(a->lfa);
    a->lfa = NULL;
    if (!a->present.found) {
        a->phase = OVER;
        return DSE_OK;
    }
    if (a->iteration == 0)
        a->buffer_max = a->present.price.buffer_max_byte;
    if (a->search->context.graph->fold)
        return prefetch(a, err);
    if (a->present.is_vast) {
        a->floor = a->present.price.cost;
        return end_iteration(a, err);
    }
    DSE_TRY(find_floor(a, err));
    if (a->floor >= a->limit || a->floor >= a->best.price.cost)
        return end_iteration(a, err);
    options->n_round = (uint64_t)ceil(a->options.round_per_tensor * tensors_of_rounds(a));
    if (a->options.dlsa_round_max && options->n_round > a->options.dlsa_round_max)
        options->n_round = a->options.dlsa_round_max;
    options->shrink_round = (uint64_t)ceil(a->options.shrink_share * (double)options->n_round);
    DSE_TRY(soma_dlsa_search_new(a->search, options, &a->present.schedule, a->search->machine.buffer_byte,
                                 stream_of(a, 1), &a->dlsa_arena, &a->dlsa, err));
    if (a->early)
        soma_dlsa_search_end_early(a->dlsa);
    a->stage_round = 0;
    a->phase = STAGE2;
    return DSE_OK;
}

static void count(struct soma_allocator *a, uint64_t total)
{
    a->round += total - a->stage_round;
    a->stage_round = total;
}

enum dse_status soma_allocator_step(struct soma_allocator *a, uint64_t n, bool *done, struct dse_error *err)
{
    bool stage_done = false;
    if (a->phase == BEGIN) {
        DSE_TRY(begin_iteration(a, err));
    } else if (a->phase == STAGE1) {
        n = n < LFA_BATCH ? n : LFA_BATCH;
        DSE_TRY(soma_lfa_search_step(a->lfa, n, &stage_done, err));
        count(a, soma_lfa_search_rounds(a->lfa));
        if (stage_done)
            DSE_TRY(begin_stage2(a, err));
    } else if (a->phase == STAGE2) {
        n = n < DLSA_BATCH ? n : DLSA_BATCH;
        DSE_TRY(soma_dlsa_search_step(a->dlsa, n, &stage_done, err));
        count(a, soma_dlsa_search_rounds(a->dlsa));
        if (stage_done)
            DSE_TRY(end_iteration(a, err));
    }
    *done = a->phase == OVER;
    return DSE_OK;
}

void soma_allocator_limit(struct soma_allocator *a, double cost)
{
    a->limit = cost;
}

void soma_allocator_begin_at(struct soma_allocator *a, const struct soma_lfa *lfa,
                             const struct soma_price *price)
{
    a->begin = lfa;
    a->begin_price = *price;
}

uint64_t soma_allocator_rounds(const struct soma_allocator *a)
{
    return a->round;
}

void soma_allocator_end_early(struct soma_allocator *a)
{
    a->early = true;
    if (a->phase == STAGE1)
        soma_lfa_search_end_early(a->lfa);
    else if (a->phase == STAGE2)
        soma_dlsa_search_end_early(a->dlsa);
    else if (a->best.found)
        a->phase = OVER;
}

double soma_allocator_cost(struct soma_allocator *a)
{
    struct soma_price price = {.cost = INFINITY};
    if (a->phase == STAGE1)
        (void)soma_lfa_search_best(a->lfa, &price);
    else if (a->phase == STAGE2)
        soma_dlsa_search_best(a->dlsa, &a->present.schedule, &price);
    return isfinite(price.cost) && is_better(a, &price) ? price.cost : a->best.price.cost;
}

enum dse_status soma_allocator_settle(struct soma_allocator *a, struct dse_error *err)
{
    bool better;
    if (a->phase == STAGE1 && can_take_stage1(a))
        DSE_TRY(take_stage1(a, err));
    if (a->phase == STAGE1 || a->phase == STAGE2)
        DSE_TRY(compare(a, &better, err));
    a->phase = OVER;
    return DSE_OK;
}

const struct soma_allocation *soma_allocator_best(const struct soma_allocator *a)
{
    return &a->best;
}
