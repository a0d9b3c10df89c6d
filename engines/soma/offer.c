/* Totals come from the evaluation, the text is written from the scheme, and reading it back must give the
 * same schedule before the driver sees it. */
#include "engines/soma/offer.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/yaml_tree.h"
#include "engines/soma/long_schedule.h"
#include "engines/soma/machine/lower.h"
#include "engines/soma/notation/tile_plan.h"
#include "engines/soma/notation/unroll.h"
#include "engines/soma/parts.h"
#include "engines/soma/search/plus_price.h"
#include "engines/soma/soma_metrics.h"

/* A schedule of more tiles is held once at most: what double buffering gives a fusion is read back and
 * placed in runs of layer groups. */
enum { PLACED_WHOLE_MAX = 1 << 20 };

/* Comparisons for placing the tensors of what was found: some milliseconds. */
enum { PLACE_EFFORT = 300000 };

/* The family's own metrics but those of the first stage and of places. */
static void put_own(const struct soma_task *task, const struct soma_lfa *lfa,
                    const struct fused_schedule *fused, const struct fused_result *result,
                    struct engine_schedule *totals)
{
    struct soma_metrics own;
    soma_metrics_init(&own);
    own.compute_cycle = result->compute_cycle;
    own.dram_cycle = result->dram_cycle;
    own.stall_cycle = result->stall_cycle;
    own.buffer_max_byte = (double)result->buffer_max_byte;
    own.buffer_average_byte = result->buffer_average_byte;
    own.buffer_average_compute_byte = result->buffer_average_compute_byte;
    own.stream_byte = (double)result->stream_byte;
    own.n_layer_group = 0;
    own.n_fine_group = lfa->n_flc;
    own.n_tile = fused->n_tile;
    own.n_dram_tensor = fused->n_dram;
    own.n_cut_layer = task->graph.network->n_cut;
    own.n_repeated_layer = task->graph.network->n_layer - task->search.context.network->n_layer;
    for (uint32_t g = 0; g < lfa->n_flc; g++)
        own.n_layer_group += lfa->dram_cut[g];
    soma_metrics_put(&own, totals);
}

/* Everything of an engine_schedule but its text, of a schedule that was priced without a fault. */
static void sum_up(const struct soma_task *task, const struct soma_lfa *lfa,
                   const struct fused_schedule *fused, const struct fused_result *result,
                   const struct metrics *metrics, struct engine_schedule *totals)
{
    engine_schedule_init(totals);
    totals->metrics = *metrics;
    totals->accounting = soma_core_accounting(task->core.choice.core, task->core.pricer->accounting);
    put_own(task, lfa, fused, result, totals);
}

/* The DLSA as the text form has it. */
static enum dse_status dlsa_of(const struct fused_schedule *fused, struct arena *arena,
                               struct soma_dlsa *dlsa, struct dse_error *err)
{
    *dlsa = (struct soma_dlsa){.n_tensor = fused->n_tensor, .n_dram = fused->n_dram};
    dlsa->order = fused->dram_order;
    dlsa->start = arena_alloc(arena, fused->n_tensor, sizeof *dlsa->start);
    dlsa->end = arena_alloc(arena, fused->n_tensor, sizeof *dlsa->end);
    DSE_TRY(arena_check(arena, "a schedule", err));
    for (uint32_t i = 0; i < fused->n_tensor; i++) {
        dlsa->start[i] = fused->tensor[i].start;
        dlsa->end[i] = fused->tensor[i].end;
    }
    return DSE_OK;
}

/* Whether DRAM order and living durations are those that the parser gives the LFA: then the text need not say
 * them. */
static enum dse_status is_default(const struct soma_task *task, const struct soma_lfa *lfa,
                                  const struct fused_schedule *fused, struct arena *scratch, bool *same,
                                  struct dse_error *err)
{
    struct fused_schedule plain;
    struct soma_fault_info fault;
    const struct soma_search whole = soma_task_whole(task);
    DSE_TRY(soma_parse(&whole.context, lfa, scratch, &plain, &fault, err));
    *same = fault.what == SOMA_OK && plain.n_tensor == fused->n_tensor && plain.n_dram == fused->n_dram;
    for (uint32_t i = 0; *same && i < plain.n_dram; i++)
        *same = plain.dram_order[i] == fused->dram_order[i];
    for (uint32_t i = 0; *same && i < plain.n_tensor; i++)
        *same =
            plain.tensor[i].start == fused->tensor[i].start && plain.tensor[i].end == fused->tensor[i].end;
    return DSE_OK;
}

