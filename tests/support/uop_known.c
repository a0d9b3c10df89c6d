/* Whole networks cut with one tile size for all layers. */
#include "tests/support/uop_known.h"

#include <stdio.h>
#include <stdlib.h>

const uint32_t uop_known_core[3] = {9, 16, 25};

const struct uop_known_row uop_known_row[UOP_KNOWN_N] = {
    {"vgg16", {28, 28, 516, 140}, 10, {1.973e7, 1.779e7, 1.738e7}, {1.013, 1.000, 1.008}},
    {"vgg16", {14, 14, 264, 140}, 1, {1.273e7, 7.723e6, 5.466e6}, {1.024, 1.026, 1.102}},
    {"vgg16", {28, 28, 264, 70}, 4, {1.274e7, 7.876e6, 6.981e6}, {1.092, 1.000, 1.047}},
    {"resnet50", {14, 14, 516, 140}, 19, {8.010e6, 7.279e6, 7.108e6}, {1.025, 1.000, 1.005}},
    {"resnet50", {14, 14, 264, 70}, 14, {5.166e6, 3.661e6, 3.248e6}, {1.039, 1.009, 1.051}},
    {"resnet50", {7, 7, 2048, 266}, 14, {6.989e6, 5.852e6, 5.490e6}, {1.022, 1.000, 1.008}},
    {"resnet152", {14, 14, 516, 140}, 83, {3.041e7, 2.957e7, 2.940e7}, {1.009, 1.000, 1.001}},
    {"inception_v3", {18, 18, 516, 70}, 1, {6.479e6, 5.887e6, 5.636e6}, {1.072, 1.006, 1.004}},
};

static const struct kc_machine machine = {.c_lane = 12, .k_lane = 14, .delivery = {1000, 1}};

static void require(enum dse_status status, const struct dse_error *err)
{
    if (status == DSE_OK)
        return;
    (void)fprintf(stderr, "%s\n", err->text);
    abort();
}

void uop_known_open(const char *network, struct uop_cut cut, struct uop_known *known)
{
    char path[128];
    struct dse_error err = {0};
    arena_init(&known->arena);
    (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", network);
    require(network_read(path, &known->network, &err), &err);
    require(uop_network_of(&known->network, UOP_FUSED, &known->arena, &known->uops, &err), &err);
    struct uop_cut *cuts = arena_alloc(&known->arena, known->uops.n_layer, sizeof *cuts);
    require(arena_check(&known->arena, "a partition", &err), &err);
    for (uint32_t l = 0; l < known->uops.n_layer; l++)
        cuts[l] = cut;
    require(uop_graph_of(&known->uops, &machine, cuts, UOP_SUMS_ALL, 1, &known->arena, &known->graph, &err),
            &err);
}

void uop_known_close(struct uop_known *known)
{
    arena_free(&known->arena);
    network_free(&known->network);
}
