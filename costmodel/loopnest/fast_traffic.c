/* Walks the temporal loops once per tensor and serves all levels from that; the common case (no network,
 * no links, groups of one size) skips the records altogether. */
#include "costmodel/loopnest/fast.h"

#include <math.h>

/* The temporal loops as one tensor sees them. With s_j the move of loop j and S_j the sum of the moves of
 * all loops inside it, the move when loop j advances above level l is t_j = s_j - (S_j - S_p), p being the
 * first loop at or above l (docs/cost-model.md, "Temporal reuse"). So t_j == t_p exactly when s_j - S_j ==
 * s_p - S_p: one number per loop serves all levels. */
struct tensor_walk {
    const struct compiled *evaluator;
    const struct mapping *mapping;
    const struct fast_nest *nest;
    struct fast_mesh *mesh;
    uint32_t t;
    int64_t move[FAST_LOOP_MAX];     /* s_j */
    int64_t residual[FAST_LOOP_MAX]; /* s_j - S_j */
};

/* What one level delivers to its children, per instance. */
struct level_flow {
    double content;  /* accesses */
    double weighted; /* accesses times multicast: words that arrive at all children together */
    double arriving; /* words per child */
    double links;
    uint64_t n_child;
};

/* Words of the visits to the child tile. */
struct visit_words {
    uint64_t whole, partial; /* F and d0 of "Temporal reuse" */
    double total;
};

static void walk_init(struct tensor_walk *walk)
{
    const struct fast_nest *nest = walk->nest;
    const struct tensor_code *code = &walk->evaluator->code[walk->t];
    int64_t sum = 0;
    for (uint32_t j = 0; j < nest->n_temporal; j++) {
        int64_t move = code->dim[nest->temporal_dim[j]] * (int64_t)nest->temporal_stride[j];
        walk->move[j] = move;
        walk->residual[j] = move - sum;
        sum += move;
    }
}

/* Words of the child's box not covered by itself after one step of loop p: only dimensions that share a rank
 * (sliding windows) can overlap; any other moves by at least its own width. */
static uint64_t partial_words(const struct tensor_walk *walk, uint32_t l, uint32_t p, uint64_t whole)
{
    static const uint32_t point[PROBLEM_DIM_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const struct tensor *tensor = &walk->evaluator->base.problem.tensor[walk->t];
    uint32_t d = walk->nest->temporal_dim[p];
    if (walk->move[p] == 0)
        return 0;
    if (!walk->evaluator->code[walk->t].shares_rank[d])
        return whole;
    const uint32_t *extent = l ? walk->nest->tile[l - 1] : point;
    uint64_t kept = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        uint64_t width = 1;
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++)
            width +=
                (uint64_t)tensor->rank[r].term[k].coefficient * (extent[tensor->rank[r].term[k].dim] - 1);
        uint64_t move = walk->evaluator->code[walk->t].step[r][d] * walk->nest->temporal_stride[p];
        kept *= move < width ? width - move : 0;
    }
    return whole - kept;
}

static struct visit_words count_visits(const struct tensor_walk *walk, uint32_t l)
{
    const struct fast_nest *nest = walk->nest;
    uint32_t p = nest->temporal_begin[l];
    struct visit_words words;
    if (l == 0)
        words.whole = 1;
    else if (walk->mapping->level[l - 1].keep >> walk->t & 1u)
        words.whole = nest->word[l - 1][walk->t];
    else
        words.whole = fast_tile_words(walk->evaluator, walk->t, nest->tile[l - 1]);
    words.partial = words.whole;
    words.total = (double)words.whole * nest->visits[p];
    bool whole_always = l == 0 || (walk->mapping->level[l - 1].no_temporal_reuse >> walk->t & 1u);
    if (whole_always || p == nest->n_temporal)
        return words;
    words.partial = partial_words(walk, l, p, words.whole);
    if (words.partial == words.whole)
        return words;
    double matched = nest->weight[p];
    for (uint32_t j = p + 1; j < nest->n_temporal; j++)
        matched += walk->residual[j] == walk->residual[p] ? nest->weight[j] : 0;
    words.total -= (double)(words.whole - words.partial) * matched;
    return words;
}

