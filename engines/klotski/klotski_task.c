/* From a task to machine and network, from a plan to the driver, and from its text back. */
#include "engines/klotski/klotski_task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"
#include "costmodel/uop/accounting_maestro_kc.h"
#include "engines/driver/engine_fit.h"
#include "engines/klotski/klotski_metrics.h"

const struct engine_accounting klotski_accountings[] = {{.accounting = &accounting_maestro_kc}, {NULL}};

struct tile_rules klotski_rules(const struct engine_context *context, size_t first,
                                const struct klotski_task *task)
{
    const double said = engine_context_option(context, first + KLOTSKI_MAX_UOPS), most = said * task->batch;
    return (struct tile_rules){.sums = (enum uop_sums)engine_context_option(context, first + KLOTSKI_SUMS),
                               .sram = (enum uop_sram)engine_context_option(context, first + KLOTSKI_SRAM),
                               .batch = task->batch,
                               .max_uops = most < UOP_MAX ? (uint32_t)most : UOP_MAX,
                               .grows = said == KLOTSKI_MAX_UOPS_STANDARD,
                               .usual = KLOTSKI_MAX_UOPS_STANDARD * task->batch};
}

uint32_t klotski_fewer(const struct tile_rules *rules, double n, uint32_t least)
{
    const bool is_more = rules->grows && rules->max_uops > rules->usual;
    const double fewer = is_more ? ceil(n * rules->usual / rules->max_uops) : n;
    return (uint32_t)fmin(n, fmax(fewer, least));
}

enum uop_vector klotski_vector(const struct engine_context *context, size_t index)
{
    return (enum uop_vector)engine_context_option(context, index);
}

enum dse_status klotski_task_of(const struct engine_task *task, enum uop_vector vector, struct arena *arena,
                                struct klotski_task *made, struct dse_error *err)
{
    *made = (struct klotski_task){.fold = NULL};
    DSE_TRY(node_pricer_new(task->architecture, task->core_cache, task->budget.cancel, arena, &made->machine,
                            &made->pricer, err));
    made->rough = made->machine;
    made->rough.guesses = true;
    made->n_core = made->machine.columns * made->machine.rows;
    return uop_network_for(task->network, task->batch, vector, arena, &made->network, &made->batch, err);
}

void klotski_task_free(struct klotski_task *made)
{
    node_pricer_delete(made->pricer);
    made->pricer = NULL;
}

/* A file as it was read. */
struct schedule_file {
    const char *path, *text;
    size_t length;
};

enum dse_status klotski_read_file(size_t option, const char *path, const void *bytes, size_t n_byte,
                                  struct arena *arena, const void **content, struct dse_error *err)
{
    struct schedule_file *file = arena_alloc(arena, 1, sizeof *file);
    char *name = arena_alloc(arena, strlen(path) + 1, 1), *text = arena_alloc(arena, n_byte + 1, 1);
    struct yaml_doc doc;
    const struct ynode *partition;
    (void)option;
    DSE_TRY(arena_check(arena, "a schedule of uops", err));
    DSE_TRY(yaml_parse(&doc, path, bytes, n_byte, err));
    const enum dse_status status =
        yaml_require(&doc, doc.root, "a schedule of uops", "partition", &partition, err);
    yaml_doc_free(&doc);
    DSE_TRY(status);
    memcpy(name, path, strlen(path));
    if (n_byte)
        memcpy(text, bytes, n_byte);
    *file = (struct schedule_file){name, text, n_byte};
    *content = file;
    return DSE_OK;
}

enum dse_status klotski_partition_from(struct engine_context *context, size_t index,
                                       const struct klotski_task *task, const struct uop_cut **cut,
                                       struct dse_error *err)
{
    const struct schedule_file *file = engine_context_file(context, index);
    *cut = NULL;
    return file ? uop_partition_read(file->path, file->text, file->length, &task->network,
                                     engine_context_arena(context), cut, err)
                : DSE_OK;
}

