/* Klotski's first baseline, called Tangram in the paper: every layer is one uop, on the next accelerator of
 * the mesh, in zig-zag order. No search. (Of what M. Gao et al., "Tangram: Optimized coarse-grained dataflow
 * for scalable NN accelerators", ASPLOS 2019, do beyond that the baseline has nothing; it also passes over
 * the size of the memories.) */
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_metrics.h"
#include "engines/klotski/klotski_task.h"

struct state {
    struct klotski_task task;
    struct arena scratch;
};

static enum dse_status init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    arena_init(&state->scratch);
    return klotski_task_of(engine_context_task(context), engine_context_arena(context), &state->task, err);
}

/* Number i of the cores, along the first row, back along the second, and so on. */
static uint32_t zigzag(const struct kc_machine *machine, uint32_t i)
{
    const uint32_t row = i / machine->columns, column = i % machine->columns;
    return row * machine->columns + (row % 2 ? machine->columns - 1 - column : column);
}

static enum dse_status step(void *memory, struct engine_context *context, enum engine_stop *stop,
                            struct dse_error *err)
{
    struct state *state = memory;
    const struct klotski_task *task = &state->task;
    const uint32_t n_layer = task->network.n_layer, n_uop = n_layer * task->batch;
    struct uop_cut *cut = arena_alloc(&state->scratch, n_layer, sizeof *cut);
    uint64_t *start = arena_alloc(&state->scratch, n_uop, sizeof *start);
    uint32_t *core = arena_alloc(&state->scratch, n_uop, sizeof *core);
    struct uop_plan plan = {.sums = UOP_SUMS_ALL, .sram = UOP_SRAM_OFF, .batch = task->batch, .cut = cut};
    DSE_TRY(arena_check(&state->scratch, "a schedule", err));
    for (uint32_t l = 0; l < n_layer; l++) {
        const struct kc_tile *whole = &task->network.layer[l].whole;
        cut[l] = (struct uop_cut){whole->p, whole->q, whole->c, whole->k};
    }
    for (uint32_t u = 0; u < n_uop; u++) {
        start[u] = u; /* layer after layer */
        core[u] = zigzag(&task->machine, u % task->n_core);
    }
    DSE_TRY(klotski_lists(start, core, n_uop, task->n_core, &state->scratch, &plan.schedule, err));
    DSE_TRY(klotski_offer(context, task, &plan, &state->scratch, err));
    engine_context_count(context, 1);
    *stop = STOP_CONVERGED;
    return DSE_OK;
}

static void release(void *memory)
{
    struct state *state = memory;
    arena_free(&state->scratch);
}

const struct engine engine_tangram = {
    .name = "tangram",
    .summary = "whole layers on a mesh of accelerators, one after the other: Klotski's first baseline",
    .kind = ENGINE_SCHEDULER,
    .accounting = klotski_accountings,
    .group = &klotski_group,
    .effort = {.fixed_s = 1e-5},
    .state_byte = sizeof(struct state),
    .init = init,
    .step = step,
    .verify = klotski_verify,
    .free = release,
};
