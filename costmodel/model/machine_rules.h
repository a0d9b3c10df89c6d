/* What a machine's file demands of mappings, as `rules` of struct architecture holds it: one line for each
 * constraint, with the line of the file that it stands on. */
#ifndef COSTMODEL_MODEL_MACHINE_RULES_H
#define COSTMODEL_MODEL_MACHINE_RULES_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"
#include "base/yaml.h"

/* Begin rules of the file `path`; those of it that cannot be shown are replaced by '?'. */
void machine_rules_begin(struct text_buffer *rules, const char *path);

/* A list of the constraints (docs/engines.md), every one on its line of the file, in a document that bears
 * the file's path. Release with yaml_doc_free. DSE_NO_MEMORY; DSE_BAD_INPUT when the text is no rules. */
DSE_MUST_CHECK enum dse_status machine_rules_parse(const char *rules, struct yaml_doc *doc,
                                                   struct dse_error *err);

#endif
