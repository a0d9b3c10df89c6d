/* What a scan of the journal comes across, step by step: for journal_open, which can repair some of it. */
#ifndef RESULTS_JOURNAL_JOURNAL_STEP_H
#define RESULTS_JOURNAL_JOURNAL_STEP_H

#include "base/status.h"
#include "results/journal/journal_keys.h"
#include "results/journal/journal_read.h"
#include "results/journal/journal_scan.h"
#include "results/record/axis_places.h"
#include "results/record/csv_widen.h"

enum journal_event {
    JOURNAL_ROW,       /* a point with all its layers */
    JOURNAL_END,       /* no further whole line */
    JOURNAL_TAIL,      /* OUT.layers.csv ends before all layers of the row have come; JOURNAL_END is next */
    JOURNAL_BAD_POINT, /* a line of OUT.csv that does not check: only line, offset, length and text are set */
    JOURNAL_SHORT,     /* a point without all of its layers, or with damaged ones, in the middle */
    JOURNAL_STRAY,     /* a layer line of a point whose layers have come already: only layer_* are set */
};

/* The next event; `*why` is filled for the last three, with file and line. DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status journal_scan_step(struct journal_scan *scan, enum journal_event *event,
                                                 struct journal_row *row, struct dse_error *why,
                                                 struct dse_error *err);

enum { SCAN_PATH_MAX = 4096 };

/* A piece of a file. */
struct scan_window {
    char *data; /* (capacity) owned */
    size_t capacity, length;
    uint64_t offset; /* of data[0] */
    uint64_t end;    /* of what was asked for last */
};

/* A scan; for journal_scan.c and journal_scan_at.c. */
struct journal_scan {
    const struct result_schema *schema; /* NULL: loose */
    char csv_path[SCAN_PATH_MAX], layer_path[SCAN_PATH_MAX];
    struct line_reader csv, layers;
    char *buffer;                               /* (2 SCAN_BUFFER) of the two files */
    struct csv_row header, split;               /* the header that the schema has */
    struct csv_widen widen[RESULT_TABLE_COUNT]; /* for tables of an earlier version */
    struct axis_places *places;
    size_t at_status, at_n_layer, at_seconds, at_exchanged; /* the last may be none */
    uint32_t index[RESULT_AXIS_MAX];
    struct journal_scan_place place;
    struct journal_row row;
    bool row_waits;       /* a stray layer line came before the layers of `row` */
    bool headed;          /* the header of the layers has been read */
    bool layer_waits;     /* a layer line has been read and is nobody's yet */
    bool layer_whole;     /* it checks, and `layer_key` is its point */
    bool no_layer, ended; /* no further layer; nothing at all */
    uint64_t layer_key;
    bool has_keys;
    struct journal_keys keys;
    /* of the points and of the layers, for lines that are read by their place */
    struct scan_window window[2];
};

#endif
