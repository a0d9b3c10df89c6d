/* Slices become a graph and what it needs, as uop_graph_of and uop_needs_of have it of a layer of that size
 * with its sums in a chain: the same numbers in the same order. What they read of other uops' maps counts as
 * they read inputs of a network. */
#include "costmodel/uop/uop_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "costmodel/uop/uop_slices.h"
#include "costmodel/uop/uop_steps.h"

/* The slices of a uop. Lists are (n) but as said. */
struct slices {
    uint32_t n, n_item, n_use, n_ic; /* each n_ic of them make one output */
    uint64_t *word;                  /* (n_item) */
    uint64_t *room, *cycle;
    uint32_t *first, *item; /* (n + 1); (n_use) */
};

/* A uop as it is cut. */
struct uncut {
    const struct uop_graph *graph;
    const struct kc_machine *machine;
    const struct uop_layer *of;
    const struct uop_cut_layer *layer;
    bool adds;      /* partial sums */
    bool continues; /* those of the uop before it in a chain */
    struct uop_box box;
    struct kc_tile tile; /* of what adds up or pools one of 1 x 1 with its output */
    struct uop_cut_layer grid;
    uint32_t n_slice;
};

static uint32_t length(struct uop_range range)
{
    return range.end - range.first;
}

static struct uop_cut sizes_of(const struct uop_box *box)
{
    return (struct uop_cut){length(box->row), length(box->column), length(box->ic), length(box->oc)};
}

static enum dse_status cut_uop(const struct uop_graph *graph, const struct kc_machine *machine, uint32_t u,
                               struct uncut *out, struct dse_error *err)
{
    const struct uop_layer *of = &graph->network->layer[graph->uop[u].layer];
    const struct uop_cut_layer *layer = &graph->layer[graph->uop[u].layer];
    const uint32_t t = u % (graph->n_uop / graph->n_sample) - layer->first;
    struct uop_cut cut;
    *out = (struct uncut){.graph = graph, .machine = machine, .of = of, .layer = layer};
    out->adds = t >= layer->n_tile;
    out->continues = !out->adds && graph->sums == UOP_SUMS_CHAIN && t % layer->n_ic > 0;
    out->box = uop_box_of(graph, u);
    out->tile = uop_tile_of(&of->whole, &out->box);
    if (out->adds || of->n_operation)
        out->tile = (struct kc_tile){1, 1, 1, 1, out->tile.p, out->tile.q, 1, length(out->box.oc), 1};
    (void)uop_slice_cut(machine, &out->tile, &cut); /* what does not fit at all is refused before */
    out->grid = uop_grid_of(&out->tile, cut);
    const uint64_t n = uop_cut_count(&out->tile, cut);
    if (n > UOP_USE_MAX / (3 + (uint64_t)of->n_source))
        return dse_fail(err, DSE_LIMIT,
                        "the slices of a uop of layer %s read more than %d tiles; smaller uops have fewer",
                        graph->network->network->layer[of->of].name, UOP_USE_MAX);
    out->n_slice = (uint32_t)n;
    return DSE_OK;
}

static struct uop_range behind(struct uop_range range, uint32_t first)
{
    return (struct uop_range){range.first + first, range.end + first};
}

static struct uop_box slice_box(const struct uncut *uncut, uint32_t t)
{
    const struct uop_box in = uop_grid_box(&uncut->grid, &uncut->tile, t), *of = &uncut->box;
    return (struct uop_box){behind(in.row, of->row.first), behind(in.column, of->column.first),
                            behind(in.oc, of->oc.first), behind(in.ic, of->ic.first)};
}

static bool is_vector(const struct uncut *uncut)
{
    return uncut->adds || uncut->of->n_operation;
}

/* Numbers of tiles: of weights, and of inputs without output channels. */
static uint32_t n_weights(const struct uncut *uncut)
{
    return uncut->grid.n_oc * uncut->grid.n_ic;
}

static uint32_t n_groups(const struct uncut *uncut)
{
    return uncut->grid.cut.oc > uncut->tile.k ? uncut->grid.n_oc : kc_groups(&uncut->tile);
}

static uint32_t n_inputs(const struct uncut *uncut)
{
    const uint32_t parts = is_vector(uncut) ? uncut->grid.n_oc : uncut->grid.n_ic * n_groups(uncut);
    return uncut->grid.n_h * uncut->grid.n_w * parts;
}

