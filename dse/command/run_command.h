/* The command that computes a result file anew. */
#ifndef DSE_COMMAND_RUN_COMMAND_H
#define DSE_COMMAND_RUN_COMMAND_H

#include "base/text.h"
#include "results/record/schema.h"

/* Append "dse run SPEC -o OUT --set KEY=VALUE", quoted for a shell; of a schema without inputs the file is
 * called SPEC. */
void run_command_append(const char *out, const struct result_schema *schema, struct text_buffer *text);

#endif
