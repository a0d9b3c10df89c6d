/* The simulated latency of a mapping: the worked example's loads, what is extrapolated against what is
 * simulated in full, random mappings. Mappings are drawn ones of ResNet-50 and VGG-16 layers on Table V's
 * machine (strides left out). */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/noc/noc.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "tests/support/random_case.h"

#define TABLE_V "experiments/architectures/simba_tablev.yaml"

enum { REGISTERS, ACCUMULATION_BUFFER, WEIGHT_BUFFER, INPUT_BUFFER, GLOBAL_BUFFER, DRAM };
enum { N_ROW = 12 };

/* Loops of one level, the innermost first: "P2 K4". */
struct loops {
    int level;
    bool spatial;
    const char *text;
};

struct latency_case {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct arena arena;
};

static void set_loops(struct latency_case *c, const struct loops *row)
{
    static const char all[] = "RSPQCKN";
    struct mapping_level *level = &c->mapping.level[row->level];
    uint32_t *factor = row->spatial ? level->spatial : level->temporal;
    uint8_t *order = row->spatial ? level->spatial_order : level->temporal_order;
    bool used[7] = {false};
    uint32_t n = 0;
    for (const char *p = row->text; *p;) {
        char *after;
        uint8_t d = (uint8_t)(strchr(all, *p) - all);
        factor[d] = (uint32_t)strtoul(p + 1, &after, 10);
        c->problem.bound[d] *= factor[d];
        order[n++] = d;
        used[d] = true;
        for (p = after; *p == ' ';)
            p++;
    }
    for (uint8_t d = 0; d < 7; d++)
        if (!used[d])
            order[n++] = d;
}

/* A convolution with the bounds that the loops give it. */
static void make_case(struct latency_case *c, const struct loops *row)
{
    static const uint32_t ones[] = {1, 1, 1, 1, 1, 1, 1};
    struct dse_error err;
    memset(c, 0, sizeof *c);
    arena_init(&c->arena);
    if (architecture_read(TABLE_V, &c->arch, &err) != DSE_OK)
        fail_msg("%s", err.text);
    random_case_conv(&c->problem, "conv", ones, "N C P+R Q+S");
    mapping_init(&c->mapping, &c->problem, &c->arch);
    for (; row->text; row++)
        set_loops(c, row);
}