static void use(struct slices *s, uint32_t item, uint64_t word)
{
    if (word == 0)
        return;
    s->word[item] = word;
    s->item[s->n_use++] = item;
}

/* Of a map of which readers take all parts of sums, all of these. */
static uint64_t map_word(const struct uncut *uncut, const struct uop_source *source,
                         const struct uop_box *box)
{
    const struct uop_graph *graph = uncut->graph;
    const uint64_t word = uop_source_word(graph->network, uncut->of, source, box);
    const bool has_parts = source->layer >= 0 && graph->sums == UOP_SUMS_ALL;
    return word * (has_parts ? graph->layer[source->layer].n_ic : 1);
}

/* Slice `t`: weights, then inputs, then sums that it goes on from. */
static void use_slice(const struct uncut *uncut, struct slices *s, uint32_t t, const struct uop_box *box)
{
    const struct uop_cut_layer *grid = &uncut->grid;
    const uint32_t ic = t % grid->n_ic, oc = t / grid->n_ic % grid->n_oc;
    const uint32_t weights = oc * grid->n_ic + ic, groups = n_groups(uncut);
    const uint32_t part = is_vector(uncut) ? oc : oc / (grid->n_oc / groups) * grid->n_ic + ic;
    const uint32_t parts = n_inputs(uncut) / (grid->n_h * grid->n_w);
    const uint32_t place = t / grid->n_ic / grid->n_oc * parts + part;
    uint32_t at = s->n + n_weights(uncut);
    if (uop_layer_has_weights(uncut->of) && !uncut->adds)
        use(s, s->n + weights, uop_weight_word(box, &uncut->of->whole));
    for (uint32_t i = 0; i < uncut->of->n_source && !uncut->adds; i++) {
        const struct uop_source *source = &uncut->graph->network->source[uncut->of->first_source + i];
        use(s, at + (source->second ? weights : place), map_word(uncut, source, box));
        at += source->second ? n_weights(uncut) : n_inputs(uncut);
    }
    if (uncut->adds)
        use(s, at + t, s->word[t] * uncut->layer->n_ic);
    else if (uncut->continues && ic == 0)
        use(s, at + t / grid->n_ic, s->word[t]);
}

static enum dse_status price_slice(const struct uncut *uncut, struct uop_priced *priced,
                                   const struct uop_box *box, struct slices *s, uint32_t t,
                                   struct dse_error *err)
{
    const struct kc_tile *whole = &uncut->of->whole;
    const struct uop_need need = uop_cut_need(whole, sizes_of(box));
    const struct kc_tile tile = uop_tile_of(whole, box);
    s->word[t] = need.output_word;
    s->room[t] = need.output_word + (is_vector(uncut) ? 0 : need.input_word + need.weight_word);
    if (!is_vector(uncut))
        return uop_tile_cycle(priced, uncut->machine, &tile, &s->cycle[t], err);
    s->cycle[t] = uop_vector_cycle(uncut->machine, need.output_word,
                                   uncut->adds ? uncut->layer->n_ic - 1 : uncut->of->n_operation);
    return DSE_OK;
}

static enum dse_status fill(const struct uncut *uncut, struct arena *arena, struct slices *s,
                            struct dse_error *err)
{
    struct uop_priced priced = {.n = 0};
    const uint32_t n = uncut->n_slice, n_source = uncut->of->n_source;
    *s = (struct slices){.n = n, .n_ic = uncut->grid.n_ic};
    s->n_item = n + n_weights(uncut) + n; /* the last for sums */
    for (uint32_t i = 0; i < n_source; i++)
        s->n_item += uncut->graph->network->source[uncut->of->first_source + i].second ? n_weights(uncut)
                                                                                       : n_inputs(uncut);
    s->word = arena_alloc(arena, s->n_item, sizeof *s->word);
    s->room = arena_alloc_unset(arena, n, sizeof *s->room);
    s->cycle = arena_alloc_unset(arena, n, sizeof *s->cycle);
    s->first = arena_alloc_unset(arena, n + (size_t)1, sizeof *s->first);
    s->item = arena_alloc_unset(arena, (size_t)n * (2 + n_source), sizeof *s->item);
    DSE_TRY(arena_check(arena, "the slices of a uop", err));
    for (uint32_t t = 0; t < n; t++) {
        const struct uop_box box = slice_box(uncut, t);
        s->first[t] = s->n_use;
        DSE_TRY(price_slice(uncut, &priced, &box, s, t, err));
        use_slice(uncut, s, t, &box);
    }
    s->first[n] = s->n_use;
    return DSE_OK;
}

