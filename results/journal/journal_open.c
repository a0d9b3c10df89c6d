/* What journal_open does with the files that are there. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/journal/journal_mend.h"
#include "results/journal/journal_parts.h"
#include "results/journal/journal_rewrite.h"
#include "results/journal/journal_step.h"
#include "results/journal/sync_folder.h"
#include "results/journal/table_lock.h"
#include "results/record/cell_set.h"
#include "results/record/csv_line.h"

struct recovery {
    struct journal *journal;
    const char *out;
    const struct journal_options *options;
    struct journal_scan *scan;
    struct cell_set seen, exchanged; /* cells that have such a row */
    struct journal_rewrite rewrite;
    uint64_t csv_end, layer_end; /* of what is kept, while nothing is rewritten */
    uint64_t layer_seen;         /* end of the layer lines that belong to something */
};

static enum dse_status fail_errno(const char *path, const char *what, struct dse_error *err)
{
    return dse_fail_at(err, DSE_IO, path, 0, "%s: %s", what, strerror(errno));
}

/* ---------------------------------------- open for appending */

enum { APPEND = O_RDWR | O_APPEND };

/* Cut a file to what counts, make it when it is not there, give it its header when it has none. */
static enum dse_status settle(int *fd, const char *path, uint64_t *byte, const struct text_buffer *header,
                              bool *made, bool *changed, struct dse_error *err)
{
    struct stat info;
    DSE_TRY(text_check(header, "the header", err));
    if (*fd < 0) {
        DSE_TRY(table_open(path, APPEND | O_CREAT, fd, err));
        *made = true;
    }
    if (fstat(*fd, &info) != 0)
        return fail_errno(path, "cannot be opened for writing", err);
    bool cut = (uint64_t)info.st_size != *byte || !S_ISREG(info.st_mode);
    *changed = *changed || cut || *byte == 0;
    if (cut && ftruncate(*fd, (off_t)*byte) != 0)
        return fail_errno(path, "cannot be cut back to its last whole line", err);
    if (*byte > 0)
        return DSE_OK;
    if (!journal_write_all(*fd, header->data, header->length)) {
        enum dse_status status = fail_errno(path, "cannot be written", err);
        return ftruncate(*fd, 0) == 0 ? status : DSE_IO;
    }
    *byte = header->length;
    return DSE_OK;
}

/* OUT.csv first: as long as it has no rows, whatever the other file has counts for nothing. */
static enum dse_status settle_both(struct journal *journal, struct dse_error *err)
{
    struct text_buffer header;
    bool made = false, changed = false;
    text_init(&header);
    csv_point_header(&header, journal->schema);
    enum dse_status status =
        settle(&journal->csv_fd, journal->csv_path, &journal->csv_byte, &header, &made, &changed, err);
    text_clear(&header);
    csv_layer_header(&header, journal->schema);
    if (status == DSE_OK)
        status = settle(&journal->layer_fd, journal->layer_path, &journal->layer_byte, &header, &made,
                        &changed, err);
    text_free(&header);
    atomic_store(&journal->unsynced, changed);
    return status == DSE_OK && made ? sync_folder(journal->csv_path, err) : status;
}

/* ---------------------------------------- what goes */

/* From now on what is kept goes into new files. */
static enum dse_status begin_rewrite(struct recovery *r, struct dse_error *err)
{
    return r->rewrite.kept.csv ? DSE_OK : journal_rewrite_begin(&r->rewrite, r->csv_end, r->layer_end, err);
}

/* A row, or a line of one of the files, leaves the journal. */
static enum dse_status move_aside(struct recovery *r, const struct journal_row *row, bool dropped,
                                  struct dse_error *err)
{
    struct journal_pair *pair = dropped ? &r->rewrite.dropped : &r->rewrite.damaged;
    DSE_TRY(begin_rewrite(r, err));
    DSE_TRY(journal_aside_begin(&r->rewrite, pair, dropped ? ".dropped" : ".damaged", err));
    *(dropped ? &r->journal->report.n_dropped : &r->journal->report.n_damaged) += 1;
    return journal_pair_copy(&r->rewrite, pair, row->offset, row->length, row->layer_offset,
                             row->layer_length, err);
}

/* Whether an earlier version wrote one of the tables, so that all of it is written anew. */
static bool is_earlier(const struct recovery *r)
{
    return journal_scan_widen(r->scan, RESULT_POINTS) || journal_scan_widen(r->scan, RESULT_LAYERS);
}

