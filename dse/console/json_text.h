/* Texts and numbers as JSON has them. */
#ifndef DSE_CONSOLE_JSON_TEXT_H
#define DSE_CONSOLE_JSON_TEXT_H

#include "base/text.h"

/* Append `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. NULL: an empty
 * string. */
void json_text_quote(struct text_buffer *out, const char *text);

/* Append a number as JSON has it; null when it is not finite. */
void json_text_number(struct text_buffer *out, double value);

#endif
