/* Two readers side by side: a line of OUT.csv, then its layers, which must follow in order; a line that
 * does not check becomes an event with the reason. */
#include "results/journal/journal_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/journal/journal_header.h"
#include "results/journal/journal_step.h"

enum { SCAN_BUFFER = 1 << 17 };

/* ---------------------------------------- open, close */

static enum dse_status read_point_header(struct journal_scan *scan, struct dse_error *err)
{
    struct text_buffer header;
    bool empty;
    text_init(&header);
    csv_point_header(&header, scan->schema);
    enum dse_status status =
        journal_header_read(&scan->csv, &header, &empty, &scan->widen[RESULT_POINTS], err);
    if (status == DSE_OK && !empty)
        status = csv_split(header.data, header.length - 1, &scan->header, err);
    text_free(&header);
    scan->ended = empty;
    return status;
}

static enum dse_status read_loose_header(struct journal_scan *scan, struct dse_error *err)
{
    bool more;
    if (!scan->csv.file)
        return dse_fail_at(err, DSE_IO, scan->csv_path, 0, "cannot be read: %s", strerror(ENOENT));
    DSE_TRY(line_reader_next(&scan->csv, &more, err));
    scan->ended = !more;
    if (!more)
        return DSE_OK; /* a run that has only just begun */
    if (!journal_header_is_one(&scan->csv))
        return dse_fail_at(err, DSE_BAD_INPUT, scan->csv_path, 1, "not a journal of dse");
    return csv_split(scan->csv.line, scan->csv.length, &scan->header, err);
}

/* The columns that every row needs. */
static enum dse_status find_columns(struct journal_scan *scan, struct dse_error *err)
{
    const struct csv_row *header = &scan->header;
    scan->at_status = csv_column_find(header, "status");
    scan->at_n_layer = csv_column_find(header, "n_layer");
    scan->at_seconds = csv_column_find(header, "seconds");
    scan->at_exchanged = csv_column_find(header, "exchanged_from");
    if (header->n > 0 && (scan->at_status == header->n || scan->at_n_layer == header->n ||
                          scan->at_seconds == header->n || header->n < 2))
        return dse_fail_at(err, DSE_BAD_INPUT, scan->csv_path, 1, "not a journal of dse");
    return DSE_OK;
}

static enum dse_status open_files(struct journal_scan *scan, struct dse_error *err)
{
    scan->buffer = malloc(2 * (size_t)SCAN_BUFFER);
    if (!scan->buffer)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for reading the journal");
    DSE_TRY(line_reader_open(&scan->csv, scan->csv_path, err));
    if (scan->csv.file)
        (void)setvbuf(scan->csv.file, scan->buffer, _IOFBF, SCAN_BUFFER);
    if (!scan->schema) {
        DSE_TRY(read_loose_header(scan, err));
        return find_columns(scan, err);
    }
    DSE_TRY(line_reader_open(&scan->layers, scan->layer_path, err));
    if (scan->layers.file)
        (void)setvbuf(scan->layers.file, scan->buffer + SCAN_BUFFER, _IOFBF, SCAN_BUFFER);
    DSE_TRY(axis_places_new(scan->schema, &scan->places, err));
    DSE_TRY(read_point_header(scan, err));
    scan->place.end = scan->csv.next;
    return find_columns(scan, err);
}

enum dse_status journal_scan_open(const char *out, const struct result_schema *schema,
                                  struct journal_scan **out_scan, struct dse_error *err)
{
    *out_scan = NULL;
    struct journal_scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for reading the journal");
    scan->schema = schema;
    csv_row_init(&scan->header);
    csv_row_init(&scan->split);
    enum dse_status status;
    if (!result_path(scan->csv_path, sizeof scan->csv_path, out, ".csv") ||
        !result_path(scan->layer_path, sizeof scan->layer_path, out, ".layers.csv"))
        status = dse_fail(err, DSE_LIMIT, "the output path is too long");
    else
        status = open_files(scan, err);
    if (status != DSE_OK)
        journal_scan_close(scan);
    else
        *out_scan = scan;
    return status;
}

