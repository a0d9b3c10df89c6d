/* What we would give a user: CoSA's own mapping first, then variants of the formulation, each priced by the
 * cost model, then the loop orders of the best, then local search from all of them and from drawn ones. */
#include <math.h>
#include <string.h>

#include "engines/baseline/baseline.h"
#include "engines/cosa/cosa_engines.h"
#include "engines/cosa/cosa_options.h"
#include "engines/cosa/polish.h"
#include "engines/driver/price_memo.h"
#include "engines/mapspace/mapspace_order.h"

enum {
    OPTION_VARIANTS = COSA_OPTION_COUNT,
    OPTION_POLISH,
    OPTION_PATIENCE,
    OPTION_DOMINATE,
    OPTION_BYPASS,
    N_OPTION
};

enum { DOMINATE_AUTO, DOMINATE_YES };

static const char *const dominate_names[] = {"auto", "yes", "no"};

static const struct engine_option option[N_OPTION] = {
    COSA_OPTIONS,
    {"variants", "also solve variants: the minmax form, other shares, halo rules and stationary tensors", "",
     OPTION_BOOL, 1, 0, 1, NULL},
    {"polish", "evaluations of the local search after the solves; 0: none", "mapping", OPTION_INTEGER, 20000,
     0, 1e12, NULL},
    {"patience", "the local search ends after so many descents in a row that found nothing better", "descent",
     OPTION_INTEGER, 60, 1, 1e9, NULL},
    {"dominate",
     "take only mappings that need neither more cycles nor more energy than the one of cosa with the same "
     "options; auto: if the objective counts both",
     "", OPTION_CHOICE, DOMINATE_AUTO, 0, 2, dominate_names},
    BASELINE_OPTION_BYPASS,
};

/* Variants of the user's settings. A solve is only a start for what follows, so it need not be exact. */
struct variant {
    enum cosa_form form;
    int halo;           /* enum cosa_halo; -1: the user's */
    double input_share; /* outputs get 1 - input_share; 0: the user's */
    int stationary;     /* enum tensor_role; -1: the user's */
};

static const struct variant variants[] = {
    {COSA_FORM_MINMAX, -1, 0, -1},
    {COSA_FORM_MINMAX, COSA_HALO_ALL, 0, -1},
    {COSA_FORM_MINMAX, -1, 0.25, -1},
    {COSA_FORM_MINMAX, -1, 0.75, -1},
    {COSA_FORM_MINMAX, -1, 0, TENSOR_WEIGHT},
    {COSA_FORM_MINMAX, -1, 0, TENSOR_INPUT},
    {COSA_FORM_MINMAX, -1, 0, TENSOR_OUTPUT},
    {COSA_FORM_MINMAX, COSA_HALO_SAFE, 0, -1},
    {COSA_FORM_PAPER, COSA_HALO_ALL, 0, -1},
    {COSA_FORM_PAPER, -1, 0.25, -1},
    {COSA_FORM_PAPER, -1, 0.75, -1},
};

enum {
    N_VARIANT = sizeof variants / sizeof variants[0],
    VARIANT_NODES = 500,
    N_ORDERED = 4,     /* starts whose loop orders are chosen anew */
    ORDER_MAX = 1000,  /* combinations looked at for each */
    N_DRAWN = 20,      /* random starts when no solve gave a mapping */
    STEP_BLOCKS = 1000 /* neighbourhoods between two looks at the clock */
};

enum phase { PHASE_SOLVE, PHASE_ORDERS, PHASE_DRAW, PHASE_POLISH };

struct state {
    struct engine_context *context;
    const struct mapspace *space;
    struct arena scratch; /* of one solve */
    struct cosa_settings settings;
    struct cosa_solution solution;
    struct price_memo memo;
    struct polish polish;
    struct order_walk walk;
    enum phase phase;
    uint32_t next;      /* of the phase: variant or start */
    bool limited;       /* the two limits hold */
    double cycle_limit; /* of CoSA's own mapping */
    double energy_limit_j;
    uint64_t last_evaluation; /* the local search ends there */
};

