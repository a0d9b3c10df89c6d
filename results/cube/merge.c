/* Opens the shards, checks that they are parts of one sweep, copies their rows in cell order, builds the
 * cube, and renames the whole set. */
#include "results/cube/merge.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"
#include "results/cube/cube.h"
#include "results/cube/cube_read.h"
#include "results/cube/merge_files.h"
#include "results/cube/merge_rows.h"
#include "results/journal/journal_scan.h"
#include "results/journal/lock.h"
#include "results/journal/table_lock.h"

struct merge {
    struct result_schema schema;
    struct arena arena; /* the schema */
    struct merge_rows rows;
    struct merge_files files;
    unsigned char *present; /* (n_shard of the files) which shards there are; owned */
    const struct merge_options *options;
    struct merge_summary *summary;
};

/* K of N: all of one N, and each K once. Files of all points may come with them. */
static enum dse_status check_part(struct merge *merge, const struct result_schema *schema,
                                  const char *h5_path, struct dse_error *err)
{
    struct merge_summary *summary = merge->summary;
    if (schema->n_shard <= 1)
        return DSE_OK;
    if (schema->shard < 1 || schema->shard > schema->n_shard)
        return dse_fail_at(err, DSE_BAD_INPUT, h5_path, 0, "says that it is shard %" PRIu32 " of %" PRIu32,
                           schema->shard, schema->n_shard);
    if (!merge->present) {
        merge->present = calloc((size_t)schema->n_shard + 1, 1);
        if (!merge->present)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for %" PRIu32 " shards", schema->n_shard);
        summary->n_shard = schema->n_shard;
    }
    if (schema->n_shard != summary->n_shard)
        return dse_fail_at(err, DSE_BAD_INPUT, h5_path, 0,
                           "is shard %" PRIu32 " of %" PRIu32 ", another file is one of %" PRIu32
                           "; merge shards of one N only",
                           schema->shard, schema->n_shard, summary->n_shard);
    if (merge->present[schema->shard])
        return dse_fail_at(err, DSE_BAD_INPUT, h5_path, 0,
                           "is shard %" PRIu32 " of %" PRIu32
                           ", and so is another file; name each shard once",
                           schema->shard, schema->n_shard);
    merge->present[schema->shard] = 1;
    return DSE_OK;
}

/* The rows of one shard. Its OUT.h5 may lag behind its table, but never the other way round. */
static enum dse_status add_shard(struct merge *merge, size_t i, const char *path, const char *near,
                                 struct dse_error *err)
{
    char h5_path[MERGE_PATH_MAX];
    if (!result_path(h5_path, sizeof h5_path, path, ".h5"))
        return dse_fail(err, DSE_LIMIT, "the path of a shard is too long");
    DSE_TRY(merge_rows_add(&merge->rows, i, path, &merge->schema, near, err));
    uint64_t n = merge->rows.shard[i].rows.n, n_cube = cube_read_count(h5_path);
    if (n >= n_cube)
        return DSE_OK;
    return dse_fail_at(
        err, DSE_BAD_INPUT, journal_scan_csv_path(merge->rows.shard[i].rows.scan), 0,
        "holds %" PRIu64 " whole points, %s beside it %" PRIu64
        " (was the table emptied or cut?); take them from there first: `dse run` of the shard with "
        "--repair",
        n, h5_path, n_cube);
}

/* The shards' schemas must be one: same specification hash and, through the journal headers, same columns. */
static enum dse_status open_shards(struct merge *merge, const char *const *path, const char *near,
                                   struct dse_error *err)
{
    for (size_t i = 0; i < merge->rows.n; i++) {
        struct result_schema schema;
        char h5_path[MERGE_PATH_MAX];
        if (!result_path(h5_path, sizeof h5_path, path[i], ".h5"))
            return dse_fail(err, DSE_LIMIT, "the path of a shard is too long");
        DSE_TRY(cube_read_schema(h5_path, &merge->arena, &schema, err));
        DSE_TRY(cube_read_inputs(h5_path, &merge->arena, &schema, NULL, err));
        if (i == 0)
            merge->schema = schema;
        else if (schema.specification_hash != merge->schema.specification_hash)
            return dse_fail_at(err, DSE_BAD_INPUT, h5_path, 0,
                               "from another specification (hash %016" PRIx64 ") than %s (%016" PRIx64
                               "); run both with the same one, which keeps the points that it has",
                               schema.specification_hash, path[0], merge->schema.specification_hash);
        DSE_TRY(check_part(merge, &schema, h5_path, err));
    }
    merge->schema.shard = merge->schema.n_shard = 1;
    merge->schema.n_point_shard = 0; /* all of them */
    for (size_t i = 0; i < merge->rows.n; i++)
        DSE_TRY(add_shard(merge, i, path[i], near, err));
    return DSE_OK;
}

