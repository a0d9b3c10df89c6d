/* The recipes of training: what `dse train --preset` names. */
#ifndef ENGINES_MINDMAPPINGS_TRAINING_MM_PRESET_H
#define ENGINES_MINDMAPPINGS_TRAINING_MM_PRESET_H

#include <stdint.h>

#include "engines/mindmappings/mm_encoding.h"
#include "engines/search/mlp_fit.h"

enum { MM_HIDDEN_MAX = MLP_LAYER_MAX - 1 };

struct mm_preset {
    const char *name, *sentence;
    enum mm_input_form input;
    enum mm_output_form output;
    uint32_t n_hidden, hidden[MM_HIDDEN_MAX]; /* widths of the hidden layers */
    uint32_t n_sample, n_each;                /* of training; mappings of a problem */
    struct mlp_fit_options fit;
};

/* All of them. */
const struct mm_preset *mm_preset_all(size_t *n);

#endif
