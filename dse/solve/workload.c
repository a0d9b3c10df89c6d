/* Picks the layers that are asked for, joins equal loop nests and counts them, and hashes what an engine
 * can see. */
#include "dse/solve/workload.h"

#include <string.h>

#include "base/hash.h"
#include "costmodel/model/network.h"
#include "dse/inputs/inputs.h"

static int is_chosen(const struct layer *layer, const char *const *name, size_t n_name)
{
    for (size_t i = 0; i < n_name; i++)
        if (strcmp(layer->name, name[i]) == 0)
            return 1;
    return n_name == 0;
}

static enum dse_status check_names(const struct network *network, const char *const *name, size_t n_name,
                                   struct dse_error *err)
{
    for (size_t i = 0; i < n_name; i++) {
        uint32_t index;
        DSE_TRY(input_layer(network, name[i], &index, err));
    }
    return DSE_OK;
}

/* How many layers this one stands for; 0: an earlier one stands for it. */
static uint32_t times_of(const struct network *network, uint32_t index)
{
    for (uint32_t i = 0; i < network->n_repeat && !network->unroll; i++) {
        const struct network_repeat *repeat = &network->repeat[i];
        const uint32_t first = repeat->first_layer;
        if (index >= first && index < first + repeat->n_layer * repeat->times)
            return index < first + repeat->n_layer ? repeat->times : 0;
    }
    return 1;
}

/* The number of an equal earlier problem, else a new one. */
static enum dse_status add_layer(struct workload *w, uint32_t index, uint32_t times, struct dse_error *err)
{
    const struct layer *layer = &w->network->layer[index];
    w->layer[w->n_layer] = index;
    w->count[w->n_layer] = layer->count * times; /* either is 1: only graphs repeat */
    for (uint32_t i = 0; i < w->n_layer; i++)
        if (layer_same_problem(layer, &w->network->layer[w->layer[i]])) {
            w->problem_of[w->n_layer++] = w->problem_of[i];
            return DSE_OK;
        }
    struct dse_error inner = {0};
    enum dse_status status = layer_problem(layer, w->batch, &w->problem[w->n_problem], &inner);
    if (status != DSE_OK)
        return dse_fail_at(err, status, inner.file[0] ? inner.file : w->network->path,
                           inner.file[0] ? inner.line : layer->line, "%s", inner.text);
    w->problem_key[w->n_problem] = problem_hash(&w->problem[w->n_problem]);
    w->problem_of[w->n_layer++] = w->n_problem++;
    return DSE_OK;
}

static void hash_workload(struct workload *w)
{
    struct hash_state state;
    hash_begin(&state);
    hash_u64(&state, w->batch);
    for (uint32_t i = 0; i < w->n_layer; i++) {
        const struct layer *layer = &w->network->layer[w->layer[i]];
        hash_text(&state, layer->name);
        hash_u64(&state, w->count[i]);
        hash_u64(&state, w->problem_key[w->problem_of[i]]);
    }
    w->hash = hash_end(&state);
}

static void hash_layer(struct hash_state *state, const struct layer *l)
{
    const uint32_t number[] = {(uint32_t)l->type,
                               l->c,
                               l->k,
                               l->p,
                               l->q,
                               l->r,
                               l->s,
                               l->h,
                               l->w,
                               l->stride[0],
                               l->stride[1],
                               l->pad[0],
                               l->pad[1],
                               l->pad[2],
                               l->pad[3],
                               l->dilation[0],
                               l->dilation[1],
                               l->groups,
                               l->count,
                               l->n_operand,
                               (uint32_t)l->weight_producer,
                               l->n_producer};
    hash_text(state, l->name);
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        hash_u64(state, number[i]);
    if (l->batch)
        hash_u64(state, l->batch);
    if (l->share)
        hash_u64(state, (uint64_t)l->share << 32); /* no batch is as large */
    hash_text(state, l->permute);
    for (uint32_t i = 0; i < l->n_producer; i++)
        hash_u64(state, (uint32_t)l->producer[i]);
    if (l->einsum)
        hash_u64(state, problem_hash(l->einsum));
}

/* A network whose blocks are wanted one by one is one without repetitions. */
static void hash_repeats(struct hash_state *state, const struct network *network)
{
    for (uint32_t i = 0; i < network->n_repeat && !network->unroll; i++) {
        hash_u64(state, network->repeat[i].first_layer);
        hash_u64(state, network->repeat[i].n_layer);
        hash_u64(state, network->repeat[i].times);
    }
}