static struct noc_latency latency_of(struct latency_case *c, uint64_t max_steps)
{
    struct noc_latency latency;
    struct dse_error err;
    arena_reset(&c->arena);
    if (noc_latency_of(&c->problem, &c->arch, &c->mapping, max_steps, NULL, &c->arena, &latency, &err) !=
        DSE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(latency.simulated.flits_received, latency.simulated.flits_expected);
    assert_true((double)latency.cycle >= latency.bound_cycle);
    assert_true(noc_latency_guess(&c->problem, &c->arch, &c->mapping, &c->arena) >= latency.bound_cycle);
    return latency;
}

/* Of the reference page: 14 x (448 + 4 x 32 / 14) packets of 5 flits from the DRAM, 14 x 1,344 to it. The
 * buffer sends the latter and 14 x 4 x 112 packets of inputs: (18,816 + 6,272) x 5 = 125,440 flits, more than
 * any other port. */
static void test_noc_latency_of_the_worked_example(void **state)
{
    struct latency_case c;
    struct yaml_doc doc;
    struct dse_error err;
    (void)state;
    memset(&c, 0, sizeof c);
    arena_init(&c.arena);
    assert_int_equal(yaml_read(&doc, "tests/known/cosa_noc/worked_example.yaml", &err), DSE_OK);
    assert_int_equal(architecture_read(TABLE_V, &c.arch, &err), DSE_OK);
    assert_int_equal(problem_build(&doc, &c.problem, &err), DSE_OK);
    assert_int_equal(mapping_build(&doc, &c.problem, &c.arch, &c.mapping, &err), DSE_OK);
    yaml_doc_free(&doc);
    c.arch.noc[NOC_SET_COMPAT] = 1;
    struct noc_latency latency = latency_of(&c, NOC_LATENCY_STEPS);
    assert_int_equal(latency.n_step, 14);
    assert_int_equal(latency.n_step_simulated, 14);
    assert_int_equal(latency.cycle, latency.simulated.cycle);
    assert_int_equal(latency.simulated.dram_link_flits_in, 31360 + 640);
    assert_int_equal(latency.simulated.dram_link_flits_out, 94080);
    assert_int_equal(latency.simulated.flits_sent, (43904 + 6400) * 5);
    assert_true(latency.bound_cycle == 125440);
    /* What it takes, the inputs and the same outputs, is as much as it sends; a PE's counts and packets are
     * 18,424 cycles (tests/known/cosa_noc/worked_example.csv, actor 0). */
    const double each[] = {32000, 94080, 125440, 125440, 18424};
    double squares = 0;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        squares += each[i] * each[i];
    double guess = noc_latency_guess(&c.problem, &c.arch, &c.mapping, &c.arena);
    assert_float_equal(guess, sqrt(squares), 1e-6);
    assert_true(latency.cycle > 125440);
    c.arch.noc[NOC_SET_COMPAT] = 0; /* K2 of the weight buffers is outside the sums: 28 steps */
    latency = latency_of(&c, NOC_LATENCY_STEPS);
    assert_int_equal(latency.n_step, 28);
    assert_int_equal(latency.simulated.dram_link_flits_out, 94080);
    arena_free(&c.arena);
}

static const struct loops long_mappings[][N_ROW] = {
    {{DRAM, false, "P2 K2 Q14 C2"},
     {GLOBAL_BUFFER, false, "P2 K4"},
     {GLOBAL_BUFFER, true, "K2"},
     {INPUT_BUFFER, false, "Q4 C2"},
     {INPUT_BUFFER, true, "C8"},
     {WEIGHT_BUFFER, false, "K2 P14"},
     {ACCUMULATION_BUFFER, false, "K4"},
     {ACCUMULATION_BUFFER, true, "C2 K2"}},
    {{DRAM, false, "K32 C4"},
     {GLOBAL_BUFFER, false, "Q7"},
     {GLOBAL_BUFFER, true, "R3 C2 K2"},
     {INPUT_BUFFER, false, "C4 K2"},
     {INPUT_BUFFER, true, "S3 K2"},
     {WEIGHT_BUFFER, false, "C2 K2"},
     {ACCUMULATION_BUFFER, false, "C2"},
     {ACCUMULATION_BUFFER, true, "C4"},
     {REGISTERS, false, "P7"}},
    {{DRAM, false, "P7 K16"},
     {GLOBAL_BUFFER, false, "C8 K4 Q2"},
     {GLOBAL_BUFFER, true, "P2 K2"},
     {INPUT_BUFFER, false, "K2 C8"},
     {WEIGHT_BUFFER, false, "Q2"},
     {ACCUMULATION_BUFFER, false, "P2 C2"},
     {ACCUMULATION_BUFFER, true, "K2"},
     {REGISTERS, false, "Q7"}},
};

/* docs/noc.md, "Extrapolation": within 2 % where an eighth or more of the steps is simulated. With the cost
 * model's traffic these have up to 230,000 steps; the middle of three estimates is within 15 %. */
static void check_extrapolation(size_t i, bool compat, double tolerance)
{
    static const uint64_t max_steps[] = {512, 512, 1024};
    struct latency_case c;
    make_case(&c, long_mappings[i]);
    c.arch.noc[NOC_SET_COMPAT] = compat;
    struct noc_latency part = latency_of(&c, max_steps[i]), full = latency_of(&c, 0);
    assert_int_equal(full.n_step_simulated, full.n_step);
    assert_int_equal(part.n_step, full.n_step);
    assert_true(part.n_step_simulated <= max_steps[i]);
    double error = (double)part.cycle / (double)full.cycle - 1;
    if (error < -tolerance || error > tolerance)
        fail_msg("mapping %zu: %llu cycles from %llu steps, %llu from all %llu", i,
                 (unsigned long long)part.cycle, (unsigned long long)part.n_step_simulated,
                 (unsigned long long)full.cycle, (unsigned long long)full.n_step);
    arena_free(&c.arena);
}

static void test_noc_latency_extrapolates_close_to_the_full_simulation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof long_mappings / sizeof *long_mappings; i++) {
        check_extrapolation(i, true, 0.02);
        check_extrapolation(i, false, 0.15);
    }
}

