/* The cheap schedule first, then the tuned one. */
#include "engines/soma/unfused.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "engines/soma/offer.h"
#include "engines/soma/search/layerwise.h"

/* Of each tile, where there is no time for more. */
enum { HASTE_EVALUATIONS = 8 };

/* The same search, which has a share of the time that is left. */
static struct soma_search with_share(const struct soma_search *whole, double share)
{
    struct soma_search search = *whole;
    const double now_s = clock_wall_s();
    search.stop_at_s = soma_search_end(whole);
    search.reserved_s = NULL;
    if (search.stop_at_s > now_s)
        search.stop_at_s = now_s + share * (search.stop_at_s - now_s);
    return search;
}

void soma_unfused_new(uint32_t n_layer, struct arena *arena, struct soma_unfused *unfused)
{
    *unfused = (struct soma_unfused){.price = {.cost = INFINITY}};
    soma_lfa_new(n_layer, arena, &unfused->start);
    soma_lfa_new(n_layer, arena, &unfused->tuned);
}

/* From the cheaper of both starts. */
static enum dse_status tune(const struct soma_search *search, struct soma_lfa_prices *prices,
                            enum soma_moves moves, uint64_t n_max, struct soma_unfused *unfused,
                            struct dse_error *err)
{
    struct soma_price price;
    if (unfused->price.is_long) {
        soma_lfa_copy(&unfused->tuned, &unfused->start);
        return soma_layerwise_alike(search, prices, n_max, &unfused->tuned, &unfused->price,
                                    &unfused->n_priced, err);
    }
    DSE_TRY(
        soma_initial_lfa(search, moves, search->machine.buffer_byte, prices, &unfused->start, &price, err));
    if (price.cost < unfused->price.cost) {
        soma_lfa_copy(&unfused->start, &unfused->tuned);
        unfused->price = price;
    }
    if (!isfinite(unfused->price.cost))
        return DSE_OK;
    return soma_layerwise(search, prices, n_max, &unfused->tuned, &unfused->price, &unfused->n_priced, err);
}

/* What takes longer to make and check than there is time is no answer. */
static enum dse_status offer_first(struct engine_context *context, const struct soma_task *task,
                                   const struct soma_unfused *unfused, struct arena *scratch,
                                   struct dse_error *err)
{
    enum { NUMBER_MAX = 32 };
    char reason[ENGINE_REASON_MAX], n[NUMBER_MAX];
    if (soma_search_can_make(&task->search, &unfused->price))
        return soma_offer_lfa(context, task, &unfused->tuned, scratch, err);
    (void)snprintf(reason, sizeof reason,
                   "the first schedule has %s tiles, tensors and reads, too many to make and check by then",
                   text_thousands(unfused->price.n_part, n, sizeof n));
    engine_context_explain(context, reason);
    return DSE_OK;
}

static enum dse_status find(struct engine_context *context, const struct soma_task *task,
                            const struct soma_search *any_length, struct soma_lfa_prices *prices,
                            enum soma_moves moves, double share, struct arena *scratch,
                            struct soma_unfused *unfused, struct dse_error *err)
{
    uint64_t left = engine_context_left(context);
    uint64_t n_max = left < UINT64_MAX ? (uint64_t)ceil(share * (double)left) : left;
    DSE_TRY(soma_cheap_lfa(any_length, prices, &unfused->tuned, &unfused->price, err));
    if (isfinite(unfused->price.cost))
        DSE_TRY(offer_first(context, task, unfused, scratch, err));
    const struct soma_search search = with_share(any_length, share);
    DSE_TRY(tune(&search, prices, moves, n_max, unfused, err));
    if (!isfinite(unfused->price.cost) || !soma_search_can_make(&task->search, &unfused->price))
        return DSE_OK;
    return soma_offer_lfa(context, task, &unfused->tuned, scratch, err);
}

/* The mapper of the tiles is too slow for the time: an answer with one that is quick, as its text says. Of
 * schedules that are made in an instant: `end_s` is over. */
static enum dse_status find_in_haste(struct engine_context *context, const struct engine_task *task,
                                     const struct soma_scheduled *scheduled, double end_s,
                                     struct soma_task *made, struct arena *scratch, struct soma_lfa *lfa,
                                     struct dse_error *err)
{
    static const struct soma_core_choice quick = {SOMA_CORE_RANDOM, HASTE_EVALUATIONS};
    struct soma_lfa_prices *prices = NULL;
    struct soma_price price = {.cost = INFINITY};
    enum dse_status status = soma_task_prepare(task, scheduled, engine_context_accounting(context), quick,
                                               engine_context_arena(context), made, err);
    made->search.may_be_long = !made->search.context.compat;
    made->search.context.end_s = end_s;
    if (status == DSE_OK)
        status = soma_lfa_prices_new(&made->search, &prices, err);
    if (status == DSE_OK)
        status = soma_cheap_lfa(&made->search, prices, lfa, &price, err);
    if (status == DSE_OK && isfinite(price.cost))
        status = soma_offer_lfa(context, made, lfa, scratch, err);
    soma_lfa_prices_free(prices);
    soma_task_free(made);
    return status;
}

static bool needs_haste(const struct engine_context *context, const struct soma_task *task)
{
    const struct soma_search *search = &task->search;
    return task->core.choice.core != SOMA_CORE_ARRAY && isinf(engine_context_best_cost(context)) &&
           search->stop_at_s > 0 && soma_search_is_over(search) &&
           task->graph.network->n_layer <= SOMA_INSTANT_TILES;
}

enum dse_status soma_offer_unfused(struct engine_context *context, const struct soma_task *task,
                                   enum soma_moves moves, double share, struct arena *scratch,
                                   struct soma_unfused *unfused, struct dse_error *err)
{
    struct soma_lfa_prices *prices;
    struct soma_search any_length = task->search;
    any_length.may_be_long = !any_length.context.compat;
    DSE_TRY(soma_lfa_prices_new(&any_length, &prices, err));
    enum dse_status status = find(context, task, &any_length, prices, moves, share, scratch, unfused, err);
    soma_lfa_prices_free(prices);
    if (status != DSE_OK || !needs_haste(context, task))
        return status;
    struct soma_task *made = arena_alloc(engine_context_arena(context), 1, sizeof *made);
    struct engine_task patient = *task->task;
    patient.budget.max_seconds = 0;
    DSE_TRY(arena_check(engine_context_arena(context), "a schedule", err));
    return find_in_haste(context, &patient, &task->scheduled, task->search.stop_at_s, made, scratch,
                         &unfused->start, err);
}
