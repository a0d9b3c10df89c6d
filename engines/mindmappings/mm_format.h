/* Vectors of Mind Mappings for `dse eval --vectors` and `dse map --format vector`. */
#ifndef ENGINES_MINDMAPPINGS_MM_FORMAT_H
#define ENGINES_MINDMAPPINGS_MM_FORMAT_H

#include "engines/driver/vector_format.h"

extern const struct vector_format vector_format_mm;

#endif
