/* The tables are linked into a folder of their own, beside which cube_build makes a file. */
#include "dse/command/current_cube.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/cube/cube.h"
#include "results/cube/cube_read.h"

enum { CUBE_PATH_MAX = 4096 };

static const char *const table[] = {".csv", ".layers.csv"};
enum { N_TABLE = sizeof table / sizeof *table };

static const char *keep(struct arena *arena, const char *text)
{
    return arena_copy_text(arena, text, strlen(text));
}

/* "FOLDER/now.csv". */
static void path_in(const char *folder, const char *ending, char path[CUBE_PATH_MAX])
{
    snprintf(path, CUBE_PATH_MAX, "%s/now%s", folder, ending);
}

static enum dse_status make_folder(struct arena *arena, struct current_cube *cube, struct dse_error *err)
{
    char name[CUBE_PATH_MAX];
    const char *in = getenv("TMPDIR");
    const int n = snprintf(name, sizeof name - 32, "%s/dse-report-XXXXXX", in && in[0] ? in : "/tmp");
    if (n < 0 || (size_t)n >= sizeof name - 32)
        return dse_fail(err, DSE_BAD_USAGE, "TMPDIR is too long a path");
    if (!mkdtemp(name))
        return dse_fail_at(err, DSE_IO, name, 0, "cannot be made: %s", strerror(errno));
    cube->folder = arena_copy_text(arena, name, strlen(name));
    if (!cube->folder)
        rmdir(name);
    return arena_check(arena, "the page", err);
}

static enum dse_status build(const char *h5, const struct result_schema *schema,
                             const struct provenance *provenance, struct arena *arena,
                             struct current_cube *cube, struct dse_error *err)
{
    char from[CUBE_PATH_MAX], to[CUBE_PATH_MAX];
    DSE_TRY(make_folder(arena, cube, err));
    for (size_t i = 0; i < N_TABLE; i++) {
        char *real = result_path(from, sizeof from, h5, table[i]) ? realpath(from, NULL) : NULL;
        path_in(cube->folder, table[i], to);
        const int linked = real ? symlink(real, to) : -1;
        free(real);
        if (linked != 0)
            return dse_fail_at(err, DSE_IO, from, 0, "cannot be read: %s", strerror(errno));
    }
    path_in(cube->folder, ".h5", to);
    cube->path = keep(arena, to);
    DSE_TRY(arena_check(arena, "the page", err));
    return cube_build(cube->path, schema, provenance, err);
}

static enum dse_status open_one(const char *given, struct arena *arena, struct current_cube *cube,
                                struct dse_error *err)
{
    static const char csv[] = ".csv";
    char path[CUBE_PATH_MAX];
    const size_t length = strlen(given), end = sizeof csv - 1;
    struct result_schema schema;
    struct provenance provenance;
    *cube = (struct current_cube){.path = keep(arena, given)};
    if (length > end && strcmp(given + length - end, csv) == 0) {
        if (!result_path(path, sizeof path, given, ".h5"))
            return dse_fail(err, DSE_BAD_USAGE, "a path is longer than %d bytes", CUBE_PATH_MAX);
        cube->path = keep(arena, path);
    }
    DSE_TRY(arena_check(arena, "the page", err));
    DSE_TRY(cube_read_schema(cube->path, arena, &schema, err));
    DSE_TRY(cube_read_inputs(cube->path, arena, &schema, &provenance, err));
    const uint64_t wanted = schema.n_shard > 1 ? schema.n_point_shard : schema.n_point;
    if (cube_read_count(cube->path) >= wanted || !result_path(path, sizeof path, cube->path, csv) ||
        access(path, R_OK) != 0)
        return DSE_OK;
    return build(cube->path, &schema, &provenance, arena, cube, err);
}

static void close_one(struct current_cube *cube)
{
    char path[CUBE_PATH_MAX];
    if (!cube->folder)
        return;
    for (size_t i = 0; i < N_TABLE; i++) {
        path_in(cube->folder, table[i], path);
        unlink(path);
    }
    path_in(cube->folder, ".h5", path);
    unlink(path);
    rmdir(cube->folder);
    cube->folder = NULL;
}

enum dse_status current_cubes_open(const char *const *given, size_t n, struct arena *arena,
                                   struct current_cubes *cubes, struct dse_error *err)
{
    *cubes = (struct current_cubes){.cube = arena_alloc(arena, n, sizeof *cubes->cube),
                                    .path = arena_alloc(arena, n, sizeof *cubes->path)};
    DSE_TRY(arena_check(arena, "the result files", err));
    for (; cubes->n < n; cubes->n++) {
        struct current_cube *cube = &cubes->cube[cubes->n];
        enum dse_status status = open_one(given[cubes->n], arena, cube, err);
        if (status != DSE_OK) {
            close_one(cube);
            return status;
        }
        cubes->path[cubes->n] = cube->path;
    }
    return DSE_OK;
}

void current_cubes_close(struct current_cubes *cubes)
{
    for (size_t i = 0; i < cubes->n; i++)
        close_one(&cubes->cube[i]);
}
