/* Architectures, native and Timeloop's. A line "#set PATH=VALUE" replaces a quantity as a sweep axis does.
 * What reads is compiled with a small convolution and evaluated with two mappings. */
#include <stdlib.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "tests/fuzz/evaluate.h"

enum { SET_MAX = 4 };

/* ResNet-like: 3x3, stride 2. Sizes with several divisors, so that spatial loops find something. */
static void small_convolution(struct problem *problem)
{
    static const char shape[] =
        "problem: {shape: cnn-layer, instance: {C: 4, K: 8, R: 3, S: 3, P: 4, Q: 4, N: "
        "2, Wstride: 2, Hstride: 2}}";
    struct yaml_doc doc;
    struct dse_error err;
    FUZZ_REQUIRE(yaml_parse(&doc, "convolution.yaml", shape, sizeof shape - 1, &err) == DSE_OK, "%s",
                 err.text);
    FUZZ_REQUIRE(problem_build(&doc, problem, &err) == DSE_OK, "%s", err.text);
    yaml_doc_free(&doc);
}

/* Move factors of two from the outermost temporal loops to spatial loops, as far as the fan-outs allow. */
static void spread(struct mapping *mapping, const struct problem *problem, const struct architecture *arch)
{
    uint32_t *left = mapping->level[arch->n_level - 1].temporal;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        uint64_t x, y, used_x = 1, used_y = 1;
        struct mapping_level *level = &mapping->level[l];
        architecture_fanout(arch, l, &x, &y);
        level->split = 4;
        for (uint32_t i = 0; i < problem->n_dim; i++) {
            uint32_t d = level->spatial_order[i];
            uint64_t fan_out = i < level->split ? x : y, *used = i < level->split ? &used_x : &used_y;
            while (left[d] % 2 == 0 && *used * 2 <= fan_out) {
                left[d] /= 2;
                level->spatial[d] *= 2;
                *used *= 2;
            }
        }
    }
}

static void evaluate(const struct architecture *arch)
{
    struct problem problem;
    struct mapping mapping;
    struct evaluator *evaluator;
    struct dse_error err;
    small_convolution(&problem);
    if (!fuzz_ok(evaluator_new(&accounting_timeloop, &problem, arch, &evaluator, &err), &err))
        return;
    mapping_init(&mapping, &problem, arch);
    (void)fuzz_evaluate(evaluator, &mapping);
    spread(&mapping, &problem, arch);
    (void)fuzz_evaluate(evaluator, &mapping);
    evaluator_delete(evaluator);
}

/* The "#set" lines of a text, which is cut into pieces; returns how many. */
static size_t find_sets(char *text, struct arch_override *set)
{
    size_t n = 0;
    for (char *line = strstr(text, "#set "); line && n < SET_MAX; line = strstr(line, "#set ")) {
        char *path = line + strlen("#set "), *equals = strchr(path, '='), *end = strchr(path, '\n');
        line = end ? end + 1 : path + strlen(path);
        if (!equals || (end && equals > end))
            continue;
        if (end)
            *end = '\0';
        *equals = '\0';
        set[n++] = (struct arch_override){.path = path, .value = equals + 1};
    }
    return n;
}

static void build(const struct yaml_doc *doc, const struct arch_override *set, size_t n_set)
{
    struct architecture *arch = malloc(sizeof *arch);
    struct dse_error err;
    FUZZ_REQUIRE(arch, "out of memory");
    memset(arch, 0x55, sizeof *arch); /* readers may not rely on a cleared struct */
    if (fuzz_ok(architecture_build(doc, set, n_set, arch, &err), &err)) {
        FUZZ_REQUIRE(architecture_check(arch, &err) == DSE_OK, "built, but: %s", err.text);
        (void)architecture_hash(arch);
        evaluate(arch);
    }
    free(arch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yaml_doc doc;
    struct dse_error err;
    struct arch_override set[SET_MAX];
    if (!fuzz_ok(yaml_parse(&doc, "fuzz.yaml", (const char *)data, size, &err), &err))
        return 0;
    char *text = calloc(size + 1, 1);
    FUZZ_REQUIRE(text, "out of memory");
    memcpy(text, data, size);
    build(&doc, NULL, 0);
    size_t n_set = find_sets(text, set);
    for (size_t i = 0; i < n_set; i++) {
        int unit;
        (void)fuzz_ok(architecture_path_unit(&doc, set[i].path, &unit, &err), &err);
    }
    if (n_set)
        build(&doc, set, n_set);
    free(text);
    yaml_doc_free(&doc);
    return 0;
}
