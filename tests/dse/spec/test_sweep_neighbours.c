/* Neighbours of small sweeps, read off their specifications by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dse/spec/sweep_neighbours.h"
#include "tests/support/sweep_case.h"

#define HEAD "experiment: e\narchitecture: soma_edge\nnetwork: resnet50_soma\n"

static struct sweep_case *open_text(const char *text)
{
    char message[2048];
    struct dse_error err = {0};
    struct sweep_case *opened = sweep_case_open(text, NULL, 0, &err);
    if (!opened)
        fail_msg("%s", dse_error_print(&err, message, sizeof message));
    return opened;
}

/* "0: 1 3; 1: 0 4; ...": points with their neighbours. */
static void assert_neighbours(const char *text, const char *wanted)
{
    struct sweep_case *o = open_text(text);
    struct sweep_neighbours n;
    struct dse_error err = {0};
    struct text_buffer said;
    text_init(&said);
    assert_int_equal(sweep_neighbours_init(&n, &o->sweep, &err), DSE_OK);
    for (size_t i = 0; i < n.n; i++) {
        text_append(&said, "%s%u:", i ? "; " : "", n.point[i]);
        assert_int_equal(sweep_neighbours_find(&n, n.point[i]), i);
        for (size_t k = n.first[i]; k < n.first[i + 1]; k++)
            text_append(&said, " %u", n.point[n.other[k]]);
    }
    assert_string_equal(said.data ? said.data : "", wanted);
    assert_int_equal(sweep_neighbours_find(&n, o->sweep.n_point), SIZE_MAX);
    text_free(&said);
    sweep_neighbours_free(&n);
    sweep_case_close(o);
}

static void test_sweep_neighbours_are_next_in_one_axis(void **state)
{
    (void)state;
    /* capacities 8, 4, 16 of 3 x 2: by value the order of rows is 1, 0, 2 */
    assert_neighbours(HEAD "engine: cocco\naxes:\n  GBUF.capacity: [8 MiB, 4 MiB, 16 MiB]\n"
                           "  DRAM.bandwidth: [8 GB/s, 4 GB/s]\n",
                      "0: 1 2 4; 1: 0 3 5; 2: 0 3; 3: 1 2; 4: 0 5; 5: 1 4");
    /* the rest is the same: batches do not mix, mappers have no schedules */
    assert_neighbours(HEAD "axes:\n  engine: [cocco, random]\n  batch: [1, 2]\n"
                           "  DRAM.bandwidth: [4 GB/s, 8 GB/s]\n",
                      "0: 1; 1: 0; 2: 3; 3: 2");
}

static void test_sweep_neighbours_pass_over_holes(void **state)
{
    (void)state;
    /* without the middle one of three, its neighbours are each other's */
    assert_neighbours(HEAD "engine: cocco\naxes:\n  GBUF.capacity: [4 MiB, 8 MiB, 16 MiB]\n"
                           "skip: [{GBUF.capacity: 8 MiB}]\n",
                      "0: 1; 1: 0");
    /* explicit points: of (4, 4), (8, 8), (8, 4) and (16, 2) the last has more of one and less of the other;
     * (4, 4) < (8, 4) < (8, 8) */
    assert_neighbours(HEAD "engine: cocco\npoints:\n"
                           "- {GBUF.capacity: 4 MiB, DRAM.bandwidth: 4 GB/s}\n"
                           "- {GBUF.capacity: 8 MiB, DRAM.bandwidth: 8 GB/s}\n"
                           "- {GBUF.capacity: 8 MiB, DRAM.bandwidth: 4 GB/s}\n"
                           "- {GBUF.capacity: 16 MiB, DRAM.bandwidth: 2 GB/s}\n",
                      "0: 2; 1: 2; 2: 0 1");
}

static void test_sweep_neighbours_take_linked_quantities_along(void **state)
{
    (void)state;
    const char axes[] = HEAD "engine: cocco\naxes:\n  GBUF.capacity: [4 MiB, 8 MiB]\n"
                             "  DRAM.access_energy: [84 pJ, 90 pJ]\n";
    char linked[1024];
    snprintf(linked, sizeof linked, "%szip: [[GBUF.capacity, DRAM.access_energy]]\n", axes);
    assert_neighbours(axes, "0: 2; 1: 3; 2: 0; 3: 1");
    assert_neighbours(linked, "0: 1; 1: 0");
}

static void test_sweep_neighbours_can_be_turned_off(void **state)
{
    (void)state;
    assert_neighbours(HEAD "engine: cocco\nexchange: off\naxes: {GBUF.capacity: [4 MiB, 8 MiB]}\n", "");
    assert_neighbours(HEAD "engine: cocco\naxes: {batch: [1, 2]}\n", "");
    struct dse_error err = {0};
    assert_null(sweep_case_open(HEAD "engine: cocco\nexchange: no\naxes: {batch: [1, 2]}\n", NULL, 0, &err));
    assert_int_equal(err.line, 5);
    assert_string_equal(err.text, "exchange no: on or off is expected");
}

static void test_sweep_exchange_place_finds_its_point(void **state)
{
    (void)state;
    struct sweep_case *o =
        open_text(HEAD "engine: cocco\naxes:\n  GBUF.capacity: [4 MiB, 8 MiB]\n  batch: [1, 2]\n"
                       "  DRAM.bandwidth: [4 GB/s, 8 GB/s]\n");
    struct text_buffer text;
    text_init(&text);
    sweep_exchange_place(&o->sweep, 7, &text); /* 8 MiB, batch 2, 8 GB/s */
    assert_string_equal(text.data, "GBUF.capacity_byte=8388608 DRAM.bandwidth_byte_per_s=8000000000");
    assert_int_equal(sweep_exchange_find(&o->sweep, 2, text.data), 7);
    assert_int_equal(sweep_exchange_find(&o->sweep, 1, text.data), 5); /* of batch 1 */
    assert_int_equal(sweep_exchange_find(&o->sweep, 1, "GBUF.capacity_byte=8388608"), SIZE_MAX);
    text_free(&text);
    sweep_case_close(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep_neighbours_are_next_in_one_axis),
        cmocka_unit_test(test_sweep_neighbours_pass_over_holes),
        cmocka_unit_test(test_sweep_neighbours_take_linked_quantities_along),
        cmocka_unit_test(test_sweep_neighbours_can_be_turned_off),
        cmocka_unit_test(test_sweep_exchange_place_finds_its_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
