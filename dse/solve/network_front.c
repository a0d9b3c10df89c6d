/* Layer by layer: the front so far, moved by each point of the layer's own front, is a sorted list; all of
 * these are merged, and what another beats is dropped. A point that is dropped could be no part of a better
 * network, as what follows adds the same to both. So the work is at most (points so far) x (points of the
 * layer) a layer. */
#include "dse/solve/network_front.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dse/solve/exact_front.h"

/* A sum over the layers so far. */
struct sum {
    uint64_t cycle;
    double energy_j;
    uint32_t from, choice; /* the sum of the layers before, and the point of the last */
};

/* Lists of sums, sorted by cycles, energies falling. */
struct sums {
    struct sum *at; /* (n); room for NETWORK_FRONT_MAX; owned */
    size_t n;
};

struct merge {
    const struct workload *workload;
    const struct solve_result *const *result;
    struct sums before, merged, spare; /* the layers before; with some of the layer's points */
    uint32_t *choice;                  /* (n of those before, n_layer) their choices so far; owned */
};

static bool is_less(const struct sum *a, const struct sum *b)
{
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->energy_j < b->energy_j;
}

/* Append unless the last one beats it. False: there is no room. */
static bool append(struct sums *list, const struct sum *sum)
{
    if (list->n > 0 && sum->energy_j >= list->at[list->n - 1].energy_j * (1 - EXACT_FRONT_SAME))
        return true;
    if (list->n == NETWORK_FRONT_MAX)
        return false;
    list->at[list->n++] = *sum;
    return true;
}

/* Merge the sums before, each with point `choice` of the layer, into what is merged. */
static bool add_point(struct merge *m, const struct evaluation *one, uint32_t count, uint32_t choice)
{
    size_t a = 0, b = 0;
    m->spare.n = 0;
    while (a < m->merged.n || b < m->before.n) {
        struct sum moved;
        if (b < m->before.n)
            moved = (struct sum){m->before.at[b].cycle + count * one->latency_cycle,
                                 m->before.at[b].energy_j + count * one->energy_j, (uint32_t)b, choice};
        const bool is_moved = a == m->merged.n || (b < m->before.n && is_less(&moved, &m->merged.at[a]));
        if (!append(&m->spare, is_moved ? &moved : &m->merged.at[a]))
            return false;
        a += !is_moved;
        b += is_moved;
    }
    const struct sums full = m->spare;
    m->spare = m->merged;
    m->merged = full;
    return true;
}

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "no memory for the front of a network");
}

/* The choices of the merged sums, those of layer i behind the ones before. */
static enum dse_status keep_choices(struct merge *m, uint32_t i, struct dse_error *err)
{
    const size_t n_layer = m->workload->n_layer;
    uint32_t *kept = malloc(m->merged.n * n_layer * sizeof *kept);
    if (!kept)
        return no_memory(err);
    for (size_t k = 0; k < m->merged.n; k++) {
        if (i > 0)
            memcpy(kept + k * n_layer, m->choice + m->merged.at[k].from * n_layer, i * sizeof *kept);
        kept[k * n_layer + i] = m->merged.at[k].choice;
    }
    free(m->choice);
    m->choice = kept;
    return DSE_OK;
}

static enum dse_status add_layer(struct merge *m, uint32_t i, struct dse_error *err)
{
    const struct solve_result *layer = m->result[m->workload->problem_of[i]];
    m->merged.n = 0;
    for (uint32_t k = 0; k < layer->n_front; k++)
        if (!add_point(m, &layer->front[k].found.evaluation, m->workload->count[i], k))
            return dse_fail(err, DSE_LIMIT, "the front of the first %u layers has more than %d points", i + 1,
                            NETWORK_FRONT_MAX);
    DSE_TRY(keep_choices(m, i, err));
    const struct sums merged = m->merged;
    m->merged = m->before;
    m->before = merged;
    return DSE_OK;
}

/* What all layers come to with these choices. */
static void fill_metrics(const struct merge *m, const struct architecture *arch, const uint32_t *choice,
                         struct metrics *total)
{
    const double area_mm2 = architecture_area_mm2(arch);
    metrics_init(total);
    metrics_fold_begin(total);
    for (uint32_t i = 0; i < m->workload->n_layer; i++) {
        const struct solve_result *layer = m->result[m->workload->problem_of[i]];
        struct metrics one;
        metrics_init(&one);
        evaluation_metrics(&layer->front[choice[i]].found.evaluation, arch, area_mm2, &one);
        metrics_fold(total, &one, m->workload->count[i]);
    }
    total->edp_js = total->energy_j * total->latency_s;
    total->area_mm2 = area_mm2;
    total->utilization = (double)total->n_mac / ((double)arch->mac.instances * (double)total->latency_cycle);
}

static enum dse_status fill_points(const struct merge *m, const struct architecture *arch,
                                   struct arena *arena, struct network_front *out, struct dse_error *err)
{
    const size_t n_layer = m->workload->n_layer;
    uint32_t *choice = arena_alloc(arena, m->before.n * n_layer, sizeof *choice);
    *out = (struct network_front){.n = m->before.n, .n_layer = m->workload->n_layer};
    out->point = arena_alloc(arena, out->n, sizeof *out->point);
    DSE_TRY(arena_check(arena, "the front of a network", err));
    memcpy(choice, m->choice, m->before.n * n_layer * sizeof *choice);
    for (size_t k = 0; k < out->n; k++) {
        out->point[k].choice = choice + k * n_layer;
        fill_metrics(m, arch, out->point[k].choice, &out->point[k].metrics);
        if (out->point[k].metrics.edp_js < out->point[out->best].metrics.edp_js)
            out->best = k;
    }
    return DSE_OK;
}

void network_front_choice_line(const struct network_front *front, size_t k, struct text_buffer *out)
{
    for (uint32_t i = 0; i < front->n_layer; i++)
        text_append(out, "%s%" PRIu32, i ? " " : "", front->point[k].choice[i]);
}

enum dse_status network_front_make(const struct workload *workload, const struct solve_result *const *result,
                                   const struct architecture *arch, struct arena *arena,
                                   struct network_front *out, struct dse_error *err)
{
    struct merge m = {.workload = workload, .result = result};
    struct sum *room = malloc(3 * (size_t)NETWORK_FRONT_MAX * sizeof *room);
    if (!room)
        return no_memory(err);
    m.before.at = room;
    m.merged.at = room + NETWORK_FRONT_MAX;
    m.spare.at = room + 2 * (size_t)NETWORK_FRONT_MAX;
    m.before.at[m.before.n++] = (struct sum){0};
    enum dse_status status = DSE_OK;
    for (uint32_t i = 0; i < workload->n_layer && status == DSE_OK; i++)
        status = add_layer(&m, i, err);
    if (status == DSE_OK)
        status = fill_points(&m, arch, arena, out, err);
    free(m.choice);
    free(room);
    return status;
}