static void add_record(struct fast_mesh *mesh, const struct group_class *class_, double words)
{
    uint32_t k = 0;
    while (k < mesh->n_record &&
           (mesh->record[k].multicast != class_->size || mesh->record[k].scatter != class_->count))
        k++;
    if (k == mesh->n_record)
        mesh->record[mesh->n_record++] =
            (struct access_record){.multicast = class_->size, .scatter = class_->count};
    mesh->record[k].accesses += words * class_->count;
    mesh->record[k].hops += class_->hops * words;
}

/* By multicast, then scatter: the order Timeloop adds them up in. Few records: insertion sort. */
static void sort_records(struct fast_mesh *mesh)
{
    for (uint32_t k = 1; k < mesh->n_record; k++) {
        struct access_record record = mesh->record[k];
        uint32_t at = k;
        while (at > 0 && (mesh->record[at - 1].multicast > record.multicast ||
                          (mesh->record[at - 1].multicast == record.multicast &&
                           mesh->record[at - 1].scatter > record.scatter))) {
            mesh->record[at] = mesh->record[at - 1];
            at--;
        }
        mesh->record[at] = record;
    }
}

/* `words` in `weight` visits that move the tile by `move`, each after a visit of equal size: deliver through
 * neighbours if that saves accesses. Returns the words so delivered (0 or `words`). */
static double deliver_by_links(struct tensor_walk *walk, uint32_t l, bool alone, bool hops, int64_t move,
                               double words, struct level_flow *flow)
{
    struct fast_mesh *mesh = walk->mesh;
    if (words <= 0 || !fast_mesh_may_link(walk->evaluator, walk->nest, l, walk->t, move))
        return 0;
    if (!mesh->built)
        fast_mesh_build(walk->evaluator, walk->nest, l, walk->t, alone, hops, mesh);
    uint32_t n_served = child_mesh_mark_served(&mesh->mesh, move);
    if (n_served == 0)
        return 0;
    child_mesh_group(&mesh->mesh, &mesh->reduced);
    if (mesh->reduced.n_group >= mesh->all.n_group)
        return 0;
    for (uint32_t c = 0; c < mesh->reduced.n_class; c++)
        add_record(mesh, &mesh->reduced.class_[c], words);
    flow->links += n_served * words;
    return words;
}

/* The visits that can go through neighbours, one call per distinct move (docs/cost-model.md, "Multicast,
 * scatter, links"). */
static double visit_links(struct tensor_walk *walk, uint32_t l, bool alone, bool hops,
                          const struct visit_words *words, struct level_flow *flow)
{
    const struct fast_nest *nest = walk->nest;
    uint32_t p = nest->temporal_begin[l], m = nest->n_temporal;
    if (p == m || words->partial == 0)
        return 0;
    double size = (double)words->partial, weight = 0, delivered = 0;
    if (words->partial != words->whole) {
        /* Equal sizes only between partial visits: loops j that keep the stride, and the inner loop right
         * after them. */
        for (uint32_t j = p + 1; j < m; j++)
            weight += walk->residual[j] == walk->residual[p] ? nest->weight[j] * nest->temporal_bound[p] : 0;
        return deliver_by_links(walk, l, alone, hops, walk->move[p], weight * size, flow);
    }
    int64_t base = walk->move[p] - walk->residual[p]; /* S_p */
    for (uint32_t j = p; j < m; j++) {
        int64_t move = walk->residual[j] + base;
        bool seen = false;
        for (uint32_t i = p; i < j && !seen; i++)
            seen = walk->residual[i] == walk->residual[j];
        if (seen)
            continue;
        weight = nest->weight[j];
        for (uint32_t i = j + 1; i < m; i++)
            weight += walk->residual[i] == walk->residual[j] ? nest->weight[i] : 0;
        delivered += deliver_by_links(walk, l, alone, hops, move, weight * size, flow);
    }
    return delivered;
}

/* Fill flow from the records. */
static void sum_records(struct fast_mesh *mesh, struct level_flow *flow)
{
    sort_records(mesh);
    for (uint32_t k = 0; k < mesh->n_record; k++) {
        double received = mesh->record[k].accesses * (double)mesh->record[k].multicast;
        flow->content += mesh->record[k].accesses;
        flow->weighted += received;
        flow->arriving += received / (double)flow->n_child;
    }
}

/* What level l delivers. Leaves the records in walk->mesh when `costs` (the network is priced) or there are
 * several. */