/* "axis=value axis=value" of a cell; what does not fit is left out. */
static void describe_cell(const struct result_schema *schema, uint64_t cell, char *text, size_t size)
{
    uint64_t below = schema_n_cell(schema);
    size_t used = 0;
    text[0] = '\0';
    for (size_t a = 0; a < schema->n_axis && used < size; a++) {
        const struct result_axis *axis = &schema->axis[a];
        below /= axis->n_value;
        size_t i = (size_t)(cell / below % axis->n_value);
        for (size_t k = 0; k < axis->n_coordinate && used < size; k++) {
            char value[40];
            int n = snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", axis->coordinate[k].name,
                             coordinate_text(&axis->coordinate[k], i, value, sizeof value));
            used += n > 0 ? (size_t)n : 0;
        }
    }
}

/* One more example, while there is room. */
static void note_missing(struct merge_summary *summary, const struct result_schema *schema, uint64_t cell)
{
    if (summary->n_example < MERGE_MISSING_MAX)
        describe_cell(schema, cell, summary->example[summary->n_example++], MERGE_MISSING_TEXT_MAX);
}

/* Cells from .. to - 1 have no row. */
static void note_gap(struct merge *merge, uint64_t from, uint64_t to)
{
    struct merge_summary *summary = merge->summary;
    if (schema_n_cell(&merge->schema) != merge->schema.n_point)
        return; /* cells that are no points cannot be told from those that are missing */
    for (; from < to && summary->n_example < MERGE_MISSING_MAX; from++)
        note_missing(summary, &merge->schema, from);
}

static enum dse_status copy_rows(struct merge *merge, struct dse_error *err)
{
    struct merge_summary *summary = merge->summary;
    uint64_t cell, next = 0;
    for (;;) {
        DSE_TRY(merge_rows_next(&merge->rows, &merge->files, &cell, &summary->n_duplicate, &summary->n_chosen,
                                err));
        if (cell == UINT64_MAX)
            break;
        note_gap(merge, next, cell);
        next = cell + 1;
        summary->n_point++;
    }
    note_gap(merge, next, schema_n_cell(&merge->schema));
    summary->n_expected = merge->schema.n_point;
    summary->n_missing = summary->n_expected > summary->n_point ? summary->n_expected - summary->n_point : 0;
    for (uint32_t k = 1; k <= summary->n_shard; k++)
        if (!merge->present[k]) {
            if (summary->n_absent < MERGE_ABSENT_MAX)
                summary->absent[summary->n_absent] = k;
            summary->n_absent++;
        }
    return DSE_OK;
}

/* What follows from the rows of all points. */
static enum dse_status add_further(struct merge *merge, struct dse_error *err)
{
    if (!merge->options->further || merge->summary->n_missing > 0)
        return DSE_OK;
    DSE_TRY(merge_files_flush(&merge->files, err));
    DSE_TRY(merge->options->further(merge->options->user, &merge->schema, &merge->files, err));
    merge->schema.exchanged = merge->schema.schedules;
    return DSE_OK;
}

/* Everything under temporary names, so that `out` may be one of the shards; then the renames. */
static enum dse_status write_merged(struct merge *merge, const char *out, struct dse_error *err)
{
    bool whole;
    DSE_TRY(merge_files_open(&merge->files, out, &merge->schema, err));
    enum dse_status status = copy_rows(merge, err);
    if (status == DSE_OK)
        status = add_further(merge, err);
    if (status == DSE_OK)
        status = merge_files_close(&merge->files, err);
    if (status == DSE_OK)
        status = cube_build_sorted(merge->files.h5_path, &merge->schema, merge->options->provenance,
                                   &merge->files.index, merge->files.digest, err);
    if (status != DSE_OK) {
        merge_files_discard(&merge->files);
        return status;
    }
    return merge_files_rename(out, &whole, err);
}

/* Is there an `out`, and is it one of the shards? */
static enum dse_status look_at_out(const char *out, const char *const *path, size_t n, bool *there,
                                   bool *is_shard, struct dse_error *err)
{
    char target[MERGE_PATH_MAX], source[MERGE_PATH_MAX];
    *there = *is_shard = false;
    if (!result_path(target, sizeof target, out, ".csv"))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    *there = access(target, F_OK) == 0;
    if (!*there)
        return DSE_OK;
    char *real = realpath(target, NULL);
    for (size_t i = 0; i < n && real; i++) {
        char *other = result_path(source, sizeof source, path[i], ".csv") ? realpath(source, NULL) : NULL;
        *is_shard |= other && strcmp(real, other) == 0;
        free(other);
    }
    free(real);
    return DSE_OK;
}

/* `out` must be new, or one of the shards. When a merge into it was killed, its rows are taken in like those
 * of a shard, so that the same command succeeds and nothing can be lost. */
