/* Compiles a space: slots, fixed factors, the primes that are free, levels that can overflow; finds out
 * whether it is empty, and why, before anything is drawn. */
#include "engines/mapspace/mapspace.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_gamma.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/model/bank_group.h"
#include "engines/mapspace/mapspace_private.h"

/* The first reason wins. */
__attribute__((format(printf, 2, 3))) static void empty_because(struct mapspace *space, const char *format,
                                                                ...)
{
    if (space->empty[0])
        return;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(space->empty, sizeof space->empty, format, args);
    va_end(args);
}

static void empty_by_misfit(struct mapspace *space, const struct misfit_info *fit)
{
    char text[MAPSPACE_REASON_MAX];
    empty_because(space, "%s", misfit_print(fit, space->problem, space->arch, text, sizeof text));
}

static void analyse_tensors(struct mapspace *space)
{
    const struct problem *problem = space->problem;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        struct tensor_shape *shape = &space->shape[t];
        uint32_t seen = 0, stretches = 0;
        for (uint32_t r = 0; r < problem->tensor[t].n_rank; r++) {
            const struct tensor_rank *rank = &problem->tensor[t].rank[r];
            for (uint32_t i = 0; i < rank->n_term; i++) {
                uint32_t d = rank->term[i].dim, bit = 1u << d;
                shape->step[d][r] += rank->term[i].coefficient;
                space->moved[d] |= 1u << t;
                if (rank->n_term > 1 || rank->term[i].coefficient != 1 || (seen & bit))
                    stretches |= bit;
                if (rank->n_term > 1)
                    shape->sliding |= bit;
                seen |= bit;
            }
        }
        shape->scales = seen & ~stretches;
        shape->halo = stretches != 0;
    }
}

/* ---------------------------------------- slots */

static void add_slot(struct mapspace *space, uint32_t l, enum slot_axis axis, uint64_t capacity)
{
    struct mapspace_slot *slot = &space->slot[space->n_slot];
    slot->level = (uint8_t)l;
    slot->axis = (uint8_t)axis;
    slot->capacity = capacity > UINT32_MAX ? UINT32_MAX : (uint32_t)capacity;
    space->slot_of[l][axis] = (int8_t)space->n_slot;
    space->n_slot++;
}

static void make_slots(struct mapspace *space)
{
    memset(space->slot_of, -1, sizeof space->slot_of);
    for (uint32_t l = space->arch->n_level; l-- > 0;) {
        uint64_t x, y;
        architecture_fanout(space->arch, l, &x, &y);
        add_slot(space, l, SLOT_TEMPORAL, UINT32_MAX);
        if (x > 1)
            add_slot(space, l, SLOT_X, x);
        if (y > 1)
            add_slot(space, l, SLOT_Y, y);
        space->from_level[l] = (space->n_slot == 64 ? 0 : 1ull << space->n_slot) - 1;
    }
    space->from_level[space->arch->n_level] = 0;
}

/* Bit s of open[d]: slot s is not fixed for dimension d, and its axis is allowed. */
static void open_slots(struct mapspace *space)
{
    for (uint32_t s = 0; s < space->n_slot; s++) {
        const struct mapspace_slot *slot = &space->slot[s];
        const struct level_constraints *c = &space->constraints.level[slot->level];
        const struct loop_constraints *loops = slot->axis == SLOT_TEMPORAL ? &c->temporal : &c->spatial;
        uint32_t dims = slot->axis == SLOT_TEMPORAL ? UINT32_MAX
                        : slot->axis == SLOT_X      ? c->dims_x
                                                    : c->dims_y;
        for (uint32_t d = 0; d < space->problem->n_dim; d++)
            if ((dims >> d & 1u) && loops->fixed[d] == 0)
                space->open[d] |= 1ull << s;
    }
}

/* ---------------------------------------- fixed factors */

/* Put the fixed spatial factors of level l, dimension d and those after it, on the axes: X when that leaves a
 * way, else Y. */
static bool put_on_axes(struct mapspace *space, uint32_t l, uint32_t d, uint64_t room_x, uint64_t room_y)
{
    const struct level_constraints *c = &space->constraints.level[l];
    while (d < space->problem->n_dim && c->spatial.fixed[d] <= 1)
        d++;
    if (d == space->problem->n_dim)
        return true;
    uint32_t factor = c->spatial.fixed[d], bit = 1u << d;
    if (factor <= room_x && (c->dims_x & bit) && put_on_axes(space, l, d + 1, room_x / factor, room_y)) {
        space->base_x[l] |= bit;
        return true;
    }
    if (factor <= room_y && (c->dims_y & bit) && put_on_axes(space, l, d + 1, room_x, room_y / factor)) {
        space->base_y[l] |= bit;
        return true;
    }
    return false;
}

