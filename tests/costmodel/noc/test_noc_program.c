/* The transactions of a mapping: the rules one by one on small mappings. Expected numbers are worked out from
 * the mappings in the comments.
 * Tests: noc_plan.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/noc/noc.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "tests/support/random_case.h"

#define TABLE_V "experiments/architectures/simba_tablev.yaml"

struct program_case {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct noc_config config;
    struct noc_program program;
    uint64_t n_step;
    struct arena arena;
};

static void write_program(struct program_case *c, uint64_t max_steps)
{
    struct dse_error err;
    int level = noc_level_of(&c->arch);
    assert_true(level >= 0);
    if (noc_program_of(&c->problem, &c->arch, &c->mapping, (uint32_t)level, &c->config, max_steps, &c->arena,
                       &c->program, &c->n_step, &err) != DSE_OK)
        fail_msg("%s", err.text);
    if (noc_check(&c->config, &c->program, NULL, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

enum { REGISTERS, ACCUMULATION, WEIGHT_BUFFER, INPUT_BUFFER, GLOBAL_BUFFER, DRAM };
enum { R, S, P, Q, C, K, N };

/* A convolution whose bounds are all 1, on Table V's machine with a mesh of columns x rows PEs. */
static void unit_conv(struct program_case *c, uint32_t columns, uint32_t rows)
{
    static const uint32_t ones[] = {1, 1, 1, 1, 1, 1, 1};
    struct dse_error err;
    memset(c, 0, sizeof *c);
    arena_init(&c->arena);
    if (architecture_read(TABLE_V, &c->arch, &err) != DSE_OK)
        fail_msg("%s", err.text);
    random_case_conv(&c->problem, "conv", ones, "N C P+R Q+S");
    mapping_init(&c->mapping, &c->problem, &c->arch);
    noc_config_init(&c->config, columns, rows);
}

static void temporal(struct program_case *c, uint32_t level, uint32_t dim, uint32_t factor)
{
    c->mapping.level[level].temporal[dim] = factor;
    c->problem.bound[dim] *= factor;
}

static void spatial(struct program_case *c, uint32_t level, uint32_t dim, uint32_t factor)
{
    c->mapping.level[level].spatial[dim] = factor;
    c->problem.bound[dim] *= factor;
}

/* Dimension letters, innermost first; the others follow. */
static void order(uint8_t *list, const char *letters)
{
    static const char all[] = "RSPQCKN";
    uint32_t n = 0;
    for (const char *p = letters; *p; p++)
        list[n++] = (uint8_t)(strchr(all, *p) - all);
    for (uint8_t d = 0; d < 7; d++)
        if (!strchr(letters, all[d]))
            list[n++] = d;
}

static void assert_program(struct program_case *c, const char *want)
{
    struct text_buffer got;
    text_init(&got);
    noc_program_write_csv(&c->program, &got);
    assert_string_equal(got.data, want);
    text_free(&got);
    arena_free(&c->arena);
}

/* One PE (port 0), buffer at port 1, DRAM at port 5. K2 inside C2 at the global buffer: inputs stay while k
 * runs, outputs leave every step and come back as partial sums when c = 1; two steps may be under way. */
static void test_noc_program_reloads_partial_sums(void **state)
{
    struct program_case c;
    (void)state;
    unit_conv(&c, 1, 1);
    temporal(&c, GLOBAL_BUFFER, K, 2);
    temporal(&c, GLOBAL_BUFFER, C, 2);
    order(c.mapping.level[GLOBAL_BUFFER].temporal_order, "KC");
    write_program(&c, 0);
    assert_program(&c, "0,5,0,1,5,1,\n"         /* inputs into the buffer */
                       "1,1,0,1,1,0,0\n"        /* k0 c0: inputs */
                       "2,5,0,1,5,0,\n"         /* weights, past the buffer */
                       "3,0,2,1,0,,2 1\n"       /* computing */
                       "4,0,0,1,0,1,3\n"        /* store */
                       "5,5,0,1,5,0,\n"         /* k1 c0: weights only */
                       "6,0,2,1,0,,5\n"         /**/
                       "7,0,0,1,0,1,6 4\n"      /**/
                       "8,1,0,1,1,0,3\n"        /* k0 c1: partial sums */
                       "9,1,0,1,1,0,3 0\n"      /* inputs */
                       "10,5,0,1,5,0,3\n"       /* weights */
                       "11,0,2,1,0,,10 9 8 4\n" /**/
                       "12,0,0,1,0,1,11 7\n"    /**/
                       "13,1,0,1,1,0,6\n"       /* k1 c1 */
                       "14,5,0,1,5,0,6\n"       /**/
                       "15,0,2,1,0,,14 13 7\n"  /**/
                       "16,0,0,1,0,1,15 12\n"   /**/
                       "17,1,0,1,1,5,16\n");    /* outputs to the DRAM */
}

