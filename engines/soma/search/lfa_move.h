/* Random moves of stage 1. All keep the computing order valid, group starts ascending and a DRAM cut before
 * the first group; whether outputs can be cut and the buffer holds it is for the price to say. */
#ifndef ENGINES_SOMA_SEARCH_LFA_MOVE_H
#define ENGINES_SOMA_SEARCH_LFA_MOVE_H

#include "base/random.h"
#include "engines/soma/search/lfa_search.h"

/* One search's moves. */
struct soma_mover {
    const struct soma_search *search;
    enum soma_moves moves;
    struct soma_move_shares shares;
    /* (n_layer) tiles that each layer needs at least (cocco); NULL: groups inherit their tiling numbers */
    const uint32_t *need;
    uint32_t *place;      /* (n_layer) working memory, as are the next two */
    uint32_t *choice;     /* (n_layer) */
    uint32_t *low, *high; /* (n_layer) */
};

/* `need` NULL. The caller looks whether `arena` had the memory. */
void soma_mover_init(const struct soma_search *search, enum soma_moves moves,
                     const struct soma_move_shares *shares, struct arena *arena, struct soma_mover *mover);

/* Change the LFA (from soma_lfa_new) by a random move. False: nothing was changed, since this kind of move
 * has no place here. */
bool soma_lfa_move(struct soma_mover *mover, struct random_stream *stream, struct soma_lfa *lfa);

#endif
