/* Lines of the journal: fields in and out (RFC 4180), the header, the checksum at the end. */
#ifndef RESULTS_RECORD_CSV_LINE_H
#define RESULTS_RECORD_CSV_LINE_H

#include <csv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "results/record/schema.h"

/* The fields of one line; reused from line to line. */
struct csv_row {
    size_t n;
    const char **field; /* (n) owned; valid until the next csv_split */
    size_t capacity;
    struct text_buffer store;
    struct csv_parser parser;
    bool broken; /* a line break outside of quotes */
};

void csv_row_init(struct csv_row *row);
void csv_row_free(struct csv_row *row);

/* Split a line without its line break, by libcsv. The fields lie one behind the other in `store`, each with
 * its terminator. DSE_BAD_INPUT when the quoting is broken, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status csv_split(const char *line, size_t length, struct csv_row *row,
                                         struct dse_error *err);

/* The next line of a text for people that is neither empty nor a comment (#), from `*at` on, which goes
 * behind it; without its line break. `*line`, which begins at 0, is its number in the end. NULL: there is
 * none. */
const char *csv_next_line(const char **at, const char *end, int *line, size_t *length);

/* Append one field and the comma after it, quoted (csv_write) only when it must be. Line breaks become
 * spaces. NULL: empty. */
void csv_add_text(struct text_buffer *line, const char *text);

/* End a line that ends in a comma: checksum and line break. `start` is where the line begins in the
 * buffer. */
void csv_seal(struct text_buffer *line, size_t start);

/* Whether a line (without its line break) carries the right checksum. */
bool csv_seal_holds(const char *line, size_t length);

/* What stands for all lines up to this one, whose seal holds: `before` is that of those before it (0: there
 * are none). */
uint64_t csv_digest(uint64_t before, const char *line, size_t length);

/* The header lines, with line break: axis columns, status ..., point_key, checksum. */
void csv_point_header(struct text_buffer *line, const struct result_schema *schema);
void csv_layer_header(struct text_buffer *line, const struct result_schema *schema);

/* One whole sealed line. */
void csv_point_line(struct text_buffer *line, const struct result_schema *schema,
                    const struct point_record *point);
void csv_layer_line(struct text_buffer *line, const struct result_schema *schema,
                    const struct point_record *point, const struct layer_record *layer);

/* Columns of axes: those that every line begins with. */
size_t csv_coordinates(const struct result_schema *schema);

/* The other way round: what a split line says of a point (but its index, key and level columns), or of a
 * layer of it. Texts are the line's own, which must stay. False: it is not of this schema. */
bool csv_point_read(const struct result_schema *schema, const struct csv_row *split,
                    struct point_record *point);
bool csv_layer_read(const struct result_schema *schema, const struct csv_row *split,
                    struct layer_record *layer);

/* 16 hex digits; returns 0 when `text` is something else. */
int csv_key_parse(const char *text, uint64_t *key);

/* The point key in the last but one column of a line; 0 when it is no hex digits. */
int csv_line_key(const char *line, size_t length, uint64_t *key);

#endif
