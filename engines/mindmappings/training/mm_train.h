/* Phase 1 of Mind Mappings: data are drawn or read, and networks trained on them until a model is whole. */
#ifndef ENGINES_MINDMAPPINGS_TRAINING_MM_TRAIN_H
#define ENGINES_MINDMAPPINGS_TRAINING_MM_TRAIN_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/status.h"
#include "engines/mindmappings/mm_model.h"
#include "engines/mindmappings/training/mm_preset.h"
#include "engines/mindmappings/training/mm_problems.h"

/* Tests: a problem for each MM_TEST_OF samples of training, at most MM_TEST_PROBLEM_MAX of them. */
enum { MM_TEST_OF = 400, MM_TEST_PROBLEM_MAX = 1000, MM_TEST_EACH = 40 };

/* What to do; borrowed. */
struct mm_train_task {
    const struct mm_machine *machine;
    const struct mm_problems *problems;
    const char *problems_name;
    enum mm_mode mode;
    struct mm_preset preset; /* with what the user changed */
    uint32_t n_net;
    uint64_t seed;
    const char *data;  /* a file of training data, drawn when it is not there; NULL: draw, and keep none */
    const char *model; /* the file to write; unfinished work is in MODEL.part */
    int n_thread;
    const atomic_int *cancel; /* may be NULL */
    /* Tell people: a line that stays (`lasting`), or that may be overwritten. May be NULL. */
    void (*say)(void *user, bool lasting, const char *line);
    void *user;
};

/* Train, or find the model there already, trained by the same task (*found), and leave the model in `arena`.
 * An interrupted or killed run goes on where it was. DSE_INTERRUPTED; DSE_BAD_INPUT, DSE_IO, DSE_NO_MEMORY as
 * of data and model. */
DSE_MUST_CHECK enum dse_status mm_train(const struct mm_train_task *task, struct arena *arena,
                                        const struct mm_model **model, bool *found, struct dse_error *err);

#endif