/* Layer lines of nobody before those of `row`: after damage they may be those of a damaged line, and are kept
 * with it. */
static enum dse_status mind_gap(struct recovery *r, const struct journal_row *row, struct dse_error *err)
{
    if (row->layer_length == 0)
        return DSE_OK;
    uint64_t begin = r->layer_seen;
    r->layer_seen = row->layer_offset + row->layer_length;
    if (!r->options->repair || !r->rewrite.damaged.csv || begin >= row->layer_offset)
        return DSE_OK;
    return journal_pair_copy(&r->rewrite, &r->rewrite.damaged, 0, 0, begin, row->layer_offset - begin, err);
}

/* What does not check: refused, or moved aside. */
static enum dse_status take_bad(struct recovery *r, const struct journal_row *row,
                                const struct dse_error *why, struct dse_error *err)
{
    if (r->options->repair)
        return move_aside(r, row, false, err);
    if (err)
        *err = *why;
    return why->status;
}

/* ---------------------------------------- what stays */

/* The line of the first row of the same kind and cell. */
static uint64_t first_line_of(const struct recovery *r, const struct journal_row *twin)
{
    struct journal_scan *scan;
    struct journal_row row;
    uint64_t line = 0;
    bool more = true;
    if (journal_scan_open(r->out, r->journal->schema, &scan, NULL) != DSE_OK)
        return 0;
    while (line == 0 && journal_scan_next(scan, &row, &more, NULL) == DSE_OK && more)
        line = row.cell == twin->cell && row.exchanged == twin->exchanged ? row.line : 0;
    journal_scan_close(scan);
    return line;
}

/* Whether a row of its kind for the same cell is there already. */
static bool is_twin(const struct recovery *r, const struct journal_row *row, struct dse_error *why)
{
    if (row->cell == JOURNAL_NO_CELL || !cell_set_has(row->exchanged ? &r->exchanged : &r->seen, row->cell))
        return false;
    dse_fail_at(why, DSE_BAD_INPUT, r->journal->csv_path, (int)row->line,
                "the same point of the sweep as line %" PRIu64
                "; delete the wrong one of both, or use --repair to move this one aside",
                first_line_of(r, row));
    return true;
}

static enum dse_status keep(struct recovery *r, const struct journal_row *row, struct dse_error *err)
{
    bool is_new;
    if (row->cell != JOURNAL_NO_CELL)
        DSE_TRY(cell_set_add(row->exchanged ? &r->exchanged : &r->seen, row->cell, &is_new, err));
    /* Layers of no point between those of this row and of the one before. */
    if ((row->layer_length > 0 && row->layer_offset != r->layer_end) || is_earlier(r))
        DSE_TRY(begin_rewrite(r, err));
    r->journal->report.n_point += !row->exchanged;
    if (r->rewrite.kept.csv)
        return journal_pair_copy(&r->rewrite, &r->rewrite.kept, row->offset, row->length, row->layer_offset,
                                 row->layer_length, err);
    r->csv_end = row->offset + row->length;
    r->layer_end += row->layer_length;
    return DSE_OK;
}

static enum dse_status take_row(struct recovery *r, const struct journal_row *row, struct dse_error *err)
{
    enum journal_verdict verdict = JOURNAL_KEEP;
    if (r->options->visit)
        DSE_TRY(r->options->visit(r->options->user, row, &verdict, err));
    if (verdict == JOURNAL_DROP)
        return move_aside(r, row, true, err);
    if (verdict == JOURNAL_FORGET)
        return begin_rewrite(r, err);
    struct dse_error why;
    return is_twin(r, row, &why) ? take_bad(r, row, &why, err) : keep(r, row, err);
}

/* From this row on the layers are not all there. */
static enum dse_status take_tail(struct recovery *r, const struct journal_row *row, struct dse_error *err)
{
    struct journal_report *report = &r->journal->report;
    struct journal_scan_place place;
    uint64_t layer_begin;
    if (!r->scan->layers.file && !r->options->repair)
        return dse_fail_at(err, DSE_BAD_INPUT, r->journal->csv_path, (int)row->line,
                           "the point has %" PRIu64 " layers, but %s is missing; restore that file from a "
                           "copy, or use --repair to move the points aside and compute them again",
                           row->n_layer, r->journal->layer_path);
    journal_scan_where(r->scan, &place);
    layer_begin = row->layer_length > 0 ? row->layer_offset : place.layer_end;
    DSE_TRY(journal_aside_begin(&r->rewrite, &r->rewrite.damaged, ".damaged", err));
    return journal_pair_copy_rest(&r->rewrite, &r->rewrite.damaged, row->offset, layer_begin, &report->n_cut,
                                  err);
}

