/* How well a surrogate network predicts costs of mappings that it has not seen. */
#ifndef ENGINES_MINDMAPPINGS_TRAINING_MM_QUALITY_H
#define ENGINES_MINDMAPPINGS_TRAINING_MM_QUALITY_H

#include "base/status.h"
#include "engines/mindmappings/mm_model.h"
#include "engines/mindmappings/training/mm_data.h"

/* Of the network on data whose ratios are as they were drawn. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mm_quality_of(const struct mlp_frozen *frozen,
                                             const struct mm_encoding *encoding, const struct mm_data *data,
                                             int n_thread, struct mm_quality *quality, struct dse_error *err);

/* The same of true and predicted EDPs (n), in problems of n_each; both are put into another order. */
DSE_MUST_CHECK enum dse_status mm_quality_of_edp(double *is, double *said, uint32_t n, uint32_t n_each,
                                                 struct mm_quality *quality, struct dse_error *err);

#endif
