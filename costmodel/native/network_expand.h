/* From a network file with parameters to one without (docs/networks.md, "Parameters" and "Blocks"). Nobody
 * but the network reader includes this. */
#ifndef COSTMODEL_NATIVE_NETWORK_EXPAND_H
#define COSTMODEL_NATIVE_NETWORK_EXPAND_H

#include "base/arena.h"
#include "base/yaml.h"
#include "costmodel/model/network.h"

struct network_expansion {
    const struct ynode *root; /* of a plain network file; nodes have the lines of those they stem from */
    uint32_t n_repeat;
    const struct network_repeat *repeat; /* (n_repeat) as in struct network */
    uint32_t n_parameter;
    const struct network_parameter *parameter; /* (n_parameter) as in struct network */
};

/* Whether the document has anything to expand. */
bool network_is_parametrised(const struct yaml_doc *doc);

/* Expand it with `settings`; all that is new lies in `arena`, the rest in the document. DSE_BAD_INPUT, with
 * file and line: what scope_evaluate refuses, unknown parameters and values, keys that a group of layers does
 * not have; DSE_LIMIT: too many layers. */
DSE_MUST_CHECK enum dse_status network_expand(const struct yaml_doc *doc,
                                              const struct network_settings *settings, struct arena *arena,
                                              struct network_expansion *out, struct dse_error *err);

#endif