static enum dse_status no_fault(const struct fused_result *result, struct dse_error *err)
{
    static const char *const text[] = {"no fault",
                                       "the buffer overflows",
                                       "a tensor is not alive when it is used",
                                       "the schedule never ends",
                                       "the DRAM order breaks a dependence",
                                       "a load takes the room of what is still to be stored"};
    if (result->fault == FUSED_OK)
        return DSE_OK;
    return dse_fail(err, DSE_INTERNAL, "a schedule was found that is not valid: %s (tensor %u)",
                    text[result->fault], result->fault_tensor);
}

/* No one would read it. */
static void say_too_long(struct engine_context *context, const struct fused_schedule *fused, size_t length)
{
    enum { NUMBER_MAX = 32 };
    char reason[ENGINE_REASON_MAX], n[NUMBER_MAX], byte[NUMBER_MAX], most[NUMBER_MAX];
    (void)snprintf(reason, sizeof reason,
                   "a schedule of %s tiles has a text of %s bytes, and a file that is read at most %s",
                   text_thousands(fused->n_tile, n, sizeof n), text_thousands(length, byte, sizeof byte),
                   text_thousands(YAML_FILE_MAX_BYTE, most, sizeof most));
    engine_context_explain(context, reason);
}

/* A schedule that takes long to hand on, and there is no time left for it. */
static bool is_given_up(const struct soma_task *task, const struct fused_schedule *fused)
{
    return soma_context_gives_up(&task->search.context, fused->n_tile);
}

static bool is_better(struct engine_context *context, const struct soma_task *task,
                      const struct fused_result *result)
{
    return soma_cost(&task->search, result->energy_j, result->cycle) < engine_context_best_cost(context);
}

/* With its text form, in which `dlsa` NULL is double buffering. `start_s`: since when it is being made, on
 * clock_wall_s. */
static enum dse_status hand_over(struct engine_context *context, const struct soma_task *task,
                                 const struct soma_lfa *lfa, const struct soma_dlsa *dlsa,
                                 const struct fused_schedule *fused, double start_s,
                                 struct engine_schedule *totals, struct dse_error *err)
{
    struct text_buffer text;
    text_init(&text);
    soma_write(task->graph.network, task->search.context.compat, lfa, dlsa, fused, SOMA_NAMED_MAX, &text);
    soma_core_write(task->core.choice, &text);
    totals->text = text.data;
    totals->text_length = text.length;
    enum dse_status status = DSE_OK;
    if (text.failed)
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for a schedule's text");
    else if (text.length <= YAML_FILE_MAX_BYTE)
        status = engine_context_offer(context, totals, err);
    else
        say_too_long(context, fused, text.length);
    text_free(&text);
    engine_context_reserve(context, soma_search_reserve(clock_wall_s() - start_s));
    return status;
}

/* `double_buffered`: the schedule is known to be what the parser gives the LFA. */
static enum dse_status offer(struct engine_context *context, const struct soma_task *task,
                             const struct soma_lfa *lfa, const struct fused_schedule *fused,
                             bool double_buffered, const struct soma_stage1 *stage1, double start_s,
                             struct arena *scratch, struct dse_error *err)
{
    const struct schedule_pricer *pricer = task->core.pricer;
    struct fused_result result;
    struct metrics metrics;
    struct engine_schedule totals;
    struct soma_dlsa dlsa;
    if (is_given_up(task, fused))
        return DSE_OK;
    DSE_TRY(schedule_price(pricer, fused, scratch, &result, err));
    if (task->fold && result.fault != FUSED_OK)
        return DSE_OK; /* repetitions that read other things than the first one */
    DSE_TRY(no_fault(&result, err));
    if (!is_better(context, task, &result))
        return DSE_OK;
    DSE_TRY(schedule_metrics(pricer, fused, &result, &metrics, err));
    sum_up(task, lfa, fused, &result, &metrics, &totals);
    DSE_TRY(dlsa_of(fused, scratch, &dlsa, err));
    if (!double_buffered)
        DSE_TRY(is_default(task, lfa, fused, scratch, &double_buffered, err));
    if (stage1 && stage1->cycle > 0) {
        struct soma_metrics own = soma_metrics_get(&totals);
        own.stage1_latency_cycle = stage1->cycle;
        own.stage1_energy_j = stage1->energy_j + soma_leakage_j(&task->search, (double)stage1->cycle);
        own.stage1_buffer_average_byte = stage1->buffer_average_byte;
        own.stage1_buffer_average_compute_byte = stage1->buffer_average_compute_byte;
        soma_metrics_put(&own, &totals);
    }
    if (is_given_up(task, fused))
        return DSE_OK;
    return hand_over(context, task, lfa, double_buffered ? NULL : &dlsa, fused, start_s, &totals, err);
}

