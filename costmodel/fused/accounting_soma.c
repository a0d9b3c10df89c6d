/* SoMa's accountings as constant structs, and the machines that they price. */
#include "costmodel/fused/accounting_soma.h"

#include "costmodel/fused/core_machine.h"

/* Tiles may be priced by a mapper, for which nearly every machine will do. */
static enum dse_status has_buffer(const struct architecture *arch, struct dse_error *err)
{
    struct core_split split;
    return core_machine_split(arch, &split, err);
}

/* The published rules go with the core array that its program models. */
static enum dse_status has_core_array(const struct architecture *arch, struct dse_error *err)
{
    struct core_array_size size;
    struct fused_machine machine;
    return core_machine_of(arch, &size, &machine, err);
}

const struct accounting accounting_soma = {
    .name = "soma",
    .summary = "fused schedules on SoMa's core array or a mapper in its place, with physically sound counts",
    .kind = ACCOUNTING_SCHEDULE,
    .accepts = has_buffer,
};

const struct accounting accounting_soma_compat = {
    .name = "soma-compat",
    .summary = "fused schedules by the rules of the published SoMa program, bit by bit",
    .kind = ACCOUNTING_SCHEDULE,
    .accepts = has_core_array,
};
