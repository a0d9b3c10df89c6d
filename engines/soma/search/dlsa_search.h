/* SoMa's second stage: annealing over DRAM tensor order and living durations of one LFA (HPCA 2025, section
 * V-C2). */
#ifndef ENGINES_SOMA_SEARCH_DLSA_SEARCH_H
#define ENGINES_SOMA_SEARCH_DLSA_SEARCH_H

#include "base/random.h"
#include "engines/soma/search/search.h"

struct soma_dlsa_options {
    uint64_t n_round; /* section V-C: 1000 per DRAM tensor */
    uint64_t greedy_round;
    double first_temperature, alpha;
    double return_share;                        /* as in struct walk_options */
    double order_share, time_share, both_share; /* of the moves; they add up to 1 */
    bool above_bound;      /* compare costs above the two engines' bound, as the published program does */
    bool in_stream_order;  /* tiles of one stream never overtake each other, as in the published program */
    uint64_t shrink_round; /* its third stage: less buffer over time at equal cost; 0: none */
};

struct soma_dlsa_search;

/* Start from the DRAM order and living durations of `start`, of that LFA's tiles and tensors, which fit
 * `buffer_limit`. `start` is borrowed for the search. Memory from `arena`, whose reset ends it. */
DSE_MUST_CHECK enum dse_status soma_dlsa_search_new(const struct soma_search *search,
                                                    const struct soma_dlsa_options *options,
                                                    const struct fused_schedule *start, uint64_t buffer_limit,
                                                    struct random_stream stream, struct arena *arena,
                                                    struct soma_dlsa_search **made, struct dse_error *err);

/* Up to n rounds; *done when all are, or when the bound of both engines is reached. */
DSE_MUST_CHECK enum dse_status soma_dlsa_search_step(struct soma_dlsa_search *search, uint64_t n, bool *done,
                                                     struct dse_error *err);

/* From now on only the greedy rounds. */
void soma_dlsa_search_end_early(struct soma_dlsa_search *search);

/* Rounds done. */
uint64_t soma_dlsa_search_rounds(const struct soma_dlsa_search *search);

/* Write the best order and living durations into `schedule`, of the same tensors. */
void soma_dlsa_search_best(const struct soma_dlsa_search *search, struct fused_schedule *schedule,
                           struct soma_price *price);

#endif
