/* From the driver's task to what the searches need: graph, core scheduler with its cache, machine. */
#include "engines/soma/task.h"

#include <string.h>

#include "base/clock.h"
#include "costmodel/fused/accounting_soma.h"
#include "costmodel/fused/core_machine.h"
#include "engines/driver/driver.h"
#include "engines/driver/engine_fit.h"
#include "engines/soma/parts.h"

enum { OWN_COST_MAX = 1 << 18 };

/* Tiles, tensors and reads of a schedule whose DRAM order is searched: some 4 GB of memory. */
enum { HELD_PART_MAX = 1 << 22 };

const struct engine_accounting soma_accountings[] = {
    {&accounting_soma, "compat", 0}, {&accounting_soma_compat, "compat", 1}, {NULL, NULL, 0}};

/* The compiled accounting, with the task's cache or one of its own. */
static enum dse_status open_core(struct soma_task *made, const struct accounting *accounting,
                                 struct soma_core_choice choice, struct arena *arena, struct dse_error *err)
{
    struct schedule_task task = {.arch = made->task->architecture,
                                 .network = made->scheduled.network,
                                 .batch = made->scheduled.batch,
                                 .cache = made->task->core_cache};
    if (!task.cache && !made->own)
        DSE_TRY(core_cache_new(OWN_COST_MAX, &made->own, err));
    task.cache = task.cache ? task.cache : made->own;
    DSE_TRY(soma_core_open(accounting, choice, &task, arena, &made->core, err));
    const struct schedule_pricer *pricer = made->core.pricer;
    const struct core_array *array = &pricer->array;
    made->search.context.core = pricer->tile;
    made->search.machine = pricer->machine;
    made->search.slow_tiles = made->core.choice.core != SOMA_CORE_ARRAY;
    made->search.parallel =
        (struct soma_parallel){array->lane_c, array->lane_k, array->size.pe_rows, array->size.pe_columns};
    return DSE_OK;
}

enum dse_status soma_takes_machine(const struct engine_question *question, struct dse_error *err)
{
    const enum soma_core core = (enum soma_core)engine_question_option(question, "core");
    return soma_core_check(question->accounting, core, question->task->architecture, err);
}

/* Whether the machine's buffer is large enough for the layers, in parts that are not too many. */
static enum dse_status check_parts(const struct architecture *arch, const struct soma_scheduled *whole,
                                   struct arena *arena, struct dse_error *err)
{
    struct core_split split;
    struct soma_scheduled parts;
    struct dse_error inner = {0};
    if (core_machine_split(arch, &split, &inner) != DSE_OK)
        return DSE_OK; /* takes_machine says why */
    const struct soma_part_rule rule = {
        split.machine.buffer_byte, split.word_bit, split.streams, SOMA_PART_SHARE, 0, NULL, false, false};
    DSE_TRY(soma_parts_by_rule(whole, &rule, arena, &parts, err));
    return soma_parts_check(&parts, &rule, err);
}

enum dse_status soma_takes_network(const struct engine_question *question, struct dse_error *err)
{
    const bool compat = question->accounting->schedule->as_published;
    const struct engine_task *task = question->task;
    struct soma_scheduled scheduled;
    struct arena arena;
    arena_init(&arena);
    enum dse_status status =
        soma_scheduled_network(task->network, task->batch, compat, &arena, &scheduled, err);
    if (status == DSE_OK && !compat && task->architecture)
        status = check_parts(task->architecture, &scheduled, &arena, err);
    arena_free(&arena);
    return status;
}

/* A core that `auto` comes to is that. */
double soma_known_as(const struct engine_question *question, size_t option)
{
    const double value = question->task->option[option];
    return strcmp(question->engine->option[option].name, "core") != 0
               ? value
               : soma_core_known_as(question->accounting, (enum soma_core)value,
                                    question->task->architecture);
}

