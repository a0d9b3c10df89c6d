/* YAML files of Timeloop v3 and v4: what is read, what is refused by name and why is listed in
 * docs/timeloop.md. */
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
 * arithmetic, or with the nodes of v4? */
bool timeloop_is_architecture(const struct yaml_doc *doc);

/* Build an architecture from a parsed Timeloop file (nodes of v4, as written or as its front end dumped
 * them, tree v0.2 to v0.4 or flat v0.1). Constraints of the file become rules of the architecture. A
 * top-level ERT and ART are applied; each may stand in a file of its own, `ert_doc` and `art_doc` (NULL:
 * none), but not in both. Overrides: "LEVEL.attribute" (also "MAC.attribute") replaces or adds that
 * attribute under any of its spellings; "NODE.count" replaces the n of a node NAME[0..n-1], "NODE.meshX" and
 * "NODE.meshY" that of `spatial`. An unknown path is an error that names the nearest one. DSE_BAD_INPUT, or
 * DSE_LIMIT beyond the documented limits; with doc->faults errors are noted there, and where some were
 * `arch` is not to be used, of a problem neither. Const on `doc`: threads may share it. */
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

/* Does the file hold constraints for Timeloop's mapper (`architecture_constraints`, `mapspace_constraints`,
 * ...)? */
bool timeloop_is_constraints(const struct yaml_doc *doc);

/* Those constraints in our own words, as a list (docs/engines.md, "Constraints") with the lines and the path
 * of the file. Release `list` with yaml_doc_free. DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status timeloop_constraints_read(const struct yaml_doc *doc, struct yaml_doc *list,
                                                         struct dse_error *err);

/* Read a Timeloop problem (shape + instance). */
DSE_MUST_CHECK enum dse_status problem_read(const char *path, struct problem *problem, struct dse_error *err);
DSE_MUST_CHECK enum dse_status problem_build(const struct yaml_doc *doc, struct problem *problem,
                                             struct dse_error *err);

/* Read a Timeloop mapping for this problem and architecture. Factor products are checked here (Timeloop's
 * own words); capacity and mesh by the evaluator. */
DSE_MUST_CHECK enum dse_status mapping_read(const char *path, const struct problem *problem,
                                            const struct architecture *arch, struct mapping *mapping,
                                            struct dse_error *err);
DSE_MUST_CHECK enum dse_status mapping_build(const struct yaml_doc *doc, const struct problem *problem,
                                             const struct architecture *arch, struct mapping *mapping,
                                             struct dse_error *err);

#endif
