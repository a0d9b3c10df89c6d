/* JSON as text for people and programs alike. */
#ifndef DSE_JSON_TEXT_H
#define DSE_JSON_TEXT_H

#include <jansson.h>

#include "base/status.h"
#include "base/text.h"

/* Append `root` (taken over, freed; may be NULL) to `out`, indented, keys in the order they were set, with a line end. DSE_NO_MEMORY
 * when `good` is 0 (something could not be put into it), root is NULL, or there is no memory for the text. */
DSE_MUST_CHECK enum dse_status json_text_append(json_t *root, int good, struct text_buffer *out,
                                                struct dse_error *err);

#endif
