/* Every free prime goes to any open slot with equal chance; whether the result fits is asked afterwards. */
#include <string.h>

#include "engines/mapspace/mapspace_private.h"

/* The dimensions on the axes of every level, while a mapping is being drawn. */
struct sample_axes {
    uint32_t x[ARCH_LEVEL_MAX], y[ARCH_LEVEL_MAX]; /* (n_level) bit d */
};

static void place_prime(const struct mapspace *space, struct random_stream *stream,
                        const struct mapspace_kind *kind, struct mapping *mapping, struct sample_axes *axes)
{
    uint32_t d = kind->dim;
    uint64_t open = space->open[d];
    for (uint32_t skip = random_below(stream, (uint32_t)__builtin_popcountll(open)); skip; skip--)
        open &= open - 1;
    const struct mapspace_slot *slot = &space->slot[__builtin_ctzll(open)];
    struct mapping_level *level = &mapping->level[slot->level];
    if (slot->axis == SLOT_TEMPORAL) {
        level->temporal[d] *= kind->prime;
        return;
    }
    level->spatial[d] *= kind->prime;
    if (((axes->x[slot->level] | axes->y[slot->level]) >> d & 1u) == 0) {
        uint32_t *axis = slot->axis == SLOT_X ? axes->x : axes->y;
        axis[slot->level] |= 1u << d;
    }
}

/* Factors within the constraints' limits? What is fixed is so by construction. */
static bool within_limits(const struct mapspace *space, const struct mapping *mapping,
                          struct misfit_info *fit)
{
    for (uint32_t l = 0; l < mapping->n_level; l++)
        for (uint32_t d = 0; d < mapping->n_dim; d++) {
            const struct level_constraints *c = &space->constraints.level[l];
            uint32_t most[2] = {c->temporal.highest[d], c->spatial.highest[d]};
            uint32_t factor[2] = {mapping->level[l].temporal[d], mapping->level[l].spatial[d]};
            for (int i = 0; i < 2; i++)
                if (most[i] && factor[i] > most[i]) {
                    if (fit)
                        *fit = (struct misfit_info){.what = MISFIT_FACTORS,
                                                    .level = (int)l,
                                                    .dim = (int)d,
                                                    .needed = factor[i],
                                                    .available = most[i]};
                    return false;
                }
        }
    return true;
}

static void draw_orders(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping)
{
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        const struct level_constraints *c = &space->constraints.level[l];
        struct mapping_level *level = &mapping->level[l];
        mapspace_shuffle(stream, level->temporal_order + c->temporal.n_order,
                         (uint32_t)mapping->n_dim - c->temporal.n_order);
        if (!space->spatial_order_counts || c->spatial.n_order)
            continue;
        uint32_t n_x = (uint32_t)__builtin_popcount(mapspace_axis_dims(level, mapping->n_dim, false));
        uint32_t n_y = (uint32_t)__builtin_popcount(mapspace_axis_dims(level, mapping->n_dim, true));
        mapspace_shuffle(stream, level->spatial_order, n_x);
        mapspace_shuffle(stream, level->spatial_order + n_x, n_y);
    }
}

bool mapspace_sample(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping,
                     struct misfit_info *fit)
{
    struct sample_axes axes;
    mapping->n_level = space->base.n_level;
    mapping->n_dim = space->base.n_dim;
    memcpy(mapping->level, space->base.level, space->base.n_level * sizeof mapping->level[0]);
    memcpy(axes.x, space->base_x, sizeof axes.x);
    memcpy(axes.y, space->base_y, sizeof axes.y);
    for (uint32_t i = 0; i < space->n_prime; i++)
        place_prime(space, stream, &space->kind[space->prime_kind[i]], mapping, &axes);
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        struct mapping_level *level = &mapping->level[l];
        mapspace_set_axes(space, level, l, axes.x[l], axes.y[l]);
        if (space->optional[l])
            level->keep &= (uint8_t) ~(random_u32(stream) & space->optional[l]);
    }
    if (!within_limits(space, mapping, fit) || !mapspace_fits(space, mapping, fit))
        return false;
    draw_orders(space, stream, mapping);
    return true;
}