static struct level_flow level_deliver(struct tensor_walk *walk, uint32_t l, bool costs, bool links)
{
    const struct fast_nest *nest = walk->nest;
    struct fast_mesh *mesh = walk->mesh;
    struct visit_words words = count_visits(walk, l);
    struct level_flow flow = {.n_child = 1};
    mesh->n_record = 0;
    if (nest->spatial_begin[l] == nest->spatial_begin[l + 1]) {
        flow.content = flow.weighted = flow.arriving = words.total;
        if (costs)
            add_record(mesh, &(struct group_class){.size = 1, .count = 1}, words.total);
        return flow;
    }
    bool alone = walk->mapping->level[l].no_multicast >> walk->t & 1u;
    bool hops = costs && walk->evaluator->base.arch.level[l].hop_energy_j +
                                 walk->evaluator->base.arch.level[l].router_energy_j >
                             0;
    flow.n_child = fast_mesh_classes(walk->evaluator, nest, l, walk->t, alone, hops, mesh);
    double by_links = 0;
    if (links && !(walk->mapping->level[l].no_link_transfer >> walk->t & 1u))
        by_links = visit_links(walk, l, alone, hops, &words, &flow);
    if (!costs && by_links == 0 && mesh->all.n_class == 1) {
        flow.content = words.total * mesh->all.class_[0].count;
        flow.arriving = words.total;
        flow.weighted = words.total * (double)flow.n_child;
        return flow;
    }
    /* The first visit never goes through neighbours, so plain words are left. */
    for (uint32_t c = 0; c < mesh->all.n_class; c++)
        add_record(mesh, &mesh->all.class_[c], words.total - by_links);
    sum_records(mesh, &flow);
    return flow;
}

/* Energy of the network below level l (docs/cost-model.md, "Energy of networks"), all instances. */
static double network_energy(const struct tensor_walk *walk, uint32_t l, uint64_t partition, double links)
{
    const struct storage_level *level = &walk->evaluator->base.arch.level[l];
    bool doubled = walk->evaluator->base.problem.tensor[walk->t].read_write && !level->reduces;
    double hops = 0, router_words = 0, ingresses = 0, first = (double)partition, content = 0;
    for (uint32_t k = 0; doubled && k < walk->mesh->n_record; k++)
        content += walk->mesh->record[k].accesses;
    if (first > content)
        first = content;
    for (uint32_t k = 0; k < walk->mesh->n_record; k++) {
        const struct access_record *record = &walk->mesh->record[k];
        double ingress = record->accesses;
        if (doubled)
            ingress = 2 * ingress - first;
        ingresses += ingress;
        if (ingress > 0) {
            hops += record->hops;
            router_words += floor((1 + floor(record->hops / ingress)) * ingress);
        }
    }
    double link_j = floor(links) * (level->hop_energy_j + 2 * level->router_energy_j);
    return (hops * level->hop_energy_j + router_words * level->router_energy_j +
            ingresses * level->ingress_energy_j + link_j) *
           (double)(walk->nest->used_x[l] * walk->nest->used_y[l]);
}

/* Content after scaling; record by record where there are records, so that sums round as the plain
 * version's. */
static double scale_flow(struct fast_mesh *mesh, double factor, double content)
{
    if (mesh->n_record == 0)
        return content * factor;
    double sum = 0;
    for (uint32_t k = 0; k < mesh->n_record; k++) {
        mesh->record[k].accesses *= factor;
        sum += mesh->record[k].accesses;
    }
    return sum;
}

/* As in detail.c: below 0 only for outputs with untouched words. */
static uint64_t rounded(double x)
{
    return x > 0 ? (uint64_t)(x + 0.5) : 0;
}

/* docs/cost-model.md, "Counts". `served` and `arrived` include what neighbours hand on. */
static void count(bool read_write, double served, double arrived, double content, uint64_t partition,
                  struct fast_counts *out)
{
    if (read_write) {
        double first = (double)partition; /* first updates need no old value, first arrivals no fill */
        out->updates = rounded(content);
        out->reads = rounded(served - first);
        out->fills = rounded(arrived - first);
    } else {
        out->reads = rounded(served);
        out->fills = (uint64_t)arrived;
    }
}

