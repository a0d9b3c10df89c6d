/* Timeloop v3 YAML files: what is read, what is refused by name and why is listed in docs/timeloop.md. */
#ifndef COSTMODEL_TIMELOOP_TIMELOOP_H
#define COSTMODEL_TIMELOOP_TIMELOOP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

/* Does the file hold a Timeloop architecture: `architecture` (or `arch`) with a subtree, with storage and
 * arithmetic, or with the nodes of a later version (which timeloop_architecture_build then refuses by
 * name)? */
bool timeloop_is_architecture(const struct yaml_doc *doc);

/* Build an architecture from a parsed Timeloop file (tree v0.2 to v0.4 or flat v0.1). A top-level ERT and
 * ART are applied; each may stand in a file of its own, `ert_doc` and `art_doc` (NULL: none), but not in
 * both. Overrides:
 * "LEVEL.attribute" (also "MAC.attribute") replaces or adds that attribute under any of its spellings;
 * "NODE.count" replaces the n of a node NAME[0..n-1]. An unknown path is an error that names the nearest one.
 * DSE_BAD_INPUT, or DSE_LIMIT beyond the documented limits; with doc->faults errors are noted there, and
 * where some were `arch` is not to be used, of a problem neither. Const on `doc`: threads may share it. */
DSE_MUST_CHECK enum dse_status timeloop_architecture_build(const struct yaml_doc *doc,
                                                           const struct yaml_doc *ert_doc,
                                                           const struct yaml_doc *art_doc,
                                                           const struct arch_override *override,
                                                           size_t n_override, struct architecture *arch,
                                                           struct dse_error *err);

/* Is `path` one that timeloop_architecture_build can replace in this file? Timeloop's numbers carry no
 * units. */
DSE_MUST_CHECK enum dse_status timeloop_architecture_check_path(const struct yaml_doc *doc, const char *path,
                                                                struct dse_error *err);

/* Read a Timeloop v3 problem (shape + instance). */
DSE_MUST_CHECK enum dse_status problem_read(const char *path, struct problem *problem, struct dse_error *err);
DSE_MUST_CHECK enum dse_status problem_build(const struct yaml_doc *doc, struct problem *problem,
                                             struct dse_error *err);

/* Read a Timeloop v3 mapping for this problem and architecture. Factor products are checked here (Timeloop's
 * own words); capacity and mesh by the evaluator. */
DSE_MUST_CHECK enum dse_status mapping_read(const char *path, const struct problem *problem,
                                            const struct architecture *arch, struct mapping *mapping,
                                            struct dse_error *err);
DSE_MUST_CHECK enum dse_status mapping_build(const struct yaml_doc *doc, const struct problem *problem,
                                             const struct architecture *arch, struct mapping *mapping,
                                             struct dse_error *err);

#endif
