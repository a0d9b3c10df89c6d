/* The machine of a point, and the keys of points and of their searches: hashes of everything that determines
 * a result. */
#ifndef DSE_SPEC_KEYS_H
#define DSE_SPEC_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "dse/spec/sweep.h"

/* The last machine of one thread, and how building it went. Building one is dear beside a cheap search, and
 * neighbouring points often have the same. */
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

/* What makes up the keys of one point. */
struct point_keys {
    uint64_t settings;
    uint64_t arch;  /* 0: the machine cannot be built */
    uint64_t point; /* of all that determines its rows, its place included */
};

/* The keys of `point`, whose machine `machine` becomes. Returns false when out of memory. */
bool keys_of_point(struct machine *machine, const struct sweep_point *point, struct point_keys *keys);

/* The key of its search number `task`; 0 when out of memory. */
uint64_t keys_of_task(const struct point_keys *keys, const struct sweep_point *point, uint32_t task);

#endif
