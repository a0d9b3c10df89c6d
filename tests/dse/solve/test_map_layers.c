/* Searches of a workload's layers: each is what a search of its own finds, for any number of threads; the
 * flag ends them; constraints are tried before. Fronts and dataflows go through tests of dse map.
 * Tests: map_layers.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/readers/readers.h"
#include "dse/solve/map_layers.h"

struct fixture {
    struct architecture arch;
    struct network network;
    struct workload workload;
    struct solve_settings settings;
    struct map_layers mapped;
    struct arena arena;
    struct dse_error err;
};

static void open(struct fixture *f)
{
    static const char *const layer[] = {"conv1", "conv2", "fc8"};
    memset(f, 0, sizeof *f);
    arena_init(&f->arena);
    if (architecture_read("experiments/architectures/simba.yaml", &f->arch, &f->err) != DSE_OK ||
        network_read("experiments/networks/alexnet.yaml", &f->network, &f->err) != DSE_OK ||
        workload_init(&f->workload, &f->network, 0, layer, 3, 0, &f->err) != DSE_OK ||
        solve_settings_init(&f->settings, "random", &f->err) != DSE_OK)
        fail_msg("%s", f->err.text);
    f->settings.max_evaluations = 50;
}

static void shut(struct fixture *f)
{
    map_layers_clear(&f->mapped);
    arena_free(&f->arena);
    workload_free(&f->workload);
    network_free(&f->network);
}

static void test_layers_are_searched_each_by_itself(void **state)
{
    (void)state;
    for (int n_thread = 1; n_thread <= 3; n_thread += 2) {
        struct fixture fixture, *f = &fixture;
        struct solve_result *one = malloc(sizeof *one);
        assert_non_null(one);
        open(f);
        assert_int_equal(map_layers(&f->settings, &f->workload, &f->arch, false, n_thread, NULL, &f->arena,
                                    &f->mapped, &f->err),
                         DSE_OK);
        double energy_j = 0;
        for (uint32_t p = 0; p < 3; p++) {
            struct arena arena;
            arena_init(&arena);
            assert_int_equal(solve_task(&f->settings, &f->workload.problem[p], &f->arch, NULL, &arena, one),
                             DSE_OK);
            assert_true(f->mapped.layer[p].edp_js == one->found.evaluation.edp_js);
            energy_j += f->mapped.layer[p].energy_j;
            arena_free(&arena);
        }
        assert_true(f->mapped.point.energy_j == energy_j);
        assert_int_equal(f->mapped.n_each, 0);
        free(one);
        shut(f);
    }
}

static void test_the_flag_ends_all(void **state)
{
    struct fixture fixture, *f = &fixture;
    const atomic_int cancel = 1;
    (void)state;
    open(f);
    assert_int_equal(
        map_layers(&f->settings, &f->workload, &f->arch, false, 2, &cancel, &f->arena, &f->mapped, &f->err),
        DSE_INTERRUPTED);
    shut(f);
}

static void test_constraints_are_tried_on_every_layer(void **state)
{
    static const char good[] = "- {target: PE, type: spatial, factors: K=4}",
                      bad[] = "- {target: PE, type: spatial, factors: Z=4}";
    struct fixture fixture, *f = &fixture;
    struct yaml_doc doc;
    (void)state;
    open(f);
    for (int i = 0; i < 2; i++) {
        const char *text = i ? bad : good;
        assert_int_equal(yaml_parse(&doc, "list", text, strlen(text), &f->err), DSE_OK);
        f->err.text[0] = '\0';
        const enum dse_status status =
            map_layers_constrain(&f->settings, &doc, doc.root, &f->workload, &f->arch, &f->err);
        if ((status == DSE_OK) != (i == 0))
            fail_msg("%d: %s", i, f->err.text);
        yaml_doc_free(&doc);
    }
    assert_non_null(strstr(f->err.text, "Z"));
    shut(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_are_searched_each_by_itself),
        cmocka_unit_test(test_the_flag_ends_all),
        cmocka_unit_test(test_constraints_are_tried_on_every_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