/* Layer lines behind those of the last row, likewise; those of points that were cut are there already. */
static enum dse_status end_rest(struct recovery *r, struct dse_error *err)
{
    uint64_t n_line;
    if (!r->options->repair || !r->rewrite.damaged.csv || r->journal->report.n_cut > 0)
        return DSE_OK;
    off_t csv_byte = lseek(r->journal->csv_fd, 0, SEEK_END);
    return journal_pair_copy_rest(&r->rewrite, &r->rewrite.damaged, (uint64_t)csv_byte, r->layer_seen,
                                  &n_line, err);
}

static enum dse_status take_all(struct recovery *r, struct dse_error *err)
{
    struct dse_error why = {0};
    struct journal_row row = {0};
    enum journal_event event;
    for (;;) {
        DSE_TRY(journal_scan_step(r->scan, &event, &row, &why, err));
        if (event != JOURNAL_TAIL)
            DSE_TRY(mind_gap(r, &row, err));
        switch (event) {
        case JOURNAL_END:
            r->journal->report.widened = is_earlier(r);
            if (is_earlier(r))
                DSE_TRY(begin_rewrite(r, err));
            return end_rest(r, err);
        case JOURNAL_ROW:
            DSE_TRY(take_row(r, &row, err));
            break;
        case JOURNAL_TAIL:
            DSE_TRY(is_twin(r, &row, &why) && !r->options->repair ? take_bad(r, &row, &why, err)
                                                                  : take_tail(r, &row, err));
            break;
        case JOURNAL_STRAY:
            row.offset = row.length = 0; /* the row's own line is still to come */
            DSE_TRY(take_bad(r, &row, &why, err));
            break;
        case JOURNAL_BAD_POINT:
        case JOURNAL_SHORT: /* a twin is short, too: the layers are those of the first of both */
            (void)is_twin(r, &row, &why);
            DSE_TRY(take_bad(r, &row, &why, err));
            break;
        }
    }
}

/* Points that this journal has lost and another place still has. */
static enum dse_status restore_rows(struct recovery *r, struct dse_error *err)
{
    struct journal_lines lines;
    enum dse_status status = DSE_OK;
    bool more = r->options->repair && r->options->restore;
    journal_lines_init(&lines);
    while (more && status == DSE_OK) {
        journal_lines_clear(&lines);
        status = r->options->restore(r->options->user, &r->seen, &lines, &more, err);
        if (status == DSE_OK && lines.n_point > 0)
            status = begin_rewrite(r, err);
        if (status == DSE_OK && lines.n_point > 0)
            status = journal_pair_add(&r->rewrite.kept, &lines, err);
        r->journal->report.n_restored += lines.n_point;
        r->journal->report.n_point += lines.n_point;
    }
    journal_lines_free(&lines);
    return status;
}

/* ---------------------------------------- all */

/* The lengths of the headers: where the first rows begin. */
static enum dse_status measure_headers(struct recovery *r, struct dse_error *err)
{
    struct text_buffer header;
    text_init(&header);
    csv_point_header(&header, r->journal->schema);
    r->csv_end = header.length;
    text_clear(&header);
    csv_layer_header(&header, r->journal->schema);
    r->layer_end = r->layer_seen = header.length;
    int failed = header.failed;
    text_free(&header);
    return failed ? dse_fail(err, DSE_NO_MEMORY, "out of memory for the header") : DSE_OK;
}

static void name_asides(struct recovery *r)
{
    struct journal_report *report = &r->journal->report;
    if (r->rewrite.dropped.csv)
        memcpy(report->dropped_path, r->rewrite.dropped.csv_path, sizeof report->dropped_path);
    if (r->rewrite.damaged.csv)
        memcpy(report->damaged_path, r->rewrite.damaged.csv_path, sizeof report->damaged_path);
}

