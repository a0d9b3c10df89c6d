/* A trained surrogate of the cost of mappings: one or several networks, what they were trained for, and the
 * HDF5 file that keeps them. It is const and shared by threads once it is read. */
#ifndef ENGINES_MINDMAPPINGS_MM_MODEL_H
#define ENGINES_MINDMAPPINGS_MM_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "engines/mindmappings/mm_encoding.h"
#include "engines/mindmappings/mm_space.h"
#include "engines/search/mlp.h"

enum { MM_NET_MAX = 64, MM_EPOCH_MAX = 10000 };

/* How well a network orders mappings that it has not seen: rank correlations (Spearman's) of predicted and
 * true EDP over the algorithmic minimum, and the median of |predicted / true - 1|. NaN: not known. */
struct mm_quality {
    double spearman;        /* of all */
    double spearman_within; /* the mean over problems of that among the mappings of one problem */
    double spearman_low;    /* among the tenth that is cheapest */
    double median_error;
    double trial; /* EDP over the minimum that short searches with it come to (training/mm_trial.h) */
};

struct mm_net {
    struct mlp mlp;
    struct mlp_frozen frozen;
    uint64_t seed;
    uint32_t n_epoch;               /* done */
    double *train_loss, *test_loss; /* (n_epoch) mean losses of normalised outputs */
    struct mm_quality quality;
};

struct mm_model {
    struct mm_encoding encoding;
    enum mm_mode mode;
    uint64_t machine;         /* architecture_hash of what it was trained for */
    const char *architecture; /* and its name */
    const char *problems;     /* what it was trained on: "cnn", "mttkrp", a network */
    const char *options;      /* how, for people: "preset small, 1000000 samples, ..." */
    const char *core;         /* blas_core of the training */
    uint64_t data;            /* hash of the data */
    uint32_t n_sample;        /* of training */
    uint32_t n_net;
    struct mm_net *net; /* (n_net) */
};

/* Whether the model is for this machine, algorithm and mode. DSE_BAD_INPUT says in one sentence what it is
 * for instead; `path` is for the message. */
DSE_MUST_CHECK enum dse_status mm_model_check(const struct mm_model *model, const char *path,
                                              const struct mm_machine *machine, enum mm_mode mode,
                                              struct dse_error *err);

/* Write it as HDF5, whole or not at all. DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mm_model_write(const struct mm_model *model, const char *path,
                                              struct dse_error *err);

/* Read it from the bytes of a file; everything lies in the arena, ready for searches. DSE_BAD_INPUT: cut,
 * edited, or no model; `path` is for the message. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mm_model_read(const char *path, const void *bytes, size_t n_byte,
                                             struct arena *arena, const struct mm_model **model,
                                             struct dse_error *err);

#endif
