/* What the searches of the SoMa family share: a network on its machine, schemes and their prices. */
#ifndef ENGINES_SOMA_SEARCH_SEARCH_H
#define ENGINES_SOMA_SEARCH_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/fused/fused_schedule.h"
#include "engines/driver/objective.h"
#include "engines/soma/notation/notation.h"

/* What the core array computes side by side: input by output channels of a PE, rows by columns of PEs. All 0:
 * not known (another core scheduler). */
struct soma_parallel {
    uint32_t lane_c, lane_k, rows, columns;
};

/* All borrowed and const for the whole search. */
struct soma_search {
    struct soma_context context; /* its graph is set */
    struct fused_machine machine;
    struct objective objective;
    double clock_hz, leakage_w;    /* energies of prices are without leakage, costs are not */
    struct soma_parallel parallel; /* for the first tiling numbers */
    /* Layers of the network before layers were cut into parts, of those now; 0: nothing is cut, as 1. */
    double layer_share;
    uint64_t part_max;        /* soma_search_is_vast; 0: no limit */
    bool may_be_long;         /* a scheme whose schedule is evaluated in runs has a price */
    bool slow_tiles;          /* the core scheduler is to be asked for no tile in vain */
    double stop_at_s;         /* on clock_wall_s, when the search has to end; 0: never */
    const double *reserved_s; /* by so much earlier, as it stands; may be NULL */
    const atomic_int *cancel; /* not 0: it has to end now; may be NULL */
};

/* So many layers a search has its rounds for: parts of a layer count as one. */
double soma_search_layers(const struct soma_search *search);

/* Whether what is scheduled is cut into parts or goes past the buffer: then its tiles and tensors are many,
 * and their number says little of what there is to choose. */
bool soma_search_is_large(const struct soma_search *search);

/* Whether a schedule of so many parts (soma_price) of such a network is no more than parsed and priced with
 * double buffering: to search its DRAM order takes a kilobyte for each of them, and the rounds that there are
 * for so many find nothing. */
bool soma_search_is_vast(const struct soma_search *search, uint64_t n_part);

/* When the time of the search is over, on clock_wall_s; 0: never. */
double soma_search_end(const struct soma_search *search);

/* Whether the time of the search is over, or it was cancelled. A search then leaves off where it is, with the
 * best so far; it decides nothing by this. Any thread. */
bool soma_search_is_over(const struct soma_search *search);

/* When what is still being made for a search that had to end at stop_at_s is given up; 0: never. */
double soma_search_last_end(double stop_at_s);

/* How many seconds before its limit a search has to end whose best schedule took so many to make and hand
 * over, for it to be checked in time. */
double soma_search_reserve(double made_s);

struct soma_price {
    double cost; /* of the objective; INFINITY: not valid, or it does not fit */
    double energy_j;
    uint64_t cycle;
    uint64_t buffer_max_byte;
    uint64_t n_part; /* tiles, tensors and reads of its schedule: how much there is to make */
    /* Its schedule is not held as a whole (engines/soma/long_schedule.h); with cost INFINITY, that is why. */
    bool is_long;
};

/* Whether the schedule of a price can still be made, handed over and checked within the time of the search,
 * or little more: what is too large for that counts as not found. */
bool soma_search_can_make(const struct soma_search *search, const struct soma_price *price);

/* What leaks over so many cycles. */
double soma_leakage_j(const struct soma_search *search, double cycle);

/* energy^n * delay^m in joules and seconds, of the energy with what leaks. */
double soma_cost(const struct soma_search *search, double energy_j, uint64_t cycle);

/* Room for an LFA of up to n_layer groups; the caller looks whether `arena` had it. */
void soma_lfa_new(uint32_t n_layer, struct arena *arena, struct soma_lfa *lfa);

/* Copy `from` into `to`, which soma_lfa_new made for as many layers. */
void soma_lfa_copy(const struct soma_lfa *from, struct soma_lfa *to);

/* The tiles of its schedule. */
uint64_t soma_lfa_tiles(const struct soma_lfa *lfa);

/* Parse an LFA and price it with its double-buffer DLSA. price->cost is INFINITY when the LFA is not valid, a
 * fault shows up, or more than `buffer_limit` bytes live at a position; `schedule` (may be NULL) is then
 * empty or not to be used. Memory from `arena`, which the caller resets. Errors of soma_parse. */
DSE_MUST_CHECK enum dse_status soma_price_lfa(const struct soma_search *search, const struct soma_lfa *lfa,
                                              uint64_t buffer_limit, struct arena *arena,
                                              struct fused_schedule *schedule, struct soma_price *price,
                                              struct dse_error *err);

#endif