/* ---- what they take ---- */

/* Chains of n_ic, of which the last ones make results, one after the other on one core. */
struct chains {
    struct uop_graph graph;
    struct uop_needs needs;
    struct uop_schedule schedule;
};

static enum dse_status link_slices(const struct uncut *uncut, const struct slices *s, struct arena *arena,
                                   struct chains *out, struct dse_error *err)
{
    const uint32_t n = s->n;
    struct uop *uop = arena_alloc(arena, n, sizeof *uop);
    uint32_t *producers = arena_alloc_unset(arena, n + (size_t)1, sizeof *producers);
    uint32_t *consumers = arena_alloc_unset(arena, n + (size_t)1, sizeof *consumers);
    uint32_t *producer = arena_alloc_unset(arena, n, sizeof *producer);
    uint32_t *consumer = arena_alloc_unset(arena, n, sizeof *consumer);
    uint32_t *order = arena_alloc_unset(arena, n, sizeof *order);
    uint32_t *first = arena_alloc(arena, 2, sizeof *first);
    bool *is_result = arena_alloc(arena, n, sizeof *is_result);
    uint32_t n_edge = 0;
    DSE_TRY(arena_check(arena, "the slices of a uop", err));
    for (uint32_t t = 0; t < n; t++) {
        producers[t] = n_edge;
        if (t % s->n_ic > 0)
            producer[n_edge++] = t - 1;
        is_result[t] = t % s->n_ic == s->n_ic - 1;
        consumers[t] = n_edge; /* so many edges lead to those before */
        if (!is_result[t])
            consumer[n_edge] = t + 1;
        uop[t] = (struct uop){.layer = (uint32_t)(uncut->layer - uncut->graph->layer),
                              .cycle = s->cycle[t],
                              .output_word = s->word[t]};
        order[t] = t;
    }
    producers[n] = consumers[n] = n_edge;
    first[1] = n;
    out->graph = (struct uop_graph){uncut->graph->network,
                                    UOP_SUMS_CHAIN,
                                    1,
                                    n,
                                    uncut->graph->layer,
                                    uop,
                                    producers,
                                    producer,
                                    consumers,
                                    consumer};
    out->needs = (struct uop_needs){.n_item = s->n_item,
                                    .word = s->word,
                                    .held = s->word,
                                    .first = s->first,
                                    .item = s->item,
                                    .room = s->room,
                                    .is_result = is_result,
                                    .capacity_word = uncut->machine->sram_word};
    out->schedule = (struct uop_schedule){UOP_STATIC, 1, first, order};
    return DSE_OK;
}

static enum dse_status run_slices(const struct uncut *uncut, const struct slices *s, struct arena *arena,
                                  struct uop_stream *out, struct dse_error *err)
{
    struct kc_machine alone = *uncut->machine;
    struct uop_link link[UOP_SIDES];
    struct chains chains;
    struct uop_steps steps;
    alone.columns = alone.rows = 1;
    alone.noc.flit_bit = 0;
    DSE_TRY(link_slices(uncut, s, arena, &chains, err));
    DSE_TRY(uop_memory_plan(&chains.graph, &chains.needs, &chains.schedule, arena, &steps, err));
    const struct uop_step_times times = {.start = arena_alloc_unset(arena, steps.n_step, sizeof *times.start),
                                         .finish =
                                             arena_alloc_unset(arena, steps.n_step, sizeof *times.finish)};
    DSE_TRY(arena_check(arena, "the times of slices", err));
    DSE_TRY(uop_steps_run(&chains.graph, &alone, &steps, arena, &times, link, err));
    *out = (struct uop_stream){0};
    for (uint32_t i = 0; i < steps.n_step; i++) {
        const bool writes = steps.step[i].kind == UOP_WRITE;
        const uint64_t word = steps.word[steps.step[i].item];
        out->cycle = times.finish[i] > out->cycle ? times.finish[i] : out->cycle;
        if (!writes && steps.step[i].kind != UOP_READ)
            continue;
        *(writes ? &out->n_written : &out->n_read) += 1;
        *(writes ? &out->written_word : &out->read_word) += word;
        out->busy_cycle += kc_dram_cycle(&alone, word, writes);
    }
    return DSE_OK;
}

/* ---- all uops ---- */

/* Slices whose stream is known, with the memory of both. */
struct known {
    struct arena arena;
    struct slices slices;
    uint64_t hash;
    const struct uop_stream *stream;
};