/* A million steps and more stay within the limit and a few megabytes. */
static void test_noc_latency_of_a_million_steps(void **state)
{
    static const struct loops row[N_ROW] = {{DRAM, false, "K16 P16 C16 Q8"},
                                            {GLOBAL_BUFFER, false, "C8 K2 R3 Q4"},
                                            {GLOBAL_BUFFER, true, "K4 C4"},
                                            {REGISTERS, false, "P2"}};
    struct latency_case c;
    (void)state;
    make_case(&c, row);
    struct noc_latency a = latency_of(&c, 512);
    assert_int_equal(a.n_step, (uint64_t)16 * 16 * 16 * 8 * 8 * 2 * 3 * 4);
    assert_true(a.n_step_simulated <= 512);
    assert_true(c.arena.used_byte < 100u * 1000 * 1000);
    struct noc_latency b = latency_of(&c, 512);
    assert_int_equal(a.cycle, b.cycle);
    arena_free(&c.arena);
}

/* Whatever the mapping: no deadlock, every flit arrives, at least the bound; a short limit works too. */
static void test_noc_latency_of_random_mappings(void **state)
{
    static const struct random_case_options options = {.roles = true};
    struct random_stream stream;
    uint32_t n_simulated = 0;
    (void)state;
    stream = random_stream_make(20211, 3, 0);
    for (int i = 0; i < 300; i++) {
        struct latency_case c;
        struct noc_config config;
        struct dse_error err;
        uint32_t level;
        arena_init(&c.arena);
        random_case_problem(&stream, 3000, &c.problem);
        random_case_architecture(&stream, &options, &c.arch);
        random_case_mapping(&stream, &c.problem, &c.arch, false, &c.mapping);
        struct noc_latency latency;
        enum dse_status status =
            noc_latency_of(&c.problem, &c.arch, &c.mapping, 0, NULL, &c.arena, &latency, &err);
        if (noc_config_of(&c.arch, &config, &level, &err) == DSE_OK && status != DSE_BAD_USAGE) {
            struct noc_latency full = latency_of(&c, 0), part = latency_of(&c, 16);
            assert_int_equal(full.n_step_simulated, full.n_step);
            assert_true(part.n_step_simulated <= 16);
            n_simulated++;
        }
        arena_free(&c.arena);
    }
    assert_true(n_simulated > 150);
}

static void test_noc_latency_needs_a_mesh(void **state)
{
    static const struct loops row[N_ROW] = {{DRAM, false, "K2"}};
    struct latency_case c;
    struct noc_latency latency;
    struct dse_error err;
    (void)state;
    make_case(&c, row);
    for (uint32_t l = 0; l < c.arch.n_level; l++)
        c.arch.level[l].instances = c.arch.level[l].mesh_x = c.arch.level[l].mesh_y = 1;
    c.arch.mac.instances = c.arch.mac.mesh_x = c.arch.mac.mesh_y = 1;
    assert_int_equal(noc_latency_of(&c.problem, &c.arch, &c.mapping, 0, NULL, &c.arena, &latency, &err),
                     DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "has no PE array"));
    arena_free(&c.arena);
}

/* A simulation of 2,000 steps ends at the first look at the flag; one that is not set changes nothing. */
static void test_noc_latency_can_be_cancelled(void **state)
{
    static const struct loops row[N_ROW] = {{DRAM, false, "P2000"}};
    struct latency_case c;
    struct noc_latency latency;
    struct dse_error err;
    atomic_int cancel;
    (void)state;
    make_case(&c, row);
    atomic_init(&cancel, 1);
    assert_int_equal(noc_latency_of(&c.problem, &c.arch, &c.mapping, 0, &cancel, &c.arena, &latency, &err),
                     DSE_INTERRUPTED);
    assert_int_equal(latency.simulated.n_stepped_cycle, 0);
    atomic_store(&cancel, 0);
    arena_reset(&c.arena);
    assert_int_equal(noc_latency_of(&c.problem, &c.arch, &c.mapping, 64, &cancel, &c.arena, &latency, &err),
                     DSE_OK);
    assert_int_equal(latency.cycle, latency_of(&c, 64).cycle);
    arena_free(&c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noc_latency_of_the_worked_example),
        cmocka_unit_test(test_noc_latency_extrapolates_close_to_the_full_simulation),
        cmocka_unit_test(test_noc_latency_of_a_million_steps),
        cmocka_unit_test(test_noc_latency_of_random_mappings),
        cmocka_unit_test(test_noc_latency_needs_a_mesh),
        cmocka_unit_test(test_noc_latency_can_be_cancelled),
    };
    return cmocka_run_group_tests_name("noc_latency", tests, NULL, NULL);
}
