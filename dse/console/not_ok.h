/* The points that are not ok, for people: "infeasible GlobalBuffer.capacity=1 B: reason". */
#ifndef DSE_CONSOLE_NOT_OK_H
#define DSE_CONSOLE_NOT_OK_H

#include <stdio.h>

#include "base/status.h"
#include "base/text.h"
#include "results/record/schema.h"

/* List the first `most` in file order, and how many more there are. `schema` (NULL: not known) turns columns
 * into axes as the specification has them. DSE_IO, DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status not_ok_list(const char *out, const struct result_schema *schema, size_t most,
                                           FILE *stream, struct dse_error *err);

/* Append where a cell is, in the same manner: "RF.capacity=1 B batch=4"; `index` is (n_axis). */
void not_ok_place_of(const struct result_schema *schema, const uint32_t *index, struct text_buffer *out);

/* The letters of a column's name without the unit: 14 of "DRAM.bandwidth_byte_per_s". */
size_t not_ok_name_length(const struct result_coordinate *coordinate);

/* Append `place`, "RF.capacity_byte=1 batch=4" of a journal, as "RF.capacity=1 B batch=4"; as it is when it
 * is not of this schema. */
void not_ok_place(const struct result_schema *schema, const char *place, struct text_buffer *out);

#endif
