/* What `dse eval --vectors` takes: its options, the file, and where the report goes. */
#include "dse/command/eval_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"
#include "dse/report/vector_eval.h"

static const char *const format_name[] = {"table", "csv", "json"};

static enum dse_status check_options(const struct cli_args *args, struct dse_error *err)
{
    static const char *const of_vectors[] = {"vectors", "mode", "orders", "project",
                                             "format",  "set",  "ert",    "art"};
    for (size_t i = 0; i < args->n_value; i++) {
        const char *name = args->value[i].option->name;
        bool known = false;
        for (size_t k = 0; k < sizeof of_vectors / sizeof of_vectors[0]; k++)
            known = known || strcmp(name, of_vectors[k]) == 0;
        if (!known)
            return dse_fail(err, DSE_BAD_USAGE, "--%s does not go with --vectors", name);
    }
    return args->n_operand == 1
               ? DSE_OK
               : dse_fail(err, DSE_BAD_USAGE,
                          "--vectors takes ARCH alone: the vectors say the problems and the mappings");
}

enum dse_status eval_vectors(const struct cli_args *args, const struct console *console,
                             const struct architecture *arch, struct dse_error *err)
{
    struct vector_request request = {.arch = arch,
                                     .mode = cli_value(args, "mode"),
                                     .orders = cli_value(args, "orders"),
                                     .path = cli_value(args, "vectors")};
    struct text_buffer out;
    static const char *const projection[VECTOR_PROJECTION_COUNT] = {"no", "raw", "log2"};
    size_t format, orders, project;
    char *text;
    DSE_TRY(check_options(args, err));
    DSE_TRY(cli_choice(args, "format", format_name, 3, REPORT_TABLE, &format, err));
    DSE_TRY(cli_choice(args, "orders", vector_orders_name, VECTOR_ORDERS_COUNT, 0, &orders, err));
    DSE_TRY(cli_choice(args, "project", projection, VECTOR_PROJECTION_COUNT, VECTOR_AS_IT_IS, &project, err));
    if (project != VECTOR_AS_IT_IS && orders != VECTOR_ORDERS_PLACES)
        return dse_fail(err, DSE_BAD_USAGE, "--project takes orders as places, which are near or far");
    DSE_TRY(vector_format_of(arch, &request.vectors, err));
    DSE_TRY(yaml_load(request.path, &text, &request.length, err));
    request.text = text;
    request.format = (enum report_format)format;
    request.projection = (enum vector_projection)project;
    text_init(&out);
    enum dse_status status = vector_eval(&request, &out, err);
    if (status == DSE_OK && out.data)
        fputs(out.data, console->out);
    text_free(&out);
    free(text);
    return status;
}