void journal_scan_close(struct journal_scan *scan)
{
    if (!scan)
        return;
    line_reader_close(&scan->csv);
    line_reader_close(&scan->layers);
    free(scan->buffer);
    csv_row_free(&scan->header);
    csv_row_free(&scan->split);
    csv_widen_free(&scan->widen[RESULT_POINTS]);
    csv_widen_free(&scan->widen[RESULT_LAYERS]);
    axis_places_free(scan->places);
    journal_keys_free(&scan->keys);
    free(scan->window[0].data);
    free(scan->window[1].data);
    free(scan);
}

/* ---------------------------------------- points */

/* Read the fields that every row needs. Returns false when they make no point. */
static bool read_fields(struct journal_scan *scan, struct journal_row *row)
{
    const struct csv_row *split = &scan->split;
    if (split->n != scan->header.n || !csv_key_parse(split->field[split->n - 2], &row->key) ||
        !result_status_find(split->field[scan->at_status], &row->outcome) ||
        !text_parse_u64(split->field[scan->at_n_layer], &row->n_layer))
        return false;
    const char *seconds = split->field[scan->at_seconds];
    row->seconds = 0;
    if (seconds[0] != '\0' && !text_parse_double(seconds, &row->seconds))
        return false;
    row->exchanged = scan->at_exchanged < split->n && split->field[scan->at_exchanged][0] != '\0';
    row->cell = JOURNAL_NO_CELL;
    uint64_t cell;
    if (scan->places && axis_places_find(scan->places, split, scan->index, &cell))
        row->cell = cell;
    return true;
}

/* The current line of OUT.csv as a row. False: it does not check, `why` says how. */
static bool take_point(struct journal_scan *scan, struct dse_error *why)
{
    const struct line_reader *csv = &scan->csv;
    scan->row = (struct journal_row){.cell = JOURNAL_NO_CELL,
                                     .line = (uint64_t)csv->number,
                                     .offset = csv->offset,
                                     .length = csv->length + 1,
                                     .index = scan->index,
                                     .split = &scan->split,
                                     .text = csv->line};
    scan->split.n = 0;
    if (line_reader_split(csv, &scan->split, why) != DSE_OK ||
        csv_widen_row(&scan->widen[RESULT_POINTS], &scan->split, why) != DSE_OK)
        return false;
    if (read_fields(scan, &scan->row))
        return true;
    dse_fail_at(why, DSE_BAD_INPUT, csv->path, csv->number,
                "not a point: a field is missing, or status, n_layer, seconds or point_key cannot be read");
    return false;
}

/* ---------------------------------------- layers */

/* Check the header of OUT.layers.csv. One of another specification is what a run that began anew leaves when
 * it is killed before it comes to this file; then there are no points, and nothing in it counts. */
static enum dse_status read_layer_header(struct journal_scan *scan, struct dse_error *err)
{
    struct text_buffer header;
    struct dse_error why = {0};
    bool empty;
    if (scan->headed)
        return DSE_OK;
    scan->headed = true;
    text_init(&header);
    csv_layer_header(&header, scan->schema);
    enum dse_status status =
        journal_header_read(&scan->layers, &header, &empty, &scan->widen[RESULT_LAYERS], &why);
    text_free(&header);
    if (status == DSE_BAD_INPUT && scan->csv.file && scan->csv.number <= 1 && scan->layers.number == 1 &&
        journal_header_is_one(&scan->layers)) {
        scan->no_layer = true;
        return DSE_OK;
    }
    if (status != DSE_OK) {
        if (err)
            *err = why;
        return status;
    }
    scan->no_layer = empty;
    scan->place.layer_end = empty ? 0 : scan->layers.next;
    scan->place.torn = scan->place.torn || scan->layers.torn;
    return DSE_OK;
}