struct knowns {
    struct known *at;
    size_t n, capacity;
};

static bool same(const void *a, const void *b, size_t n, size_t size)
{
    return n == 0 || memcmp(a, b, n * size) == 0;
}

/* Is all equal that plan and times depend on? */
static bool are_alike(const struct slices *a, const struct slices *b)
{
    return a->n == b->n && a->n_item == b->n_item && a->n_use == b->n_use && a->n_ic == b->n_ic &&
           same(a->word, b->word, a->n_item, sizeof *a->word) &&
           same(a->room, b->room, a->n, sizeof *a->room) &&
           same(a->cycle, b->cycle, a->n, sizeof *a->cycle) &&
           same(a->first, b->first, a->n, sizeof *a->first) &&
           same(a->item, b->item, a->n_use, sizeof *a->item);
}

static const struct uop_stream *find(const struct knowns *knowns, const struct slices *slices, uint64_t hash)
{
    for (size_t i = 0; i < knowns->n; i++)
        if (knowns->at[i].hash == hash && are_alike(&knowns->at[i].slices, slices))
            return knowns->at[i].stream;
    return NULL;
}

/* Its stream, which is known then; `trial` has the memory of its slices and is given away or reset. */
static enum dse_status stream_of(struct knowns *knowns, const struct uncut *uncut, struct arena *trial,
                                 struct arena *arena, const struct uop_stream **out, struct dse_error *err)
{
    struct slices slices;
    struct arena own;
    arena_reset(trial);
    DSE_TRY(fill(uncut, trial, &slices, err));
    const uint64_t hash = hash_of_bytes(slices.word, slices.n_item * sizeof *slices.word);
    *out = find(knowns, &slices, hash);
    if (*out)
        return DSE_OK;
    struct uop_stream *stream = arena_alloc(arena, 1, sizeof *stream);
    DSE_TRY(arena_check(arena, "the slices of uops", err));
    struct known *grown = array_grow(knowns->at, knowns->n + 1, &knowns->capacity, sizeof *knowns->at);
    if (!grown)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the slices of uops");
    knowns->at = grown;
    arena_init(&own);
    const enum dse_status status = run_slices(uncut, &slices, &own, stream, err);
    arena_free(&own);
    DSE_TRY(status);
    knowns->at[knowns->n++] = (struct known){*trial, slices, hash, stream};
    arena_init(trial);
    *out = stream;
    return DSE_OK;
}

static enum dse_status find_streams(const struct uop_graph *graph, const struct kc_machine *machine,
                                    const bool *is_sliced, const atomic_int *cancel, struct knowns *knowns,
                                    struct arena *trial, struct arena *arena,
                                    const struct uop_stream **stream, struct dse_error *err)
{
    const uint32_t per_sample = graph->n_uop / graph->n_sample;
    uint64_t n_slice = 0;
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        struct uncut uncut;
        if (u >= per_sample) { /* samples are alike */
            stream[u] = stream[u - per_sample];
        } else if (is_sliced[u]) {
            if (cancel && atomic_load(cancel))
                return dse_fail(err, DSE_INTERRUPTED, "interrupted");
            DSE_TRY(cut_uop(graph, machine, u, &uncut, err));
            n_slice += uncut.n_slice;
            if (n_slice > UOP_USE_MAX)
                return dse_fail(err, DSE_LIMIT,
                                "its uops run in more than %d slices; larger uops or memories have fewer",
                                UOP_USE_MAX);
            DSE_TRY(stream_of(knowns, &uncut, trial, arena, &stream[u], err));
        }
    }
    return DSE_OK;
}

enum dse_status uop_streams_of(const struct uop_graph *graph, const struct kc_machine *machine,
                               const atomic_int *cancel, struct arena *arena, struct uop_needs *needs,
                               struct dse_error *err)
{
    struct knowns knowns = {.n = 0};
    struct arena trial;
    if (!needs->is_sliced)
        return DSE_OK;
    const struct uop_stream **stream = arena_alloc(arena, graph->n_uop, sizeof *stream);
    DSE_TRY(arena_check(arena, "the slices of uops", err));
    arena_init(&trial);
    const enum dse_status status =
        find_streams(graph, machine, needs->is_sliced, cancel, &knowns, &trial, arena, stream, err);
    arena_free(&trial);
    for (size_t i = 0; i < knowns.n; i++)
        arena_free(&knowns.at[i].arena);
    free(knowns.at);
    needs->stream = stream;
    return status;
}
