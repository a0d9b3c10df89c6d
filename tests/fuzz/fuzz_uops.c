/* Schedules of uops: any bytes give a plan of a small network or an error; what is read is written and read
 * again as the same; one that the machine takes is never below its bound and takes as long the second time.
 * The first byte chooses mesh and batch. */
#include "costmodel/readers/readers.h"
#include "engines/klotski/uop_plan.h"
#include "tests/fuzz/fuzz.h"

static const char network_text[] =
    "network: fz\n"
    "input: {C: 3, H: 8, W: 8}\n"
    "layers:\n"
    "- {name: a, type: conv, C: 3, K: 30, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
    "- {name: b, type: conv, C: 30, K: 30, P: 8, Q: 8, R: 1, S: 1, from: a}\n"
    "- {name: c, type: add, C: 30, P: 8, Q: 8, from: [a, b]}\n"
    "- {name: d, type: pool, C: 30, P: 4, Q: 4, R: 2, S: 2, stride: 2, from: c}\n"
    "- {name: e, type: linear, C: 480, K: 10, from: d}\n";

static bool same_plan(const struct uop_network *network, const struct uop_plan *a, const struct uop_plan *b,
                      uint32_t n_uop)
{
    const size_t n_first = (a->schedule.n_core + (size_t)1) * sizeof *a->schedule.first;
    return a->sums == b->sums && a->sram == b->sram && a->transport == b->transport && a->batch == b->batch &&
           a->schedule.firing == b->schedule.firing && a->schedule.n_core == b->schedule.n_core &&
           memcmp(a->schedule.first, b->schedule.first, n_first) == 0 &&
           memcmp(a->schedule.order, b->schedule.order, n_uop * sizeof *a->schedule.order) == 0 &&
           memcmp(a->cut, b->cut, network->n_layer * sizeof *a->cut) == 0;
}

static bool evaluate(const struct uop_network *network, const struct kc_machine *machine,
                     const struct uop_plan *plan, struct arena *arena, struct uop_outcome *out)
{
    struct dse_error err;
    if (!fuzz_ok(uop_plan_evaluate(network, machine, plan, "fuzz.yaml", NULL, arena, out, &err), &err))
        return false;
    FUZZ_REQUIRE(out->times.cycle >= out->bound_cycle && out->bound_cycle >= out->path_cycle,
                 "%llu cycles, bound %llu, path %llu", (unsigned long long)out->times.cycle,
                 (unsigned long long)out->bound_cycle, (unsigned long long)out->path_cycle);
    fuzz_check_number(out->mac_energy_j + out->buffer_energy_j + out->noc_energy_j, "energy");
    fuzz_check_number(out->byte_hop, "bytes times hops");
    FUZZ_REQUIRE(out->busy_share <= 1 && out->mac_share <= 1, "busy %g, MACs %g", out->busy_share,
                 out->mac_share);
    return true;
}

static void check_text(const struct uop_network *network, const struct kc_machine *machine, const char *bytes,
                       size_t size, uint32_t batch, struct arena *arena)
{
    const struct uop_cut *cut;
    struct uop_plan plan, again;
    struct uop_outcome first, second;
    struct text_buffer text;
    struct dse_error err;
    const bool has_partition =
        fuzz_ok(uop_partition_read("fuzz.yaml", bytes, size, network, arena, &cut, &err), &err);
    if (!fuzz_ok(uop_plan_read("fuzz.yaml", bytes, size, network, batch, arena, &plan, &err), &err))
        return;
    FUZZ_REQUIRE(has_partition && memcmp(cut, plan.cut, network->n_layer * sizeof *cut) == 0,
                 "another partition without the uops");
    if (!evaluate(network, machine, &plan, arena, &first))
        return;
    text_init(&text);
    uop_plan_write(&first.graph, &plan, &text);
    FUZZ_REQUIRE(!text.failed, "out of memory");
    FUZZ_REQUIRE(uop_plan_read("written.yaml", text.data, text.length, network, batch, arena, &again, &err) ==
                     DSE_OK,
                 "%s\n%s", err.text, text.data);
    FUZZ_REQUIRE(same_plan(network, &plan, &again, first.graph.n_uop), "another plan\n%s", text.data);
    FUZZ_REQUIRE(evaluate(network, machine, &again, arena, &second) &&
                     second.times.cycle == first.times.cycle,
                 "other cycles\n%s", text.data);
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct architecture arch;
    struct kc_machine machine;
    struct network network;
    struct uop_network uops;
    enum uop_vector vector = UOP_FUSED;
    struct yaml_doc doc;
    struct arena arena;
    struct dse_error err;
    if (size == 0)
        return 0;
    const struct arch_override set[] = {{"Core.mesh", data[0] & 1 ? "2x2" : "2x1"},
                                        {"noc.flit", data[0] & 4 ? "4096 bit" : "64 bit"},
                                        {"SRAM.capacity", data[0] & 8 ? "6000 KiB" : "2 KiB"}};
    arena_init(&arena);
    FUZZ_REQUIRE(yaml_read(&doc, "experiments/architectures/klotski.yaml", &err) == DSE_OK, "%s", err.text);
    FUZZ_REQUIRE(architecture_build(&doc, set, 3, &arch, &err) == DSE_OK, "%s", err.text);
    yaml_doc_free(&doc);
    FUZZ_REQUIRE(kc_machine_of(&arch, &machine, &err) == DSE_OK, "%s", err.text);
    FUZZ_REQUIRE(network_parse("network", network_text, sizeof network_text - 1, &network, &err) == DSE_OK,
                 "%s", err.text);
    (void)fuzz_ok(uop_vector_read("fuzz.yaml", (const char *)data + 1, size - 1, &vector, &err), &err);
    FUZZ_REQUIRE(uop_network_of(&network, vector, &arena, &uops, &err) == DSE_OK, "%s", err.text);
    check_text(&uops, &machine, (const char *)data + 1, size - 1, data[0] & 2 ? 2 : 1, &arena);
    arena_free(&arena);
    network_free(&network);
    return 0;
}
