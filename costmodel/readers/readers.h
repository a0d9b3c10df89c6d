/* Architecture and network files of any format: a Timeloop v3 file is told from a native one by its top-level
 * keys. The rest of the program never sees a file format. */
#ifndef COSTMODEL_READERS_READERS_H
#define COSTMODEL_READERS_READERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/model/architecture.h"

/* Build an architecture from a parsed native or Timeloop file with some quantities replaced (n_override, may
 * be 0). Every override must name a quantity of the file's schema (else: nearest path); its value is checked
 * like a value in the file, and an energy rule of the file is applied after the replacement. Const on `doc`:
 * threads may share it. */
DSE_MUST_CHECK enum dse_status architecture_build(const struct yaml_doc *doc,
                                                  const struct arch_override *override, size_t n_override,
                                                  struct architecture *arch, struct dse_error *err);

/* The same for a Timeloop architecture whose Energy or Area Reference Table is a file of its own (top-level
 * `ERT` or `ART`, as Accelergy writes them); NULL: none. A native architecture has no use for one, and a file
 * with one inside needs no other: both are errors that name the table's file. Const on all documents. */
DSE_MUST_CHECK enum dse_status architecture_build_with_tables(const struct yaml_doc *doc,
                                                              const struct yaml_doc *ert,
                                                              const struct yaml_doc *art,
                                                              const struct arch_override *override,
                                                              size_t n_override, struct architecture *arch,
                                                              struct dse_error *err);

/* Read a native or Timeloop v3 architecture file; of the latter also ERT and ART, if the file holds
 * them. */
DSE_MUST_CHECK enum dse_status architecture_read(const char *path, struct architecture *arch,
                                                 struct dse_error *err);

/* The unit of a path's quantity, for axis labels (UNIT_* as int), or -1 when it has none (mesh, switch,
 * text). DSE_BAD_INPUT when the file's schema has no such path. */
DSE_MUST_CHECK enum dse_status architecture_path_unit(const struct yaml_doc *doc, const char *path, int *unit,
                                                      struct dse_error *err);

struct architecture_template;

/* Read a parsed native or Timeloop file, which is borrowed. Of a native file all errors but those of putting
 * the levels together show here, with the message of architecture_build; with doc->faults those, too, and
 * where some were noted the template is of no use but to be freed. Release with
 * architecture_template_free. Const once made: threads may share it. */
DSE_MUST_CHECK enum dse_status architecture_template_new(const struct yaml_doc *doc,
                                                         struct architecture_template **template,
                                                         struct dse_error *err);
void architecture_template_free(struct architecture_template *template);

/* As architecture_build with the template's file: the same machine, or the same message. Some microseconds
 * for a native file; a Timeloop file is read anew. */
DSE_MUST_CHECK enum dse_status architecture_template_build(const struct architecture_template *template,
                                                           const struct arch_override *override,
                                                           size_t n_override, struct architecture *arch,
                                                           struct dse_error *err);

/* The bytes that network_read parses, for network_parse: the file's, or for a folder (a path that ends in
 * '/') a list of the problem files in it, by the numbers in their names (conv2 before conv10). The caller
 * frees `*bytes`. DSE_IO, DSE_LIMIT as yaml_load; DSE_BAD_INPUT: the folder holds none. */
DSE_MUST_CHECK enum dse_status network_load(const char *path, char **bytes, size_t *length,
                                            struct dse_error *err);

/* The same for the problem files `path` (n), relative to where `name` lies; the network is called after
 * `name`. */
DSE_MUST_CHECK enum dse_status network_list_problems(const char *name, const char *const *path, size_t n,
                                                     char **bytes, size_t *length, struct dse_error *err);

#endif