struct started {
    uint64_t start;
    uint32_t core, uop;
};

static int compare(const void *a, const void *b)
{
    const struct started *x = a, *y = b;
    if (x->core != y->core)
        return (x->core > y->core) - (x->core < y->core);
    if (x->start != y->start)
        return (x->start > y->start) - (x->start < y->start);
    return (x->uop > y->uop) - (x->uop < y->uop);
}

enum dse_status klotski_lists(const uint64_t *start, const uint32_t *core, uint32_t n_uop, uint32_t n_core,
                              struct arena *arena, struct uop_schedule *schedule, struct dse_error *err)
{
    struct started *by = arena_alloc_unset(arena, n_uop, sizeof *by);
    uint32_t *first = arena_alloc(arena, n_core + (size_t)1, sizeof *first);
    uint32_t *order = arena_alloc_unset(arena, n_uop, sizeof *order);
    DSE_TRY(arena_check(arena, "the lists of cores", err));
    for (uint32_t u = 0; u < n_uop; u++) {
        by[u] = (struct started){start[u], core[u], u};
        first[core[u] + 1]++;
    }
    for (uint32_t c = 0; c < n_core; c++)
        first[c + 1] += first[c];
    qsort(by, n_uop, sizeof *by, compare);
    for (uint32_t i = 0; i < n_uop; i++)
        order[i] = by[i].uop;
    schedule->n_core = n_core;
    schedule->first = first;
    schedule->order = order;
    return DSE_OK;
}

struct uop_plan klotski_plan(const struct engine_context *context, size_t network,
                             const struct tile_rules *rules, const struct uop_cut *cut)
{
    return (struct uop_plan){
        .sums = rules->sums,
        .sram = rules->sram,
        .batch = rules->batch,
        .cut = cut,
        .transport = (enum uop_transport)engine_context_option(context, network + KLOTSKI_TRANSPORT),
        .schedule.firing = (enum uop_firing)engine_context_option(context, network + KLOTSKI_FIRING),
        .memory = (enum uop_memory)engine_context_option(context, network + KLOTSKI_MEMORY)};
}

void klotski_tell_bound(struct engine_context *context, const struct klotski_task *task,
                        enum uop_memory memory)
{
    const struct objective *objective = &engine_context_task(context)->objective;
    const struct uop_network *network = task->fold ? &task->fold->whole : &task->network;
    const uint64_t cycle = (memory == UOP_DRAM ? uop_memory_partition_bound
                                               : uop_partition_bound)(network, &task->machine, task->batch);
    if (objective->energy_exponent == 0)
        engine_context_bound(context,
                             objective_cost_of(objective, 1, (double)cycle / task->machine.clock_hz));
}

/* The plan of the whole network. */
static enum dse_status unroll(const struct klotski_task *task, const struct uop_graph *graph,
                              const struct uop_plan *once, struct arena *scratch, struct uop_plan *whole,
                              struct dse_error *err)
{
    const struct block_fold *fold = task->fold;
    struct uop_cut *cut = arena_alloc(scratch, fold->whole.n_layer, sizeof *cut);
    DSE_TRY(arena_check(scratch, "a partition", err));
    block_fold_cut(fold, once->cut, cut);
    *whole = *once;
    whole->cut = cut;
    return block_fold_lists(fold, graph, cut, &once->schedule, scratch, &whole->schedule, err);
}

