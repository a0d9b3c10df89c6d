/* Networks: any bytes give a network or an error, and each of its layers gives a checked loop nest or an
 * error. */
#include "base/yaml.h"
#include "costmodel/model/network.h"
#include "tests/fuzz/fuzz.h"

static void check_layer(const struct layer *layer, uint32_t batch)
{
    struct problem problem;
    struct dse_error err;
    uint64_t macs = layer_macs(layer, batch);
    FUZZ_REQUIRE(layer->name && layer->count >= 1, "a layer without a name or never run");
    FUZZ_REQUIRE(layer->groups >= 1, "no groups");
    (void)layer_weight_words(layer);
    (void)layer_second_operand_words(layer);
    if (!fuzz_ok(layer_problem(layer, batch, &problem, &err), &err))
        return;
    FUZZ_REQUIRE(problem_check(&problem, &err) == DSE_OK, "%s", err.text);
    FUZZ_REQUIRE(layer_has_macs(layer) && layer_same_problem(layer, layer), "not its own twin");
    FUZZ_REQUIRE(problem_macs(&problem) == macs, "%s: %llu MACs as a nest, %llu as a layer", layer->name,
                 (unsigned long long)problem_macs(&problem), (unsigned long long)macs);
    (void)problem_hash(&problem);
}

static void check_order(const struct network *network)
{
    uint64_t n_position = 0;
    for (uint32_t i = 0; i < network->n_layer; i++) {
        FUZZ_REQUIRE(network->order[i] < network->n_layer, "order %u", network->order[i]);
        n_position += network->order[i];
    }
    FUZZ_REQUIRE(2 * n_position == (uint64_t)network->n_layer * (network->n_layer - 1), "not a permutation");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct network network;
    struct dse_error err;
    if (!fuzz_ok(network_parse("fuzz.yaml", (const char *)data, size, &network, &err), &err))
        return 0;
    FUZZ_REQUIRE(network.n_layer >= 1 && network.name && network.title && network.source, "an empty network");
    check_order(&network);
    for (uint32_t i = 0; i < network.n_layer; i++) {
        const struct layer *layer = &network.layer[i];
        FUZZ_REQUIRE(network_find_layer(&network, layer->name) == (int)i, "%s is not found", layer->name);
        check_layer(layer, 1);
        check_layer(layer, 3);
        for (uint32_t p = 0; p < layer->n_producer; p++)
            FUZZ_REQUIRE(layer->producer[p] < (int32_t)network.n_layer &&
                             layer->producer[p] >= -(int32_t)network.n_input,
                         "producer %d", layer->producer[p]);
    }
    (void)network_macs(&network, 1);
    (void)network_weight_words(&network);
    network_free(&network);
    return 0;
}
