/* Of rows that follow: each is compared with the front of those before it; it is dropped, or joins and drives
 * others out. */
#include "dse/status/front_points.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dse/console/not_ok.h"
#include "dse/console/table.h"
#include "results/front/pareto_front.h"
#include "results/journal/journal_read.h"
#include "results/plot/plot.h"

static const char standard[] = "energy_j,latency_s,area_mm2";
enum { STANDARD_NEEDED = 2 };

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the front");
}

enum dse_status front_points_init(struct front_points *front, const char *list, struct dse_error *err)
{
    const char *from = list ? list : standard;
    char word[64];
    memset(front, 0, sizeof *front);
    for (size_t i = 0; plot_metric_word(from, i, word, sizeof word); i++) {
        if (i == FRONT_METRIC_MAX)
            return dse_fail(err, DSE_BAD_USAGE, "--front: more than %d metrics", FRONT_METRIC_MAX);
        DSE_TRY(followed_metric("front", word, &front->metric[i], err));
        for (size_t k = 0; k < i; k++)
            if (front->metric[k] == front->metric[i])
                return dse_fail(err, DSE_BAD_USAGE, "--front: %s is given twice", word);
        front->direction[i] = metric_direction(front->metric[i]);
        front->n_metric++;
    }
    front->n_needed = list ? front->n_metric : STANDARD_NEEDED;
    return DSE_OK;
}

void front_points_clear(struct front_points *front)
{
    for (size_t i = 0; i < front->n; i++)
        free(front->point[i].text);
    front->n = 0;
    front->n_ok = front->n_without = 0;
    free(front->axes);
    free(front->report);
    front->axes = NULL;
    front->report = NULL;
}

void front_points_free(struct front_points *front)
{
    front_points_clear(front);
    free(front->point);
    memset(front, 0, sizeof *front);
}

static void add_pair(struct text_buffer *text, const char *written, const char *read, size_t n_read)
{
    text_append_bytes(text, written, strlen(written) + 1);
    text_append_bytes(text, read, n_read);
    text_append_bytes(text, "", 1);
}

/* The whole as the caller's own; NULL: out of memory. */
static char *end_pairs(struct text_buffer *text)
{
    text_append_bytes(text, "", 1);
    char *kept = text->failed ? NULL : malloc(text->length);
    if (kept)
        memcpy(kept, text->data, text->length);
    text_free(text);
    return kept;
}

/* For each column of axes two texts, each with its terminator: as the table has it, and as people read it. */
static char *texts_of(const struct followed_row *source, const struct csv_row *row, const uint32_t *index)
{
    char buffer[FOLLOWED_LABEL_MAX];
    struct text_buffer text;
    text_init(&text);
    for (size_t c = 0; c < source->n_axis; c++) {
        const char *written = row->field[c];
        const char *read = row == source->header ? written : followed_text(source, row, c, index, buffer);
        size_t n_read = row == source->header ? followed_name_length(source, c) : strlen(read);
        add_pair(&text, written, read, n_read);
    }
    return end_pairs(&text);
}

/* The same of a cell of a cube; UINT64_MAX: the names. */
static char *texts_of_cell(const struct result_schema *schema, uint64_t cell)
{
    uint32_t index[RESULT_AXIS_MAX] = {0};
    struct text_buffer text;
    text_init(&text);
    for (size_t a = schema->n_axis; a-- > 0 && cell != UINT64_MAX;) {
        index[a] = (uint32_t)(cell % schema->axis[a].n_value);
        cell /= schema->axis[a].n_value;
    }
    for (size_t a = 0; a < schema->n_axis; a++)
        for (size_t k = 0; k < schema->axis[a].n_coordinate; k++) {
            const struct result_coordinate *c = &schema->axis[a].coordinate[k];
            char written[FOLLOWED_LABEL_MAX], label[FOLLOWED_LABEL_MAX];
            if (cell == UINT64_MAX) {
                add_pair(&text, c->name, c->name, not_ok_name_length(c));
                continue;
            }
            coordinate_label(c, index[a], label, sizeof label);
            add_pair(&text, coordinate_text(c, index[a], written, sizeof written), label, strlen(label));
        }
    return end_pairs(&text);
}

