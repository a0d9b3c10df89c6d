/* JSON as text for people and programs alike. */
#ifndef DSE_CONSOLE_JSON_TEXT_H
#define DSE_CONSOLE_JSON_TEXT_H

#include <jansson.h>

#include "base/status.h"
#include "base/text.h"

/* Append `root` (taken over, freed; may be NULL) to `out`, indented, keys in the order they were set, with a
 * line end. DSE_NO_MEMORY when `good` is 0 (something could not be put into it), root is NULL, or there is no
 * memory for the text. */
DSE_MUST_CHECK enum dse_status json_text_append(json_t *root, int good, struct text_buffer *out,
                                                struct dse_error *err);

/* Append `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. NULL: an empty
 * string. */
void json_text_quote(struct text_buffer *out, const char *text);

/* Append a number as JSON has it; null when it is not finite. */
void json_text_number(struct text_buffer *out, double value);

#endif
