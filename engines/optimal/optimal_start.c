/* The start: descents to a mapping that the proof has to beat. They go by what mappings would cost if no
 * bandwidth were limited: so their best end is the same for all cells of a sweep that differ in bandwidth
 * alone, and is looked up or found anew, as the case may be. Where a bandwidth makes it dearer, a descent by
 * the cell's own cost goes on from there. With a budget of evaluations or a limit of cycles, where something
 * leaks, with constraints, and where energy or delay alone count (bandwidths decide nothing, or all), the
 * descents go by the cost itself. */
#include <math.h>

#include "base/hash.h"
#include "engines/mapspace/mapspace_move.h"
#include "engines/optimal/optimal_search.h"

enum { STEP_BLOCKS = 200 };

void optimal_start_begin(struct optimal_search *state, uint64_t n_descent, uint64_t space)
{
    const struct engine_task *task = engine_context_task(state->context);
    const struct objective *objective = optimal_objective(state);
    struct optimal_start *start = &state->start;
    start->n_most = n_descent;
    start->shared = n_descent > 0 && objective->energy_exponent > 0 && objective->delay_exponent > 0 &&
                    !state->model.constraints && !state->model.leaks && !task->start &&
                    task->cycle_limit == 0 && task->budget.max_evaluations == 0;
    start->stream = start->shared ? random_stream_make(task->seed, state->known_as, RANDOM_INIT)
                                  : engine_context_stream(state->context, RANDOM_INIT);
    struct hash_state hash;
    hash_begin(&hash);
    hash_u64(&hash, state->known_as);
    hash_u64(&hash, task->seed);
    hash_u64(&hash, n_descent);
    hash_u64(&hash, space);
    hash_double(&hash, objective->energy_exponent);
    hash_double(&hash, objective->delay_exponent);
    start->key = hash_end_128(&hash);
}

/* What a mapping would cost if no bandwidth were limited. */
static bool unlimited_price(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    enum { OWN = 1 }; /* no other price is found by this hash */
    struct optimal_search *state = self;
    struct optimal_start *start = &state->start;
    const uint64_t hash =
        price_memo_hash(mapping, engine_context_accounting(state->context)->orders_spatial) ^ OWN;
    struct price_memo_entry *known = price_memo_at(&start->memo, hash);
    if (known->hash != hash) {
        double limited;
        start->found.n_evaluation++;
        start->found.n_draw++;
        if (!engine_context_try(state->context, mapping, &limited))
            return false;
        const struct evaluation *evaluation = engine_context_last(state->context);
        const double latency_s =
            (double)(evaluation->compute_cycle + state->model.latency) / state->model.arch->clock_hz;
        *known = (struct price_memo_entry){
            hash, objective_cost_of(optimal_objective(state), evaluation->energy_j, latency_s),
            evaluation->energy_j * latency_s};
    }
    *cost = known->cost;
    *tie = known->tie;
    return true;
}

static bool price(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    struct optimal_search *state = self;
    return state->start.shared ? unlimited_price(state, mapping, cost, tie)
                               : price_memo_price(&state->start.memo, mapping, cost, tie);
}

static void descend(struct optimal_search *state)
{
    struct optimal_start *start = &state->start;
    descent_start(&start->descent, state->space, &start->now.mapping, start->now.cost, start->now.tie,
                  &start->stream);
    start->descending = true;
}

/* The next mapping to descend from. */
static void draw(struct optimal_search *state)
{
    struct optimal_start *start = &state->start;
    struct misfit_info fit;
    uint64_t n_rejected = 0;
    const bool valid = mapspace_draw(state->space, &start->stream, &start->now.mapping, &n_rejected, &fit);
    engine_context_reject(state->context, n_rejected, valid ? NULL : &fit);
    start->found.n_draw += n_rejected;
    if (valid && start->n_most > 0 && start->n % 2 == 0)
        mapspace_pour(state->space, &start->stream, &start->now.mapping);
    start->n++;
    if (valid && price(state, &start->now.mapping, &start->now.cost, &start->now.tie) && start->n_most > 0)
        descend(state);
}

/* The end of a descent by unlimited bandwidths: is it the best? */
static void keep_end(struct optimal_search *state)
{
    struct known_mapping *found = &state->start.found;
    const struct descent *end = &state->start.descent;
    if (state->start.shared && (found->mapping.n_level == 0 || end->cost < found->cost ||
                                (end->cost == found->cost && end->tie < found->tie))) {
        found->cost = end->cost;
        found->tie = end->tie;
        found->mapping = *end->mapping;
    }
}

/* The best end of the shared descents becomes the best; where bandwidths limit it, go on from there. */
static void take_shared(struct optimal_search *state)
{
    struct optimal_start *start = &state->start;
    const struct known_mapping *found = &start->found;
    start->shared = false;
    engine_context_trials_count(state->context, found->n_evaluation);
    if (found->mapping.n_level == 0 ||
        !engine_context_evaluate(state->context, &found->mapping, &start->now.cost) ||
        start->now.cost <= found->cost)
        return;
    start->now.mapping = found->mapping;
    start->now.tie = engine_context_last(state->context)->edp_js;
    start->stream = engine_context_stream(state->context, RANDOM_INIT);
    descend(state);
}

/* All descents have begun and ended; false: one more follows. */
static bool end(struct optimal_search *state)
{
    struct optimal_start *start = &state->start;
    if (!start->shared)
        return true;
    if (start->found.mapping.n_level > 0)
        known_mappings_keep(engine_context_task(state->context)->known, start->key, &start->found);
    take_shared(state);
    return !start->descending;
}

enum dse_status optimal_start_step(struct optimal_search *state, bool *over, struct dse_error *err)
{
    struct optimal_start *start = &state->start;
    *over = false;
    if (start->shared && start->n == 0 &&
        known_mappings_get(engine_context_task(state->context)->known, start->key, &start->found)) {
        engine_context_reject(state->context, start->found.n_draw, NULL);
        start->n = start->n_most;
        take_shared(state);
    }
    const bool prices = start->descending || start->n < start->n_most || start->n == 0;
    if (prices && !start->memo.entry)
        DSE_TRY(price_memo_new(&start->memo, state->context, engine_context_arena(state->context), err));
    for (uint32_t i = 0; i < STEP_BLOCKS && !*over && engine_context_left(state->context) > 0; i++) {
        if (start->descending) {
            start->descending = descent_block(&start->descent, price, state);
            if (!start->descending)
                keep_end(state);
        } else if (start->n > start->n_most || (start->n == start->n_most && start->n > 0)) {
            *over = end(state);
        } else {
            draw(state);
        }
    }
    return DSE_OK;
}

void optimal_start_finish(struct optimal_search *state)
{
    struct optimal_start *start = &state->start;
    const bool found = start->found.mapping.n_level > 0;
    double cost;
    if (start->shared && (found || start->descending))
        (void)engine_context_evaluate(state->context, found ? &start->found.mapping : start->descent.mapping,
                                      &cost);
}
