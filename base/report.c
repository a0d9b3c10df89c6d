/* Reports as rows and columns of cells. */
#include "base/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct cell_column report_list_column[REPORT_LIST_COLUMNS] = {{.name = "key"}, {.name = "value"}};

void cells_init(struct cells *cells, const struct cell_column *column, size_t n_column)
{
    *cells = (struct cells){.column = column, .n_column = n_column};
    text_init(&cells->cell);
    text_init(&cells->text);
}

void cells_free(struct cells *cells)
{
    text_free(&cells->cell);
    text_free(&cells->text);
}

static void add(struct cells *cells, struct cell cell)
{
    text_append_bytes(&cells->cell, (const char *)&cell, sizeof cell);
    cells->n_cell += !cells->cell.failed;
}

void cells_none(struct cells *cells)
{
    add(cells, (struct cell){.kind = CELL_NONE});
}

void cells_text(struct cells *cells, const char *text)
{
    size_t at = cells->text.length;
    if (text)
        text_append_bytes(&cells->text, text, strlen(text) + 1);
    add(cells, (struct cell){.kind = text && !cells->text.failed ? CELL_TEXT : CELL_NONE, .text = at});
}

void cells_format(struct cells *cells, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cells_text(cells, text);
}

void cells_whole(struct cells *cells, int64_t value)
{
    add(cells, (struct cell){.kind = CELL_WHOLE, .whole = value});
}

void cells_count(struct cells *cells, uint64_t value)
{
    if (value == UINT64_MAX)
        cells_none(cells);
    else
        cells_whole(cells, value <= INT64_MAX ? (int64_t)value : INT64_MAX);
}

void cells_real(struct cells *cells, double value)
{
    if (isnan(value))
        cells_none(cells);
    else
        add(cells, (struct cell){.kind = CELL_REAL, .real = value});
}

void cells_switch(struct cells *cells, int on)
{
    add(cells, (struct cell){.kind = CELL_SWITCH, .whole = on != 0});
}

void cells_copy(struct cells *cells, const struct cells *from, size_t i)
{
    const struct cell *cell = cells_at(from, i);
    if (cell->kind == CELL_TEXT)
        cells_text(cells, cells_text_at(from, cell));
    else
        add(cells, *cell);
}

void cells_list_text(struct cells *cells, const char *key, const char *value)
{
    cells_text(cells, key);
    cells_text(cells, value);
}

void cells_list_count(struct cells *cells, const char *key, uint64_t value)
{
    cells_text(cells, key);
    cells_count(cells, value);
}

void cells_list_real(struct cells *cells, const char *key, double value)
{
    cells_text(cells, key);
    cells_real(cells, value);
}

const struct cell *cells_at(const struct cells *cells, size_t i)
{
    return (const struct cell *)(const void *)cells->cell.data + i;
}

const char *cells_text_at(const struct cells *cells, const struct cell *cell)
{
    return cell->kind == CELL_TEXT ? cells->text.data + cell->text : "";
}

void report_init(struct report *report, const char *name)
{
    *report = (struct report){.name = name};
    text_init(&report->head);
    text_init(&report->foot);
    cells_init(&report->about, report_list_column, REPORT_LIST_COLUMNS);
    cells_init(&report->rows, report_list_column, REPORT_LIST_COLUMNS);
    cells_init(&report->parts, report_list_column, REPORT_LIST_COLUMNS);
}

void report_free(struct report *report)
{
    text_free(&report->head);
    text_free(&report->foot);
    cells_free(&report->about);
    cells_free(&report->rows);
    cells_free(&report->parts);
}

static int cells_failed(const struct cells *cells)
{
    return cells->cell.failed || cells->text.failed;
}

int report_failed(const struct report *report)
{
    return report->head.failed || report->foot.failed || cells_failed(&report->about) ||
           cells_failed(&report->rows) || cells_failed(&report->parts);
}
