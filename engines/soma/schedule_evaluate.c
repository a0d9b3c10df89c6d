/* Parses the text by the rules and the core scheduler that it names, applies its order of transfers,
 * evaluates, and words each fault with the tensor and layer it is about. */
#include "engines/soma/schedule_evaluate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/fused/accounting_soma.h"
#include "engines/soma/long_schedule.h"
#include "engines/soma/notation/graph.h"
#include "engines/soma/parts.h"

enum { TENSOR_TEXT_MAX = 192, NUMBER_MAX = 32 };

const char *soma_schedule_kind_text(enum fused_tensor_kind kind)
{
    static const char *const text[] = {"ifmap", "weights", "ofmap", "local"};
    return text[kind];
}

enum dse_status soma_schedule_listed(const struct soma_schedule *s, struct dse_error *err)
{
    char n[NUMBER_MAX], most[NUMBER_MAX];
    if (!s->is_long)
        return DSE_OK;
    return dse_fail(
        err, DSE_LIMIT,
        "the schedule has %s tiles, and tiles, tensors, instructions and times are listed of %s at "
        "most; the report summary has its totals",
        text_thousands(s->fused.n_tile, n, sizeof n), text_thousands(SOMA_TILE_MAX, most, sizeof most));
}

/* "tensor 12, the weights of conv1 (9,408 bytes)" */
static char *tensor_text(const struct soma_schedule *s, uint32_t id, char *buffer, size_t size)
{
    const struct fused_tensor *tensor = &s->fused.tensor[id];
    char byte[NUMBER_MAX], tile[NUMBER_MAX] = "";
    if (tensor->kind != FUSED_WEIGHT || tensor->streamed)
        snprintf(tile, sizeof tile, " of tile %u", tensor->index);
    snprintf(buffer, size, "tensor %u, the %s%s of %.60s (%s bytes)", id,
             tensor->kind == FUSED_LOCAL ? "output" : soma_schedule_kind_text(tensor->kind), tile,
             s->network->layer[tensor->layer].name, text_thousands(tensor->byte, byte, sizeof byte));
    return buffer;
}

/* `why` is what the core scheduler said, for SOMA_COST. */
static enum dse_status parse_fault(const struct soma_schedule *s, const struct soma_fault_info *fault,
                                   const char *why, const char *path, struct dse_error *err)
{
    char where[TENSOR_TEXT_MAX];
    if (fault->what == SOMA_GROUPS)
        snprintf(where, sizeof where, "group %u", fault->layer + 1);
    else
        snprintf(where, sizeof where, "layer %.100s",
                 fault->layer < s->network->n_layer ? s->network->layer[fault->layer].name : "?");
    return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "the schedule is not valid at %s: %s", where,
                       fault->what == SOMA_COST ? why : soma_fault_text(fault->what));
}

static uint32_t largest_alive(const struct soma_schedule *s, int32_t position)
{
    uint32_t largest = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->fused.n_tensor; i++) {
        const struct fused_tensor *tensor = &s->fused.tensor[i];
        if (tensor->start <= position && position < tensor->end && tensor->byte > most) {
            most = tensor->byte;
            largest = i;
        }
    }
    return largest;
}

static enum dse_status overflow(const struct soma_schedule *s, const char *path, struct dse_error *err)
{
    int32_t at = s->detail.result.fault_position;
    char alive[NUMBER_MAX], room[NUMBER_MAX], most[NUMBER_MAX], tensor[TENSOR_TEXT_MAX],
        tile[TENSOR_TEXT_MAX];
    if (at < 0)
        snprintf(tile, sizeof tile, "before the first tile");
    else
        snprintf(tile, sizeof tile, "at position %llu (tile %u of %.60s)",
                 (unsigned long long)s->first + (unsigned)at, s->fused.tile[at].index,
                 s->network->layer[s->fused.tile[at].layer].name);
    return dse_fail_at(
        err, DSE_BAD_INPUT, path, 0,
        "the schedule does not fit: %s it has %s bytes alive, %s holds %s; the largest is %s, the "
        "most anywhere %s bytes",
        tile, text_thousands(s->detail.trace.living_byte[at + 1], alive, sizeof alive),
        s->arch->level[s->buffer].name, text_thousands(s->machine.buffer_byte, room, sizeof room),
        tensor_text(s, largest_alive(s, at), tensor, sizeof tensor),
        text_thousands(s->detail.result.buffer_max_byte, most, sizeof most));
}

