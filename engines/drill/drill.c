/* As an engine: burns the time it is told to, offers one mapping with all loops outermost, and calls the
 * chosen fault of fault.c. */
#include "engines/drill/drill.h"

#include "base/clock.h"
#include "engines/driver/driver.h"
#include "engines/mapspace/mapspace_move.h"

enum {
    OPTION_FAULT,
    OPTION_FAULT_EVERY,
    OPTION_LEAK_BYTE,
    OPTION_WORK,
    OPTION_MEMORY,
    N_OPTION,
    OUTERMOST_SLOT = 0
};

/* CPU time burnt between two looks of the driver at clock and cancel flag. */
static const double slice_s = 1e-3;

static const struct engine_option option[N_OPTION] = {
    {"fault", "what it does wrong", "", OPTION_CHOICE, DRILL_NONE, 0, DRILL_N_FAULT - 1, drill_fault_name},
    {"fault_every", "do it only when the seed is a multiple of this", "", OPTION_INTEGER, 1, 1, 1e15, NULL},
    {"leak_byte", "what the fault leak takes and forgets", "byte", OPTION_INTEGER, 8589934592.0, 0, 1e15,
     NULL},
    {"work", "CPU time it burns before it answers", "s", OPTION_REAL, 0, 0, 1e9, NULL},
    {"memory", "bytes it holds while it works", "byte", OPTION_INTEGER, 0, 0, 1e15, NULL},
};

struct state {
    double start_s; /* CPU time of the thread when it began */
    double work_s;  /* to burn */
    void *memory;   /* owned; NULL: none */
    double memory_byte;
    struct mapping mapping;
};

static enum dse_status drill_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    state->work_s = engine_context_option(context, OPTION_WORK);
    state->memory_byte = engine_context_option(context, OPTION_MEMORY);
    if (state->work_s > 0)
        state->start_s = clock_thread_s();
    if (state->memory_byte > 0) {
        state->memory = drill_take_memory(state->memory_byte);
        if (!state->memory)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for the %.0f bytes of the option memory",
                            state->memory_byte);
    }
    return DSE_OK;
}

/* Does the mapping with all loops at the outermost level fit? Every level inside holds one word of each
 * tensor. Asked before it is priced, so that a machine without room is told apart from one where a search is
 * worth it. */
static bool plain_fits(const struct problem *problem, const struct architecture *arch,
                       const struct mapping *mapping)
{
    uint32_t top = arch->n_level - 1, kept = 0;
    for (uint32_t l = 0; l <= top; l++) {
        const struct storage_level *level = &arch->level[l];
        uint64_t words = 0, usable = architecture_usable_words(level);
        for (uint32_t t = 0; t < problem->n_tensor && usable != ARCH_UNLIMITED; t++)
            if (mapping->level[l].keep >> t & 1u)
                words += l == top ? problem_tensor_words(problem, t) : 1;
        if (words > usable || (level->min_utilization > 0 && usable != ARCH_UNLIMITED))
            return false;
        kept |= mapping->level[l].keep;
    }
    return kept == (1u << problem->n_tensor) - 1;
}

/* The way for constraints and machines where the plain mapping does not fit: any mapping of the space, with
 * everything that may moved to the outermost loops. */
static enum dse_status search(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct mapspace *space;
    struct misfit_info fit;
    uint64_t n_rejected = 0;
    double cost;
    DSE_TRY(engine_context_mapspace(context, false, &space, err));
    if (mapspace_is_empty(space))
        return DSE_OK;
    struct random_stream stream = engine_context_stream(context, RANDOM_INIT);
    bool drawn = mapspace_draw(space, &stream, &state->mapping, &n_rejected, &fit);
    engine_context_reject(context, n_rejected, drawn ? NULL : &fit);
    if (!drawn)
        return DSE_OK;
    for (uint32_t d = 0; d < state->mapping.n_dim; d++) {
        struct mapping before = state->mapping;
        (void)mapspace_gather(space, &state->mapping, d, OUTERMOST_SLOT);
        if (!mapspace_contains(space, &state->mapping, NULL))
            state->mapping = before; /* below a minimum utilisation */
    }
    (void)engine_context_evaluate(context, &state->mapping, &cost);
    return DSE_OK;
}

static enum dse_status answer(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct engine_task *task = engine_context_task(context);
    const struct problem *problem = engine_context_problem(context);
    double cost;
    if (!task->constraints) {
        mapping_init(&state->mapping, problem, task->architecture);
        if (plain_fits(problem, task->architecture, &state->mapping) &&
            engine_context_evaluate(context, &state->mapping, &cost))
            return DSE_OK;
    }
    return search(state, context, err);
}

/* Some work. True: all is done. */
static bool work(const struct state *state)
{
    if (state->work_s <= 0)
        return true;
    double now_s = clock_thread_s(), slice_end_s = now_s + slice_s, end_s = state->start_s + state->work_s;
    while (now_s < slice_end_s && now_s < end_s)
        now_s = clock_thread_s();
    return now_s >= end_s;
}

static enum drill_fault fault_of(const struct engine_context *context)
{
    uint64_t every = (uint64_t)engine_context_option(context, OPTION_FAULT_EVERY);
    bool hit = engine_context_task(context)->seed % every == 0;
    return hit ? (enum drill_fault)engine_context_option(context, OPTION_FAULT) : DRILL_NONE;
}

static enum dse_status drill_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                  struct dse_error *err)
{
    struct state *state = memory;
    enum drill_fault fault = fault_of(context);
    if (!work(state))
        return DSE_OK;
    *stop = STOP_CONVERGED;
    DSE_TRY(drill_break_down(fault, engine_context_option(context, OPTION_LEAK_BYTE), err));
    DSE_TRY(answer(state, context, err));
    drill_lie(fault, context);
    return DSE_OK;
}

static void drill_free(void *memory)
{
    struct state *state = memory;
    drill_give_back(state->memory, state->memory_byte);
    state->memory = NULL;
}

/* The lies are caught by the driver; all else needs a process of its own. */
static bool drill_untrusted(const double *value)
{
    return value[OPTION_FAULT] != DRILL_NONE && value[OPTION_FAULT] < DRILL_INVALID;
}

const struct engine engine_drill = {
    .name = "drill",
    .summary = "one plain mapping at once, or a breakdown as told: to try out limits, clusters and overhead",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 3e-5, .evaluations = 1, .evaluation_s = 4e-6, .seconds = "work"},
    .state_byte = sizeof(struct state),
    .init = drill_init,
    .step = drill_step,
    .free = drill_free,
    .untrusted = drill_untrusted,
};
