/* The native network format (docs/networks.md) from a parsed file. */
#ifndef COSTMODEL_NATIVE_NETWORK_NATIVE_H
#define COSTMODEL_NATIVE_NETWORK_NATIVE_H

#include "base/yaml.h"
#include "costmodel/model/network.h"
#include "costmodel/model/problem.h"

/* Where the loop nests come from that a file names under `problems`: fills `problem` from the file `path`, as
 * written there; errors with their own place. */
struct network_problems {
    enum dse_status (*read)(void *user, const char *path, struct problem *problem, struct dse_error *err);
    void *user;
};

/* network_read (model/network.h) of a document, which is needed no longer afterwards, with `settings` for its
 * parameters. */
DSE_MUST_CHECK enum dse_status network_native_build(const struct yaml_doc *doc,
                                                    const struct network_problems *problems,
                                                    const struct network_settings *settings,
                                                    struct network *network, struct dse_error *err);

/* That `node` is a name of a network or a layer: letters, digits and a few signs, so that it can be a column
 * or a key; `what` names it in messages. */
DSE_MUST_CHECK enum dse_status network_check_name(const struct yaml_doc *doc, const struct ynode *node,
                                                  const char *what, struct dse_error *err);

/* The name that a layer gets from its file: the last part of `path` without .yaml, .yml, .json, .csv or
 * .onnx, with '_' for what no name may have; in `name`, which is also returned. */
char *network_name_of(const char *path, char name[PROBLEM_NAME_MAX]);

#endif
