/* Reports for people, as CSV and as JSON. */
#include "dse/console/report_print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "dse/console/json_text.h"
#include "dse/console/table.h"

enum { SHOWN_MAX = TABLE_CELL_MAX, NUMBER_MAX = TEXT_DOUBLE_MAX + 3 };

static int is_list(const struct cells *cells)
{
    return cells->column == report_list_column;
}

static size_t n_row(const struct cells *cells)
{
    return cells->n_cell / cells->n_column;
}

/* Of the column of an only number: text_double with ".0" on whole ones. */
static void append_real(struct text_buffer *out, double value)
{
    char text[NUMBER_MAX];
    text_double(value, text, sizeof text);
    text_append(out, "%s%s", text, strpbrk(text, ".eni") ? "" : ".0");
}

/* ---- for people ---- */

static double number_of(const struct cell *cell)
{
    return cell->kind == CELL_WHOLE ? (double)cell->whole : cell->real;
}

static void show_count(struct table *table, const struct cell *cell)
{
    char text[SHOWN_MAX];
    if (cell->kind == CELL_WHOLE && cell->whole < 0)
        table_cell(table, "%" PRId64, cell->whole);
    else
        table_cell(
            table, "%s",
            text_thousands(cell->kind == CELL_WHOLE ? (uint64_t)cell->whole : (uint64_t)(cell->real + 0.5),
                           text, sizeof text));
}

static void show(struct table *table, const struct cells *cells, const struct cell *cell,
                 const struct cell_column *column)
{
    char text[SHOWN_MAX];
    if (cell->kind == CELL_NONE || (cell->kind == CELL_REAL && !isfinite(cell->real))) {
        table_cell(table, "-");
        return;
    }
    if (cell->kind == CELL_TEXT || cell->kind == CELL_SWITCH) {
        table_cell(table, "%s",
                   cell->kind == CELL_TEXT ? cells_text_at(cells, cell)
                   : cell->whole           ? "yes"
                                           : "no");
        return;
    }
    switch (column->look) {
    case LOOK_TEXT:
    case LOOK_COUNT:
        show_count(table, cell);
        break;
    case LOOK_UNIT:
        table_cell(table, "%s", text_si(number_of(cell), column->unit, text, sizeof text));
        break;
    case LOOK_BYTE:
        table_cell(table, "%s", text_bytes(number_of(cell), text, sizeof text));
        break;
    case LOOK_PERCENT:
        table_cell(table, "%.1f %%", 100 * number_of(cell));
        break;
    case LOOK_FIXED:
        table_cell(table, "%.*f", column->digit, number_of(cell));
        break;
    case LOOK_DIGITS:
        table_cell(table, "%.*g", column->digit, number_of(cell));
        break;
    }
}

static void print_table(const struct cells *cells, struct text_buffer *out)
{
    const char *title[TABLE_COLUMN_MAX];
    struct table table;
    size_t n = 0;
    unsigned left = 0;
    for (size_t c = 0; c < cells->n_column; c++)
        if (cells->column[c].title && n < TABLE_COLUMN_MAX) {
            left |= (unsigned)(cells->column[c].look == LOOK_TEXT) << n;
            title[n++] = cells->column[c].title;
        }
    if (n == 0)
        return;
    if (out->length > 0)
        text_append(out, "\n");
    table_init(&table, title, n, left);
    for (size_t i = 0; i < cells->n_cell; i++) {
        const struct cell_column *column = &cells->column[i % cells->n_column];
        if (column->title)
            show(&table, cells, cells_at(cells, i), column);
    }
    table_print(&table, out);
    table_free(&table);
}

static void print_for_people(const struct report *report, struct text_buffer *out)
{
    text_append_string(out, report->head.data ? report->head.data : "");
    print_table(&report->rows, out);
    print_table(&report->parts, out);
    text_append_string(out, report->foot.data ? report->foot.data : "");
}

/* ---- CSV ---- */

static void append_csv(struct text_buffer *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        text_append_string(out, text);
        return;
    }
    text_append(out, "\"");
    for (; *text; text++) {
        if (*text == '"')
            text_append_bytes(out, text, 1);
        text_append_bytes(out, text, 1);
    }
    text_append(out, "\"");
}

