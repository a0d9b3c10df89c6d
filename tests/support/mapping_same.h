/* Whether two mappings are the same nest. */
#ifndef TESTS_SUPPORT_MAPPING_SAME_H
#define TESTS_SUPPORT_MAPPING_SAME_H

#include <stdbool.h>

#include "costmodel/model/mapping.h"

/* Same factors, orders of the non-unit loops, X/Y of the non-unit spatial loops, keeps and switches? */
bool mapping_same(const struct mapping *a, const struct mapping *b);

#endif
