/* Reads a CSV by the names of its columns and prices it line by line. */
#include "dse/report/list_eval.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "results/record/csv_line.h"

enum { LIST_COLUMN_MAX = 16, LIST_OUT_MAX = 64 };

/* A file while it is read. */
struct list_run {
    const struct list_request *request;
    struct csv_row *split;
    struct cells *cells;
    int line;
    uint64_t n_row;
    size_t n_field;             /* of the header; 0: it has not come yet */
    int place[LIST_COLUMN_MAX]; /* of each of the format's columns; -1: missing */
    uint32_t value[LIST_COLUMN_MAX];
};

enum dse_status list_accounting(const char *name, const struct architecture *arch,
                                const struct accounting **out, struct dse_error *err)
{
    size_t n;
    const struct accounting *const *all = accounting_all(&n);
    enum dse_status status = DSE_INTERNAL;
    if (name) {
        DSE_TRY(accounting_named(name, out, err));
        if (!(*out)->list)
            return dse_fail(err, DSE_BAD_INPUT, "accounting %s prices no lists", name);
        DSE_TRY(accounting_accepts(*out, arch, err));
        return (*out)->list->accepts(arch, err);
    }
    for (size_t i = 0; i < n && status != DSE_OK; i++)
        if (all[i]->list) {
            *out = all[i];
            status = accounting_accepts(all[i], arch, err);
            if (status == DSE_OK)
                status = all[i]->list->accepts(arch, err);
        }
    return status;
}

static enum dse_status fail_line(const struct list_run *r, struct dse_error *err, const char *text)
{
    return dse_fail_at(err, DSE_BAD_INPUT, r->request->path, r->line, "%s", text);
}

static enum dse_status read_header(struct list_run *r, struct dse_error *err)
{
    const struct list_format *list = r->request->list;
    char text[256];
    for (size_t c = 0; c < list->n_column; c++) {
        r->place[c] = -1;
        for (size_t i = 0; i < r->split->n; i++) {
            if (strcmp(r->split->field[i], list->column[c]) != 0)
                continue;
            (void)snprintf(text, sizeof text, "the header has column %s twice", list->column[c]);
            if (r->place[c] >= 0)
                return fail_line(r, err, text);
            r->place[c] = (int)i;
        }
        if (r->place[c] >= 0 || c >= list->n_required)
            continue;
        int at = snprintf(text, sizeof text, "the header has no column %s; a list of %ss has",
                          list->column[c], list->name);
        for (size_t i = 0; i < list->n_column && at > 0 && (size_t)at < sizeof text; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, "%s %s%s", i ? "," : "", list->column[i],
                           i < list->n_required ? "" : " (1 without it)");
        return fail_line(r, err, text);
    }
    r->n_field = r->split->n;
    return DSE_OK;
}

/* Digits, or a number such as 3.0 that tables write for whole ones. */
static bool read_whole(const char *text, uint32_t *value)
{
    double number;
    if (!text_parse_double(text, &number) || !(number >= 1 && number <= UINT32_MAX) ||
        number != (double)(uint32_t)number)
        return false;
    *value = (uint32_t)number;
    return true;
}

static enum dse_status read_row(struct list_run *r, struct dse_error *err)
{
    const struct list_format *list = r->request->list;
    struct dse_error why = {0};
    char text[160], shown[48];
    if (r->split->n != r->n_field) {
        (void)snprintf(text, sizeof text, "%zu fields, the header has %zu", r->split->n, r->n_field);
        return fail_line(r, err, text);
    }
    for (size_t c = 0; c < list->n_column; c++) {
        r->value[c] = 1;
        if (r->place[c] < 0 || read_whole(r->split->field[r->place[c]], &r->value[c]))
            continue;
        (void)snprintf(text, sizeof text, "%s is \"%s\"; it is a whole number from 1 to 4294967295",
                       list->column[c], text_excerpt(r->split->field[r->place[c]], shown, sizeof shown));
        return fail_line(r, err, text);
    }
    cells_count(r->cells, r->n_row++);
    enum dse_status status = list->row(r->request->arch, r->value, r->cells, &why);
    return status == DSE_OK ? DSE_OK
                            : dse_fail_at(err, status == DSE_LIMIT ? DSE_BAD_INPUT : status, r->request->path,
                                          r->line, "%s", why.text);
}

static enum dse_status eval_line(struct list_run *r, const char *at, size_t length, struct dse_error *err)
{
    struct dse_error why = {0};
    enum dse_status status = csv_split(at, length, r->split, &why);
    if (status != DSE_OK)
        return dse_fail_at(err, status, r->request->path, r->line, "%s", why.text);
    return r->n_field ? read_row(r, err) : read_header(r, err);
}

static enum dse_status eval_lines(struct list_run *r, struct dse_error *err)
{
    const char *at = r->request->text, *end = at + r->request->length, *line;
    size_t length;
    while ((line = csv_next_line(&at, end, &r->line, &length)) != NULL)
        DSE_TRY(eval_line(r, line, length, err));
    return r->n_row > 0 ? DSE_OK
                        : dse_fail_at(err, DSE_BAD_INPUT, r->request->path, 0,
                                      "there is no %s in this file; write one a line, below a header",
                                      r->request->list->name);
}

enum dse_status list_eval(const struct list_request *request, struct text_buffer *out, struct dse_error *err)
{
    struct cell_column column[LIST_OUT_MAX] = {CELL_COLUMN("row", "row", LOOK_COUNT)};
    const struct list_format *list = request->list;
    struct csv_row split;
    struct report report;
    if (list->n_column > LIST_COLUMN_MAX || list->n_out >= LIST_OUT_MAX)
        return dse_fail(err, DSE_INTERNAL, "a list of %ss has too many columns", list->name);
    for (size_t i = 0; i < list->n_out; i++)
        column[i + 1] = list->out[i];
    report_init(&report, "list");
    cells_init(&report.rows, column, list->n_out + 1);
    csv_row_init(&split);
    struct list_run run = {.request = request, .split = &split, .cells = &report.rows};
    enum dse_status status = eval_lines(&run, err);
    if (status == DSE_OK)
        status = report_print(&report, request->format, out, err);
    csv_row_free(&split);
    report_free(&report);
    return status;
}
