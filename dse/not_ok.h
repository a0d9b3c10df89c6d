/* The points that are not ok, for people: "infeasible GlobalBuffer.capacity=1 B: reason". */
#ifndef DSE_NOT_OK_H
#define DSE_NOT_OK_H

#include <stdio.h>

#include "base/status.h"
#include "base/text.h"
#include "results/schema.h"

/* List the first 20 in file order, and how many more there are. `before` is printed in front of the list unless it is empty,
 * `indent` in front of each line. `schema` (NULL: not known) turns columns into axes as the specification has them. DSE_IO,
 * DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status not_ok_list(const char *out, const struct result_schema *schema,
                                           const char *before, const char *indent, FILE *stream,
                                           struct dse_error *err);

/* Append `place`, "RF.capacity_byte=1 batch=4" of a journal, as "RF.capacity=1 B batch=4"; as it is when it is not of this schema. */
void not_ok_place(const struct result_schema *schema, const char *place, struct text_buffer *out);

#endif