/* The outermost keeping level: nothing arrives and it has no neighbours' network above it. */
static void count_outermost(bool read_write, double content, uint64_t partition, struct fast_counts *out)
{
    if (read_write) {
        out->updates = rounded(content);
        out->reads = rounded(content - (double)partition);
    } else {
        out->reads = rounded(content);
    }
}

/* What flows at each level, before rounding. */
struct tensor_flow {
    double content[ARCH_LEVEL_MAX];
    double arriving[ARCH_LEVEL_MAX]; /* where kept below the outermost */
    double peer[ARCH_LEVEL_MAX];
};

/* One level in general: records, link transfers, network energy. */
static void deliver_level(struct tensor_walk *walk, uint32_t l, bool child_keeps, uint64_t partition,
                          struct tensor_flow *flow, struct fast_counts *counts)
{
    const struct fast_nest *nest = walk->nest;
    bool costs = walk->evaluator->network_costs[l];
    struct level_flow level = level_deliver(walk, l, costs, walk->evaluator->base.arch.link_transfers);
    flow->content[l] = level.content;
    if (!child_keeps) {
        /* A bypassed child passes its own children's demand on (docs/cost-model.md, "Counts"). */
        double factor = flow->content[l - 1] * (double)level.n_child / level.weighted;
        flow->content[l] = scale_flow(walk->mesh, factor, level.content);
        level.links = 0;
    } else if (l > 0) {
        flow->arriving[l - 1] = level.arriving;
        flow->peer[l - 1] = level.links / (double)(nest->used_x[l - 1] * nest->used_y[l - 1]);
    }
    if (costs)
        counts->network_j = network_energy(
            walk, l, walk->mapping->level[l].keep >> walk->t & 1u ? partition : 0, level.links);
}

/* The common case, no network priced, no link transfers, groups of one size: the number of groups says it
 * all. */
static void deliver_evenly(const struct tensor_walk *walk, uint32_t l, bool spatial, bool child_keeps,
                           struct tensor_flow *flow)
{
    double n_group = spatial ? walk->nest->n_group[l][walk->t] : 1;
    if (!child_keeps) {
        flow->content[l] = flow->content[l - 1] * n_group;
        return;
    }
    double words = count_visits(walk, l).total;
    flow->content[l] = words * n_group;
    if (l > 0) {
        flow->arriving[l - 1] = words;
        flow->peer[l - 1] = 0;
    }
}

void fast_traffic(const struct compiled *evaluator, const struct mapping *mapping,
                  const struct fast_nest *nest, uint32_t t, struct fast_mesh *mesh,
                  struct fast_counts *counts)
{
    struct tensor_walk walk; /* its arrays are filled as far as they are used */
    struct tensor_flow flow;
    uint64_t partition[ARCH_LEVEL_MAX];
    bool read_write = t == evaluator->output, links = evaluator->base.arch.link_transfers;
    uint32_t outermost = evaluator->base.arch.n_level - 1;
    for (; !(mapping->level[outermost].keep >> t & 1u); outermost--)
        counts[outermost] = (struct fast_counts){0};
    walk.evaluator = evaluator;
    walk.mapping = mapping;
    walk.nest = nest;
    walk.mesh = mesh;
    walk.t = t;
    walk_init(&walk);
    if (read_write)
        fast_partition_sizes(evaluator, nest, t, partition);
    bool child_keeps = true; /* the MACs take what they need */
    for (uint32_t l = 0; l <= outermost; l++) {
        bool spatial = nest->spatial_begin[l] < nest->spatial_begin[l + 1];
        counts[l] = (struct fast_counts){0};
        if (evaluator->network_costs[l] || (spatial && (links || (nest->uneven[l] >> t & 1u))))
            deliver_level(&walk, l, child_keeps, read_write ? partition[l] : 0, &flow, &counts[l]);
        else
            deliver_evenly(&walk, l, spatial, child_keeps, &flow);
        if (l > 0 && child_keeps)
            count(read_write, flow.content[l - 1] + flow.peer[l - 1], flow.arriving[l - 1] + flow.peer[l - 1],
                  flow.content[l - 1], read_write ? partition[l - 1] : 0, &counts[l - 1]);
        child_keeps = mapping->level[l].keep >> t & 1u;
    }
    count_outermost(read_write, flow.content[outermost], read_write ? partition[outermost] : 0,
                    &counts[outermost]);
}
