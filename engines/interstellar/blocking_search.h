/* Searches of the space of blockings for the least energy: every point, as the authors' program goes about
 * it, or branch and bound. Both advance piece by piece and hold the best so far. */
#ifndef ENGINES_INTERSTELLAR_BLOCKING_SEARCH_H
#define ENGINES_INTERSTELLAR_BLOCKING_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "engines/interstellar/blocking_limits.h"
#include "engines/interstellar/blocking_space.h"

struct blocking_search {
    const struct blocking_space *space;
    struct blocking_limits limits;
    uint32_t n_look; /* for the limits, at which is not looked each time */
    uint32_t n_late; /* questions since a limit was met */
    uint64_t n_try;  /* tiles and arrays that a proof has looked at */
    bool spent;      /* most_try was met */
    bool over;       /* a limit was met; nothing of a proof holds from here on but the best and the bound */
    bool found;
    bool done;           /* the best is the optimum, or there is no point at all */
    double best_j;       /* INFINITY until one is found; MACs included */
    double bound_j;      /* no point is below */
    uint64_t n_point;    /* points priced */
    uint64_t most_point; /* as many at most */
    struct blocking_point best;
    struct blocking_walk *walk;   /* of the search by enumeration; owned */
    struct blocking_proof *proof; /* of branch and bound; owned */
};

/* Begin; the caller has set out->limits. DSE_NO_MEMORY, DSE_LIMIT when the space is too large. Release with
 * blocking_search_free, also after a failure, when it was zeroed before. */
DSE_MUST_CHECK enum dse_status blocking_enumerate(const struct blocking_space *space,
                                                  struct blocking_search *out, struct dse_error *err);
DSE_MUST_CHECK enum dse_status blocking_prove(const struct blocking_space *space, struct blocking_search *out,
                                              struct dse_error *err);

/* Go on for a while: some thousand points, or a few nodes of the proof. */
DSE_MUST_CHECK enum dse_status blocking_search_step(struct blocking_search *search, struct dse_error *err);

void blocking_search_free(struct blocking_search *search);

/* For the searches: the nodes of the layer behind the temporal step of the outermost level. */
struct node_list {
    uint32_t n, capacity;
    struct blocking_node *node; /* owned */
    bool failed;                /* out of memory */
    bool too_many;
    struct blocking_search *search; /* whose limits end the list */
};

/* List the nodes behind the temporal step of level v. Cut short where the search is over. DSE_NO_MEMORY;
 * DSE_LIMIT: more than NODES_MOST. */
DSE_MUST_CHECK enum dse_status node_list_fill(struct blocking_search *search, uint32_t v,
                                              struct node_list *out, struct dse_error *err);

/* Whether a limit has been met; the clock is read now and then. */
bool blocking_search_is_over(struct blocking_search *search);

DSE_MUST_CHECK enum dse_status blocking_walk_step(struct blocking_search *search, struct dse_error *err);
void blocking_walk_free(struct blocking_walk *walk);
DSE_MUST_CHECK enum dse_status blocking_proof_step(struct blocking_search *search, struct dse_error *err);
void blocking_proof_free(struct blocking_proof *proof);

/* The only node behind the temporal step of level 0 where there is no array below it. */
void space_innermost(const struct blocking_space *space, const struct blocking_node *from,
                     struct blocking_node *out);

/* served[d] (n_dim): the iterations that level v serves one after another, for a node behind its temporal
 * step: those of all steps so far; of a level 0 that feeds MACs without operands of their own, those of the
 * layer, shared by the MACs. */
void space_served(const struct blocking_space *space, uint32_t v, const struct blocking_node *node,
                  double *served);

/* The iterations that count at level v without and with its own loops (n_dim each), for the step from one
 * node (NULL: none) to another. */
void space_iterations(const struct blocking_space *space, uint32_t v, const struct blocking_node *from,
                      const struct blocking_node *to, double *outside, double *inside);

/* The energies of level v without the hops in its array by each order, and the counts of each (n_order,
 * n_tensor), with these iterations. What is settled there of `debt` is among them. */
uint32_t space_level_energies(const struct blocking_space *space, uint32_t v, const double *outside,
                              const double *inside, const struct blocking_debt *debt, double *energy_j,
                              double count[][PROBLEM_TENSOR_MAX]);

#endif
