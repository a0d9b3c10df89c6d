/* All opinions about one mapping side by side: the fast evaluation, the plain one, the checker, the lower
 * bounds, the executor when the problem is small, and the mapping's own text. */
#ifndef TESTS_FUZZ_EVALUATE_H
#define TESTS_FUZZ_EVALUATE_H

#include <stdlib.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/executor.h"
#include "tests/support/mapping_same.h"

/* Iterations and words up to which the executor runs; it takes about a microsecond per iteration and
 * level. */
enum { FUZZ_EXECUTOR_MAX = 2048 };

/* MACs up to which mappings are evaluated: link transfers look at every child, and the sanitizers make that
 * slow. */
enum { FUZZ_MAC_MAX = 1 << 16 };

static inline bool fuzz_near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b));
}

static inline void fuzz_check_totals(const struct architecture *arch, const struct evaluation *e)
{
    double sum = e->energy_mac_j + e->energy_leakage_j;
    fuzz_check_number(e->energy_j, "energy");
    fuzz_check_number(e->energy_mac_j, "MAC energy");
    fuzz_check_number(e->energy_leakage_j, "leakage");
    fuzz_check_number(e->latency_s, "latency");
    fuzz_check_number(e->edp_js, "edp");
    fuzz_check_number(e->n_compute, "computes");
    FUZZ_REQUIRE(e->utilization > 0 && e->utilization <= 1, "utilization %g", e->utilization);
    FUZZ_REQUIRE(e->latency_cycle >= e->compute_cycle && e->compute_cycle >= 1, "%llu cycles of %llu",
                 (unsigned long long)e->latency_cycle, (unsigned long long)e->compute_cycle);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        fuzz_check_number(e->level_energy_j[l], "level energy");
        fuzz_check_number(e->network_energy_j[l], "network energy");
        fuzz_check_number(e->level_byte[l], "level bytes");
        sum += e->level_energy_j[l] + e->network_energy_j[l];
    }
    FUZZ_REQUIRE(fuzz_near(sum, e->energy_j, 1e-9), "parts add up to %.17g of %.17g", sum, e->energy_j);
}

static inline void fuzz_check_same(const struct architecture *arch, const struct evaluation *fast,
                                   const struct evaluation *plain)
{
    FUZZ_REQUIRE(fast->latency_cycle == plain->latency_cycle && fast->compute_cycle == plain->compute_cycle,
                 "fast %llu cycles, plain %llu", (unsigned long long)fast->latency_cycle,
                 (unsigned long long)plain->latency_cycle);
    FUZZ_REQUIRE(fast->n_mac_used == plain->n_mac_used, "MACs in use differ");
    FUZZ_REQUIRE(fuzz_near(fast->energy_j, plain->energy_j, 1e-12), "fast %.17g J, plain %.17g J",
                 fast->energy_j, plain->energy_j);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        FUZZ_REQUIRE(fuzz_near(fast->level_byte[l], plain->level_byte[l], 1e-12), "bytes at level %u: %g, %g",
                     l, fast->level_byte[l], plain->level_byte[l]);
        FUZZ_REQUIRE(fuzz_near(fast->level_energy_j[l], plain->level_energy_j[l], 1e-12),
                     "energy at level %u: %g, %g", l, fast->level_energy_j[l], plain->level_energy_j[l]);
    }
}

static inline void fuzz_check_bound(const struct problem *problem, const struct architecture *arch,
                                    const struct mapping *mapping, const struct evaluation *e)
{
    struct lower_bound bound;
    lower_bound_compute(problem, arch, &bound);
    fuzz_check_number(bound.latency_s, "latency bound");
    fuzz_check_number(bound.energy_j, "energy bound");
    fuzz_check_number(bound.edp_js, "edp bound");
    if (!lower_bound_applies(problem, arch, mapping))
        return;
    FUZZ_REQUIRE(bound.latency_s <= e->latency_s * (1 + 1e-9), "bound %.17g s, found %.17g s",
                 bound.latency_s, e->latency_s);
    FUZZ_REQUIRE(bound.energy_j <= e->energy_j * (1 + 1e-9), "bound %.17g J, found %.17g J", bound.energy_j,
                 e->energy_j);
    FUZZ_REQUIRE(bound.edp_js <= e->edp_js * (1 + 1e-9), "bound %.17g Js, found %.17g Js", bound.edp_js,
                 e->edp_js);
}

