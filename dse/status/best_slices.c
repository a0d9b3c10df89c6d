/* A hash table of slices by their axis values as text; a row that is better than its slice's best replaces
 * it. */
#include "dse/status/best_slices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "results/journal/journal_read.h"

enum { SLOT_MIN = 64 };

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the best points");
}

/* ---------------------------------------- names */

enum dse_status best_slices_init(struct best_slices *best, const char *const *by, size_t n_by,
                                 const char *metric, struct dse_error *err)
{
    const struct metric *found;
    memset(best, 0, sizeof *best);
    best->metric = metric;
    if (n_by > BEST_BY_MAX)
        return dse_fail(err, DSE_BAD_USAGE, "--by: more than %d axes", BEST_BY_MAX);
    for (size_t i = 0; i < n_by; i++)
        best->by[best->n_by++] = by[i];
    DSE_TRY(followed_metric("metric", metric, &found, err));
    best->direction = metric_direction(found);
    best->unit = strcmp(found->unit, "1") != 0 ? found->unit : "";
    return DSE_OK;
}

static enum dse_status unknown_axis(const char *name, const struct csv_row *header, size_t n_axis,
                                    struct dse_error *err)
{
    struct text_buffer list;
    char shown[96];
    text_init(&list);
    for (size_t i = 0; i < n_axis; i++)
        text_append(&list, "%s%s", i ? ", " : "", header->field[i]);
    const char *near = text_nearest(name, header->field, n_axis);
    enum dse_status status = dse_fail(err, DSE_BAD_USAGE, "--by %s: no such axis%s%s%s; there are %s",
                                      text_excerpt(name, shown, sizeof shown), near ? " (did you mean " : "",
                                      near ? near : "", near ? "?)" : "", list.length ? list.data : "none");
    text_free(&list);
    return status;
}

enum dse_status best_slices_bind(struct best_slices *best, const struct csv_row *header, size_t n_axis,
                                 struct dse_error *err)
{
    size_t column[BEST_BY_MAX], value = csv_column_find(header, best->metric);
    for (size_t i = 0; i < best->n_by; i++) {
        size_t found = n_axis;
        for (size_t c = n_axis; c-- > 0;)
            if (result_column_is(header->field[c], best->by[i]) &&
                (found == n_axis || strcmp(header->field[found], best->by[i]) != 0))
                found = c;
        if (found == n_axis)
            return unknown_axis(best->by[i], header, n_axis, err);
        column[i] = found;
    }
    if (value == header->n)
        return dse_fail(err, DSE_BAD_USAGE, "--metric %s: this sweep has no such column", best->metric);
    if (best->bound &&
        (value != best->value_column || memcmp(column, best->column, best->n_by * sizeof column[0]) != 0))
        return dse_fail(err, DSE_BAD_USAGE, "the outputs are of different sweeps: their columns differ");
    memcpy(best->column, column, best->n_by * sizeof column[0]);
    best->value_column = value;
    best->bound = true;
    return DSE_OK;
}

/* ---------------------------------------- slices */

void best_slices_clear(struct best_slices *best)
{
    for (size_t i = 0; i < best->n; i++) {
        free(best->slice[i].text);
        free(best->slice[i].place);
    }
    best->n = 0;
    best->n_left_out = 0;
    best->bound = false;
    for (size_t i = 0; i < best->n_slot; i++)
        best->slot[i] = 0;
}

void best_slices_free(struct best_slices *best)
{
    best_slices_clear(best);
    free(best->slice);
    free(best->slot);
    memset(best, 0, sizeof *best);
}

/* Where a slice stands in the table, or the free place where it would. */
static size_t *find_slot(const struct best_slices *best, uint64_t hash)
{
    size_t at = (size_t)hash & (best->n_slot - 1);
    while (best->slot[at] != 0 && best->slice[best->slot[at] - 1].hash != hash)
        at = (at + 1) & (best->n_slot - 1);
    return &best->slot[at];
}

static void fill_slots(struct best_slices *best)
{
    memset(best->slot, 0, best->n_slot * sizeof best->slot[0]);
    for (size_t i = 0; i < best->n; i++)
        *find_slot(best, best->slice[i].hash) = i + 1;
}

/* Twice as many; the table stays at most half full. */
static bool grow(struct best_slices *best)
{
    size_t capacity = best->capacity ? 2 * best->capacity : SLOT_MIN;
    struct best_slice *slice = realloc(best->slice, capacity * sizeof *slice);
    if (!slice)
        return false;
    best->slice = slice;
    size_t *slot = malloc(2 * capacity * sizeof *slot);
    if (!slot)
        return false;
    free(best->slot);
    best->slot = slot;
    best->n_slot = 2 * capacity;
    best->capacity = capacity;
    fill_slots(best);
    return true;
}

