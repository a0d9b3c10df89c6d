/* Reads the machine and compiles it for the one layer that benchmarks and tests share. */
#include "tests/support/conv4_case.h"

#include <string.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"

enum dse_status conv4_case_init(struct conv4_case *conv4, const char *path, bool links, struct dse_error *err)
{
    static const struct layer layer = {.name = "resnet50_conv4_3x3",
                                       .type = LAYER_CONV,
                                       .c = 256,
                                       .k = 256,
                                       .p = 14,
                                       .q = 14,
                                       .r = 3,
                                       .s = 3,
                                       .stride = {1, 1},
                                       .dilation = {1, 1},
                                       .groups = 1};
    memset(conv4, 0, sizeof *conv4);
    arena_init(&conv4->arena);
    DSE_TRY(architecture_read(path, &conv4->arch, err));
    conv4->arch.link_transfers = links;
    DSE_TRY(layer_problem(&layer, 1, &conv4->problem, err));
    DSE_TRY(evaluator_new(&accounting_timeloop, &conv4->problem, &conv4->arch, &conv4->evaluator, err));
    DSE_TRY(eval_workspace_new(conv4->evaluator, &conv4->workspace, err));
    return mapspace_new(&conv4->problem, &conv4->arch, NULL, false, &conv4->arena, &conv4->space, err);
}

void conv4_case_free(struct conv4_case *conv4)
{
    eval_workspace_delete(conv4->workspace);
    evaluator_delete(conv4->evaluator);
    arena_free(&conv4->arena);
}
