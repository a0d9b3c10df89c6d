/* The answers as rows for programs; for people columns of engines that answer alike, with reasons as
 * footnotes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dse/console/reason_groups.h"
#include "dse/console/table.h"
#include "dse/report/engine_matrix.h"

enum { LINE_WIDTH = 110, MARK_OK = 0 };

/* The marks of all answers, and which engines share a column. */
struct marks {
    const struct engine_matrix *matrix;
    struct reason_groups *reasons;
    size_t *mark;   /* (n_engine, n_case) MARK_OK, or 1 + the place of the reason's group */
    size_t *column; /* (n_engine) */
    size_t n_column;
};

static const struct engine_matrix_answer *answer_of(const struct engine_matrix *matrix, size_t e, size_t c)
{
    return &matrix->answer[e * matrix->n_case + c];
}

static bool answer_alike(const struct marks *m, size_t a, size_t b)
{
    const size_t n = m->matrix->n_case;
    return memcmp(m->mark + a * n, m->mark + b * n, n * sizeof *m->mark) == 0;
}

static void group_engines(struct marks *m)
{
    for (size_t e = 0; e < m->matrix->n_engine; e++) {
        size_t before = 0;
        while (before < e && !answer_alike(m, before, e))
            before++;
        m->column[e] = before < e ? m->column[before] : m->n_column++;
    }
}

static enum dse_status mark_all(const struct engine_matrix *matrix, struct marks *m, struct dse_error *err)
{
    const size_t n = matrix->n_engine * matrix->n_case;
    *m = (struct marks){.matrix = matrix,
                        .reasons = calloc(1, sizeof *m->reasons),
                        .mark = calloc(n + 1, sizeof *m->mark),
                        .column = calloc(matrix->n_engine + 1, sizeof *m->column)};
    if (!m->reasons || !m->mark || !m->column)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a matrix");
    for (size_t i = 0; i < n; i++)
        if (matrix->answer[i].reason)
            (void)reason_groups_add(m->reasons, RESULT_FAILED, matrix->answer[i].reason, i);
    reason_groups_sort(m->reasons);
    for (size_t i = 0; i < n; i++) {
        const struct engine_matrix_answer *answer = &matrix->answer[i];
        const struct reason_group *group =
            answer->reason ? reason_groups_find(m->reasons, RESULT_FAILED, answer->reason) : NULL;
        const size_t rest = m->reasons->n; /* one that made room */
        m->mark[i] = answer->reason ? 1 + (group ? (size_t)(group - m->reasons->group) : rest) : MARK_OK;
    }
    group_engines(m);
    return DSE_OK;
}

static void free_marks(struct marks *m)
{
    free(m->reasons);
    free(m->mark);
    free(m->column);
}

/* "a", "b", ..., "z", "a1", ... */
static const char *column_name(size_t column, char *text, size_t size)
{
    char number[24] = "";
    if (column >= 26)
        snprintf(number, sizeof number, "%zu", column / 26);
    snprintf(text, size, "%c%s", (char)('a' + column % 26), number);
    return text;
}

/* The engines of a column, in lines. */
static void print_engines(const struct marks *m, size_t column, const char *lead, struct text_buffer *out)
{
    size_t width = strlen(lead);
    bool any = false;
    text_append(out, "%s", lead);
    for (size_t e = 0; e < m->matrix->n_engine; e++) {
        const char *name = m->matrix->engine[e]->name;
        if (m->column[e] != column)
            continue;
        if (any && width + strlen(name) + 2 > LINE_WIDTH) {
            text_append(out, ",\n%*s%s", (int)strlen(lead), "", name);
            width = strlen(lead) + strlen(name);
        } else {
            text_append(out, "%s%s", any ? ", " : "", name);
            width += strlen(name) + (any ? 2 : 0);
        }
        any = true;
    }
    text_append(out, "\n");
}

static size_t engine_of_column(const struct marks *m, size_t column)
{
    size_t e = 0;
    while (m->column[e] != column)
        e++;
    return e;
}

/* One question: who takes it, and who does not for which reason. */
static void print_single(const struct marks *m, struct text_buffer *out)
{
    const struct engine_matrix_case *question = &m->matrix->question[0];
    text_append(out, "%s%s%s\n", question->architecture, question->network ? ", " : "",
                question->network ? question->network : "");
    for (size_t column = 0; column < m->n_column; column++) {
        const char *reason = answer_of(m->matrix, engine_of_column(m, column), 0)->reason;
        print_engines(m, column, reason ? "  refused  " : "  ok       ", out);
        if (reason)
            text_append(out, "%*s%s\n", (int)strlen("  refused  "), "", reason);
    }
}

