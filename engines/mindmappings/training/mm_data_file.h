/* Training data as an HDF5 file, drawn once and used by many trainings; an interrupted or killed run goes on
 * where it was (FILE.part). */
#ifndef ENGINES_MINDMAPPINGS_TRAINING_MM_DATA_FILE_H
#define ENGINES_MINDMAPPINGS_TRAINING_MM_DATA_FILE_H

#include "base/arena.h"
#include "base/status.h"
#include "engines/mindmappings/training/mm_data.h"

/* Samples to train with, and of other problems to test with. */
struct mm_data_pair {
    struct mm_data train, test;
};

/* What a file holds; `draws` without `unseen`. */
struct mm_data_plan {
    struct mm_draws draws;
    const char *problems; /* "cnn", "mttkrp", the name of a network */
    uint32_t n_train, n_train_each, n_test, n_test_each;
};

/* What of the work is being done, for people; `done` of `n` samples. */
typedef void mm_data_progress(void *user, uint32_t done, uint32_t n);

/* Draw all samples. With `path` (may be NULL) what is drawn is kept in PATH.part from time to time, found
 * there again, and at the end written to PATH. DSE_INTERRUPTED: `cancel` was set. */
DSE_MUST_CHECK enum dse_status mm_data_make(const struct mm_data_plan *plan, const char *path, int n_thread,
                                            const atomic_int *cancel, mm_data_progress *progress, void *user,
                                            struct arena *arena, struct mm_data_pair *data,
                                            struct dse_error *err);

/* Read n_train samples, the first ones, and all tests of a file. DSE_BAD_INPUT: damaged, of another
 * algorithm, machine, mode or other problems, fewer samples, values that cannot be (mm_data_check). DSE_IO,
 * DSE_NO_MEMORY, DSE_INTERRUPTED. */
DSE_MUST_CHECK enum dse_status mm_data_read(const struct mm_data_plan *plan, const char *path,
                                            struct arena *arena, struct mm_data_pair *data,
                                            struct dse_error *err);

/* Hash of all samples. */
uint64_t mm_data_hash(const struct mm_data_pair *data);

#endif
