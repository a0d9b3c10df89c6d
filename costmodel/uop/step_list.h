/* Steps as a plan makes them, one after the other; in their final form (uop_memory.h) when all are made. A
 * step's waits and destinations mostly come with it, so these take no more room than in that form. */
#ifndef COSTMODEL_UOP_STEP_LIST_H
#define COSTMODEL_UOP_STEP_LIST_H

#include <stddef.h>

#include "costmodel/uop/uop_memory.h"

/* Numbers, and pairs of them, grown. */
struct step_numbers {
    uint32_t *at;
    size_t n, capacity;
};

struct step_pairs {
    struct step_pair {
        uint32_t of, is;
    } * at;
    size_t n, capacity;
};

/* false: out of memory. */
bool step_pairs_put(struct step_pairs *pairs, uint32_t of, uint32_t is);

struct step_list {
    struct uop_step *step;
    size_t n, capacity;
    struct step_numbers wait;       /* of one step after the other */
    struct step_numbers first_wait; /* of each step, into these */
    struct step_pairs later_wait;   /* step, step: waits that come when there are more steps */
    struct step_pairs later_to;     /* step, core: all but the first, which is in first_to */
    bool failed;                    /* out of memory, and what is in the list is of no use */
};

/* Begin with {0}; in the end: */
void step_list_free(struct step_list *list);

/* One more step, without waits and destinations; its number. */
uint32_t step_list_put(struct step_list *list, enum uop_step_kind kind, uint32_t item, uint32_t core);

/* One more wait, or destination, of any step. Waiting for UOP_NONE is nothing. */
void step_list_wait(struct step_list *list, uint32_t step, uint32_t on);
void step_list_to(struct step_list *list, uint32_t step, uint32_t core);

/* All of it, but `word`; memory from `arena`. What the list has is given back as it goes. DSE_NO_MEMORY;
 * DSE_LIMIT: 2^32 steps or waits. */
DSE_MUST_CHECK enum dse_status step_list_finish(struct step_list *list, struct arena *arena,
                                                struct uop_steps *out, struct dse_error *err);

#endif
