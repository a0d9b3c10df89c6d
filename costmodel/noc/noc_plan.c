/* Merges loops that all tensors see alike, lays spatial iterations on the mesh, groups PEs that need the
 * same tile, and chains those that sum up outputs. */
#include "costmodel/noc/noc_plan.h"

#include <string.h>

static bool indexes(const struct problem *problem, uint32_t t, uint32_t d)
{
    const struct tensor *tensor = &problem->tensor[t];
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++)
            if (tensor->rank[r].term[k].dim == d)
                return true;
    return false;
}

static uint32_t output_of(const struct problem *problem)
{
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (problem->tensor[t].read_write)
            return t;
    return 0;
}

/* Does dimension `d` move tensor `t` on to other data? Not the window of a convolution (R and S of the
 * inputs): CoSA's relation takes the words that the window slides over as present already (unless
 * resend_windows). A window is a dimension that is added to another one in a rank of `t` and is summed over,
 * that is, does not index the output. */
static bool moves(const struct noc_plan *plan, const struct problem *problem, uint32_t t, uint32_t d)
{
    const struct tensor *tensor = &problem->tensor[t];
    bool window_only =
        !plan->resend_windows && !tensor->read_write && !indexes(problem, output_of(problem), d);
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        for (uint32_t k = 0; k < tensor->rank[r].n_term; k++)
            if (tensor->rank[r].term[k].dim == d && !(window_only && tensor->rank[r].n_term > 1))
                return true;
    return false;
}

uint32_t noc_stream_innermost(const struct noc_stream *stream, uint32_t first, uint32_t end)
{
    uint32_t j = first;
    while (j < end && !(stream->related >> j & 1u))
        j++;
    return j;
}

/* ---- sizes ---- */

static enum dse_status packets(uint64_t words, uint32_t bit, const struct noc_config *config,
                               const char *tensor, uint32_t *n_packet, struct dse_error *err)
{
    uint64_t packet_bit = (uint64_t)config->flit_bit * config->data_flits;
    uint64_t n = words > UINT64_MAX / bit ? UINT64_MAX : (words * bit + packet_bit - 1) / packet_bit;
    if (n > INT32_MAX)
        return dse_fail(
            err, DSE_LIMIT,
            "a transfer of %llu words of %s is too long for the simulated network; at most 2^31 - 1 "
            "packets of %llu bit are supported",
            (unsigned long long)words, tensor, (unsigned long long)packet_bit);
    *n_packet = (uint32_t)n;
    return DSE_OK;
}

/* Tile of tensor `t` at level `l` (-1: one word). */
static uint64_t tile_words(const struct problem *problem, const struct mapping *mapping, uint32_t t, int l)
{
    uint32_t extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        extent[d] = 1;
        for (int i = 0; i <= l; i++)
            extent[d] *= mapping->level[i].temporal[d] * mapping->level[i].spatial[d];
    }
    return problem_tile_words(problem, t, extent);
}

static bool kept(const struct mapping *mapping, int level, uint32_t t)
{
    return mapping->level[level].keep >> t & 1u;
}

/* What one PE gets: the tile of the outermost level in it that keeps the tensor, times the loops from there
 * to the PE's edge. */
static uint64_t pe_words(const struct noc_plan *plan, const struct problem *problem,
                         const struct mapping *mapping, uint32_t t, int noc_level)
{
    int keeper = noc_level - 1;
    while (keeper >= 0 && !kept(mapping, keeper, t))
        keeper--;
    uint64_t words = tile_words(problem, mapping, t, keeper);
    for (int l = keeper + 1; l < noc_level; l++)
        for (uint32_t d = 0; d < problem->n_dim; d++)
            if (moves(plan, problem, t, d))
                words *= (uint64_t)mapping->level[l].temporal[d] * mapping->level[l].spatial[d];
    return words;
}

/* The innermost level that keeps the tensor holds it at its true width (24 bit partial sums in an
 * accumulation buffer). */
static uint32_t word_bit(const struct architecture *arch, const struct mapping *mapping, uint32_t t)
{
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (kept(mapping, (int)l, t))
            return arch->level[l].word_bit;
    return arch->level[arch->n_level - 1].word_bit;
}

/* ---- loops ---- */

