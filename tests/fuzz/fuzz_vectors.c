/* Files of vectors: the first byte chooses machine, mode, orders and projection. Any bytes give rows or an
 * error, a row for each line at most; what a row calls a member is a mapping that the independent checker
 * accepts, and has a vector. */
#include <stdlib.h>

#include "base/yaml.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "dse/report/vector_eval.h"
#include "engines/mindmappings/mm_space.h"
#include "tests/fuzz/fuzz.h"

static void load(const char *name, struct architecture *arch)
{
    char path[128];
    struct dse_error err;
    snprintf(path, sizeof path, "experiments/architectures/%s.yaml", name);
    FUZZ_REQUIRE(architecture_read(path, arch, &err) == DSE_OK, "%s", err.text);
}

/* Project the bytes, as small numbers, onto the space of a small problem. */
static void check_projection(const struct architecture *arch, const uint8_t *data, size_t size)
{
    static const uint32_t sizes[MM_DIM_MAX] = {4, 12, 6, 3, 5, 8, 2};
    double vector[MM_VALUE_MAX] = {0};
    struct mm_machine machine;
    struct mm_mapping mapping, again;
    struct mapping nest;
    struct arena arena;
    const struct mm_space *space;
    struct dse_error err;
    char reason[256];
    for (size_t i = 0; i < MM_VALUE_MAX && i < size; i++)
        vector[i] = ((double)data[i] - 64) / 8;
    arena_init(&arena);
    FUZZ_REQUIRE(mm_machine_of(arch, &machine, &err) == DSE_OK, "%s", err.text);
    const enum mm_mode mode = data[0] & 2 ? MM_MUSTFIT : MM_AUTOBYPASS;
    FUZZ_REQUIRE(mm_space_new(&machine, sizes, mode, &arena, &space, &err) == DSE_OK, "%s", err.text);
    mm_space_project(space, vector, data[0] & 4 ? MM_DISTANCE_LOG2 : MM_DISTANCE_RAW, &mapping);
    FUZZ_REQUIRE(mm_space_contains(space, &mapping, reason, sizeof reason), "%s", reason);
    mm_space_decode(space, &mapping, &nest);
    FUZZ_REQUIRE(checker_accepts(mm_space_problem(space), arch, &nest, reason, sizeof reason), "%s", reason);
    FUZZ_REQUIRE(mm_space_encode(space, &nest, &again, reason, sizeof reason), "%s", reason);
    arena_free(&arena);
}

static size_t count(const char *text, size_t length)
{
    size_t n = 1;
    for (size_t i = 0; i < length; i++)
        n += text[i] == '\n';
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct architecture arch;
    struct vector_request request = {.arch = &arch, .format = REPORT_CSV, .path = "fuzz.csv"};
    struct text_buffer out;
    struct dse_error err;
    if (size == 0)
        return 0;
    char *text = malloc(size); /* as yaml_load gives it, with a zero behind */
    FUZZ_REQUIRE(text, "out of memory");
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    load(data[0] & 1 ? "mindmappings_mttkrp_banks" : "mindmappings_banks", &arch);
    FUZZ_REQUIRE(vector_format_of(&arch, &request.vectors, &err) == DSE_OK, "%s", err.text);
    request.mode = data[0] & 2 ? "mustfit" : NULL;
    request.orders = data[0] & 8 ? "dims" : NULL;
    request.projection = (enum vector_projection)(data[0] / 16 % VECTOR_PROJECTION_COUNT);
    request.text = text;
    request.length = size - 1;
    text_init(&out);
    if (fuzz_ok(vector_eval(&request, &out, &err), &err))
        FUZZ_REQUIRE(count(out.data, out.length) <= count(text, size - 1) + 2, "more rows than lines");
    text_free(&out);
    free(text);
    check_projection(&arch, data, size);
    return 0;
}
