/* Classes of visits to the child tile, delivered by multicast or by neighbours; then partitions, and the
 * demand that bypassed levels pass on. */
#include "costmodel/loopnest/plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One class of visits to the child tile: `weight` visits of `size` words, each moving the tile by `move`,
 * right after a visit of `previous_size` words (0: there was none). docs/cost-model.md, "Temporal reuse"
 * and "Multicast, scatter, links". */
struct visit {
    double weight;
    uint64_t size;
    uint64_t previous_size;
    bool has_previous;
    int64_t move;
};

/* Everything about one tensor below one level that its visits share. */
struct visit_context {
    const struct compiled *evaluator;
    struct arena *arena;
    struct level_traffic *level;
    struct child_mesh mesh;
    struct group_list all;     /* groups when nobody is served by a neighbour */
    struct group_list reduced; /* scratch */
    bool has_spatial;
    bool links;
};

static enum dse_status add_record(struct visit_context *context, uint64_t multicast, uint64_t scatter,
                                  double accesses, double hops, struct dse_error *err)
{
    struct level_traffic *level = context->level;
    for (uint32_t k = 0; k < level->n_record; k++)
        if (level->record[k].multicast == multicast && level->record[k].scatter == scatter) {
            level->record[k].accesses += accesses;
            level->record[k].hops += hops;
            return DSE_OK;
        }
    if (level->n_record == level->record_capacity) {
        uint32_t capacity = level->record_capacity ? 2 * level->record_capacity : 8;
        struct access_record *record = arena_alloc(context->arena, capacity, sizeof *record);
        DSE_TRY(arena_check(context->arena, "multicast records", err));
        if (level->n_record)
            memcpy(record, level->record, level->n_record * sizeof *record);
        level->record = record;
        level->record_capacity = capacity;
    }
    level->record[level->n_record++] = (struct access_record){multicast, scatter, accesses, hops};
    return DSE_OK;
}

/* Deliver one class of visits: by links where that saves accesses, else by multicast. */
static enum dse_status deliver(struct visit_context *context, const struct visit *visit,
                               struct dse_error *err)
{
    if (visit->size == 0)
        return DSE_OK;
    double words = (double)visit->size * visit->weight;
    if (!context->has_spatial)
        return add_record(context, 1, 1, words, 0, err);
    const struct group_list *best = &context->all;
    if (context->links && visit->has_previous && visit->size == visit->previous_size) {
        uint32_t n_served = child_mesh_mark_served(&context->mesh, visit->move);
        if (n_served) {
            child_mesh_group(&context->mesh, &context->reduced);
            if (context->reduced.n_group < context->all.n_group) {
                best = &context->reduced;
                context->level->link_transfers += n_served * words;
            }
        }
    }
    for (uint32_t c = 0; c < best->n_class; c++) {
        const struct group_class *class_ = &best->class_[c];
        DSE_TRY(add_record(context, class_->size, class_->count, words * class_->count, class_->hops * words,
                           err));
    }
    return DSE_OK;
}

/* Words of a box that is not covered by itself after the move of one step of `loop` (docs/cost-model.md,
 * "Temporal reuse", d0). */
static uint64_t moved_words(const struct compiled *evaluator, uint32_t t, const uint32_t *extent,
                            const struct nest_loop *loop)
{
    const struct tensor *tensor = &evaluator->base.problem.tensor[t];
    uint64_t whole = 1, kept = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        uint64_t width = 1;
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++)
            width +=
                (uint64_t)tensor->rank[r].term[k].coefficient * (extent[tensor->rank[r].term[k].dim] - 1);
        uint64_t move = evaluator->code[t].step[r][loop->dim] * loop->stride;
        whole *= width;
        kept *= move < width ? width - move : 0;
    }
    return whole - kept;
}

/* All visits of the child tile (docs/cost-model.md, "Temporal reuse"): the first, the innermost loop's
 * advances, and for each loop further out its advance followed by the innermost loop running again. */
