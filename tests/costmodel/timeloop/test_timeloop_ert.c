/* Energy and Area Reference Tables: which action prices what, docs/timeloop.md, "Energy Reference Table". */
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
    arch->clock_hz = 1e9;
    memset(err, 0, sizeof *err);
    arch->n_level = 2;
    strcpy(arch->level[0].name, "RF");
    strcpy(arch->level[1].name, "DRAM");
    strcpy(arch->mac.name, "MAC");
    assert_int_equal(yaml_parse(&doc, "ert.yaml", text, strlen(text), err), DSE_OK);
    status = timeloop_ert_apply(&doc, doc.root, fixed, false, false, arch, err);
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

/* A table of Timeloop v4 says how long a cycle is; its `leak` is the energy of one, of a level that has
 * energies of its own too, and not of MACs. */
static void test_timeloop_ert_of_v4_leaks(void **state)
{
    static const char v4[] =
        "tables:\n"
        "- name: a.RF\n"
        "  actions:\n"
        "  - {name: leak, arguments: {}, energy: 0.001592}\n"
        "  - {name: leak, arguments: {}, energy: 0.001}\n"
        "- {name: a.MAC, actions: [{name: leak, energy: 5}]}\n"
        "- {name: a.DRAM, actions: [{name: read, arguments: {global_cycle_seconds: 1e-9}, energy: 3}]}\n";
    static const char v3[] = "tables: [{name: a.RF, actions: [{name: leak, arguments: {}, energy: 5}]}]\n";
    static const char none[] = "tables: [{name: a.RF, actions: [{name: leak, arguments: "
                               "{global_cycle_seconds: 1e-9}, energy: 0}]}]\n";
    struct architecture arch;
    struct dse_error err;

    (void)state;
    assert_int_equal(apply(v4, true, &arch, &err), DSE_OK);
    assert_true(fabs(arch.level[0].leakage_w - 0.001592e-12 * 1e9) < 1e-18);
    assert_true(arch.level[1].leakage_w == 0 && arch.mac.leakage_w == 0);
    assert_true(arch.power_gating);
    assert_int_equal(apply(v3, false, &arch, &err), DSE_OK);
    assert_true(arch.level[0].leakage_w == 0 && !arch.power_gating);
    assert_int_equal(arch.unread_leak_line, 1);
    assert_int_equal(apply(none, false, &arch, &err), DSE_OK);
    assert_false(arch.power_gating || arch.unread_leak_line);
}

static enum dse_status apply_art(const char *text, struct architecture *arch, struct dse_error *err)
{
    struct yaml_doc doc;
    enum dse_status status = apply("tables: []", false, arch, err);

    assert_int_equal(status, DSE_OK);
    assert_int_equal(yaml_parse(&doc, "art.yaml", text, strlen(text), err), DSE_OK);
    status = timeloop_art_apply(&doc, doc.root, arch, err);
    yaml_doc_free(&doc);
    return status;
}

/* um2 of one instance. */
static void test_timeloop_art_gives_areas(void **state)
{
    static const struct {
        const char *yaml;
        int line;
        const char *text;
    } cases[] = {
        {"version: 0.2\ntables: []\n", 1, "0.2"},
        {"tables: {}\n", 1, "ART.tables must be a list"},
        {"tables:\n- {name: a.FR, area: 1}\n", 2,
         "unknown component in the ART \"FR\"; did you mean \"RF\"?"},
        {"tables:\n- {name: a.RF}\n", 2, "area"},
        {"tables:\n- {name: a.RF, area: -1}\n", 2, "-1"},
        {"tables:\n- {name: a.RF, area: 1, aera: 1}\n", 2, "aera"},
    };
    struct architecture arch;
    struct dse_error err;

    (void)state;
    assert_int_equal(apply_art("version: '0.4'\n"
                               "tables:\n"
                               "- {name: 's.PE[1..256].RF[1..1]', area: 1419.815}\n"
                               "- {name: s.DRAM, area: 0.0}\n"
                               "- {name: 's.MAC[1..256]', area: 417.0}\n",
                               &arch, &err),
                     DSE_OK);
    assert_true(fabs(arch.level[0].area_mm2 - 1419.815e-6) < 1e-15);
    assert_true(arch.level[1].area_mm2 == 0);
    assert_true(fabs(arch.mac.area_mm2 - 417e-6) < 1e-15);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(apply_art(cases[i].yaml, &arch, &err), DSE_BAD_INPUT);
        if (strstr(err.text, cases[i].text) == NULL || err.line != cases[i].line)
            fail_msg("%s: line %d \"%s\"", cases[i].yaml, err.line, err.text);
    }
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
        cmocka_unit_test(test_timeloop_ert_of_v4_leaks),
        cmocka_unit_test(test_timeloop_art_gives_areas),
        cmocka_unit_test(test_timeloop_ert_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
