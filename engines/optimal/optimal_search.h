/* The search of engine `optimal`: what its phases share (optimal_engine.c: a start, all spreads;
 * optimal_proof.c: their proof). */
#ifndef ENGINES_OPTIMAL_OPTIMAL_SEARCH_H
#define ENGINES_OPTIMAL_OPTIMAL_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/driver/driver.h"
#include "engines/driver/known_bounds.h"
#include "engines/driver/price_memo.h"
#include "engines/mapspace/mapspace_descent.h"
#include "engines/optimal/optimal_places.h"
#include "engines/optimal/optimal_prefix.h"
#include "engines/optimal/optimal_spreads.h"
#include "engines/optimal/optimal_walk.h"

enum { OPTIMAL_SPLIT_MAX = 40 };

struct optimal_entry {
    double cost; /* its quick bound */
    uint32_t choice;
    uint16_t place[ARCH_LEVEL_MAX];
};

/* Spreads of a machine and those with dearer accesses, or other capacities and bandwidths, as far as they are
 * not beaten by the quick bound without bandwidths (optimal_list.c). */
struct optimal_list {
    double cost;                        /* what beats all others: */
    double rate;                        /* and over that of one joule in the least cycles of all mappings */
    double access_j[ARCH_LEVEL_MAX][3]; /* of the machine, at least what it has here */
    uint32_t n, room;
    struct optimal_listed {
        double energy_j, cycles; /* the quick bound's, of that machine; compute cycles */
        uint16_t place[ARCH_LEVEL_MAX];
    } entry[]; /* (n) */
};

/* A spread whose sweeps have not ruled it out. */
struct optimal_swept {
    double cost; /* at least */
    uint32_t entry;
};

enum optimal_phase { PHASE_START, PHASE_SPREADS, PHASE_SWEEP, PHASE_WALK, PHASE_SPLIT };

/* Mappings that take so many cycles, without latencies. */
struct optimal_delays {
    double from, to;
    double share; /* of the delay in a price that is likely to bound them well */
};

/* The search for a mapping to beat. */
struct optimal_start {
    uint64_t n_most, n; /* descents, and those that have begun */
    bool shared;        /* they go by what mappings cost if no bandwidth is limited */
    bool descending;
    struct random_stream stream;
    struct price_memo memo;
    struct descent descent;
    struct priced_mapping now;
    struct hash_128 key;        /* of what the shared descents come to */
    struct known_mapping found; /* so far; no levels: none */
};

struct optimal_search {
    struct engine_context *context;
    const struct mapspace *space;
    enum optimal_phase phase;
    struct optimal_start start;
    /* proof */
    struct optimal_model model;
    struct optimal_price price[OPTIMAL_PRICE_MAX];
    uint32_t n_price;
    struct optimal_spreads spreads;
    struct optimal_prefixes prefixes;
    struct optimal_list *listed,
        *made;                      /* all that are to be looked at; all that are: owned. NULL: not known */
    uint32_t n_seen;                /* of `listed` */
    bool list_fits;                 /* it is of this machine but for bandwidths */
    double decided[ARCH_LEVEL_MAX]; /* joules of a prefix whose next level is this one */
    struct known_bounds *known;     /* sweeps of other cells; NULL: none */
    uint64_t known_as;              /* problem and machine without bandwidths */
    uint64_t listed_as;             /* and without capacities and energies of accesses */
    double least_cycles;            /* of all mappings, without latencies */
    double most_cycles;             /* of those that count; INFINITY: no limit */
    struct optimal_entry *entry;    /* (n_entry) lowest cost first, once all are there */
    uint32_t n_entry, room, at;     /* those before `at` have been swept; `present` is at hand, when begun */
    uint32_t present;
    struct optimal_swept *swept; /* (n_swept) a heap of those to be walked through, lowest cost first */
    uint32_t n_swept, swept_room;
    bool looks;   /* the spread at hand is swept only; else what its places leave is walked through */
    double least; /* of all its mappings, as far as its places have been swept */
    uint32_t choice, n_choice;    /* of what the levels keep: the model's, and how many there are */
    struct optimal_spread spread; /* the present one */
    struct optimal_menu *menu;    /* its places */
    bool begun, delayed;          /* the menu is that of the spread, the cycles are known */
    bool tabled;                  /* `sweep` has been run for the spread at hand, at its places */
    struct optimal_watch watch;
    struct optimal_sweep *sweep, *words, *joules; /* of what is walked, by cycles, by energy beside it */
    struct optimal_walk *walk;
    double delay;                     /* cycles that its mappings take at least, without latencies */
    double energy_j;                  /* joules */
    double bound;                     /* cost of its mappings at these places at least; 0 before the sweep */
    double cycles[OPTIMAL_PRICE_MAX]; /* (n_price) what each bandwidth needs at least */
    uint32_t limiting;                /* the price with most of these, 0: none */
    uint32_t n_tile;                  /* tiles that the walk has seen */
    bool mixed;                       /* it goes by a mixed price, of 1 for what is as good as the best */
    uint32_t n_split;
    struct optimal_delays split[OPTIMAL_SPLIT_MAX]; /* (n_split) still to be looked at, the last first */
};

