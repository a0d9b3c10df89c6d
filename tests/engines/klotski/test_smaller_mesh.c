/* Tests: smaller_mesh.c, and how engine_klotski.c uses it.
 * Numbers of cores against a loop over all meshes; on random networks more accelerators never take more
 * cycles, which they do without the answers for smaller meshes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/smaller_mesh.h"
#include "tests/support/schedule_run.h"

static void test_the_next_smaller_mesh(void **state)
{
    (void)state;
    for (uint32_t columns = 1; columns <= 7; columns++)
        for (uint32_t rows = 1; rows <= 5; rows++) {
            const struct core_mesh mesh = {columns, rows};
            for (uint32_t n = 0; n <= columns * rows + 1; n++) {
                uint32_t most = 0;
                for (uint32_t c = 1; c <= columns; c++)
                    for (uint32_t r = 1; r <= rows; r++)
                        most = c * r < n && c * r > most ? c * r : most;
                assert_int_equal(smaller_mesh(&mesh, n), most);
            }
        }
}

static void test_the_bound_of_loads(void **state)
{
    /* on 4 cores 30 cycles by the path, 2 * 101 / 4 by the work; the other takes 2 * 80 / 4 */
    const struct partition_load load[] = {{30, 101}, {10, 80}};
    (void)state;
    assert_int_equal(partition_loads_bound(load, 1, 1, 4), 30);
    assert_int_equal(partition_loads_bound(load, 1, 2, 4), 51);
    assert_int_equal(partition_loads_bound(load, 2, 2, 4), 40);
    assert_true(partition_loads_bound(load, 0, 1, 4) == UINT64_MAX);
}

/* Layers of many latencies that read one or two earlier ones; few tiles, so that paths are long. */
static void random_network(struct random_stream *random, struct network *network)
{
    char text[2000];
    struct dse_error err;
    uint32_t channels[12];
    const uint32_t n = 6 + random_below(random, 6);
    int at = snprintf(text, sizeof text, "network: random\ninput: {C: 24, H: 14, W: 14}\nlayers:\n");
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t one = i ? random_below(random, i) : 0, other = i ? random_below(random, i) : 0;
        const uint32_t window = random_below(random, 2) ? 3 : 1;
        const bool two = i > 0 && one != other;
        channels[i] = 20 + random_below(random, 200);
        at += snprintf(
            text + at, sizeof text - (size_t)at,
            "- {name: l%u, type: conv, C: %u, K: %u, P: 14, Q: 14, R: %u, S: %u, pad: %u, from: ", i,
            !i ? 24 : channels[one] + (two ? channels[other] : 0), channels[i], window, window, window / 2);
        at += i == 0 ? snprintf(text + at, sizeof text - (size_t)at, "input}\n")
              : two  ? snprintf(text + at, sizeof text - (size_t)at, "[l%u, l%u]}\n", one, other)
                     : snprintf(text + at, sizeof text - (size_t)at, "l%u}\n", one);
    }
    assert_int_equal(network_parse("random.yaml", text, (size_t)at, network, &err), DSE_OK);
}

enum { SIDE = 4 };

/* Cycles by columns and rows, from 1 x 1 on. */
static void solve_all(const struct network *network, const char *smaller, uint64_t seed,
                      uint64_t cycle[SIDE][SIDE])
{
    for (uint32_t c = 0; c < SIDE; c++)
        for (uint32_t r = 0; r < SIDE; r++) {
            struct schedule_run run;
            char mesh[16];
            (void)snprintf(mesh, sizeof mesh, "%ux%u", c + 1, r + 1);
            const struct arch_override set[] = {{"Core.mesh", mesh}};
            schedule_run_open_on(&run, &engine_klotski, "experiments/networks/mlp_m.yaml", "klotski", set, 1);
            run.task.network = network;
            run.task.seed = seed;
            schedule_run_set(&run, "smaller", smaller);
            schedule_run_set(&run, "max_uops", "40");
            schedule_run_set(&run, "evaluations", "10");
            schedule_run_set(&run, "tries", "10");
            schedule_run_set(&run, "mapping", "zigzag");
            schedule_run_solve(&run);
            assert_true(run.result.feasible);
            cycle[c][r] = run.result.schedule.latency_cycle;
            schedule_run_close(&run);
        }
}

/* Pairs of a mesh and a smaller one that takes fewer cycles. */
static int n_worse(uint64_t cycle[SIDE][SIDE])
{
    int n = 0;
    for (int c = 0; c < SIDE; c++)
        for (int r = 0; r < SIDE; r++)
            for (int i = 0; i <= c; i++)
                for (int k = 0; k <= r; k++)
                    n += cycle[i][k] < cycle[c][r];
    return n;
}

static void test_more_accelerators_never_take_more_cycles(void **state)
{
    /* of 130 the nine where it makes a difference, three others */
    static const uint64_t key[] = {31, 35, 40, 50, 74, 75, 82, 95, 116, 0, 1, 2};
    int n_without = 0;
    (void)state;
    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++) {
        struct random_stream random = random_stream_make(7, key[i], RANDOM_TEST);
        struct network network;
        uint64_t cycle[SIDE][SIDE];
        random_network(&random, &network);
        solve_all(&network, "true", key[i], cycle);
        assert_int_equal(n_worse(cycle), 0);
        solve_all(&network, "false", key[i], cycle);
        n_without += n_worse(cycle) > 0;
        network_free(&network);
    }
    assert_int_equal(n_without, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_next_smaller_mesh),
        cmocka_unit_test(test_the_bound_of_loads),
        cmocka_unit_test(test_more_accelerators_never_take_more_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