static inline void fuzz_check_executor(const struct problem *problem, const struct mapping *mapping,
                                       struct arena *arena)
{
    struct dse_error err;
    if (problem_macs(problem) > FUZZ_EXECUTOR_MAX)
        return;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (problem_tensor_words(problem, t) > FUZZ_EXECUTOR_MAX)
            return;
    struct executor_result *result = malloc(sizeof *result);
    FUZZ_REQUIRE(result, "out of memory");
    if (fuzz_ok(executor_run(problem, mapping, 1, arena, result, &err), &err))
        FUZZ_REQUIRE(result->each_mac_once && result->output_is_right, "the executor disagrees");
    free(result);
}

/* The mapping as text reads back as itself. */
static inline void fuzz_check_text_form(const struct problem *problem, const struct architecture *arch,
                                        const struct mapping *mapping)
{
    struct text_buffer text;
    struct yaml_doc doc;
    struct mapping again;
    struct dse_error err;
    text_init(&text);
    mapping_write_nest(mapping, problem, arch, &text);
    text_clear(&text);
    mapping_write_yaml(mapping, problem, arch, &text);
    FUZZ_REQUIRE(!text.failed, "out of memory");
    FUZZ_REQUIRE(yaml_parse(&doc, "written.yaml", text.data, text.length, &err) == DSE_OK, "%s\n%s", err.text,
                 text.data);
    FUZZ_REQUIRE(mapping_build(&doc, problem, arch, &again, &err) == DSE_OK, "%s\n%s", err.text, text.data);
    FUZZ_REQUIRE(mapping_same(mapping, &again), "another mapping\n%s", text.data);
    yaml_doc_free(&doc);
    text_free(&text);
}

/* Returns whether the mapping fits. */
static inline bool fuzz_evaluate(const struct evaluator *evaluator, const struct mapping *mapping)
{
    const struct problem *problem = evaluator_problem(evaluator);
    const struct architecture *arch = evaluator_architecture(evaluator);
    if (arch->mac.instances > FUZZ_MAC_MAX)
        return false;
    struct evaluation_detail *detail = malloc(sizeof *detail);
    struct eval_workspace *workspace;
    struct evaluation fast;
    struct arena arena;
    struct dse_error err;
    char reason[512];
    arena_init(&arena);
    FUZZ_REQUIRE(detail, "out of memory");
    FUZZ_REQUIRE(evaluator_detail(evaluator, mapping, &arena, detail, &err) == DSE_OK, "%s", err.text);
    FUZZ_REQUIRE(eval_workspace_new(evaluator, &workspace, &err) == DSE_OK, "%s", err.text);
    bool fits = evaluator_run(evaluator, workspace, mapping, &fast);
    FUZZ_REQUIRE(fast.fit.what == detail->total.fit.what && fits == (fast.fit.what == FITS),
                 "fast misfit %d, plain %d", fast.fit.what, detail->total.fit.what);
    bool accepted = checker_accepts(problem, arch, mapping, reason, sizeof reason);
    FUZZ_REQUIRE(accepted == fits, "checker: %s; evaluator: misfit %d", accepted ? "fits" : reason,
                 fast.fit.what);
    if (!fits) {
        fuzz_check_text(reason);
        fuzz_check_text(misfit_print(&fast.fit, problem, arch, reason, sizeof reason));
    } else {
        fuzz_check_totals(arch, &detail->total);
        fuzz_check_totals(arch, &fast);
        fuzz_check_same(arch, &fast, &detail->total);
        fuzz_check_bound(problem, arch, mapping, &fast);
        fuzz_check_executor(problem, mapping, &arena);
    }
    fuzz_check_text_form(problem, arch, mapping);
    eval_workspace_delete(workspace);
    arena_free(&arena);
    free(detail);
    return fits;
}

#endif
