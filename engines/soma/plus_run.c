/* Seeds by price, from cheap rules to what the search of the engine soma has found. */
#include "engines/soma/plus_run.h"

#include <math.h>

#include "engines/soma/explain.h"
#include "engines/soma/plus_parts.h"
#include "engines/soma/search/lfa_search.h"
#include "engines/soma/search/plus_price.h"
#include "engines/soma/search/plus_start.h"

enum dse_status plus_run_prepare(struct plus_run *run, struct engine_context *context, struct dse_error *err)
{
    struct arena *arena = engine_context_arena(context);
    for (uint32_t k = 0; k <= PLUS_SEED; k++)
        soma_lfa_new(run->task.search.context.network->n_layer, arena, &run->seed[k].lfa);
    return arena_check(arena, "the searches", err);
}

void plus_run_free(struct plus_run *run)
{
    plus_walks_free(&run->walks);
    soma_two_stage_free(&run->two_stage);
    soma_task_free(&run->task);
    arena_free(&run->scratch);
}

void plus_run_sort_in(struct plus_run *run)
{
    uint32_t at = run->n_seed;
    if (isinf(run->seed[at].price.cost))
        return;
    run->n_seed++;
    for (; at > 0 && run->seed[at].price.cost < run->seed[at - 1].price.cost; at--) {
        struct plus_seed other = run->seed[at];
        run->seed[at] = run->seed[at - 1];
        run->seed[at - 1] = other;
    }
}

/* Nothing else fits: as many tiles as make anything smaller, and loads as late as can be. */
static enum dse_status find_finest_seed(struct plus_run *run, struct engine_context *context,
                                        struct dse_error *err)
{
    const struct soma_search *search = &run->task.search;
    struct plus_seed *seed = &run->seed[0];
    struct fused_schedule schedule;
    DSE_TRY(soma_finest_lfa(search, search->machine.buffer_byte, &seed->lfa, err));
    DSE_TRY(
        plus_price(search, &seed->lfa, NULL, INFINITY, &run->scratch, &schedule, &seed->price, NULL, err));
    arena_reset(&run->scratch);
    plus_run_sort_in(run);
    return run->n_seed == 0
               ? soma_late_start(context, &run->task, &seed->lfa, &seed->price, &run->scratch, err)
               : DSE_OK;
}

enum dse_status plus_run_find_seeds(struct plus_run *run, struct engine_context *context,
                                    struct dse_error *err)
{
    const struct soma_search *search = &run->task.search;
    struct fused_schedule schedule;
    for (uint32_t k = 0; k < PLUS_CAP && engine_context_left(context) > 0; k++) {
        if (k > 0 && soma_search_is_over(search))
            return DSE_OK;
        uint64_t most = (uint64_t)search->context.batch << (2 * k);
        struct plus_seed *seed = &run->seed[run->n_seed];
        DSE_TRY(plus_start(search, most < 1U << 14 ? (uint32_t)most : 1U << 14, &run->scratch, &seed->lfa,
                           &seed->price, err));
        plus_run_sort_in(run);
        engine_context_count(context, 1);
    }
    if (engine_context_left(context) == 0 || soma_search_is_over(search))
        return DSE_OK;
    engine_context_count(context, 1);
    struct plus_seed *seed = &run->seed[run->n_seed];
    DSE_TRY(soma_initial_lfa(search, SOMA_MOVES_PAPER, search->machine.buffer_byte, NULL, &seed->lfa,
                             &seed->price, err));
    arena_reset(&run->scratch);
    DSE_TRY(
        plus_price(search, &seed->lfa, NULL, INFINITY, &run->scratch, &schedule, &seed->price, NULL, err));
    arena_reset(&run->scratch);
    plus_run_sort_in(run);
    return run->n_seed == 0 ? find_finest_seed(run, context, err) : DSE_OK;
}

enum dse_status plus_run_add_two_stage(struct plus_run *run, struct engine_context *context,
                                       struct dse_error *err)
{
    struct fused_schedule schedule;
    for (uint32_t i = 0; i < run->two_stage.starts.n && i < PLUS_TWO_STAGE; i++) {
        const struct soma_allocation *found = soma_two_stage_found(&run->two_stage, i);
        struct plus_seed *seed = &run->seed[run->n_seed];
        if (!found || found->is_vast || engine_context_left(context) == 0)
            continue;
        soma_lfa_copy(&found->lfa, &seed->lfa);
        arena_reset(&run->scratch);
        DSE_TRY(plus_price(&run->task.search, &seed->lfa, NULL, INFINITY, &run->scratch, &schedule,
                           &seed->price, NULL, err));
        engine_context_count(context, 1);
        plus_run_sort_in(run);
    }
    return DSE_OK;
}

enum dse_status plus_run_add_guests(struct plus_run *to, const struct plus_run *from,
                                    struct engine_context *context, struct dse_error *err)
{
    const struct network *network = from->task.search.context.network;
    struct plus_point *guest;
    bool is_same = true;
    for (uint32_t i = 0; i < from->walks.n_pool && is_same; i++) {
        const struct plus_found *found = &from->walks.pool[i];
        DSE_TRY(plus_walks_guest(&to->walks, context, &guest, err));
        if (!guest)
            return DSE_OK;
        arena_reset(&to->scratch);
        DSE_TRY(plus_translate(network, &found->lfa, found->lead, to->task.search.context.network,
                               &to->scratch, guest, &is_same, err));
        to->walks.n_guest -= !is_same;
    }
    return DSE_OK;
}