/* All rows have been seen and none is in the way: make it so. */
static enum dse_status change_files(struct recovery *r, struct dse_error *err)
{
    struct journal *journal = r->journal;
    struct journal_scan_place place;
    bool anew = r->rewrite.kept.csv != NULL;
    journal_scan_where(r->scan, &place);
    journal->report.n_orphan = place.n_orphan;
    journal->report.torn = place.torn;
    journal->report.digest = anew ? 0 : place.digest;
    name_asides(r);
    DSE_TRY(journal_rewrite_commit(&r->rewrite, err));
    journal->csv_byte = place.end;
    journal->layer_byte = place.layer_end;
    if (!anew)
        return DSE_OK;
    if (journal->csv_fd >= 0)
        close(journal->csv_fd);
    journal->csv_fd = r->rewrite.held_fd; /* held since before it got its name */
    r->rewrite.held_fd = -1;
    if (journal->layer_fd >= 0)
        close(journal->layer_fd);
    struct stat info;
    DSE_TRY(table_open(journal->layer_path, APPEND, &journal->layer_fd, err));
    if (fcntl(journal->csv_fd, F_SETFL, O_APPEND) != 0 || fstat(journal->csv_fd, &info) != 0)
        return fail_errno(journal->csv_path, "cannot be read", err);
    journal->csv_byte = (uint64_t)info.st_size;
    if (fstat(journal->layer_fd, &info) != 0)
        return fail_errno(journal->layer_path, "cannot be read", err);
    journal->layer_byte = (uint64_t)info.st_size;
    return DSE_OK;
}

static enum dse_status read_and_change(struct recovery *r, struct dse_error *err)
{
    enum journal_verdict verdict = JOURNAL_KEEP;
    DSE_TRY(measure_headers(r, err));
    DSE_TRY(cell_set_init(&r->seen, schema_n_cell(r->journal->schema), err));
    DSE_TRY(cell_set_init(&r->exchanged,
                          r->journal->schema->schedules ? schema_n_cell(r->journal->schema) : 0, err));
    DSE_TRY(journal_scan_open(r->out, r->journal->schema, &r->scan, err));
    r->rewrite.scan = r->scan;
    DSE_TRY(take_all(r, err));
    DSE_TRY(restore_rows(r, err));
    if (r->options->visit)
        DSE_TRY(r->options->visit(r->options->user, NULL, &verdict, err));
    return change_files(r, err);
}

/* What an editor may do to a table as a whole. */
static enum dse_status mend_both(struct journal *journal, struct dse_error *err)
{
    bool csv = false, layers = false;
    DSE_TRY(journal_mend(journal->csv_path, journal->schema, RESULT_POINTS, &csv, err));
    DSE_TRY(journal_mend(journal->layer_path, journal->schema, RESULT_LAYERS, &layers, err));
    journal->report.mended = csv || layers;
    if (csv) {
        close(journal->csv_fd);
        DSE_TRY(table_open(journal->csv_path, APPEND, &journal->csv_fd, err));
    }
    if (layers) {
        close(journal->layer_fd);
        DSE_TRY(table_open(journal->layer_path, APPEND, &journal->layer_fd, err));
    }
    return DSE_OK;
}

enum dse_status journal_recover(struct journal *journal, const char *out,
                                const struct journal_options *options, struct dse_error *err)
{
    struct recovery r = {.journal = journal, .out = out, .options = options};
    enum journal_verdict verdict = JOURNAL_KEEP;
    DSE_TRY(table_open(journal->csv_path, APPEND, &journal->csv_fd, err));
    DSE_TRY(table_open(journal->layer_path, APPEND, &journal->layer_fd, err));
    journal_rewrite_clean(out);
    if (options->repair)
        DSE_TRY(mend_both(journal, err));
    if (options->fresh) {
        if (options->visit)
            DSE_TRY(options->visit(options->user, NULL, &verdict, err));
        return settle_both(journal, err);
    }
    r.rewrite.held_fd = -1;
    r.rewrite.schema = journal->schema;
    r.rewrite.out = out;
    r.rewrite.csv_fd = journal->csv_fd;
    r.rewrite.layer_fd = journal->layer_fd;
    enum dse_status status = read_and_change(&r, err);
    journal_rewrite_abandon(&r.rewrite);
    journal_scan_close(r.scan);
    cell_set_free(&r.seen);
    cell_set_free(&r.exchanged);
    return status == DSE_OK ? settle_both(journal, err) : status;
}
