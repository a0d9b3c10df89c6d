/* Numbers of layers are those of three networks: of the file, of uops with each block once, of all uops. */
#include "engines/klotski/block_fold.h"

/* Layer `l` of `once` in repetition `r`, in the network of the file. */
static uint32_t layer_in(const struct block_fold *fold, uint32_t l, uint32_t r)
{
    const uint32_t of = fold->once.layer[l].of;
    return fold->of->layer[of] + r * fold->of->of[fold->of->segment[of]].stride;
}

static uint32_t segment_of(const struct block_fold *fold, uint32_t l)
{
    return fold->of->segment[fold->once.layer[l].of];
}

/* Are the tiles of a pool or sum like those of the same layer in all repetitions? */
static bool is_alike(const struct block_fold *fold, uint32_t l)
{
    const int32_t once = uop_vector_like(&fold->once, &fold->once.layer[l]);
    for (uint32_t r = 0; r < fold->times[l]; r++) {
        const int32_t like =
            uop_vector_like(&fold->whole, &fold->whole.layer[fold->at[layer_in(fold, l, r)]]);
        if (once < 0 || like < 0)
            return once == like && fold->times[l] == 1;
        const bool is_inside = segment_of(fold, (uint32_t)once) == segment_of(fold, l);
        if ((uint32_t)like != fold->at[layer_in(fold, (uint32_t)once, is_inside ? r : 0)])
            return false;
    }
    return true;
}

/* Fills what maps layers to each other; false: the fold is none for uops. */
static bool map_layers(struct block_fold *fold, uint32_t *at, uint32_t *times)
{
    for (uint32_t l = 0; l < fold->of->whole->n_layer; l++)
        at[l] = UINT32_MAX;
    for (uint32_t l = 0; l < fold->whole.n_all; l++)
        at[fold->whole.layer[l].of] = l;
    fold->at = at;
    fold->times = times;
    for (uint32_t l = 0; l < fold->once.n_all; l++)
        times[l] = fold->of->of[segment_of(fold, l)].times;
    for (uint32_t l = fold->once.n_layer; l < fold->once.n_all; l++)
        if (!is_alike(fold, l))
            return false;
    return true;
}

enum dse_status block_fold_new(const struct network *network, struct arena *arena,
                               const struct block_fold **fold, struct dse_error *err)
{
    struct block_fold *made = arena_alloc(arena, 1, sizeof *made);
    *fold = NULL;
    DSE_TRY(arena_check(arena, "a network", err));
    DSE_TRY(network_fold_new(network, arena, &made->of, err));
    if (!made->of)
        return DSE_OK;
    DSE_TRY(uop_network_of_fold(made->of, arena, &made->once, err));
    DSE_TRY(uop_network_of(network, UOP_BLOCKS, arena, &made->whole, err));
    uint32_t *at = arena_alloc(arena, network->n_layer, sizeof *at);
    uint32_t *times = arena_alloc(arena, made->once.n_all, sizeof *times);
    DSE_TRY(arena_check(arena, "a network", err));
    *fold = map_layers(made, at, times) ? made : NULL;
    return DSE_OK;
}

void block_fold_cut(const struct block_fold *fold, const struct uop_cut *once, struct uop_cut *whole)
{
    for (uint32_t l = 0; l < fold->once.n_layer; l++)
        for (uint32_t r = 0; r < fold->times[l]; r++)
            whole[fold->at[layer_in(fold, l, r)]] = once[l];
}

/* A walk over the lists. */
struct unroller {
    const struct block_fold *fold;
    const struct uop_graph *graph;
    const struct uop_cut_layer *layer; /* (whole.n_all) */
    uint32_t per_sample;               /* of the whole network */
    uint32_t *order, n;
};

/* One repetition of a segment: its uops of one core. */
static void append(struct unroller *w, const struct uop_schedule *once, uint32_t core, uint32_t segment,
                   uint32_t repetition)
{
    const uint32_t per_sample = w->graph->n_uop / w->graph->n_sample;
    for (uint32_t i = once->first[core]; i < once->first[core + 1]; i++) {
        const uint32_t u = once->order[i], l = w->graph->uop[u].layer;
        if (segment_of(w->fold, l) != segment)
            continue;
        const uint32_t tile = u % per_sample - w->graph->layer[l].first;
        const struct uop_cut_layer *to = &w->layer[w->fold->at[layer_in(w->fold, l, repetition)]];
        w->order[w->n++] = w->graph->uop[u].sample * w->per_sample + to->first + tile;
    }
}

enum dse_status block_fold_lists(const struct block_fold *fold, const struct uop_graph *graph,
                                 const struct uop_cut *cut, const struct uop_schedule *once,
                                 struct arena *arena, struct uop_schedule *whole, struct dse_error *err)
{
    struct uop_cut_layer *layer = arena_alloc(arena, fold->whole.n_all, sizeof *layer);
    uint32_t *first = arena_alloc(arena, once->n_core + (size_t)1, sizeof *first);
    uint64_t n_uop;
    DSE_TRY(arena_check(arena, "the lists of cores", err));
    DSE_TRY(uop_layout_of(&fold->whole, cut, graph->sums, graph->n_sample, layer, &n_uop, err));
    struct unroller w = {fold,
                         graph,
                         layer,
                         (uint32_t)(n_uop / graph->n_sample),
                         arena_alloc_unset(arena, n_uop, sizeof *w.order),
                         0};
    DSE_TRY(arena_check(arena, "the lists of cores", err));
    for (uint32_t c = 0; c < once->n_core; c++) {
        for (uint32_t s = 0; s < fold->of->n_segment; s++)
            for (uint32_t r = 0; r < fold->of->of[s].times; r++)
                append(&w, once, c, s, r);
        first[c + 1] = w.n;
    }
    *whole = (struct uop_schedule){once->firing, once->n_core, first, w.order};
    return DSE_OK;
}

uint32_t block_fold_repeated(const struct block_fold *fold, const struct uop_graph *whole)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < fold->once.n_all; l++)
        n += (fold->times[l] - 1) * whole->layer[fold->at[layer_in(fold, l, 0)]].n_uop;
    return n * whole->n_sample;
}

/* Of starts `at`, or with `ends` of ends. */
static uint64_t cycle_of(const struct block_fold *fold, const struct uop_graph *graph, uint32_t n_core,
                         const uint64_t *at, bool ends)
{
    uint64_t sum = 0, before = 0;
    for (uint32_t s = 0; s < fold->of->n_segment; s++) {
        uint64_t end = before, work = 0;
        for (uint32_t u = 0; u < graph->n_uop; u++) {
            if (segment_of(fold, graph->uop[u].layer) != s)
                continue;
            const uint64_t finish = ends ? at[u] : at[u] + graph->uop[u].cycle;
            end = finish > end ? finish : end;
            work += graph->uop[u].cycle;
        }
        const uint64_t least = (work + n_core - 1) / n_core;
        sum += fold->of->of[s].times * (end - before > least ? end - before : least);
        before = end;
    }
    return sum;
}

uint64_t block_fold_cycle(const struct block_fold *fold, const struct uop_graph *graph, uint32_t n_core,
                          const uint64_t *finish)
{
    return cycle_of(fold, graph, n_core, finish, true);
}

uint64_t block_fold_cycle_of_starts(const struct block_fold *fold, const struct uop_graph *graph,
                                    uint32_t n_core, const uint64_t *start)
{
    return cycle_of(fold, graph, n_core, start, false);
}