/* `text` is the tensor at which the DRAM stands. */
static enum dse_status deadlock(const struct soma_schedule *s, const char *text, const char *path,
                                struct dse_error *err)
{
    uint32_t p = 0;
    while (p + 1 < s->fused.n_tile && s->detail.trace.tile_start[p] != FUSED_NEVER)
        p++;
    return dse_fail_at(
        err, DSE_BAD_INPUT, path, 0,
        "the schedule never ends: tile %u of %.60s (position %u) waits for a tensor that stands in the "
        "DRAM order behind %s, which waits for that tile or a later one",
        s->fused.tile[p].index, s->network->layer[s->fused.tile[p].layer].name, p, text);
}

static enum dse_status fault_message(const struct soma_schedule *s, const char *path, struct dse_error *err)
{
    char text[TENSOR_TEXT_MAX];
    const struct fused_tensor *tensor = &s->fused.tensor[s->detail.result.fault_tensor];
    if (s->detail.result.fault == FUSED_BUFFER)
        return overflow(s, path, err);
    tensor_text(s, s->detail.result.fault_tensor, text, sizeof text);
    if (s->detail.result.fault == FUSED_LIFETIME)
        return dse_fail_at(
            err, DSE_BAD_INPUT, path, 0,
            "the schedule is not valid: %s lives at positions %d to %d, but is made at %d and used "
            "from %d to %d (-1: not at all)",
            text, tensor->start, tensor->end - 1, tensor->producer_tile, tensor->first_use, tensor->last_use);
    if (s->detail.result.fault == FUSED_DEADLOCK)
        return deadlock(s, text, path, err);
    if (s->detail.result.fault == FUSED_OVERLAP)
        return dse_fail_at(
            err, DSE_BAD_INPUT, path, 0,
            "the schedule is not valid: %s may be loaded from position %d on, but a tensor whose "
            "living duration ends there stands behind it in the DRAM order and is still in its room",
            text, tensor->start);
    return dse_fail_at(err, DSE_BAD_INPUT, path, 0,
                       "the schedule is not valid: the DRAM order has %s before a tensor that it depends on",
                       text);
}

static enum dse_status number_transfers(struct soma_schedule *s, struct arena *arena, struct dse_error *err)
{
    s->place = arena_alloc(arena, s->fused.n_tensor, sizeof *s->place);
    DSE_TRY(arena_check(arena, "a schedule", err));
    memset(s->place, 0xff, s->fused.n_tensor * sizeof *s->place);
    for (uint32_t i = 0; i < s->fused.n_dram; i++)
        s->place[s->fused.dram_order[i]] = i;
    return DSE_OK;
}

/* A DLSA that does not belong to these groups is bad text, whose lines soma_apply does not know. */
static enum dse_status apply(const struct soma_dlsa *dlsa, const char *path, struct fused_schedule *fused,
                             struct dse_error *err)
{
    struct dse_error inner = {0};
    enum dse_status status = soma_apply(dlsa, fused, &inner);
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, path, 0, "%s", inner.text);
}

/* In runs, of which none is kept. */
static enum dse_status evaluate_long(struct soma_schedule *s, const char *path,
                                     const struct soma_context *context, const struct schedule_pricer *pricer,
                                     struct dse_error *err)
{
    struct soma_long found;
    struct dse_error why = {0};
    struct arena arena;
    arena_init(&arena);
    enum dse_status status =
        soma_long_evaluate(context, pricer, &s->lfa, SOMA_RUN_TILES, false, &arena, &found, &why);
    s->is_long = true;
    s->first = found.first;
    s->fused = found.fused;
    s->detail = found.detail;
    if (status != DSE_OK)
        status = dse_fail(err, status, "%s", why.text);
    else if (found.fault.what != SOMA_OK)
        status = parse_fault(s, &found.fault, why.text, path, err);
    else if (found.has_fault)
        status = fault_message(s, path, err);
    arena_free(&arena);
    return status;
}

