/* Architecture files of any format. Of a native one, or one of Interstellar's authors, a template keeps the
 * table of values, so that a build only replaces some; a Timeloop file is built anew from its tree. */
#include "costmodel/readers/readers.h"

#include <stdlib.h>

#include "costmodel/interstellar_json/interstellar_json.h"
#include "costmodel/native/architecture_native.h"
#include "costmodel/timeloop/timeloop.h"

struct architecture_template {
    const struct yaml_doc *doc;
    bool timeloop;
    struct arch_file file; /* else */
};

/* A native file or one of Interstellar's authors. Where all errors are wanted, also those of putting the
 * levels together. */
static enum dse_status read_file(const struct yaml_doc *doc, struct arch_file *file, struct dse_error *err)
{
    struct architecture arch;
    DSE_TRY(interstellar_is_architecture(doc) ? interstellar_arch_file_read(doc, file, err)
                                              : arch_file_read(doc, file, err));
    if (!doc->faults || !file->spec.is_whole)
        return DSE_OK;
    struct arch_spec spec = file->spec;
    spec.faults = doc->faults;
    return arch_spec_assemble(&spec, &arch, err);
}

enum dse_status architecture_template_new(const struct yaml_doc *doc, struct architecture_template **template,
                                          struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    struct architecture_template *made = malloc(sizeof *made);
    *template = NULL;
    if (!made)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading %s", doc->path);
    made->doc = doc;
    made->timeloop = timeloop_is_architecture(doc);
    if (!made->timeloop)
        status = read_file(doc, &made->file, err);
    if (status != DSE_OK)
        free(made);
    else
        *template = made;
    return status;
}

void architecture_template_free(struct architecture_template *template)
{
    free(template);
}

static enum dse_status build_file(const struct arch_file *file, const struct arch_override *override,
                                  size_t n_override, struct architecture *arch, struct dse_error *err)
{
    struct arch_spec spec = file->spec;
    const size_t n_entry = spec.n_item + spec.n_group + 1;
    size_t n_copy = n_override < n_entry ? n_override : n_entry;
    struct arch_item *copy = NULL;
    if (n_copy > 0) {
        copy = malloc(n_copy * sizeof *copy);
        if (!copy)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading %s", spec.path);
    }
    enum dse_status status = arch_spec_override(&spec, override, n_override, copy, err);
    if (status == DSE_OK)
        status = arch_spec_assemble(&spec, arch, err);
    free(copy);
    return status;
}

enum dse_status architecture_template_build(const struct architecture_template *template,
                                            const struct arch_override *override, size_t n_override,
                                            struct architecture *arch, struct dse_error *err)
{
    if (template->timeloop)
        return timeloop_architecture_build(template->doc, NULL, NULL, override, n_override, arch, err);
    return build_file(&template->file, override, n_override, arch, err);
}

enum dse_status architecture_build_with_tables(const struct yaml_doc *doc, const struct yaml_doc *ert,
                                               const struct yaml_doc *art,
                                               const struct arch_override *override, size_t n_override,
                                               struct architecture *arch, struct dse_error *err)
{
    if (timeloop_is_architecture(doc))
        return timeloop_architecture_build(doc, ert, art, override, n_override, arch, err);
    if (ert != NULL || art != NULL)
        return dse_fail_at(err, DSE_BAD_INPUT, ert ? ert->path : art->path, 0,
                           "an %s belongs to a Timeloop architecture; %s gives its %s itself",
                           ert ? "ERT" : "ART", doc->path, ert ? "energies" : "areas");
    struct architecture_template *template;
    DSE_TRY(architecture_template_new(doc, &template, err));
    enum dse_status status = architecture_template_build(template, override, n_override, arch, err);
    architecture_template_free(template);
    return status;
}

enum dse_status architecture_build(const struct yaml_doc *doc, const struct arch_override *override,
                                   size_t n_override, struct architecture *arch, struct dse_error *err)
{
    return architecture_build_with_tables(doc, NULL, NULL, override, n_override, arch, err);
}

enum dse_status architecture_read(const char *path, struct architecture *arch, struct dse_error *err)
{
    struct yaml_doc doc;
    DSE_TRY(yaml_read(&doc, path, err));
    enum dse_status status = architecture_build(&doc, NULL, 0, arch, err);
    yaml_doc_free(&doc);
    return status;
}

enum dse_status architecture_path_unit(const struct yaml_doc *doc, const char *path, int *unit,
                                       struct dse_error *err)
{
    struct architecture_template *template;
    if (timeloop_is_architecture(doc)) {
        *unit = -1; /* Timeloop's numbers carry no units */
        return timeloop_architecture_check_path(doc, path, err);
    }
    DSE_TRY(architecture_template_new(doc, &template, err));
    enum dse_status status = arch_spec_path_unit(&template->file.spec, path, unit, err);
    architecture_template_free(template);
    return status;
}
