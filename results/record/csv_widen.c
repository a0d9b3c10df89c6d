/* One array says where each of today's columns stood; a line is split, put in order and written again. */
#include "results/record/csv_widen.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "results/record/same_text.h"

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the columns of an earlier version");
}

static size_t find(const struct csv_row *columns, const char *name)
{
    size_t i = 0;
    while (i < columns->n && strcmp(columns->field[i], name) != 0)
        i++;
    return i;
}

/* Fill `from`; false: not the columns of an earlier version. */
static bool match(struct csv_widen *widen, const struct csv_row *columns, const struct csv_row *today)
{
    size_t at = 0, first = find(today, "status") + 1;
    for (size_t i = 0; i < today->n; i++) {
        bool same = at < columns->n && strcmp(columns->field[at], today->field[i]) == 0;
        widen->from[i] = same ? at : SIZE_MAX;
        at += same;
        if (!same && (i < first || i + 2 >= today->n))
            return false;
    }
    return at == columns->n;
}

enum dse_status csv_widen_init(struct csv_widen *widen, const struct csv_row *columns,
                               const struct csv_row *today, struct dse_error *err)
{
    *widen = (struct csv_widen){.n_from = columns->n, .n_to = today->n};
    if (columns->n >= today->n)
        return DSE_OK;
    widen->from = malloc(today->n * sizeof *widen->from);
    if (!widen->from)
        return no_memory(err);
    widen->needed = match(widen, columns, today);
    widen->at_layer = find(today, "layer");
    widen->at_mapping = find(today, "mapping");
    widen->at_same = find(today, "same_as");
    return DSE_OK;
}

void csv_widen_free(struct csv_widen *widen)
{
    free(widen->from);
    *widen = (struct csv_widen){0};
}

enum dse_status csv_widen_row(const struct csv_widen *widen, struct csv_row *row, struct dse_error *err)
{
    if (!widen->needed || row->n != widen->n_from)
        return DSE_OK;
    if (row->capacity < widen->n_to) {
        const char **field = realloc(row->field, widen->n_to * sizeof *field);
        if (!field)
            return no_memory(err);
        row->field = field;
        row->capacity = widen->n_to;
    }
    for (size_t i = widen->n_to;
         i-- > 0;) /* no field goes forward, so none is overwritten before it is read */
        row->field[i] = widen->from[i] == SIZE_MAX ? "" : row->field[widen->from[i]];
    row->n = widen->n_to;
    return DSE_OK;
}

/* The layers of one point, whose mappings are stored once. */
struct point_texts {
    uint64_t key; /* of the point */
    struct same_text same;
    struct arena copies;
};

/* Name the layer that has this line's mapping already, where its version did not. */
static void share_mapping(const struct csv_widen *widen, struct point_texts *texts, struct csv_row *row)
{
    const char **field = row->field;
    uint64_t key;
    if (widen->at_same == widen->n_to || widen->at_mapping == widen->n_to || widen->at_layer == widen->n_to ||
        !csv_key_parse(field[row->n - 2], &key))
        return;
    if (key != texts->key) {
        same_text_clear(&texts->same);
        arena_reset(&texts->copies);
        texts->key = key;
    }
    const char *mapping = field[widen->at_mapping], *layer = field[widen->at_layer];
    const char *text = arena_copy_text(&texts->copies, mapping, strlen(mapping));
    const char *name = arena_copy_text(&texts->copies, layer, strlen(layer));
    const char *first = text && name ? same_text_find(&texts->same, text, name) : NULL;
    if (!first)
        return;
    field[widen->at_same] = first;
    field[widen->at_mapping] = "";
}

static enum dse_status widen_line(const struct csv_widen *widen, struct point_texts *texts,
                                  struct csv_row *row, const char *line, size_t length,
                                  struct text_buffer *to, struct dse_error *err)
{
    size_t start = to->length;
    if (!csv_seal_holds(line, length) || csv_split(line, length, row, NULL) != DSE_OK ||
        row->n != widen->n_from) {
        text_append_bytes(to, line, length + 1);
        return DSE_OK;
    }
    DSE_TRY(csv_widen_row(widen, row, err));
    share_mapping(widen, texts, row);
    for (size_t i = 0; i + 1 < row->n; i++)
        csv_add_text(to, row->field[i]);
    csv_seal(to, start);
    return DSE_OK;
}

enum dse_status csv_widen_lines(const struct csv_widen *widen, const char *bytes, size_t length,
                                struct text_buffer *to, struct dse_error *err)
{
    struct point_texts texts = {0};
    struct csv_row row;
    enum dse_status status = DSE_OK;
    same_text_init(&texts.same);
    arena_init(&texts.copies);
    csv_row_init(&row);
    for (const char *at = bytes, *last = bytes + length; at < last && status == DSE_OK;) {
        const char *end = memchr(at, '\n', (size_t)(last - at));
        if (!end)
            break;
        status = widen_line(widen, &texts, &row, at, (size_t)(end - at), to, err);
        at = end + 1;
    }
    csv_row_free(&row);
    arena_free(&texts.copies);
    same_text_free(&texts.same);
    return status != DSE_OK ? status : to->failed ? no_memory(err) : DSE_OK;
}