/* Look at the next layer line, if none waits. */
static enum dse_status look_at_layer(struct journal_scan *scan, struct dse_error *err)
{
    bool more;
    DSE_TRY(read_layer_header(scan, err));
    if (scan->layer_waits || scan->no_layer)
        return DSE_OK;
    DSE_TRY(line_reader_next(&scan->layers, &more, err));
    scan->layer_waits = more;
    scan->no_layer = !more;
    scan->layer_whole = more && csv_seal_holds(scan->layers.line, scan->layers.length) &&
                        csv_line_key(scan->layers.line, scan->layers.length, &scan->layer_key);
    scan->place.torn = scan->place.torn || scan->layers.torn;
    return DSE_OK;
}

/* The waiting layer line is the row's. */
static void take_layer(struct journal_scan *scan)
{
    struct journal_row *row = &scan->row;
    if (row->layer_length == 0) {
        row->layer_offset = scan->layers.offset;
        row->layer_line = (uint64_t)scan->layers.number;
    }
    row->layer_length += scan->layers.length + 1;
    scan->place.digest = csv_digest(scan->place.digest, scan->layers.line, scan->layers.length);
    scan->layer_waits = false;
}

/* The waiting layer is not of the row, whose own have not begun: whose is it? JOURNAL_ROW: nobody's, it was
 * passed over. */
static enum dse_status place_foreign(struct journal_scan *scan, enum journal_event *event,
                                     struct dse_error *why, struct dse_error *err)
{
    if (!scan->has_keys)
        DSE_TRY(journal_keys_read(&scan->keys, scan->csv_path, err));
    scan->has_keys = true;
    uint64_t line = journal_keys_last(&scan->keys, scan->layer_key);
    if (line > scan->row.line) {
        *event = JOURNAL_SHORT;
        return DSE_OK;
    }
    *event = line == 0 ? JOURNAL_ROW : JOURNAL_STRAY;
    if (line == 0)
        scan->place.n_orphan++;
    else
        dse_fail_at(why, DSE_BAD_INPUT, scan->layer_path, scan->layers.number,
                    "the layers of point %016" PRIx64 " (line %" PRIu64
                    " of the table of points) do not stand together; restore the "
                    "file from a copy, or use --repair to move this line aside",
                    scan->layer_key, line);
    scan->layer_waits = false;
    return DSE_OK;
}

static void fail_short(struct journal_scan *scan, uint64_t n_found, struct dse_error *why)
{
    dse_fail_at(why, DSE_BAD_INPUT, scan->csv_path, (int)scan->row.line,
                "the point has %" PRIu64 " layers, %s holds %" PRIu64
                " of them; restore that file from a copy, or use --repair to compute the point again",
                scan->row.n_layer, scan->layer_path, n_found);
}

/* The layers of the row. A damaged line counts as one of them where one is due, and makes the point one to be
 * computed again. */
static enum dse_status collect(struct journal_scan *scan, enum journal_event *event, struct dse_error *why,
                               struct dse_error *err)
{
    uint64_t n_found = 0, n_bad = 0;
    *event = JOURNAL_ROW;
    while (n_found + n_bad < scan->row.n_layer) {
        DSE_TRY(look_at_layer(scan, err));
        if (scan->no_layer) {
            *event = n_bad ? JOURNAL_SHORT : JOURNAL_TAIL;
            return DSE_OK;
        }
        if (!scan->layer_whole) {
            if (n_bad++ == 0 && line_reader_check(&scan->layers, why) == DSE_OK)
                dse_fail_at(why, DSE_BAD_INPUT, scan->layer_path, scan->layers.number,
                            "the point key cannot be read");
            take_layer(scan);
        } else if (scan->layer_key == scan->row.key) {
            n_found++;
            take_layer(scan);
        } else if (n_found + n_bad > 0) {
            *event = JOURNAL_SHORT;
            break;
        } else {
            DSE_TRY(place_foreign(scan, event, why, err));
            if (*event != JOURNAL_ROW)
                break;
        }
    }
    if (n_bad > 0)
        *event = JOURNAL_SHORT;
    else if (*event == JOURNAL_SHORT)
        fail_short(scan, n_found, why);
    return DSE_OK;
}

