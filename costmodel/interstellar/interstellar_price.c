/* The plain version: counts, energies and hops of one mapping, rule by rule (docs/interstellar.md). */
#include <math.h>
#include <string.h>

#include "costmodel/interstellar/interstellar_compiled.h"

uint32_t interstellar_demand_level(const struct interstellar_compiled *c, const struct mapping *mapping,
                                   uint32_t t, uint32_t l)
{
    uint32_t demand = l;
    for (uint32_t k = l; k-- > 0 && !(mapping->level[k].keep >> t & 1u);)
        if (c->rule == REUSE_SANE || c->may_keep[k] >> t & 1u)
            demand = k;
    return demand;
}

/* The loops that stand at level l, temporal or only spatial: those of its own copies are one level up. */
static uint32_t present_at(const struct mapping *mapping, uint32_t l)
{
    uint32_t present = 0;
    for (uint32_t d = 0; d < mapping->n_dim; d++)
        if (mapping->level[l].temporal[d] > 1 ||
            (l + 1 < mapping->n_level && mapping->level[l + 1].spatial[d] > 1))
            present |= 1u << d;
    return present;
}

/* Visits of each word of a tensor at level l, where level `demand` asks for it. The innermost level of MACs
 * that hold nothing is asked for every operand of the layer, not of the padded one. */
static double count_at(const struct interstellar_compiled *c, const struct mapping *mapping, uint32_t t,
                       uint32_t demand, uint32_t l)
{
    const struct reuse_tensor *tensor = &c->reuse.tensor[t];
    const bool all = demand == 0 && c->base.arch.mac.capacity == 0;
    const uint32_t exclusive = reuse_exclusive(tensor, present_at(mapping, demand),
                                               mapping->level[demand].temporal_order, mapping->n_dim);
    double product[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < mapping->n_dim; d++) {
        double shared = 1;
        product[d] = 1;
        for (uint32_t k = 0; k < mapping->n_level; k++) {
            if (k >= demand && !(k == demand && exclusive >> d & 1u))
                product[d] *= mapping->level[k].temporal[d];
            if (k > l)
                product[d] *= mapping->level[k].spatial[d];
            else
                shared *= mapping->level[k].spatial[d];
        }
        if (all)
            product[d] = ceil(c->base.problem.bound[d] / shared);
    }
    return reuse_count(tensor, c->rule, product);
}

static double box_words(const struct problem *problem, uint32_t t, const double *extent)
{
    const struct tensor *tensor = &problem->tensor[t];
    double words = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        double side = 1;
        for (uint32_t i = 0; i < tensor->rank[r].n_term; i++)
            side += tensor->rank[r].term[i].coefficient * (extent[tensor->rank[r].term[i].dim] - 1);
        words *= side;
    }
    return words;
}

static void measure_tile(const struct problem *problem, const struct mapping *mapping, uint32_t t, uint32_t l,
                         struct interstellar_access *out)
{
    double bank[PROBLEM_DIM_MAX], instance[PROBLEM_DIM_MAX], tile[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < mapping->n_dim; d++) {
        bank[d] = mapping->level[0].spatial[d];
        instance[d] = 1;
        for (uint32_t k = 0; k <= l; k++) {
            bank[d] *= mapping->level[k].temporal[d];
            instance[d] *= (double)mapping->level[k].temporal[d] * mapping->level[k].spatial[d];
        }
        tile[d] = instance[d] * (l + 1 < mapping->n_level ? mapping->level[l + 1].spatial[d] : 1);
    }
    out->bank_word = box_words(problem, t, bank);
    out->instance_word = box_words(problem, t, instance);
    out->tile_word = box_words(problem, t, tile);
}

static void price_access(const struct interstellar_compiled *c, const struct mapping *mapping, uint32_t t,
                         uint32_t l, struct interstellar_access *out)
{
    const struct reuse_tensor *tensor = &c->reuse.tensor[t];
    out->keep = mapping->level[l].keep >> t & 1u;
    out->count = count_at(c, mapping, t, interstellar_demand_level(c, mapping, t, l), l);
    measure_tile(&c->base.problem, mapping, t, l, out);
    out->accesses = reuse_accesses(tensor, out->count) * tensor->size_word;
    if (!out->keep)
        return;
    out->energy_j = tensor->output ? (out->count * c->write_j[l][t] + (out->count - 1) * c->read_j[l][t]) *
                                         tensor->size_word
                                   : out->accesses * c->read_j[l][t];
}