static void fix_spatial(struct mapspace *space, uint32_t l)
{
    const uint32_t *fixed = space->constraints.level[l].spatial.fixed;
    uint64_t x = 1, y = 1;
    uint32_t last = 0;
    architecture_fanout(space->arch, l, &x, &y);
    for (uint32_t d = 0; d < space->problem->n_dim; d++)
        if (fixed[d] > 1) {
            space->base.level[l].spatial[d] = fixed[d];
            last = d;
        }
    if (!put_on_axes(space, l, 0, x, y))
        empty_because(space,
                      "the spatial factors fixed at %s, up to %s=%u, do not fit its fan-out of %" PRIu64
                      " x %" PRIu64,
                      space->arch->level[l].name, space->problem->dim_name[last], fixed[last], x, y);
}

static void fix_factors(struct mapspace *space)
{
    const struct problem *problem = space->problem;
    for (uint32_t l = 0; l < space->arch->n_level; l++) {
        const struct level_constraints *c = &space->constraints.level[l];
        for (uint32_t d = 0; d < problem->n_dim; d++) {
            space->base.level[l].temporal[d] = c->temporal.fixed[d] ? c->temporal.fixed[d] : 1;
            space->base.level[l].spatial[d] = 1;
        }
        fix_spatial(space, l);
        mapspace_set_axes(space, &space->base.level[l], l, space->base_x[l], space->base_y[l]);
        memcpy(space->base.level[l].temporal_order, c->temporal.order, c->temporal.n_order);
        mapspace_complete_order(space->base.level[l].temporal_order, c->temporal.n_order, problem->n_dim);
    }
}

/* What every draw starts from. */
static void find_base_loops(struct mapspace *space)
{
    for (uint32_t s = 0; s < space->n_slot; s++)
        space->base_spread[s] = 1;
    for (uint32_t l = 0; l < space->arch->n_level; l++)
        for (uint32_t d = 0; d < space->problem->n_dim; d++) {
            const struct mapping_level *level = &space->base.level[l];
            if (level->temporal[d] > 1)
                space->base_temporal[l] |= 1u << d;
            int s = space->base_x[l] >> d & 1u ? space->slot_of[l][SLOT_X] : space->slot_of[l][SLOT_Y];
            if ((space->base_x[l] | space->base_y[l]) >> d & 1u)
                space->base_spread[s] *= level->spatial[d];
        }
}

/* What is fixed for dimension d over all levels; a double, as nothing bounds it. */
static double fixed_product(const struct mapspace *space, uint32_t d)
{
    double product = 1;
    for (uint32_t l = 0; l < space->arch->n_level; l++)
        product *= (double)space->base.level[l].temporal[d] * (double)space->base.level[l].spatial[d];
    return product;
}

/* What the fixed factors leave of dimension d; 0 when they do not divide the bound. */
static uint32_t residue(const struct mapspace *space, uint32_t d)
{
    uint32_t bound = space->problem->bound[d];
    double fixed = fixed_product(space, d);
    return fixed <= bound && bound % (uint32_t)fixed == 0 ? bound / (uint32_t)fixed : 0;
}

static void add_kind(struct mapspace *space, uint32_t d, uint32_t prime)
{
    struct mapspace_kind *kind = space->n_kind ? &space->kind[space->n_kind - 1] : NULL;
    if (!kind || kind->dim != d || kind->prime != prime) {
        kind = &space->kind[space->n_kind++];
        kind->dim = (uint8_t)d;
        kind->prime = prime;
        for (uint32_t s = 0; s < space->n_slot; s++)
            if ((space->open[d] >> s & 1u) && prime <= space->slot[s].capacity)
                kind->open |= 1ull << s;
        if (kind->open == 0)
            empty_because(space, "the constraints leave no level for a factor %u of dimension %s", prime,
                          space->problem->dim_name[d]);
    }
    kind->count++;
    space->prime_kind[space->n_prime++] = (uint8_t)(space->n_kind - 1);
}

