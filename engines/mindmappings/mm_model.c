/* What a model is for, against where it is to be used. */
#include "engines/mindmappings/mm_model.h"

#include "costmodel/model/architecture.h"

enum dse_status mm_model_check(const struct mm_model *model, const char *path,
                               const struct mm_machine *machine, enum mm_mode mode, struct dse_error *err)
{
    if (model->encoding.algorithm != machine->algorithm)
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0,
                           "trained for algorithm %s, and this machine is for %s",
                           model->encoding.algorithm->name, machine->algorithm->name);
    if (model->machine != architecture_hash(machine->arch))
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0,
                           "trained for another machine (%s), and costs on %s are others; train one: dse "
                           "train %s -o MODEL.h5",
                           model->architecture, machine->arch->name, machine->arch->name);
    if (model->mode != mode)
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "trained for mode %s, and this search has mode %s",
                           mm_mode_name[model->mode], mm_mode_name[mode]);
    return DSE_OK;
}