/* Everything a scheduler can see of the network. */
static void hash_network(struct workload *w)
{
    const struct network *network = w->network;
    struct hash_state state;
    hash_begin(&state);
    hash_u64(&state, w->batch);
    hash_text(&state, network->name);
    hash_u64(&state, network->is_graph);
    if (network->not_graph && *network->not_graph)
        hash_text(&state, network->not_graph);
    hash_u64(&state, network->n_input);
    for (uint32_t i = 0; i < network->n_input; i++) {
        hash_text(&state, network->input[i].name);
        hash_u64(&state, network->input[i].c);
        hash_u64(&state, network->input[i].h);
        hash_u64(&state, network->input[i].w);
    }
    hash_u64(&state, network->n_layer);
    for (uint32_t i = 0; i < network->n_layer; i++)
        hash_layer(&state, &network->layer[i]);
    hash_repeats(&state, network);
    w->network_hash = hash_end(&state);
    w->network_hash += w->network_hash == 0;
}

enum dse_status workload_repeat(struct workload *w, const uint32_t *times, struct dse_error *err)
{
    uint32_t n_problem = 0, n_layer = 0, n = 0;
    uint32_t *first = arena_alloc(&w->arena, w->n_problem, sizeof *first);
    for (uint32_t p = 0; first && p < w->n_problem; p++) {
        first[p] = n_problem;
        n_problem += times[p];
    }
    for (uint32_t l = 0; l < w->n_layer; l++)
        n_layer += times[w->problem_of[l]];
    uint32_t *layer = arena_alloc(&w->arena, n_layer, sizeof *layer);
    uint32_t *count = arena_alloc(&w->arena, n_layer, sizeof *count);
    uint32_t *problem_of = arena_alloc(&w->arena, n_layer, sizeof *problem_of);
    struct problem *problem = arena_alloc(&w->arena, n_problem, sizeof *problem);
    uint64_t *key = arena_alloc(&w->arena, n_problem, sizeof *key);
    DSE_TRY(arena_check(&w->arena, "the layers", err));
    for (uint32_t l = 0; l < w->n_layer; l++)
        for (uint32_t i = 0; i < times[w->problem_of[l]]; i++) {
            layer[n] = w->layer[l];
            count[n] = w->count[l];
            problem_of[n++] = first[w->problem_of[l]] + i;
        }
    for (uint32_t p = 0; p < w->n_problem; p++)
        for (uint32_t i = first[p]; i < first[p] + times[p]; i++) {
            problem[i] = w->problem[p];
            key[i] = w->problem_key[p];
        }
    w->n_layer = n_layer;
    w->layer = layer;
    w->count = count;
    w->problem_of = problem_of;
    w->n_problem = n_problem;
    w->problem = problem;
    w->problem_key = key;
    return DSE_OK;
}

void workload_init_whole(struct workload *w, const struct network *network, uint32_t batch)
{
    memset(w, 0, sizeof *w);
    w->network = network;
    w->batch = batch ? batch : network_batch(network);
    hash_network(w);
    w->hash = w->network_hash;
}

enum dse_status workload_init(struct workload *w, const struct network *network, uint32_t batch,
                              const char *const *name, size_t n_name, int lenient, struct dse_error *err)
{
    uint32_t n = network->n_layer ? network->n_layer : 1, n_chosen = 0;
    memset(w, 0, sizeof *w);
    w->network = network;
    w->batch = batch ? batch : network_batch(network);
    if (!lenient)
        DSE_TRY(check_names(network, name, n_name, err));
    for (uint32_t i = 0; i < network->n_layer; i++)
        n_chosen += is_chosen(&network->layer[i], name, n_name) && layer_has_macs(&network->layer[i]);
    if (n_chosen == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, network->path, 0,
                           "network %s has no layer with multiply-accumulates%s", network->name,
                           n_name ? " among the chosen ones" : "");
    w->layer = arena_alloc(&w->arena, n, sizeof *w->layer);
    w->count = arena_alloc(&w->arena, n, sizeof *w->count);
    w->problem_of = arena_alloc(&w->arena, n, sizeof *w->problem_of);
    w->problem = arena_alloc(&w->arena, n_chosen, sizeof *w->problem);
    w->problem_key = arena_alloc(&w->arena, n_chosen, sizeof *w->problem_key);
    DSE_TRY(arena_check(&w->arena, "the layers of a network", err));
    for (uint32_t i = 0; i < network->n_layer; i++) {
        const uint32_t times = n_name ? 1 : times_of(network, i);
        if (times == 0 || !is_chosen(&network->layer[i], name, n_name))
            continue;
        if (layer_has_macs(&network->layer[i]))
            DSE_TRY(add_layer(w, i, times, err));
        else
            w->n_skipped++;
    }
    hash_network(w);
    hash_workload(w);
    return DSE_OK;
}

void workload_free(struct workload *workload)
{
    arena_free(&workload->arena);
    memset(workload, 0, sizeof *workload);
}

uint64_t workload_count(const struct workload *workload, uint32_t p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < workload->n_layer; i++)
        if (workload->problem_of[i] == p)
            n += workload->count[i];
    return n;
}