/* The cost that guides the search: the task's, times the square of what exceeds CoSA's own cycles and energy,
 * so that mappings outside lead back in. */
static double guide(void *self, double cost)
{
    const struct state *state = self;
    const struct evaluation *e = engine_context_last(state->context);
    if (!state->limited)
        return cost;
    double excess =
        fmax(1, (double)e->latency_cycle / state->cycle_limit) * fmax(1, e->energy_j / state->energy_limit_j);
    return cost * excess * excess;
}

static enum dse_status best_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    state->context = context;
    arena_init(&state->scratch);
    DSE_TRY(price_memo_new(&state->memo, context, engine_context_arena(context), err));
    state->memo.guide = guide;
    state->memo.guide_self = state;
    DSE_TRY(cosa_begin(context, engine_context_option(context, OPTION_BYPASS) != 0, &state->settings,
                       &state->space, err));
    polish_init(&state->polish, state->space, price_memo_price, &state->memo,
                engine_context_stream(context, RANDOM_MOVE),
                (uint32_t)engine_context_option(context, OPTION_PATIENCE));
    state->polish.wide = true;
    return DSE_OK;
}

/* ---------------------------------------- the solves */

static int tensor_of_role(const struct problem *problem, int role)
{
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if ((int)problem->tensor[t].role == role)
            return (int)t;
    return -1;
}

static void vary(const struct state *state, const struct variant *variant, struct cosa_settings *settings)
{
    *settings = state->settings;
    settings->form = variant->form;
    if (variant->halo >= 0)
        settings->halo = (enum cosa_halo)variant->halo;
    if (variant->input_share > 0) {
        settings->share[TENSOR_INPUT] = variant->input_share;
        settings->share[TENSOR_OUTPUT] = 1 - variant->input_share;
    }
    if (variant->stationary >= 0)
        settings->stationary = tensor_of_role(engine_context_problem(state->context), variant->stationary);
    settings->limits.relative_gap = fmax(settings->limits.relative_gap, 1e-3);
    if (settings->limits.max_nodes == 0 || settings->limits.max_nodes > VARIANT_NODES)
        settings->limits.max_nodes = VARIANT_NODES;
}

static bool dominates(const struct state *state)
{
    const struct objective *objective = &engine_context_task(state->context)->objective;
    double wanted = engine_context_option(state->context, OPTION_DOMINATE);
    return wanted == DOMINATE_YES ||
           (wanted == DOMINATE_AUTO && objective->energy_exponent > 0 && objective->delay_exponent > 0);
}

/* From now on CoSA's own mapping is what nothing may be worse than. */
static void limit(struct state *state)
{
    const struct evaluation *own = engine_context_last(state->context);
    state->limited = true;
    state->cycle_limit = (double)own->latency_cycle;
    state->energy_limit_j = own->energy_j;
    engine_context_limit(state->context, own->latency_cycle, own->energy_j);
}

/* Solve number `next`: 0 is the user's own settings, to the letter. */
static enum dse_status solve_next(struct state *state, struct dse_error *err)
{
    const struct engine_task *task = engine_context_task(state->context);
    struct cosa_solution *solution = &state->solution;
    struct cosa_settings settings = state->settings;
    uint32_t i = state->next++;
    if (i > 0)
        vary(state, &variants[i - 1], &settings);
    enum dse_status status = cosa_map(engine_context_problem(state->context), task->architecture,
                                      task->constraints, &settings, &state->scratch, solution, err);
    arena_reset(&state->scratch);
    DSE_TRY(status);
    double cost, tie;
    if (!solution->feasible) {
        if (solution->misfit.what != FITS)
            engine_context_reject(state->context, 1, &solution->misfit);
        else if (i == 0)
            engine_context_explain(state->context, solution->reason);
        return DSE_OK;
    }
    if (!price_memo_price(&state->memo, &solution->mapping, &cost, &tie))
        return DSE_OK;
    if (i == 0 && dominates(state))
        limit(state);
    polish_add(&state->polish, &solution->mapping, cost, tie);
    return DSE_OK;
}

