/* The part of a map space in which most good mappings lie. */
#ifndef ENGINES_MAPSPACE_MAPSPACE_NARROW_H
#define ENGINES_MAPSPACE_MAPSPACE_NARROW_H

#include "engines/mapspace/mapspace.h"

/* The same space with fewer temporal loops: where levels lie side by side, without an array between them,
 * and keep different tensors, only the innermost of them has any. A loop at another of them says nearly the
 * same as one at the next: it moves the border of one tensor's tile alone. What a user says of the temporal
 * loops of a level stays. NULL: there are no such levels, or nothing is left. Mappings of the part are
 * mappings of the space. Memory from `arena`; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mapspace_new_narrow(const struct mapspace *space, struct arena *arena,
                                                   const struct mapspace **out, struct dse_error *err);

#endif