static enum dse_status evaluate(struct soma_schedule *s, const char *path, const struct soma_dlsa *dlsa,
                                const struct schedule_pricer *pricer, struct arena *arena,
                                struct dse_error *err)
{
    struct soma_graph graph;
    const struct soma_context context = {.network = s->network,
                                         .graph = &graph,
                                         .batch = s->samples,
                                         .core = pricer->tile,
                                         .compat = s->accounting->schedule->as_published};
    struct soma_fault_info fault;
    s->machine = pricer->machine;
    s->buffer = pricer->buffer;
    s->n_layer_group = 0;
    for (uint32_t g = 0; g < s->lfa.n_flc; g++)
        s->n_layer_group += s->lfa.dram_cut[g];
    DSE_TRY(soma_graph_init(s->network, arena, &graph, err));
    graph.word_bit = pricer->word_bit;
    graph.streams = pricer->streams;
    struct dse_error why = {0};
    enum dse_status status = soma_parse(&context, &s->lfa, arena, &s->fused, &fault, &why);
    if (status == DSE_LIMIT && !s->has_dlsa && !context.compat)
        return evaluate_long(s, path, &context, pricer, err);
    if (status != DSE_OK)
        return dse_fail(err, status, "%s", why.text);
    if (fault.what != SOMA_OK)
        return parse_fault(s, &fault, why.text, path, err);
    if (s->has_dlsa)
        DSE_TRY(apply(dlsa, path, &s->fused, err));
    DSE_TRY(number_transfers(s, arena, err));
    DSE_TRY(schedule_price_detail(pricer, &s->fused, arena, &s->detail, err));
    return s->detail.result.fault == FUSED_OK ? DSE_OK : fault_message(s, path, err);
}

/* Whose rules hold: those the text names, if any; what is asked for must not contradict it. */
static enum dse_status choose_rules(struct soma_schedule *s, const struct yaml_doc *doc,
                                    struct dse_error *err)
{
    enum soma_rules rules;
    DSE_TRY(soma_read_rules(doc, &rules, err));
    bool said = rules == SOMA_RULES_COMPAT;
    if (rules != SOMA_RULES_UNSAID && s->accounting && s->accounting->schedule->as_published != said)
        return dse_fail_at(err, DSE_BAD_INPUT, doc->path, 0,
                           "the schedule says compat: %s; evaluate it without %s", said ? "true" : "false",
                           said ? "--accounting soma" : "--compat or --accounting soma-compat");
    if (!s->accounting)
        s->accounting = said ? &accounting_soma_compat : &accounting_soma;
    return DSE_OK;
}

static enum dse_status choose_core(struct soma_schedule *s, const struct yaml_doc *doc, struct dse_error *err)
{
    DSE_TRY(soma_core_read(doc, &s->core_choice, err));
    return s->core_name ? soma_core_find(s->core_name, &s->core_choice.core, err) : DSE_OK;
}

/* All that the text says, and the core that it is for; task->cache is the caller's. */
static enum dse_status read_text(struct soma_schedule *s, const struct yaml_doc *doc, struct arena *arena,
                                 struct schedule_task *task, struct soma_core_machine *core,
                                 struct soma_dlsa *dlsa, struct dse_error *err)
{
    enum { COST_MAX = 1 << 16 };
    struct soma_scheduled whole, scheduled;
    DSE_TRY(choose_rules(s, doc, err));
    DSE_TRY(choose_core(s, doc, err));
    DSE_TRY(soma_scheduled_network(s->network, s->batch, s->accounting->schedule->as_published, arena, &whole,
                                   err));
    DSE_TRY(soma_parts_read(doc, &whole, arena, &scheduled, err));
    task->network = s->network = scheduled.network;
    task->batch = s->samples = scheduled.batch;
    if (s->batch == 0)
        s->batch = s->samples;
    DSE_TRY(core_cache_new(COST_MAX, &task->cache, err));
    DSE_TRY(soma_core_open(s->accounting, s->core_choice, task, arena, core, err));
    s->core_choice = core->choice;
    return soma_read(doc, s->network, arena, &s->lfa, dlsa, &s->has_dlsa, err);
}

enum dse_status soma_schedule_evaluate(struct soma_schedule *s, const char *path, const char *text,
                                       size_t length, struct arena *arena, struct dse_error *err)
{
    struct schedule_task task = {.arch = s->arch};
    struct soma_core_machine *core = arena_alloc(arena, 1, sizeof *core);
    struct soma_dlsa dlsa;
    struct yaml_doc doc;
    DSE_TRY(arena_check(arena, "a core array", err));
    DSE_TRY(yaml_parse(&doc, path, text, length, err));
    enum dse_status status = read_text(s, &doc, arena, &task, core, &dlsa, err);
    yaml_doc_free(&doc);
    if (status == DSE_OK)
        status = evaluate(s, path, &dlsa, core->pricer, arena, err);
    core_cache_free(task.cache);
    return status;
}
