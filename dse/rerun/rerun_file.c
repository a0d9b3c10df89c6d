/* Opens the file as a sweep, says what has changed since (program, libraries), and checks that specification,
 * hash and axes agree with the file's own attributes. Rows are compared column by column by their tables; a
 * difference becomes a line with column, old and new value, and of long texts only the piece that differs. */
#include "dse/rerun/rerun_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/cube/cube_read.h"

/* ---------------------------------------- comparing */

enum { SHOWN_MAX = 64, CONTEXT = 12, COMPARE_LINE_MAX = 20 };

static char one_line(char c)
{
    return c == '\n' || c == '\r' ? ' ' : c;
}

/* As the tables keep texts: line breaks are spaces, and nothing is the empty text. */
static bool same_text(const char *a, const char *b)
{
    while (*a && one_line(*a) == one_line(*b)) {
        a++;
        b++;
    }
    return *a == '\0' && *b == '\0';
}

/* All NaN are missing values. */
static bool same_double(double a, double b)
{
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y || (isnan(a) && isnan(b));
}

/* What is shown of two texts: from a little before the first difference. */
static size_t first_shown(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && one_line(a[i]) == one_line(b[i]))
        i++;
    return i > SHOWN_MAX - CONTEXT ? i - CONTEXT : 0;
}

static void show_text(const char *text, size_t from, char *shown, size_t size)
{
    char part[SHOWN_MAX + 4];
    if (!text[0])
        text_copy(shown, size, "nothing");
    else
        snprintf(shown, size, "'%s%s'", from ? "..." : "",
                 text_excerpt(text + (strlen(text) > from ? from : strlen(text)), part, sizeof part));
}

static void say(struct comparison *c, const char *where, const char *column, const char *was, const char *is)
{
    c->n_different++;
    if (c->n_different <= COMPARE_LINE_MAX)
        text_append(c->lines, "%s%s%s: file %s, now %s\n", where, where[0] ? " " : "", column, was, is);
}

static void compare_texts(struct comparison *c, const char *where, const char *column, const char *was,
                          const char *is)
{
    char a[SHOWN_MAX + 16], b[SHOWN_MAX + 16];
    was = was ? was : "";
    is = is ? is : "";
    c->n_compared += was[0] || is[0];
    if (same_text(was, is))
        return;
    size_t from = first_shown(was, is);
    show_text(was, from, a, sizeof a);
    show_text(is, from, b, sizeof b);
    say(c, where, column, a, b);
}

static void compare_doubles(struct comparison *c, const char *where, const char *column, double was,
                            double is)
{
    char a[40], b[40];
    c->n_compared += !isnan(was) || !isnan(is);
    if (!same_double(was, is))
        say(c, where, column, isnan(was) ? "nothing" : text_double(was, a, sizeof a),
            isnan(is) ? "nothing" : text_double(is, b, sizeof b));
}

static void compare_counts(struct comparison *c, const char *where, const char *column, uint64_t was,
                           uint64_t is)
{
    char a[24], b[24];
    c->n_compared += was != METRIC_U64_MISSING || is != METRIC_U64_MISSING;
    if (was == is)
        return;
    snprintf(a, sizeof a, "%" PRIu64, was);
    snprintf(b, sizeof b, "%" PRIu64, is);
    say(c, where, column, was == METRIC_U64_MISSING ? "nothing" : a,
        is == METRIC_U64_MISSING ? "nothing" : b);
}

static void compare_values(struct comparison *c, const char *where, const struct metric *metric,
                           const void *was, const void *is)
{
    if (metric->type == METRIC_F64)
        compare_doubles(c, where, metric->name, *(const double *)was, *(const double *)is);
    else if (metric->type == METRIC_U64)
        compare_counts(c, where, metric->name, *(const uint64_t *)was, *(const uint64_t *)is);
    else
        compare_texts(c, where, metric->name, *(const char *const *)was, *(const char *const *)is);
}

/* All columns of the program that the file has, too, but times. Traces are a group of their own in the file,
 * which is there when any search has one. */
static void compare_records(struct comparison *c, const char *where, enum result_table table, const void *was,
                            const void *is)
{
    struct result_column column[RESULT_COLUMN_MAX];
    for (size_t i = 0, n = schema_columns(c->now, table, column); i < n; i++) {
        const struct metric *metric = column[i].metric;
        const struct result_column *stored = stored_rows_column(c->rows, table, metric->name);
        if (!stored && strcmp(metric->name, "trace") == 0)
            stored = &column[i];
        if (stored && !metric->is_time && stored->metric->type == metric->type)
            compare_values(c, where, metric, (const char *)was + stored->offset,
                           (const char *)is + column[i].offset);
    }
}

static size_t find_name(const char *const *name, size_t n, const char *wanted)
{
    size_t i = 0;
    while (i < n && strcmp(name[i], wanted) != 0)
        i++;
    return i;
}