static enum dse_status choose_shards(const char *out, const char *const *shard, size_t n, bool killed,
                                     const struct lock_owner *awaited, const char ***chosen, size_t *n_chosen,
                                     struct dse_error *err)
{
    char target[MERGE_PATH_MAX];
    bool there = false, is_shard;
    DSE_TRY(look_at_out(out, shard, n, &there, &is_shard, err));
    if (there && !is_shard && !killed && awaited->pid != 0)
        return dse_fail_at(err, DSE_BAD_USAGE, result_path(target, sizeof target, out, ".csv") ? target : out,
                           0,
                           "process %ld%s%s wrote this output until just now, and it is not one of the "
                           "shards; to add to it, "
                           "name it among them, else choose another output",
                           awaited->pid, awaited->host[0] ? " on " : "", awaited->host);
    if (there && !is_shard && !killed)
        return dse_fail_at(
            err, DSE_BAD_USAGE, result_path(target, sizeof target, out, ".csv") ? target : out, 0,
            "exists and is not one of the shards; to add to it, name it among them (dse merge %s "
            "%s SHARD.h5...), else delete it or choose another output",
            out, out);
    *chosen = malloc((n + 1) * sizeof **chosen);
    if (!*chosen)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu shards", n);
    memcpy(*chosen, shard, n * sizeof **chosen);
    *n_chosen = n;
    if (there && !is_shard)
        (*chosen)[(*n_chosen)++] = out;
    return DSE_OK;
}

/* Keep other writers off the table that is there, even where OUT.lock is deleted; -1: none is there. */
static enum dse_status hold_table(const char *out, int *fd, struct dse_error *err)
{
    char path[MERGE_PATH_MAX];
    *fd = -1;
    if (!result_path(path, sizeof path, out, ".csv"))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    return table_open(path, O_RDWR | O_NONBLOCK, fd, err);
}

static enum dse_status merge_locked(const char *out, const struct lock *lock, const char *const *shard,
                                    size_t n_shard, const struct merge_options *options,
                                    struct merge_summary *summary, struct dse_error *err)
{
    bool finished;
    const char **chosen;
    struct merge merge = {.summary = summary, .options = options};
    DSE_TRY(merge_files_rename(out, &finished, err));
    bool killed = finished || merge_files_begun(out);
    DSE_TRY(choose_shards(out, shard, n_shard, killed, lock_awaited(lock), &chosen, &n_shard, err));
    arena_init(&merge.arena);
    enum dse_status status = merge_rows_init(&merge.rows, n_shard, err);
    if (status == DSE_OK)
        status = open_shards(&merge, chosen, out, err);
    if (status == DSE_OK)
        status = write_merged(&merge, out, err);
    merge_rows_free(&merge.rows);
    free(merge.present);
    free(chosen);
    arena_free(&merge.arena);
    return status;
}

enum dse_status merge_shards(const char *out, const char *const *shard, size_t n_shard,
                             const struct merge_options *options, struct merge_summary *summary,
                             struct dse_error *err)
{
    struct lock *lock;
    memset(summary, 0, sizeof *summary);
    if (n_shard == 0)
        return dse_fail(err, DSE_BAD_USAGE, "nothing to merge: name at least one shard");
    int table;
    DSE_TRY(lock_take(out, options->provenance->command, &lock, NULL, err));
    enum dse_status status = hold_table(out, &table, err);
    if (status == DSE_OK)
        status = merge_locked(out, lock, shard, n_shard, options, summary, err);
    (void)table_close(table);
    lock_release(lock);
    return status;
}

enum dse_status merge_finish(const char *out, bool *finished, struct dse_error *err)
{
    char path[MERGE_PATH_MAX];
    struct lock *lock;
    bool whole = false;
    if (finished)
        *finished = false;
    if (!result_path(path, sizeof path, out, ".merging.h5"))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    if (access(path, F_OK) != 0)
        return DSE_OK;
    DSE_TRY(lock_take(out, "dse merge (finishing)", &lock, NULL, err));
    int table;
    enum dse_status status = hold_table(out, &table, err);
    if (status == DSE_OK)
        status = merge_files_rename(out, &whole, err);
    (void)table_close(table);
    lock_release(lock);
    if (finished)
        *finished = whole;
    return status;
}

enum dse_status merge_missing_find(const char *out, const struct result_schema *schema, const uint32_t *cell,
                                   size_t n, struct merge_summary *summary, struct dse_error *err)
{
    struct journal_scan *scan;
    struct journal_row row;
    enum dse_status status = DSE_OK;
    size_t next = 0;
    summary->n_example = 0;
    DSE_TRY(journal_scan_open(out, schema, &scan, err));
    while (summary->n_example < MERGE_MISSING_MAX && next < n) {
        bool more;
        status = journal_scan_next(scan, &row, &more, err);
        if (status != DSE_OK)
            break;
        /* The merged journal is in cell order; JOURNAL_NO_CELL and the end are beyond all cells. */
        if (more && row.exchanged)
            continue;
        uint64_t here = more ? row.cell : JOURNAL_NO_CELL;
        for (; next < n && cell[next] < here; next++)
            note_missing(summary, schema, cell[next]);
        next += next < n && cell[next] == here;
    }
    journal_scan_close(scan);
    return status;
}
