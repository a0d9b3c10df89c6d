/* What the events of a sweep cost, tile by tile: the inner part of optimal_sweep.c. */
#ifndef ENGINES_OPTIMAL_OPTIMAL_SWEEP_EVENTS_H
#define ENGINES_OPTIMAL_OPTIMAL_SWEEP_EVENTS_H

#include "engines/optimal/optimal_sweep.h"

/* Fill in words and prices of all events of the sweep's spread and tiles. */
void optimal_events_begin(struct optimal_sweep *sweep);

/* What level l makes known: its spatial loops, and where events of the window tensor are not direct. */
void optimal_events_settle(struct optimal_sweep *sweep, uint32_t l);

/* The price (n) of `words` (n) of event e that enter where it closes, at level l or further out. */
void optimal_events_price(struct optimal_sweep *sweep, uint32_t e, uint32_t l, bool linear,
                          const double *words, double *price);

static inline bool optimal_is_window(const struct optimal_model *model, uint32_t e)
{
    return (int)model->event[e].tensor == model->window;
}

/* Event e's window along dimension p of a loop of level l: how wide it is at a tile, and how far it moves for
 * each value of p inside. */
struct optimal_slide {
    double step_p, step_q, less, move;
    const uint32_t *tile_p, *tile_q; /* (nodes) */
};
struct optimal_slide optimal_slide_of(const struct optimal_sweep *sweep, uint32_t e, uint32_t l, uint32_t p);

static inline double optimal_slide_width(const struct optimal_slide *slide, uint32_t node)
{
    return slide->step_p * (int32_t)slide->tile_p[node] + slide->step_q * (int32_t)slide->tile_q[node] -
           slide->less;
}

#endif
