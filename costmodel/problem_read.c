#include "costmodel/readers.h"

enum dse_status problem_read(const char *path, struct problem *problem, struct dse_error *err)
{
    struct yaml_doc doc;
    enum dse_status status;

    DSE_TRY(yaml_read(&doc, path, err));
    status = problem_build(&doc, problem, err);
    yaml_doc_free(&doc);
    return status;
}