/* The questions from `first` on that have a network or not, as the first of them; returns how many. */
static size_t print_block(const struct marks *m, size_t first, struct text_buffer *out)
{
    const struct engine_matrix *matrix = m->matrix;
    const bool of_network = matrix->question[first].network, anywhere = !matrix->question[first].architecture;
    const char *header[TABLE_COLUMN_MAX];
    char name[TABLE_COLUMN_MAX][8];
    size_t n_header = 0, c = first;
    struct table table;
    if (!anywhere)
        header[n_header++] = "machine";
    if (of_network)
        header[n_header++] = anywhere ? "network, on any machine" : "network";
    const size_t n_name = n_header;
    for (size_t i = 0; i < m->n_column && n_header < TABLE_COLUMN_MAX; i++, n_header++)
        header[n_header] = column_name(i, name[i], sizeof name[i]);
    table_init(&table, header, n_header, ~0u);
    for (; c < matrix->n_case && !matrix->question[c].network == !of_network; c++) {
        if (!anywhere)
            table_cell(&table, "%s", matrix->question[c].architecture);
        if (of_network)
            table_cell(&table, "%s", matrix->question[c].network);
        for (size_t i = n_name; i < n_header; i++) {
            const size_t mark = m->mark[engine_of_column(m, i - n_name) * matrix->n_case + c];
            if (mark == MARK_OK)
                table_cell(&table, "ok");
            else
                table_cell(&table, "%zu", mark);
        }
    }
    table_print(&table, out);
    table_free(&table);
    return c - first;
}

static void print_people(const struct marks *m, struct text_buffer *out)
{
    char name[24], lead[32];
    if (m->matrix->n_case == 1) {
        print_single(m, out);
        return;
    }
    for (size_t column = 0; column < m->n_column; column++) {
        snprintf(lead, sizeof lead, "%-3s ", column_name(column, name, sizeof name));
        print_engines(m, column, lead, out);
    }
    for (size_t c = 0; c < m->matrix->n_case;) {
        text_append(out, "\n");
        c += print_block(m, c, out);
    }
    text_append(out, m->reasons->n ? "\n" : "");
    for (size_t i = 0; i < m->reasons->n; i++) {
        text_append(out, "%2zu  ", i + 1);
        reason_group_text(&m->reasons->group[i], out);
        text_append(out, "\n");
    }
    if (m->reasons->n_other)
        text_append(out, "%2zu  other reasons: --format csv has them\n", m->reasons->n + 1);
}

static const struct cell_column column[] = {
    CELL_COLUMN("engine", "engine", LOOK_TEXT),   CELL_COLUMN("architecture", "machine", LOOK_TEXT),
    CELL_COLUMN("network", "network", LOOK_TEXT), CELL_COLUMN("any_architecture", NULL, LOOK_TEXT),
    CELL_COLUMN("status", "status", LOOK_TEXT),   CELL_COLUMN("reason", "reason", LOOK_TEXT),
};

static enum dse_status print_programs(const struct engine_matrix *matrix, enum report_format format,
                                      struct text_buffer *out, struct dse_error *err)
{
    struct report report;
    report_init(&report, "matrix");
    cells_init(&report.rows, column, sizeof column / sizeof column[0]);
    for (size_t e = 0; e < matrix->n_engine; e++)
        for (size_t c = 0; c < matrix->n_case; c++) {
            const struct engine_matrix_answer *answer = answer_of(matrix, e, c);
            cells_text(&report.rows, matrix->engine[e]->name);
            cells_text(&report.rows, answer->architecture);
            cells_text(&report.rows, matrix->question[c].network);
            cells_switch(&report.rows, !matrix->question[c].architecture);
            cells_text(&report.rows, answer->reason ? "refused" : "ok");
            cells_text(&report.rows, answer->reason);
        }
    const enum dse_status status = report_print(&report, format, out, err);
    report_free(&report);
    return status;
}

enum dse_status engine_matrix_print(const struct engine_matrix *matrix, enum report_format format,
                                    struct text_buffer *out, struct dse_error *err)
{
    struct marks marks;
    if (format != REPORT_TABLE)
        return print_programs(matrix, format, out, err);
    enum dse_status status = mark_all(matrix, &marks, err);
    if (status == DSE_OK)
        print_people(&marks, out);
    free_marks(&marks);
    return status == DSE_OK ? text_check(out, "a matrix", err) : status;
}
