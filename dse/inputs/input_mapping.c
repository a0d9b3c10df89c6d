/* A mapping file for a layer whose bounds may have been enlarged, with a warning where Timeloop is more
 * lenient than we are. */
#include "dse/inputs/input_mapping.h"

#include <string.h>

#include "base/text.h"
#include "costmodel/timeloop/timeloop.h"
#include "engines/mapspace/mapspace_constraints.h"

enum dse_status input_pad_dim(struct problem *problem, const char *dim, const char *text,
                              struct dse_error *err)
{
    char shown[96];
    uint64_t bound;
    const int d = problem_find_dim(problem, dim);
    if (d < 0)
        return dse_fail(err, DSE_BAD_USAGE, "padding: %s has no dimension %s", problem->name,
                        text_excerpt(dim, shown, sizeof shown));
    if (!text_parse_u64(text, &bound) || bound < problem->bound[d] || bound > UINT32_MAX)
        return dse_fail(err, DSE_BAD_USAGE, "padding %s=%s: a whole number from %u is expected", dim,
                        text_excerpt(text, shown, sizeof shown), problem->bound[d]);
    problem->bound[d] = (uint32_t)bound;
    return DSE_OK;
}

enum dse_status input_pad(const struct cli_args *args, struct problem *problem, struct dse_error *err)
{
    for (size_t i = 0; i < args->n_value; i++) {
        char name[PROBLEM_DIM_NAME_MAX], shown[96];
        if (strcmp(args->value[i].option->name, "pad") != 0)
            continue;
        const char *text = args->value[i].text, *equals = strchr(text, '=');
        size_t length = equals ? (size_t)(equals - text) : 0;
        if (length == 0 || length >= sizeof name)
            return dse_fail(err, DSE_BAD_USAGE, "--pad %s: write DIM=N, for instance P=54",
                            text_excerpt(text, shown, sizeof shown));
        memcpy(name, text, length);
        name[length] = '\0';
        DSE_TRY(input_pad_dim(problem, name, equals + 1, err));
    }
    return DSE_OK;
}

/* Timeloop takes a mapping whose outermost level bypasses a tensor, so the number stands, with a warning. */
static void warn_of_bypass(const struct console *console, const char *path, const struct problem *problem,
                           const struct architecture *arch, const struct mapping *mapping)
{
    const uint32_t outermost = arch->n_level - 1;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (!(mapping->level[outermost].keep >> t & 1u))
            fprintf(console->err,
                    "dse: warning: %s: %s is bypassed at %s, the outermost level: as in Timeloop nothing is "
                    "charged for bringing it in, and no lower bound holds\n",
                    path, problem->tensor[t].name, arch->level[outermost].name);
}

enum dse_status input_mapping(const char *path, const struct problem *problem,
                              const struct architecture *arch, const struct console *console,
                              struct mapping *mapping, struct dse_error *err)
{
    DSE_TRY(mapping_read(path, problem, arch, mapping, err));
    warn_of_bypass(console, path, problem, arch, mapping);
    return DSE_OK;
}

const char *input_mapping_kept(const char *path, const struct problem *problem,
                               const struct architecture *arch, const struct mapping *mapping,
                               const struct console *console, char *buffer)
{
    static const char broken[] = "broken: ";
    char *const why = buffer + sizeof broken - 1;
    const size_t size = INPUT_KEPT_MAX - (sizeof broken - 1);
    struct mapspace_constraints constraints;
    struct dse_error inner;
    if (!arch->rules[0])
        return NULL;
    memcpy(buffer, broken, sizeof broken);
    if (mapspace_constraints_read(NULL, NULL, NULL, problem, arch, &constraints, &inner) != DSE_OK)
        dse_error_print(&inner, why, size);
    else if (mapspace_constraints_keep(&constraints, problem, arch, mapping, why, size))
        return "kept";
    fprintf(console->err, "dse: warning: %s: the mapping breaks the machine's constraints: %s\n", path, why);
    return buffer;
}
