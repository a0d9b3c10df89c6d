/* What comes into a buffer when a loop outside it goes on, as the cost model counts it (docs/cost-model.md,
 * "Temporal reuse"): nothing, the new part of the tile, or all of it. */
#include <string.h>

#include "costmodel/model/divisor.h"
#include "costmodel/noc/noc_plan.h"

/* A temporal loop: one step moves `stride` along its dimension. */
struct visit_loop {
    uint32_t dim, bound;
    int level;
    uint64_t stride;
};

struct visit_nest {
    const struct problem *problem;
    const struct mapping *mapping;
    uint32_t n_loop;
    struct visit_loop loop[NOC_LOOP_MAX]; /* from the inside */
};

/* Coefficient of dimension `d` in rank `r`. */
static uint64_t coefficient(const struct tensor *tensor, uint32_t r, uint32_t d)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < tensor->rank[r].n_term; k++)
        if (tensor->rank[r].term[k].dim == d)
            sum += tensor->rank[r].term[k].coefficient;
    return sum;
}

static uint64_t width(const struct tensor *tensor, uint32_t r, const uint32_t *extent)
{
    uint64_t n = 1;
    for (uint32_t k = 0; k < tensor->rank[r].n_term; k++)
        n += (uint64_t)tensor->rank[r].term[k].coefficient * (extent[tensor->rank[r].term[k].dim] - 1);
    return n;
}

void noc_visit_code(const struct problem *problem, uint32_t t, uint64_t *code)
{
    const struct tensor *tensor = &problem->tensor[t];
    uint64_t radix = 1;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        code[d] = 0;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        for (uint32_t d = 0; d < problem->n_dim; d++)
            code[d] += coefficient(tensor, r, d) * radix;
        radix *= 2 * width(tensor, r, problem->bound); /* room for moves back, too */
    }
}

/* Words of a tile that one step of `loop` brings in. */
static uint64_t moved_words(const struct tensor *tensor, const uint32_t *extent,
                            const struct visit_loop *loop)
{
    uint64_t whole = 1, same = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        uint64_t n = width(tensor, r, extent), move = coefficient(tensor, r, loop->dim) * loop->stride;
        whole *= n;
        same *= move < n ? n - move : 0;
    }
    return whole - same;
}

static void extents_of(const struct visit_nest *nest, int level, uint32_t *extent)
{
    for (uint32_t d = 0; d < nest->problem->n_dim; d++) {
        extent[d] = 1;
        for (int l = 0; l <= level; l++)
            extent[d] *= nest->mapping->level[l].temporal[d] * nest->mapping->level[l].spatial[d];
    }
}

/* word[j] of loop j, for the tile that level `child` (-1: the MACs) holds of tensor `t`; returns the whole
 * tile's. */
static uint64_t visit_words(const struct visit_nest *nest, uint32_t t, int child, uint64_t *word)
{
    uint64_t code[PROBLEM_DIM_MAX], move_first = 0, inner = 0;
    uint32_t extent[PROBLEM_DIM_MAX], first = 0;
    bool always = child < 0 || (nest->mapping->level[child].no_temporal_reuse >> t & 1u);
    noc_visit_code(nest->problem, t, code);
    extents_of(nest, child, extent);
    uint64_t whole = problem_tile_words(nest->problem, t, extent), part = whole;
    while (first < nest->n_loop && nest->loop[first].level <= child)
        word[first++] = 0;
    for (uint32_t j = first; j < nest->n_loop; j++) {
        /* Each loop inside stands at its second iteration when this one goes on, as in Timeloop. */
        uint64_t step = code[nest->loop[j].dim] * nest->loop[j].stride, move = step - inner;
        if (j == first) {
            move_first = move;
            part = always ? whole : moved_words(&nest->problem->tensor[t], extent, &nest->loop[j]);
        }
        word[j] = move == move_first ? part : whole;
        inner += step;
    }
    return whole;
}

