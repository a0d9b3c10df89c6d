/* Rows of transfers, tiles, steps and groups from the times of an evaluated schedule, and their way into a
 * file. */
#include "engines/soma/schedule_reports.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for a timeline");
}

static const char *copy(struct arena *arena, const char *text)
{
    return arena_copy_text(arena, text, strlen(text));
}

/* What the rows are made from: the layers' names, owned by the arena as the schedule's network may go. */
struct maker {
    const struct soma_schedule *schedule;
    const char **layer;                /* (n_layer) */
    uint32_t *flc_of, *layer_group_of; /* (n_layer) */
    struct arena *arena;
    struct timeline *timeline;
};

static bool copy_names(struct maker *maker)
{
    const struct network *network = maker->schedule->network;
    const struct fused_schedule *fused = &maker->schedule->fused;
    maker->layer = arena_alloc(maker->arena, network->n_layer, sizeof *maker->layer);
    maker->flc_of = arena_alloc(maker->arena, network->n_layer, sizeof *maker->flc_of);
    maker->layer_group_of = arena_alloc(maker->arena, network->n_layer, sizeof *maker->layer_group_of);
    if (!maker->layer || !maker->flc_of || !maker->layer_group_of)
        return false;
    for (uint32_t l = 0; l < network->n_layer; l++)
        if (!(maker->layer[l] = copy(maker->arena, network->layer[l].name)))
            return false;
    for (uint32_t p = 0; p < fused->n_tile; p++) {
        maker->flc_of[fused->tile[p].layer] = fused->tile[p].flc;
        maker->layer_group_of[fused->tile[p].layer] = fused->tile[p].layer_group;
    }
    return true;
}

static bool make_transfers(const struct maker *maker)
{
    static const char *const kind[] = {
        [FUSED_IFMAP] = "ifmap", [FUSED_WEIGHT] = "weights", [FUSED_OFMAP] = "ofmap", [FUSED_LOCAL] = ""};
    const struct soma_schedule *s = maker->schedule;
    struct timeline *t = maker->timeline;
    t->n_transfer = s->fused.n_dram;
    t->transfer = arena_alloc(maker->arena, t->n_transfer + 1, sizeof *t->transfer);
    for (uint32_t k = 0; t->transfer && k < s->fused.n_dram; k++) {
        uint32_t i = s->fused.dram_order[k];
        const struct fused_tensor *tensor = &s->fused.tensor[i];
        const char *source = "";
        if (tensor->kind == FUSED_IFMAP)
            source = tensor->source >= 0 ? maker->layer[tensor->source]
                                         : copy(maker->arena, s->network->input[-1 - tensor->source].name);
        if (!source)
            return false;
        t->transfer[k] = (struct timeline_transfer){
            .kind = kind[tensor->kind],
            .layer = maker->layer[tensor->layer],
            .source = source,
            .tensor = i,
            .tile = tensor->index,
            .layer_group = maker->layer_group_of[tensor->layer],
            .group = maker->flc_of[tensor->layer],
            .start = (int64_t)s->detail.trace.tensor_start[i],
            .finish = (int64_t)s->detail.trace.tensor_finish[i],
            .byte = (int64_t)tensor->dram_byte,
            .buffer_byte = (int64_t)tensor->byte,
            .living_start = tensor->start,
            .living_end = tensor->end,
        };
    }
    return t->transfer != NULL;
}

static bool make_tiles(const struct maker *maker)
{
    const struct soma_schedule *s = maker->schedule;
    struct timeline *t = maker->timeline;
    t->n_tile = s->fused.n_tile;
    t->tile = arena_alloc(maker->arena, t->n_tile + 1, sizeof *t->tile);
    for (uint32_t p = 0; t->tile && p < s->fused.n_tile; p++) {
        const struct fused_tile *tile = &s->fused.tile[p];
        t->tile[p] = (struct timeline_tile){maker->layer[tile->layer],
                                            tile->index,
                                            tile->layer_group,
                                            tile->flc,
                                            (int64_t)s->detail.trace.tile_start[p],
                                            (int64_t)s->detail.trace.tile_finish[p],
                                            (int64_t)s->detail.trace.tile_stall[p]};
    }
    return t->tile != NULL;
}

static int64_t *bytes_of(struct timeline_step *step, enum fused_tensor_kind kind)
{
    return kind == FUSED_WEIGHT  ? &step->weight_byte
           : kind == FUSED_IFMAP ? &step->ifmap_byte
           : kind == FUSED_OFMAP ? &step->ofmap_byte
                                 : &step->local_byte;
}

/* First what comes and goes at each position, then sums. What lives only before the first tile takes no time
 * and no row. */