/* The same loops at the DRAM: each step is an outer step of its own, whose transfers wait for the outer step
 * two before, and only those; the partial sums come from the DRAM, into the buffer. The buffer sends inputs
 * in every outer step. */
static void test_noc_program_double_buffers_outer_steps(void **state)
{
    struct program_case c;
    (void)state;
    unit_conv(&c, 1, 1);
    temporal(&c, DRAM, K, 2);
    temporal(&c, DRAM, C, 2);
    order(c.mapping.level[DRAM].temporal_order, "KC");
    write_program(&c, 0);
    assert_program(&c, "0,5,0,1,5,1,\n"   /* k0 c0: inputs into the buffer */
                       "1,1,0,1,1,0,0\n"  /**/
                       "2,5,0,1,5,0,\n"   /**/
                       "3,0,2,1,0,,2 1\n" /**/
                       "4,0,0,1,0,1,3\n"  /**/
                       "5,1,0,1,1,5,4\n"  /* outputs to the DRAM */
                       "6,1,0,1,1,0,0\n"  /* k1 c0: the buffer has the inputs */
                       "7,5,0,1,5,0,\n"   /**/
                       "8,0,2,1,0,,7 6\n" /**/
                       "9,0,0,1,0,1,8\n"  /**/
                       "10,1,0,1,1,5,9\n" /**/
                       "11,5,0,1,5,1,3\n" /* k0 c1: partial sums into the buffer after the counts of k0 c0 */
                       "12,5,0,1,5,1,3\n" /* inputs */
                       "13,1,0,1,1,0,0 12\n" /**/
                       "14,5,0,1,5,0,\n"     /**/
                       "15,0,2,1,0,,14 13\n" /**/
                       "16,0,0,1,0,1,15\n"   /**/
                       "17,1,0,1,1,5,16\n"   /**/
                       "18,5,0,1,5,1,8\n"    /* k1 c1: partial sums */
                       "19,1,0,1,1,0,0 12\n" /**/
                       "20,5,0,1,5,0,\n"     /**/
                       "21,0,2,1,0,,20 19\n" /**/
                       "22,0,0,1,0,1,21\n"   /**/
                       "23,1,0,1,1,5,22\n"); /**/
}

/* C16 over 4 x 4 PEs: every row adds up to the right, then the right column downwards; PE 15 stores. One PE's
 * inputs and weights are its own (unicasts). Ports: buffer 19, DRAM 29. Ids: inputs 1-16, weights 17-32,
 * counts 33-48, rows 49-60, column 61-63. */
static void test_noc_program_reduces_rows_then_the_column(void **state)
{
    static const uint32_t from[] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11};
    static const uint32_t to[] = {1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 7, 11, 15};
    /* after the sender's count: what came in along the row, and down the column */
    static const uint32_t n_before[] = {0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 2, 2};
    struct program_case c;
    (void)state;
    unit_conv(&c, 4, 4);
    spatial(&c, GLOBAL_BUFFER, C, 16);
    write_program(&c, 0);
    assert_int_equal(c.program.n_transaction, 1 + 16 + 16 + 16 + 15 + 1 + 1);
    for (uint32_t i = 0; i < 15; i++) {
        const struct noc_transaction *t = &c.program.transaction[49 + i];
        assert_int_equal(t->operation, NOC_UNICAST);
        assert_int_equal(t->actor, from[i]);
        assert_int_equal(c.program.destination[t->first_destination], to[i]);
        assert_int_equal(t->n_dependency, 1 + n_before[i]);
        assert_int_equal(c.program.dependency[t->first_dependency], 33 + from[i]);
    }
    const struct noc_transaction *last = &c.program.transaction[63]; /* 11 to 15: row 8-9-10-11 and 7 to 11 */
    assert_int_equal(c.program.dependency[last->first_dependency + 1], 57);
    assert_int_equal(c.program.dependency[last->first_dependency + 2], 62);
    const struct noc_transaction *store = &c.program.transaction[64];
    assert_int_equal(store->actor, 15);
    assert_int_equal(store->n_dependency, 16 + 15);
    arena_free(&c.arena);
}