static uint64_t above(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Tiles of tensor `t` that the children of one instance of level `l` get, a shared one once. Of two
 * dimensions in one rank, b/g steps of the one are a/g steps back of the other. (Of three, only two are
 * taken to meet.) */
static uint64_t n_different(const struct visit_nest *nest, uint32_t t, uint32_t l)
{
    const struct mapping_level *level = &nest->mapping->level[l];
    const struct tensor *tensor = &nest->problem->tensor[t];
    uint64_t n = 1;
    uint32_t below[PROBLEM_DIM_MAX];
    extents_of(nest, (int)l - 1, below);
    for (uint32_t d = 0; d < nest->problem->n_dim && (level->no_multicast >> t & 1u); d++)
        n *= level->spatial[d];
    for (uint32_t r = 0; r < tensor->n_rank && !(level->no_multicast >> t & 1u); r++) {
        uint64_t step = 0, places = 1;
        for (uint32_t d = 0; d < nest->problem->n_dim; d++) {
            uint64_t s = coefficient(tensor, r, d) * below[d];
            if (s == 0 || level->spatial[d] == 1)
                continue;
            uint64_t divisor = greatest_common_divisor(step, s), times = level->spatial[d];
            places = step == 0 ? times
                               : places * times - above(places, s / divisor) * above(times, step / divisor);
            step = step == 0 ? s : step;
        }
        n *= places;
    }
    return n;
}

static bool keeps(const struct mapping *mapping, int level, uint32_t t)
{
    return mapping->level[level].keep >> t & 1u;
}

static int keeper_of(const struct mapping *mapping, uint32_t noc_level, uint32_t t)
{
    int keeper = (int)noc_level - 1;
    while (keeper >= 0 && !keeps(mapping, keeper, t))
        keeper--;
    return keeper;
}

/* All temporal loops outside level `lowest`, with strides; the product of those inside is a PE's cycles. */
static uint64_t list_loops(struct visit_nest *nest, int lowest)
{
    uint64_t cycle = 1, extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < nest->problem->n_dim; d++)
        extent[d] = 1;
    for (uint32_t l = 0; l < nest->mapping->n_level; l++) {
        const struct mapping_level *level = &nest->mapping->level[l];
        for (uint32_t d = 0; d < nest->problem->n_dim; d++)
            extent[d] *= level->spatial[d];
        for (uint32_t i = 0; i < nest->problem->n_dim; i++) {
            uint32_t d = level->temporal_order[i];
            if (level->temporal[d] > 1 && (int)l <= lowest)
                cycle *= level->temporal[d];
            else if (level->temporal[d] > 1)
                nest->loop[nest->n_loop++] = (struct visit_loop){d, level->temporal[d], (int)l, extent[d]};
            extent[d] *= level->temporal[d];
        }
    }
    return cycle;
}

/* A word is as wide as at the innermost level that keeps it, and no narrower than in the memory that sends
 * it. */
static uint32_t word_bit(const struct architecture *arch, const struct mapping *mapping, uint32_t t,
                         bool memory)
{
    uint32_t outermost = arch->n_level - 1, l = 0, bit;
    while (l < outermost && !keeps(mapping, (int)l, t))
        l++;
    bit = arch->level[l].word_bit;
    return memory && arch->level[outermost].word_bit > bit ? arch->level[outermost].word_bit : bit;
}

static enum dse_status size_stream(const struct visit_nest *nest, const struct architecture *arch,
                                   uint32_t noc_level, const struct noc_config *config, uint32_t t,
                                   int buffer_level, struct noc_stream *stream, struct dse_error *err)
{
    const char *name = nest->problem->tensor[t].name;
    int keeper = keeper_of(nest->mapping, noc_level, t);
    uint64_t code[PROBLEM_DIM_MAX], word[NOC_LOOP_MAX], together = 1;
    uint32_t bit = word_bit(arch, nest->mapping, t, buffer_level < 0);
    noc_visit_code(nest->problem, t, code);
    for (uint32_t l = (uint32_t)(keeper + 1); l < noc_level; l++)
        together *= n_different(nest, t, l);
    uint64_t whole = visit_words(nest, t, keeper, word);
    DSE_TRY(noc_packets(whole * together, bit, config, name, &stream->pe_packets, err));
    for (uint32_t j = 0; j < nest->n_loop; j++) {
        DSE_TRY(noc_packets(word[j] * together, bit, config, name, &stream->send[j], err));
        if (stream->is_output && nest->loop[j].level > keeper && code[nest->loop[j].dim] == 0)
            stream->reduced |= (uint64_t)1 << j;
    }
    stream->buffered = buffer_level >= 0;
    if (!stream->buffered)
        return DSE_OK;
    bit = word_bit(arch, nest->mapping, t, true);
    whole = visit_words(nest, t, buffer_level, word);
    DSE_TRY(noc_packets(whole, bit, config, name, &stream->buffer_packets, err));
    for (uint32_t j = 0; j < nest->n_loop; j++)
        DSE_TRY(noc_packets(word[j], bit, config, name, &stream->fetch[j], err));
    return DSE_OK;
}

