/* Writing HTML: texts that may be anything, numbers as people read them, tables, arrays for the script. */
#ifndef RESULTS_PAGE_PAGE_HTML_H
#define RESULTS_PAGE_PAGE_HTML_H

#include <stddef.h>

#include "base/metric.h"
#include "base/text.h"

/* Append a text so that it is a text within an element and within an attribute in double quotes. What is no
 * UTF-8, and control characters, become U+FFFD. */
void html_text(struct text_buffer *out, const char *text);

/* Append a text as a JSON string with its quotes, which may stand within <script>. */
void html_json(struct text_buffer *out, const char *text);

/* Append numbers (n) as base64 of their doubles, lowest byte first. */
void html_doubles(struct text_buffer *out, const double *value, size_t n);

/* "4.56 mJ", "23.4 MiB", "1,234", "0.87"; "-" when it is missing. Returns `buffer`. The script has the
 * same. */
char *html_value(double value, const char *unit, char *buffer, size_t size);

/* Append <TAG>text</TAG>, as `html_text`; and a cell of a number. */
void html_element(struct text_buffer *out, const char *tag, const char *text);
void html_number(struct text_buffer *out, double value, const char *unit);

/* Append the head of a table: titles (n), the first `n_text` of columns of texts. Close it with
 * html_table_end. */
void html_table(struct text_buffer *out, const char *caption, const char *const *title, size_t n,
                size_t n_text);
void html_table_end(struct text_buffer *out);

/* Append a cell with a bar, `share` of 1 long. */
void html_bar(struct text_buffer *out, double share);

#endif
