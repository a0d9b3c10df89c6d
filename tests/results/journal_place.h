/* Journals of the sample for the tests of journal and scan: where they are, writing some cells, looking at
 * every row. */
#ifndef TESTS_RESULTS_JOURNAL_PLACE_H
#define TESTS_RESULTS_JOURNAL_PLACE_H

#include "results/journal/journal.h"
#include "tests/results/files.h"
#include "tests/results/sample.h"

enum { PLACE_ROW_MAX = 64 };

/* A journal in a folder of its own. */
struct place {
    char folder[512], out[600], csv[600], layers[600], lock[600];
};

static inline void make_place(struct place *place)
{
    files_folder(place->folder, sizeof place->folder);
    files_path(place->out, sizeof place->out, place->folder, "o.h5");
    files_path(place->csv, sizeof place->csv, place->folder, "o.csv");
    files_path(place->layers, sizeof place->layers, place->folder, "o.layers.csv");
    files_path(place->lock, sizeof place->lock, place->folder, "o.lock");
}

/* Thousands of journals are opened, and each syncs its files: in memory, where the machine has such a
 * folder. */
static inline void place_in_memory(void)
{
    if (access("/dev/shm", W_OK) == 0)
        assert_int_equal(setenv("TMPDIR", "/dev/shm", 1), 0);
}

/* What a visit sees, and what it is to do. */
struct seen {
    size_t n;
    bool ended; /* the last call, without a row, came */
    uint64_t cell[PLACE_ROW_MAX], layer_length[PLACE_ROW_MAX];
    char *text[PLACE_ROW_MAX];
    uint64_t drop; /* bits of the cells to be dropped */
    bool refuse;   /* at the end */
};

static inline enum dse_status see_row(void *user, const struct journal_row *row,
                                      enum journal_verdict *verdict, struct dse_error *err)
{
    struct seen *seen = user;
    if (!row) {
        seen->ended = true;
        return seen->refuse ? dse_fail(err, DSE_BAD_USAGE, "not these") : DSE_OK;
    }
    assert_true(seen->n < PLACE_ROW_MAX);
    seen->cell[seen->n] = row->cell;
    seen->layer_length[seen->n] = row->layer_length;
    seen->text[seen->n] = malloc(row->length);
    assert_non_null(seen->text[seen->n]);
    memcpy(seen->text[seen->n], row->text, row->length - 1);
    seen->text[seen->n++][row->length - 1] = '\0';
    if (row->cell < 64 && (seen->drop >> row->cell & 1))
        *verdict = JOURNAL_DROP;
    return DSE_OK;
}

static inline void forget(struct seen *seen)
{
    for (size_t i = 0; i < seen->n; i++)
        free(seen->text[i]);
    *seen = (struct seen){0};
}

/* Append cells first .. last - 1 to an open journal. */
static inline enum dse_status append_cells(struct journal *journal, unsigned first, unsigned last,
                                           struct dse_error *err)
{
    for (unsigned cell = first; cell < last; cell++) {
        struct point_record point;
        struct layer_record layer[SAMPLE_LAYER];
        struct level_values level[SAMPLE_LEVEL];
        uint32_t index[3];
        size_t n = sample_point(cell, &point, layer, index, level);
        DSE_TRY(sample_append(journal, &sample_schema, &point, layer, n, err));
    }
    return DSE_OK;
}

/* A fresh journal of cells 0 .. n_cell - 1. */
static inline void make_cells(struct place *place, unsigned n_cell)
{
    struct journal *journal;
    struct dse_error err;
    make_place(place);
    assert_int_equal(
        journal_open(place->out, &sample_schema, (struct journal_options){.fresh = true}, &journal, &err),
        DSE_OK);
    assert_int_equal(append_cells(journal, 0, n_cell, &err), DSE_OK);
    assert_int_equal(journal_finish(journal, &err), DSE_OK);
}

/* Open and close; `*seen` (may be NULL) gets the rows, `*report` (may be NULL) what was done. */
static inline enum dse_status look(const struct place *place, bool repair, struct seen *seen,
                                   struct journal_report *report, struct dse_error *err)
{
    struct seen own = {0};
    struct journal *journal;
    struct journal_options options = {.repair = repair, .visit = see_row, .user = seen ? seen : &own};
    enum dse_status status = journal_open(place->out, &sample_schema, options, &journal, err);
    if (status == DSE_OK && report)
        *report = *journal_report(journal);
    if (status == DSE_OK)
        assert_int_equal(journal_finish(journal, err), DSE_OK);
    assert_int_not_equal(access(place->lock, F_OK), 0);
    forget(&own);
    return status;
}

static inline void remove_place(const struct place *place)
{
    unlink(place->csv);
    unlink(place->layers);
    rmdir(place->folder);
}

#endif
