/* The machine of a point. Building one is dear beside a cheap search, and neighbouring points often have the
 * same: each thread keeps its last one. */
#ifndef DSE_SPEC_MACHINE_H
#define DSE_SPEC_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "dse/spec/sweep.h"

/* The last machine of one thread, and how building it went. */
struct machine {
    const struct sweep *sweep; /* borrowed */
    bool known;                /* `number` is set */
    uint64_t n_built;          /* how many were built here: another number, another machine */
    uint64_t number;           /* which machine of the sweep */
    enum dse_status status;
    struct architecture arch; /* valid when status is DSE_OK */
    uint64_t key;             /* solve_arch_key of it; 0: not asked for yet */
    struct dse_error why;
};

void machine_init(struct machine *machine, const struct sweep *sweep);

/* Make it the machine of `point`. Returns what sweep_point_build says; machine->why has the error. */
enum dse_status machine_of(struct machine *machine, const struct sweep_point *point);

/* solve_arch_key of the machine that was built last; 0 when it cannot be built or when out of memory. */
uint64_t machine_key(struct machine *machine);

#endif
