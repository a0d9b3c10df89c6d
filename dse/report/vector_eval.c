/* Reads a CSV of vectors: which columns are the values, what its header says of them, numbers. */
#include "dse/report/vector_eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "results/record/csv_line.h"

const char *const vector_orders_name[VECTOR_ORDERS_COUNT] = {"places", "dims"};

enum { VALUE_MAX = 256 };

/* A file while it is read. */
struct vector_run {
    const struct vector_request *request;
    void *evaluation;
    struct csv_row *split;
    struct cells *rows;
    struct vector_line line;
    double value[VALUE_MAX];
    /* from the header */
    size_t first;    /* column of the first value */
    size_t n_value;  /* 0: all columns from the first on */
    int mode_column; /* -1: none */
    bool is_started; /* the header is past */
};

static enum dse_status fail_line(const struct vector_run *r, struct dse_error *err, const char *text)
{
    return dse_fail_at(err, DSE_BAD_INPUT, r->request->path, r->line.line, "%s", text);
}

/* "62 mapping values (...)" is the name of so many columns of values. */
static void read_header(struct vector_run *r)
{
    for (size_t i = 0; i < r->split->n; i++) {
        const char *name = r->split->field[i];
        char *rest;
        const unsigned long n = strtoul(name, &rest, 10);
        if (strncmp(rest, " mapping values", strlen(" mapping values")) == 0 && n > 0 && n <= VALUE_MAX) {
            r->first = i;
            r->n_value = n;
            if (!r->request->orders && strstr(rest, "dimension indices"))
                r->line.orders = VECTOR_ORDERS_DIMS;
            return;
        }
        if (strcmp(name, "mode") == 0)
            r->mode_column = (int)i;
    }
    r->mode_column = -1;
}

enum dse_status vector_mode_named(const struct vector_format *vectors, const char *name, size_t *mode,
                                  struct dse_error *err)
{
    for (*mode = 0; *mode < vectors->n_mode; ++*mode)
        if (strcmp(vectors->mode[*mode], name) == 0)
            return DSE_OK;
    const char *near = text_nearest(name, vectors->mode, vectors->n_mode);
    return dse_fail(err, DSE_BAD_USAGE, "there is no mode \"%.60s\"%s%s%s; a %s has %s and %s", name,
                    near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "", vectors->name,
                    vectors->mode[0], vectors->mode[vectors->n_mode - 1]);
}

static enum dse_status read_values(struct vector_run *r, struct dse_error *err)
{
    char text[160];
    const struct csv_row *split = r->split;
    size_t end = r->n_value ? r->first + r->n_value : split->n;
    if (r->n_value && split->n < end) {
        snprintf(text, sizeof text, "%zu columns, the header has %zu values from column %zu on", split->n,
                 r->n_value, r->first + 1);
        return fail_line(r, err, text);
    }
    r->line.n = 0;
    for (size_t i = r->first; i < end; i++) {
        double value;
        if (r->line.n == VALUE_MAX) {
            snprintf(text, sizeof text, "%zu values, a %s has at most %zu", split->n - r->first,
                     r->request->vectors->name, r->request->vectors->value_max);
            return fail_line(r, err, text);
        }
        if (!text_parse_double(split->field[i], &value) || !isfinite(value)) {
            snprintf(text, sizeof text, "value %zu, \"%.40s\", is not a number", r->line.n + 1,
                     split->field[i]);
            return fail_line(r, err, text);
        }
        r->value[r->line.n++] = value;
    }
    return DSE_OK;
}

static enum dse_status eval_line(struct vector_run *r, const char *at, size_t length, struct dse_error *err)
{
    struct dse_error why = {0};
    double number;
    enum dse_status status = csv_split(at, length, r->split, &why);
    if (status != DSE_OK)
        return dse_fail_at(err, status, r->request->path, r->line.line, "%s", why.text);
    const bool is_first = !r->is_started;
    r->is_started = true;
    if (is_first && r->split->n > 0 && !text_parse_double(r->split->field[0], &number)) {
        read_header(r);
        return DSE_OK;
    }
    DSE_TRY(read_values(r, err));
    if (!r->request->mode && r->mode_column >= 0) {
        status = vector_mode_named(r->request->vectors, r->split->field[r->mode_column], &r->line.mode, &why);
        if (status != DSE_OK)
            return fail_line(r, err, why.text);
    }
    status = r->request->vectors->row(r->evaluation, &r->line, r->rows, &why);
    return status == DSE_OK ? DSE_OK
                            : dse_fail_at(err, status, r->request->path, r->line.line, "%s", why.text);
}

static enum dse_status eval_lines(struct vector_run *r, struct dse_error *err)
{
    const char *at = r->request->text, *end = at + r->request->length, *line;
    size_t length;
    while ((line = csv_next_line(&at, end, &r->line.line, &length)) != NULL)
        DSE_TRY(eval_line(r, line, length, err));
    return r->rows->n_cell > 0 ? DSE_OK
                               : dse_fail_at(err, DSE_BAD_INPUT, r->request->path, 0,
                                             "there is no vector in this file; write one a line");
}

static enum dse_status choose(struct vector_run *r, struct dse_error *err)
{
    const struct vector_request *request = r->request;
    if (request->mode)
        DSE_TRY(vector_mode_named(request->vectors, request->mode, &r->line.mode, err));
    for (int i = 0; request->orders && i < VECTOR_ORDERS_COUNT; i++)
        if (strcmp(request->orders, vector_orders_name[i]) == 0)
            r->line.orders = (enum vector_orders)i;
    return DSE_OK;
}

enum dse_status vector_eval(const struct vector_request *request, struct text_buffer *out,
                            struct dse_error *err)
{
    struct csv_row split;
    struct report report;
    struct vector_run run = {.request = request, .split = &split, .rows = &report.rows, .mode_column = -1};
    const struct cell_column *column;
    run.line.value = run.value;
    run.line.projection = request->projection;
    DSE_TRY(choose(&run, err));
    DSE_TRY(request->vectors->open(request->arch, &run.evaluation, err));
    report_init(&report, "vectors");
    const size_t n_column = request->vectors->columns(run.evaluation, &column);
    cells_init(&report.rows, column, n_column);
    csv_row_init(&split);
    enum dse_status status = eval_lines(&run, err);
    if (status == DSE_OK)
        status = report_print(&report, request->format, out, err);
    csv_row_free(&split);
    report_free(&report);
    request->vectors->close(run.evaluation);
    return status;
}
