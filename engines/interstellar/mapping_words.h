/* A mapping in Interstellar's words: the columns that the engine adds to tables of mappings. */
#ifndef ENGINES_INTERSTELLAR_MAPPING_WORDS_H
#define ENGINES_INTERSTELLAR_MAPPING_WORDS_H

#include "engines/driver/engine.h"

/* energy_no_mac_pJ, dataflow, dataflow_key, loops, spatial. */
extern const struct mapping_columns interstellar_columns;

#endif