static void add_loop(struct noc_plan *plan, const struct problem *problem, const uint32_t *tensor,
                     uint32_t dim, uint32_t bound, uint32_t level_first)
{
    uint32_t j = plan->n_loop;
    bool same = j > level_first;
    for (uint32_t i = 0; i < plan->n_stream; i++) {
        struct noc_stream *stream = &plan->stream[i];
        bool related = moves(plan, problem, tensor[i], dim);
        same = same && j > 0 && (stream->related >> (j - 1) & 1u) == related;
        stream->related |= (uint64_t)related << j;
    }
    if (same) { /* the loop before tells the tensors apart in the same way: one counter for both */
        for (uint32_t i = 0; i < plan->n_stream; i++)
            plan->stream[i].related &= ~((uint64_t)1 << j);
        plan->bound[j - 1] *= bound;
    } else {
        plan->bound[j] = bound;
        plan->n_loop++;
    }
}

/* The loops at and outside the network's level, from the inside, and where each stream's buffer lies among
 * them. */
static enum dse_status add_loops(struct noc_plan *plan, const struct problem *problem,
                                 const struct architecture *arch, const struct mapping *mapping,
                                 uint32_t noc_level, const uint32_t *tensor, const int *buffer_level,
                                 struct dse_error *err)
{
    uint32_t level_first = 0;
    for (uint32_t l = noc_level; l < mapping->n_level; l++) {
        const struct mapping_level *level = &mapping->level[l];
        for (uint32_t i = 0; i < mapping->n_dim; i++) {
            uint32_t d = level->temporal_order[i];
            if (level->temporal[d] > 1)
                add_loop(plan, problem, tensor, d, level->temporal[d], level_first);
            if (l > noc_level && level->spatial[d] > 1)
                return dse_fail(
                    err, DSE_BAD_USAGE,
                    "the mapping spreads %s over several instances below %s; the simulated network "
                    "has one memory and one global buffer, outside its PEs nothing may be parallel",
                    problem->dim_name[d], arch->level[l].name);
        }
        if (l == noc_level)
            plan->n_noc_loop = plan->n_loop;
        for (uint32_t i = 0; i < plan->n_stream; i++)
            if (buffer_level[i] == (int)l || (buffer_level[i] < 0 && l + 1 == mapping->n_level))
                plan->stream[i].split = plan->n_loop;
        bool boundary = l == noc_level;
        for (uint32_t i = 0; i < plan->n_stream; i++)
            boundary = boundary || buffer_level[i] == (int)l;
        if (boundary) /* loops on two sides of a buffer stay apart */
            level_first = plan->n_loop;
    }
    return DSE_OK;
}

/* ---- PEs ---- */

/* The position of every spatial iteration in the mesh: loops split over X and Y of a two-dimensional array
 * keep their places, otherwise the iterations are numbered along the rows, the first (inner) loop fastest. */
static uint32_t pe_of(const struct mapping_level *level, uint32_t n_dim, const uint32_t *digit, bool planar,
                      uint32_t columns)
{
    uint32_t at[2] = {0, 0}, stride[2] = {1, 1};
    for (uint32_t i = 0; i < n_dim; i++) {
        uint32_t d = level->spatial_order[i];
        uint32_t axis = planar && i >= level->split;
        at[axis] += digit[d] * stride[axis];
        stride[axis] *= level->spatial[d];
    }
    return at[0] + at[1] * columns;
}

static bool is_planar(const struct architecture *arch, uint32_t noc_level, const struct mapping_level *level,
                      uint32_t n_dim, const struct noc_config *config)
{
    uint64_t x, y, used[2] = {1, 1};
    architecture_fanout(arch, noc_level, &x, &y);
    for (uint32_t i = 0; i < n_dim; i++)
        used[i >= level->split] *= level->spatial[level->spatial_order[i]];
    return x > 1 && y > 1 && used[0] <= config->columns && used[1] <= config->pe_rows;
}

/* Which tile of tensor `t` the spatial iteration needs: equal keys, same tile. */
static uint32_t tile_key(const struct noc_plan *plan, const struct problem *problem,
                         const struct mapping_level *level, uint32_t t, const uint32_t *digit)
{
    uint32_t key = 0;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (moves(plan, problem, t, d))
            key = key * level->spatial[d] + digit[d];
    return key;
}

static bool next_digit(const struct mapping_level *level, uint32_t n_dim, uint32_t *digit)
{
    for (uint32_t d = 0; d < n_dim; d++) {
        if (++digit[d] < level->spatial[d])
            return true;
        digit[d] = 0;
    }
    return false;
}

