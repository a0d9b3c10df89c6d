#include "costmodel/readers.h"

enum dse_status mapping_read(const char *path, const struct problem *problem, const struct architecture *arch,
                             struct mapping *mapping, struct dse_error *err)
{
    struct yaml_doc doc;
    enum dse_status status;

    DSE_TRY(yaml_read(&doc, path, err));
    status = mapping_build(&doc, problem, arch, mapping, err);
    yaml_doc_free(&doc);
    return status;
}
