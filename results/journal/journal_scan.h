/* OUT.csv and OUT.layers.csv read as one stream, in constant memory: the layers of the points stand in the
 * order of the points. No lock is taken; a file that grows meanwhile may be read. Used by journal, cube,
 * merge, status and rerun. */
#ifndef RESULTS_JOURNAL_JOURNAL_SCAN_H
#define RESULTS_JOURNAL_JOURNAL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "results/record/csv_line.h"
#include "results/record/schema.h"

#define JOURNAL_NO_CELL UINT64_MAX

/* One point. Pointers are valid until the next call on the scan. */
struct journal_row {
    uint64_t key;
    /* row-major; JOURNAL_NO_CELL: the coordinates are not on the axes, or there is no schema */
    uint64_t cell;
    uint64_t n_layer;                                /* its lines in OUT.layers.csv */
    uint64_t line, offset, length;                   /* in OUT.csv; length with the line break */
    uint64_t layer_line, layer_offset, layer_length; /* of its layers' first line; length of all of them */
    enum result_status outcome;
    bool exchanged;              /* not found by the cell's own search: it takes the place of that row */
    double seconds;              /* 0 when the field is empty */
    const uint32_t *index;       /* (n_axis) the cell; undefined when there is none */
    const struct csv_row *split; /* all fields of the line in OUT.csv */
    const char *text;            /* the line itself, (length - 1) bytes */
};

struct csv_widen;
struct journal_scan; /* open for reading */

/* Open both files of `out` (the .h5, the .csv or any other name that result_path takes) and check their
 * headers. Files that are missing or empty hold no rows. The schema is borrowed; NULL: loose, that is rows of
 * any specification, without cells and without layers, lines that do not check are counted and passed over.
 * DSE_BAD_INPUT: no journal, other columns. DSE_IO (loose: also when OUT.csv is missing), DSE_NO_MEMORY,
 * DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status journal_scan_open(const char *out, const struct result_schema *schema,
                                                 struct journal_scan **scan, struct dse_error *err);

/* The next point whose lines check and whose layers are all there; `*more` is false at the end, which is
 * where the first torn line or the first point without all of its layers is. Layers of points that are not
 * there are passed over. DSE_BAD_INPUT with file and line: what does not check otherwise. */
DSE_MUST_CHECK enum dse_status journal_scan_next(struct journal_scan *scan, struct journal_row *row,
                                                 bool *more, struct dse_error *err);

void journal_scan_close(struct journal_scan *scan); /* NULL is fine */

/* What has been read so far. */
struct journal_scan_place {
    /* bytes of OUT.csv and OUT.layers.csv up to the last row given out; 0: not even a header */
    uint64_t end, layer_end;
    uint64_t n_bad;          /* loose: lines that did not check */
    uint64_t first_bad_line; /* 0: none */
    uint64_t n_orphan;       /* lines of OUT.layers.csv whose point is not there */
    uint64_t digest;         /* of the lines of all rows given out; 0: none. Loose: of OUT.csv alone */
    bool torn;               /* a file ends in a piece of a line, or before the layers of a point do */
};
void journal_scan_where(const struct journal_scan *scan, struct journal_scan_place *place);

/* The paths, and the header that OUT.csv has today, split (n = 0 when there is none yet). Borrowed from the
 * scan. */
const char *journal_scan_csv_path(const struct journal_scan *scan);
const char *journal_scan_layer_path(const struct journal_scan *scan);
const struct csv_row *journal_scan_header(const struct journal_scan *scan);

/* How the lines of a table become today's: an earlier version wrote it, with fewer columns. NULL: it has
 * today's, or no line of it has been looked at. Rows and split lines have today's fields always; who copies
 * lines asks. */
const struct csv_widen *journal_scan_widen(const struct journal_scan *scan, enum result_table table);

/* Lines by their place, in any order and between calls of journal_scan_next (whose row stays valid): seals
 * are checked. `line` is for messages (0: not known). `split` is the caller's. DSE_BAD_INPUT, DSE_IO. */
DSE_MUST_CHECK enum dse_status journal_scan_point_at(struct journal_scan *scan, uint64_t offset,
                                                     uint64_t length, uint64_t line, struct csv_row *split,
                                                     struct dse_error *err);

/* Called for each layer line, split. */
typedef enum dse_status journal_layer_visit(void *user, const struct csv_row *split, struct dse_error *err);

/* The layers of a point, in order (`length` bytes from `offset` of OUT.layers.csv). */
DSE_MUST_CHECK enum dse_status journal_scan_layers_at(struct journal_scan *scan, uint64_t offset,
                                                      uint64_t length, uint64_t line, struct csv_row *split,
                                                      journal_layer_visit *visit, void *user,
                                                      struct dse_error *err);

#endif