/* Number the groups by their lowest PE and list their members. `key`: per PE, NOC_NONE when idle; (n_used)
 * keys below n_used. */
static enum dse_status make_groups(struct noc_stream *stream, const uint32_t *key, uint32_t n_pe,
                                   uint32_t n_used, struct arena *arena, struct dse_error *err)
{
    uint32_t *number = arena_alloc(arena, n_used, sizeof *number); /* of a key, plus 1 */
    stream->group = arena_alloc(arena, n_pe, sizeof *stream->group);
    stream->first_member = arena_alloc(arena, n_used + 1, sizeof *stream->first_member);
    stream->member = arena_alloc(arena, n_used, sizeof *stream->member);
    DSE_TRY(arena_check(arena, "the groups of PEs", err));
    for (uint32_t pe = 0; pe < n_pe; pe++) {
        stream->group[pe] = NOC_NONE;
        if (key[pe] == NOC_NONE)
            continue;
        if (!number[key[pe]])
            number[key[pe]] = ++stream->n_group;
        stream->group[pe] = number[key[pe]] - 1;
    }
    uint32_t n = 0;
    for (uint32_t g = 0; g < stream->n_group; g++) {
        stream->first_member[g] = n;
        for (uint32_t pe = 0; pe < n_pe; pe++)
            if (stream->group[pe] == g)
                stream->member[n++] = pe;
    }
    stream->first_member[stream->n_group] = n;
    return DSE_OK;
}

static enum dse_status place(struct noc_plan *plan, const struct problem *problem,
                             const struct architecture *arch, const struct mapping *mapping,
                             uint32_t noc_level, const struct noc_config *config, const uint32_t *tensor,
                             struct arena *arena, struct dse_error *err)
{
    const struct mapping_level *level = &mapping->level[noc_level];
    bool planar = is_planar(arch, noc_level, level, problem->n_dim, config);
    uint64_t n_used = 1;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        n_used *= level->spatial[d];
    if (n_used > plan->n_pe)
        return dse_fail(err, DSE_BAD_USAGE, "the mapping needs %llu PEs below %s; the mesh has %u",
                        (unsigned long long)n_used, arch->level[noc_level].name, plan->n_pe);
    uint32_t *key = arena_alloc(arena, plan->n_pe, sizeof *key);
    DSE_TRY(arena_check(arena, "the groups of PEs", err));
    for (uint32_t i = 0; i < plan->n_stream; i++) {
        uint32_t digit[PROBLEM_DIM_MAX] = {0};
        memset(key, 0xff, plan->n_pe * sizeof *key);
        do
            key[pe_of(level, problem->n_dim, digit, planar, config->columns)] =
                tile_key(plan, problem, level, tensor[i], digit);
        while (next_digit(level, problem->n_dim, digit));
        DSE_TRY(make_groups(&plan->stream[i], key, plan->n_pe, (uint32_t)n_used, arena, err));
    }
    return DSE_OK;
}

/* ---- reduction of outputs ---- */

/* Along each row from left to right, then down the ends of the rows. */
static enum dse_status chain_outputs(struct noc_plan *plan, uint32_t columns, struct arena *arena,
                                     struct dse_error *err)
{
    const struct noc_stream *output = &plan->stream[0];
    uint32_t n_used = output->first_member[output->n_group];
    plan->link = arena_alloc(arena, n_used, sizeof *plan->link);
    plan->sum_pe = arena_alloc(arena, output->n_group, sizeof *plan->sum_pe);
    uint32_t *row_in = arena_alloc(arena, plan->n_pe, sizeof *row_in);
    DSE_TRY(arena_check(arena, "the reduction of outputs", err));
    memset(row_in, 0xff, plan->n_pe * sizeof *row_in);
    for (uint32_t g = 0; g < output->n_group; g++) {
        uint32_t first = output->first_member[g], end = output->first_member[g + 1];
        for (uint32_t i = first + 1; i < end; i++) {
            uint32_t from = output->member[i - 1], to = output->member[i];
            if (from / columns != to / columns)
                continue;
            plan->link[plan->n_link] = (struct noc_link){from, to, row_in[from], NOC_NONE};
            row_in[to] = plan->n_link++;
        }
        uint32_t above = NOC_NONE, above_in = NOC_NONE;
        for (uint32_t i = first; i < end; i++) {
            uint32_t pe = output->member[i];
            if (i + 1 < end && output->member[i + 1] / columns == pe / columns)
                continue;
            if (above != NOC_NONE) {
                plan->link[plan->n_link] = (struct noc_link){above, pe, row_in[above], above_in};
                above_in = plan->n_link++;
            }
            above = pe;
        }
        plan->sum_pe[g] = above;
    }
    return DSE_OK;
}

