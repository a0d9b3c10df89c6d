/* The joint search of soma-plus as many walks: a race of short ones from all seeds, then generations that go
 * on from the best few (docs/soma-search.md, "soma-plus"). */
#ifndef ENGINES_SOMA_PLUS_WALKS_H
#define ENGINES_SOMA_PLUS_WALKS_H

#include "engines/soma/search/plus_search.h"
#include "engines/soma/search/starts.h"
#include "engines/soma/task.h"

enum { PLUS_POOL = 3, PLUS_GUEST = 9 };

struct plus_walks_options {
    struct plus_options walk; /* its n_round is that of one walk in one generation */
    uint32_t n_start;         /* walks of a generation; the race has more */
    uint32_t n_generation;    /* with the race */
    double polish;            /* rounds over the order of the loads, per load */
    double dlsa_round;        /* rounds of the second stage, per tensor that the DRAM moves */
};

/* A fusion that was found, and how much earlier its layers' weights are loaded. */
struct plus_found {
    struct soma_lfa lfa;
    int32_t *lead;         /* (n_layer) */
    double searched, cost; /* by the walk, and polished if it was */
};

struct plus_walk;

struct plus_walks {
    const struct soma_task *task; /* borrowed */
    struct plus_walks_options options;
    struct soma_starts starts;
    struct plus_walk *walk; /* (n_room) */
    uint32_t n_room, n_walk, generation;
    uint32_t n_before; /* generations of the first race, where this is a second */
    uint32_t *rank;    /* (n_room) walks of the last generation, cheapest first */
    /* (n_start + PLUS_GUEST) where walks take stretches over from: the best of the generation before, and
     * behind them n_guest points that others have found */
    struct plus_point *donor;
    struct plus_found pool[PLUS_POOL + 1]; /* cheapest first, and room for one more */
    uint32_t n_pool, n_guest;
    struct arena scratch;
};

/* `w` is borrowed by its own parts: it must not move. Release with plus_walks_free, also after a failure;
 * zeroed is fine too. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plus_walks_init(struct plus_walks *w, const struct soma_task *task,
                                               const struct plus_walks_options *options,
                                               struct engine_context *context, struct dse_error *err);
void plus_walks_free(struct plus_walks *w);

/* Room for a point that later generations take stretches over from, and which the caller fills; *guest NULL:
 * PLUS_GUEST there are. Memory from the context's arena. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plus_walks_guest(struct plus_walks *w, struct engine_context *context,
                                                struct plus_point **guest, struct dse_error *err);

/* Begin a generation of `share` times the usual rounds: the first from the seeds ((n_seed), n_seed > 0),
 * which plus_price says are valid, the others from the best found. Errors of plus_search_new. */
DSE_MUST_CHECK enum dse_status plus_walks_begin(struct plus_walks *w, const struct soma_lfa *const *seed,
                                                uint32_t n_seed, double share, struct engine_context *context,
                                                struct dse_error *err);

/* A step of every walk; *done when all are over. */
DSE_MUST_CHECK enum dse_status plus_walks_step(struct plus_walks *w, struct engine_context *context,
                                               bool *done, struct dse_error *err);

/* Polish with a share of the usual rounds and offer what may become the best of the generation. */
DSE_MUST_CHECK enum dse_status plus_walks_end(struct plus_walks *w, double share,
                                              struct engine_context *context, struct dse_error *err);

/* The same for the best of all, behind the last generation. */
DSE_MUST_CHECK enum dse_status plus_walks_finish(struct plus_walks *w, struct engine_context *context,
                                                 struct dse_error *err);

/* The next generation is a second race, from other seeds where there are, with random streams of its own.
 * What was found is forgotten, the guests stay. */
void plus_walks_again(struct plus_walks *w);

/* Whether most walks of the race have come to the same cost, though they began apart: further ones will
 * hardly find another. */
bool plus_walks_agree(const struct plus_walks *w);

/* Polish an LFA with a share of the usual rounds, and offer it. *cost INFINITY: it does not fit. */
DSE_MUST_CHECK enum dse_status plus_walks_polish(struct plus_walks *w, const struct soma_lfa *lfa,
                                                 const int32_t *lead, double share, uint32_t stream,
                                                 struct engine_context *context, double *cost,
                                                 struct dse_error *err);

#endif
