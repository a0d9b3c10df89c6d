/* Journals: the input is OUT.csv, then a line "--- layers", then OUT.layers.csv. It is read as it stands, and
 * once more with the headers put right and every line sealed anew, so that what lies behind the checksums is
 * reached too. What opens must take another point and open again; what does not must stay as it was, and open
 * after a repair. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/cube/cube_rows.h"
#include "results/journal/journal.h"
#include "results/journal/journal_scan.h"
#include "tests/fuzz/fuzz.h"
#include "tests/results/sample.h"

enum { PATH_MAX_BYTE = 512 };

/* One journal on disk. */
struct files {
    char folder[PATH_MAX_BYTE - 32], csv[PATH_MAX_BYTE], layers[PATH_MAX_BYTE];
};

static void make_folder(struct files *files)
{
    const char *base = getenv("TMPDIR");
    snprintf(files->folder, sizeof files->folder, "%s/dse-fuzz-journal-%ld", base ? base : "/tmp",
             (long)getpid());
    snprintf(files->csv, sizeof files->csv, "%s/out.csv", files->folder);
    snprintf(files->layers, sizeof files->layers, "%s/out.layers.csv", files->folder);
    FUZZ_REQUIRE(mkdir(files->folder, 0700) == 0, "%s cannot be made", files->folder);
}

static void remove_folder(const struct files *files)
{
    static const char *const aside[] = {"out.damaged.csv", "out.damaged.layers.csv"};
    char path[PATH_MAX_BYTE];
    for (size_t i = 0; i < sizeof aside / sizeof aside[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", files->folder, aside[i]);
        unlink(path);
    }
    unlink(files->csv);
    unlink(files->layers);
    FUZZ_REQUIRE(rmdir(files->folder) == 0, "%s holds something else", files->folder);
}

static void write_file(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file && fwrite(bytes, 1, length, file) == length && fclose(file) == 0, "%s", path);
}

static void require_file(const char *path, const char *bytes, size_t length)
{
    char *is = malloc(length + 2);
    FILE *file = fopen(path, "rb");
    FUZZ_REQUIRE(file && is && fread(is, 1, length + 2, file) == length && memcmp(is, bytes, length) == 0,
                 "%s was changed although it was refused", path);
    fclose(file);
    free(is);
}

static bool on_point(void *user, uint64_t key, const char *place, const char *status, const char *reason)
{
    size_t *n = user;
    (void)key;
    FUZZ_REQUIRE(place && status && reason, "a missing text");
    return ++*n < 10;
}

static void look_at(const struct files *files)
{
    struct dse_error err;
    size_t n = 0;
    (void)fuzz_ok(journal_each_not_ok(files->csv, on_point, &n, &err), &err);
}

static enum dse_status on_layer(void *user, const struct csv_row *line, struct dse_error *err)
{
    (void)err;
    *(size_t *)user += line->n > 0;
    return DSE_OK;
}

/* In the order of the cells, as the cube is built. */
static void read_in_order(const struct files *files)
{
    struct cube_rows rows;
    struct dse_error err;
    bool more;
    size_t n_layer = 0;
    if (!fuzz_ok(cube_rows_open(&rows, files->csv, &sample_schema, CUBE_ROWS_ENTRY_MAX, files->csv, &err),
                 &err))
        return;
    while (fuzz_ok(cube_rows_next(&rows, &more, &err), &err) && more) {
        FUZZ_REQUIRE(rows.at.cell < SAMPLE_CELL && rows.cell[0] < SAMPLE_BUFFER, "cell %" PRIu64,
                     rows.at.cell);
        (void)fuzz_ok(cube_rows_layers(&rows, on_layer, &n_layer, &err), &err);
    }
    cube_rows_close(&rows);
}

static enum dse_status check_layer(void *user, const struct csv_row *split, struct dse_error *err)
{
    uint64_t *n = user;
    (void)err;
    ++*n;
    FUZZ_REQUIRE(split->n > 0, "layer");
    return DSE_OK;
}

static void read_rows(const struct files *files)
{
    struct journal_scan *scan;
    struct journal_row row;
    struct dse_error err = {0};
    struct csv_row split;
    bool more = true;
    if (!fuzz_ok(journal_scan_open(files->csv, &sample_schema, &scan, &err), &err))
        return;
    csv_row_init(&split);
    while (fuzz_ok(journal_scan_next(scan, &row, &more, &err), &err) && more) {
        uint64_t n = 0;
        FUZZ_REQUIRE(row.cell == JOURNAL_NO_CELL || row.cell < SAMPLE_CELL, "cell");
        FUZZ_REQUIRE(row.outcome < RESULT_STATUS_COUNT, "point");
        if (fuzz_ok(journal_scan_layers_at(scan, row.layer_offset, row.layer_length, row.layer_line, &split,
                                           check_layer, &n, &err),
                    &err))
            FUZZ_REQUIRE(n == row.n_layer, "layers");
    }
    csv_row_free(&split);
    journal_scan_close(scan);
}

