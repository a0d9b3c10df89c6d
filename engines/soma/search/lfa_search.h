/* SoMa's first stage: annealing over the layer-fusion attributes, each priced with double buffering (HPCA
 * 2025, section V-C1). */
#ifndef ENGINES_SOMA_SEARCH_LFA_SEARCH_H
#define ENGINES_SOMA_SEARCH_LFA_SEARCH_H

#include "base/random.h"
#include "engines/soma/search/search.h"

/* Whose moves: the paper's, the published program's, or those of the Cocco baseline (order and DRAM cuts
 * only, groups = layer groups, tiling numbers from the core array's parallelism). */
enum soma_moves { SOMA_MOVES_PAPER, SOMA_MOVES_PUBLISHED, SOMA_MOVES_COCCO };

/* How often a round tries which kind of move; they add up to 1. */
struct soma_move_shares {
    double order;  /* a layer to another valid place */
    double tiling; /* a group's tiling number times or by 2 */
    double flc;    /* a fine-grained border added or removed (published: removed) */
    /* a DRAM cut added or removed (published and cocco: layer groups fused, split, or their border moved) */
    double cut;
};

struct soma_lfa_prices; /* engines/soma/search/lfa_price.h */

struct soma_lfa_options {
    enum soma_moves moves;
    struct soma_move_shares shares; /* all 0: those of the moves */
    /* cocco: a fused group takes over a tiling number by layer count, instead of the largest that one of its
     * layers has in the start */
    bool inherit_tiling;
    struct soma_lfa_prices *prices; /* kept from search to search by one thread; NULL: an own one */
    uint64_t n_round;               /* section V-C: 100 per layer */
    uint64_t greedy_round;
    double first_temperature, alpha;
    double return_share; /* as in struct walk_options */
};

struct soma_lfa_search;

/* Where a search starts: every layer a layer group of its own, with tiling numbers by the parallelism of
 * the core array, doubled where they do not fit `buffer_limit` (docs/soma-search.md). When that does not
 * fit the machine's whole buffer, the numbers of the other moves are tried too, then one tile a sample and
 * one in all, doubled likewise: all engines then find a start or none does. price->cost INFINITY: no such
 * start fits, and `lfa` is the last that was tried, or the time is over (soma_search_is_over). `lfa` from
 * soma_lfa_new. `prices` as in struct soma_lfa_options. Errors of soma_lfa_price; DSE_LIMIT at once where
 * the buffer needs more than SOMA_TILE_MAX tiles. */
DSE_MUST_CHECK enum dse_status soma_initial_lfa(const struct soma_search *search, enum soma_moves moves,
                                                uint64_t buffer_limit, struct soma_lfa_prices *prices,
                                                struct soma_lfa *lfa, struct soma_price *price,
                                                struct dse_error *err);

/* The start that is found soonest, whatever the time: as few tiles as fit the buffer, every layer a layer
 * group of its own. price->cost INFINITY: none fits, or the search was cancelled. Otherwise as above. */
DSE_MUST_CHECK enum dse_status soma_cheap_lfa(const struct soma_search *search,
                                              struct soma_lfa_prices *prices, struct soma_lfa *lfa,
                                              struct soma_price *price, struct dse_error *err);

/* Why there is no start: of `lfa`, which soma_initial_lfa left, every group that holds too much gets twice
 * the tiles until that changes nothing. The fullest position is then one where nothing can be made
 * smaller. */
DSE_MUST_CHECK enum dse_status soma_finest_lfa(const struct soma_search *search, uint64_t buffer_limit,
                                               struct soma_lfa *lfa, struct dse_error *err);

/* Start from `start`, which fits `buffer_limit`. When the time is over before it is priced, the search has
 * nothing: its best has cost INFINITY. Memory from `arena`, whose reset ends the search. */
DSE_MUST_CHECK enum dse_status soma_lfa_search_new(const struct soma_search *search,
                                                   const struct soma_lfa_options *options,
                                                   const struct soma_lfa *start, uint64_t buffer_limit,
                                                   struct random_stream stream, struct arena *arena,
                                                   struct soma_lfa_search **made, struct dse_error *err);

/* Up to n rounds; *done when all are. Errors of soma_price_lfa. */
DSE_MUST_CHECK enum dse_status soma_lfa_search_step(struct soma_lfa_search *search, uint64_t n, bool *done,
                                                    struct dse_error *err);

/* Rounds done so far. */
uint64_t soma_lfa_search_rounds(const struct soma_lfa_search *search);

/* From now on only the greedy rounds. */
void soma_lfa_search_end_early(struct soma_lfa_search *search);

/* Release what the arena does not own. NULL is fine. */
void soma_lfa_search_free(struct soma_lfa_search *search);

/* The best so far; valid until the next step. */
const struct soma_lfa *soma_lfa_search_best(const struct soma_lfa_search *search, struct soma_price *price);

#endif
