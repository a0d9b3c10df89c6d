/* The inner half of the YAML reader, and its limits. */
#ifndef BASE_YAML_TREE_H
#define BASE_YAML_TREE_H

#include <stddef.h>

#include "base/status.h"
#include "base/yaml.h"

enum {
    YAML_FILE_MAX_BYTE = 64 * 1024 * 1024,
    YAML_NESTING_MAX = 64,
    /* pairs looked at by merge keys in one file: bounds what aliases can blow up */
    YAML_MERGED_MAX = 1000 * 1000
};

/* Parse `bytes` into doc->root; doc->path and doc->arena are set. The caller frees the arena on failure. */
DSE_MUST_CHECK enum dse_status yaml_tree_build(struct yaml_doc *doc, const char *bytes, size_t length,
                                               struct dse_error *err);

#endif
