/* Attributes and datasets of an HDF5 file as texts and numbers of ours. What is read lies in the arena. */
#ifndef BASE_HDF5_HDF5_READ_H
#define BASE_HDF5_HDF5_READ_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/* A text attribute, scalar or 1-D (n); `*text` is NULL when it is not there or not text. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status hdf5_read_attribute(hid_t object, const char *name, struct arena *arena,
                                                   const char ***text, size_t *n, struct dse_error *err);

/* One text attribute, or "" when it is not there. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status hdf5_read_word(hid_t object, const char *name, struct arena *arena,
                                              const char **word, struct dse_error *err);

/* A number of that class (H5T_INTEGER, H5T_FLOAT) as an attribute, read as `type` into `*value`. False when
 * it is not there or not one such number. */
bool hdf5_read_number(hid_t object, const char *name, H5T_class_t class, hid_t type, void *value);

/* A whole number as an attribute, or 0 when it is not there or not one whole number. */
uint64_t hdf5_read_count(hid_t object, const char *name);

/* The selected `n` numbers as doubles; the missing-value mark of whole numbers becomes NaN. DSE_BAD_INPUT,
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status hdf5_read_numbers(hid_t dataset, hid_t memory, hid_t space, size_t n,
                                                 struct arena *arena, double **number, struct dse_error *err);

/* The n texts of a dataset of variable-length strings, whose space is `space`. DSE_BAD_INPUT,
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status hdf5_read_texts(hid_t dataset, hid_t space, size_t n, struct arena *arena,
                                               const char ***text, struct dse_error *err);

/* A dataset (n values, row-major) as texts or as numbers, whichever it is; the other pointer is NULL.
 * DSE_BAD_INPUT: it is neither, or damaged. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status hdf5_read_dataset(hid_t dataset, struct arena *arena, const char ***text,
                                                 double **number, size_t *n, struct dse_error *err);

#endif
