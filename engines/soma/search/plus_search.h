/* The joint search of soma-plus: annealing over the layer-fusion attributes, each priced by what prefetching
 * makes of the whole buffer (docs/soma-search.md, "soma-plus"). */
#ifndef ENGINES_SOMA_SEARCH_PLUS_SEARCH_H
#define ENGINES_SOMA_SEARCH_PLUS_SEARCH_H

#include "base/random.h"
#include "engines/soma/search/plus_point.h"
#include "engines/soma/search/search.h"

struct plus_options {
    uint64_t n_round;
    double first_temperature, alpha;
    double return_share; /* as in struct walk_options */
    /* (n_donor) points that stretches are taken over from; outlive the search */
    const struct plus_point *donor;
    uint32_t n_donor;
};

struct plus_search;

/* Start from `start`, which plus_price says is valid with `lead` ((n_layer); NULL: none). Memory from
 * `arena`, whose reset ends it, except what plus_search_free releases. DSE_NO_MEMORY; errors of
 * plus_price. */
DSE_MUST_CHECK enum dse_status plus_search_new(const struct soma_search *search,
                                               const struct plus_options *options,
                                               const struct soma_lfa *start, const int32_t *lead,
                                               struct random_stream stream, struct arena *arena,
                                               struct plus_search **made, struct dse_error *err);

/* Up to n rounds; *done when all are. Errors of plus_price. */
DSE_MUST_CHECK enum dse_status plus_search_step(struct plus_search *search, uint64_t n, bool *done,
                                                struct dse_error *err);

/* Release what the arena does not own. NULL is fine. */
void plus_search_free(struct plus_search *search);

/* The best so far, in a point of as many layers. */
void plus_search_point(const struct plus_search *search, struct plus_point *point);

/* The same. `lfa` from soma_lfa_new; *lead (n_layer) is the search's. */
void plus_search_best(const struct plus_search *search, struct soma_lfa *lfa, const int32_t **lead,
                      struct soma_price *price);

/* Its cost, and what its tiles and tensors cost at least in any DRAM order. */
double plus_search_cost(const struct plus_search *search);
double plus_search_floor(const struct plus_search *search);

/* Rounds done. */
uint64_t plus_search_rounds(const struct plus_search *search);

#endif