/* The level columns of one row; NULL: all missing. */
static void compare_levels(struct comparison *c, const char *where, const struct level_values *was,
                           const struct level_values *is)
{
    static const struct level_values none = LEVEL_VALUES_NONE;
    size_t n_metric;
    const struct metric *metric = schema_level_metrics(c->stored, &n_metric);
    for (size_t l = 0; l < c->stored->n_level; l++) {
        char column[256];
        const char *name = c->stored->level[l];
        size_t k = find_name(c->now->level, c->now->n_level, name);
        const struct level_values *a = was ? &was[l] : &none;
        const struct level_values *b = is && k < c->now->n_level ? &is[k] : &none;
        for (size_t f = 0; f < n_metric; f++) {
            snprintf(column, sizeof column, "%.200s.%s", name, metric[f].name);
            compare_doubles(c, where, column, *(const double *)((const char *)a + metric[f].offset),
                            *(const double *)((const char *)b + metric[f].offset));
        }
    }
}

static void compare_layer(struct comparison *c, const struct stored_point *was, size_t l,
                          const struct layer_record *is)
{
    char where[200];
    snprintf(where, sizeof where, "layer %.180s", c->stored->layer[l]);
    compare_texts(c, where, "status", was->layer_status[l], is ? result_status_text(is->outcome) : "");
    if (!is || !was->layer_status[l][0])
        return;
    compare_records(c, where, RESULT_LAYERS, &was->layer[l], is);
    compare_levels(c, where, was->layer[l].level, is->level);
}

/* A file without keys (0) is as good. */
static void compare_keys(struct comparison *c, uint64_t was, uint64_t is)
{
    char a[24], b[24];
    snprintf(a, sizeof a, "%016" PRIx64, was);
    snprintf(b, sizeof b, "%016" PRIx64, is);
    if (was && c->keys)
        compare_texts(c, "", "point_key", a, b);
}

void compare_point(struct comparison *c, const struct stored_point *was, const struct point_record *point,
                   const struct layer_record *layer, size_t n_layer)
{
    compare_texts(c, "", "status", was->status, result_status_text(point->outcome));
    compare_keys(c, was->point.key, point->key);
    compare_records(c, "", RESULT_POINTS, &was->point, point);
    compare_levels(c, "", was->point.level, point->level);
    for (size_t l = 0; l < c->stored->n_layer; l++) {
        const struct layer_record *same = NULL;
        for (size_t i = 0; i < n_layer && !same; i++)
            if (strcmp(layer[i].layer, c->stored->layer[l]) == 0)
                same = &layer[i];
        compare_layer(c, was, l, same);
    }
    for (size_t i = 0; i < n_layer; i++)
        if (find_name(c->stored->layer, c->stored->n_layer, layer[i].layer) == c->stored->n_layer)
            compare_texts(c, "layer", layer[i].layer, "", result_status_text(layer[i].outcome));
    if (c->n_different > COMPARE_LINE_MAX)
        text_append(c->lines, "and %zu more\n", c->n_different - COMPARE_LINE_MAX);
}

static void compare_coordinate(struct comparison *c, const struct result_coordinate *was,
                               const struct result_coordinate *is, size_t n)
{
    char where[160], a[40], b[40];
    compare_texts(c, "axis", is->name, was->name, is->name);
    for (size_t i = 0; i < n; i++) {
        snprintf(where, sizeof where, "axis %.128s, value", is->name);
        char number[24];
        snprintf(number, sizeof number, "%zu", i + 1);
        if (was->number && is->number)
            compare_doubles(c, where, number, was->number[i], is->number[i]);
        else
            compare_texts(c, where, number, coordinate_text(was, i, a, sizeof a),
                          coordinate_text(is, i, b, sizeof b));
    }
}

/* Compare names and values of the axes of the two schemas. Returns false when their lengths differ, so that
 * no cell can be found. */
static bool compare_axes(struct comparison *c)
{
    if (c->stored->n_axis != c->now->n_axis)
        return false;
    for (size_t a = 0; a < c->now->n_axis; a++)
        if (c->stored->axis[a].n_value != c->now->axis[a].n_value ||
            c->stored->axis[a].n_coordinate != c->now->axis[a].n_coordinate)
            return false;
    for (size_t a = 0; a < c->now->n_axis; a++)
        for (size_t k = 0; k < c->now->axis[a].n_coordinate; k++)
            compare_coordinate(c, &c->stored->axis[a].coordinate[k], &c->now->axis[a].coordinate[k],
                               c->now->axis[a].n_value);
    return true;
}

static bool is_clock(const char *stop, enum result_status outcome)
{
    return outcome == RESULT_TIMEOUT || (stop && strcmp(stop, "max_seconds") == 0);
}

