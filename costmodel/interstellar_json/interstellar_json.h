/* The files of Interstellar's authors (X. Yang et al., ASPLOS 2020; docs/interstellar.md, "The authors'
 * files"): architectures and layers in JSON, which is read as YAML, and tables of layers in CSV. They are
 * told from native and Timeloop files by their keys. Their schedules are read in
 * costmodel/interstellar/hint.h. */
#ifndef COSTMODEL_INTERSTELLAR_JSON_INTERSTELLAR_JSON_H
#define COSTMODEL_INTERSTELLAR_JSON_INTERSTELLAR_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/model/architecture.h"
#include "costmodel/native/architecture_native.h"

/* Which of their files is it? By the keys that it has; right or wrong in the rest. */
bool interstellar_is_architecture(const struct yaml_doc *doc);
bool interstellar_is_layer(const struct yaml_doc *doc);
/* A table of layers: by its first line, or the name's ending .csv. */
bool interstellar_is_table(const char *name, const char *bytes, size_t length);

/* An architecture as entries of our own files, so that overrides, axes and checks are the same: levels RF
 * (inside the array; RF1, RF2 from inside when there are several), SRAM (outside it), DRAM (the outermost,
 * not limited), array PE, macs MAC. What their files do not say: 400 MHz, .075 pJ a MAC (the paper's), no
 * limits of bandwidth. DSE_BAD_INPUT with file and line: an unknown or missing key, lists of unequal length,
 * an array that is no square, a tensor that the outermost level does not hold, numbers out of range. Const
 * on `doc`, which must outlive the result. */
DSE_MUST_CHECK enum dse_status interstellar_arch_file_read(const struct yaml_doc *doc, struct arch_file *file,
                                                           struct dse_error *err);

/* The grid of memories that an architecture file asks to be tried: level v, 0 innermost, has n_point[v]
 * sizes, capacity x capacity_scale^i at access energy x access_cost_scale^i. */
struct interstellar_explore {
    uint32_t n_level;                 /* 0: the file asks for none */
    uint32_t n_point[ARCH_LEVEL_MAX]; /* (n_level) each >= 1 */
    double capacity_scale[ARCH_LEVEL_MAX], access_cost_scale[ARCH_LEVEL_MAX];
};

/* Of a file that interstellar_arch_file_read takes. */
DSE_MUST_CHECK enum dse_status interstellar_explore_read(const struct yaml_doc *doc,
                                                         struct interstellar_explore *explore,
                                                         struct dse_error *err);

/* A layer as the text of a native network file with that layer alone, named after the file; line for line,
 * so that errors of the reader have the line of the JSON. `text` is initialised. */
DSE_MUST_CHECK enum dse_status interstellar_layer_text(const struct yaml_doc *doc, struct text_buffer *text,
                                                       struct dse_error *err);

/* The same of a table with columns name,B,K,C,X,Y,FX,FY,stride,groups,count,origin,note (in any order; the
 * last five may be missing). A layer of g groups is one group with the count times g. */
DSE_MUST_CHECK enum dse_status interstellar_table_text(const char *name, const char *bytes, size_t length,
                                                       struct text_buffer *text, struct dse_error *err);

#endif
