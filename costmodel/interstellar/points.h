/* The one-line notation of mappings, innermost level first (docs/interstellar.md, "A mapping in one line"):
 * [IC:8 OC:2 OY:13] / [OC:2 FX:3 OX:13] / [OC:6 FY:3 ON:16 IC:2] ; L0 OC:16 | IC:3 OX:4  In brackets the
 * loops of each level, the innermost first; then, for an array of copies of level 0, the loops of each of
 * its dimensions, neighbours first. A loop of one iteration in a bracket says where a loop that is only
 * spatial stands; without it that loop is the outermost. "-Weights" in a bracket: not kept there. */
#ifndef COSTMODEL_INTERSTELLAR_POINTS_H
#define COSTMODEL_INTERSTELLAR_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

/* Is this the text of a file of such lines? Its first line that is neither empty nor a comment begins with a
 * bracket that is no YAML. */
bool points_is(const char *text, size_t length);

/* Read one line (without its end). Loops have the authors' names, the paper's letters or their dimensions'
 * names. Keeps what the machine can unless it says otherwise; whether factors cover the bounds and the
 * mapping fits is not looked at. DSE_BAD_INPUT with `path`, `line` and the column. */
DSE_MUST_CHECK enum dse_status points_read_line(const char *text, size_t length, const char *path, int line,
                                                const struct problem *problem,
                                                const struct architecture *arch, struct mapping *mapping,
                                                struct dse_error *err);

/* Append the line, without its end; points_read_line gives a mapping of the same cost by every accounting of
 * this room. */
void points_write(const struct mapping *mapping, const struct problem *problem,
                  const struct architecture *arch, struct text_buffer *out);

#endif
