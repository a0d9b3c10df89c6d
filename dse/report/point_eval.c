/* Evaluates a file of mappings, one a line: which accounting, which report, what fits. */
#include "dse/report/point_eval.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/accounting/evaluator.h"

const struct point_format *point_format_of(const char *text, size_t length)
{
    size_t n;
    const struct accounting *const *all = accounting_all(&n);
    for (size_t i = 0; i < n; i++)
        if (all[i]->points && all[i]->points->is(text, length))
            return all[i]->points;
    return NULL;
}

/* The names of the accountings with this notation: "interstellar or interstellar-compat". */
static void list_accountings(const struct point_format *points, struct text_buffer *out)
{
    size_t n;
    const struct accounting *const *all = accounting_all(&n);
    for (size_t i = 0, found = 0; i < n; i++)
        if (all[i]->points == points)
            text_append(out, "%s%s", found++ ? " or " : "", all[i]->name);
}

static enum dse_status choose_accounting(const struct point_request *request,
                                         const struct accounting **chosen, struct dse_error *err)
{
    size_t n;
    const struct accounting *const *all = accounting_all(&n);
    struct text_buffer names;
    struct dse_error ignored;
    *chosen = NULL;
    if (request->accounting)
        DSE_TRY(accounting_named(request->accounting, chosen, err));
    for (size_t i = 0; i < n && !request->accounting; i++)
        if (all[i]->points == request->points && !*chosen &&
            accounting_accepts(all[i], request->arch, &ignored) == DSE_OK)
            *chosen = all[i];
    if (*chosen && (*chosen)->points == request->points)
        return DSE_OK;
    text_init(&names);
    list_accountings(request->points, &names);
    enum dse_status status =
        dse_fail(err, DSE_BAD_USAGE, "%s has a %s on each line, which --accounting %s prices%s%s",
                 request->path, request->points->name, names.data ? names.data : "", *chosen ? "; not " : "",
                 *chosen ? (*chosen)->name : "");
    text_free(&names);
    return status;
}

static enum dse_status choose_report(const struct point_request *request, const struct point_report **chosen,
                                     struct dse_error *err)
{
    const struct point_format *points = request->points;
    struct text_buffer names;
    *chosen = points->report;
    for (size_t i = 0; request->report && i < points->n_report; i++) {
        *chosen = &points->report[i];
        if (strcmp(points->report[i].name, request->report) == 0)
            return DSE_OK;
    }
    if (!request->report)
        return DSE_OK;
    text_init(&names);
    for (size_t i = 0; i < points->n_report; i++)
        text_append(&names, "%s%s", i ? ", " : "", points->report[i].name);
    enum dse_status status = dse_fail(err, DSE_BAD_USAGE, "--report %.60s: a %s has %s", request->report,
                                      points->name, names.data ? names.data : "none");
    text_free(&names);
    return status;
}

/* What is priced although it does not fit: it lacks room, but no iteration. */
static bool lacks_room(enum misfit what)
{
    return what == MISFIT_CAPACITY || what == MISFIT_BANKS || what == MISFIT_UTILIZATION ||
           what == MISFIT_INSTANCES || what == MISFIT_FANOUT;
}

/* Of lines that do not fit so many are told. */
enum { MISFIT_SHOWN_MAX = 20 };

/* The lines of a file, one after the other. */
struct point_run {
    const struct point_request *request;
    const struct evaluator *evaluator;
    struct eval_workspace *workspace;
    const struct point_report *report;
    struct cells *rows;
    struct text_buffer *out, *err_out;
    uint64_t n_misfit; /* lines so far that do not fit */
};

/* Why a mapping does not fit, in the words of its line. */
static void print_misfit(const struct point_request *request, const struct misfit_info *fit, char *why,
                         size_t size)
{
    struct problem named = *request->problem;
    const char *name[PROBLEM_DIM_MAX];
    request->points->name_dims(request->problem, name);
    for (uint32_t d = 0; d < named.n_dim; d++)
        snprintf(named.dim_name[d], sizeof named.dim_name[d], "%s", name[d]);
    misfit_print(fit, &named, request->arch, why, size);
}

static enum dse_status eval_line(struct point_run *r, const char *at, size_t length, int line,
                                 struct dse_error *err)
{
    const struct point_request *request = r->request;
    struct mapping mapping;
    struct evaluation priced;
    char why[512];
    DSE_TRY(request->points->read(at, length, request->path, line, request->problem, request->arch, &mapping,
                                  err));
    const bool fits = evaluator_run(r->evaluator, r->workspace, &mapping, &priced);
    if (!fits) {
        const bool room = lacks_room(priced.fit.what);
        print_misfit(request, &priced.fit, why, sizeof why);
        if (!room || !request->no_fit)
            return dse_fail_at(err, DSE_BAD_INPUT, request->path, line, "the mapping does not fit: %s%s", why,
                               room ? "; --no-fit prices it all the same" : "");
        if (r->n_misfit++ < MISFIT_SHOWN_MAX)
            text_append(r->err_out, "dse: warning: %s:%d: does not fit: %s; priced all the same\n",
                        request->path, line, why);
    }
    if (request->texts.n == 0) {
        r->report->rows(r->evaluator, &mapping, line, fits, r->rows);
        return DSE_OK;
    }
    text_append(r->out, "%s// line %d\n", r->out->length ? "\n" : "", line);
    mapping_texts_write(&request->texts, &mapping, request->problem, request->arch, r->out);
    return DSE_OK;
}

/* Nothing but blanks, or a comment. */
static bool is_empty(const char *at, size_t length)
{
    size_t i = 0;
    while (i < length && (at[i] == ' ' || at[i] == '\t' || at[i] == '\r'))
        i++;
    return i == length || at[i] == '#';
}

static enum dse_status eval_lines(struct point_run *r, struct dse_error *err)
{
    const char *at = r->request->text, *end = at + r->request->length;
    for (int line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop ? stop : end) - at);
        if (!is_empty(at, length))
            DSE_TRY(eval_line(r, at, length, line, err));
        at = stop ? stop + 1 : end;
    }
    if (r->n_misfit > MISFIT_SHOWN_MAX)
        text_append(r->err_out,
                    "dse: warning: %s: and %" PRIu64 " more lines do not fit, priced all the same\n",
                    r->request->path, r->n_misfit - MISFIT_SHOWN_MAX);
    return DSE_OK;
}

enum dse_status point_eval(const struct point_request *request, struct text_buffer *out,
                           struct text_buffer *err_out, struct dse_error *err)
{
    const struct accounting *accounting;
    const struct point_report *kind;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct report report;
    DSE_TRY(choose_accounting(request, &accounting, err));
    DSE_TRY(choose_report(request, &kind, err));
    DSE_TRY(evaluator_new(accounting, request->problem, request->arch, &evaluator, err));
    enum dse_status status = eval_workspace_new(evaluator, &workspace, err);
    if (status == DSE_OK) {
        report_init(&report, kind->name);
        cells_init(&report.rows, kind->column, kind->n_column);
        struct point_run run = {request, evaluator, workspace, kind, &report.rows, out, err_out, 0};
        status = eval_lines(&run, err);
        if (status == DSE_OK)
            status = request->texts.n ? text_check(out, "the output", err)
                                      : report_print(&report, request->format, out, err);
        report_free(&report);
        eval_workspace_delete(workspace);
    }
    evaluator_delete(evaluator);
    return status;
}