/* Q4 (inner) and C4: PEs q + 4c; the PEs of a column hold the same output and add up downwards; no row has
 * two of them. */
static void test_noc_program_reduces_columns_alone(void **state)
{
    struct program_case c;
    (void)state;
    unit_conv(&c, 4, 4);
    spatial(&c, GLOBAL_BUFFER, Q, 4);
    spatial(&c, GLOBAL_BUFFER, C, 4);
    order(c.mapping.level[GLOBAL_BUFFER].spatial_order, "QC");
    write_program(&c, 0);
    /* 1 fetch, 16 input unicasts, 4 weight multicasts {4c .. 4c+3}, 16 counts, 12 links, 4 stores, 1 write
     * back */
    assert_int_equal(c.program.n_transaction, 1 + 16 + 4 + 16 + 12 + 4 + 1);
    const struct noc_transaction *weights = &c.program.transaction[17];
    assert_int_equal(weights->operation, NOC_MULTICAST);
    for (uint32_t k = 0; k < 4; k++)
        assert_int_equal(c.program.destination[weights->first_destination + k], k);
    for (uint32_t i = 0; i < 12; i++) {
        const struct noc_transaction *t = &c.program.transaction[37 + i];
        uint32_t column = i / 3, row = i % 3;
        assert_int_equal(t->actor, column + 4 * row);
        assert_int_equal(c.program.destination[t->first_destination], column + 4 * (row + 1));
        assert_int_equal(t->n_dependency, row == 0 ? 1 : 2);
    }
    for (uint32_t q = 0; q < 4; q++)
        assert_int_equal(c.program.transaction[49 + q].actor, 12 + q);
    arena_free(&c.arena);
}

/* Loops split over X and Y of a 4 x 4 array keep their places: K2 on X, P3 on Y use the PEs x + 4 y. */
static void test_noc_program_keeps_the_places_of_a_planar_array(void **state)
{
    static const uint32_t stores[] = {0, 1, 4, 5, 8, 9};
    struct program_case c;
    struct dse_error err;
    (void)state;
    unit_conv(&c, 4, 4);
    assert_int_equal(architecture_read("experiments/architectures/simba.yaml", &c.arch, &err), DSE_OK);
    spatial(&c, GLOBAL_BUFFER, K, 2);
    spatial(&c, GLOBAL_BUFFER, P, 3);
    order(c.mapping.level[GLOBAL_BUFFER].spatial_order, "KP");
    c.mapping.level[GLOBAL_BUFFER].split = 1;
    write_program(&c, 0);
    /* 1 fetch, inputs to 3 rows, weights to 2 columns, 16 counts, 6 stores */
    assert_int_equal(c.program.n_transaction, 1 + 3 + 2 + 16 + 6 + 1);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(c.program.transaction[22 + i].actor, stores[i]);
    arena_free(&c.arena);
}

/* Sizes: a 3 x 3 window over P4 x Q4 in the PE is 6 x 6 inputs, times C8: 288 B = 9 packets. In the buffer P8
 * x Q4 x C8: 10 x 6 x 8 = 480 B = 15 packets. Outputs are 24 bit wide as in the accumulation buffer: 16 words
 * = 384 bit = 2 packets, in the global buffer 32 words = 3 packets. Weights 3 x 3 x 8 = 72 B = 3 packets. The
 * PE computes 3 * 3 * 16 * 8 cycles. The window loop R2 at the buffer moves no inputs: they are there. */
static void test_noc_program_sizes_tiles_with_their_halo(void **state)
{
    struct program_case c;
    (void)state;
    unit_conv(&c, 1, 1);
    temporal(&c, ACCUMULATION, R, 3);
    temporal(&c, ACCUMULATION, S, 3);
    temporal(&c, ACCUMULATION, P, 4);
    temporal(&c, ACCUMULATION, Q, 4);
    temporal(&c, INPUT_BUFFER, C, 8);
    temporal(&c, GLOBAL_BUFFER, P, 2);
    write_program(&c, 0);
    assert_program(&c, "0,5,0,15,5,1,\n"
                       "1,1,0,9,1,0,0\n"
                       "2,5,0,3,5,0,\n"
                       "3,0,2,1152,0,,2 1\n"
                       "4,0,0,2,0,1,3\n"
                       "5,1,0,9,1,0,0\n"
                       "6,0,2,1152,0,,5\n"
                       "7,0,0,2,0,1,6 4\n"
                       "8,1,0,3,1,5,7\n");
    unit_conv(&c, 1, 1);
    temporal(&c, GLOBAL_BUFFER, R, 2);
    write_program(&c, 0);
    assert_program(&c, "0,5,0,1,5,1,\n"    /* inputs */
                       "1,1,0,1,1,0,0\n"   /* r0: inputs */
                       "2,5,0,1,5,0,\n"    /* weights */
                       "3,0,2,1,0,,2 1\n"  /**/
                       "4,5,0,1,5,0,\n"    /* r1: only weights; outputs leave at the last r */
                       "5,0,2,1,0,,4\n"    /**/
                       "6,0,0,1,0,1,5\n"   /**/
                       "7,1,0,1,1,5,6\n"); /**/
}