static enum dse_status offer_within(struct engine_context *context, const struct klotski_task *task,
                                    const struct uop_network *network, const struct uop_plan *plan,
                                    const struct klotski_programs *programs, struct arena *scratch,
                                    struct dse_error *err)
{
    struct uop_outcome outcome;
    struct engine_schedule schedule;
    struct text_buffer text;
    enum dse_status status =
        uop_plan_evaluate(network, &task->machine, plan, "schedule",
                          engine_context_task(context)->budget.cancel, scratch, &outcome, err);
    if (status == DSE_INTERRUPTED)
        return DSE_OK;         /* nothing was found; the driver sees the flag */
    if (status == DSE_LIMIT) { /* other schedules may be within it */
        engine_context_explain(context, err->text);
        return DSE_OK;
    }
    DSE_TRY(status);
    klotski_metrics_put(&outcome, plan, &task->machine, &schedule);
    klotski_metrics_programs(programs, &schedule);
    klotski_metrics_repeated(task->fold, &outcome.graph, &schedule);
    text_init(&text);
    uop_plan_write(&outcome.graph, plan, &text);
    schedule.text = text.data;
    schedule.text_length = text.length;
    status = text.failed ? dse_fail(err, DSE_NO_MEMORY, "out of memory for a schedule's text")
                         : engine_context_offer(context, &schedule, err);
    text_free(&text);
    return status;
}

/* Its memory is given back, as others may be offered. */
static enum dse_status offer_whole(struct engine_context *context, const struct klotski_task *task,
                                   const struct uop_network *network, const struct uop_plan *plan,
                                   const struct klotski_programs *programs, struct dse_error *err)
{
    struct arena own;
    arena_init(&own);
    const enum dse_status status = offer_within(context, task, network, plan, programs, &own, err);
    arena_free(&own);
    return status;
}

static enum dse_status offer(struct engine_context *context, const struct klotski_task *task,
                             const struct uop_graph *graph, const struct uop_plan *plan,
                             const struct klotski_programs *programs, struct arena *scratch,
                             struct dse_error *err)
{
    struct uop_plan whole = *plan;
    char reason[ENGINE_REASON_MAX];
    if (!uop_plan_fits(&task->network, &task->machine, plan, reason, sizeof reason)) {
        engine_context_explain(context, reason);
        return DSE_OK;
    }
    if (task->fold)
        DSE_TRY(unroll(task, graph, plan, scratch, &whole, err));
    return offer_whole(context, task, task->fold ? &task->fold->whole : &task->network, &whole, programs,
                       err);
}

enum dse_status klotski_offer(struct engine_context *context, const struct klotski_task *task,
                              const struct uop_graph *graph, const struct uop_plan *plan,
                              struct arena *scratch, struct dse_error *err)
{
    return offer(context, task, graph, plan, &klotski_no_programs, scratch, err);
}

const char *const klotski_mapping_name[4] = {"zigzag", "sweep", "local", "mip"};
const char *const klotski_hops_name[2] = {"bytes", "unweighted"};

/* clock_wall_s at which tries end. */
static double deadline_of(const struct engine_context *context, const struct klotski_ordering *ordering)
{
    const double max_seconds = engine_context_task(context)->budget.max_seconds;
    return max_seconds > 0 ? ordering->start_s + max_seconds : INFINITY;
}

enum dse_status klotski_order(struct engine_context *context, const struct klotski_ordering *ordering,
                              uint32_t n_core, const struct uop_graph *graph, struct arena *scratch,
                              struct order_found *found, struct dse_error *err)
{
    const struct order_settings order = {
        .rule = ordering->rule,
        .n_core = n_core,
        .n_try = klotski_fewer(ordering->rules,
                               engine_context_option(context, ordering->options + KLOTSKI_TRIES), 1),
        .n_slot = ordering->n_slot,
        .max_binaries = ordering->max_binaries,
        .max_nodes = (uint64_t)engine_context_option(context, ordering->options + KLOTSKI_MAX_NODES),
        .cancel = engine_context_task(context)->budget.cancel,
        .deadline_s = deadline_of(context, ordering)};
    *found = (struct order_found){.start = arena_alloc_unset(scratch, graph->n_uop, sizeof *found->start),
                                  .core = arena_alloc_unset(scratch, graph->n_uop, sizeof *found->core)};
    DSE_TRY(arena_check(scratch, "an order of uops", err));
    return order_search(graph, &order, ordering->random, scratch, found, err);
}

