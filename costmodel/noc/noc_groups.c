/* Lays spatial iterations on the mesh, groups PEs that need the same tile, and chains those that sum up
 * outputs. */
#include <string.h>

#include "costmodel/noc/noc_plan.h"

#define IDLE UINT64_MAX /* no tile begins there */

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

/* Which tile of tensor `t` the spatial iteration needs: equal keys, same tile. `code` (n_dim), not compat:
 * where it begins. */
static uint64_t tile_key(const struct noc_plan *plan, const struct problem *problem,
                         const struct mapping_level *level, uint32_t t, const uint64_t *code,
                         const uint32_t *digit)
{
    uint64_t key = 0;
    bool alone = !plan->compat && (level->no_multicast >> t & 1u);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (plan->compat ? noc_moves(plan, problem, t, d) : alone)
            key = key * level->spatial[d] + digit[d];
        else if (!plan->compat)
            key += code[d] * digit[d];
    return key;
}

/* How far a spatial step at level `noc_level` moves through the tensor, per dimension. */
static void spatial_code(const struct problem *problem, const struct mapping *mapping, uint32_t noc_level,
                         uint32_t t, uint64_t *code)
{
    noc_visit_code(problem, t, code);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        for (uint32_t l = 0; l < noc_level; l++)
            code[d] *= (uint64_t)mapping->level[l].temporal[d] * mapping->level[l].spatial[d];
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

/* Number the groups by their lowest PE and list their members. `key`: per PE, IDLE when it has none. */
static enum dse_status make_groups(struct noc_stream *stream, const uint64_t *key, uint32_t n_pe,
                                   uint32_t n_used, struct arena *arena, struct dse_error *err)
{
    uint64_t *known = arena_alloc(arena, n_used, sizeof *known);
    stream->group = arena_alloc(arena, n_pe, sizeof *stream->group);
    stream->first_member = arena_alloc(arena, n_used + 1, sizeof *stream->first_member);
    stream->member = arena_alloc(arena, n_used, sizeof *stream->member);
    DSE_TRY(arena_check(arena, "the groups of PEs", err));
    for (uint32_t pe = 0; pe < n_pe; pe++) {
        stream->group[pe] = NOC_NONE;
        if (key[pe] == IDLE)
            continue;
        uint32_t g = 0;
        while (g < stream->n_group && known[g] != key[pe])
            g++;
        if (g == stream->n_group)
            known[stream->n_group++] = key[pe];
        stream->group[pe] = g;
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
    uint64_t code[PROBLEM_DIM_MAX], *key = arena_alloc(arena, plan->n_pe, sizeof *key);
    DSE_TRY(arena_check(arena, "the groups of PEs", err));
    for (uint32_t i = 0; i < plan->n_stream; i++) {
        uint32_t digit[PROBLEM_DIM_MAX] = {0};
        memset(key, 0xff, plan->n_pe * sizeof *key);
        spatial_code(problem, mapping, noc_level, tensor[i], code);
        do
            key[pe_of(level, problem->n_dim, digit, planar, config->columns)] =
                tile_key(plan, problem, level, tensor[i], code, digit);
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

enum dse_status noc_group_plan(struct noc_plan *plan, const struct problem *problem,
                               const struct architecture *arch, const struct mapping *mapping,
                               uint32_t noc_level, const struct noc_config *config, const uint32_t *tensor,
                               struct arena *arena, struct dse_error *err)
{
    DSE_TRY(place(plan, problem, arch, mapping, noc_level, config, tensor, arena, err));
    return chain_outputs(plan, config->columns, arena, err);
}