/* ---- what is too long to be held as a whole (long_schedule.h) ---- */

/* Its totals; with a fault, none. */
static enum dse_status sum_up_long(const struct soma_task *task, const struct soma_lfa *lfa, bool place,
                                   struct soma_long *found, struct engine_schedule *totals,
                                   struct dse_error *err)
{
    const struct schedule_pricer *pricer = task->core.pricer;
    const struct soma_search whole = soma_task_whole(task);
    struct metrics metrics;
    struct arena arena;
    arena_init(&arena);
    const enum dse_status status =
        soma_long_evaluate(&whole.context, pricer, lfa, SOMA_RUN_TILES, place, &arena, found, err);
    if (status == DSE_OK && !found->has_fault) {
        schedule_metrics_of(pricer, &found->detail.result, &found->detail.tiles, &metrics);
        sum_up(task, lfa, &found->fused, &found->detail.result, &metrics, totals);
    }
    arena_free(&arena);
    return status;
}

static enum dse_status offer_long(struct engine_context *context, const struct soma_task *task,
                                  const struct soma_lfa *lfa, double start_s, struct dse_error *err)
{
    struct soma_long found;
    struct engine_schedule totals;
    DSE_TRY(sum_up_long(task, lfa, false, &found, &totals, err));
    if (found.fault.what == SOMA_OVER)
        return DSE_OK;
    if (found.fault.what != SOMA_OK)
        return dse_fail(err, DSE_INTERNAL, "a fusion of layers was found that is not valid: %s",
                        soma_fault_text(found.fault.what));
    if (found.has_fault && task->fold)
        return DSE_OK; /* as in `offer` */
    DSE_TRY(no_fault(&found.detail.result, err));
    return is_better(context, task, &found.detail.result)
               ? hand_over(context, task, lfa, NULL, &found.fused, start_s, &totals, err)
               : DSE_OK;
}

/* ---- repetitions ---- */

/* What passes from repetition to repetition, and into and out of them, stays in the buffer. */
static void join_repetitions(const struct network_fold *fold, const struct soma_lfa *folded,
                             struct soma_lfa *whole)
{
    uint32_t to = 0;
    for (uint32_t s = 0; s < fold->n_segment; s++)
        for (uint32_t r = 0; r < fold->of[s].times; r++) {
            const uint32_t first = to;
            for (uint32_t g = 0; g < folded->n_flc; g++)
                to += fold->segment[folded->order[folded->flc[g]]] == s;
            if (first > 0 && first < whole->n_flc)
                whole->dram_cut[first] = false;
        }
}

/* The LFA of the network that is scheduled; `joined`: join_repetitions. Memory from `scratch`. */
static enum dse_status unroll(const struct soma_task *task, const struct soma_lfa *lfa, bool joined,
                              struct arena *scratch, struct soma_lfa *whole, struct dse_error *err)
{
    soma_lfa_new(task->graph.network->n_layer, scratch, whole);
    DSE_TRY(arena_check(scratch, "a schedule", err));
    soma_unroll_lfa(task->fold, lfa, whole);
    if (joined)
        join_repetitions(task->fold, lfa, whole);
    return DSE_OK;
}

/* The unrolled scheme as it was searched, with what is between blocks in the DRAM, or with that left in the
 * buffer (`joined`), and the DRAM order that prefetching gives it: no worse than double buffering, and
 * without a price where that has none. */
