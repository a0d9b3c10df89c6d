/* The least relaxed price of all mappings of a spread: a dynamic programme over tiles, from the inside out.
 * A state is a level whose loops are all placed, the tile there, and the events that are open. */
#ifndef ENGINES_OPTIMAL_OPTIMAL_SWEEP_H
#define ENGINES_OPTIMAL_OPTIMAL_SWEEP_H

#include <stdint.h>

#include "engines/optimal/optimal_price.h"

enum { OPTIMAL_MASK_MAX = 128, OPTIMAL_DIRECT = 16 };

/* Open events: bit e; those of the window tensor with no loop since they began: bit OPTIMAL_DIRECT + e too.
 * All values (n) at the places of one level. */
struct optimal_states {
    uint32_t n;
    bool full; /* some states stand for those of more open events (optimal_states_find) */
    uint32_t mask[OPTIMAL_MASK_MAX]; /* (n) */
    double *value[OPTIMAL_MASK_MAX]; /* (n, nodes) INFINITY: not reached */
};

/* Looks now and then, after much work, whether the search is over. */
struct optimal_watch {
    bool (*over)(const void *self);
    const void *self;
    uint32_t work; /* since the last look, in values */
    bool ended;    /* it is over: nothing is complete any more */
};

/* So much work has been done; is the search over? `watch` may be NULL. */
bool optimal_watch_ends(struct optimal_watch *watch, uint32_t work);

struct optimal_sweep {
    const struct optimal_model *model;
    struct arena *arena;
    struct optimal_watch *watch;  /* NULL: it is never over */
    struct optimal_spread spread; /* of the last run */
    struct lattice tiles;
    struct optimal_price price;
    /* [l]: as level l's temporal loops begin, so [l + 1]: after them, with level l's events open */
    struct optimal_states at[ARCH_LEVEL_MAX + 1];
    /* the loops at hand: of these dimensions, from one table of states to another; loops with a place of
     * their own are turned one by one */
    uint32_t dims;
    const struct optimal_states *before;
    struct optimal_states *after, turned[2], run;
    uint32_t most_masks;           /* of a table: OPTIMAL_MASK_MAX */
    uint32_t *ratio;               /* (nodes) scratch */
    double *least[ARCH_LEVEL_MAX]; /* (n_level, nodes) of all masks of `at` */
    double *scratch[7];
    double least_event[OPTIMAL_EVENT_MAX]; /* (n_event) what it is charged at least */
    /* it is that of mappings, which some prices of tiles are below: a limit may then rule out a value that is
     * not above it */
    bool sharp;
    double *words[OPTIMAL_EVENT_MAX];  /* (n_event, nodes) of an event that closes there */
    double *close[OPTIMAL_EVENT_MAX];  /* (n_event, nodes) its price, direct */
    double *half[OPTIMAL_EVENT_MAX];   /* (n_event, nodes) of the window tensor: that of half the words */
    double *settle[OPTIMAL_EVENT_MAX]; /* (n_event, nodes) its price at the present level, not direct */
    uint8_t *flag;                     /* (nodes) */
    uint8_t *match[ARCH_LEVEL_MAX];    /* (n_level, nodes) optimal_may_match of the level */
    uint32_t *same;                    /* (nodes) the tile's extents in `sums` alone */
    uint32_t *pair[PROBLEM_DIM_MAX];   /* (n_dim, nodes) in the dimension and its partner alone */
    uint32_t sums;                     /* dimensions of the sums of the window tensor */
    uint32_t n_other;                  /* tiles that are a point in these */
    uint32_t *other;                   /* (n_other) */
};

/* Memory from `arena`, also while it runs. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimal_sweep_new(const struct optimal_model *model, struct arena *arena,
                                                 struct optimal_sweep **out, struct dse_error *err);

/* How many sets of open events a sweep may meet, at one place and at all places together. The former is never
 * exceeded. */
double optimal_most_masks(const struct optimal_model *model);
double optimal_all_masks(const struct optimal_model *model);

/* What mappings with the open events `mask` after level l pay at least from there on: for these, and for the
 * events of the levels outside. */
double optimal_sweep_left(const struct optimal_sweep *sweep, uint32_t l, uint32_t mask);

/* The number of the states that bound those with the open events `mask`: their own or, where the table was
 * full, those of the most events among them, the others being paid at least. states->n: none is reached. */
uint32_t optimal_states_find(const struct optimal_states *states, uint32_t mask);

/* Fill all states of a spread; `*value` is the least price, INFINITY when nothing fits. States that
 * lead to `limit` or more, by the events' quick bounds, count as not reached. When the search is over the
 * value is 0 and no state is reached. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimal_sweep_run(struct optimal_sweep *sweep,
                                                 const struct optimal_spread *spread,
                                                 struct optimal_price price, double limit, double *value,
                                                 struct dse_error *err);

/* The plain form of one step, which the fast one never exceeds: what it costs to go from tile `from` to `to`
 * by the temporal loops of level l, for every choice of orders. A choice leaves the events of `mask` open, of
 * those that were. */
enum { OPTIMAL_CHOICE_MAX = 64 };
struct optimal_choice {
    uint32_t mask;
    double price;
};
uint32_t optimal_step(const struct optimal_model *model, const struct optimal_spread *spread,
                      struct optimal_price price, uint32_t l, uint32_t mask, uint32_t from, uint32_t to,
                      struct optimal_choice *choice);

/* The same of one order: the loops of level l from the inside out. Returns the mask. */
uint32_t optimal_order_price(const struct optimal_model *model, const struct optimal_spread *spread,
                             struct optimal_price price, uint32_t l, uint32_t mask, uint32_t from,
                             uint32_t to, const uint8_t *order, double *sum);

/* The mask after a level, where its own tiles begin. */
uint32_t optimal_mask_open(const struct optimal_model *model, uint32_t l, uint32_t mask);

/* What the events that are open at the end cost. */
double optimal_rest_price(const struct optimal_model *model, const struct optimal_spread *spread,
                          struct optimal_price price, uint32_t mask);

#endif