static enum dse_status visit_children(struct visit_context *context, const struct nest *nest, uint32_t l,
                                      uint32_t t, const uint32_t *extent, bool whole_always,
                                      struct dse_error *err)
{
    const struct tensor_code *code = &context->evaluator->code[t];
    uint64_t whole = problem_tile_words(&context->evaluator->base.problem, t, extent);
    const struct nest_loop *temporal[NEST_LOOP_MAX];
    uint32_t n = 0;
    for (uint32_t k = nest->temporal_begin[l]; k < nest->n_loop; k++)
        if (nest->loop[k].kind == LOOP_TEMPORAL)
            temporal[n++] = &nest->loop[k];
    DSE_TRY(deliver(context, &(struct visit){.weight = 1, .size = whole}, err));
    if (n == 0)
        return DSE_OK;
    uint64_t partial = whole_always ? whole : moved_words(context->evaluator, t, extent, temporal[0]);
    int64_t move_0 = code->dim[temporal[0]->dim] * (int64_t)temporal[0]->stride, inner_moves = move_0;
    double inner_again = temporal[0]->bound - 1.0;
    DSE_TRY(deliver(context, &(struct visit){inner_again, partial, whole, true, move_0}, err));
    for (uint32_t j = 1; j < n; j++) {
        int64_t step = code->dim[temporal[j]->dim] * (int64_t)temporal[j]->stride;
        int64_t move = step - inner_moves; /* each inner loop stands at iteration 1 when loop j advances */
        double weight = temporal[j]->bound - 1.0;
        for (uint32_t k = j + 1; k < n; k++)
            weight *= temporal[k]->bound;
        uint64_t size = move == move_0 ? partial : whole;
        DSE_TRY(deliver(context, &(struct visit){weight, size, partial, true, move}, err));
        DSE_TRY(deliver(context, &(struct visit){weight * inner_again, partial, size, true, move_0}, err));
        inner_moves += step;
    }
    return DSE_OK;
}

static int compare_records(const void *a, const void *b)
{
    const struct access_record *x = a, *y = b;
    if (x->multicast != y->multicast)
        return x->multicast < y->multicast ? -1 : 1;
    return x->scatter < y->scatter ? -1 : x->scatter > y->scatter;
}

static double sum_accesses(const struct level_traffic *level)
{
    double sum = 0;
    for (uint32_t k = 0; k < level->n_record; k++)
        sum += level->record[k].accesses;
    return sum;
}

