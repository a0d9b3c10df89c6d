/* The measure `noc` of the worked example: what noc_latency_of says, whose numbers have their own test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/noc/noc.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"

static struct {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct arena arena;
} c;

static int open_example(void **state)
{
    struct yaml_doc doc;
    struct dse_error err;
    (void)state;
    arena_init(&c.arena);
    int bad = yaml_read(&doc, "tests/known/cosa_noc/worked_example.yaml", &err) != DSE_OK;
    if (bad)
        return 1;
    bad = architecture_read("experiments/architectures/simba_tablev.yaml", &c.arch, &err) != DSE_OK ||
          problem_build(&doc, &c.problem, &err) != DSE_OK ||
          mapping_build(&doc, &c.problem, &c.arch, &c.mapping, &err) != DSE_OK;
    yaml_doc_free(&doc);
    return bad;
}

static int close_example(void **state)
{
    (void)state;
    arena_free(&c.arena);
    return 0;
}

static enum dse_status measure(const struct architecture *arch, uint64_t limit, const atomic_int *cancel,
                               uint64_t *cycle, struct dse_error *err)
{
    union metric_value value = {.u64 = METRIC_U64_MISSING};
    enum dse_status status =
        measure_noc.compute(&c.problem, arch, &c.mapping, limit, cancel, &c.arena, &value, err);
    *cycle = value.u64;
    return status;
}

static void test_value_is_the_simulated_latency(void **state)
{
    struct noc_latency latency;
    struct dse_error err;
    uint64_t cycle;
    (void)state;
    assert_int_equal(noc_latency_of(&c.problem, &c.arch, &c.mapping, 0, NULL, &c.arena, &latency, &err),
                     DSE_OK);
    const uint64_t limit[] = {0, latency.n_step, NOC_LATENCY_STEPS};
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        assert_int_equal(measure(&c.arch, limit[i], NULL, &cycle, &err), DSE_OK);
        assert_int_equal(cycle, latency.cycle);
    }
    assert_true(cycle > 125440); /* flits of the busiest port: test_noc_latency.c */
}

static void test_machine_without_a_mesh(void **state)
{
    static struct architecture one;
    struct dse_error err = {0};
    uint64_t cycle;
    (void)state;
    one = c.arch;
    one.mac.instances = one.mac.mesh_x = one.mac.mesh_y = 1;
    for (uint32_t l = 0; l < one.n_level; l++)
        one.level[l].instances = one.level[l].mesh_x = one.level[l].mesh_y = 1;
    assert_int_equal(measure_noc.check(&c.arch, &err), DSE_OK);
    assert_int_equal(measure_noc.check(&one, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "has no PE array, that is, no level with a fan-out"));
    /* a mapping that gets there nevertheless has no value, and is no failure */
    assert_int_equal(measure(&one, 0, NULL, &cycle, &err), DSE_OK);
    assert_true(cycle == METRIC_U64_MISSING);
    assert_true(measure_noc.guess(&c.problem, &one, &c.mapping, &c.arena) == 0);
    assert_true(measure_noc.guess(&c.problem, &c.arch, &c.mapping, &c.arena) > 0);
}

static void test_cancelled_simulation_says_so(void **state)
{
    const atomic_int cancel = 1;
    struct dse_error err = {0};
    uint64_t cycle;
    (void)state;
    assert_int_equal(measure(&c.arch, 0, &cancel, &cycle, &err), DSE_INTERRUPTED);
    assert_true(cycle == METRIC_U64_MISSING);
    assert_ptr_equal(strstr(err.text, "network-on-chip simulation: "), err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_is_the_simulated_latency),
        cmocka_unit_test(test_machine_without_a_mesh),
        cmocka_unit_test(test_cancelled_simulation_says_so),
    };
    return cmocka_run_group_tests(tests, open_example, close_example);
}