/* The text of a buffer, to be freed; NULL when out of memory. */
static char *keep_text(struct text_buffer *text)
{
    char *kept = text->failed || !text->data ? NULL : malloc(text->length + 1);
    if (kept)
        memcpy(kept, text->data, text->length + 1);
    text_free(text);
    return kept;
}

static bool describe(const struct best_slices *best, const struct followed_row *source,
                     const struct csv_row *row, const uint32_t *index, struct best_slice *slice)
{
    char buffer[FOLLOWED_LABEL_MAX];
    struct text_buffer text;
    slice->order = source->schema ? 0 : best->n;
    text_init(&text);
    for (size_t i = 0; i < best->n_by; i++) {
        const char *value = followed_text(source, row, best->column[i], index, buffer);
        text_append_bytes(&text, value, strlen(value) + 1);
        size_t axis = 0;
        if (source->schema && followed_coordinate(source->schema, best->column[i], &axis))
            slice->order = slice->order * source->schema->axis[axis].n_value + index[axis];
    }
    text_append_bytes(&text, "", 1);
    slice->text = keep_text(&text);
    return slice->text != NULL;
}

/* "batch=4 PE.mesh=4x4": what the slice does not say already. */
static char *place_of(const struct best_slices *best, const struct followed_row *source,
                      const struct csv_row *row, const uint32_t *index)
{
    char buffer[FOLLOWED_LABEL_MAX];
    struct text_buffer text;
    text_init(&text);
    text_append_string(&text, "");
    for (size_t c = 0; c < source->n_axis; c++) {
        bool said = false;
        for (size_t i = 0; i < best->n_by; i++)
            said = said || best->column[i] == c;
        if (said)
            continue;
        text_append(&text, "%s%.*s=%s", text.length ? " " : "", (int)followed_name_length(source, c),
                    source->header->field[c], followed_text(source, row, c, index, buffer));
    }
    return keep_text(&text);
}

static uint64_t hash_slice(const struct best_slices *best, const struct csv_row *row)
{
    struct hash_state state;
    hash_begin(&state);
    for (size_t i = 0; i < best->n_by; i++)
        hash_text(&state, row->field[best->column[i]]);
    return hash_end(&state);
}

static enum dse_status find_slice(struct best_slices *best, const struct followed_row *source,
                                  const struct csv_row *row, const uint32_t *index, struct best_slice **found,
                                  struct dse_error *err)
{
    uint64_t hash = hash_slice(best, row);
    *found = NULL;
    if (best->n == best->capacity && !grow(best))
        return no_memory(err);
    size_t *slot = find_slot(best, hash);
    if (*slot == 0 && best->n == BEST_SLICE_MAX)
        return DSE_OK;
    if (*slot == 0) {
        struct best_slice *slice = &best->slice[best->n];
        *slice = (struct best_slice){.hash = hash, .value = NAN};
        if (!describe(best, source, row, index, slice))
            return no_memory(err);
        *slot = ++best->n;
    }
    *found = &best->slice[*slot - 1];
    return DSE_OK;
}

enum dse_status best_slices_add(struct best_slices *best, const struct followed_row *source,
                                const struct csv_row *row, bool ok, const uint32_t *index,
                                struct dse_error *err)
{
    double value;
    struct best_slice *slice;
    DSE_TRY(find_slice(best, source, row, index, &slice, err));
    if (!slice) {
        best->n_left_out++;
        return DSE_OK;
    }
    slice->n++;
    slice->n_ok += ok;
    if (!ok || !text_parse_double(row->field[best->value_column], &value) ||
        !(isnan(slice->value) || best->direction * value > best->direction * slice->value))
        return DSE_OK;
    char *place = place_of(best, source, row, index);
    if (!place)
        return no_memory(err);
    free(slice->place);
    slice->place = place;
    slice->value = value;
    return DSE_OK;
}

static int compare_slices(const void *a, const void *b)
{
    const struct best_slice *left = a, *right = b;
    return (left->order > right->order) - (left->order < right->order);
}

void best_slices_sort(struct best_slices *best)
{
    if (best->n == 0)
        return;
    qsort(best->slice, best->n, sizeof best->slice[0], compare_slices);
    fill_slots(best);
}
