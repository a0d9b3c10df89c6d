/* Tiles of machines whose buffer does not keep all: every mapping found reads a streamed tensor once, or
 * counts what it reads; energies and words are the plain evaluator's; pieces and shares by hand.
 * Tests: mapper_stream.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "engines/soma/machine/mapper_stream.h"
#include "tests/support/core_fixture.h"

enum { BUDGET = 300, W = TENSOR_WEIGHT, I = TENSOR_INPUT, O = TENSOR_OUTPUT };

/* No bound of these would be filled up: 3x3 with 32 to 64 channels, 8 x 16 outputs; 512 to 512 of 4 x 4,
 * whose weights are more than any level holds; fully connected, 1024 to 64. */
static const struct core_tile tile[] = {
    {.b = 1, .k = 64, .c = 32, .h = 8, .w = 16, .r = 3, .s = 3, .stride_h = 1, .stride_w = 1, .groups = 1},
    {.b = 1, .k = 512, .c = 512, .h = 4, .w = 4, .r = 3, .s = 3, .stride_h = 1, .stride_w = 1, .groups = 1},
    {.b = 1, .k = 64, .c = 1024, .h = 1, .w = 1, .r = 1, .s = 1, .stride_h = 1, .stride_w = 1, .groups = 1},
};

/* What the plain evaluator says of the mapping that is found. */
struct found {
    struct problem problem;
    struct engine_result result;
    struct evaluation_detail detail;
};

static void solve(struct core_fixture *f, const struct core_tile *asked, struct found *found)
{
    struct evaluator *evaluator;
    if (mapper_core_solve(&f->core, asked, &f->arena, &found->problem, &found->result, &f->err) != DSE_OK)
        fail_msg("%s", f->err.text);
    if (!found->result.feasible)
        fail_msg("%s: %s", f->arch.name, found->result.reason);
    assert_int_equal(evaluator_new(&accounting_timeloop, &found->problem, &f->core.arch, &evaluator, &f->err),
                     DSE_OK);
    assert_int_equal(evaluator_detail(evaluator, &found->result.mapping, &f->arena, &found->detail, &f->err),
                     DSE_OK);
    evaluator_delete(evaluator);
}

/* Weights pass the border once on machines where they alone stream; elsewhere the count says how often. What
 * the buffer keeps starts there; the core's energy is all but the DRAM's. */
static void check_tile(struct core_fixture *f, const struct core_tile *asked)
{
    static struct found found;
    struct core_cost cost;
    uint32_t source = f->core.arch.n_level - 1;
    double energy_j = 0;
    solve(f, asked, &found);
    assert_int_equal(mapper_core_cost(&f->core, asked, &cost, &f->err), DSE_OK);
    for (uint32_t t = 0; t < found.problem.n_tensor; t++) {
        const struct tensor *tensor = &found.problem.tensor[t];
        const struct tensor_counts *outside = &found.detail.level[source].tensor[t];
        bool streams = f->split.streams >> tensor->role & 1u;
        double words = (double)problem_tensor_words(&found.problem, t);
        double moved = (double)outside->reads + (double)(tensor->read_write ? outside->updates : 0);
        assert_int_equal(outside->keep, streams);
        assert_true(found.detail.level[f->split.home].tensor[t].keep == !streams);
        if (!streams) {
            assert_true(cost.stream_times[tensor->role] == 0);
            continue;
        }
        assert_true(fabs(cost.stream_times[tensor->role] * words - moved) <= 1e-9 * moved);
        if (f->split.streams == 1u << W)
            assert_true(outside->reads == problem_tensor_words(&found.problem, t));
    }
    for (uint32_t l = 0; l < source; l++)
        energy_j += found.detail.total.level_energy_j[l];
    for (uint32_t l = 0; l <= source; l++)
        energy_j += found.detail.total.network_energy_j[l];
    energy_j += found.detail.total.energy_mac_j;
    assert_true(fabs(cost.energy_j - energy_j) <= 1e-12 * energy_j);
    assert_int_equal(cost.cycle, found.detail.total.latency_cycle);
    assert_true(cost.cycle >= found.detail.total.n_compute / (double)f->arch.mac.instances);
}

