/* A map from CSV columns to datasets, made once; a line is then parsed field by field into their cells. */
#include "results/cube/cube_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the cube");
}

enum dse_status cube_table_init(struct cube_table *table, const struct text_buffer *header, size_t n_position,
                                struct dse_error *err)
{
    memset(table, 0, sizeof *table);
    csv_row_init(&table->header);
    table->n_position = n_position;
    if (header->failed)
        return no_memory(err);
    DSE_TRY(csv_split(header->data, header->length - 1, &table->header, err));
    /* Each CSV column goes into one dataset at most. */
    table->n_column_max = table->header.n;
    table->source = calloc(table->header.n, sizeof *table->source);
    table->column = calloc(table->header.n, sizeof *table->column);
    return table->source && table->column ? DSE_OK : no_memory(err);
}

size_t cube_table_find(const struct cube_table *table, const char *name)
{
    for (size_t i = table->header.n; i-- > 0;)
        if (strcmp(table->header.field[i], name) == 0)
            return i;
    return table->header.n;
}

static enum dse_status add_source(struct cube_table *table, const char *csv_name, size_t slot,
                                  const struct metric *field, struct dse_error *err)
{
    size_t at = cube_table_find(table, csv_name);
    if (at == table->header.n || table->n_source == table->header.n)
        return dse_fail(err, DSE_INTERNAL, "the table has no column %s", csv_name);
    table->source[table->n_source++] = (struct cube_source){.at = at,
                                                            .column = table->n_column - 1,
                                                            .slot = slot,
                                                            .field = field,
                                                            .is_status = strcmp(csv_name, "status") == 0};
    return DSE_OK;
}

static enum dse_status add_column(struct cube_table *table, const struct cube_group *group, const char *name,
                                  unsigned extra, const struct metric *field, struct dse_error *err)
{
    if (table->n_column == table->n_column_max)
        return dse_fail(err, DSE_INTERNAL, "more datasets than columns");
    if (cube_column_open(&table->column[table->n_column++], group, name, extra, field) < 0)
        return dse_fail(err, DSE_IO, "dataset %s cannot be made", name);
    return DSE_OK;
}

enum dse_status cube_table_add(struct cube_table *table, const struct cube_group *group, const char *name,
                               const char *csv_name, unsigned extra, const struct metric *field,
                               struct dse_error *err)
{
    DSE_TRY(add_column(table, group, name, extra, field, err));
    return add_source(table, csv_name ? csv_name : name, 0, field, err);
}

enum dse_status cube_table_add_levels(struct cube_table *table, const struct cube_group *group,
                                      const char *name, unsigned extra, const struct result_schema *schema,
                                      const struct metric *field, struct dse_error *err)
{
    char csv_name[512];
    DSE_TRY(add_column(table, group, name, extra, field, err));
    for (size_t l = 0; l < schema->n_level; l++) {
        int n = snprintf(csv_name, sizeof csv_name, "%s.%s", schema->level[l], field->name);
        if (n < 0 || (size_t)n >= sizeof csv_name)
            return dse_fail(err, DSE_LIMIT, "the name of storage level %zu is too long", l + 1);
        DSE_TRY(add_source(table, csv_name, l, field, err));
    }
    return DSE_OK;
}

static enum dse_status take_text(struct cube_column *column, const struct cube_source *source,
                                 const char *text, const char **to, struct dse_error *err)
{
    enum result_status outcome;
    if (!source->is_status) {
        *to = cube_column_text(column, text);
        return *to ? DSE_OK : no_memory(err);
    }
    if (!result_status_find(text, &outcome))
        return dse_fail(err, DSE_BAD_INPUT, "status is '%s'", text);
    *to = result_status_text(outcome);
    return DSE_OK;
}

static enum dse_status take_field(struct cube_table *table, const struct cube_source *source,
                                  const char *text, uint64_t cell, size_t position, struct dse_error *err)
{
    struct cube_column *column = &table->column[source->column];
    size_t at = position * (column->inner / table->n_position) + source->slot;
    bool fine = true;
    void *place = cube_column_cell(column, cell);
    if (!place)
        return dse_fail(err, DSE_IO, "dataset %s cannot be written", source->field->name);
    if (column->kind == METRIC_TEXT)
        return take_text(column, source, text, (const char **)place + at, err);
    if (text[0] == '\0')
        return DSE_OK;
    if (column->kind == METRIC_F64)
        fine = text_parse_double(text, (double *)place + at);
    else
        fine = text_parse_u64(text, (uint64_t *)place + at);
    return fine
               ? DSE_OK
               : dse_fail(err, DSE_BAD_INPUT, "%s is '%s', a number was expected", source->field->name, text);
}

enum dse_status cube_table_take(struct cube_table *table, const struct csv_row *line, uint64_t cell,
                                size_t position, struct dse_error *err)
{
    if (line->n != table->header.n)
        return dse_fail(err, DSE_BAD_INPUT, "%zu fields, %zu were expected", line->n, table->header.n);
    for (size_t i = 0; i < table->n_source; i++)
        DSE_TRY(take_field(table, &table->source[i], line->field[table->source[i].at], cell, position, err));
    return DSE_OK;
}

enum dse_status cube_table_clear_texts(struct cube_table *table, uint64_t cell, struct dse_error *err)
{
    for (size_t i = 0; i < table->n_column; i++) {
        struct cube_column *column = &table->column[i];
        if (column->kind != METRIC_TEXT)
            continue;
        const char **text = cube_column_cell(column, cell);
        if (!text)
            return dse_fail(err, DSE_IO, "the texts cannot be written");
        for (size_t k = 0; k < column->inner; k++)
            text[k] = "";
    }
    return DSE_OK;
}

enum dse_status cube_table_close(struct cube_table *table, bool write, struct dse_error *err)
{
    int result = 0;
    for (size_t i = 0; i < table->n_column; i++)
        result |= cube_column_close(&table->column[i], write && result >= 0);
    csv_row_free(&table->header);
    free(table->source);
    free(table->column);
    memset(table, 0, sizeof *table);
    return result < 0 ? dse_fail(err, DSE_IO, "the datasets cannot be written") : DSE_OK;
}