static enum dse_status on_row(void *user, const struct journal_row *row, enum journal_verdict *verdict,
                              struct dse_error *err)
{
    bool *there = user;
    (void)verdict;
    (void)err;
    *there = *there || (row && row->cell == 1);
    return DSE_OK;
}

/* Open, add a point, open again. False: refused, with the reason. */
static bool reopen(const struct files *files, bool repair, struct dse_error *err)
{
    struct journal *journal;
    struct point_record point;
    struct layer_record layer[SAMPLE_LAYER];
    struct level_values level[SAMPLE_LEVEL];
    uint32_t index[3];
    bool there = false;
    struct journal_options options = {.repair = repair, .visit = on_row, .user = &there};
    if (!fuzz_ok(journal_open(files->csv, &sample_schema, options, &journal, err), err))
        return false;
    size_t n = journal_count(journal);
    if (!there) {
        size_t n_layer = sample_point(1, &point, layer, index, level);
        FUZZ_REQUIRE(sample_append(journal, &sample_schema, &point, layer, n_layer, err) == DSE_OK, "%s",
                     err->text);
        n++;
    }
    FUZZ_REQUIRE(journal_finish(journal, err) == DSE_OK, "%s", err->text);
    options.repair = false;
    FUZZ_REQUIRE(journal_open(files->csv, &sample_schema, options, &journal, err) == DSE_OK,
                 "opened once, then: %s:%d: %s", err->file, err->line, err->text);
    FUZZ_REQUIRE(journal_count(journal) == n, "%zu points, now %zu", n, journal_count(journal));
    journal_close(journal);
    return true;
}

static void try_journal(const char *csv, size_t csv_length, const char *layers, size_t layers_length)
{
    struct files files;
    struct dse_error err = {0};
    make_folder(&files);
    write_file(files.csv, csv, csv_length);
    write_file(files.layers, layers, layers_length);
    look_at(&files);
    read_rows(&files);
    read_in_order(&files);
    if (!reopen(&files, false, &err)) {
        require_file(files.csv, csv, csv_length);
        require_file(files.layers, layers, layers_length);
        if (err.line > 1) /* another header is another specification, and no damage */
            FUZZ_REQUIRE(reopen(&files, true, &err) || err.line <= 1, "not repaired: %s", err.text);
    }
    remove_folder(&files);
}

/* `out` gets the header and the lines of `text` after its first one, each up to its last comma and sealed. A
 * last line without a line break stays torn. */
static void seal_lines(const char *text, size_t length, struct text_buffer *out)
{
    const char *end = text + length, *line = memchr(text, '\n', length);
    while (line && ++line < end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        if (!next) {
            text_append_bytes(out, line, (size_t)(end - line));
            return;
        }
        size_t start = out->length;
        const char *comma = memrchr(line, ',', (size_t)(next - line));
        text_append_bytes(out, line, (size_t)((comma ? comma : next) - line));
        text_append_bytes(out, ",", 1);
        csv_seal(out, start);
        line = next;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char divider[] = "--- layers\n";
    const char *csv = (const char *)data, *layers = csv + size;
    size_t csv_length = size, layers_length = 0;
    if (size == 0)
        return 0;
    const char *found = memmem(csv, size, divider, sizeof divider - 1);
    if (found) {
        csv_length = (size_t)(found - csv);
        layers = found + sizeof divider - 1;
        layers_length = size - csv_length - (sizeof divider - 1);
    }
    try_journal(csv, csv_length, layers, layers_length);
    struct text_buffer sealed_csv, sealed_layers;
    text_init(&sealed_csv);
    text_init(&sealed_layers);
    csv_point_header(&sealed_csv, &sample_schema);
    csv_layer_header(&sealed_layers, &sample_schema);
    seal_lines(csv, csv_length, &sealed_csv);
    seal_lines(layers, layers_length, &sealed_layers);
    FUZZ_REQUIRE(!sealed_csv.failed && !sealed_layers.failed, "out of memory");
    try_journal(sealed_csv.data, sealed_csv.length, sealed_layers.data, sealed_layers.length);
    text_free(&sealed_csv);
    text_free(&sealed_layers);
    return 0;
}