/* ---- all of it ---- */

/* The output first, then the inputs, then the weights: the order in which the generator of CoSA sends
 * them. */
static void order_streams(struct noc_plan *plan, const struct problem *problem, uint32_t *tensor)
{
    static const enum tensor_role order[] = {TENSOR_OUTPUT, TENSOR_INPUT, TENSOR_WEIGHT};
    for (size_t r = 0; r < sizeof order / sizeof order[0]; r++)
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            if (problem->tensor[t].role == order[r]) {
                plan->stream[plan->n_stream].is_output = problem->tensor[t].read_write;
                tensor[plan->n_stream++] = t;
            }
}

/* The level between the PEs and the memory that holds the tensor, or -1. */
static int find_buffer(const struct mapping *mapping, uint32_t noc_level, uint32_t t)
{
    for (uint32_t l = noc_level; l + 1 < mapping->n_level; l++)
        if (kept(mapping, (int)l, t))
            return (int)l;
    return -1;
}

static enum dse_status size_streams(struct noc_plan *plan, const struct problem *problem,
                                    const struct architecture *arch, const struct mapping *mapping,
                                    uint32_t noc_level, const struct noc_config *config,
                                    const uint32_t *tensor, const int *buffer_level, struct dse_error *err)
{
    for (uint32_t i = 0; i < plan->n_stream; i++) {
        struct noc_stream *stream = &plan->stream[i];
        uint32_t t = tensor[i], bit = word_bit(arch, mapping, t);
        const char *name = problem->tensor[t].name;
        stream->buffered = buffer_level[i] >= 0;
        DSE_TRY(packets(pe_words(plan, problem, mapping, t, (int)noc_level), bit, config, name,
                        &stream->pe_packets, err));
        if (stream->buffered)
            DSE_TRY(packets(tile_words(problem, mapping, t, buffer_level[i]), bit, config, name,
                            &stream->buffer_packets, err));
    }
    return DSE_OK;
}

static enum dse_status count_cycles(struct noc_plan *plan, const struct problem *problem,
                                    const struct mapping *mapping, uint32_t noc_level, struct dse_error *err)
{
    uint64_t cycle = 1;
    for (uint32_t l = 0; l < noc_level; l++)
        for (uint32_t d = 0; d < problem->n_dim; d++)
            cycle *= mapping->level[l].temporal[d];
    if (cycle > UINT32_MAX)
        return dse_fail(err, DSE_LIMIT, "a PE computes for %llu cycles in one step; below 2^32 are supported",
                        (unsigned long long)cycle);
    plan->pe_cycle = (uint32_t)cycle;
    return DSE_OK;
}

enum dse_status noc_plan_init(struct noc_plan *plan, const struct problem *problem,
                              const struct architecture *arch, const struct mapping *mapping,
                              uint32_t noc_level, const struct noc_config *config, struct arena *arena,
                              struct dse_error *err)
{
    uint32_t tensor[PROBLEM_TENSOR_MAX] = {0};
    int buffer_level[PROBLEM_TENSOR_MAX];
    *plan = (struct noc_plan){.n_pe = config->columns * config->pe_rows,
                              .buffer_port = config->buffer_port,
                              .dram_port = config->dram_port,
                              .resend_windows = config->resend_windows,
                              .packet_flits = config->data_flits + NOC_PACKET_FLIT_HEAD};
    if (noc_level >= arch->n_level)
        return dse_fail(err, DSE_BAD_USAGE, "level %u of %u has no network", noc_level, arch->n_level);
    order_streams(plan, problem, tensor);
    for (uint32_t i = 0; i < plan->n_stream; i++)
        buffer_level[i] = find_buffer(mapping, noc_level, tensor[i]);
    DSE_TRY(count_cycles(plan, problem, mapping, noc_level, err));
    DSE_TRY(add_loops(plan, problem, arch, mapping, noc_level, tensor, buffer_level, err));
    DSE_TRY(size_streams(plan, problem, arch, mapping, noc_level, config, tensor, buffer_level, err));
    DSE_TRY(place(plan, problem, arch, mapping, noc_level, config, tensor, arena, err));
    return chain_outputs(plan, config->columns, arena, err);
}
