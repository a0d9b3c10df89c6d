/* Per axis a hash table of coordinate texts; a cell is the row-major number of the positions. */
#include "results/record/axis_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* The positions of one axis by the text of their coordinates: each with its terminator, one behind the other,
 * as csv_split leaves the fields of a line. */
struct axis_table {
    struct text_buffer text;
    size_t *end;    /* (n_value) of a position's text; it begins where the one before ends */
    uint32_t *slot; /* (n_slot, a power of two) position + 1; 0 is free */
    size_t n_slot;
};

struct axis_places {
    const struct result_schema *schema;
    size_t n_column;
    struct axis_table axis[RESULT_AXIS_MAX];
};

/* The slot of a text: where it is, or a free one where it would be. */
static uint32_t *find_slot(const struct axis_table *table, const char *text, size_t length)
{
    size_t at = (size_t)hash_of_bytes(text, length) & (table->n_slot - 1);
    for (;; at = (at + 1) & (table->n_slot - 1)) {
        uint32_t i = table->slot[at];
        if (i == 0)
            return &table->slot[at];
        size_t begin = i > 1 ? table->end[i - 2] : 0;
        if (table->end[i - 1] - begin == length && memcmp(table->text.data + begin, text, length) == 0)
            return &table->slot[at];
    }
}

static enum dse_status fill_table(struct axis_table *table, const struct result_axis *axis,
                                  struct dse_error *err)
{
    char buffer[40];
    table->n_slot = 4;
    while (table->n_slot < 2 * axis->n_value)
        table->n_slot *= 2;
    table->slot = calloc(table->n_slot, sizeof *table->slot);
    table->end = calloc(axis->n_value, sizeof *table->end);
    if (!table->slot || !table->end)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for an axis of %zu values", axis->n_value);
    for (size_t i = 0; i < axis->n_value; i++) {
        size_t begin = table->text.length;
        for (size_t k = 0; k < axis->n_coordinate; k++) {
            const char *text = coordinate_text(&axis->coordinate[k], i, buffer, sizeof buffer);
            text_append_bytes(&table->text, text, strlen(text) + 1);
        }
        if (table->text.failed)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for an axis of %zu values", axis->n_value);
        table->end[i] = table->text.length;
        *find_slot(table, table->text.data + begin, table->text.length - begin) = (uint32_t)i + 1;
    }
    return DSE_OK;
}

enum dse_status axis_places_new(const struct result_schema *schema, struct axis_places **out,
                                struct dse_error *err)
{
    struct axis_places *places = calloc(1, sizeof *places);
    *out = NULL;
    if (!places)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the axes");
    places->schema = schema;
    enum dse_status status = DSE_OK;
    for (size_t a = 0; a < schema->n_axis && status == DSE_OK; a++) {
        text_init(&places->axis[a].text);
        places->n_column += schema->axis[a].n_coordinate;
        status = fill_table(&places->axis[a], &schema->axis[a], err);
    }
    if (status != DSE_OK)
        axis_places_free(places);
    else
        *out = places;
    return status;
}

void axis_places_free(struct axis_places *places)
{
    if (!places)
        return;
    for (size_t a = 0; a < RESULT_AXIS_MAX; a++) {
        text_free(&places->axis[a].text);
        free(places->axis[a].end);
        free(places->axis[a].slot);
    }
    free(places);
}

bool axis_places_find(const struct axis_places *places, const struct csv_row *row, uint32_t *index,
                      uint64_t *cell)
{
    const struct result_schema *schema = places->schema;
    *cell = 0;
    if (row->n <= places->n_column)
        return false;
    for (size_t a = 0, column = 0; a < schema->n_axis; a++) {
        const char *begin = row->field[column];
        column += schema->axis[a].n_coordinate;
        uint32_t i = *find_slot(&places->axis[a], begin, (size_t)(row->field[column] - begin));
        if (i == 0)
            return false;
        index[a] = i - 1;
        *cell = *cell * schema->axis[a].n_value + index[a];
    }
    return true;
}