static enum dse_status level_visits(const struct compiled *evaluator, const struct mapping *mapping,
                                    const struct nest *nest, uint32_t l, uint32_t t, struct arena *arena,
                                    struct level_traffic *level, struct dse_error *err)
{
    static const uint32_t point[PROBLEM_DIM_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const struct mapping_level *choice = &mapping->level[l];
    struct visit_context context = {.evaluator = evaluator, .arena = arena, .level = level};
    context.has_spatial = nest->spatial_begin[l] < nest->temporal_begin[l];
    context.links = evaluator->base.arch.link_transfers && !(choice->no_link_transfer >> t & 1u);
    level->fanout = 1;
    if (context.has_spatial) {
        bool alone = choice->no_multicast >> t & 1u;
        DSE_TRY(child_mesh_make(evaluator, nest, l, t, alone, arena, &context.mesh, err));
        DSE_TRY(group_list_make(&context.mesh, arena, &context.all, err));
        DSE_TRY(group_list_make(&context.mesh, arena, &context.reduced, err));
        child_mesh_group(&context.mesh, &context.all);
        level->fanout = context.mesh.n_child;
    }
    /* MACs hold nothing: every visit of a point is a whole one (docs/cost-model.md, "Temporal reuse");
     * likewise without temporal reuse. */
    bool whole_always = l == 0 || (mapping->level[l - 1].no_temporal_reuse >> t & 1u);
    DSE_TRY(visit_children(&context, nest, l, t, l ? nest->tile[l - 1] : point, whole_always, err));
    if (level->n_record > 1)
        qsort(level->record, level->n_record, sizeof *level->record, compare_records);
    level->content = sum_accesses(level);
    return DSE_OK;
}

/* partition_i = floor(partition_{i+1} * tile_i / tile of all children together) (docs/cost-model.md,
 * "Counts"). The product may pass 64 bits, hence 128. */
static void partition_sizes(const struct compiled *evaluator, const struct nest *nest, uint32_t t,
                            struct tensor_traffic *traffic)
{
    uint32_t top = evaluator->base.arch.n_level - 1;
    traffic->level[top].partition_word = traffic->level[top].tile_word;
    for (uint32_t l = top; l-- > 0;) {
        uint64_t tile = traffic->level[l].tile_word;
        bool spatial = nest->spatial_begin[l + 1] < nest->temporal_begin[l + 1];
        uint64_t together =
            spatial ? problem_tile_words(&evaluator->base.problem, t, nest->below[l + 1]) : tile;
        __extension__ typedef unsigned __int128 wide;
        traffic->level[l].partition_word =
            (uint64_t)((wide)traffic->level[l + 1].partition_word * tile / together);
    }
}

static void arriving_words(struct tensor_traffic *traffic, uint32_t n_level)
{
    for (uint32_t l = 0; l + 1 < n_level; l++) {
        const struct level_traffic *outer = &traffic->level[l + 1];
        for (uint32_t k = 0; k < outer->n_record; k++)
            traffic->level[l].arriving +=
                outer->record[k].accesses * (double)outer->record[k].multicast / (double)outer->fanout;
    }
}

/* A level that does not keep the tensor passes its children's demand on to the next outer level
 * (docs/cost-model.md, "Counts"). */
static void bypass_level(struct tensor_traffic *traffic, uint32_t l, uint32_t n_level)
{
    struct level_traffic *level = &traffic->level[l];
    if (l + 1 < n_level) {
        struct level_traffic *outer = &traffic->level[l + 1];
        double delivered = 0;
        for (uint32_t k = 0; k < outer->n_record; k++)
            delivered += outer->record[k].accesses * (double)outer->record[k].multicast;
        double factor = level->content * (double)outer->fanout / delivered;
        for (uint32_t k = 0; k < outer->n_record; k++)
            outer->record[k].accesses *= factor;
        outer->content = sum_accesses(outer);
        outer->link_transfers = 0;
    }
    level->tile_word = level->partition_word = 0;
    level->content = level->arriving = 0;
}

static void apply_bypass(struct tensor_traffic *traffic, uint32_t n_level)
{
    for (uint32_t l = 0; l < n_level; l++)
        if (!traffic->level[l].keep)
            bypass_level(traffic, l, n_level);
    uint32_t l = n_level - 1;
    for (; l > 0 && !traffic->level[l].keep; l--) {
        traffic->level[l].n_record = 0;
        traffic->level[l].link_transfers = 0;
        traffic->level[l].fanout = 0;
    }
    traffic->outermost = l;
    traffic->level[l].arriving = 0;
}

enum dse_status traffic_compute(const struct compiled *evaluator, const struct mapping *mapping,
                                const struct nest *nest, uint32_t t, struct arena *arena,
                                struct tensor_traffic *out, struct dse_error *err)
{
    uint32_t n_level = evaluator->base.arch.n_level;
    memset(out, 0, sizeof *out);
    for (uint32_t l = 0; l < n_level; l++) {
        struct level_traffic *level = &out->level[l];
        level->keep = mapping->level[l].keep >> t & 1u;
        level->tile_word = problem_tile_words(&evaluator->base.problem, t, nest->tile[l]);
        DSE_TRY(level_visits(evaluator, mapping, nest, l, t, arena, level, err));
    }
    partition_sizes(evaluator, nest, t, out);
    arriving_words(out, n_level);
    apply_bypass(out, n_level);
    /* Divided by the children of the whole machine, as Timeloop does (docs/cost-model.md, "Counts"). */
    for (uint32_t l = n_level - 1; l > 0; l--)
        if (out->level[l].link_transfers > 0)
            out->level[l - 1].peer =
                out->level[l].link_transfers / (double)(nest->x_used[l - 1] * nest->y_used[l - 1]);
    return DSE_OK;
}
