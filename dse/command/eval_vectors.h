/* `dse eval ARCH --vectors FILE`: mappings as vectors in place of a problem and a mapping. */
#ifndef DSE_COMMAND_EVAL_VECTORS_H
#define DSE_COMMAND_EVAL_VECTORS_H

#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "dse/console/cli.h"

/* Evaluate the file of --vectors and print its rows. DSE_BAD_USAGE for options of other mappings; errors of
 * vector_eval. */
DSE_MUST_CHECK enum dse_status eval_vectors(const struct cli_args *args, const struct console *console,
                                            const struct architecture *arch, struct dse_error *err);

#endif
