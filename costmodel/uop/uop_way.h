/* The links of the mesh with the times when they are free: messages take them. Besides those between cores
 * each row has one into its first core, from the DRAM, and one out of it. */
#ifndef COSTMODEL_UOP_UOP_WAY_H
#define COSTMODEL_UOP_UOP_WAY_H

#include "costmodel/uop/uop_mesh.h"
#include "costmodel/uop/uop_stream.h"

struct uop_way {
    const struct kc_machine *machine;
    uint64_t *free;        /* (cores * UOP_SIDES + rows) the first cycle in which a link is free */
    uint32_t *route[2];    /* (columns + rows) */
    struct uop_link *link; /* (cores * UOP_SIDES) what went over them; the caller's, or NULL for whoever takes
                            * links by himself */
};

/* All free; `link` (may be NULL) is set to 0. Memory from `scratch`, which the caller checks. */
void uop_way_init(const struct kc_machine *machine, struct arena *scratch, struct uop_link *link,
                  struct uop_way *way);

/* A message from core to core sets out; returns when it is there. uop_links.h. */
uint64_t uop_way_send(struct uop_way *way, uint32_t from, uint32_t to, uint64_t byte, uint64_t cycle);

/* A message from the DRAM along a row to its cores `to` (n, ascending, all in that row); `there` (n). */
void uop_way_fetch(struct uop_way *way, const uint32_t *to, uint32_t n, uint64_t byte, uint64_t cycle,
                   uint64_t *there);

/* A message from a core along its row to the DRAM; returns when it is there. */
uint64_t uop_way_store(struct uop_way *way, uint32_t from, uint64_t byte, uint64_t cycle);

/* All that a uop in slices on a core has from the DRAM and to it, along its row; on links that take no
 * time. */
void uop_way_stream(struct uop_way *way, uint32_t core, const struct uop_stream *stream);

#endif
