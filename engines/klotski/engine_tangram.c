/* Klotski's first baseline, called Tangram in the paper: every layer is one uop, on the next accelerator of
 * the mesh, in zig-zag order. No search. With another's partition uop after uop goes to the next one. (Of
 * what M. Gao et al., "Tangram: Optimized coarse-grained dataflow for scalable NN accelerators", ASPLOS 2019,
 * do beyond that the baseline has nothing.) Where maps always fit it passes over the size of the memories, as
 * the paper does; with memory=dram a layer is the fewest uops that fit them, or where these are too many one
 * in slices. */
#include <math.h>

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

/* Of a partition, or (`given` NULL) of the fewest uops: without room to keep to, or in slices, whole layers.
 * DSE_LIMIT: more uops than a graph has, or with more edges than `edge_max`. */
static enum dse_status offer(struct state *state, struct engine_context *context,
                             const struct tile_rules *rules, const struct uop_cut *given, uint64_t edge_max,
                             struct dse_error *err)
{
    const struct klotski_task *task = &state->task;
    struct uop_plan plan = klotski_plan(context, OPTION_NETWORK, rules, given);
    struct uop_graph graph;
    if (!given)
        DSE_TRY(klotski_fewest_cut(task, rules, &state->scratch, &plan.cut, err));
    DSE_TRY(uop_graph_within(&task->network, &task->machine, plan.cut, plan.sums, task->batch, edge_max,
                             &state->scratch, &graph, err));
    return baseline_offer_tangram(context, task, &graph, &plan, &state->scratch, err);
}

/* In networks with blocks sums at their borders are uops then, or slices of the last block read all maps. */
static enum dse_status take_sums(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct engine_task *asked = engine_context_task(context);
    if (!klotski_has_blocks(asked->network, klotski_vector(context, OPTION_VECTOR)))
        return DSE_OK;
    klotski_task_free(&state->task);
    return klotski_task_of(asked, UOP_BLOCKS, engine_context_arena(context), &state->task, err);
}

/* By the memories; where those ask for more uops than there can be, or than can be planned, in slices. */
static enum dse_status offer_fitting(struct state *state, struct engine_context *context,
                                     struct dse_error *err)
{
    struct tile_rules rules = {.sums = UOP_SUMS_CHAIN, /* edges in proportion to uops */
                               .sram = UOP_SRAM_ALL,
                               .batch = state->task.batch};
    const enum dse_status status = offer(state, context, &rules, NULL, UOP_USE_MAX, err);
    if (status == DSE_OK && engine_context_best_cost(context) < INFINITY)
        return DSE_OK;
    if (status != DSE_OK && status != DSE_LIMIT)
        return status;
    if (engine_context_option(context, OPTION_NETWORK + KLOTSKI_TRANSPORT) != UOP_IDEAL)
        return status;
    rules.sram = UOP_SRAM_SLICES;
    DSE_TRY(take_sums(state, context, err));
    state->task.machine.slices = true;
    return offer(state, context, &rules, NULL, UOP_USE_MAX, err);
}

static enum dse_status step(void *memory, struct engine_context *context, enum engine_stop *stop,
                            struct dse_error *err)
{
    struct state *state = memory;
    const struct tile_rules rules = {.sums = UOP_SUMS_ALL, .sram = UOP_SRAM_OFF, .batch = state->task.batch};
    const struct uop_cut *given;
    DSE_TRY(klotski_partition_from(context, OPTION_PARTITION_FROM, &state->task, &given, err));
    if (!given && engine_context_option(context, OPTION_NETWORK + KLOTSKI_MEMORY) == UOP_DRAM)
        DSE_TRY(offer_fitting(state, context, err));
    else
        DSE_TRY(offer(state, context, &rules, given, INT32_MAX, err));
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
