/* A steepest descent over moves of single primes from the outermost places inwards, then moves and trades
 * between any two places; what does not fit is left out, so the result need not be the nearest of all. */
#include "engines/mapspace/mapspace_project.h"

#include <math.h>
#include <string.h>

#include "engines/mapspace/mapspace_move.h"
#include "engines/mapspace/mapspace_private.h"

/* Less is rounding. */
#define LEAST_GAIN 1e-9

enum { PAIR_MOVE_MAX = 2 * MAPSPACE_PRIME_MAX };

uint32_t mapspace_places(const struct mapspace *space, struct mapspace_place *place)
{
    for (uint32_t s = 0; s < space->n_slot; s++) {
        const struct mapspace_slot *slot = &space->slot[s];
        const struct mapping_level *base = &space->base.level[slot->level];
        uint32_t on_axis = slot->axis == SLOT_X ? space->base_x[slot->level] : space->base_y[slot->level];
        place[s] = (struct mapspace_place){.level = slot->level,
                                           .spatial = slot->axis != SLOT_TEMPORAL,
                                           .on_y = slot->axis == SLOT_Y,
                                           .capacity = slot->capacity};
        for (uint32_t d = 0; d < space->problem->n_dim; d++) {
            place[s].fixed[d] = !place[s].spatial   ? base->temporal[d]
                                : on_axis >> d & 1u ? base->spatial[d]
                                                    : 1;
            place[s].open |= (uint32_t)(space->open[d] >> s & 1u) << d;
        }
    }
    return space->n_slot;
}

uint32_t mapspace_keeps(const struct mapspace *space, uint32_t l)
{
    return space->base.level[l].keep;
}

uint32_t mapspace_optional(const struct mapspace *space, uint32_t l)
{
    return space->optional[l];
}

double mapspace_keep_choices(const struct mapspace *space)
{
    double n = 1;
    for (uint32_t l = 0; l < space->arch->n_level; l++)
        n *= 1u << __builtin_popcount(space->optional[l]);
    return n;
}

bool mapspace_keep_choice(const struct mapspace *space, uint32_t choice, uint8_t *keep)
{
    uint32_t kept = 0;
    for (uint32_t l = 0; l < space->arch->n_level; l++) {
        keep[l] = space->base.level[l].keep;
        for (uint32_t rest = space->optional[l]; rest; rest &= rest - 1, choice >>= 1)
            if (choice & 1u)
                keep[l] = (uint8_t)(keep[l] & ~(rest & (~rest + 1u)));
        kept |= keep[l];
    }
    return kept == (1u << space->problem->n_tensor) - 1;
}

uint32_t mapspace_fixed_order(const struct mapspace *space, uint32_t l, uint8_t *order)
{
    memcpy(order, space->base.level[l].temporal_order, space->problem->n_dim);
    return space->constraints.level[l].temporal.n_order;
}

/* What is left to wish of every place: log_wish less the logarithm of what is there. */
struct wishes {
    double left[MAPSPACE_SLOT_MAX][PROBLEM_DIM_MAX]; /* (n_slot, n_dim) */
    uint32_t n[MAPSPACE_PRIME_MAX];                  /* (n_kind) primes still where they began */
    uint64_t open[MAPSPACE_PRIME_MAX];               /* (n_kind) slots that have not refused one */
};

/* Where the primes of a kind begin: the outermost temporal slot that may take them, else the outermost. */
static uint32_t first_slot(const struct mapspace *space, const struct mapspace_kind *kind)
{
    for (uint32_t s = 0; s < space->n_slot; s++)
        if ((kind->open >> s & 1u) && space->slot[s].axis == SLOT_TEMPORAL)
            return s;
    return (uint32_t)__builtin_ctzll(kind->open);
}

static bool begin(const struct mapspace *space, double log_wish[][PROBLEM_DIM_MAX], struct mapping *mapping,
                  struct wishes *wishes)
{
    struct mapspace_place place[MAPSPACE_PLACE_MAX];
    uint32_t x[ARCH_LEVEL_MAX], y[ARCH_LEVEL_MAX];
    mapping->n_level = space->base.n_level;
    mapping->n_dim = space->base.n_dim;
    (void)mapspace_places(space, place);
    for (uint32_t s = 0; s < space->n_slot; s++)
        for (uint32_t d = 0; d < mapping->n_dim; d++)
            wishes->left[s][d] = log_wish[s][d] - log(place[s].fixed[d]);
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        struct mapping_level saved = mapping->level[l];
        mapping->level[l] = space->base.level[l];
        mapping->level[l].keep = saved.keep;
        memcpy(mapping->level[l].temporal_order, saved.temporal_order, sizeof saved.temporal_order);
        x[l] = space->base_x[l];
        y[l] = space->base_y[l];
    }
    for (uint32_t k = 0; k < space->n_kind; k++) {
        const struct mapspace_kind *kind = &space->kind[k];
        uint32_t s = first_slot(space, kind);
        const struct mapspace_slot *slot = &space->slot[s];
        struct mapping_level *level = &mapping->level[slot->level];
        uint32_t *factor = slot->axis == SLOT_TEMPORAL ? level->temporal : level->spatial;
        if (slot->axis != SLOT_TEMPORAL)
            *(slot->axis == SLOT_X ? &x[slot->level] : &y[slot->level]) |= 1u << kind->dim;
        for (uint32_t i = 0; i < kind->count; i++)
            factor[kind->dim] *= kind->prime;
        wishes->left[s][kind->dim] -= kind->count * log(kind->prime);
        wishes->n[k] = kind->count;
        wishes->open[k] = kind->open & ~(1ull << s);
    }
    for (uint32_t l = 0; l < mapping->n_level; l++)
        mapspace_set_axes(space, &mapping->level[l], l, x[l], y[l]);
    return mapspace_contains(space, mapping, NULL);
}

