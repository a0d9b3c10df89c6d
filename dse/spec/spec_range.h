/* Axes written as ranges: {from: 1, to: 100}, {from: 0.1, to: 1, step: 0.1}, {from: 32 KiB, to: 16 MiB,
 * factor: 2}. */
#ifndef DSE_SPEC_SPEC_RANGE_H
#define DSE_SPEC_SPEC_RANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/yaml.h"

/* Whether an axis is meant as a range: a mapping that has one of its words, as a scalar. */
bool spec_is_range(const struct ynode *node);

/* The values of the range under axis `name` as texts in `arena`, as one would write them in a list: (*n) from
 * 1 to `max`. They are computed on the decimals, so that steps of 0.1 give 0.3; the ends belong to them where
 * a step hits them. Numbers may be written in several units of one kind; each value is in the unit, of those
 * written, in which it is a whole number (1 MiB, 512 KiB). DSE_BAD_INPUT with the line: a number, unit, step
 * or factor that makes no range, or more than `max` values; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status spec_range_expand(const struct yaml_doc *doc, const char *name,
                                                 const struct ynode *node, size_t max, struct arena *arena,
                                                 const char *const **value, size_t *n, struct dse_error *err);

#endif