/* A fixed factor above the largest that is allowed at the same place. */
static void check_limits(struct mapspace *space, uint32_t d)
{
    for (uint32_t l = 0; l < space->arch->n_level; l++) {
        const struct level_constraints *c = &space->constraints.level[l];
        const struct loop_constraints *loops[2] = {&c->temporal, &c->spatial};
        for (int i = 0; i < 2; i++)
            if (loops[i]->highest[d] && loops[i]->fixed[d] > loops[i]->highest[d])
                empty_because(space, "the constraints fix dimension %s to %u at %s and allow at most %u",
                              space->problem->dim_name[d], loops[i]->fixed[d], space->arch->level[l].name,
                              loops[i]->highest[d]);
    }
}

/* The primes of what is free, ascending per dimension. */
static void factorise(struct mapspace *space)
{
    for (uint32_t d = 0; d < space->problem->n_dim; d++) {
        uint32_t rest = residue(space, d);
        check_limits(space, d);
        if (rest == 0) {
            empty_because(
                space,
                "the factors fixed for dimension %s multiply to %.0f, which does not divide its bound %u",
                space->problem->dim_name[d], fixed_product(space, d), space->problem->bound[d]);
            return;
        }
        for (uint32_t p = 2; (uint64_t)p * p <= rest; p++)
            for (; rest % p == 0; rest /= p)
                add_kind(space, d, p);
        if (rest > 1)
            add_kind(space, d, rest);
    }
}

/* ---------------------------------------- keeps and capacity */

static void set_keeps(struct mapspace *space)
{
    const struct problem *problem = space->problem;
    uint32_t n_level = space->arch->n_level, kept = 0;
    for (uint32_t l = 0; l < n_level; l++) {
        const struct level_constraints *c = &space->constraints.level[l];
        uint32_t allowed = 0;
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            if (architecture_keeps(space->arch, l, &problem->tensor[t]))
                allowed |= 1u << t;
        if (c->keep & ~allowed) {
            struct misfit_info fit = {.what = MISFIT_ROLE, .level = (int)l, .tensors = c->keep & ~allowed};
            empty_by_misfit(space, &fit);
        }
        struct mapping_level *level = &space->base.level[l];
        level->keep = (uint8_t)(allowed & ~c->bypass);
        level->no_temporal_reuse = c->no_temporal_reuse;
        level->no_link_transfer = c->no_link_transfer;
        level->no_multicast = c->no_multicast;
        if (space->search_bypass && l + 1 < n_level)
            space->optional[l] = (uint8_t)(level->keep & ~c->keep);
        kept |= level->keep;
    }
    uint32_t all = (1u << problem->n_tensor) - 1;
    if (kept != all) {
        struct misfit_info fit = {.what = MISFIT_BYPASS, .level = -1, .tensors = all & ~kept};
        empty_by_misfit(space, &fit);
    }
}

/* What level l keeps when it holds all of it. */
static uint64_t kept_words(const struct mapspace *space, uint32_t l)
{
    uint64_t words = 0;
    for (uint32_t t = 0; t < space->problem->n_tensor; t++)
        if ((uint32_t)space->base.level[l].keep >> t & 1u)
            words += problem_tensor_words(space->problem, t);
    return words;
}

/* Could some mapping overfill the level, or the group whose banks it shares? */
static bool can_overflow(const struct mapspace *space, uint32_t l)
{
    const struct storage_level *level = &space->arch->level[l];
    uint64_t word[ARCH_LEVEL_MAX];
    if (kept_words(space, l) > space->usable[l])
        return true;
    if (!level->bank_group)
        return false;
    for (uint32_t i = 0; i < space->arch->n_level; i++)
        word[i] = kept_words(space, i);
    return bank_group_needed(space->arch, level->bank_group, word) >
           space->arch->group[level->bank_group - 1].banks;
}

