/* Independent searches of one engine, of which the best counts. Each gets a fair share of the budget, and
 * what is found does not depend on how many threads they run on. */
#ifndef ENGINES_SOMA_SEARCH_STARTS_H
#define ENGINES_SOMA_SEARCH_STARTS_H

#include "engines/driver/driver.h"

/* What an engine does with its searches. `engine` is the engine's state, i the number of the search. */
struct soma_starts_hooks {
    /* Up to n rounds (n > 0); *done when it is over. Called for several searches at the same time, for each
     * by one thread. */
    enum dse_status (*step)(void *engine, uint32_t i, uint64_t n, bool *done, struct dse_error *err);
    /* Rounds that the search has done. */
    uint64_t (*rounds)(const void *engine, uint32_t i);
    /* Offer what is worth it; called after each step in the order of the searches, by one thread. May be
     * NULL. */
    enum dse_status (*report)(void *engine, uint32_t i, struct engine_context *context,
                              struct dse_error *err);
};

struct soma_start;

struct soma_starts {
    const struct soma_starts_hooks *hooks;
    void *engine;
    uint64_t round_max;       /* of each search in one step */
    struct soma_start *start; /* (n) */
    uint32_t n;
};

/* n searches, which are the engine's to make and release; the caller looks whether `arena` had the memory. */
void soma_starts_init(struct soma_starts *starts, const struct soma_starts_hooks *hooks, void *engine,
                      uint64_t round_max, uint32_t n, struct arena *arena);

/* One step of every search that is not over, on at most the task's number of threads. Counts their rounds.
 * *done when all are over. Errors of the hooks: those of the first search that has one. */
DSE_MUST_CHECK enum dse_status soma_starts_step(struct soma_starts *starts, struct engine_context *context,
                                                bool *done, struct dse_error *err);

/* The random stream of search number i for one use. */
struct random_stream soma_start_stream(uint64_t seed, uint64_t key, uint32_t i, uint32_t use);

#endif
