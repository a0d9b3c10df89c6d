/* Architecture files of either format. */
#include "costmodel/native/architecture_native.h"
#include "costmodel/readers/architecture_template.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"

enum dse_status architecture_build_with_ert(const struct yaml_doc *doc, const struct yaml_doc *ert,
                                            const struct arch_override *override, size_t n_override,
                                            struct architecture *arch, struct dse_error *err)
{
    if (timeloop_is_architecture(doc))
        return timeloop_architecture_build(doc, ert, override, n_override, arch, err);
    if (ert != NULL)
        return dse_fail_at(err, DSE_BAD_INPUT, ert->path, 0,
                           "an ERT belongs to a Timeloop architecture; %s is a native one, which gives its "
                           "energies itself",
                           doc->path);
    struct architecture_template *template;
    DSE_TRY(architecture_template_new(doc, &template, err));
    enum dse_status status = architecture_template_build(template, override, n_override, arch, err);
    architecture_template_free(template);
    return status;
}

enum dse_status architecture_build(const struct yaml_doc *doc, const struct arch_override *override,
                                   size_t n_override, struct architecture *arch, struct dse_error *err)
{
    return architecture_build_with_ert(doc, NULL, override, n_override, arch, err);
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
    if (!timeloop_is_architecture(doc))
        return architecture_native_path_unit(doc, path, unit, err);
    DSE_TRY(timeloop_architecture_check_path(doc, path, err));
    *unit = -1; /* Timeloop's numbers carry no units */
    return DSE_OK;
}
