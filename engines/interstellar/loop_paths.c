/* Ways of one loop through levels and arrays, built layer by layer from the outside; states from which the
 * end cannot be reached are dropped. */
#include "engines/interstellar/loop_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_MAX = 20000 };

struct build {
    const struct blocking_model *model;
    const struct loop_wish *wish;
    const struct loop_hint *hint; /* NULL: none */
    uint32_t bound;
    struct loop_state *state; /* (STATE_MAX) of the layer under construction */
    uint32_t n;
    bool full;
    bool spread; /* its states lie behind the spatial step of the hinted array */
};

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

/* A memory must hold what is padded too; the authors' program looks at blocks before it spreads them. */
static uint32_t whole_core(const struct build *build, uint32_t core)
{
    if (!build->hint || build->spread || build->model->rule == REUSE_COMPAT)
        return core;
    return divide_up(core, build->hint->partition) * build->hint->partition;
}

static void add_state(struct build *build, const struct loop_state *new)
{
    for (uint32_t i = 0; i < build->n; i++) {
        const struct loop_state *old = &build->state[i];
        if (old->outer == new->outer && old->left == new->left && old->core == new->core &&
            old->inner == new->inner && old->exact == new->exact)
            return;
    }
    build->full = build->full || build->n == STATE_MAX;
    if (build->n == STATE_MAX)
        return;
    const uint32_t core = new->exact ? 1 : whole_core(build, new->core);
    build->state[build->n] = *new;
    build->state[build->n].tile = core * new->left;
    build->state[build->n++].tile *= new->inner;
}

/* What a schedule file leaves open (FACTS of the authors' program: exact divisors of the bound, rounded up
 * once by the hinted factor). Where all divides, the loop is one of the ordinary kind with that factor. */
static void begin_hinted(struct build *build)
{
    const uint32_t p = build->hint->partition, q = build->hint->blocking;
    const uint32_t within = divide_up(build->bound, q ? p * q : p);
    const bool exact = q == 0 && build->bound % p == 0 && !build->wish->spread;
    if (exact)
        add_state(build, &(struct loop_state){1, build->bound, 1, 1, 0, true});
    for (uint32_t m = 1; m <= (build->hint->level > 0 ? within : 1); m++) {
        if (within % m)
            continue;
        const uint32_t all = divide_up(build->bound, m);
        if (q)
            add_state(build, &(struct loop_state){1, divide_up(build->bound, p * q * m), p * q, m, 0, false});
        for (uint32_t d = p; d <= all && !q; d++)
            if (all % d == 0 && !(exact && d % p == 0))
                add_state(build, &(struct loop_state){1, all / d, d, m, 0, false});
    }
}

/* What a step may do: nothing; spread the hinted iterations over the array; take what is left of them; or
 * take any divisor of what is left outside or inside the hinted level. */
enum step_kind { STEP_NONE, STEP_SPREAD, STEP_CORE, STEP_LEFT, STEP_INNER };

static enum step_kind kind_of(const struct build *build, bool spatial, uint32_t v)
{
    if (spatial && !blocking_has_array(build->model, v))
        return STEP_NONE;
    if (!build->hint)
        return spatial && !build->wish->spread ? STEP_NONE : STEP_LEFT;
    const int64_t place = (int64_t)build->hint->level - (int64_t)v + (spatial ? 1 : 0);
    if (spatial)
        return place == 0 ? STEP_SPREAD : STEP_NONE;
    return place == 0 ? STEP_CORE : place > 0 ? STEP_INNER : STEP_LEFT;
}

