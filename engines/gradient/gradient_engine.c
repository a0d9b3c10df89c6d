/* Descents on the relaxed model first, which cost no evaluation; then their mappings are priced, the best by
 * that model first, and greedy descents in the map space start from the best of them. */
#include "engines/gradient/gradient_engine.h"

#include <math.h>

#include "engines/driver/driver.h"
#include "engines/driver/price_memo.h"
#include "engines/gradient/gradient_starts.h"
#include "engines/mapspace/mapspace_descent.h"

enum {
    OPTION_DESCENTS,
    OPTION_STEPS,
    OPTION_RATE,
    OPTION_REFINED,
    OPTION_PRICED,
    OPTION_POLISHED,
    OPTION_BYPASS,
    N_OPTION
};
/* Steps on the model, blocks of a greedy descent and draws between two looks at the clock. */
enum { STEP_STEPS = 320, STEP_BLOCKS = 1000, DRAW_TRIES = 1000 };

static const struct engine_option option[N_OPTION] = {
    {"descents", "descents on the relaxed model", "descent", OPTION_INTEGER, 384, 1, 10000, NULL},
    {"steps", "steps of each", "step", OPTION_INTEGER, 80, 1, 2000, NULL},
    {"rate", "size of Adam's steps", "", OPTION_REAL, 0.3, 1e-6, 100, NULL},
    {"refined", "mappings that greedy descent on the relaxed model improves, its best ones first", "mapping",
     OPTION_INTEGER, 64, 0, 10000, NULL},
    {"priced", "mappings to price before greedy descents start, the best by the relaxed model first",
     "mapping", OPTION_INTEGER, 20, 1, 10000, NULL},
    {"polished", "greedy descents from the best of those", "descent", OPTION_INTEGER, 8, 0, 10000, NULL},
    {"search_bypass",
     "also search which tensors a level keeps (else: all that its roles and the constraints allow)", "",
     OPTION_BOOL, 0, 0, 1, NULL},
};

struct state {
    const struct mapspace *space;
    struct engine_context *context;
    struct random_stream stream;
    struct gradient_starts *starts;
    struct price_memo memo;
    uint32_t n_priced, n_list, n_polished, n_max;
    struct priced_mapping *list; /* (n_list) of (n_max), best first */
    struct priced_mapping now;
    struct descent descent;
    bool descending;
};

static uint32_t option_of(const struct state *state, size_t index)
{
    return (uint32_t)engine_context_option(state->context, index);
}

static enum dse_status gradient_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    const struct engine_task *task = engine_context_task(context);
    struct arena *arena = engine_context_arena(context);
    state->context = context;
    state->stream = engine_context_stream(context, RANDOM_INIT);
    state->n_max = option_of(state, OPTION_POLISHED) + 1;
    state->list = arena_alloc_unset(arena, state->n_max, sizeof *state->list);
    DSE_TRY(arena_check(arena, "the best starts of a search", err));
    DSE_TRY(price_memo_new(&state->memo, context, arena, err));
    DSE_TRY(engine_context_mapspace(context, option_of(state, OPTION_BYPASS) != 0, &state->space, err));
    if (mapspace_is_empty(state->space))
        return DSE_OK;
    const struct gradient_setting setting = {
        .schedule = {option_of(state, OPTION_STEPS), engine_context_option(context, OPTION_RATE)},
        .descents = option_of(state, OPTION_DESCENTS),
        .refined = option_of(state, OPTION_REFINED)};
    return gradient_starts_new(state->space, engine_context_problem(context), task->architecture,
                               &task->objective, &setting, arena, &state->starts, err);
}

/* Price what is in `now`, and keep it among the best. */
static void price_now(struct state *state)
{
    if (price_memo_price(&state->memo, &state->now.mapping, &state->now.cost, &state->now.tie))
        (void)priced_insert(state->list, &state->n_list, state->n_max, &state->now);
}

/* Price the next start; false: there are no more. */
static bool price_next(struct state *state)
{
    uint32_t n;
    const struct gradient_start *start = gradient_starts_best(state->starts, &n);
    if (state->n_priced == n || state->n_priced == option_of(state, OPTION_PRICED))
        return false;
    state->now.mapping = start[state->n_priced++].mapping;
    price_now(state);
    return true;
}

/* No descent came near a valid mapping (a minimum utilisation, a closed outermost level): a random one has to
 * do. */
static void draw(struct state *state)
{
    for (int i = 0; i < DRAW_TRIES && state->n_list == 0; i++) {
        struct misfit_info fit;
        uint64_t n_rejected = 0;
        bool valid = mapspace_draw(state->space, &state->stream, &state->now.mapping, &n_rejected, &fit);
        engine_context_reject(state->context, n_rejected, valid ? NULL : &fit);
        if (valid)
            price_now(state);
    }
}

/* Greedy descents, block by block; false: all are done. */
static bool polish(struct state *state)
{
    if (state->descending) {
        state->descending = descent_block(&state->descent, price_memo_price, &state->memo);
        return true;
    }
    if (state->n_polished == state->n_list || state->n_polished == option_of(state, OPTION_POLISHED))
        return false;
    state->now = state->list[state->n_polished++];
    descent_start(&state->descent, state->space, &state->now.mapping, state->now.cost, state->now.tie,
                  &state->stream);
    state->descending = true;
    return true;
}

static enum dse_status gradient_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                     struct dse_error *err)
{
    struct state *state = memory;
    (void)err;
    for (uint32_t i = 0, n = 1 + STEP_STEPS / option_of(state, OPTION_STEPS); i < n; i++)
        if (gradient_starts_step(state->starts, &state->stream) && i + 1 == n)
            return DSE_OK;
    uint64_t end = engine_context_evaluations(context) + ENGINE_BATCH;
    for (uint32_t i = 0;
         i < STEP_BLOCKS && engine_context_evaluations(context) < end && engine_context_left(context) > 0;
         i++) {
        if (price_next(state))
            continue;
        if (state->n_list == 0)
            draw(state);
        if (polish(state))
            continue;
        *stop = STOP_CONVERGED;
        break;
    }
    return DSE_OK;
}

/* A search that ends among the descents has an answer too. */
static enum dse_status gradient_finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    (void)err;
    if (state->starts && !engine_context_best(context))
        (void)price_next(state);
    return DSE_OK;
}

const struct engine engine_gradient = {
    .name = "gradient",
    .summary = "gradient descent on a relaxed cost model, then greedy descent from the best mappings near it",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 6e-2, .evaluations = 500, .evaluation_s = 1.6e-6, .option = {"polished"}},
    .state_byte = sizeof(struct state),
    .init = gradient_init,
    .step = gradient_step,
    .finish = gradient_finish,
};
