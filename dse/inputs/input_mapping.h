/* The mapping that a command prices, and the layer it was made for. */
#ifndef DSE_INPUTS_INPUT_MAPPING_H
#define DSE_INPUTS_INPUT_MAPPING_H

#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"
#include "dse/console/cli.h"

/* --pad DIM=N: the loop bounds of a layer that an engine enlarged. DSE_BAD_USAGE. */
DSE_MUST_CHECK enum dse_status input_pad(const struct cli_args *args, struct problem *problem,
                                         struct dse_error *err);

/* The same for one dimension by name, as text. DSE_BAD_USAGE: there is none, or the bound is smaller. */
DSE_MUST_CHECK enum dse_status input_pad_dim(struct problem *problem, const char *dim, const char *bound,
                                             struct dse_error *err);

/* As mapping_read; a tensor that a Timeloop machine's outermost level bypasses is warned of on console->err
 * (on a native machine it is an error). */
DSE_MUST_CHECK enum dse_status input_mapping(const char *path, const struct problem *problem,
                                             const struct architecture *arch, const struct console *console,
                                             struct mapping *mapping, struct dse_error *err);

enum { INPUT_KEPT_MAX = 512 };

/* "kept" when the mapping keeps what the machine's file demands of mappings, "broken: " and what it breaks
 * first, also as a warning on console->err; NULL: it demands nothing. Returns `buffer`, of INPUT_KEPT_MAX
 * bytes. */
const char *input_mapping_kept(const char *path, const struct problem *problem,
                               const struct architecture *arch, const struct mapping *mapping,
                               const struct console *console, char *buffer);

#endif
