/* Reads the specification in each file for what it fixes. */
#include "dse/command/result_files.h"

#include <string.h>

#include "dse/spec/axis_kinds.h"
#include "dse/spec/spec.h"
#include "results/cube/cube_read.h"

static void add(struct cube_fixed *fixed, size_t *n, const char *name, const char *text, struct arena *arena)
{
    fixed[(*n)++] = (struct cube_fixed){arena_copy_text(arena, name, strlen(name)),
                                        arena_copy_text(arena, text, strlen(text))};
}

static enum dse_status read_fixed(struct cube_file *file, const struct sweep_spec *spec, struct arena *arena,
                                  struct dse_error *err)
{
    size_t n_kind, n = 0;
    const struct axis_kind *kind = axis_kind_all(&n_kind);
    struct cube_fixed *fixed =
        arena_alloc(arena, n_kind + spec->n_override + spec->n_parameter + 1, sizeof *fixed);
    DSE_TRY(arena_check(arena, "the result files", err));
    for (size_t i = 0; i < n_kind; i++)
        if (kind[i].is_key && spec->fixed[i].text)
            add(fixed, &n, kind[i].name, spec->fixed[i].text, arena);
    for (size_t i = 0; i < spec->n_override; i++)
        add(fixed, &n, spec->override[i].path, spec->override[i].value.text, arena);
    for (size_t i = 0; i < spec->n_parameter; i++)
        add(fixed, &n, spec->parameter[i].path, spec->parameter[i].value.text, arena);
    file->fixed = fixed;
    file->n_fixed = n;
    return arena_check(arena, "the result files", err);
}

enum dse_status result_files_read(const char *const *path, size_t n, struct arena *arena,
                                  const struct cube_file **file, struct dse_error *err)
{
    struct cube_file *all = arena_alloc(arena, n, sizeof *all);
    DSE_TRY(arena_check(arena, "the result files", err));
    *file = all;
    for (size_t i = 0; i < n; i++) {
        struct result_schema schema;
        struct sweep_spec spec;
        all[i].path = path[i];
        DSE_TRY(cube_read_schema(path[i], arena, &schema, err));
        if (n == 1 || cube_read_inputs(path[i], arena, &schema, NULL, NULL) != DSE_OK)
            continue;
        enum dse_status status = DSE_OK;
        if (spec_replay(&spec, &schema, path[i], NULL) == DSE_OK)
            status = read_fixed(&all[i], &spec, arena, err);
        spec_free(&spec);
        DSE_TRY(status);
    }
    return DSE_OK;
}
