/* Collects cells, measures them in letters, prints; and the numbers that tables show: SI prefixes, bytes,
 * durations. */
#include "dse/console/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add_cell(struct table *table, const char *text)
{
    size_t column = table->n_cell % table->n_column, width = text_letters(text);
    if (width > table->width[column])
        table->width[column] = width;
    text_append_bytes(&table->cells, text, strlen(text) + 1);
    table->n_cell++;
}

void table_init(struct table *table, const char *const *header, size_t n_column, unsigned left)
{
    memset(table, 0, sizeof *table);
    text_init(&table->cells);
    table->n_column = n_column <= TABLE_COLUMN_MAX ? n_column : TABLE_COLUMN_MAX;
    table->left = left;
    for (size_t i = 0; i < table->n_column; i++)
        add_cell(table, header[i]);
}

void table_cell(struct table *table, const char *format, ...)
{
    char text[TABLE_CELL_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add_cell(table, text);
}

static void print_line(const struct table *table, struct text_buffer *out)
{
    size_t total = 0;
    for (size_t c = 0; c < table->n_column; c++)
        total += table->width[c] + (c ? 2 : 0);
    for (size_t i = 0; i < total; i++)
        text_append(out, "-");
    text_append(out, "\n");
}

/* A line break in place of the blanks that an empty last cell leaves. */
static void end_line(struct text_buffer *out)
{
    while (!out->failed && out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    text_append(out, "\n");
}

void table_print(const struct table *table, struct text_buffer *out)
{
    if (table->cells.failed) {
        out->failed = 1;
        return;
    }
    const char *cell = table->cells.data;
    for (size_t i = 0; i < table->n_cell; i++) {
        size_t c = i % table->n_column;
        int pad = (int)(table->width[c] - text_letters(cell));
        int is_left = (int)(table->left >> c & 1), is_last = c + 1 == table->n_column;
        text_append(out, "%s%*s%s%*s", c ? "  " : "", is_left ? 0 : pad, "", cell,
                    is_left && !is_last ? pad : 0, "");
        if (is_last)
            end_line(out);
        if (i + 1 == table->n_column)
            print_line(table, out);
        cell += strlen(cell) + 1;
    }
}

void table_free(struct table *table)
{
    text_free(&table->cells);
}

char *table_duration(double seconds, char *buffer, size_t size)
{
    if (!isfinite(seconds) || seconds < 0 || seconds > 1e12) {
        snprintf(buffer, size, "?");
        return buffer;
    }
    unsigned long long s = (unsigned long long)(seconds + 0.5);
    if (seconds < 9.95)
        snprintf(buffer, size, "%.1f s", seconds);
    else if (s < 60)
        snprintf(buffer, size, "%llu s", s);
    else if (s < 3600)
        snprintf(buffer, size, "%llu min %llu s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(buffer, size, "%llu h %llu min", s / 3600, s % 3600 / 60);
    else
        snprintf(buffer, size, "%llu d %llu h", s / 86400, s % 86400 / 3600);
    return buffer;
}
