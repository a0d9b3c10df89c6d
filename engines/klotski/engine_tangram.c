/* Klotski's first baseline, called Tangram in the paper: every layer is one uop, on the next accelerator of
 * the mesh, in zig-zag order. No search. With another's partition uop after uop goes to the next one. (Of
 * what M. Gao et al., "Tangram: Optimized coarse-grained dataflow for scalable NN accelerators", ASPLOS 2019,
 * do beyond that the baseline has nothing.) Where maps always fit it passes over the size of the memories, as
 * the paper does; with memory=dram a layer is the fewest uops that fit them. */
#include "engines/klotski/baseline_offer.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_fit.h"
#include "engines/klotski/klotski_metrics.h"
#include "engines/klotski/klotski_task.h"

enum { OPTION_PARTITION_FROM, OPTION_VECTOR, OPTION_NETWORK, N_OPTION = OPTION_NETWORK + KLOTSKI_N_NETWORK };

static const struct engine_option option[N_OPTION] = {
    [OPTION_PARTITION_FROM] = KLOTSKI_OPTION_PARTITION_FROM,
    [OPTION_VECTOR] = KLOTSKI_OPTION_VECTOR,
    [OPTION_NETWORK] = KLOTSKI_OPTIONS_NETWORK,
};

struct state {
    struct klotski_task task;
    struct arena scratch;
};

static enum dse_status init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    arena_init(&state->scratch);
    return klotski_task_of(engine_context_task(context), klotski_vector(context, OPTION_VECTOR),
                           engine_context_arena(context), &state->task, err);
}

static enum dse_status step(void *memory, struct engine_context *context, enum engine_stop *stop,
                            struct dse_error *err)
{
    struct state *state = memory;
    const struct klotski_task *task = &state->task;
    struct tile_rules rules = {.sums = UOP_SUMS_ALL, .sram = UOP_SRAM_OFF, .batch = task->batch};
    const struct uop_cut *given;
    struct uop_graph graph;
    DSE_TRY(klotski_partition_from(context, OPTION_PARTITION_FROM, task, &given, err));
    if (!given && engine_context_option(context, OPTION_NETWORK + KLOTSKI_MEMORY) == UOP_DRAM) {
        rules.sums = UOP_SUMS_CHAIN; /* edges in proportion to uops */
        rules.sram = UOP_SRAM_ALL;
    }
    struct uop_plan plan = klotski_plan(context, OPTION_NETWORK, &rules, given);
    if (!given) /* without room to keep to, whole layers */
        DSE_TRY(klotski_fewest_cut(task, &rules, &state->scratch, &plan.cut, err));
    DSE_TRY(uop_graph_of(&task->network, &task->machine, plan.cut, plan.sums, task->batch, &state->scratch,
                         &graph, err));
    DSE_TRY(baseline_offer_tangram(context, task, &graph, &plan, &state->scratch, err));
    engine_context_count(context, 1);
    *stop = STOP_CONVERGED;
    return DSE_OK;
}

static void release(void *memory)
{
    struct state *state = memory;
    klotski_task_free(&state->task);
    arena_free(&state->scratch);
}

const struct engine engine_tangram = {
    .name = "tangram",
    .summary = "whole layers on a mesh of accelerators, one after the other: Klotski's first baseline",
    .kind = ENGINE_SCHEDULER,
    .accounting = klotski_accountings,
    .takes_only = KLOTSKI_TAKES_ONLY,
    .takes_task = klotski_takes_task,
    .group = &klotski_group,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 1e-5},
    .read_file = klotski_read_file,
    .state_byte = sizeof(struct state),
    .init = init,
    .step = step,
    .verify = klotski_verify,
    .free = release,
};
