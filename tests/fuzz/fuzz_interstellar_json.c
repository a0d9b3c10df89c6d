/* Files of Interstellar's authors: any bytes are an architecture, a schedule, a layer or a table of layers,
 * or an error. What reads is checked, and a schedule is put into constraints; each with the fixed others. */
#include <stdlib.h>

#include "costmodel/interstellar_json/interstellar_json.h"
#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "engines/mapspace/mapspace_constraints.h"
#include "tests/fuzz/fuzz.h"

static const char machine[] =
    "{mem_levels: 4, capacity: [16, 128, 262144, 1073741824], access_cost: [0.03, 0.24, 30.75, 200], "
    "parallel_count: [1, 256, 1, 1], parallel_cost: [0.035], precision: 16, "
    "memory_partitions: [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]}";
static const char table[] = "name,B,K,C,X,Y,FX,FY\nCONV,2,8,16,13,13,3,3\n";

static void fixed_machine(struct architecture *arch)
{
    struct yaml_doc doc;
    struct dse_error err;
    FUZZ_REQUIRE(yaml_parse(&doc, "machine.json", machine, sizeof machine - 1, &err) == DSE_OK, "%s",
                 err.text);
    FUZZ_REQUIRE(architecture_build(&doc, NULL, 0, arch, &err) == DSE_OK, "%s", err.text);
    yaml_doc_free(&doc);
}

static void fixed_problem(struct problem *problem)
{
    struct network network;
    struct dse_error err;
    FUZZ_REQUIRE(network_parse("table.csv", table, sizeof table - 1, &network, &err) == DSE_OK, "%s",
                 err.text);
    FUZZ_REQUIRE(layer_problem(network.layer, 0, problem, &err) == DSE_OK, "%s", err.text);
    network_free(&network);
}

static void try_schedule(const struct yaml_doc *doc)
{
    struct architecture *arch = malloc(sizeof *arch);
    struct mapspace_constraints *constraints = malloc(sizeof *constraints);
    struct problem problem;
    struct dse_error err;
    FUZZ_REQUIRE(arch && constraints, "out of memory");
    fixed_machine(arch);
    fixed_problem(&problem);
    if (fuzz_ok(mapspace_constraints_read(doc, doc->root, NULL, &problem, arch, constraints, &err), &err)) {
        const struct interstellar_hint *hint = &constraints->hint;
        for (uint32_t d = 0; hint->present && d < problem.n_dim; d++)
            FUZZ_REQUIRE(!hint->loop[d].present ||
                             (hint->loop[d].partition >= 1 && hint->loop[d].level < arch->n_level),
                         "a hint that no machine has");
        if (fuzz_ok(mapspace_constraints_fix_hint(constraints, &problem, arch, doc->path, &err), &err))
            FUZZ_REQUIRE(!hint->present, "the hint is still there");
    }
    free(constraints);
    free(arch);
}

static void try_architecture(const struct yaml_doc *doc)
{
    struct architecture *arch = malloc(sizeof *arch);
    struct interstellar_explore explore;
    struct dse_error err;
    FUZZ_REQUIRE(arch, "out of memory");
    memset(arch, 0x55, sizeof *arch); /* readers may not rely on a cleared struct */
    if (fuzz_ok(architecture_build(doc, NULL, 0, arch, &err), &err)) {
        FUZZ_REQUIRE(architecture_check(arch, &err) == DSE_OK, "built, but: %s", err.text);
        FUZZ_REQUIRE(interstellar_explore_read(doc, &explore, &err) == DSE_OK, "%s", err.text);
        FUZZ_REQUIRE(explore.n_level <= arch->n_level, "a grid of %u levels", explore.n_level);
        (void)architecture_hash(arch);
    }
    free(arch);
}

static void try_network(const uint8_t *data, size_t size)
{
    struct network network;
    struct problem problem;
    struct dse_error err;
    if (!fuzz_ok(network_parse("fuzz.json", (const char *)data, size, &network, &err), &err))
        return;
    for (uint32_t i = 0; i < network.n_layer; i++)
        if (layer_has_macs(&network.layer[i]))
            (void)fuzz_ok(layer_problem(&network.layer[i], 0, &problem, &err), &err);
    network_free(&network);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yaml_doc doc;
    struct dse_error err;
    if (interstellar_is_table("fuzz.json", (const char *)data, size)) {
        try_network(data, size);
        return 0;
    }
    if (!fuzz_ok(yaml_parse(&doc, "fuzz.json", (const char *)data, size, &err), &err))
        return 0;
    if (interstellar_is_architecture(&doc))
        try_architecture(&doc);
    else if (interstellar_is_layer(&doc))
        try_network(data, size);
    else
        try_schedule(&doc);
    yaml_doc_free(&doc);
    return 0;
}
