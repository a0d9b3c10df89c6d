/* One layer group whose layers each have tiles of one shape (the compat rules), timed without making its tiles and tensors. */
#ifndef ENGINES_SOMA_LFA_EVEN_H
#define ENGINES_SOMA_LFA_EVEN_H

#include "engines/soma/lfa_group.h"

/* Costs of tiles that were asked for lately; results do not depend on it. */
struct soma_tile_memo;

/* Memory from `arena`. NULL: no memory. */
struct soma_tile_memo *soma_tile_memo_new(uint32_t n_layer, struct arena *arena);

/* As soma_group_times, of a whole layer group `part` (soma_parse_part's). */
DSE_MUST_CHECK enum dse_status soma_even_times(const struct soma_search *search, const struct soma_lfa *part,
                                               struct soma_tile_memo *memo, struct arena *scratch,
                                               struct soma_group_times *times, struct dse_error *err);

#endif
