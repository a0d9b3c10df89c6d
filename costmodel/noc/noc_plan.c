/* From a mapping to its plan: which tensor travels how, and, for compat, the loops as the published generator
 * sees them. */
#include "costmodel/noc/noc_plan.h"

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

bool noc_moves(const struct noc_plan *plan, const struct problem *problem, uint32_t t, uint32_t d)
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

enum dse_status noc_packets(uint64_t words, uint32_t bit, const struct noc_config *config, const char *tensor,
                            uint32_t *n_packet, struct dse_error *err)
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
            if (noc_moves(plan, problem, t, d))
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
        bool related = noc_moves(plan, problem, tensor[i], dim);
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

static enum dse_status refuse_parallel(const struct problem *problem, const struct architecture *arch,
                                       const struct mapping *mapping, uint32_t noc_level,
                                       struct dse_error *err)
{
    for (uint32_t l = noc_level + 1; l < mapping->n_level; l++)
        for (uint32_t d = 0; d < mapping->n_dim; d++)
            if (mapping->level[l].spatial[d] > 1)
                return dse_fail(
                    err, DSE_BAD_USAGE,
                    "the mapping spreads %s over several instances below %s; the simulated network "
                    "has one memory and one global buffer, outside its PEs nothing may be parallel",
                    problem->dim_name[d], arch->level[l].name);
    return DSE_OK;
}

/* The loops at and outside the network's level, from the inside, and where each stream's buffer lies among
 * them. */
static void add_loops(struct noc_plan *plan, const struct problem *problem, const struct mapping *mapping,
                      uint32_t noc_level, const uint32_t *tensor, const int *buffer_level)
{
    uint32_t level_first = 0;
    for (uint32_t l = noc_level; l < mapping->n_level; l++) {
        const struct mapping_level *level = &mapping->level[l];
        for (uint32_t i = 0; i < mapping->n_dim; i++) {
            uint32_t d = level->temporal_order[i];
            if (level->temporal[d] > 1)
                add_loop(plan, problem, tensor, d, level->temporal[d], level_first);
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
        DSE_TRY(noc_packets(pe_words(plan, problem, mapping, t, (int)noc_level), bit, config, name,
                            &stream->pe_packets, err));
        if (stream->buffered)
            DSE_TRY(noc_packets(tile_words(problem, mapping, t, buffer_level[i]), bit, config, name,
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
                              .compat = config->compat,
                              .resend_windows = config->resend_windows,
                              .packet_flits = config->data_flits + NOC_PACKET_FLIT_HEAD};
    if (noc_level >= arch->n_level)
        return dse_fail(err, DSE_BAD_USAGE, "level %u of %u has no network", noc_level, arch->n_level);
    order_streams(plan, problem, tensor);
    for (uint32_t i = 0; i < plan->n_stream; i++)
        buffer_level[i] = find_buffer(mapping, noc_level, tensor[i]);
    DSE_TRY(refuse_parallel(problem, arch, mapping, noc_level, err));
    if (config->compat) {
        DSE_TRY(count_cycles(plan, problem, mapping, noc_level, err));
        add_loops(plan, problem, mapping, noc_level, tensor, buffer_level);
        DSE_TRY(size_streams(plan, problem, arch, mapping, noc_level, config, tensor, buffer_level, err));
    } else {
        DSE_TRY(noc_visit_plan(plan, problem, arch, mapping, noc_level, config, tensor, buffer_level, err));
    }
    return noc_group_plan(plan, problem, arch, mapping, noc_level, config, tensor, arena, err);
}
