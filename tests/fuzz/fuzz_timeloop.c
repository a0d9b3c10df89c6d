/* Timeloop files, of v3 and v4: one document holds a problem, a mapping and, if it likes, the machine (else
 * a fixed one). When all read, the fast and the plain evaluation, the checker, the bounds and the executor
 * must agree. */
#include <stdlib.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/timeloop/timeloop.h"
#include "engines/mapspace/mapspace_constraints.h"
#include "tests/fuzz/evaluate.h"

/* Two levels of fan-out and limited sizes; the level names are those of the seeds' three-level machine. */
static const char fixed_machine[] =
    "architecture:\n"
    "  version: 0.3\n"
    "  subtree:\n"
    "  - name: system\n"
    "    local:\n"
    "    - {name: DRAM, class: DRAM, attributes: {word-bits: 16, block-size: 4, vector-access-energy: 800,\n"
    "       shared_bandwidth: 8}}\n"
    "    subtree:\n"
    "    - name: chip\n"
    "      local:\n"
    "      - {name: GB, class: SRAM, attributes: {sizeKB: 64, word-bits: 16, block-size: 4,\n"
    "         vector-access-energy: 24, read_bandwidth: 16, write_bandwidth: 16}}\n"
    "      subtree:\n"
    "      - name: PE[0..15]\n"
    "        local:\n"
    "        - {name: RF, class: regfile, attributes: {depth: 256, word-bits: 16, meshX: 4,\n"
    "           vector-access-energy: 0.5}}\n"
    "        - {name: MAC, class: intmac, attributes: {meshX: 4, datawidth: 16, energy: 1}}\n";

static bool read_machine(const struct yaml_doc *doc, struct architecture *arch)
{
    struct yaml_doc own;
    struct dse_error err;
    if (timeloop_is_architecture(doc))
        return fuzz_ok(architecture_build(doc, NULL, 0, arch, &err), &err);
    FUZZ_REQUIRE(yaml_parse(&own, "machine.yaml", fixed_machine, sizeof fixed_machine - 1, &err) == DSE_OK,
                 "%s", err.text);
    FUZZ_REQUIRE(architecture_build(&own, NULL, 0, arch, &err) == DSE_OK, "%s", err.text);
    yaml_doc_free(&own);
    return true;
}

/* Those of the machine's file, and the same file's as a user's list. */
static void read_constraints(const struct yaml_doc *doc, const struct problem *problem,
                             const struct architecture *arch)
{
    struct mapspace_constraints constraints;
    struct yaml_doc list;
    struct dse_error err;
    (void)fuzz_ok(mapspace_constraints_read(NULL, NULL, NULL, problem, arch, &constraints, &err), &err);
    if (!timeloop_is_constraints(doc) || !fuzz_ok(timeloop_constraints_read(doc, &list, &err), &err))
        return;
    (void)fuzz_ok(mapspace_constraints_read(&list, list.root, NULL, problem, arch, &constraints, &err), &err);
    yaml_doc_free(&list);
}

static void read_and_evaluate(const struct yaml_doc *doc, struct architecture *arch)
{
    struct problem problem;
    struct mapping mapping;
    struct evaluator *evaluator;
    struct dse_error err;
    memset(&problem, 0x55, sizeof problem); /* readers may not rely on cleared structs */
    memset(&mapping, 0x55, sizeof mapping);
    if (!fuzz_ok(problem_build(doc, &problem, &err), &err))
        return;
    FUZZ_REQUIRE(problem_check(&problem, &err) == DSE_OK, "built, but: %s", err.text);
    (void)problem_hash(&problem);
    if (!read_machine(doc, arch))
        return;
    read_constraints(doc, &problem, arch);
    if (fuzz_ok(evaluator_new(&accounting_timeloop, &problem, arch, &evaluator, &err), &err)) {
        if (fuzz_ok(mapping_build(doc, &problem, arch, &mapping, &err), &err))
            (void)fuzz_evaluate(evaluator, &mapping);
        mapping_init(&mapping, &problem, arch);
        (void)fuzz_evaluate(evaluator, &mapping);
    }
    evaluator_delete(evaluator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yaml_doc doc;
    struct dse_error err;
    if (!fuzz_ok(yaml_parse(&doc, "fuzz.yaml", (const char *)data, size, &err), &err))
        return 0;
    struct architecture *arch = malloc(sizeof *arch);
    FUZZ_REQUIRE(arch, "out of memory");
    read_and_evaluate(&doc, arch);
    free(arch);
    yaml_doc_free(&doc);
    return 0;
}