/* ---- fewer loops ---- */

static bool moves_nothing(const struct noc_plan *plan, uint32_t j)
{
    for (uint32_t i = 0; i < plan->n_stream; i++)
        if (plan->stream[i].send[j] || plan->stream[i].fetch[j])
            return false;
    return true;
}

static bool same_loops(const struct noc_plan *plan, uint32_t j, uint32_t k)
{
    for (uint32_t i = 0; i < plan->n_stream; i++) {
        const struct noc_stream *stream = &plan->stream[i];
        if (stream->send[j] != stream->send[k] || stream->fetch[j] != stream->fetch[k] ||
            (stream->reduced >> j & 1u) != (stream->reduced >> k & 1u))
            return false;
    }
    return true;
}

static void move_loop(struct noc_plan *plan, uint32_t from, uint32_t to)
{
    plan->bound[to] = plan->bound[from];
    for (uint32_t i = 0; i < plan->n_stream; i++) {
        struct noc_stream *stream = &plan->stream[i];
        uint64_t reduced = stream->reduced >> from & 1u;
        stream->send[to] = stream->send[from];
        stream->fetch[to] = stream->fetch[from];
        stream->reduced = (stream->reduced & ~((uint64_t)1 << to)) | reduced << to;
    }
}

/* Loops that move nothing, with none inside that does, are a PE's own; neighbours that move the same are
 * one. Returns the iterations of the former. */
static uint64_t merge_loops(struct noc_plan *plan)
{
    uint64_t own = 1;
    uint32_t n = 0, first = 0;
    while (first < plan->n_loop && moves_nothing(plan, first))
        own *= plan->bound[first++];
    for (uint32_t j = first; j < plan->n_loop; j++) {
        if (n > 0 && same_loops(plan, n - 1, j))
            plan->bound[n - 1] *= plan->bound[j];
        else
            move_loop(plan, j, n++);
    }
    for (uint32_t i = 0; i < plan->n_stream; i++)
        plan->stream[i].reduced &= ((uint64_t)1 << n) - 1;
    plan->n_loop = n;
    return own;
}

enum dse_status noc_visit_plan(struct noc_plan *plan, const struct problem *problem,
                               const struct architecture *arch, const struct mapping *mapping,
                               uint32_t noc_level, const struct noc_config *config, const uint32_t *tensor,
                               const int *buffer_level, struct dse_error *err)
{
    struct visit_nest nest = {.problem = problem, .mapping = mapping};
    int lowest = (int)noc_level;
    for (uint32_t i = 0; i < plan->n_stream; i++) {
        int keeper = keeper_of(mapping, noc_level, tensor[i]);
        lowest = keeper < lowest ? keeper : lowest;
    }
    uint64_t cycle = list_loops(&nest, lowest);
    plan->n_loop = nest.n_loop;
    for (uint32_t j = 0; j < nest.n_loop; j++)
        plan->bound[j] = nest.loop[j].bound;
    for (uint32_t i = 0; i < plan->n_stream; i++)
        DSE_TRY(
            size_stream(&nest, arch, noc_level, config, tensor[i], buffer_level[i], &plan->stream[i], err));
    cycle *= merge_loops(plan);
    if (cycle > UINT32_MAX)
        return dse_fail(err, DSE_LIMIT, "a PE computes for %llu cycles in one step; below 2^32 are supported",
                        (unsigned long long)cycle);
    plan->pe_cycle = (uint32_t)cycle;
    return DSE_OK;
}

/* ---- sums ---- */

double noc_visit_packets(const struct noc_plan *plan, const uint32_t *table, uint32_t whole,
                         const uint64_t *kept)
{
    double n = whole, outside = 1;
    for (uint32_t j = plan->n_loop; j-- > 0;) {
        n += (double)table[j] * (double)(kept[j] - 1) * outside;
        outside *= (double)kept[j];
    }
    return n;
}

double noc_visit_fresh(const struct noc_plan *plan, const struct noc_stream *stream, const uint32_t *table,
                       uint32_t whole, const uint64_t *kept)
{
    double n = whole, outside = 1;
    for (uint32_t j = plan->n_loop; j-- > 0;) {
        if (stream->reduced >> j & 1u)
            continue;
        n += (double)table[j] * (double)(kept[j] - 1) * outside;
        outside *= (double)kept[j];
    }
    return n;
}