static enum dse_status price_unrolled(const struct soma_task *task, const struct soma_lfa *lfa, bool joined,
                                      struct arena *arena, struct soma_lfa *whole,
                                      struct fused_schedule *fused, struct soma_price *price,
                                      struct dse_error *err)
{
    const struct soma_search search = soma_task_whole(task);
    DSE_TRY(unroll(task, lfa, joined, arena, whole, err));
    return plus_polish(&search, whole, NULL, 0, NULL, (struct random_stream){0}, arena, fused, price, err);
}

/* What double buffering makes of it. */
static enum dse_status first_stage(const struct soma_task *task, const struct soma_lfa *whole,
                                   struct soma_stage1 *stage1, struct arena *arena, struct dse_error *err)
{
    const struct soma_search search = soma_task_whole(task);
    struct fused_schedule plain;
    struct soma_price price;
    struct fused_result result;
    DSE_TRY(soma_price_lfa(&search, whole, search.machine.buffer_byte, arena, &plain, &price, err));
    if (isinf(price.cost))
        return DSE_OK;
    DSE_TRY(schedule_price(task->core.pricer, &plain, arena, &result, err));
    *stage1 = (struct soma_stage1){result.cycle, result.energy_j, result.buffer_average_byte,
                                   result.buffer_average_compute_byte};
    return DSE_OK;
}

/* The better of the two in arena[0], which is reset for each: such schedules are large. arena[1] is for what
 * is forgotten soon. */
static enum dse_status offer_better(struct engine_context *context, const struct soma_task *task,
                                    const struct soma_lfa *lfa, double start_s, struct arena arena[2],
                                    struct dse_error *err)
{
    struct soma_lfa whole;
    struct fused_schedule fused;
    struct soma_price apart, price;
    struct soma_stage1 stage1 = {0};
    DSE_TRY(price_unrolled(task, lfa, false, &arena[0], &whole, &fused, &apart, err));
    arena_reset(&arena[0]);
    DSE_TRY(price_unrolled(task, lfa, true, &arena[0], &whole, &fused, &price, err));
    if (isinf(apart.cost) && isinf(price.cost))
        return DSE_OK;
    if (!(price.cost < apart.cost)) {
        arena_reset(&arena[0]);
        DSE_TRY(price_unrolled(task, lfa, false, &arena[0], &whole, &fused, &price, err));
    }
    if (isinf(price.cost))
        return DSE_OK; /* there was no time to make it again */
    DSE_TRY(first_stage(task, &whole, &stage1, &arena[1], err));
    arena_reset(&arena[1]);
    return offer(context, task, &whole, &fused, false, &stage1, start_s, &arena[1], err);
}

/* Whether the tensors that the DRAM moves are few enough for an order of their own to be looked for. */
static enum dse_status can_order(const struct soma_task *task, const struct soma_lfa *lfa,
                                 struct arena *arena, bool *can, struct dse_error *err)
{
    enum { OWN_ORDER_MAX = 1 << 21 };
    const struct soma_search search = soma_task_whole(task);
    struct soma_lfa whole;
    struct fused_schedule fused;
    struct soma_fault_info fault;
    DSE_TRY(unroll(task, lfa, false, arena, &whole, err));
    const enum dse_status status = soma_parse(&search.context, &whole, arena, &fused, &fault, err);
    *can = false;
    if (status == DSE_LIMIT) /* it is long */
        arena_reset(arena);
    if (status != DSE_OK)
        return status == DSE_LIMIT ? DSE_OK : status;
    *can = fault.what != SOMA_OK || fused.n_dram <= OWN_ORDER_MAX;
    arena_reset(arena);
    return DSE_OK;
}

/* The DRAM order of one block says little of that of many, so the unrolled scheme gets one of its own, unless
 * that would take too long: then double buffering's. */
