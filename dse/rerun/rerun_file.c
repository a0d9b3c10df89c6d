/* Opens the file as a sweep, says what has changed since (program, libraries), and checks that
 * specification, hash and axes agree with the file's own attributes. */
#include "dse/rerun/rerun_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dse/rerun/rerun_compare.h"
#include "results/cube/cube_read.h"

enum dse_status rerun_file_open(const char *h5, struct rerun_file *file, struct dse_error *err)
{
    file->h5 = h5;
    arena_init(&file->arena);
    DSE_TRY(cube_read_schema(h5, &file->arena, &file->stored, err));
    DSE_TRY(cube_read_inputs(h5, &file->arena, &file->stored, &file->made_by, err));
    if (file->stored.n_input == 0)
        return dse_fail_at(
            err, DSE_BAD_INPUT, h5, 0,
            "does not hold what it was computed from: the group `inputs`, with the specification and the "
            "architecture and network files, is missing (written by dse %s%s%s%s). Run its specification "
            "anew "
            "(--fresh, or another -o) for a file that can be computed again",
            file->made_by.dse_version[0] ? file->made_by.dse_version : "of unknown version",
            file->made_by.git_revision[0] ? " (" : "", file->made_by.git_revision,
            file->made_by.git_revision[0] ? ")" : "");
    DSE_TRY(spec_replay(&file->spec, &file->stored, h5, err));
    DSE_TRY(sweep_init(&file->sweep, &file->spec, err));
    return stored_rows_open(h5, &file->stored, &file->rows, err);
}

static void note(struct rerun_file *file, FILE *out, const char *what, const char *was, const char *is)
{
    if (strcmp(was, is) == 0)
        return;
    fprintf(out, "note: %s: file %s, this program %s\n", what, was[0] ? was : "does not say", is);
    file->is_other_program = file->is_other_program || was[0];
}

void rerun_file_note(struct rerun_file *file, FILE *out)
{
    struct provenance here;
    const struct provenance *was = &file->made_by;
    provenance_make(&here);
    note(file, out, "version", was->dse_version, here.dse_version);
    note(file, out, "git revision", was->git_revision, here.git_revision);
    note(file, out, "compiler", was->compiler, here.compiler);
    note(file, out, "build variant", was->build_variant, here.build_variant);
    note(file, out, "compiler flags", was->build_flags, here.build_flags);
    note(file, out, "libraries", was->libraries, here.libraries);
}

enum dse_status rerun_file_check(struct rerun_file *file, FILE *out, size_t *n_different,
                                 struct dse_error *err)
{
    struct text_buffer lines;
    struct comparison c = {
        .rows = file->rows, .stored = &file->stored, .now = &file->sweep.schema, .lines = &lines};
    if (file->sweep.schema.specification_hash != file->stored.specification_hash) {
        fprintf(out,
                "specification_hash: file %016" PRIx64 ", now %016" PRIx64
                ": the specification or an input in the file is not the one it was computed from\n",
                file->stored.specification_hash, file->sweep.schema.specification_hash);
        ++*n_different;
    }
    if (strcmp(file->stored.specification, file->spec.text) != 0) {
        fprintf(out, "specification: the attribute and the input of that role differ\n");
        ++*n_different;
    }
    text_init(&lines);
    bool same_shape = compare_axes(&c);
    *n_different += c.n_different;
    if (lines.data)
        fputs(lines.data, out);
    text_free(&lines);
    if (!same_shape)
        return dse_fail_at(err, DSE_BAD_INPUT, file->h5, 0,
                           "its axes are not those of the specification that it holds");
    return DSE_OK;
}

enum dse_status rerun_file_points(const struct rerun_file *file, bool **there, struct dse_error *err)
{
    struct arena arena;
    double *n_layer;
    size_t n;
    *there = calloc(file->sweep.n_point + 1, sizeof **there);
    if (!*there)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the points");
    arena_init(&arena);
    enum dse_status status = cube_read_number(file->h5, "n_layer", &arena, &n_layer, &n, err);
    for (size_t p = 0; status == DSE_OK && p < file->sweep.n_point; p++) {
        uint32_t index[SPEC_VARIABLE_MAX];
        uint64_t cell = 0;
        sweep_index(&file->sweep, p, index);
        for (size_t d = 0; d < file->stored.n_axis; d++)
            cell = cell * file->stored.axis[d].n_value + index[d];
        (*there)[p] = cell < n && !isnan(n_layer[cell]);
    }
    arena_free(&arena);
    if (status != DSE_OK) {
        free(*there);
        *there = NULL;
    }
    return status;
}

void rerun_file_close(struct rerun_file *file)
{
    stored_rows_close(file->rows);
    sweep_free(&file->sweep);
    spec_free(&file->spec);
    arena_free(&file->arena);
}
