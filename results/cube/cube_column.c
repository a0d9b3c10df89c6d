/* The cells of the present chunk are in memory; a cell of another chunk writes what is there as boxes, the
 * fewest that cover it. */
#include "results/cube/cube_column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hdf5/hdf5_file.h"

/* Texts that wait to be written, per column. */
enum { TEXT_BYTE_MAX = 1 << 20 };

enum { VALUE_BYTE = 8 };
_Static_assert(sizeof(double) == VALUE_BYTE && sizeof(uint64_t) == VALUE_BYTE &&
                   sizeof(const char *) == VALUE_BYTE,
               "a value of a column has 8 bytes, whatever it is");

static int open_type(struct cube_column *column)
{
    column->type = column->kind == METRIC_F64   ? H5T_NATIVE_DOUBLE
                   : column->kind == METRIC_U64 ? H5T_NATIVE_UINT64
                                                : hdf5_text_type();
    return column->type < 0 ? -1 : 0;
}

int cube_column_open(struct cube_column *column, const struct cube_group *group, const char *name,
                     unsigned extra, const struct metric *metric)
{
    memset(column, 0, sizeof *column);
    column->dataset = column->space = column->type = -1;
    column->transfer = group->transfer;
    column->kind = metric->type;
    column->n_axis = group->rank;
    arena_init(&column->texts);
    column->rank = cube_lengths(group, extra, column->length);
    cube_chunk(column->rank, column->length, column->chunk);
    column->inner = 1;
    for (int i = column->n_axis; i < column->rank; i++)
        column->inner *= (size_t)column->length[i];
    column->dataset = cube_dataset(group, name, extra, metric);
    if (column->dataset < 0 || open_type(column) < 0)
        return -1;
    column->space = H5Dget_space(column->dataset);
    return column->space < 0 ? -1 : 0;
}

/* The run of cells around `cell` that one chunk holds; the cell alone when it takes more than a chunk. */
static void chunk_of(const struct cube_column *column, uint64_t cell, uint64_t *first, uint64_t *n)
{
    uint64_t below = 1; /* cells in one step along dimension i */
    *first = cell;
    *n = 1;
    for (int i = column->n_axis; i < column->rank; i++)
        if (column->chunk[i] < column->length[i])
            return;
    for (int i = column->n_axis - 1; i >= 0; i--) {
        uint64_t length = column->length[i], chunk = column->chunk[i];
        if (chunk < length) {
            uint64_t row = cell / below / length * length, at = cell / below % length / chunk * chunk;
            *first = (row + at) * below;
            *n = (length - at < chunk ? length - at : chunk) * below;
            return;
        }
        below *= length;
    }
    *first = 0;
    *n = below;
}

/* One box of the dataset. */
static int write_box(const struct cube_column *column, const hsize_t *start, const hsize_t *count,
                     const void *value)
{
    hid_t memory = H5Screate_simple(column->rank, count, NULL);
    if (memory < 0)
        return -1;
    int result = H5Sselect_hyperslab(column->space, H5S_SELECT_SET, start, NULL, count, NULL);
    if (result >= 0)
        result = H5Dwrite(column->dataset, column->type, memory, column->space, column->transfer, value);
    H5Sclose(memory);
    return result;
}

/* Values at .. at + n - 1 in row-major order, as the fewest boxes that come one after the other: one for a
 * chunk. */
static int write_range(const struct cube_column *column, uint64_t at, uint64_t n, const char *value)
{
    if (column->rank == 0)
        return H5Dwrite(column->dataset, column->type, H5S_ALL, H5S_ALL, column->transfer, value);
    while (n > 0) {
        hsize_t start[CUBE_RANK_MAX], count[CUBE_RANK_MAX];
        uint64_t left = at, below = 1, taken = 0;
        for (int i = column->rank - 1; i >= 0; i--) {
            start[i] = left % column->length[i];
            left /= column->length[i];
        }
        for (int i = column->rank - 1; i >= 0; i--) {
            count[i] = 1;
            uint64_t room = column->length[i] - start[i], whole = n / below;
            if (taken)
                continue;
            count[i] = whole < room ? whole : room;
            /* On to the next dimension only when this one is taken whole, and once more fits. */
            if (count[i] < column->length[i] || n / below < 2 * column->length[i])
                taken = count[i] * below;
            below *= column->length[i];
        }
        taken = taken ? taken : below;
        if (write_box(column, start, count, value) < 0)
            return -1;
        at += taken;
        n -= taken;
        value += taken * VALUE_BYTE;
    }
    return 0;
}

/* Write the cells up to `end` of those at hand that are not in the file yet. */
static int flush_to(struct cube_column *column, uint64_t end)
{
    uint64_t from = column->written;
    int result = 0;
    if (column->used)
        result = write_range(column, (column->first + from) * column->inner, (end - from) * column->inner,
                             (const char *)column->value.any + from * column->inner * VALUE_BYTE);
    column->written = end;
    column->used = false;
    arena_reset(&column->texts);
    return result;
}

static int begin_chunk(struct cube_column *column, uint64_t cell)
{
    chunk_of(column, cell, &column->first, &column->n);
    column->written = 0;
    size_t n = (size_t)column->n * column->inner;
    if (n > column->capacity) {
        free(column->value.any);
        column->value.any = malloc(n * VALUE_BYTE);
        column->capacity = column->value.any ? n : 0;
        if (!column->value.any) {
            column->n = 0;
            return -1;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (column->kind == METRIC_F64)
            column->value.f64[i] = NAN;
        else if (column->kind == METRIC_U64)
            column->value.u64[i] = METRIC_U64_MISSING;
        else
            column->value.text[i] = NULL;
    }
    return 0;
}

void *cube_column_cell(struct cube_column *column, uint64_t cell)
{
    if (column->n && cell - column->first >= column->n) {
        if (flush_to(column, column->n) < 0)
            return NULL;
        column->n = 0;
    } else if (column->n && column->texts.used_byte > TEXT_BYTE_MAX && cell != column->current) {
        if (flush_to(column, cell - column->first) < 0)
            return NULL;
    }
    if (column->n == 0 && begin_chunk(column, cell) < 0)
        return NULL;
    column->used = true;
    column->current = cell;
    return (char *)column->value.any + (cell - column->first) * column->inner * VALUE_BYTE;
}

const char *cube_column_text(struct cube_column *column, const char *text)
{
    return text[0] ? arena_copy_text(&column->texts, text, strlen(text)) : "";
}

int cube_column_close(struct cube_column *column, bool write)
{
    int result = 0;
    if (write && column->n)
        result = flush_to(column, column->n);
    if (column->kind == METRIC_TEXT && column->type > 0)
        result |= H5Tclose(column->type) < 0 ? -1 : 0;
    if (column->space > 0)
        result |= H5Sclose(column->space) < 0 ? -1 : 0;
    if (column->dataset > 0)
        result |= H5Dclose(column->dataset) < 0 ? -1 : 0;
    free(column->value.any);
    arena_free(&column->texts);
    memset(column, 0, sizeof *column);
    return result;
}