/* Of what was asked for. */
static struct klotski_programs programs_of(enum order_rule order, const struct order_found *found,
                                           enum core_rule cores, const struct core_programs *placed)
{
    struct klotski_programs programs = klotski_no_programs;
    if (order >= ORDER_ILP) {
        programs.n_program = found->n_open;
        programs.n_program_proved = found->n_proved;
        programs.n_program_large = found->n_large;
    }
    if (cores == CORE_MIP) {
        programs.n_window = placed->n_window;
        programs.n_window_proved = placed->n_proved;
    }
    return programs;
}

enum dse_status klotski_deal_and_offer(struct engine_context *context, const struct klotski_task *task,
                                       const struct klotski_ordering *ordering, const struct uop_graph *graph,
                                       const struct order_found *found, struct uop_plan *plan,
                                       struct arena *scratch, struct dse_error *err)
{
    const size_t first = ordering->options;
    const struct core_settings cores = {
        .rule = (enum core_rule)engine_context_option(context, first + KLOTSKI_MAPPING),
        .mesh = {task->machine.columns, task->machine.rows},
        .unweighted = engine_context_option(context, first + KLOTSKI_HOPS) != 0,
        .n_move = klotski_fewer(ordering->rules, engine_context_option(context, first + KLOTSKI_MOVES), 1),
        .max_nodes = (uint64_t)engine_context_option(context, first + KLOTSKI_MAX_NODES),
        .cancel = engine_context_task(context)->budget.cancel,
        .deadline_s = deadline_of(context, ordering)};
    struct core_programs placed;
    DSE_TRY(core_mapping(graph, found->start, &cores, ordering->random, scratch, found->core, &placed, err));
    DSE_TRY(
        klotski_lists(found->start, found->core, graph->n_uop, task->n_core, scratch, &plan->schedule, err));
    const struct klotski_programs programs = programs_of(ordering->rule, found, cores.rule, &placed);
    if (ordering->limited)
        *ordering->limited = found->n_limited > 0 || placed.n_proved < placed.n_window;
    return offer(context, task, graph, plan, &programs, scratch, err);
}

enum dse_status klotski_order_and_offer(struct engine_context *context, const struct klotski_task *task,
                                        const struct klotski_ordering *ordering,
                                        const struct uop_graph *graph, struct uop_plan *plan,
                                        struct arena *scratch, struct dse_error *err)
{
    struct order_found found;
    DSE_TRY(klotski_order(context, ordering, task->n_core, graph, scratch, &found, err));
    return klotski_deal_and_offer(context, task, ordering, graph, &found, plan, scratch, err);
}

static enum dse_status read_again(const struct engine_task *task, const struct klotski_task *made,
                                  const struct engine_schedule *found, struct arena *arena,
                                  struct engine_schedule *again, struct dse_error *err)
{
    struct uop_plan plan;
    struct uop_outcome outcome;
    DSE_TRY(uop_plan_read("schedule", found->text, found->text_length, &made->network, made->batch, arena,
                          &plan, err));
    DSE_TRY(uop_plan_evaluate(&made->network, &made->machine, &plan, "schedule", task->budget.cancel, arena,
                              &outcome, err));
    klotski_metrics_put(&outcome, &plan, &made->machine, again);
    return DSE_OK;
}

enum dse_status klotski_verify(const struct engine_task *task, const struct accounting *accounting,
                               const struct engine_schedule *found, struct arena *arena,
                               struct engine_schedule *again, struct dse_error *err)
{
    struct klotski_task made;
    enum uop_vector vector;
    (void)accounting; /* there is one */
    DSE_TRY(uop_vector_read("schedule", found->text, found->text_length, &vector, err));
    enum dse_status status = klotski_task_of(task, vector, arena, &made, err);
    struct arena own; /* what may be large goes at once */
    arena_init(&own);
    if (status == DSE_OK)
        status = read_again(task, &made, found, &own, again, err);
    arena_free(&own);
    klotski_task_free(&made);
    return status;
}
