/* Several networks in one operand: "resnet50+googlenet". */
#ifndef DSE_INPUTS_NETWORK_NAMES_H
#define DSE_INPUTS_NETWORK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"

/* Is there a network of that name? */
typedef bool network_is_there(void *user, const char *name);

/* The names (n, 1 at least) that `name` is made of; `part` and its texts in `arena`. What is there as a whole
 * is one; else a name ends at the last "+" before which there is a network, or at the first one.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status network_names(const char *name, network_is_there *is_there, void *user,
                                             struct arena *arena, const char *const **part, size_t *n,
                                             struct dse_error *err);

#endif