static enum dse_status offer_unrolled(struct engine_context *context, const struct soma_task *task,
                                      const struct soma_lfa *lfa, struct dse_error *err)
{
    struct arena arena[2];
    const double start_s = clock_wall_s();
    arena_init(&arena[0]);
    arena_init(&arena[1]);
    bool own;
    enum dse_status status = can_order(task, lfa, &arena[0], &own, err);
    if (status == DSE_OK)
        status = own ? offer_better(context, task, lfa, start_s, arena, err)
                     : soma_offer_lfa(context, task, lfa, &arena[0], err);
    arena_free(&arena[0]);
    arena_free(&arena[1]);
    return status;
}

enum dse_status soma_offer(struct engine_context *context, const struct soma_task *task,
                           const struct soma_lfa *lfa, const struct fused_schedule *fused,
                           const struct soma_stage1 *stage1, struct arena *scratch, struct dse_error *err)
{
    return task->fold ? offer_unrolled(context, task, lfa, err)
                      : offer(context, task, lfa, fused, false, stage1, clock_wall_s(), scratch, err);
}

enum dse_status soma_offer_lfa(struct engine_context *context, const struct soma_task *task,
                               const struct soma_lfa *lfa, struct arena *scratch, struct dse_error *err)
{
    struct fused_schedule fused;
    struct soma_fault_info fault;
    const double start_s = clock_wall_s();
    arena_reset(scratch);
    const struct soma_search search = soma_task_whole(task);
    struct soma_lfa whole = *lfa;
    if (task->fold)
        DSE_TRY(unroll(task, lfa, false, scratch, &whole, err));
    const enum dse_status status = soma_parse(&search.context, &whole, scratch, &fused, &fault, err);
    if (status == DSE_LIMIT && !search.context.compat)
        return offer_long(context, task, &whole, start_s, err);
    if (status != DSE_OK)
        return status;
    if (fault.what == SOMA_OVER)
        return DSE_OK;
    if (fault.what != SOMA_OK)
        return dse_fail(err, DSE_INTERNAL, "a fusion of layers was found that is not valid: %s",
                        soma_fault_text(fault.what));
    DSE_TRY(offer(context, task, &whole, &fused, true, NULL, start_s, scratch, err));
    arena_reset(scratch);
    return DSE_OK;
}

/* Whether the tensors have places, which only the schedule that counts in the end is asked. */
static enum dse_status put_places(const struct soma_task *task, const struct fused_schedule *fused,
                                  struct arena *arena, struct engine_schedule *totals, struct dse_error *err)
{
    const struct buffer_allocate_options options = {.alignment = 1, .effort = PLACE_EFFORT};
    struct soma_metrics own = soma_metrics_get(totals);
    struct lowered lowered;
    DSE_TRY(instruction_place(fused, &task->graph, &task->search.machine, &options, arena, &lowered, err));
    own.placed = lowered.fault == LOWER_OK;
    if (lowered.fault == LOWER_OK)
        own.n_split_tensor = lowered.split.fits ? lowered.split.n_split : 0;
    soma_metrics_put(&own, totals);
    return DSE_OK;
}

static enum dse_status go_on(const struct soma_task *task, const struct fused_schedule *fused,
                             struct dse_error *err)
{
    return is_given_up(task, fused) ? dse_fail(err, DSE_INTERRUPTED, "interrupted") : DSE_OK;
}

static enum dse_status read_back_long(const struct soma_task *task, const struct soma_lfa *lfa,
                                      struct engine_schedule *again, struct dse_error *err)
{
    struct soma_long found;
    DSE_TRY(sum_up_long(task, lfa, true, &found, again, err));
    if (found.fault.what == SOMA_OVER)
        return dse_fail(err, DSE_INTERRUPTED, "interrupted");
    if (found.fault.what != SOMA_OK)
        return dse_fail(err, DSE_INTERNAL, "%s", soma_fault_text(found.fault.what));
    DSE_TRY(no_fault(&found.detail.result, err));
    struct soma_metrics own = soma_metrics_get(again);
    own.placed = found.placed;
    if (found.placed)
        own.n_split_tensor = found.n_split;
    soma_metrics_put(&own, again);
    return DSE_OK;
}

/* What a text says. */
struct scheme {
    struct soma_lfa lfa;
    struct soma_dlsa dlsa;
    bool has_dlsa;
};

