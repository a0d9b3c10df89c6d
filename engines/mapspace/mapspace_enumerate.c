/* Lists the ways to give each dimension's primes to the slots, then walks their product depth first with
 * an early cut. */
#include "engines/mapspace/mapspace_enumerate.h"

#include <string.h>

#include "engines/mapspace/mapspace_private.h"

enum { COLUMN_MAX = 1000000 };

/* The ways to give one dimension's primes to the slots. */
struct columns {
    uint32_t n;
    uint32_t *factor; /* (n, n_slot) */
};

struct mapspace_enumerator {
    const struct mapspace *space;
    struct columns columns[PROBLEM_DIM_MAX]; /* (n_dim) */
    uint32_t at[PROBLEM_DIM_MAX];            /* (n_dim) the next column to try at each depth */
    uint32_t depth;                          /* dimensions placed */
    bool done;
    bool at_leaf;          /* all dimensions placed: bypass choices are being walked */
    uint64_t keep, n_keep; /* the next choice, and how many there are */
    struct mapping mapping;
};

/* ---------------------------------------- columns */

/* Fill in, or with `out` NULL only count, the columns of dimension d, by giving prime after prime to a slot;
 * equal primes go to slots in ascending order so that each column comes once. */
struct column_maker {
    const struct mapspace *space;
    uint32_t d;
    uint32_t *out;
    uint64_t n;
    uint32_t factor[MAPSPACE_SLOT_MAX];
};

