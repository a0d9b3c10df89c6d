/* Parses "evaluation:cost" texts and their seconds into a scratch file and keeps the longest; at the end
 * they are read back into datasets of that length. */
#include "results/cube/cube_trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "results/cube/cube_column.h"
#include "results/journal/scratch_file.h"

enum { LAYER = 1, ITERATION = 2 }; /* bits of the group's own dimensions */

static const struct metric cost_metric = {
    .name = "cost", .unit = "", .sentence = "Best cost so far, in the SI unit of the objective"};
static const struct metric evaluation_metric = {
    .name = "evaluation", .unit = "1", .sentence = "Evaluations when the best was found", .type = METRIC_U64};
static const struct metric seconds_metric = {.name = "seconds",
                                             .unit = "s",
                                             .sentence = "Processor time when the best was found",
                                             .type = METRIC_F64,
                                             .is_time = true};

/* The datasets of the group. */
enum { EVALUATION, COST, SECONDS, N_DATASET };
static const struct metric *const dataset[N_DATASET] = {&evaluation_metric, &cost_metric, &seconds_metric};

/* What stands before the steps of a trace in the scratch file. */
struct trace_head {
    uint64_t cell, layer, n;
};

void cube_trace_init(struct cube_trace *trace, const struct result_schema *schema, const char *near)
{
    *trace = (struct cube_trace){.schema = schema, .near = near};
}

void cube_trace_free(struct cube_trace *trace)
{
    if (trace->file)
        fclose(trace->file);
    free(trace->step);
    *trace = (struct cube_trace){0};
}

static enum dse_status fail_io(const struct cube_trace *trace, struct dse_error *err)
{
    return dse_fail_at(err, DSE_IO, trace->near, 0, "the temporary file beside it: %s",
                       strerror(errno ? errno : EIO));
}

static enum dse_status fail_seconds(const char *text, struct dse_error *err)
{
    char excerpt[64];
    return dse_fail(err, DSE_BAD_INPUT,
                    "trace_seconds is '%s', a number for each step of the trace was expected",
                    text_excerpt(text, excerpt, sizeof excerpt));
}

static enum dse_status fail_trace(const char *text, struct dse_error *err)
{
    char excerpt[64];
    return dse_fail(err, DSE_BAD_INPUT, "trace is '%s', 'evaluation:cost evaluation:cost ...' was expected",
                    text_excerpt(text, excerpt, sizeof excerpt));
}

static enum dse_status grow(struct cube_trace *trace, size_t n, struct dse_error *err)
{
    struct cube_trace_step *step = array_grow(trace->step, n, &trace->capacity, sizeof *step);
    if (!step)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a trace of %zu steps", n);
    trace->step = step;
    return DSE_OK;
}

/* "12:0.5": one step, from `text` up to a blank or the end, which is where `*end` is put; 0 when it reads
 * otherwise. */
static int parse_step(const char *text, const char **end, struct cube_trace_step *step)
{
    char number[64];
    size_t length = strcspn(text, " "), colon = strcspn(text, ":");
    if (length >= sizeof number || colon >= length)
        return 0;
    memcpy(number, text, length);
    number[colon] = number[length] = '\0';
    *end = text + length;
    return text_parse_u64(number, &step->evaluation) && text_parse_double(number + colon + 1, &step->cost);
}

/* The seconds of the steps (n); NaN where there are none. */
static enum dse_status parse_seconds(const char *text, struct cube_trace_step *step, size_t n,
                                     struct dse_error *err)
{
    char number[64];
    const char *at = text;
    for (size_t i = 0; i < n; i++) {
        const size_t length = strcspn(at, " ");
        step[i].seconds = NAN;
        if (!text[0])
            continue;
        if (length == 0 || length >= sizeof number)
            return fail_seconds(text, err);
        memcpy(number, at, length);
        number[length] = '\0';
        if (!text_parse_double(number, &step[i].seconds))
            return fail_seconds(text, err);
        at += length + (at[length] == ' ');
    }
    return *at && text[0] ? fail_seconds(text, err) : DSE_OK;
}

