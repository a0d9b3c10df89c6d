/* Reading a journal line by line, with place and checksum. */
#ifndef RESULTS_JOURNAL_JOURNAL_READ_H
#define RESULTS_JOURNAL_JOURNAL_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "results/record/csv_line.h"
#include "results/record/schema.h"

/* A journal file being read. */
struct line_reader {
    FILE *file;       /* owned; NULL: there is no such file */
    const char *path; /* borrowed */
    char *line;       /* owned; the current line without its line break */
    size_t size;      /* of the allocation */
    size_t length;    /* of the current line */
    uint64_t offset;  /* where the current line begins */
    uint64_t next;    /* where the next one begins: the end of the last whole line */
    int number;       /* of the current line, from 1 */
    bool torn;        /* the file ends in a piece without a line break */
};

/* Open for reading. A missing file is no error (`file` is NULL, no lines). DSE_IO. */
DSE_MUST_CHECK enum dse_status line_reader_open(struct line_reader *reader, const char *path,
                                                struct dse_error *err);
void line_reader_close(struct line_reader *reader);

/* The next whole line; `*more` is false at the end. DSE_IO when reading fails. */
DSE_MUST_CHECK enum dse_status line_reader_next(struct line_reader *reader, bool *more,
                                                struct dse_error *err);

/* Go to a byte known to begin line `number`. */
DSE_MUST_CHECK enum dse_status line_reader_seek(struct line_reader *reader, uint64_t offset, int number,
                                                struct dse_error *err);

/* Check the current line's seal. DSE_BAD_INPUT with file and line. */
DSE_MUST_CHECK enum dse_status line_reader_check(const struct line_reader *reader, struct dse_error *err);

/* Check the current line's seal and split it. DSE_BAD_INPUT with file and line. */
DSE_MUST_CHECK enum dse_status line_reader_split(const struct line_reader *reader, struct csv_row *row,
                                                 struct dse_error *err);

/* The same for a line (length, without its line break) that is number `number` of the file `path`. */
DSE_MUST_CHECK enum dse_status line_split(const char *path, int number, const char *line, size_t length,
                                          struct csv_row *row, struct dse_error *err);

/* Where a column stands in a header row, or row->n. */
size_t csv_column_find(const struct csv_row *header, const char *name);

#endif