static void print_csv(const struct cells *cells, struct text_buffer *out)
{
    const char *between = "";
    for (size_t c = 0; c < cells->n_column; c++)
        if (cells->column[c].name && !cells->column[c].json_only) {
            text_append(out, "%s%s", between, cells->column[c].name);
            between = ",";
        }
    for (size_t i = 0; i < cells->n_cell; i++) {
        const struct cell *cell = cells_at(cells, i);
        const struct cell_column *column = &cells->column[i % cells->n_column];
        if (i % cells->n_column == 0)
            between = "\n";
        if (!column->name || column->json_only)
            continue;
        text_append_string(out, between);
        between = ",";
        if (cell->kind == CELL_TEXT)
            append_csv(out, cells_text_at(cells, cell));
        else if (cell->kind == CELL_WHOLE || cell->kind == CELL_SWITCH)
            text_append(out, "%" PRId64, cell->whole);
        else if (cell->kind == CELL_REAL)
            append_real(out, cell->real);
    }
    text_append(out, "\n");
}

/* ---- JSON ---- */

static void append_json(struct text_buffer *out, const struct cells *cells, const struct cell *cell)
{
    if (cell->kind == CELL_TEXT)
        json_text_quote(out, cells_text_at(cells, cell));
    else if (cell->kind == CELL_WHOLE)
        text_append(out, "%" PRId64, cell->whole);
    else if (cell->kind == CELL_SWITCH)
        text_append_string(out, cell->whole ? "true" : "false");
    else if (cell->kind == CELL_REAL && isfinite(cell->real))
        append_real(out, cell->real);
    else
        text_append(out, "null");
}

/* The members of a list, each after `before`. */
static void append_members(struct text_buffer *out, const struct cells *cells, const char *before)
{
    for (size_t i = 0; i < n_row(cells); i++) {
        text_append(out, "%s%s", i > 0 ? "," : "", before);
        append_json(out, cells, cells_at(cells, 2 * i));
        text_append(out, ": ");
        append_json(out, cells, cells_at(cells, 2 * i + 1));
    }
}

static void append_row(struct text_buffer *out, const struct cells *cells, size_t row, const char *indent)
{
    const char *between = "";
    text_append(out, "{");
    for (size_t c = 0; c < cells->n_column; c++) {
        if (!cells->column[c].name)
            continue;
        text_append(out, "%s%s  \"%s\": ", between, indent, cells->column[c].name);
        append_json(out, cells, cells_at(cells, row * cells->n_column + c));
        between = ",";
    }
    text_append(out, "%s}", indent);
}

static void print_json(const struct report *report, struct text_buffer *out)
{
    const struct cells *rows = &report->rows;
    const char *name = report->rows_name ? report->rows_name : is_list(rows) ? report->name : "rows";
    size_t n = n_row(rows) - (report->has_total != 0);
    text_append(out, "{\n  \"report\": \"%s\"%s", report->name, report->about.n_cell ? "," : "");
    append_members(out, &report->about, "\n  ");
    text_append(out, ",\n  \"%s\": %s", name, is_list(rows) ? "{" : "[");
    if (is_list(rows))
        append_members(out, rows, "\n    ");
    for (size_t i = 0; !is_list(rows) && i < n; i++) {
        text_append(out, "%s\n    ", i > 0 ? "," : "");
        append_row(out, rows, i, "\n    ");
    }
    text_append(out, "\n  %s", is_list(rows) ? "}" : "]");
    if (report->has_total) {
        text_append(out, ",\n  \"total\": ");
        append_row(out, rows, n, "\n  ");
    }
    text_append(out, "\n}\n");
}

enum dse_status report_print(const struct report *report, enum report_format format, struct text_buffer *out,
                             struct dse_error *err)
{
    if (report_failed(report))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the report");
    if (format == REPORT_JSON)
        print_json(report, out);
    else if (format == REPORT_CSV)
        print_csv(&report->rows, out);
    else
        print_for_people(report, out);
    return text_check(out, "the report", err);
}