/* The most that a step may give. */
static uint32_t most_of(const struct build *build, bool spatial, uint32_t v)
{
    const uint32_t *side = build->model->level[v].side;
    uint64_t n = (uint64_t)side[0] * side[1];
    return spatial && n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* The state behind the step from `from` with factor f, if there is one. */
static bool state_after(const struct build *build, enum step_kind kind, const struct loop_state *from,
                        uint32_t f, struct loop_state *to)
{
    *to = *from;
    to->outer = from->outer * f;
    if (kind == STEP_SPREAD) {
        const uint32_t p = build->hint->partition;
        if (from->exact) {
            to->left = from->left / p;
            return f == p && from->left % p == 0;
        }
        to->core = divide_up(from->core, f);
        if ((f != p && !build->wish->spread) || f % p)
            return false;
        if (build->model->rule == REUSE_SANE)
            return divide_up(from->core, p) * p % f == 0;
        return from->core % (f / p) == 0;
    }
    if (kind == STEP_LEFT || (from->exact && kind != STEP_NONE)) {
        to->left = from->left / f;
        return from->left % f == 0;
    }
    if (kind == STEP_CORE) {
        to->core = 1;
        return f == from->core;
    }
    to->inner = from->inner / f;
    return kind == STEP_NONE ? f == 1 : from->inner % f == 0;
}

/* All states behind one. */
static void step(struct build *build, const struct loop_state *from, bool spatial, uint32_t v)
{
    const enum step_kind kind = kind_of(build, spatial, v);
    const bool core = !from->exact && (kind == STEP_SPREAD || kind == STEP_CORE);
    const uint32_t open = core ? from->core : !from->exact && kind == STEP_INNER ? from->inner : from->left;
    const uint32_t most = most_of(build, spatial, v);
    struct loop_state to;
    for (uint32_t f = 1; f <= open / f; f++) {
        const bool whole = open % f == 0;
        if (f <= most && state_after(build, kind, from, f, &to))
            add_state(build, &to);
        if (whole && open / f <= most && state_after(build, kind, from, open / f, &to))
            add_state(build, &to);
    }
    for (uint32_t f = 1; core && kind == STEP_SPREAD && f <= open && f <= most / build->hint->partition; f++)
        if (state_after(build, kind, from, f * build->hint->partition, &to))
            add_state(build, &to);
}

/* Whether a step leads from one state to another: then its factor is that between all iterations so far. */
static bool leads_to(const struct build *build, enum step_kind kind, uint32_t most,
                     const struct loop_state *from, const struct loop_state *to)
{
    struct loop_state after;
    const uint32_t f = to->outer / from->outer;
    if (f == 0 || to->outer != from->outer * f || f > most || !state_after(build, kind, from, f, &after))
        return false;
    return after.left == to->left && after.core == to->core && after.inner == to->inner &&
           after.exact == to->exact;
}

static enum dse_status keep_layer(struct build *build, struct arena *arena, struct loop_layer *layer,
                                  struct dse_error *err)
{
    if (build->full)
        return dse_fail(err, DSE_LIMIT,
                        "a loop of %u iterations can be spread in too many ways; search without padding, or "
                        "take another engine",
                        build->bound);
    layer->n = build->n;
    layer->state = arena_alloc_unset(arena, build->n + 1, sizeof *layer->state);
    DSE_TRY(arena_check(arena, "the ways of a loop", err));
    memcpy(layer->state, build->state, build->n * sizeof *layer->state);
    return DSE_OK;
}

/* The states of all layers that the first lead to. */
static enum dse_status grow_layers(struct build *build, struct loop_paths *paths, struct arena *arena,
                                   struct dse_error *err)
{
    DSE_TRY(keep_layer(build, arena, &paths->layer[0], err));
    for (uint32_t y = 0; y + 1 < paths->n_layer; y++) {
        const uint32_t v = build->model->n_level - 1 - y / 2;
        build->n = 0;
        build->spread = build->spread || kind_of(build, y % 2 == 1, v) == STEP_SPREAD;
        if (kind_of(build, y % 2 == 1, v) == STEP_NONE) {
            paths->layer[y + 1].n = paths->layer[y].n;
            paths->layer[y + 1].state = paths->layer[y].state;
            continue;
        }
        for (uint32_t i = 0; i < paths->layer[y].n && !blocking_limits_met(build->model->limits); i++)
            step(build, &paths->layer[y].state[i], y % 2 == 1, v);
        DSE_TRY(keep_layer(build, arena, &paths->layer[y + 1], err));
    }
    return DSE_OK;
}

/* Drop the states of layer y from which no step leads on. */
static void prune(struct build *build, struct loop_paths *paths, uint32_t y)
{
    struct loop_layer *layer = &paths->layer[y];
    const uint32_t v = build->model->n_level - 1 - y / 2;
    const enum step_kind kind = kind_of(build, y % 2 == 1, v);
    const uint32_t most = most_of(build, y % 2 == 1, v);
    uint32_t kept = 0;
    if (kind == STEP_NONE) {
        layer->n = paths->layer[y + 1].n;
        return;
    }
    for (uint32_t i = 0; i < layer->n && !blocking_limits_met(build->model->limits); i++) {
        bool leads = false;
        for (uint32_t j = 0; j < paths->layer[y + 1].n && !leads; j++)
            leads = leads_to(build, kind, most, &layer->state[i], &paths->layer[y + 1].state[j]);
        if (leads)
            layer->state[kept++] = layer->state[i];
    }
    layer->n = kept;
}

static enum dse_status link_layers(struct build *build, struct loop_paths *paths, struct arena *arena,
                                   struct dse_error *err)
{
    for (uint32_t y = 0; y + 1 < paths->n_layer; y++) {
        const struct loop_layer *from = &paths->layer[y];
        struct loop_layer *to = &paths->layer[y + 1];
        const uint32_t v = build->model->n_level - 1 - y / 2;
        const enum step_kind kind = kind_of(build, y % 2 == 1, v);
        const uint32_t most = most_of(build, y % 2 == 1, v);
        to->leads = NULL;
        if (kind == STEP_NONE)
            continue;
        to->n_word = to->n / 64 + 1;
        to->leads = arena_alloc(arena, (size_t)from->n * to->n_word + 1, sizeof *to->leads);
        DSE_TRY(arena_check(arena, "the ways of a loop", err));
        for (uint32_t i = 0; i < from->n && !blocking_limits_met(build->model->limits); i++)
            for (uint32_t j = 0; j < to->n; j++)
                if (leads_to(build, kind, most, &from->state[i], &to->state[j]))
                    to->leads[(size_t)i * to->n_word + j / 64] |= 1ull << j % 64;
    }
    return DSE_OK;
}

/* Bounds none of whose proper parts would do: N rounded up to a multiple of some factor. */
static void begin_padded(struct build *build)
{
    add_state(build, &(struct loop_state){1, build->bound, 1, 1, 0, true});
    for (uint32_t f = 2; f < build->bound && build->wish->pad > 1; f++) {
        uint32_t padded = divide_up(build->bound, f) * f;
        if ((double)padded <= build->wish->pad * build->bound)
            add_state(build, &(struct loop_state){1, padded, 1, 1, 0, true});
    }
}

enum dse_status loop_paths_build(const struct blocking_model *model, uint32_t d, const struct loop_wish *wish,
                                 struct arena *arena, struct loop_paths *out, struct dse_error *err)
{
    struct build build = {.model = model,
                          .wish = wish,
                          .hint = wish->hint && wish->hint->present ? wish->hint : NULL,
                          .bound = model->problem->bound[d]};
    build.state = malloc(STATE_MAX * sizeof *build.state);
    if (!build.state)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the ways of a loop");
    out->n_layer = 2 * model->n_level + 1;
    if (build.hint)
        begin_hinted(&build);
    else
        begin_padded(&build);
    enum dse_status status = grow_layers(&build, out, arena, err);
    struct loop_layer *last = &out->layer[out->n_layer - 1];
    uint32_t kept = 0;
    for (uint32_t i = 0; status == DSE_OK && i < last->n; i++)
        if (last->state[i].tile == 1)
            last->state[kept++] = last->state[i];
    last->n = kept;
    for (uint32_t y = out->n_layer - 1; status == DSE_OK && y-- > 0;)
        prune(&build, out, y);
    if (status == DSE_OK)
        status = link_layers(&build, out, arena, err);
    free(build.state);
    return status;
}
