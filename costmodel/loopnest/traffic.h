/* Traffic of one tensor through the hierarchy under one mapping: the plain version (docs/cost-model.md,
 * from "Tiles" to "Counts"). */
#ifndef COSTMODEL_LOOPNEST_TRAFFIC_H
#define COSTMODEL_LOOPNEST_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/loopnest/compiled.h"
#include "costmodel/loopnest/nest.h"
#include "costmodel/model/mapping.h"

/* Accesses of one level that share a multicast factor and a number of groups. */
struct access_record {
    uint64_t multicast, scatter;
    double accesses;
    double hops; /* mean hops of the record's groups times accesses */
};

/* One level's side of a tensor's traffic, per instance of the level. */
struct level_traffic {
    bool keep;
    uint64_t tile_word;      /* "Tiles"; 0 when bypassed */
    uint64_t partition_word; /* "Counts" */
    uint64_t fanout;         /* children of one instance */
    uint32_t n_record, record_capacity;
    struct access_record *record; /* (n_record) by multicast then scatter; in the arena */
    double content;               /* accesses at this level */
    double arriving;              /* words arriving from outside */
    double peer;                  /* words handed on to neighbours */
    double link_transfers;        /* among the children of one instance */
};

struct tensor_traffic {
    uint32_t outermost; /* the outermost level that keeps the tensor */
    struct level_traffic level[ARCH_LEVEL_MAX];
};

/* Fill `out` for tensor `t`; memory from `arena`. The nest must fit. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status traffic_compute(const struct compiled *evaluator,
                                               const struct mapping *mapping, const struct nest *nest,
                                               uint32_t t, struct arena *arena, struct tensor_traffic *out,
                                               struct dse_error *err);

#endif