static bool column_allowed(const struct column_maker *m)
{
    const struct mapspace *space = m->space;
    for (uint32_t s = 0; s < space->n_slot; s++) {
        const struct mapspace_slot *slot = &space->slot[s];
        const struct level_constraints *c = &space->constraints.level[slot->level];
        const struct loop_constraints *loops = slot->axis == SLOT_TEMPORAL ? &c->temporal : &c->spatial;
        if (m->factor[s] > slot->capacity || (loops->highest[m->d] && m->factor[s] > loops->highest[m->d]))
            return false;
        if (slot->axis == SLOT_X && m->factor[s] > 1 && space->slot_of[slot->level][SLOT_Y] >= 0 &&
            m->factor[space->slot_of[slot->level][SLOT_Y]] > 1)
            return false;
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): the depth is the number of primes of one dimension, at most 53 */
static void make_columns(struct column_maker *m, uint32_t kind, uint32_t left, uint32_t lowest)
{
    const struct mapspace *space = m->space;
    if (m->n > COLUMN_MAX)
        return;
    if (left == 0) {
        kind++;
        if (kind == space->n_kind || space->kind[kind].dim != m->d) {
            if (!column_allowed(m))
                return;
            if (m->out)
                memcpy(m->out + m->n * space->n_slot, m->factor, space->n_slot * sizeof m->factor[0]);
            m->n++;
            return;
        }
        left = space->kind[kind].count;
        lowest = 0;
    }
    for (uint32_t s = lowest; s < space->n_slot; s++) {
        if (!(space->kind[kind].open >> s & 1u) ||
            (uint64_t)m->factor[s] * space->kind[kind].prime > space->slot[s].capacity)
            continue;
        m->factor[s] *= space->kind[kind].prime;
        make_columns(m, kind, left - 1, s);
        m->factor[s] /= space->kind[kind].prime;
    }
}

static uint64_t run_maker(const struct mapspace *space, uint32_t d, uint32_t *out)
{
    struct column_maker m = {.space = space, .d = d, .out = out};
    uint32_t kind = 0;
    for (uint32_t s = 0; s < space->n_slot; s++)
        m.factor[s] = 1;
    while (kind < space->n_kind && space->kind[kind].dim != d)
        kind++;
    if (kind == space->n_kind) { /* nothing free: one column of ones */
        if (out)
            memcpy(out, m.factor, space->n_slot * sizeof m.factor[0]);
        return 1;
    }
    make_columns(&m, kind, space->kind[kind].count, 0);
    return m.n;
}

enum dse_status mapspace_enumerator_new(const struct mapspace *space, struct arena *arena,
                                        struct mapspace_enumerator **out, struct dse_error *err)
{
    struct mapspace_enumerator *e = arena_alloc(arena, 1, sizeof *e);
    DSE_TRY(arena_check(arena, "an enumeration", err));
    e->space = space;
    e->mapping = space->base;
    e->done = space->empty[0] != '\0';
    e->n_keep = 1;
    for (uint32_t l = 0; l < space->arch->n_level; l++)
        e->n_keep <<= __builtin_popcount(space->optional[l]);
    for (uint32_t d = 0; d < space->problem->n_dim && !e->done; d++) {
        uint64_t n = run_maker(space, d, NULL);
        if (n > COLUMN_MAX)
            return dse_fail(err, DSE_LIMIT, "dimension %s can be factorised in more than %d ways",
                            space->problem->dim_name[d], COLUMN_MAX);
        e->columns[d].factor = arena_alloc(arena, n * space->n_slot, sizeof(uint32_t));
        DSE_TRY(arena_check(arena, "an enumeration", err));
        e->columns[d].n = (uint32_t)run_maker(space, d, e->columns[d].factor);
    }
    *out = e;
    return DSE_OK;
}

/* ---------------------------------------- the walk */

/* Give dimension d the factors of `column` on top of the base mapping's (NULL: only those). */
static void set_dim(struct mapspace_enumerator *e, uint32_t d, const uint32_t *column)
{
    const struct mapspace *space = e->space;
    for (uint32_t l = 0; l < space->arch->n_level; l++) {
        struct mapping_level *level = &e->mapping.level[l];
        uint32_t n_dim = space->problem->n_dim, bit = 1u << d;
        uint32_t x = mapspace_axis_dims(level, n_dim, false) & ~bit,
                 y = mapspace_axis_dims(level, n_dim, true) & ~bit;
        uint32_t factor[3] = {1, 1, 1};
        for (int axis = 0; axis < 3 && column; axis++)
            if (space->slot_of[l][axis] >= 0)
                factor[axis] = column[space->slot_of[l][axis]];
        level->temporal[d] = space->base.level[l].temporal[d] * factor[SLOT_TEMPORAL];
        level->spatial[d] = space->base.level[l].spatial[d] * factor[SLOT_X] * factor[SLOT_Y];
        x |= factor[SLOT_X] > 1 ? bit : space->base_x[l] & bit;
        y |= factor[SLOT_Y] > 1 ? bit : space->base_y[l] & bit;
        mapspace_set_axes(space, level, l, x, y);
    }
}

/* Keeps by choice number; the all-bits choice keeps least, and is what the search over factors uses. */
static void set_keeps(struct mapspace_enumerator *e, uint64_t choice)
{
    const struct mapspace *space = e->space;
    for (uint32_t l = 0; l < space->arch->n_level; l++) {
        uint32_t keep = space->base.level[l].keep;
        for (uint32_t rest = space->optional[l]; rest; rest &= rest - 1, choice >>= 1)
            if (choice & 1u)
                keep &= ~(rest & (~rest + 1u));
        e->mapping.level[l].keep = (uint8_t)keep;
    }
}

/* Fits, or only misses a minimum that later factors may still reach. A complete mapping that does not fit
 * says more than a cut, so `fit` is set only while it is empty. */
static bool may_fit(const struct mapspace_enumerator *e, struct misfit_info *fit)
{
    struct misfit_info here;
    if (mapspace_fits(e->space, &e->mapping, &here) || here.what == MISFIT_UTILIZATION)
        return true;
    if (fit->what == FITS)
        *fit = here;
    return false;
}

/* The next bypass choice that fits at a leaf; false when there is none. */
static bool next_keep(struct mapspace_enumerator *e, struct misfit_info *fit)
{
    while (e->keep < e->n_keep) {
        set_keeps(e, e->keep++);
        if (mapspace_fits(e->space, &e->mapping, fit))
            return true;
    }
    return false;
}

enum enumerate_outcome mapspace_enumerator_next(struct mapspace_enumerator *e, uint32_t n_step,
                                                struct mapping *mapping, struct misfit_info *fit)
{
    struct misfit_info local;
    uint32_t n_dim = e->space->problem->n_dim;
    if (!fit)
        fit = &local;
    fit->what = FITS;
    for (uint32_t step = 0; step < n_step && !e->done; step++) {
        if (e->at_leaf) {
            if (next_keep(e, fit)) {
                *mapping = e->mapping;
                return ENUMERATE_FOUND;
            }
            e->at_leaf = false;
            e->depth--;
        }
        uint32_t d = e->depth;
        if (e->at[d] == e->columns[d].n) {
            e->at[d] = 0;
            set_dim(e, d, NULL);
            e->done = d == 0;
            e->depth -= d > 0;
            continue;
        }
        set_keeps(e, e->n_keep - 1);
        set_dim(e, d, e->columns[d].factor + (size_t)e->at[d]++ * e->space->n_slot);
        if (!may_fit(e, fit))
            continue;
        e->depth++;
        if (e->depth == n_dim) {
            e->at_leaf = true;
            e->keep = 0;
        }
    }
    return e->done ? ENUMERATE_DONE : ENUMERATE_PAUSED;
}
