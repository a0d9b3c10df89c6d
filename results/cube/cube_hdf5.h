/* The HDF5 side of the cube: datasets with labelled axes, as netCDF-4 readers expect them. Every function
 * returns >= 0 on success and < 0 on failure, like HDF5 itself; cube.c turns that into an error text. */
#ifndef RESULTS_CUBE_CUBE_HDF5_H
#define RESULTS_CUBE_CUBE_HDF5_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "results/record/schema.h"

/* Room for the axes and the two dimensions of a group (layer and level, or layer and iteration). */
enum { CUBE_RANK_MAX = RESULT_AXIS_MAX + 2 };

/* The dimensions that datasets of one group share: the axes, then the group's own. Owns the scales. */
struct cube_group {
    hid_t id;                      /* owned unless it is the file */
    int rank;                      /* of the axes */
    hsize_t length[CUBE_RANK_MAX]; /* (rank) */
    hid_t scale[CUBE_RANK_MAX];    /* (rank) dimension scales */
    hid_t extra[2];                /* scales of the group's own dimensions, or -1 */
    hsize_t extra_length[2];
    hid_t transfer;         /* transfer list with a small conversion buffer, owned */
    char coordinates[2048]; /* names of the linked coordinates, for the attribute */
};

/* Begin a group (NULL name: `parent` itself) and write the axes into it (NULL schema: none). */
int cube_group_begin(struct cube_group *group, hid_t parent, const char *name,
                     const struct result_schema *schema);

/* Give the group a dimension of its own, labelled with texts or (text NULL) with 0 .. n-1. `slot` is 0 or
 * 1. */
int cube_group_extra(struct cube_group *group, int slot, const char *name, const char *long_name,
                     const char *const *text, size_t n);

/* A text dataset over the group's own dimension in slot 0: text (extra_length[0]). */
int cube_group_texts(const struct cube_group *group, const char *name, const char *long_name,
                     const char *const *text);

/* Close; a group with id -1 was never begun. */
int cube_group_end(struct cube_group *group);

/* Create a dataset over the axes and the group's dimensions whose bit is set in `extra` (1: slot 0, 2: slot
 * 1), with scales, attributes, fill value and filters. Returns it open, or < 0. */
hid_t cube_dataset(const struct cube_group *group, const char *name, unsigned extra,
                   const struct metric *metric);

/* The lengths (CUBE_RANK_MAX) of such a dataset; returns its rank. */
int cube_lengths(const struct cube_group *group, unsigned extra, hsize_t *length);

/* Its chunks (rank): trailing dimensions whole, as many as fit, so that cells in row-major order fill one
 * chunk after the other. */
void cube_chunk(int rank, const hsize_t *length, hsize_t *chunk);

#endif