enum dse_status cube_trace_take(struct cube_trace *trace, uint64_t cell, size_t layer, const char *text,
                                const char *seconds, struct dse_error *err)
{
    struct trace_head head = {cell, layer, 0};
    if (!text[0])
        return DSE_OK;
    for (const char *at = text; *at; at += *at == ' ') {
        DSE_TRY(grow(trace, (size_t)head.n + 1, err));
        if (!parse_step(at, &at, &trace->step[head.n++]))
            return fail_trace(text, err);
    }
    DSE_TRY(parse_seconds(seconds, trace->step, (size_t)head.n, err));
    if (!trace->file)
        DSE_TRY(scratch_file_open(trace->near, &trace->file, err));
    errno = 0;
    if (fwrite(&head, sizeof head, 1, trace->file) != 1 ||
        fwrite(trace->step, sizeof *trace->step, (size_t)head.n, trace->file) != head.n)
        return fail_io(trace, err);
    trace->n++;
    trace->n_iteration = head.n > trace->n_iteration ? (size_t)head.n : trace->n_iteration;
    return DSE_OK;
}

/* The next trace of the scratch file into the datasets. */
static enum dse_status write_next(struct cube_trace *trace, struct cube_column *column, struct dse_error *err)
{
    struct trace_head head;
    errno = 0;
    if (fread(&head, sizeof head, 1, trace->file) != 1 || head.n > trace->capacity ||
        fread(trace->step, sizeof *trace->step, (size_t)head.n, trace->file) != head.n)
        return fail_io(trace, err);
    uint64_t *evaluation = cube_column_cell(&column[EVALUATION], head.cell);
    double *cost = cube_column_cell(&column[COST], head.cell);
    double *seconds = cube_column_cell(&column[SECONDS], head.cell);
    if (!evaluation || !cost || !seconds)
        return dse_fail(err, DSE_IO, "the traces cannot be written");
    for (size_t i = 0, at = (size_t)head.layer * trace->n_iteration; i < head.n; i++, at++) {
        evaluation[at] = trace->step[i].evaluation;
        cost[at] = trace->step[i].cost;
        seconds[at] = trace->step[i].seconds;
    }
    return DSE_OK;
}

static int open_group(const struct cube_trace *trace, hid_t file, struct cube_group *group,
                      struct cube_column *column)
{
    const struct result_schema *schema = trace->schema;
    if (cube_group_begin(group, file, "trace", schema) < 0 ||
        cube_group_extra(group, 0, "layer", "Layer", schema->layer, schema->n_layer) < 0 ||
        cube_group_extra(group, 1, "iteration", "Improvement of the best, counted", NULL,
                         trace->n_iteration) < 0)
        return -1;
    for (int i = 0; i < N_DATASET; i++)
        if (cube_column_open(&column[i], group, dataset[i]->name, LAYER | ITERATION, dataset[i]) < 0)
            return -1;
    return 0;
}

enum dse_status cube_trace_write(struct cube_trace *trace, hid_t file, struct dse_error *err)
{
    struct cube_group group = {.id = -1, .extra = {-1, -1}};
    struct cube_column column[N_DATASET] = {0};
    enum dse_status status = DSE_OK;
    int result = 0;
    if (trace->n == 0)
        return DSE_OK;
    errno = 0;
    if (fseeko(trace->file, 0, SEEK_SET) != 0)
        return fail_io(trace, err);
    if (open_group(trace, file, &group, column) < 0)
        status = dse_fail(err, DSE_IO, "the group of the traces cannot be written");
    for (uint64_t i = 0; i < trace->n && status == DSE_OK; i++)
        status = write_next(trace, column, err);
    for (int i = 0; i < N_DATASET; i++)
        result |= cube_column_close(&column[i], status == DSE_OK);
    result |= cube_group_end(&group);
    if (status == DSE_OK && result < 0)
        status = dse_fail(err, DSE_IO, "the traces cannot be written");
    return status;
}
