/* Energy Reference Tables: which action prices what, docs/timeloop.md, "Energy Reference Table". */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/timeloop/timeloop.h"
#include "costmodel/timeloop/timeloop_parts.h"

static enum dse_status apply(const char *text, bool fixed_rf, struct architecture *arch,
                             struct dse_error *err)
{
    bool fixed[ARCH_LEVEL_MAX] = {fixed_rf};
    struct yaml_doc doc;
    enum dse_status status;

    memset(arch, 0, sizeof *arch);
    memset(err, 0, sizeof *err);
    arch->n_level = 2;
    strcpy(arch->level[0].name, "RF");
    strcpy(arch->level[1].name, "DRAM");
    strcpy(arch->mac.name, "MAC");
    assert_int_equal(yaml_parse(&doc, "ert.yaml", text, strlen(text), err), DSE_OK);
    status = timeloop_ert_apply(&doc, doc.root, fixed, false, arch, err);
    yaml_doc_free(&doc);
    return status;
}

static void expect_pj(double energy_j, double pj)
{
    assert_true(fabs(energy_j - pj * 1e-12) < 1e-24);
}

static void test_timeloop_ert_maps_actions(void **state)
{
    struct architecture arch;
    struct dse_error err;

    (void)state;
    assert_int_equal(apply("version: 0.4\n"
                           "tables:\n"
                           "- name: system.chip.PE[0..15].RF[0..3]\n"
                           "  actions:\n"
                           "  - {name: read, arguments: {data_delta: 0}, energy: 1.0}\n"
                           "  - {name: read, arguments: {data_delta: 1}, energy: 1.5}\n"
                           "  - {name: write, energy: 2}\n"
                           "  - {name: update, energy: 99}\n"
                           "  - {name: idle, energy: 77}\n"
                           "- name: DRAM\n"
                           "  actions:\n"
                           "  - {name: random_read, energy: 8}\n"
                           "  - {name: read, energy: 4}\n"
                           "  - {name: random_fill, energy: 9}\n"
                           "  - {name: write, energy: 6}\n"
                           "- name: system.MAC\n"
                           "  actions: [{name: compute, energy: 0.4375}]\n",
                           false, &arch, &err),
                     DSE_OK);
    expect_pj(arch.level[0].read_energy_j, 1.5); /* the highest of repeated entries */
    expect_pj(arch.level[0].write_energy_j, 2);
    expect_pj(arch.level[0].update_energy_j, 2); /* "update" is not an action Timeloop looks for */
    expect_pj(arch.level[1].read_energy_j, 8);
    expect_pj(arch.level[1].write_energy_j, 9);
    expect_pj(arch.level[1].update_energy_j, 9);
    expect_pj(arch.mac.energy_j, 0.4375);
}

static void test_timeloop_ert_leaves_given_energies(void **state)
{
    struct architecture arch;
    struct dse_error err;

    (void)state;
    assert_int_equal(apply("tables: [{name: a.RF, actions: [{name: read, energy: 3}]}]", true, &arch, &err),
                     DSE_OK);
    expect_pj(arch.level[0].read_energy_j, 0);
}

static void test_timeloop_ert_refuses(void **state)
{
    static const struct {
        const char *yaml;
        int line;
        const char *text;
    } cases[] = {
        {"version: 0.2\ntables: []\n", 1, "0.2"},
        {"version: 0.4\n", 1, "tables"},
        {"version: 0.4\ntables:\n  a.RF: {read: []}\n", 3, "must be a list"},
        {"tables:\n- {name: a.FR, actions: []}\n", 2, "unknown component in the ERT \"FR\""},
        {"tables:\n- {name: a.RF}\n", 2, "actions"},
        {"tables:\n- {name: a.RF, actions: [{name: read}]}\n", 2, "energy"},
        {"tables:\n- {name: a.RF, actions: [{name: idle, energy: nan}]}\n", 2, "nan"},
        {"tables:\n- {name: a.RF, actions: [{name: read, energy: -1}]}\n", 2, "-1"},
        {"tables:\n- {name: a.RF, actions: [{name: read, energy: 1, enrgy: 1}]}\n", 2, "enrgy"},
    };
    struct architecture arch;
    struct dse_error err;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(apply(cases[i].yaml, false, &arch, &err), DSE_BAD_INPUT);
        if (strstr(err.text, cases[i].text) == NULL || err.line != cases[i].line)
            fail_msg("%s: line %d \"%s\"", cases[i].yaml, err.line, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeloop_ert_maps_actions),
        cmocka_unit_test(test_timeloop_ert_leaves_given_energies),
        cmocka_unit_test(test_timeloop_ert_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