/* The columns of the report; a window has room for so many. */
static bool make_columns(struct front_points *front)
{
    const char *at = front->axes;
    struct cell_column *column = calloc(2 * front->n_axis + front->n_metric, sizeof *column);
    front->report = column;
    for (size_t c = 0; column && c < front->n_axis; c++) {
        const char *title = at + strlen(at) + 1;
        *column++ = (struct cell_column){.name = at, .look = LOOK_TEXT};
        if (c + front->n_metric < TABLE_COLUMN_MAX)
            *column = (struct cell_column){.title = title, .look = LOOK_COUNT};
        column++;
        at = title + strlen(title) + 1;
    }
    for (size_t m = 0; column && m < front->n_metric; m++) {
        const struct metric *metric = front->metric[m];
        const bool ratio = strcmp(metric->unit, "1") == 0;
        *column++ = (struct cell_column){.name = metric->name,
                                         .title = metric->name,
                                         .look = ratio ? LOOK_DIGITS : LOOK_UNIT,
                                         .digit = 4,
                                         .unit = metric->unit};
    }
    return front->report != NULL;
}

enum dse_status front_points_begin(struct front_points *front, const struct result_schema *schema,
                                   const struct metric *const *metric, const int *direction, size_t n_metric,
                                   struct dse_error *err)
{
    *front = (struct front_points){.n_metric = n_metric, .n_needed = n_metric};
    for (size_t m = 0; m < n_metric; m++) {
        front->metric[m] = metric[m];
        front->direction[m] = direction[m];
    }
    for (size_t a = 0; a < schema->n_axis; a++)
        front->n_axis += schema->axis[a].n_coordinate;
    front->axes = texts_of_cell(schema, UINT64_MAX);
    return front->axes && make_columns(front) ? DSE_OK : no_memory(err);
}

static bool has_axes(const struct front_points *front, const struct followed_row *source)
{
    const char *at = front->axes;
    for (size_t c = 0; c < front->n_axis; c++) {
        if (strcmp(at, source->header->field[c]) != 0)
            return false;
        at += strlen(at) + 1;
        at += strlen(at) + 1;
    }
    return true;
}

enum dse_status front_points_bind(struct front_points *front, const struct followed_row *source,
                                  struct dse_error *err)
{
    size_t column[FRONT_METRIC_MAX];
    for (size_t m = 0; m < front->n_metric; m++) {
        column[m] = csv_column_find(source->header, front->metric[m]->name);
        if (column[m] == source->header->n && m < front->n_needed)
            return dse_fail(err, DSE_BAD_USAGE, "--front: this sweep has no column %s",
                            front->metric[m]->name);
    }
    if (front->axes && !(front->n_axis == source->n_axis && has_axes(front, source) &&
                         memcmp(front->column, column, front->n_metric * sizeof column[0]) == 0))
        return dse_fail(err, DSE_BAD_USAGE, "the outputs are of different sweeps: their columns differ");
    if (front->axes)
        return DSE_OK;
    front->axes = texts_of(source, source->header, NULL);
    front->n_axis = source->n_axis;
    memcpy(front->column, column, front->n_metric * sizeof column[0]);
    return front->axes && make_columns(front) ? DSE_OK : no_memory(err);
}

/* Take from the front what `added` beats; false: it is beaten itself. */
static bool make_room(struct front_points *front, const double *added)
{
    size_t n = 0;
    for (size_t i = 0; i < front->n; i++) {
        const int who = pareto_compare(front->point[i].value, added, front->direction, front->n_metric);
        if (who < 0)
            return false; /* then it beats none, and all are where they were */
        if (who > 0)
            free(front->point[i].text);
        else
            front->point[n++] = front->point[i];
    }
    front->n = n;
    return true;
}

/* Append the point, whose text is owned from here on; NULL: there was no memory for it. */
static enum dse_status keep_point(struct front_points *front, const struct front_point *point,
                                  struct dse_error *err)
{
    if (point->text && front->n == front->capacity) {
        const size_t capacity = front->capacity ? 2 * front->capacity : 64;
        struct front_point *moved = realloc(front->point, capacity * sizeof *moved);
        if (moved) {
            front->point = moved;
            front->capacity = capacity;
        }
    }
    if (!point->text || front->n == front->capacity) {
        free(point->text);
        return no_memory(err);
    }
    front->point[front->n++] = *point;
    return DSE_OK;
}

