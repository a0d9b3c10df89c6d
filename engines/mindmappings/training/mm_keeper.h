/* Checkpoints of the training of networks, one after the other. Each network has two records, written in
 * turn, so that one is always whole. */
#ifndef ENGINES_MINDMAPPINGS_TRAINING_MM_KEEPER_H
#define ENGINES_MINDMAPPINGS_TRAINING_MM_KEEPER_H

#include "base/arena.h"
#include "base/status.h"
#include "engines/mindmappings/training/checkpoint.h"
#include "engines/search/mlp_fit.h"

struct mm_keeper {
    struct checkpoint file; /* opened and closed by the caller; the size of records is set here */
    uint64_t net;           /* at work on this one */
    int turn;               /* which of its two records comes next */
    char *record, *other;   /* in the arena; NULL before the first network */
    double last_s;          /* when the last one was written, of clock_wall_s */
};

/* Turn to a network, whose training is at its beginning: it goes on from the later of its records, if there
 * is one. All networks are of one shape. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mm_keeper_restore(struct mm_keeper *keeper, uint32_t net, struct mlp_fit *fit,
                                                 struct arena *arena, struct dse_error *err);

/* Write where the training is. DSE_IO. */
DSE_MUST_CHECK enum dse_status mm_keeper_keep(struct mm_keeper *keeper, struct mlp_fit *fit,
                                              struct dse_error *err);

#endif
