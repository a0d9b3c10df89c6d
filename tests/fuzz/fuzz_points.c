/* Mappings of one line, for an odd first byte on a machine with memories side by side: any bytes give a
 * mapping or an error; what is read is written, read again as the same line, and priced alike by both
 * versions. */
#include "costmodel/accounting/evaluator.h"
#include "costmodel/interstellar/accounting_interstellar.h"
#include "costmodel/interstellar/points.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/interstellar_case.h"

static bool read_line(const char *text, size_t length, const struct problem *problem,
                      const struct architecture *arch, struct mapping *mapping)
{
    struct dse_error err;
    memset(mapping, 0x55, sizeof *mapping); /* readers may not rely on cleared structs */
    return fuzz_ok(points_read_line(text, length, "fuzz.txt", 1, problem, arch, mapping, &err), &err);
}

static void check_price(const struct evaluator *evaluator, const struct mapping *mapping)
{
    struct eval_workspace *workspace;
    struct evaluation fast;
    struct evaluation_detail plain;
    struct arena arena;
    struct dse_error err;
    char reason[256];
    arena_init(&arena);
    FUZZ_REQUIRE(eval_workspace_new(evaluator, &workspace, &err) == DSE_OK, "%s", err.text);
    bool fits = evaluator_run(evaluator, workspace, mapping, &fast);
    FUZZ_REQUIRE(evaluator_detail(evaluator, mapping, &arena, &plain, &err) == DSE_OK, "%s", err.text);
    FUZZ_REQUIRE(evaluator_check(evaluator, mapping, reason, sizeof reason) == fits, "'%s'", reason);
    FUZZ_REQUIRE((plain.total.fit.what == FITS) == fits, "the versions disagree");
    if (fits)
        FUZZ_REQUIRE(fabs(fast.energy_j - plain.total.energy_j) <= 1e-12 * plain.total.energy_j &&
                         fast.latency_cycle == plain.total.latency_cycle,
                     "%g J, %g J", fast.energy_j, plain.total.energy_j);
    eval_workspace_delete(workspace);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t bound[8] = {4, 8, 6, 7, 5, 3, 2, 2};
    const struct accounting *const both[] = {&accounting_interstellar, &accounting_interstellar_compat};
    struct problem problem;
    struct architecture arch;
    struct mapping mapping, again;
    struct evaluator *evaluator;
    struct text_buffer first, second;
    struct dse_error err;
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    interstellar_layer(bound, &problem);
    interstellar_machine(data[0] % 2 ? "split_all" : "opt4", &arch);
    (void)points_is(text, size - 1);
    if (!read_line(text, size - 1, &problem, &arch, &mapping))
        return 0;
    text_init(&first);
    text_init(&second);
    points_write(&mapping, &problem, &arch, &first);
    FUZZ_REQUIRE(read_line(first.data, first.length, &problem, &arch, &again), "not read: %s", first.data);
    points_write(&again, &problem, &arch, &second);
    FUZZ_REQUIRE(strcmp(first.data, second.data) == 0, "%s\n%s", first.data, second.data);
    for (int i = 0; i < 2; i++) {
        FUZZ_REQUIRE(evaluator_new(both[i], &problem, &arch, &evaluator, &err) == DSE_OK, "%s", err.text);
        check_price(evaluator, &mapping);
        evaluator_delete(evaluator);
    }
    text_free(&first);
    text_free(&second);
    return 0;
}