static enum dse_status read_back(const struct soma_task *task, const struct scheme *scheme,
                                 struct arena *arena, struct engine_schedule *again, struct dse_error *err)
{
    const struct soma_lfa *lfa = &scheme->lfa;
    struct soma_fault_info fault;
    struct fused_schedule fused;
    struct fused_result result;
    struct metrics metrics;
    const struct soma_search whole = soma_task_whole(task);
    const bool in_runs = !scheme->has_dlsa && !whole.context.compat;
    if (in_runs && soma_lfa_tiles(lfa) > PLACED_WHOLE_MAX)
        return read_back_long(task, lfa, again, err);
    const enum dse_status status = soma_parse(&whole.context, lfa, arena, &fused, &fault, err);
    if (status == DSE_LIMIT && in_runs)
        return read_back_long(task, lfa, again, err);
    if (status != DSE_OK)
        return status;
    if (fault.what == SOMA_OVER)
        return dse_fail(err, DSE_INTERRUPTED, "interrupted");
    if (fault.what != SOMA_OK)
        return dse_fail(err, DSE_INTERNAL, "%s", soma_fault_text(fault.what));
    if (scheme->has_dlsa)
        DSE_TRY(soma_apply(&scheme->dlsa, &fused, err));
    DSE_TRY(go_on(task, &fused, err));
    DSE_TRY(schedule_price(task->core.pricer, &fused, arena, &result, err));
    DSE_TRY(no_fault(&result, err));
    DSE_TRY(go_on(task, &fused, err));
    DSE_TRY(schedule_metrics(task->core.pricer, &fused, &result, &metrics, err));
    sum_up(task, lfa, &fused, &result, &metrics, again);
    return put_places(task, &fused, arena, again, err);
}

/* Longer texts take long to read. */
enum { INSTANT_TEXT_BYTE = 1 << 20 };

static enum dse_status read_on(const struct engine_task *task, const struct engine_schedule *found,
                               struct dse_error *err)
{
    const atomic_int *cancel = task->budget.cancel;
    return found->text_length > INSTANT_TEXT_BYTE && cancel &&
                   atomic_load_explicit(cancel, memory_order_relaxed)
               ? dse_fail(err, DSE_INTERRUPTED, "interrupted")
               : DSE_OK;
}

/* The scheme of a text, and what `task` is to it. */
static enum dse_status read_scheme(const struct engine_task *task, const struct accounting *accounting,
                                   const struct yaml_doc *doc, struct arena *arena, struct soma_task *made,
                                   struct scheme *scheme, struct dse_error *err)
{
    struct soma_core_choice choice;
    struct soma_scheduled whole, scheduled;
    DSE_TRY(soma_core_read(doc, &choice, err));
    DSE_TRY(soma_scheduled_network(task->network, task->batch, accounting->schedule->as_published, arena,
                                   &whole, err));
    DSE_TRY(soma_parts_read(doc, &whole, arena, &scheduled, err));
    DSE_TRY(soma_task_prepare(task, &scheduled, accounting, choice, arena, made, err));
    return soma_read(doc, made->graph.network, arena, &scheme->lfa, &scheme->dlsa, &scheme->has_dlsa, err);
}

enum dse_status soma_verify(const struct engine_task *task, const struct accounting *accounting,
                            const struct engine_schedule *found, struct arena *arena,
                            struct engine_schedule *again, struct dse_error *err)
{
    struct soma_task *made = arena_alloc(arena, 1, sizeof *made);
    struct yaml_doc doc;
    struct scheme scheme;
    struct engine_task patient =
        *task; /* what was found in time is checked to the end, unless it is cancelled */
    patient.budget = (struct engine_budget){0};
    DSE_TRY(arena_check(arena, "the check of a schedule", err));
    DSE_TRY(read_on(task, found, err));
    DSE_TRY(yaml_parse(&doc, "schedule", found->text, found->text_length, err));
    enum dse_status status = read_on(task, found, err);
    if (status == DSE_OK)
        status = read_scheme(&patient, accounting, &doc, arena, made, &scheme, err);
    yaml_doc_free(&doc);
    made->search.context.cancel = task->budget.cancel;
    if (status == DSE_OK)
        status = read_on(task, found, err);
    if (status == DSE_OK)
        status = read_back(made, &scheme, arena, again, err);
    soma_task_free(made);
    return status;
}
