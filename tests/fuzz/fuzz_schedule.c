/* Fused schedules: any bytes give a scheme of a small network or an error; what is read is written and read
 * again as the same; one that the evaluator takes becomes instructions that take as long. The first byte
 * chooses rules and batch. */
#include "costmodel/fused/core_array.h"
#include "engines/soma/machine/lower.h"
#include "engines/soma/machine/replay.h"
#include "engines/soma/notation/notation.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/soma_case.h"

enum { TILING_MAX = 64, BUFFER_BYTE = 900, RATE = 2 };

static const char network_text[] =
    "network: fz\n"
    "input: {C: 2, H: 8, W: 8}\n"
    "layers:\n"
    "- {name: a, type: conv, C: 2, K: 4, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
    "- {name: b, type: conv, C: 4, K: 4, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: a}\n"
    "- {name: c, type: add, C: 4, P: 8, Q: 8, from: [a, b]}\n"
    "- {name: d, type: pool, C: 4, P: 4, Q: 4, R: 2, S: 2, stride: 2, from: c}\n";

static enum dse_status default_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                    struct dse_error *err)
{
    return core_array_cost(self, tile, false, cost, err);
}

static enum dse_status compat_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                   struct dse_error *err)
{
    return core_array_cost(self, tile, true, cost, err);
}

static bool same_lfa(const struct soma_lfa *a, const struct soma_lfa *b)
{
    bool same = a->n_layer == b->n_layer && a->n_flc == b->n_flc;
    for (uint32_t i = 0; same && i < a->n_layer; i++)
        same = a->order[i] == b->order[i];
    for (uint32_t g = 0; same && g < a->n_flc; g++)
        same = a->flc[g] == b->flc[g] && a->tiling[g] == b->tiling[g] && a->dram_cut[g] == b->dram_cut[g];
    return same;
}

static void check_again(const struct soma_context *context, const struct soma_lfa *lfa,
                        const struct soma_dlsa *dlsa, const struct fused_schedule *schedule,
                        struct arena *arena)
{
    struct text_buffer text;
    struct soma_lfa lfa_again;
    struct soma_dlsa dlsa_again;
    struct dse_error err;
    bool has_dlsa;
    text_init(&text);
    soma_write(context->network, context->compat, lfa, dlsa, schedule, lfa->n_flc % 2 ? UINT32_MAX : 0,
               &text);
    FUZZ_REQUIRE(!text.failed, "out of memory");
    FUZZ_REQUIRE(soma_case_read(text.data, text.length, context->network, arena, &lfa_again, &dlsa_again,
                                &has_dlsa, &err) == DSE_OK,
                 "%s\n%s", err.text, text.data);
    FUZZ_REQUIRE(has_dlsa == (dlsa != NULL) && same_lfa(lfa, &lfa_again), "another scheme\n%s", text.data);
    text_free(&text);
}

static void check_instructions(const struct soma_context *context, const struct fused_schedule *schedule,
                               const struct fused_machine *machine, struct arena *arena)
{
    const struct buffer_allocate_options options = {.alignment = 1, .effort = 1};
    struct lowered lowered;
    struct replay_result result;
    struct dse_error err;
    if (!fuzz_ok(instruction_lower(schedule, context->graph, machine, &options, arena, &lowered, &err),
                 &err) ||
        lowered.fault != LOWER_OK)
        return;
    FUZZ_REQUIRE(instruction_replay(&lowered.program, arena, NULL, &result, &err) == DSE_OK, "%s", err.text);
    FUZZ_REQUIRE(result.fault == REPLAY_OK && result.cycle == lowered.result.cycle,
                 "replay: fault %d, %llu cycles of %llu", (int)result.fault, (unsigned long long)result.cycle,
                 (unsigned long long)lowered.result.cycle);
}

static void check_text(const struct soma_context *context, const char *bytes, size_t size,
                       struct arena *arena)
{
    const struct fused_machine machine = {
        .buffer_byte = BUFFER_BYTE, .dram_rate = {RATE, 1}, .dram_energy_j = 84e-12};
    struct soma_lfa lfa;
    struct soma_dlsa dlsa;
    struct fused_schedule schedule;
    struct soma_fault_info fault;
    struct fused_result result;
    struct dse_error err;
    enum soma_rules rules;
    struct yaml_doc doc;
    bool has_dlsa;
    if (!fuzz_ok(yaml_parse(&doc, "fuzz.yaml", bytes, size, &err), &err))
        return;
    (void)fuzz_ok(soma_read_rules(&doc, &rules, &err), &err);
    const bool is_read =
        fuzz_ok(soma_read(&doc, context->network, arena, &lfa, &dlsa, &has_dlsa, &err), &err);
    yaml_doc_free(&doc);
    if (!is_read)
        return;
    check_again(context, &lfa, NULL, NULL, arena);
    for (uint32_t g = 0; g < lfa.n_flc; g++)
        if (lfa.tiling[g] > TILING_MAX)
            return; /* slow */
    if (!fuzz_ok(soma_parse(context, &lfa, arena, &schedule, &fault, &err), &err))
        return;
    fuzz_check_text(soma_fault_text(fault.what));
    if (fault.what != SOMA_OK || (has_dlsa && !fuzz_ok(soma_apply(&dlsa, &schedule, &err), &err)))
        return;
    if (has_dlsa)
        check_again(context, &lfa, &dlsa, &schedule, arena);
    if (!fuzz_ok(fused_evaluate(&schedule, &machine, arena, NULL, &result, &err), &err) ||
        result.fault != FUSED_OK)
        return;
    fuzz_check_number(result.energy_j, "energy");
    FUZZ_REQUIRE(result.cycle >= result.compute_cycle && result.cycle >= result.dram_cycle,
                 "%llu cycles, %llu computing, %llu of DRAM", (unsigned long long)result.cycle,
                 (unsigned long long)result.compute_cycle, (unsigned long long)result.dram_cycle);
    check_instructions(context, &schedule, &machine, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct core_array_size core_size = {512, 4, 4, BUFFER_BYTE, {256, 1}};
    struct network network;
    struct soma_graph graph;
    struct core_array core;
    struct arena arena;
    struct dse_error err;
    if (size == 0)
        return 0;
    bool compat = data[0] & 1;
    arena_init(&arena);
    FUZZ_REQUIRE(network_parse("network", network_text, sizeof network_text - 1, &network, &err) == DSE_OK,
                 "%s", err.text);
    FUZZ_REQUIRE(soma_graph_init(&network, &arena, &graph, &err) == DSE_OK, "%s", err.text);
    FUZZ_REQUIRE(core_array_init(&core_size, &core, &err) == DSE_OK, "%s", err.text);
    const struct soma_context context = {.network = &network,
                                         .graph = &graph,
                                         .batch = data[0] & 2 ? 3 : 1,
                                         .core = {&core, compat ? compat_cost : default_cost},
                                         .compat = compat};
    check_text(&context, (const char *)data + 1, size - 1, &arena);
    arena_free(&arena);
    network_free(&network);
    return 0;
}