/* What is scheduled, and what is searched of it. The published program knows no blocks. */
static enum dse_status make_graphs(struct soma_task *made, const struct network *network, bool compat,
                                   struct arena *arena, struct dse_error *err)
{
    const struct schedule_pricer *pricer = made->core.pricer;
    DSE_TRY(soma_graph_init(network, arena, &made->graph, err));
    if (!compat)
        DSE_TRY(network_fold_new(network, arena, &made->fold, err));
    made->graph.word_bit = pricer->word_bit;
    made->graph.streams = pricer->streams;
    made->search.context.network = network;
    made->search.context.graph = &made->graph;
    if (!made->fold)
        return DSE_OK;
    DSE_TRY(soma_graph_init(&made->fold->network, arena, &made->folded, err));
    made->folded.word_bit = pricer->word_bit;
    made->folded.streams = pricer->streams;
    made->folded.fold = made->fold;
    made->search.context.network = &made->fold->network;
    made->search.context.graph = &made->folded;
    return DSE_OK;
}

struct soma_search soma_task_whole(const struct soma_task *made)
{
    struct soma_search whole = made->search;
    whole.context.network = made->graph.network;
    whole.context.graph = &made->graph;
    return whole;
}

/* The rule asks the accounting of the whole network what the buffer holds and what tiles cost; parts have one
 * of their own. The published program cuts no layers. */
static enum dse_status make_parts(struct soma_task *made, const struct accounting *accounting,
                                  struct soma_core_choice choice, struct arena *arena, struct dse_error *err)
{
    const struct schedule_pricer *pricer = made->core.pricer;
    const struct soma_part_rule rule = {
        pricer->machine.buffer_byte, pricer->word_bit, pricer->streams, SOMA_PART_SHARE,
        pricer->stay_word,           &pricer->tile,    false,           false};
    const struct soma_scheduled whole = made->scheduled;
    DSE_TRY(soma_parts_by_rule(&whole, &rule, arena, &made->scheduled, err));
    return made->scheduled.network == whole.network ? DSE_OK
                                                    : open_core(made, accounting, choice, arena, err);
}

enum dse_status soma_task_prepare(const struct engine_task *task, const struct soma_scheduled *scheduled,
                                  const struct accounting *accounting, struct soma_core_choice choice,
                                  struct arena *arena, struct soma_task *made, struct dse_error *err)
{
    memset(made, 0, sizeof *made);
    made->task = task;
    const bool compat = accounting->schedule->as_published;
    if (scheduled)
        made->scheduled = *scheduled;
    else
        DSE_TRY(soma_scheduled_network(task->network, task->batch, compat, arena, &made->scheduled, err));
    made->search.objective = task->objective;
    made->search.clock_hz = task->architecture->clock_hz;
    made->search.leakage_w = architecture_all_leakage_w(task->architecture);
    made->search.context.batch = made->scheduled.batch;
    made->search.context.compat = compat;
    made->search.cancel = task->budget.cancel;
    if (task->budget.max_seconds > 0)
        made->search.stop_at_s = clock_wall_s() + task->budget.max_seconds;
    made->search.context.cancel = task->budget.cancel;
    made->search.context.end_s = soma_search_last_end(made->search.stop_at_s);
    DSE_TRY(open_core(made, accounting, choice, arena, err));
    if (!scheduled && !compat) {
        const double n_layer = made->scheduled.network->n_layer;
        DSE_TRY(make_parts(made, accounting, choice, arena, err));
        made->search.layer_share = n_layer / made->scheduled.network->n_layer;
    }
    DSE_TRY(make_graphs(made, made->scheduled.network, compat, arena, err));
    made->search.part_max = made->fold ? 0 : HELD_PART_MAX;
    made->core.mapper.stop_at_s = made->search.stop_at_s;
    made->core.mapper.cancel = made->search.cancel;
    return DSE_OK;
}

enum dse_status soma_task_of(struct engine_context *context, size_t core, struct soma_task *made,
                             struct dse_error *err)
{
    const struct soma_core_choice choice = {
        .core = (enum soma_core)engine_context_option(context, core),
        .max_evaluations = (uint64_t)engine_context_option(context, core + 1),
    };
    DSE_TRY(soma_task_prepare(engine_context_task(context), NULL, engine_context_accounting(context), choice,
                              engine_context_arena(context), made, err));
    made->search.reserved_s = engine_context_reserved(context);
    return DSE_OK;
}

void soma_task_free(struct soma_task *made)
{
    core_cache_free(made->own);
    made->own = NULL;
}
