/* Bounds of a tile's loop nest filled up. Mappings have perfect factors, so bounds such as 35 or 147 leave
 * few; a fuller nest does more work and may still be cheaper. */
#ifndef ENGINES_SOMA_MACHINE_TILE_FILL_H
#define ENGINES_SOMA_MACHINE_TILE_FILL_H

#include <stdbool.h>

#include "costmodel/model/problem.h"

/* Fill the dimensions of layer_problem named by the letters of `dims` ("PQ") up to a multiple of 4, with
 * `smooth` to one without a prime above 7. Bounds below 5 stay. Returns whether anything changed. */
bool tile_fill(struct problem *problem, const char *dims, bool smooth);

#endif
