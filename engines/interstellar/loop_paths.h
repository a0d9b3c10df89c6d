/* The ways to spread one loop over levels and arrays, as a graph in layers: each step gives a factor to the
 * next temporal or spatial place, from the outermost inwards. What a state has left is all that later steps
 * and costs depend on, so ways that differ further out only share it.
 *
 * With n levels the layers are 0, before any step, then for v = n-1, ..., 0 layer 2 (n-1-v) + 1 after the
 * temporal step of level v, and the one after it behind the spatial step of the array below level v. */
#ifndef ENGINES_INTERSTELLAR_LOOP_PATHS_H
#define ENGINES_INTERSTELLAR_LOOP_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/interstellar/hint.h"
#include "engines/interstellar/blocking_model.h"

enum { LOOP_LAYER_MAX = 2 * ARCH_LEVEL_MAX + 1 };

/* `left * core * inner` iterations are left: `core` of them are for the level that a schedule file names and
 * its array, `inner` for the levels inside it; without such a file, and where all its factors divide, all are
 * `left`. */
struct loop_state {
    uint32_t outer; /* iterations of all steps so far */
    uint32_t left, core, inner;
    uint32_t tile; /* their product */
    bool exact;    /* all that is left is `left` */
};

struct loop_layer {
    uint32_t n;
    struct loop_state *state; /* (n) */
    /* (n of the layer before, n_word) bit j of row i: a step leads from state i to state j; NULL: nothing
     * happens in this step, and the states are those of the layer before */
    uint64_t *leads;
    uint32_t n_word;
};

struct loop_paths {
    uint32_t n_layer;
    struct loop_layer layer[LOOP_LAYER_MAX];
};

static inline uint32_t layer_tile(const struct blocking_model *model, uint32_t v)
{
    return 2 * (model->n_level - 1 - v) + 1;
}

static inline uint32_t layer_bank(const struct blocking_model *model, uint32_t v)
{
    return layer_tile(model, v) + 1;
}

static inline bool row_leads(const uint64_t *row, uint32_t to)
{
    return row[to / 64] >> to % 64 & 1;
}

/* Whether the step in front of this layer leads from one state to another. */
static inline bool step_leads(const struct loop_layer *layer, uint32_t from, uint32_t to)
{
    return layer->leads ? row_leads(layer->leads + (size_t)from * layer->n_word, to) : from == to;
}

/* Its factor; 0 where it does not. */
static inline uint32_t step_factor(const struct loop_paths *paths, uint32_t layer, uint32_t from, uint32_t to)
{
    if (!step_leads(&paths->layer[layer], from, to))
        return 0;
    return paths->layer[layer].leads
               ? paths->layer[layer].state[to].outer / paths->layer[layer - 1].state[from].outer
               : 1;
}

/* What may become of a loop. */
struct loop_wish {
    const struct loop_hint *hint; /* NULL: none */
    bool spread;                  /* it may lie on arrays, or there further than the hint says */
    double pad; /* bounds up to so many times the loop's are tried, as far as no factor could be smaller */
};

/* All ways for dimension d of the model's problem; not to be used where a limit of the model's was met.
 * Memory from `arena`; DSE_NO_MEMORY, DSE_LIMIT when there are too many. */
DSE_MUST_CHECK enum dse_status loop_paths_build(const struct blocking_model *model, uint32_t d,
                                                const struct loop_wish *wish, struct arena *arena,
                                                struct loop_paths *out, struct dse_error *err);

#endif
