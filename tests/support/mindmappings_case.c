/* Reads the machine and the problems. The minima are those of Mind Mappings' published code (Hegde et al.,
 * ASPLOS 2021), in microjoule cycles: words once through every level and all MACs, times MACs over 256
 * PEs. */
#include "tests/support/mindmappings_case.h"

#include <math.h>
#include <stdio.h>

#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"

static const char *const name[MINDMAPPINGS_PROBLEMS] = {"resnet_conv3", "resnet_conv4",  "inception_conv2",
                                                        "vgg_conv2",    "alexnet_conv2", "alexnet_conv4"};
static const double minimum[MINDMAPPINGS_PROBLEMS] = {1.82987835e+10, 1.65898824e+10, 5.35790052e+12,
                                                      1.30908582e+12, 5.77436433e+10, 1.59462499e+10};

enum dse_status mindmappings_case_init(struct mindmappings_case *c, struct dse_error *err)
{
    DSE_TRY(architecture_read("experiments/architectures/mindmappings.yaml", &c->arch, err));
    for (int i = 0; i < MINDMAPPINGS_PROBLEMS; i++) {
        struct network network;
        char path[128];
        (void)snprintf(path, sizeof path, "experiments/networks/mindmappings_%s.yaml", name[i]);
        DSE_TRY(network_read(path, &network, err));
        enum dse_status status =
            layer_problem(&network.layer[0], network.published_batch, &c->problem[i], err);
        network_free(&network);
        DSE_TRY(status);
    }
    return DSE_OK;
}

double mindmappings_case_ratio(int i, double edp_js)
{
    return edp_js * 1e15 / minimum[i]; /* 1e6 microjoule, 1e9 cycles a second */
}

double mindmappings_case_within(int i, const struct engine_result *result, uint64_t evaluations)
{
    double best = INFINITY;
    for (uint32_t k = 0; k < result->n_trace && result->trace[k].evaluation <= evaluations; k++)
        best = result->trace[k].cost;
    return mindmappings_case_ratio(i, best);
}