/* The dimensions of an array with their loops that are no units: begin[k] .. begin[k + 1] of `loop`. */
struct array_loops {
    uint32_t n_dimension, begin[ARRAY_DIM_MAX + 1];
    uint8_t loop[PROBLEM_DIM_MAX];
};

static void list_array(const struct mapping_level *level, uint32_t n_dim, struct array_loops *out)
{
    uint32_t n = 0;
    bool begins = true;
    out->n_dimension = 0;
    for (uint32_t i = 0; i < n_dim; i++) {
        begins |= i == level->split || ((uint32_t)level->further >> i & 1u);
        if (level->spatial[level->spatial_order[i]] == 1)
            continue;
        if (begins)
            out->begin[out->n_dimension++] = n;
        out->loop[n++] = level->spatial_order[i];
        begins = false;
    }
    out->begin[out->n_dimension] = n;
}

/* A bus brings each word to every instance that wants it; a tree has a link from each of n partial sums and
 * one from each of its n - 1 adders. */
static double bus_hops(const struct reuse_tensor *tensor, const struct mapping_level *level,
                       const struct array_loops *array, bool tree)
{
    double receivers = 1;
    for (uint32_t i = 0; i < array->begin[array->n_dimension]; i++)
        if (tensor->reuse >> array->loop[i] & 1u)
            receivers *= level->spatial[array->loop[i]];
    return tree && tensor->output ? 2 * receivers - 1 : receivers;
}

/* Neighbours hand words on along the first loop of each dimension; the copies that later loops of a dimension
 * make lie as far apart as the loops before it reach. */
static void link_hops(const struct reuse_tensor *tensor, const struct mapping_level *level,
                      const struct array_loops *array, struct interstellar_hops *out)
{
    out->near = 1;
    for (uint32_t k = 0; k < array->n_dimension; k++) {
        const uint8_t first = array->loop[array->begin[k]];
        double reach = 1;
        if (tensor->reuse >> first & 1u)
            out->near *= level->spatial[first];
        for (uint32_t i = array->begin[k] + 1; i < array->begin[k + 1]; i++) {
            uint8_t d = array->loop[i];
            if (tensor->reuse >> d & 1u)
                out->far[k] += reach * level->spatial[d];
            reach *= level->spatial[d];
        }
    }
}

static void price_array(const struct interstellar_compiled *c, const struct mapping *mapping, uint32_t l,
                        struct interstellar_prices *out)
{
    const struct mapping_level *level = &mapping->level[l];
    const struct storage_level *storage = &c->base.arch.level[l];
    struct array_loops array;
    list_array(level, mapping->n_dim, &array);
    out->level[l].is_array = true;
    out->level[l].n_dimension = array.n_dimension;
    for (uint32_t k = 0; k < array.n_dimension; k++)
        if (storage->link == ARRAY_SYSTOLIC && array.begin[k + 1] - array.begin[k] > 1)
            out->level[l].distance[k] = level->spatial[array.loop[array.begin[k]]];
    for (uint32_t t = 0; t < c->reuse.n_tensor; t++) {
        const struct reuse_tensor *tensor = &c->reuse.tensor[t];
        const double count = out->level[l].access[t].count, words = count * tensor->size_word;
        struct interstellar_hops *hops = &out->level[l].hops[t];
        if (storage->link == ARRAY_SYSTOLIC)
            link_hops(tensor, level, &array, hops);
        else
            hops->near = bus_hops(tensor, level, &array, storage->link == ARRAY_TREE);
        hops->near_j = words * (hops->near * c->hop_j[l] + storage->ingress_energy_j);
        hops->near *= count;
        for (uint32_t k = 0; k < array.n_dimension; k++) {
            hops->far_j[k] = words * hops->far[k] * out->level[l].distance[k] * c->hop_j[l];
            hops->far[k] *= count;
        }
    }
}

void interstellar_price(const struct interstellar_compiled *c, const struct mapping *mapping,
                        struct interstellar_prices *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        for (uint32_t t = 0; t < c->reuse.n_tensor; t++)
            price_access(c, mapping, t, l, &out->level[l].access[t]);
        if (c->fan[l] > 1)
            price_array(c, mapping, l, out);
    }
}
