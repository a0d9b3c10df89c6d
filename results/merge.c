#include "results/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"
#include "results/cube.h"
#include "results/cube_read.h"
#include "results/cube_rows.h"
#include "results/journal.h"

/* One shard being merged. */
struct shard {
    struct cube_rows rows;
    size_t next; /* row */
};

struct merge {
    struct result_schema schema;
    struct arena arena; /* the schema */
    struct shard *shard;
    size_t n_shard, n_open;
    struct merge_summary *summary;
};

/* The shards' schemas must be one: same specification hash and, through the journal headers, same columns. */
static enum dse_status open_shards(struct merge *merge, const char *const *path, struct dse_error *err)
{
    for (size_t i = 0; i < merge->n_shard; i++) {
        struct result_schema schema;
        char h5_path[4096];
        if (!result_path(h5_path, sizeof h5_path, path[i], ".h5"))
            return dse_fail(err, DSE_LIMIT, "the path of a shard is too long");
        DSE_TRY(cube_read_schema(h5_path, &merge->arena, &schema, err));
        if (i == 0)
            merge->schema = schema;
        else if (schema.specification_hash != merge->schema.specification_hash)
            return dse_fail_at(err, DSE_BAD_INPUT, h5_path, 0,
                               "from another specification (hash %016" PRIx64 ") than %s (%016" PRIx64 ")",
                               schema.specification_hash, path[0], merge->schema.specification_hash);
        DSE_TRY(cube_rows_open(&merge->shard[i].rows, path[i], &merge->schema, err));
        merge->n_open++;
        if (!merge->shard[i].rows.csv.file)
            return dse_fail_at(err, DSE_IO, merge->shard[i].rows.csv_path, 0, "cannot be read: %s",
                               strerror(ENOENT));
    }
    return DSE_OK;
}

/* The line of a row without wall times, for comparison: times differ between runs, results must not. */
static enum dse_status comparable_line(struct merge *merge, struct cube_rows *rows, size_t i,
                                       struct arena *arena, struct text_buffer *line, struct dse_error *err)
{
    struct point_record point;
    struct layer_record *layer;
    size_t n;
    text_clear(line);
    DSE_TRY(cube_rows_point(rows, i, &point, err));
    DSE_TRY(cube_rows_layers(rows, i, arena, &layer, &n, err));
    point.seconds = 0;
    csv_point_line(line, &merge->schema, &point);
    for (size_t k = 0; k < n; k++) {
        layer[k].seconds = 0;
        csv_layer_line(line, &merge->schema, &point, &layer[k]);
    }
    return line->failed ? dse_fail(err, DSE_NO_MEMORY, "out of memory for a line") : DSE_OK;
}

/* The same cell in shards `a` and `b`: the results must agree. */
static enum dse_status compare_rows(struct merge *merge, struct shard *a, struct shard *b,
                                    struct arena *arena, struct dse_error *err)
{
    struct text_buffer one, two;
    text_init(&one);
    text_init(&two);
    enum dse_status status = comparable_line(merge, &a->rows, a->next, arena, &one, err);
    if (status == DSE_OK)
        status = comparable_line(merge, &b->rows, b->next, arena, &two, err);
    if (status == DSE_OK && (one.length != two.length || memcmp(one.data, two.data, one.length) != 0))
        status = dse_fail_at(err, DSE_BAD_INPUT, b->rows.csv_path,
                             b->rows.index.entry[b->rows.row[b->next].entry].line,
                             "the same point as %s:%d with another result", a->rows.csv_path,
                             a->rows.index.entry[a->rows.row[a->next].entry].line);
    text_free(&one);
    text_free(&two);
    return status;
}

/* The shard whose next row has the lowest cell, or NULL at the end. Twins of that row are compared and skipped. */
static enum dse_status lowest(struct merge *merge, struct arena *arena, struct shard **found,
                              struct dse_error *err)
{
    *found = NULL;
    for (size_t i = 0; i < merge->n_shard; i++) {
        struct shard *shard = &merge->shard[i];
        if (shard->next == shard->rows.n)
            continue;
        if (!*found || shard->rows.row[shard->next].cell < (*found)->rows.row[(*found)->next].cell)
            *found = shard;
    }
    for (size_t i = 0; i < merge->n_shard && *found; i++) {
        struct shard *shard = &merge->shard[i];
        if (shard == *found || shard->next == shard->rows.n ||
            shard->rows.row[shard->next].cell != (*found)->rows.row[(*found)->next].cell)
            continue;
        DSE_TRY(compare_rows(merge, *found, shard, arena, err));
        shard->next++;
        merge->summary->n_duplicate++;
    }
    return DSE_OK;
}

