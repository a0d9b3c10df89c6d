/* Text tables for people: columns as wide as their cells, numbers to the right. */
#ifndef DSE_CONSOLE_TABLE_H
#define DSE_CONSOLE_TABLE_H

#include <stddef.h>

#include "base/text.h"

enum { TABLE_COLUMN_MAX = 24, TABLE_CELL_MAX = 128 };

struct table {
    size_t n_column;
    unsigned left; /* bit c set: column c is aligned to the left */
    size_t width[TABLE_COLUMN_MAX];
    struct text_buffer cells; /* every cell with its terminator, row by row; the first row is the header */
    size_t n_cell;
};

/* Begin with the header (n_column texts). Release with table_free. */
void table_init(struct table *table, const char *const *header, size_t n_column, unsigned left);

/* Append the next cell; rows are filled in order. Longer texts are cut to TABLE_CELL_MAX. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append all rows to `out`; a line under the header. Out of memory shows in out->failed. */
void table_print(const struct table *table, struct text_buffer *out);
void table_free(struct table *table);

/* "4.2 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". Returns `buffer`. */
char *table_duration(double seconds, char *buffer, size_t size);

#endif
