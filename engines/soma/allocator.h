/* SoMa's Buffer Allocator: both stages again and again, with less buffer for the first (HPCA 2025, section
 * V-B). */
#ifndef ENGINES_SOMA_ALLOCATOR_H
#define ENGINES_SOMA_ALLOCATOR_H

#include "engines/soma/search/dlsa_search.h"
#include "engines/soma/search/lfa_search.h"
#include "engines/soma/search/search.h"

struct soma_allocator_options {
    enum soma_moves first;                    /* whose scheme the first stage starts from */
    struct soma_lfa_options lfa;              /* its n_round is filled in */
    struct soma_dlsa_options dlsa;            /* its n_round and shrink_round are filled in */
    double round_per_layer, round_per_tensor; /* section V-C: 100, 1000 */
    uint64_t dlsa_round_max;                  /* of one stage 2; 0: no limit */
    double shrink_share;                      /* of the rounds of stage 2, for its third stage */
    double step;            /* section V-B's a%: 0.1 of what the first stage took at first */
    uint32_t iteration_max; /* 0: no limit */
    bool published;         /* as the published program: five more runs whatever they give, shortest of all */
};

struct soma_allocator;

/* What it has found. */
struct soma_allocation {
    bool found;
    bool is_vast; /* soma_search_is_vast: `schedule` and the averages are not set, double buffering's count */
    uint32_t iteration; /* from 0 */
    struct soma_lfa lfa;
    struct fused_schedule schedule;
    struct soma_price price;
    struct soma_price stage1; /* of the same LFA with double buffering */
    double stage1_buffer_average_byte, stage1_buffer_average_compute_byte;
};

/* `start` makes the random streams, with seed and key: independent searches have other numbers. Memory from
 * the heap; release with soma_allocator_free (NULL is fine), also after a failure. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_allocator_new(const struct soma_search *search,
                                                  const struct soma_allocator_options *options, uint64_t seed,
                                                  uint64_t key, uint32_t start, struct soma_allocator **made,
                                                  struct dse_error *err);

/* Every first stage whose buffer holds it begins with this fusion, which stays the caller's. */
void soma_allocator_begin_at(struct soma_allocator *allocator, const struct soma_lfa *lfa,
                             const struct soma_price *price);
void soma_allocator_free(struct soma_allocator *allocator);

/* Some milliseconds of search, at most n rounds. *done when it is over; then, or before by
 * soma_allocator_settle, the allocation holds the best. Errors of both searches. */
DSE_MUST_CHECK enum dse_status soma_allocator_step(struct soma_allocator *allocator, uint64_t n, bool *done,
                                                   struct dse_error *err);

/* From now on only what costs less is of use: second stages that cannot get below it are left out (lower
 * bound of dlsa_bound.h), and iterations go on as long as they might without it. So what would have been
 * found below the limit is found. */
void soma_allocator_limit(struct soma_allocator *allocator, double cost);

/* Rounds done, of both stages: schedules that were looked at. */
uint64_t soma_allocator_rounds(const struct soma_allocator *allocator);

/* Only greedy rounds from now on, and no further iteration. */
void soma_allocator_end_early(struct soma_allocator *allocator);

/* Cost of the best that soma_allocator_settle would leave, if there is time for it; INFINITY: none. */
double soma_allocator_cost(struct soma_allocator *allocator);

/* Let the best of the stage that runs now count, unless it is too large for the time that is left. Nothing
 * may be stepped behind it. */
DSE_MUST_CHECK enum dse_status soma_allocator_settle(struct soma_allocator *allocator, struct dse_error *err);

/* Valid until the next step. */
const struct soma_allocation *soma_allocator_best(const struct soma_allocator *allocator);

#endif