static enum dse_status copy_rows(struct merge *merge, struct journal *journal, struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    struct arena arena;
    arena_init(&arena);
    while (status == DSE_OK) {
        struct shard *shard;
        struct point_record point;
        struct layer_record *layer = NULL;
        size_t n = 0;
        arena_reset(&arena);
        status = lowest(merge, &arena, &shard, err);
        if (status != DSE_OK || !shard)
            break;
        status = cube_rows_point(&shard->rows, shard->next, &point, err);
        if (status == DSE_OK)
            status = cube_rows_layers(&shard->rows, shard->next, &arena, &layer, &n, err);
        if (status == DSE_OK)
            status = journal_append_record(journal, &point, layer, n, err);
        shard->next++;
        merge->summary->n_point++;
    }
    arena_free(&arena);
    return status;
}

/* Write the merged journal under a temporary name, so that `out` may be one of the shards, and rename it. */
static enum dse_status write_merged(struct merge *merge, const char *out, const struct provenance *provenance,
                                    struct dse_error *err)
{
    static const char *const ending[] = {".layers.csv", ".csv", ".h5"};
    char temporary[4000], from[4096], to[4096];
    struct journal *journal;
    if (!result_path(temporary, sizeof temporary, out, ".merging.h5"))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    DSE_TRY(journal_open(temporary, &merge->schema, (struct journal_options){.fresh = true}, &journal, err));
    enum dse_status status = copy_rows(merge, journal, err);
    journal_close(journal);
    if (status == DSE_OK)
        status = cube_build(temporary, &merge->schema, provenance, err);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        int fits = result_path(from, sizeof from, temporary, ending[i]) &&
                   result_path(to, sizeof to, out, ending[i]);
        if (status == DSE_OK && (!fits || rename(from, to) != 0))
            status = dse_fail_at(err, DSE_IO, to, 0, "cannot be written: %s", strerror(errno));
        if (status != DSE_OK && fits)
            unlink(from);
    }
    return status;
}

/* `out` must be new, or one of the shards. */
static enum dse_status check_out(const char *out, const char *const *path, size_t n, struct dse_error *err)
{
    char target[4096], source[4096];
    if (n == 0)
        return dse_fail(err, DSE_BAD_USAGE, "nothing to merge: name at least one shard");
    if (!result_path(target, sizeof target, out, ".csv"))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    if (access(target, F_OK) != 0)
        return DSE_OK;
    char *real = realpath(target, NULL);
    int is_shard = 0;
    for (size_t i = 0; i < n && real; i++) {
        char *other = result_path(source, sizeof source, path[i], ".csv") ? realpath(source, NULL) : NULL;
        is_shard |= other && strcmp(real, other) == 0;
        free(other);
    }
    free(real);
    return is_shard
               ? DSE_OK
               : dse_fail_at(err, DSE_BAD_USAGE, target, 0,
                             "exists and is not one of the shards; name it among them, delete it, or choose "
                             "another output");
}

enum dse_status merge_shards(const char *out, const char *const *shard, size_t n_shard,
                             const struct provenance *provenance, struct merge_summary *summary,
                             struct dse_error *err)
{
    struct merge merge = {.n_shard = n_shard, .summary = summary};
    *summary = (struct merge_summary){0};
    DSE_TRY(check_out(out, shard, n_shard, err));
    merge.shard = calloc(n_shard, sizeof *merge.shard);
    if (!merge.shard)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu shards", n_shard);
    arena_init(&merge.arena);
    enum dse_status status = open_shards(&merge, shard, err);
    if (status == DSE_OK) {
        summary->n_expected = merge.schema.n_point;
        status = write_merged(&merge, out, provenance, err);
    }
    for (size_t i = 0; i < merge.n_open; i++)
        cube_rows_close(&merge.shard[i].rows);
    free(merge.shard);
    arena_free(&merge.arena);
    return status;
}
