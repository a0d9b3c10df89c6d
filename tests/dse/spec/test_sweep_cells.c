/* The cells that skip and only leave. Expected cells are read off the specifications by hand, or follow the
 * definition cell by cell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/sweep_case.h"

#define HEAD "experiment: e\narchitecture: simba\nnetwork: resnet50\nlayers: [conv1, fc]\n"

static struct sweep_case *open_text(const char *text, const char *const *set, size_t n_set)
{
    char message[2048];
    struct dse_error err = {0};
    struct sweep_case *opened = sweep_case_open(text, set, n_set, &err);
    if (!opened)
        fail_msg("%s", dse_error_print(&err, message, sizeof message));
    return opened;
}

static void test_sweep_skip_and_only_choose_cells(void **state)
{
    (void)state;
    /* 3 x 2 cells; only batch 1 or 4: 4 cells; without (64 KiB as 65536 B, 4): 3 */
    struct sweep_case *o = open_text(
        HEAD "engine: random\naxes:\n  batch: [1, 2, 4]\n  GlobalBuffer.capacity: [64 KiB, 128 KiB]\n"
             "only: [{batch: [1, 4]}]\nskip: [{GlobalBuffer.capacity: 65536 B, batch: 4}]\n",
        NULL, 0);
    assert_int_equal(o->sweep.n_cell, 6);
    assert_int_equal(o->sweep.n_point, 3);
    assert_int_equal(o->sweep.cell[0], 0);
    assert_int_equal(o->sweep.cell[1], 1);
    assert_int_equal(o->sweep.cell[2], 5);
    sweep_case_close(o);
}

/* Entries of random sets over three dimensions, the second of two linked axes. */
enum { RANDOM_VALUE = 6, RANDOM_ENTRY = 12 };

struct random_entry {
    unsigned set[4]; /* per axis the accepted values as bits; 0: any */
};

static unsigned draw(uint64_t *state, unsigned n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*state >> 33) % n;
}

/* Append the entries as YAML; every entry says something. */
static void write_entries(uint64_t *state, const char *key, struct random_entry *entry, size_t n, char *text)
{
    static const char *const axis[] = {"batch", "seed", "option.search_size", "DRAM.bandwidth"};
    static const char *const unit[] = {"", "", "", " GB/s"};
    text += sprintf(text, "%s:\n", key);
    for (size_t e = 0; e < n; e++) {
        unsigned said = 1 + draw(state, 15);
        text += sprintf(text, "- {");
        for (size_t v = 0; v < 4; v++) {
            entry[e].set[v] = said >> v & 1 ? 1 + draw(state, (1U << RANDOM_VALUE) - 1) : 0;
            if (entry[e].set[v])
                text += sprintf(text, "%s: [", axis[v]);
            for (unsigned i = 0; i < RANDOM_VALUE; i++)
                if (entry[e].set[v] >> i & 1)
                    text += sprintf(text, "%u%s, ", i + 1, unit[v]);
            if (entry[e].set[v])
                text += sprintf(text, "], ");
        }
        text += sprintf(text, "}\n");
    }
}

static bool agrees(const struct random_entry *entry, size_t n, const unsigned *index)
{
    for (size_t e = 0; e < n; e++) {
        bool all = true;
        for (size_t v = 0; v < 4; v++)
            all = all && (entry[e].set[v] == 0 || (entry[e].set[v] >> index[v] & 1));
        if (all)
            return true;
    }
    return false;
}

/* The definition in docs/sweeps.md, cell by cell, against the walk that the program takes. */
static void test_sweep_filters_are_what_they_say(void **state)
{
    (void)state;
    uint64_t stream = 1;
    for (unsigned round = 0; round < 60; round++) {
        struct random_entry skip[RANDOM_ENTRY], only[RANDOM_ENTRY];
        char text[16384] =
            HEAD "engine: random\naxes:\n  batch: [1, 2, 3, 4, 5, 6]\n  seed: [1, 2, 3, 4, 5, 6]\n"
                 "  option.search_size: [1, 2, 3, 4, 5, 6]\n"
                 "  DRAM.bandwidth: [1 GB/s, 2 GB/s, 3 GB/s, 4 GB/s, 5 GB/s, 6 GB/s]\n"
                 "zip: [[seed, option.search_size]]\n";
        size_t n_skip = draw(&stream, RANDOM_ENTRY), n_only = draw(&stream, RANDOM_ENTRY), n = 0;
        uint32_t kept[RANDOM_VALUE * RANDOM_VALUE * RANDOM_VALUE];
        if (n_skip)
            write_entries(&stream, "skip", skip, n_skip, text + strlen(text));
        if (n_only)
            write_entries(&stream, "only", only, n_only, text + strlen(text));
        for (unsigned cell = 0; cell < RANDOM_VALUE * RANDOM_VALUE * RANDOM_VALUE; cell++) {
            unsigned linked = cell / RANDOM_VALUE % RANDOM_VALUE;
            unsigned index[] = {cell / RANDOM_VALUE / RANDOM_VALUE, linked, linked, cell % RANDOM_VALUE};
            if ((n_only == 0 || agrees(only, n_only, index)) && !agrees(skip, n_skip, index))
                kept[n++] = cell;
        }
        if (n == 0)
            continue; /* refused; a case of test_bad_input */
        struct sweep_case *o = open_text(text, NULL, 0);
        assert_int_equal(o->sweep.n_point, n);
        for (size_t p = 0; p < n; p++) /* no list of cells: all of them */
            assert_int_equal(o->sweep.cell ? o->sweep.cell[p] : p, kept[p]);
        sweep_case_close(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep_skip_and_only_choose_cells),
        cmocka_unit_test(test_sweep_filters_are_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
