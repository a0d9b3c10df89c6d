/* What words cost: joules, or cycles of a bandwidth, as pieces that are linear in the words of one instance.
 * Every price is a lower bound (see optimal_model.c). */
#ifndef ENGINES_OPTIMAL_OPTIMAL_PRICE_H
#define ENGINES_OPTIMAL_OPTIMAL_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/optimal/optimal_model.h"

/* What is priced: a weighted sum of joules and of the cycles that one bandwidth of a level needs. */
enum optimal_words { WORDS_READ, WORDS_WRITTEN, WORDS_SHARED };
struct optimal_price {
    double joule, cycle; /* weights */
    enum optimal_words words;
    uint32_t level;
};

enum { OPTIMAL_PRICE_MAX = 1 + 3 * ARCH_LEVEL_MAX };

/* That of the price's cycles, in words per cycle. */
double optimal_bandwidth(const struct architecture *arch, struct optimal_price price);

/* Energy, and the cycles of each bandwidth that is limited; returns how many. */
uint32_t optimal_prices(const struct architecture *arch, struct optimal_price *out);

/* The price of words that enter each instance: a sum of slope x max(0, gain x words - knee), some of them
 * in whole blocks. It grows with the words. */
enum { OPTIMAL_PIECE_MAX = 12 + 3 * ARCH_LEVEL_MAX };
struct optimal_toll {
    uint32_t n;
    struct {
        double gain, knee, slope;
        double block;           /* 0: not in whole blocks */
    } piece[OPTIMAL_PIECE_MAX]; /* (n) */
};

/* That of event e. Where two spatial loops move one rank of the window tensor, the tile's extents decide how
 * many different tiles there are: `node` says so for the levels of the mask `known`, the others have at least
 * the fewest. `linear`: parts of blocks count as such, so that the prices of parts of the words add up to no
 * more than the price of all. */
void optimal_toll_new(const struct optimal_model *model, const struct optimal_spread *spread,
                      struct optimal_price price, uint32_t e, uint32_t known, uint32_t node, bool linear,
                      struct optimal_toll *out);
/* `price` (n) of `words` (n). */
void optimal_toll_prices(const struct optimal_toll *toll, const double *words, uint32_t n, double *price);

/* Are there two such loops at a level of the mask? */
bool optimal_is_diagonal(const struct optimal_model *model, const struct optimal_spread *spread,
                         uint32_t levels);

/* The price of event e when `words` enter each instance, its tile being that of `node` up to level l. */
double optimal_event_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t e, uint32_t l, uint32_t node, double words);

/* What every mapping of a spread has in common: MACs and what is delivered to them. */
double optimal_fixed_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price);

/* What the spatial loops of level l that begin at `node` add to that: only two loops that move one rank do,
 * and of several such levels that count the outermost one alone. */
double optimal_spatial_price(const struct optimal_model *model, const struct optimal_spread *spread,
                             struct optimal_price price, uint32_t l, uint32_t node);

/* What event e costs at least: with the different words needed by one instance (docs/lower-bounds.md,
 * "Words"; spread over the machine, each dimension has as many values as are left inside), and what its tiles
 * bring with them, which hold at least what is spread inside it. */
double optimal_least_event(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t e);

/* A quick lower bound on the price of every mapping of a spread: the fixed price and the least of
 * each event. */
double optimal_quick_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price);

/* Event e when it closes at `node` at level l, by a loop that moves its tile as a whole. Not `direct` (loops
 * that do not move it came first): moves that happen to be equal may save up to half of it (see
 * optimal_model.c), where they can be. */
double optimal_close_price(const struct optimal_model *model, const struct optimal_spread *spread,
                           struct optimal_price price, uint32_t e, uint32_t l, uint32_t node, bool direct);

#endif