/* The kind and slot whose move lowers the distance most; false when none does. */
static bool best_move(const struct mapspace *space, const struct wishes *wishes, uint32_t *best_kind,
                      struct factor_move *move)
{
    double best = LEAST_GAIN;
    bool found = false;
    for (uint32_t k = 0; k < space->n_kind; k++) {
        const struct mapspace_kind *kind = &space->kind[k];
        if (wishes->n[k] == 0)
            continue;
        uint32_t d = kind->dim, from = first_slot(space, kind);
        double step = log(kind->prime);
        for (uint64_t rest = wishes->open[k]; rest; rest &= rest - 1) {
            uint32_t s = (uint32_t)__builtin_ctzll(rest);
            double gain = step * (2 * (wishes->left[s][d] - wishes->left[from][d]) - 2 * step);
            if (gain <= best)
                continue;
            best = gain;
            found = true;
            *best_kind = k;
            *move = (struct factor_move){(uint8_t)d, (uint8_t)from, (uint8_t)s, kind->prime};
        }
    }
    return found;
}

/* Make a move of a dimension, and the one back (NULL: none), if that lowers the distance and fits. */
static bool step_nearer(const struct mapspace *space, struct mapping *mapping, struct wishes *wishes,
                        const struct factor_move *move, const struct factor_move *back)
{
    struct move_undo undo;
    double *from = &wishes->left[move->from][move->dim], *to = &wishes->left[move->to][move->dim];
    double step = log(move->factor) - (back ? log(back->factor) : 0);
    if (2 * step * (*to - *from - step) < LEAST_GAIN || !mapspace_apply(space, mapping, move, back, &undo))
        return false;
    *from += step;
    *to -= step;
    return true;
}

/* The first step between two slots that helps. */
static bool improve_pair(const struct mapspace *space, struct mapping *mapping, struct wishes *wishes,
                         uint32_t a, uint32_t b)
{
    struct factor_move out[PAIR_MOVE_MAX], back[PAIR_MOVE_MAX];
    uint32_t n_out = mapspace_moves_between(space, mapping, a, b, out, PAIR_MOVE_MAX);
    uint32_t n_back = mapspace_moves_between(space, mapping, b, a, back, PAIR_MOVE_MAX);
    for (uint32_t i = 0; i < n_out; i++) {
        if (step_nearer(space, mapping, wishes, &out[i], NULL))
            return true;
        for (uint32_t j = 0; j < n_back; j++)
            if (out[i].dim == back[j].dim && step_nearer(space, mapping, wishes, &out[i], &back[j]))
                return true;
    }
    return false;
}

/* Until no step between any two slots helps. */
static void improve(const struct mapspace *space, struct mapping *mapping, struct wishes *wishes)
{
    for (bool better = true; better;) {
        better = false;
        for (uint32_t a = 0; a < space->n_slot; a++)
            for (uint32_t b = 0; b < space->n_slot; b++)
                while (a != b && improve_pair(space, mapping, wishes, a, b))
                    better = true;
    }
}

bool mapspace_project(const struct mapspace *space, double log_wish[][PROBLEM_DIM_MAX],
                      struct mapping *mapping)
{
    struct wishes wishes;
    struct factor_move move;
    struct move_undo undo;
    uint32_t k;
    if (!begin(space, log_wish, mapping, &wishes))
        return false;
    while (best_move(space, &wishes, &k, &move)) {
        if (mapspace_apply(space, mapping, &move, NULL, &undo)) {
            wishes.left[move.from][move.dim] += log(move.factor);
            wishes.left[move.to][move.dim] -= log(move.factor);
            wishes.n[k]--;
        } else {
            wishes.open[k] &= ~(1ull << move.to);
        }
    }
    improve(space, mapping, &wishes);
    return true;
}