const struct objective *optimal_objective(const struct optimal_search *state);

/* Of mappings of a spread, whose leakage comes on top of `energy_j`; `cycles` without latencies. INFINITY:
 * they are above the limit. */
double optimal_cost_of(const struct optimal_search *state, const struct optimal_spread *spread,
                       double energy_j, double cycles);

/* Is nothing of this cost, or above, worth looking at? Costs are compared with the best less one part in
 * 10^11, for rounding. */
bool optimal_is_beaten(const struct optimal_search *state, double cost);

/* The quick bound of a spread, of which the energy is known. */
double optimal_quick_cost(const struct optimal_search *state, const struct optimal_spread *spread,
                          double energy_j);

/* The model's levels keep what choice number `choice` says: bit by bit, a tensor is not kept where it need
 * not be. `*valid`: every tensor is kept somewhere. */
DSE_MUST_CHECK enum dse_status optimal_choose_keeps(struct optimal_search *state, uint32_t choice,
                                                    bool *valid, struct dse_error *err);

/* The start (optimal_start.c): begin once, when it is known what the machine is without bandwidths; `space`
 * says what else the map space depends on. `*over`: the best is the one to beat, if there is any. Finish when
 * the search ends. DSE_NO_MEMORY. */
void optimal_start_begin(struct optimal_search *state, uint64_t n_descent, uint64_t space);
DSE_MUST_CHECK enum dse_status optimal_start_step(struct optimal_search *state, bool *over,
                                                  struct dse_error *err);
void optimal_start_finish(struct optimal_search *state);

/* What other cells of a sweep have found (optimal_known.c). Begin once; when the task has no such table, or
 * it would not be safe, all these do nothing. */
void optimal_known_begin(struct optimal_search *state);

/* Is it certain that the sweeps of the spread at hand rule it out? */
bool optimal_known_beaten(const struct optimal_search *state);

/* Is the value of its sweep by price number i known: joules, or words of a bandwidth? */
bool optimal_known_value(const struct optimal_search *state, uint32_t i, double *value);

/* The limit of its sweep by energy, at least `limit`. */
double optimal_known_limit(const struct optimal_search *state, double limit);

/* The sweep by price number i has found this; by its limit, where nothing is below that. */
void optimal_known_keep(const struct optimal_search *state, uint32_t i, double limit, double value);

/* Of rounding, in bounds of spreads that others are compared with: what is beaten by less is looked at. */
static const double optimal_sure = 1e-9;

/* What is listed of the spreads, when the best is there that they have to beat (optimal_list.c): `listed` is
 * set if another search has left it. Else the spreads that are worth it are added one by one, and kept. */
void optimal_list_begin(struct optimal_search *state);
void optimal_list_add(struct optimal_search *state, const uint16_t *place, double energy_j);
void optimal_list_end(struct optimal_search *state);

/* As optimal_spreads_next, of what is listed; the spread's energy by the quick bound, too. */
bool optimal_list_next(struct optimal_search *state, uint32_t n_step, uint16_t *place, double *energy_j,
                       bool *over);

/* One step of the proof: of its sweeps, walks, or delays taken apart. */
DSE_MUST_CHECK enum dse_status optimal_proof_step(struct optimal_search *state, enum engine_stop *stop,
                                                  struct dse_error *err);

/* What no mapping is below, of what the proof has seen so far. */
double optimal_proof_bound(const struct optimal_search *state);

/* Prices a mapping of the walk; false when the search has to end. */
bool optimal_proof_visit(void *search, const struct mapping *mapping);

#endif