/* With resend_windows the same loop R2 moves the inputs on: they are sent at r1 too. */
static void test_noc_program_resends_windows_when_asked(void **state)
{
    struct program_case c;
    (void)state;
    unit_conv(&c, 1, 1);
    temporal(&c, GLOBAL_BUFFER, R, 2);
    c.config.resend_windows = true;
    write_program(&c, 0);
    assert_program(&c, "0,5,0,1,5,1,\n"
                       "1,1,0,1,1,0,0\n"
                       "2,5,0,1,5,0,\n"
                       "3,0,2,1,0,,2 1\n"
                       "4,1,0,1,1,0,0\n"
                       "5,5,0,1,5,0,\n"
                       "6,0,2,1,0,,5 4\n"
                       "7,0,0,1,0,1,6\n"
                       "8,1,0,1,1,5,7\n");
}

/* A machine without a global buffer: the DRAM feeds 4 PEs itself (a matrix product, N4 over the PEs, K2 at
 * the DRAM). Everything goes straight between the DRAM (port 11: behind 6 local, 2 north and 3 east ports)
 * and the PEs. */
static void test_noc_program_without_a_buffer_goes_straight(void **state)
{
    static const char text[] = "architecture:\n"
                               "  subtree:\n"
                               "  - name: chip\n"
                               "    local:\n"
                               "    - {name: DRAM, class: DRAM}\n"
                               "    - {name: 'Buf[0..3]', class: SRAM, attributes: {entries: 64}}\n"
                               "    - {name: 'MAC[0..3]', class: mac}\n"
                               "problem:\n"
                               "  shape:\n"
                               "    dimensions: [M, N, K]\n"
                               "    data-spaces:\n"
                               "    - {name: A, projection: [M, K]}\n"
                               "    - {name: B, projection: [K, N]}\n"
                               "    - {name: Z, projection: [M, N], read-write: true}\n"
                               "  instance: {M: 8, N: 4, K: 2}\n"
                               "mapping:\n"
                               "- {target: DRAM, type: temporal, factors: K=2, permutation: KMN}\n"
                               "- {target: DRAM, type: spatial, factors: N=4, permutation: NMK}\n"
                               "- {target: Buf, type: temporal, factors: M=8, permutation: MNK}\n";
    struct program_case c;
    struct yaml_doc doc;
    struct noc_config config;
    struct dse_error err;
    uint32_t level;
    (void)state;
    assert_int_equal(yaml_parse(&doc, "all.yaml", text, strlen(text), &err), DSE_OK);
    memset(&c, 0, sizeof c);
    arena_init(&c.arena);
    assert_int_equal(architecture_build(&doc, NULL, 0, &c.arch, &err), DSE_OK);
    assert_int_equal(problem_build(&doc, &c.problem, &err), DSE_OK);
    assert_int_equal(mapping_build(&doc, &c.problem, &c.arch, &c.mapping, &err), DSE_OK);
    yaml_doc_free(&doc);
    assert_int_equal(noc_level_of(&c.arch), 1); /* the DRAM, level 1 of 2 */
    assert_int_equal(noc_config_of(&c.arch, &config, &level, &err), DSE_OK);
    assert_int_equal(config.columns, 2); /* 4 x 1 is drawn as 2 x 2 */
    assert_int_equal(config.dram_port, 11);
    c.config = config;
    c.config.compat = true;
    write_program(&c, 0);
    /* words of 16 bit (Timeloop's default): A 8 words, B 1, Z 8: one packet each; 8 cycles */
    assert_program(&c, "0,11,1,1,11,0 1 2 3,\n" /* k0: A to all, B to each */
                       "1,11,0,1,11,0,\n"
                       "2,11,0,1,11,1,\n"
                       "3,11,0,1,11,2,\n"
                       "4,11,0,1,11,3,\n"
                       "5,0,2,8,0,,1 0\n"
                       "6,1,2,8,1,,2 0\n"
                       "7,2,2,8,2,,3 0\n"
                       "8,3,2,8,3,,4 0\n"
                       "9,11,1,1,11,0 1 2 3,\n" /* k1 */
                       "10,11,0,1,11,0,\n"
                       "11,11,0,1,11,1,\n"
                       "12,11,0,1,11,2,\n"
                       "13,11,0,1,11,3,\n"
                       "14,0,2,8,0,,10 9\n"
                       "15,1,2,8,1,,11 9\n"
                       "16,2,2,8,2,,12 9\n"
                       "17,3,2,8,3,,13 9\n"
                       "18,0,0,1,0,11,14 15 16 17\n" /* Z */
                       "19,1,0,1,1,11,14 15 16 17\n"
                       "20,2,0,1,2,11,14 15 16 17\n"
                       "21,3,0,1,3,11,14 15 16 17\n");
}

