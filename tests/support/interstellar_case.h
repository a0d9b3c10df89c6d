/* Machines, layers and priced points of Interstellar's authors' program, for tests of its accounting. */
#ifndef TESTS_SUPPORT_INTERSTELLAR_CASE_H
#define TESTS_SUPPORT_INTERSTELLAR_CASE_H

#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"

enum {
    POINT_ID,
    POINT_ARCH,
    POINT_MAC_CAPACITY,
    POINT_ARRAY_DIM,
    POINT_LAYER = 5,
    POINT_BATCH,
    POINT_LOOPS = 15,
    POINT_ORDER,
    POINT_BLOCKING,
    POINT_PARTITIONING,
    POINT_SPATIAL,
    POINT_SIZE,
    POINT_ACCESSES = 23, /* of inputs, outputs and weights, as the next */
    POINT_TOTAL = 26,
    POINT_GROUPS = 29,
    POINT_LEVEL_ENERGY,
    POINT_ARRAY_ENERGY,
    POINT_ENERGY,
    POINT_MAC_ENERGY,
    POINT_BANKS,
    POINT_PE_USED = 38,
    POINT_N_COLUMN = 40,
    POINT_MAX = 64,
    POINT_CELL_MAX = 160
};

struct interstellar_point {
    char cell[POINT_N_COLUMN][POINT_CELL_MAX];
};

/* The 46 points of tests/known/interstellar/points_public.csv. Returns how many. */
int interstellar_points_load(struct interstellar_point *point, int max);

/* A machine of the authors' files by its name here: eyeriss512, rf64, opt4, tpu128, bcast512, split_rf,
 * split_all. */
void interstellar_machine(const char *name, struct architecture *out);

/* A layer: batch, channels out and in, outputs wide and high, filter wide and high, stride. */
void interstellar_layer(const uint32_t bound[8], struct problem *out);

/* Machine and layer of a point, with what its columns override. */
void interstellar_point_task(const struct interstellar_point *point, struct architecture *arch,
                             struct problem *problem);

#endif
