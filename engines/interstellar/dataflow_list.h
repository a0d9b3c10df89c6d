/* The dataflows of a layer: which loops a machine's array can unroll, without and with replication. */
#ifndef ENGINES_INTERSTELLAR_DATAFLOW_LIST_H
#define ENGINES_INTERSTELLAR_DATAFLOW_LIST_H

#include "engines/driver/engine.h"
#include "engines/interstellar/blocking_space.h"

/* The distinct dataflows of the choices for the machine's only array, sorted by their number of loops and
 * then by these; `arena` holds the list. DSE_BAD_INPUT: the machine has no array, or several; errors of
 * blocking_space_build. */
DSE_MUST_CHECK enum dse_status dataflow_list(const struct problem *problem, const struct architecture *arch,
                                             const struct interstellar_hint *hint,
                                             const struct blocking_settings *settings, struct arena *arena,
                                             struct engine_dataflows *out, struct dse_error *err);

#endif