/* At most so many steps, whole outer ones where one fits: 3 inner steps an outer one. */
static void test_noc_program_writes_whole_outer_steps(void **state)
{
    static const struct {
        uint64_t max_steps;
        uint32_t n_count;
    } want[] = {{0, 15}, {1, 1}, {2, 2}, {3, 3}, {5, 3}, {7, 6}, {100, 15}};
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct program_case c;
        uint32_t n_count = 0;
        unit_conv(&c, 1, 1);
        temporal(&c, GLOBAL_BUFFER, K, 3);
        temporal(&c, DRAM, P, 5);
        write_program(&c, want[i].max_steps);
        for (uint32_t id = 0; id < c.program.n_transaction; id++)
            n_count += c.program.transaction[id].operation == NOC_COUNT;
        assert_int_equal(n_count, want[i].n_count);
        assert_int_equal(c.n_step, 15);
        arena_free(&c.arena);
    }
}

static void test_noc_program_refuses_what_no_mesh_has(void **state)
{
    struct program_case c;
    struct dse_error err;
    (void)state;
    unit_conv(&c, 2, 2);
    spatial(&c, GLOBAL_BUFFER, K, 8);
    assert_int_equal(noc_program_of(&c.problem, &c.arch, &c.mapping, GLOBAL_BUFFER, &c.config, 0, &c.arena,
                                    &c.program, NULL, &err),
                     DSE_BAD_USAGE);
    assert_string_equal(err.text, "the mapping needs 8 PEs below GlobalBuffer; the mesh has 4");
    c.mapping.level[GLOBAL_BUFFER].spatial[K] = 1;
    c.mapping.level[DRAM].spatial[K] = 8;
    assert_int_equal(noc_program_of(&c.problem, &c.arch, &c.mapping, GLOBAL_BUFFER, &c.config, 0, &c.arena,
                                    &c.program, NULL, &err),
                     DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "spreads K over several instances below DRAM"));
    c.mapping.level[DRAM].spatial[K] = 1;
    c.mapping.level[REGISTERS].temporal[K] = UINT32_MAX;
    c.mapping.level[REGISTERS].temporal[P] = 2;
    assert_int_equal(noc_program_of(&c.problem, &c.arch, &c.mapping, GLOBAL_BUFFER, &c.config, 0, &c.arena,
                                    &c.program, NULL, &err),
                     DSE_LIMIT);
    arena_free(&c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noc_program_reloads_partial_sums),
        cmocka_unit_test(test_noc_program_double_buffers_outer_steps),
        cmocka_unit_test(test_noc_program_reduces_rows_then_the_column),
        cmocka_unit_test(test_noc_program_reduces_columns_alone),
        cmocka_unit_test(test_noc_program_keeps_the_places_of_a_planar_array),
        cmocka_unit_test(test_noc_program_sizes_tiles_with_their_halo),
        cmocka_unit_test(test_noc_program_resends_windows_when_asked),
        cmocka_unit_test(test_noc_program_without_a_buffer_goes_straight),
        cmocka_unit_test(test_noc_program_writes_whole_outer_steps),
        cmocka_unit_test(test_noc_program_refuses_what_no_mesh_has),
    };
    return cmocka_run_group_tests_name("noc_program", tests, NULL, NULL);
}