bool compare_is_timed(const struct point_record *point, const struct layer_record *layer,
                      const char *const *status, size_t n)
{
    bool timed = is_clock(point->stop, point->outcome);
    for (size_t i = 0; i < n && !timed; i++)
        timed = !(status && !status[i][0]) && is_clock(layer[i].stop, layer[i].outcome);
    return timed;
}

/* ---------------------------------------- the file */

enum dse_status rerun_file_open(const char *h5, struct rerun_file *file, struct dse_error *err)
{
    file->h5 = h5;
    arena_init(&file->arena);
    DSE_TRY(cube_read_schema(h5, &file->arena, &file->stored, err));
    DSE_TRY(cube_read_inputs(h5, &file->arena, &file->stored, &file->made_by, err));
    if (file->stored.n_input == 0)
        return dse_fail_at(
            err, DSE_BAD_INPUT, h5, 0,
            "does not hold what it was computed from: the group `inputs`, with the specification and the "
            "architecture and network files, is missing (written by dse %s%s%s%s). Run its specification "
            "anew "
            "(--fresh, or another -o) for a file that can be computed again",
            file->made_by.dse_version[0] ? file->made_by.dse_version : "of unknown version",
            file->made_by.git_revision[0] ? " (" : "", file->made_by.git_revision,
            file->made_by.git_revision[0] ? ")" : "");
    DSE_TRY(spec_replay(&file->spec, &file->stored, h5, err));
    DSE_TRY(sweep_init(&file->sweep, &file->spec, err));
    return stored_rows_open(h5, &file->stored, &file->rows, err);
}

static void note(struct rerun_file *file, FILE *out, const char *what, const char *was, const char *is)
{
    if (strcmp(was, is) == 0)
        return;
    fprintf(out, "note: %s: file %s, this program %s\n", what, was[0] ? was : "does not say", is);
    file->is_other_program = file->is_other_program || was[0];
}

void rerun_file_note(struct rerun_file *file, FILE *out)
{
    struct provenance here;
    const struct provenance *was = &file->made_by;
    provenance_make(&here);
    note(file, out, "version", was->dse_version, here.dse_version);
    note(file, out, "git revision", was->git_revision, here.git_revision);
    note(file, out, "compiler", was->compiler, here.compiler);
    note(file, out, "build variant", was->build_variant, here.build_variant);
    note(file, out, "compiler flags", was->build_flags, here.build_flags);
    note(file, out, "libraries", was->libraries, here.libraries);
}

enum dse_status rerun_file_check(struct rerun_file *file, FILE *out, size_t *n_different,
                                 struct dse_error *err)
{
    struct text_buffer lines;
    struct comparison c = {
        .rows = file->rows, .stored = &file->stored, .now = &file->sweep.schema, .lines = &lines};
    if (file->sweep.schema.specification_hash != file->stored.specification_hash) {
        fprintf(out,
                "specification_hash: file %016" PRIx64 ", now %016" PRIx64
                ": the specification or an input in the file is not the one it was computed from\n",
                file->stored.specification_hash, file->sweep.schema.specification_hash);
        ++*n_different;
    }
    if (strcmp(file->stored.specification, file->spec.text) != 0) {
        fprintf(out, "specification: the attribute and the input of that role differ\n");
        ++*n_different;
    }
    text_init(&lines);
    bool same_shape = compare_axes(&c);
    *n_different += c.n_different;
    if (lines.data)
        fputs(lines.data, out);
    text_free(&lines);
    if (!same_shape)
        return dse_fail_at(err, DSE_BAD_INPUT, file->h5, 0,
                           "its axes are not those of the specification that it holds");
    return DSE_OK;
}

enum dse_status rerun_file_points(const struct rerun_file *file, bool **there, struct dse_error *err)
{
    struct arena arena;
    double *n_layer;
    size_t n;
    *there = calloc(file->sweep.n_point + 1, sizeof **there);
    if (!*there)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the points");
    arena_init(&arena);
    enum dse_status status = cube_read_number(file->h5, "n_layer", &arena, &n_layer, &n, err);
    for (size_t p = 0; status == DSE_OK && p < file->sweep.n_point; p++) {
        uint32_t index[SPEC_VARIABLE_MAX];
        uint64_t cell = 0;
        sweep_index(&file->sweep, p, index);
        for (size_t d = 0; d < file->stored.n_axis; d++)
            cell = cell * file->stored.axis[d].n_value + index[d];
        (*there)[p] = cell < n && !isnan(n_layer[cell]);
    }
    arena_free(&arena);
    if (status != DSE_OK) {
        free(*there);
        *there = NULL;
    }
    return status;
}

void rerun_file_close(struct rerun_file *file)
{
    stored_rows_close(file->rows);
    sweep_free(&file->sweep);
    spec_free(&file->spec);
    arena_free(&file->arena);
}
