/* The other part of cube_read.h: the input files that a result file keeps, and who made it. */
#include <hdf5.h>
#include <string.h>

#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_read.h"
#include "base/text.h"
#include "results/cube/cube_read.h"

/* One text dataset of the group `inputs`, which must have `n` values (*n SIZE_MAX: any number, which is put
 * there). */
static enum dse_status read_column(hid_t group, const char *name, struct arena *arena, const char ***text,
                                   size_t *n, struct dse_error *err)
{
    double *number;
    size_t found;
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    if (dataset < 0)
        return dse_fail(err, DSE_BAD_INPUT, "dataset inputs/%s is missing", name);
    enum dse_status status = hdf5_read_dataset(dataset, arena, text, &number, &found, err);
    H5Dclose(dataset);
    DSE_TRY(status);
    if (!*text || (*n != SIZE_MAX && found != *n))
        return dse_fail(err, DSE_BAD_INPUT, "dataset inputs/%s is not one text for each input", name);
    *n = found;
    return DSE_OK;
}

static enum dse_status read_group(hid_t group, struct arena *arena, struct result_schema *schema,
                                  struct dse_error *err)
{
    const char **name, **role, **path, **content;
    size_t n = SIZE_MAX;
    DSE_TRY(read_column(group, "input", arena, &name, &n, err));
    DSE_TRY(read_column(group, "role", arena, &role, &n, err));
    DSE_TRY(read_column(group, "path", arena, &path, &n, err));
    DSE_TRY(read_column(group, "content", arena, &content, &n, err));
    struct result_input *input = arena_alloc(arena, n + 1, sizeof *input);
    DSE_TRY(arena_check(arena, "the inputs of a result file", err));
    for (size_t i = 0; i < n; i++)
        input[i] = (struct result_input){role[i], name[i], path[i], content[i], strlen(content[i])};
    schema->input = input;
    schema->n_input = n;
    return DSE_OK;
}

static enum dse_status read_provenance(hid_t file, struct arena *arena, struct provenance *provenance,
                                       struct dse_error *err)
{
    memset(provenance, 0, sizeof *provenance);
    const struct {
        const char *name;
        char *text;
        size_t size;
    } table[] = {
        {"dse_version", provenance->dse_version, sizeof provenance->dse_version},
        {"git_revision", provenance->git_revision, sizeof provenance->git_revision},
        {"compiler", provenance->compiler, sizeof provenance->compiler},
        {"build_variant", provenance->build_variant, sizeof provenance->build_variant},
        {"build_flags", provenance->build_flags, sizeof provenance->build_flags},
        {"libraries", provenance->libraries, sizeof provenance->libraries},
        {"hdf5_version", provenance->hdf5_version, sizeof provenance->hdf5_version},
        {"host", provenance->host, sizeof provenance->host},
        {"start_time", provenance->start_time, sizeof provenance->start_time},
        {"end_time", provenance->end_time, sizeof provenance->end_time},
        {"command", provenance->command, sizeof provenance->command},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *word;
        DSE_TRY(hdf5_read_word(file, table[i].name, arena, &word, err));
        (void)text_copy(table[i].text, table[i].size, word);
    }
    provenance->n_thread = (unsigned)hdf5_read_count(file, "n_thread");
    return DSE_OK;
}

static enum dse_status read_all(hid_t file, struct arena *arena, struct result_schema *schema,
                                struct provenance *provenance, struct dse_error *err)
{
    const char **set;
    schema->input = NULL;
    schema->n_input = 0;
    DSE_TRY(hdf5_read_attribute(file, "set", arena, &set, &schema->n_set, err));
    schema->set = set;
    schema->shard = (uint32_t)hdf5_read_count(file, "shard");
    schema->n_shard = (uint32_t)hdf5_read_count(file, "n_shard");
    schema->n_point_shard = hdf5_read_count(file, "n_point_shard");
    if (provenance)
        DSE_TRY(read_provenance(file, arena, provenance, err));
    if (H5Lexists(file, "inputs", H5P_DEFAULT) <= 0)
        return DSE_OK;
    hid_t group = H5Gopen2(file, "inputs", H5P_DEFAULT);
    if (group < 0)
        return dse_fail(err, DSE_BAD_INPUT, "`inputs` is not a group");
    enum dse_status status = read_group(group, arena, schema, err);
    H5Gclose(group);
    return status;
}

enum dse_status cube_read_inputs(const char *path, struct arena *arena, struct result_schema *schema,
                                 struct provenance *provenance, struct dse_error *err)
{
    hid_t file;
    struct dse_error why = {0};
    DSE_TRY(hdf5_open(path, &file, err));
    enum dse_status status = read_all(file, arena, schema, provenance, &why);
    H5Fclose(file);
    return status == DSE_OK ? DSE_OK : dse_fail_at(err, status, path, 0, "%s", why.text);
}