/* Behind the last point nothing counts. */
static enum dse_status end_layers(struct journal_scan *scan, struct dse_error *err)
{
    if (!scan->schema)
        return DSE_OK;
    for (;;) {
        DSE_TRY(look_at_layer(scan, err));
        if (scan->no_layer)
            return DSE_OK;
        scan->place.n_orphan++;
        scan->layer_waits = false;
    }
}

/* ---------------------------------------- steps */

/* The next line of OUT.csv. */
static enum dse_status next_point(struct journal_scan *scan, bool *more, struct dse_error *err)
{
    *more = false;
    if (scan->ended)
        return DSE_OK;
    DSE_TRY(line_reader_next(&scan->csv, more, err));
    scan->ended = !*more;
    return DSE_OK;
}

enum dse_status journal_scan_step(struct journal_scan *scan, enum journal_event *event,
                                  struct journal_row *row, struct dse_error *why, struct dse_error *err)
{
    bool more = true;
    if (!scan->row_waits)
        DSE_TRY(next_point(scan, &more, err));
    if (!more) {
        *event = JOURNAL_END;
        scan->place.torn = scan->place.torn || scan->csv.torn;
        return end_layers(scan, err);
    }
    if (!scan->row_waits && !take_point(scan, why)) {
        *event = JOURNAL_BAD_POINT;
        *row = scan->row;
        return why->status == DSE_NO_MEMORY ? dse_fail(err, DSE_NO_MEMORY, "%s", why->text) : DSE_OK;
    }
    if (scan->schema)
        DSE_TRY(collect(scan, event, why, err));
    else
        *event = JOURNAL_ROW;
    scan->row_waits = *event == JOURNAL_STRAY;
    *row = scan->row;
    if (*event == JOURNAL_STRAY) {
        row->layer_line = (uint64_t)scan->layers.number;
        row->layer_offset = scan->layers.offset;
        row->layer_length = scan->layers.length + 1;
    } else if (*event == JOURNAL_TAIL) {
        scan->ended = true;
        scan->place.torn = true;
    } else if (*event == JOURNAL_ROW) {
        scan->place.end = scan->csv.next;
        scan->place.digest = csv_digest(scan->place.digest, scan->csv.line, scan->csv.length);
        if (row->layer_length > 0)
            scan->place.layer_end = row->layer_offset + row->layer_length;
    }
    return DSE_OK;
}

enum dse_status journal_scan_next(struct journal_scan *scan, struct journal_row *row, bool *more,
                                  struct dse_error *err)
{
    struct dse_error why;
    enum journal_event event;
    for (;;) {
        why.status = DSE_OK;
        DSE_TRY(journal_scan_step(scan, &event, row, &why, err));
        *more = event == JOURNAL_ROW;
        if (*more || event == JOURNAL_END || event == JOURNAL_TAIL)
            return DSE_OK;
        if (scan->schema) {
            if (err)
                *err = why;
            return DSE_BAD_INPUT;
        }
        if (scan->place.n_bad++ == 0)
            scan->place.first_bad_line = row->line;
    }
}

void journal_scan_where(const struct journal_scan *scan, struct journal_scan_place *place)
{
    *place = scan->place;
}

const char *journal_scan_csv_path(const struct journal_scan *scan)
{
    return scan->csv_path;
}

const char *journal_scan_layer_path(const struct journal_scan *scan)
{
    return scan->layer_path;
}

const struct csv_row *journal_scan_header(const struct journal_scan *scan)
{
    return &scan->header;
}