static bool make_steps(const struct maker *maker)
{
    const struct soma_schedule *s = maker->schedule;
    struct timeline *t = maker->timeline;
    uint32_t n = s->fused.n_tile;
    struct timeline_step *step = arena_alloc(maker->arena, (size_t)n + 1, sizeof *step);
    t->step = step;
    for (uint32_t i = 0; step && i < s->fused.n_tensor; i++) {
        const struct fused_tensor *tensor = &s->fused.tensor[i];
        uint32_t from = tensor->start < 0 ? 0 : (uint32_t)tensor->start;
        uint32_t to = tensor->end < 0 ? 0 : (uint32_t)tensor->end;
        if (from >= to || from >= n)
            continue;
        *bytes_of(&step[from], tensor->kind) += (int64_t)tensor->byte;
        *bytes_of(&step[to < n ? to : n], tensor->kind) -= (int64_t)tensor->byte;
    }
    for (uint32_t p = 0; step && p < n; p++) {
        for (int kind = FUSED_IFMAP; p > 0 && kind <= FUSED_LOCAL; kind++)
            *bytes_of(&step[p], (enum fused_tensor_kind)kind) +=
                *bytes_of(&step[p - 1], (enum fused_tensor_kind)kind);
        step[p].start = p > 0 ? step[p - 1].finish : 0;
        step[p].finish =
            p + 1 < n ? (int64_t)s->detail.trace.tile_finish[p] : (int64_t)s->detail.result.cycle;
    }
    return step != NULL;
}

/* The names of positions first .. past-1 of the computing order, with blanks between. */
static const char *layer_list(const struct maker *maker, uint32_t first, uint32_t past)
{
    const struct soma_lfa *lfa = &maker->schedule->lfa;
    struct text_buffer text;
    text_init(&text);
    for (uint32_t i = first; i < past; i++)
        text_append(&text, "%s%s", i > first ? " " : "", maker->layer[lfa->order[i]]);
    const char *list = text.failed ? NULL : copy(maker->arena, text.data ? text.data : "");
    text_free(&text);
    return list;
}

static bool make_groups(const struct maker *maker)
{
    const struct soma_schedule *s = maker->schedule;
    const struct soma_lfa *lfa = &s->lfa;
    struct timeline *t = maker->timeline;
    uint32_t p = 0;
    t->n_group = lfa->n_flc;
    t->group = arena_alloc(maker->arena, t->n_group + 1, sizeof *t->group);
    for (uint32_t g = 0; t->group && g < lfa->n_flc; g++) {
        uint32_t first = p;
        while (p < s->fused.n_tile && s->fused.tile[p].flc == g)
            p++;
        t->group[g] = (struct timeline_group){
            .layer_group = first < s->fused.n_tile ? s->fused.tile[first].layer_group : 0,
            .cut = lfa->dram_cut[g],
            .tiling = lfa->tiling[g],
            .first_tile = first,
            .n_tile = p - first,
            .start = first > 0 ? (int64_t)s->detail.trace.tile_finish[first - 1] : 0,
            .finish = p > 0 ? (int64_t)s->detail.trace.tile_finish[p - 1] : 0,
            .layers = layer_list(maker, lfa->flc[g], g + 1 < lfa->n_flc ? lfa->flc[g + 1] : lfa->n_layer),
        };
        if (!t->group[g].layers)
            return false;
    }
    return t->group != NULL;
}

enum dse_status soma_schedule_timeline(const void *schedule, const char *title, struct arena *arena,
                                       struct timeline *timeline, struct dse_error *err)
{
    const struct soma_schedule *s = schedule;
    const struct fused_result *r = &s->detail.result;
    struct maker maker = {.schedule = s, .arena = arena, .timeline = timeline};
    DSE_TRY(soma_schedule_listed(s, err));
    if (r->cycle >= UINT64_C(1) << 60 || s->machine.buffer_byte >= UINT64_C(1) << 60)
        return dse_fail(err, DSE_LIMIT, "a timeline has less than 2^60 cycles and bytes");
    *timeline = (struct timeline){
        .title = copy(arena, title),
        .network = copy(arena, s->network->name),
        .architecture = copy(arena, s->arch->name),
        .rules = s->accounting->schedule->as_published ? "compat" : "sound",
        .batch = s->batch,
        .cycle = (int64_t)r->cycle,
        .compute_cycle = (int64_t)r->compute_cycle,
        .dram_cycle = (int64_t)r->dram_cycle,
        .stall_cycle = (int64_t)r->stall_cycle,
        .buffer_byte = (int64_t)s->machine.buffer_byte,
        .buffer_max_byte = (int64_t)r->buffer_max_byte,
        .dram_byte_per_cycle = (double)s->machine.dram_rate.byte / (double)s->machine.dram_rate.cycle,
        .clock_hz = s->arch->clock_hz,
        .energy_j = r->energy_j + architecture_all_leakage_j(s->arch, (double)r->cycle),
        .buffer_average_byte = r->buffer_average_byte,
    };
    if (!timeline->title || !timeline->network || !timeline->architecture || !copy_names(&maker) ||
        !make_transfers(&maker) || !make_tiles(&maker) || !make_steps(&maker) || !make_groups(&maker))
        return no_memory(err);
    return DSE_OK;
}