static void test_streamed_words_are_those_of_the_plain_evaluator(void **state)
{
    static const char *const arch[] = {"simba", "eyeriss_12x14", "simba_tablev", "mindmappings",
                                       "mindmappings_banks"};
    static const char *const engine[] = {"cosa", "descent", "random"};
    (void)state;
    for (size_t a = 0; a < sizeof arch / sizeof *arch; a++)
        for (size_t e = 0; e < sizeof engine / sizeof *engine; e++) {
            struct core_fixture f;
            core_fixture_open(&f, arch[a], engine[e], BUDGET);
            for (size_t i = 0; i < sizeof tile / sizeof *tile; i++)
                check_tile(&f, &tile[i]);
            arena_free(&f.arena);
        }
}

/* Simba's weight buffers are the 128 of 4 KiB, of which a tile has 2. The first tile's 18,432 words are there
 * as a whole, those of the second, 2,359,296, come in at least 9 pieces (262,144 words fit at a time). */
static void test_pieces_and_shares_of_simba(void **state)
{
    struct core_fixture f;
    struct core_cost cost;
    (void)state;
    core_fixture_open(&f, "simba", "cosa", BUDGET);
    const int own = architecture_find_level(&f.core.arch, "WeightBuffer");
    assert_int_equal(f.split.halved, 1u << own);
    assert_int_equal(architecture_usable_words(&f.core.arch.level[own]), 2048);
    assert_int_equal(mapper_core_cost(&f.core, &tile[0], &cost, &f.err), DSE_OK);
    assert_true(cost.stream_share > 0 && cost.stream_share <= 0.5);
    assert_int_equal(cost.stream_pieces, 0);
    assert_int_equal(mapper_core_cost(&f.core, &tile[1], &cost, &f.err), DSE_OK);
    assert_true(cost.stream_share > 1);
    assert_true(cost.stream_pieces >= 9);
    arena_free(&f.arena);
}

/* By hand: an addition of two maps streams nothing on simba; where inputs or outputs do, the buffer is not
 * read or written for them, and nothing of them waits in a level of its own. */
static void test_vector_tiles_touch_the_buffer_for_what_it_keeps(void **state)
{
    const struct core_tile add = {.operation = CORE_VECTOR,
                                  .b = 1,
                                  .k = 8,
                                  .c = 16,
                                  .h = 4,
                                  .w = 4,
                                  .r = 1,
                                  .s = 1,
                                  .stride_h = 1,
                                  .stride_w = 1,
                                  .groups = 1,
                                  .operands = 2};
    struct core_cost cost;
    struct core_fixture f;
    (void)state;
    core_fixture_open(&f, "simba", "cosa",
                      BUDGET); /* 256 words read, 128 written, blocks of 8 at 29.6281407 pJ */
    assert_int_equal(mapper_core_cost(&f.core, &add, &cost, &f.err), DSE_OK);
    assert_true(fabs(cost.buffer_energy_j - 48 * 29.6281407e-12) <= 1e-12 * cost.buffer_energy_j);
    assert_true(cost.stream_share == 0);
    arena_free(&f.arena);
    core_fixture_open(&f, "mindmappings", "cosa",
                      BUDGET); /* inputs alone: 256 words in blocks of 4 at 8.8 pJ */
    assert_int_equal(mapper_core_cost(&f.core, &add, &cost, &f.err), DSE_OK);
    assert_true(fabs(cost.buffer_energy_j - 64 * 8.8e-12) <= 1e-12 * cost.buffer_energy_j);
    assert_true(cost.stream_share > 1);
    arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streamed_words_are_those_of_the_plain_evaluator),
        cmocka_unit_test(test_pieces_and_shares_of_simba),
        cmocka_unit_test(test_vector_tiles_touch_the_buffer_for_what_it_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
