/* A list of what engines have made of files, by engine, option and name. */
#include "dse/solve/option_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dse/inputs/input_store.h"

struct known_file {
    const struct engine *engine;
    size_t option;
    const char *name;
};

struct option_files {
    struct input_store *inputs;
    const char *base_dir;
    size_t n, known_capacity, file_capacity;
    struct known_file *known; /* (n) */
    struct engine_file *file; /* (n) */
    struct arena arena;       /* names and contents */
};

static enum dse_status no_memory(struct dse_error *err)
{
    return dse_fail(err, DSE_NO_MEMORY, "out of memory for the files that options name");
}

enum dse_status option_files_new(struct input_store *inputs, const char *base_dir, struct option_files **out,
                                 struct dse_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return no_memory(err);
    (*out)->inputs = inputs;
    (*out)->base_dir = base_dir;
    arena_init(&(*out)->arena);
    return DSE_OK;
}

void option_files_free(struct option_files *files)
{
    if (!files)
        return;
    free(files->known);
    free(files->file);
    arena_free(&files->arena);
    free(files);
}

/* Enter what the engine makes of the bytes. */
static enum dse_status enter(struct option_files *files, const struct engine *engine, size_t option,
                             const char *name, const char *path, const char *bytes, size_t n_byte,
                             struct dse_error *err)
{
    struct known_file *known =
        array_grow(files->known, files->n + 1, &files->known_capacity, sizeof *files->known);
    if (known)
        files->known = known;
    struct engine_file *file = array_grow(files->file, files->n + 1, &files->file_capacity, sizeof *file);
    if (file)
        files->file = file;
    const char *kept = arena_copy_text(&files->arena, name, strlen(name));
    if (!known || !file || !kept)
        return no_memory(err);
    file += files->n;
    file->id = engine_file_id(bytes, n_byte);
    DSE_TRY(engine->read_file(option, path, bytes, n_byte, &files->arena, &file->content, err));
    known[files->n++] = (struct known_file){engine, option, kept};
    return DSE_OK;
}

enum dse_status option_files_value(struct option_files *files, const struct engine *engine, size_t option,
                                   const char *name, double *value, struct dse_error *err)
{
    char path[RESOLVE_PATH_MAX], *bytes;
    size_t n_byte, i = 0;
    while (i < files->n && (files->known[i].engine != engine || files->known[i].option != option ||
                            strcmp(files->known[i].name, name) != 0))
        i++;
    if (i == files->n) {
        DSE_TRY(input_store_option_file(files->inputs, name, files->base_dir, path, &bytes, &n_byte, err));
        enum dse_status status = enter(files, engine, option, name, path, bytes, n_byte, err);
        free(bytes);
        DSE_TRY(status);
    }
    *value = files->file[i].id;
    return DSE_OK;
}

const struct engine_file *option_files_all(const struct option_files *files, size_t *n)
{
    *n = files ? files->n : 0;
    return files ? files->file : NULL;
}
