/* Looks for the simplest cause first: a fault of the scheme, weights that no tiling makes small enough,
 * else the position where most bytes live. */
#include "engines/soma/explain.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "engines/soma/offer.h"
#include "engines/soma/search/lfa_search.h"
#include "engines/soma/search/plus_price.h"
#include "engines/soma/search/plus_start.h"

enum { NUMBER_MAX = 32, FINE_MAX = 1 << 18 };

static void explain_fault(struct engine_context *context, const struct soma_search *search,
                          const struct soma_fault_info *fault, const struct dse_error *why)
{
    char reason[ENGINE_REASON_MAX];
    const char *text = fault->what == SOMA_COST ? why->text : soma_fault_text(fault->what);
    if (fault->what == SOMA_GROUPS)
        (void)snprintf(reason, sizeof reason, "group %u: %.160s", fault->layer + 1, text);
    else
        (void)snprintf(reason, sizeof reason, "layer %.80s: %.160s",
                       search->context.network->layer[fault->layer].name, text);
    engine_context_explain(context, reason);
}

/* Why they are not in smaller parts. */
static const char *why_whole(const struct soma_search *search)
{
    if (search->context.compat)
        return ", which must fit whole (compat never cuts channels)";
    return search->context.network->n_cut > 0 ? ", the smallest part that it can be cut into"
                                              : ", and no parts of it fit";
}

/* Weights that no number of tiles makes small enough. Whether there are any. */
static bool explain_weights(struct engine_context *context, const struct soma_search *search,
                            const struct fused_schedule *fused)
{
    char reason[ENGINE_REASON_MAX], needs[NUMBER_MAX], has[NUMBER_MAX];
    const struct fused_tensor *largest = NULL;
    for (uint32_t i = 0; i < fused->n_tensor; i++)
        if (fused->tensor[i].kind == FUSED_WEIGHT && (!largest || fused->tensor[i].byte > largest->byte))
            largest = &fused->tensor[i];
    if (!largest || largest->byte <= search->machine.buffer_byte)
        return false;
    (void)snprintf(reason, sizeof reason, "layer %.80s has %s bytes of weights%s; the global buffer has %s",
                   search->context.network->layer[largest->layer].name,
                   text_thousands(largest->byte, needs, sizeof needs), why_whole(search),
                   text_thousands(search->machine.buffer_byte, has, sizeof has));
    engine_context_explain(context, reason);
    return true;
}

static void explain_bytes(struct engine_context *context, const struct soma_search *search,
                          const struct soma_lfa *lfa, const struct fused_schedule *fused,
                          const uint64_t *living_byte)
{
    char reason[ENGINE_REASON_MAX], needs[NUMBER_MAX], has[NUMBER_MAX];
    uint32_t at = 0;
    for (uint32_t q = 1; q <= fused->n_tile; q++)
        if (living_byte[q] > living_byte[at])
            at = q;
    const struct fused_tile *tile = &fused->tile[at > 0 ? at - 1 : 0];
    (void)snprintf(reason, sizeof reason,
                   "layer %.80s, cut into %u tile%s, needs %s bytes of the global buffer with double "
                   "buffering; it has %s",
                   search->context.network->layer[tile->layer].name, lfa->tiling[tile->flc],
                   lfa->tiling[tile->flc] == 1 ? "" : "s",
                   text_thousands(living_byte[at], needs, sizeof needs),
                   text_thousands(search->machine.buffer_byte, has, sizeof has));
    engine_context_explain(context, reason);
}

/* Tell the driver (engine_context_explain) what is wrong with `lfa` under double buffering: the layer whose
 * tiles the rules or the core scheduler refuse, or the layer that computes where the buffer holds the most,
 * with the bytes. Nothing when it fits. Memory from `scratch`. Errors of soma_parse and fused_evaluate. */
static enum dse_status explain(struct engine_context *context, const struct soma_search *search,
                               const struct soma_lfa *lfa, struct arena *scratch, struct dse_error *err)
{
    struct fused_schedule fused;
    struct soma_fault_info fault;
    struct fused_result result;
    struct dse_error why = {0};
    enum dse_status status = soma_parse(&search->context, lfa, scratch, &fused, &fault, &why);
    if (status != DSE_OK)
        return dse_fail(err, status, "%s", why.text);
    if (fault.what == SOMA_OVER)
        return DSE_OK;
    if (fault.what != SOMA_OK) {
        explain_fault(context, search, &fault, &why);
        return DSE_OK;
    }
    struct fused_trace trace = {
        .living_byte = arena_alloc(scratch, (size_t)fused.n_tile + 1, sizeof *trace.living_byte)};
    DSE_TRY(arena_check(scratch, "a schedule", err));
    DSE_TRY(fused_evaluate(&fused, &search->machine, scratch, &trace, &result, err));
    if (result.buffer_max_byte > search->machine.buffer_byte && !explain_weights(context, search, &fused))
        explain_bytes(context, search, lfa, &fused, trace.living_byte);
    return DSE_OK;
}

/* Double buffering is not all there is: what loads later may fit, with as many tiles as help; where these are
 * very many, with as few as fit. Offered, but by the published rules, whose
 * engines do not load later; there it is priced, so that it is true. */
static enum dse_status load_later(struct engine_context *context, const struct soma_task *task,
                                  struct soma_lfa *lfa, struct soma_price *price, struct arena *scratch,
                                  struct dse_error *err)
{
    const struct soma_search *search = &task->search;
    struct soma_lfa coarse;
    struct fused_schedule schedule;
    soma_lfa_new(search->context.network->n_layer, engine_context_arena(context), &coarse);
    DSE_TRY(arena_check(engine_context_arena(context), "a fusion of layers", err));
    arena_reset(scratch);
    DSE_TRY(plus_price(search, lfa, NULL, INFINITY, scratch, &schedule, price, NULL, err));
    if (isinf(price->cost) || schedule.n_dram > FINE_MAX) {
        DSE_TRY(plus_start(search, search->context.batch, scratch, &coarse, price, err));
        if (isfinite(price->cost))
            soma_lfa_copy(&coarse, lfa);
        arena_reset(scratch);
        DSE_TRY(plus_price(search, lfa, NULL, INFINITY, scratch, &schedule, price, NULL, err));
    }
    if (isinf(price->cost))
        return DSE_OK;
    if (!search->context.compat)
        return soma_offer(context, task, lfa, &schedule, NULL, scratch, err);
    engine_context_advise(context, "engine soma-plus, which loads later, has a schedule");
    return DSE_OK;
}

enum dse_status soma_late_start(struct engine_context *context, const struct soma_task *task,
                                struct soma_lfa *lfa, struct soma_price *price, struct arena *scratch,
                                struct dse_error *err)
{
    *price = (struct soma_price){.cost = INFINITY};
    DSE_TRY(soma_finest_lfa(&task->search, task->search.machine.buffer_byte, lfa, err));
    DSE_TRY(explain(context, &task->search, lfa, scratch, err));
    return load_later(context, task, lfa, price, scratch, err);
}

enum dse_status soma_late_end(struct engine_context *context, const struct soma_task *task,
                              struct soma_unfused *unfused, struct arena *scratch, enum engine_stop *stop,
                              struct dse_error *err)
{
    DSE_TRY(soma_late_start(context, task, &unfused->start, &unfused->price, scratch, err));
    *stop = soma_search_is_over(&task->search) ? *stop : STOP_CONVERGED;
    return DSE_OK;
}
