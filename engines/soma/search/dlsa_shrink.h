/* The published program's third stage: tensors live shorter, without losing time. Internal to the second
 * stage. */
#ifndef ENGINES_SOMA_SEARCH_DLSA_SHRINK_H
#define ENGINES_SOMA_SEARCH_DLSA_SHRINK_H

#include "engines/soma/search/dlsa_moves.h"

struct dlsa_shrink {
    uint64_t n_round, round; /* wanted, done */
    double first_temperature, alpha;
    double reference; /* byte cycles of the schedule that stage 2 started from */
    uint64_t cycle, best_cycle;
    double byte_cycle, best_byte_cycle; /* bytes in the buffer over time */
};

/* Sum over tensors of bytes times cycles between the tile before `start` is over and the tile before
 * `end`. */
double dlsa_byte_cycle(const struct dlsa_moves *moves, const struct fused_incremental *state);

/* From how it stands now, which is the best so far. */
void dlsa_shrink_start(struct dlsa_shrink *shrink, const struct dlsa_moves *moves,
                       const struct fused_incremental *state);

/* One round. True: it now stands better than ever: shorter, or as short with less in the buffer. */
bool dlsa_shrink_round(struct dlsa_shrink *shrink, const struct dlsa_moves *moves,
                       struct fused_incremental *state, struct random_stream *stream);

#endif
