/* Texts of a mapping for people or other tools: the loop nest, a launch on a GPU, a Halide schedule. `dse
 * map` and `dse eval` have an option for each. Adding one = a constant struct and a line in
 * costmodel/mapping_text_registry.c. */
#ifndef COSTMODEL_MODEL_MAPPING_TEXT_H
#define COSTMODEL_MODEL_MAPPING_TEXT_H

#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/mapping.h"

struct mapping_text {
    const char *name;     /* the option: --nest */
    const char *sentence; /* what is printed, for help: "every mapping as a loop nest" */
    /* Is there such a text of mappings of this problem on this machine? DSE_BAD_INPUT or DSE_BAD_USAGE with
     * the reason. NULL: of all. */
    enum dse_status (*accepts)(const struct problem *problem, const struct architecture *arch,
                               struct dse_error *err);
    void (*write)(const struct mapping *mapping, const struct problem *problem,
                  const struct architecture *arch, struct text_buffer *out);
    /* The same as a row of CSV, without end of line, and the names of its columns; NULL: it has none. */
    void (*csv_header)(struct text_buffer *out);
    void (*csv_row)(const struct mapping *mapping, const struct problem *problem,
                    const struct architecture *arch, struct text_buffer *out);
};

/* Registry (costmodel/mapping_text_registry.c): every text, in the order help and outputs have them. */
const struct mapping_text *const *mapping_text_all(size_t *n);

#endif
