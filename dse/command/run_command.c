/* The specification's path and what --set gave are in the result file. */
#include "dse/command/run_command.h"

#include <string.h>

#include "dse/command/slurm.h"
#include "dse/inputs/input_store.h"

void run_command_append(const char *out, const struct result_schema *schema, struct text_buffer *text)
{
    const char *path = "SPEC";
    for (size_t i = 0; i < schema->n_input; i++)
        if (strcmp(schema->input[i].role, INPUT_ROLE_SPECIFICATION) == 0 && schema->input[i].path[0])
            path = schema->input[i].path;
    text_append_string(text, "dse run ");
    slurm_quote(text, path);
    text_append_string(text, " -o ");
    slurm_quote(text, out);
    for (size_t i = 0; i < schema->n_set; i++) {
        text_append_string(text, " --set ");
        slurm_quote(text, schema->set[i]);
    }
}
