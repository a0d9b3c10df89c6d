/* The keys of points and of their searches: hashes of everything that determines a result. */
#ifndef DSE_SPEC_KEYS_H
#define DSE_SPEC_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "dse/spec/machine.h"
#include "dse/spec/sweep.h"

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
