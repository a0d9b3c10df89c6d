/* An architecture file made ready for many machines: everything that does not depend on what a sweep replaces
 * is read once. */
#ifndef COSTMODEL_READERS_ARCHITECTURE_TEMPLATE_H
#define COSTMODEL_READERS_ARCHITECTURE_TEMPLATE_H

#include <stddef.h>

#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/model/architecture.h"
#include "costmodel/readers/readers.h"

struct architecture_template;

/* Read a parsed native or Timeloop file, which is borrowed. Of a native file all errors but those of putting
 * the levels together show here, with the message of architecture_build. Release with
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

#endif