/* The levels that some mapping could overfill, with their base tiles. */
static void find_rows(struct mapspace *space)
{
    const struct problem *problem = space->problem;
    for (uint32_t l = space->arch->n_level; l-- > 0;) {
        const struct storage_level *level = &space->arch->level[l];
        space->usable[l] = architecture_usable_words(level);
        if ((level->min_utilization > 0 || level->n_part > 1) && level->size_word != ARCH_UNLIMITED)
            space->looks_at_tiles = true;
        if (!can_overflow(space, l))
            continue;
        struct tile_row *row = &space->row[space->n_row];
        space->row_level[space->n_row++] = (uint8_t)l;
        for (uint32_t d = 0; d < problem->n_dim; d++) {
            row->extent[d] = 1;
            for (uint32_t i = 0; i <= l; i++)
                row->extent[d] *= space->base.level[i].temporal[d] * space->base.level[i].spatial[d];
        }
        for (uint32_t t = 0; t < problem->n_tensor; t++) {
            row->tile[t] = problem_tile_words(space->problem, t, row->extent);
            for (uint32_t r = 0; r < problem->tensor[t].n_rank; r++) {
                row->span[t][r] = 1;
                for (uint32_t d = 0; d < problem->n_dim; d++)
                    row->span[t][r] += (uint64_t)space->shape[t].step[d][r] * (row->extent[d] - 1);
            }
        }
    }
}

/* Does the smallest mapping fit, with as much bypassed as may be, and the whole problem at the outermost
 * level? */
static void check_capacity(struct mapspace *space)
{
    struct mapping least = space->base;
    for (uint32_t l = 0; l < space->arch->n_level; l++)
        least.level[l].keep = (uint8_t)(least.level[l].keep & ~space->optional[l]);
    struct tile_row row[ARCH_LEVEL_MAX];
    struct misfit_info fit;
    if (!mapspace_rows_init(space, &least, row, &fit)) {
        empty_by_misfit(space, &fit);
        return;
    }
    uint32_t top = space->arch->n_level - 1;
    if (space->n_row && space->row_level[0] == top) {
        fit = (struct misfit_info){.what = MISFIT_CAPACITY,
                                   .level = (int)top,
                                   .tensors = space->base.level[top].keep,
                                   .needed = kept_words(space, top),
                                   .available = space->usable[top]};
        empty_by_misfit(space, &fit);
    }
}

/* ---------------------------------------- the rest */

struct mapspace_size mapspace_size(const struct mapspace *space)
{
    struct mapspace_size size = {0, 0, 0, 0};
    for (uint32_t k = 0; k < space->n_kind; k++) {
        uint32_t slots = (uint32_t)__builtin_popcountll(space->kind[k].open);
        if (slots)
            size.log10_factors += gsl_sf_lnchoose(space->kind[k].count + slots - 1u, slots - 1u) / M_LN10;
    }
    for (uint32_t l = 0; l < space->arch->n_level; l++) {
        uint32_t n_fixed = space->constraints.level[l].temporal.n_order;
        size.log10_orders += gsl_sf_lnfact(space->problem->n_dim - n_fixed) / M_LN10;
        size.log10_bypass += __builtin_popcount(space->optional[l]) * log10(2.0);
    }
    size.log10_total = size.log10_factors + size.log10_orders + size.log10_bypass;
    return size;
}

const char *mapspace_is_empty(const struct mapspace *space)
{
    return space->empty[0] ? space->empty : NULL;
}

enum dse_status mapspace_new(const struct problem *problem, const struct architecture *arch,
                             const struct mapspace_constraints *constraints, bool search_bypass,
                             struct arena *arena, const struct mapspace **out, struct dse_error *err)
{
    struct mapspace *space = arena_alloc(arena, 1, sizeof *space);
    DSE_TRY(arena_check(arena, "a map space", err));
    space->problem = problem;
    space->arch = arch;
    space->search_bypass = search_bypass;
    if (constraints)
        space->constraints = *constraints;
    else
        mapspace_constraints_init(&space->constraints, problem, arch);
    if (space->constraints.n_level != arch->n_level || space->constraints.n_dim != problem->n_dim ||
        space->constraints.n_tensor != problem->n_tensor)
        return dse_fail(err, DSE_BAD_USAGE, "the constraints were made for another problem or architecture");
    mapping_init(&space->base, problem, arch);
    space->spatial_order_counts = arch->link_transfers;
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (arch->level[l].hop_energy_j > 0 || arch->level[l].router_energy_j > 0)
            space->spatial_order_counts = true;
    analyse_tensors(space);
    make_slots(space);
    open_slots(space);
    fix_factors(space);
    find_base_loops(space);
    if (!space->empty[0])
        factorise(space);
    set_keeps(space);
    if (!space->empty[0]) {
        find_rows(space);
        check_capacity(space);
    }
    DSE_TRY(mapspace_orders_new(space, arena, err));
    *out = space;
    return DSE_OK;
}
