/* Readers: files in, plain structs out. The rest of the program never sees a file format. A Timeloop v3 file is told from a
 * native one by its top-level keys (architecture.subtree / problem.shape / mapping list). */
#ifndef COSTMODEL_READERS_H
#define COSTMODEL_READERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/architecture.h"
#include "costmodel/mapping.h"
#include "costmodel/problem.h"

/* One quantity replaced by a sweep axis or --set: "GlobalBuffer.capacity" = "128 KiB". */
struct arch_override {
    const char *path;
    const char *value;
};

/* Build an architecture from a parsed native or Timeloop file with some quantities replaced (n_override, may be 0).
 * Every override must name a quantity of the file's schema (else: nearest path); its value is checked like a value in the
 * file, and an energy rule of the file is applied after the replacement. Const on `doc`: threads may share it. */
DSE_MUST_CHECK enum dse_status architecture_build(const struct yaml_doc *doc,
                                                  const struct arch_override *override, size_t n_override,
                                                  struct architecture *arch, struct dse_error *err);

/* The same for a Timeloop architecture whose Energy Reference Table is a file of its own (top-level `ERT`, as Accelergy
 * writes it); `ert` NULL: architecture_build. A native architecture has no use for one, and a file with an ERT inside has one
 * already: both are errors that name the ERT file. Const on both documents. */
DSE_MUST_CHECK enum dse_status architecture_build_with_ert(const struct yaml_doc *doc,
                                                           const struct yaml_doc *ert,
                                                           const struct arch_override *override,
                                                           size_t n_override, struct architecture *arch,
                                                           struct dse_error *err);

/* Read a native or Timeloop v3 architecture file; of the latter also the ERT, if the file holds one. */
DSE_MUST_CHECK enum dse_status architecture_read(const char *path, struct architecture *arch,
                                                 struct dse_error *err);

/* The unit of a path's quantity, for axis labels (UNIT_* as int), or -1 when it has none (mesh, switch, text).
 * DSE_BAD_INPUT when the file's schema has no such path. */
DSE_MUST_CHECK enum dse_status architecture_path_unit(const struct yaml_doc *doc, const char *path, int *unit,
                                                      struct dse_error *err);

/* Read a Timeloop v3 problem (shape + instance). */
DSE_MUST_CHECK enum dse_status problem_read(const char *path, struct problem *problem, struct dse_error *err);
DSE_MUST_CHECK enum dse_status problem_build(const struct yaml_doc *doc, struct problem *problem,
                                             struct dse_error *err);

/* Read a Timeloop v3 mapping for this problem and architecture. Factor products are checked here (Timeloop's own words);
 * capacity and mesh by the evaluator. */
DSE_MUST_CHECK enum dse_status mapping_read(const char *path, const struct problem *problem,
                                            const struct architecture *arch, struct mapping *mapping,
                                            struct dse_error *err);
DSE_MUST_CHECK enum dse_status mapping_build(const struct yaml_doc *doc, const struct problem *problem,
                                             const struct architecture *arch, struct mapping *mapping,
                                             struct dse_error *err);

#endif