/* ---------------------------------------- what comes after */

/* Walk the loop orders of a start, as far as they differ in what they cost. */
static void choose_orders(struct state *state, struct mapping mapping)
{
    struct priced_mapping best = {.cost = INFINITY};
    double cost, tie;
    uint64_t n = order_walk_start(&state->walk, state->space, &mapping, false);
    for (uint64_t i = 0; i < n && i < ORDER_MAX; i++) {
        if (price_memo_price(&state->memo, &mapping, &cost, &tie) &&
            (cost < best.cost || (cost == best.cost && tie < best.tie)))
            best = (struct priced_mapping){mapping, cost, tie};
        (void)order_walk_next(&state->walk, &mapping);
    }
    if (best.cost < INFINITY)
        polish_add(&state->polish, &best.mapping, best.cost, best.tie);
}

/* No solve gave a mapping: begin anywhere. */
static void draw_starts(struct state *state)
{
    struct random_stream stream = engine_context_stream(state->context, RANDOM_INIT);
    for (int i = 0; i < N_DRAWN && engine_context_left(state->context) > 0; i++) {
        struct misfit_info fit;
        uint64_t n_rejected = 0;
        double cost, tie;
        struct mapping mapping;
        bool drawn = mapspace_draw(state->space, &stream, &mapping, &n_rejected, &fit);
        engine_context_reject(state->context, n_rejected, drawn ? NULL : &fit);
        if (drawn && price_memo_price(&state->memo, &mapping, &cost, &tie))
            polish_add(&state->polish, &mapping, cost, tie);
    }
}

static void next_phase(struct state *state, enum phase phase)
{
    state->phase = phase;
    state->next = 0;
    double most = engine_context_option(state->context, OPTION_POLISH);
    state->last_evaluation = engine_context_evaluations(state->context) + (uint64_t)most;
}

/* Some blocks of the local search; false when it is over. */
static bool polish_some(struct state *state)
{
    struct engine_context *context = state->context;
    uint64_t end = engine_context_evaluations(context) + ENGINE_BATCH;
    for (uint32_t i = 0; i < STEP_BLOCKS && engine_context_evaluations(context) < end; i++) {
        if (engine_context_left(context) == 0)
            return true; /* the driver says why it ends */
        if (engine_context_evaluations(context) >= state->last_evaluation || !polish_step(&state->polish))
            return false;
    }
    return true;
}

static enum dse_status best_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                 struct dse_error *err)
{
    struct state *state = memory;
    uint32_t n_solve = engine_context_option(context, OPTION_VARIANTS) != 0 ? 1 + N_VARIANT : 1;
    switch (state->phase) {
    case PHASE_SOLVE:
        DSE_TRY(solve_next(state, err));
        if (state->next == n_solve)
            next_phase(state, state->polish.n_start ? PHASE_ORDERS : PHASE_DRAW);
        break;
    case PHASE_ORDERS:
        if (state->next < N_ORDERED && state->next < state->polish.n_start)
            choose_orders(state, state->polish.start[state->next++].mapping);
        else
            next_phase(state, PHASE_POLISH);
        break;
    case PHASE_DRAW:
        draw_starts(state);
        next_phase(state, PHASE_POLISH);
        break;
    case PHASE_POLISH:
        if (!polish_some(state))
            *stop = state->settings.hurried ? STOP_MAX_SECONDS : STOP_CONVERGED;
        break;
    }
    return DSE_OK;
}

static void best_free(void *memory)
{
    struct state *state = memory;
    arena_free(&state->scratch);
}

const struct engine engine_cosa_best = {
    .name = "cosa-best",
    .summary =
        "the best of CoSA's mapping and its variants, priced by the cost model and polished by local search",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 0.17, .evaluations = 7000, .evaluation_s = 4e-6},
    .state_byte = sizeof(struct state),
    .init = best_init,
    .step = best_step,
    .free = best_free,
};