enum dse_status front_points_add(struct front_points *front, const struct followed_row *source,
                                 const struct csv_row *row, const uint32_t *index, uint64_t order,
                                 struct dse_error *err)
{
    struct front_point point = {.order = order};
    front->n_ok++;
    for (size_t m = 0; m < front->n_metric; m++) {
        const size_t column = front->column[m];
        if (column == row->n || !text_parse_double(row->field[column], &point.value[m]))
            point.value[m] = NAN;
        if (m < front->n_needed && !isfinite(point.value[m])) {
            front->n_without++;
            return DSE_OK;
        }
    }
    if (!make_room(front, point.value))
        return DSE_OK;
    point.text = texts_of(source, row, index);
    return keep_point(front, &point, err);
}

enum dse_status front_points_put(struct front_points *front, const struct result_schema *schema,
                                 uint64_t cell, size_t group, const double *value, struct dse_error *err)
{
    struct front_point point = {.group = group, .order = cell, .text = texts_of_cell(schema, cell)};
    memcpy(point.value, value, front->n_metric * sizeof *value);
    return keep_point(front, &point, err);
}

/* ---------------------------------------- the report */

struct sort_key {
    const struct front_points *front;
    const struct front_point *point;
};

static int compare_keys(const void *a, const void *b)
{
    const struct sort_key *one = a, *two = b;
    if (one->point->group != two->point->group)
        return one->point->group < two->point->group ? -1 : 1;
    for (size_t m = 0; m < one->front->n_metric; m++) {
        const double left = -one->front->direction[m] * one->point->value[m];
        const double right = -one->front->direction[m] * two->point->value[m];
        if (left != right && !(isnan(left) && isnan(right)))
            return isnan(left) ? 1 : isnan(right) || left < right ? -1 : 1;
    }
    return (one->point->order > two->point->order) - (one->point->order < two->point->order);
}

static void add_written(struct cells *rows, const char *written)
{
    uint64_t whole;
    double number;
    if (text_parse_u64(written, &whole) && whole <= INT64_MAX)
        cells_count(rows, whole);
    else if (text_parse_double(written, &number))
        cells_real(rows, number);
    else
        cells_text(rows, written);
}

static void add_row(const struct front_points *front, const struct front_point *point, struct cells *rows)
{
    const char *at = point->text;
    for (size_t c = 0; c < front->n_axis; c++) {
        add_written(rows, at);
        at += strlen(at) + 1;
        cells_text(rows, at);
        at += strlen(at) + 1;
    }
    for (size_t m = 0; m < front->n_metric; m++)
        cells_real(rows, point->value[m]);
}

static void add_foot(const struct front_points *front, struct text_buffer *foot)
{
    text_append(foot, "%zu of %" PRIu64 " points that are ok: none is as good in", front->n, front->n_ok);
    for (size_t m = 0; m < front->n_metric; m++)
        text_append(foot, "%s%s%s", m ? ", " : " ", front->metric[m]->name,
                    front->direction[m] > 0 ? " (the more the better)" : "");
    text_append(foot, " and better in one.\n");
    if (front->n_without)
        text_append(foot, "%" PRIu64 " points lack one of these and are left out.\n", front->n_without);
}

void front_points_report(struct front_points *front, struct report *report)
{
    struct sort_key *key = calloc(front->n + 1, sizeof *key);
    bool optional[FRONT_METRIC_MAX] = {false};
    report_init(report, "front");
    if (!key) {
        report->rows.cell.failed = 1;
        return;
    }
    for (size_t i = 0; i < front->n; i++) {
        key[i] = (struct sort_key){front, &front->point[i]};
        for (size_t m = 0; m < front->n_metric; m++)
            optional[m] = optional[m] || !isnan(front->point[i].value[m]);
    }
    while (front->n_metric > front->n_needed && !optional[front->n_metric - 1])
        front->n_metric--; /* no point has it */
    cells_init(&report->rows, front->report, 2 * front->n_axis + front->n_metric);
    qsort(key, front->n, sizeof *key, compare_keys);
    for (size_t i = 0; i < front->n; i++)
        add_row(front, key[i].point, &report->rows);
    add_foot(front, &report->foot);
    free(key);
}
