/* Halide schedules by hand: the worked example of the rule in docs/interstellar-halide.md (AlexNet CONV3,
 * batch 16, C|K on 16 x 16 PEs), and each clause of the rule on small nests. That Halide takes the texts, and
 * stores what the model counts, is checked by `make check-halide`.
 * Tests: halide.c, halide_write.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/interstellar/halide.h"
#include "tests/support/random_case.h"

enum { R, S, P, Q, C, K, N, N_DIM };

struct fixture {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct text_buffer out;
};

/* All factors 1, everything kept, orders as `RSPQCKN`. */
static void set_up(struct fixture *f, uint32_t n_level, const uint32_t *bound, const char *inputs)
{
    static const char *const name[] = {"RF", "SRAM", "DRAM", "Host"};
    memset(f, 0, sizeof *f);
    random_case_conv(&f->problem, "layer", bound, inputs);
    f->arch.n_level = n_level;
    (void)snprintf(f->arch.name, sizeof f->arch.name, "machine");
    for (uint32_t v = 0; v < n_level; v++) {
        (void)snprintf(f->arch.level[v].name, sizeof f->arch.level[v].name, "%s", name[v]);
        f->arch.level[v].keep_role = 7;
    }
    mapping_init(&f->mapping, &f->problem, &f->arch);
    for (uint32_t d = 0; d < N_DIM; d++)
        f->mapping.level[n_level - 1].temporal[d] = 1;
    text_init(&f->out);
}

static void set_order(uint8_t *order, const char *letters)
{
    static const char all[] = "RSPQCKN";
    uint32_t n = 0, given = 0;
    for (; letters[n]; n++) {
        order[n] = (uint8_t)(strchr(all, letters[n]) - all);
        given |= 1u << order[n];
    }
    for (uint8_t d = 0; d < N_DIM; d++)
        if (!(given >> d & 1))
            order[n++] = d;
}

/* The loops at a level, innermost first: "SRPK" with their factors. */
static void loops(struct fixture *f, uint32_t v, const char *letters, const uint32_t *factor)
{
    struct mapping_level *level = &f->mapping.level[v];
    set_order(level->temporal_order, letters);
    for (uint32_t i = 0; letters[i]; i++)
        level->temporal[level->temporal_order[i]] = factor[i];
}

static void unrolled(struct fixture *f, uint32_t v, const char *letters, const uint32_t *factor,
                     uint8_t split)
{
    struct mapping_level *level = &f->mapping.level[v];
    set_order(level->spatial_order, letters);
    level->split = split;
    for (uint32_t i = 0; letters[i]; i++)
        level->spatial[level->spatial_order[i]] = factor[i];
}

static const char *text_of(struct fixture *f)
{
    struct dse_error err;
    assert_int_equal(mapping_text_halide.accepts(&f->problem, &f->arch, &err), DSE_OK);
    text_clear(&f->out);
    mapping_text_halide.write(&f->mapping, &f->problem, &f->arch, &f->out);
    assert_false(f->out.failed);
    return f->out.data;
}

static void expect(struct fixture *f, const char *part)
{
    const char *text = text_of(f);
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in\n%s", part, text);
}

static void expect_not(struct fixture *f, const char *part)
{
    const char *text = text_of(f);
    if (strstr(text, part))
        fail_msg("\"%s\" is in\n%s", part, text);
}

/* RF [FX3 FY3 OY13 OC6], SRAM [OX13 ON2], DRAM [IC16 OC4 ON8], array OC16 | IC16. */
static void set_up_conv3(struct fixture *f)
{
    const uint32_t bound[] = {3, 3, 13, 13, 256, 384, 16};
    set_up(f, 3, bound, "N C P+R Q+S");
    loops(f, 0, "SRPK", (const uint32_t[]){3, 3, 13, 6});
    loops(f, 1, "QN", (const uint32_t[]){13, 2});
    loops(f, 2, "CKN", (const uint32_t[]){16, 4, 8});
    unrolled(f, 1, "KC", (const uint32_t[]){16, 16}, 1);
}

static void test_halide_worked_example(void **state)
{
    (void)state;
    struct fixture f;
    set_up_conv3(&f);
    assert_string_equal(
        text_of(&f),
        "// layer on machine: Func input, w and output are given; systolic and accelerate extend Halide\n"
        "Var x, y, k, b;\n"
        "RDom r(0, 3, 0, 3, 0, 256);\n"
        "output(x, y, k, b) += input(x + r.x, y + r.y, r.z, b) * w(r.x, r.y, r.z, k);"
        "  // x 13, y 13, k 384, b 16\n"
        "\n"
        "Var x1, y0, k0, k2, b1, b2;  RVar fx0, fy0, c0, c2;\n"
        "output.update()\n"
        "  .split(k, k2, k0, 96)        // 4 x (6 temporal x 16 PEs)\n"
        "  .split(r.z, c2, c0, 16)      // 16 x 16 PEs\n"
        "  .split(b, b2, b1, 2)         // 8 x 2\n"
        "  .reorder(r.x, r.y, y, k0, c0, x, b1, c2, k2, b2);"
        "   // fx0=r.x fy0=r.y y0=y x1=x: not split, keep their names\n"
        "input.in().compute_at(output, c2);             // SRAM: 15 x 15 x 16 x 2\n"
        "w.in().compute_at(output, c2);                 // SRAM: 3 x 3 x 16 x 96\n"
        "input.in().in().compute_at(output, x);         // RF: 3 x 15 x 1 x 1 per PE\n"
        "w.in().in().compute_at(output, c2);            // RF: 3 x 3 x 1 x 6 per PE\n"
        "// output tile level 1: 13 x 13 x 96 x 2, level 0: 1 x 13 x 6 x 1 per PE\n"
        "output.accelerate({input, w});\n"
        "output.update().unroll(k0, 16).unroll(c0, 16);\n"
        "output.update().systolic({k0, c0});\n");
    text_free(&f.out);
}

/* Which loops share a side of the array is seen from the calls; a bus or a tree has none. */
static void test_halide_loops_of_one_side_are_one_call(void **state)
{
    (void)state;
    struct fixture f;
    const uint32_t bound[] = {1, 1, 4, 2, 3, 8, 1};
    set_up(&f, 2, bound, "N C P+R Q+S");
    unrolled(&f, 1, "PQKC", (const uint32_t[]){4, 2, 8, 3}, 2);
    expect(&f, "output.update().unroll(y, 4).unroll(x, 2).unroll(k, 8).unroll(r.z, 3);\n"
               "output.update().systolic({y, x});\n"
               "output.update().systolic({k, r.z});\n");
    f.mapping.level[1].further = 1 << 3;
    expect(&f, "systolic({y, x});\noutput.update().systolic({k});\noutput.update().systolic({r.z});\n");
    f.mapping.level[1].split = 1;
    f.mapping.level[1].further = 1 << 2 | 1 << 3;
    expect(&f, "output.update().systolic({y, x, k, r.z});\n");
    f.arch.level[1].link = ARRAY_BROADCAST;
    expect_not(&f, "systolic({");
    f.arch.level[1].link = ARRAY_TREE;
    expect_not(&f, "systolic({");
    text_free(&f.out);
}

/* Three parts of one loop, the middle one at the array's place without iterations of its own; the array
 * inside the innermost level has a place of its own. */
static void test_halide_splits_where_a_loop_is_only_unrolled(void **state)
{
    (void)state;
    struct fixture f;
    const uint32_t bound[] = {1, 1, 1, 1, 2, 5 * 4 * 3, 1};
    set_up(&f, 4, bound, "N C P+R Q+S");
    loops(&f, 0, "K", (const uint32_t[]){3});
    loops(&f, 2, "K", (const uint32_t[]){5});
    unrolled(&f, 2, "K", (const uint32_t[]){4}, 1);
    unrolled(&f, 0, "C", (const uint32_t[]){2}, 1);
    expect(&f, "Var k0, k1, k2;  RVar cm;\n"
               "output.update()\n"
               "  .split(k, k2, k1, 12)        // 5 x (4 PEs x 3)\n"
               "  .split(k1, k1, k0, 3)        // 4 PEs x 3\n"
               "  .reorder(r.z, k0, k1, k2);   // cm=r.z: not split, keeps its name\n");
    expect(&f, "output.update().unroll(k1, 4);\n");
    expect(&f, "output.update().unroll(r.z, 2);\n");
    text_free(&f.out);
}

/* At the next level: inputs skip K, weights skip Q; nothing relevant there: the innermost loop further
 * out. */
static void test_halide_copies_hang_on_the_first_relevant_loop(void **state)
{
    (void)state;
    struct fixture f;
    const uint32_t bound[] = {1, 2, 3, 2, 4, 2, 5};
    set_up(&f, 3, bound, "N C P+R Q+S");
    loops(&f, 1, "KQSN", (const uint32_t[]){2, 2, 2, 5});
    loops(&f, 2, "PC", (const uint32_t[]){3, 4});
    expect(&f, "input.in().compute_at(output, y); ");
    expect(&f, "\nw.in().compute_at(output, r.z); ");
    expect(&f, "input.in().in().compute_at(output, x); ");
    expect(&f, "\nw.in().in().compute_at(output, k); ");
    loops(&f, 1, "SQKN", (const uint32_t[]){1, 2, 1, 5});
    expect(&f, "\nw.in().in().compute_at(output, y); ");
    loops(&f, 2, "PC", (const uint32_t[]){1, 1});
    expect(&f, "\nw.in().in().compute_root(); ");
    expect(&f, "\ninput.in().compute_root(); ");
    expect(&f, "input.in().in().compute_at(output, x); ");
    text_free(&f.out);
}

/* Level 1 with an array: weights there skip Q and meet K, which is only unrolled: it fills nothing itself,
 * but what is outside it is not free any more, just as the model counts. */
static void test_halide_unrolled_loops_end_what_is_free_and_carry_no_copy(void **state)
{
    (void)state;
    struct fixture f;
    const uint32_t bound[] = {1, 1, 3, 2, 4, 2, 1};
    set_up(&f, 4, bound, "N C P+R Q+S");
    loops(&f, 1, "QKPC", (const uint32_t[]){2, 1, 3, 1});
    loops(&f, 3, "C", (const uint32_t[]){4});
    unrolled(&f, 2, "K", (const uint32_t[]){2}, 1);
    expect(&f, "\nw.in().in().in().compute_at(output, y); ");
    loops(&f, 1, "PQK", (const uint32_t[]){3, 2, 1});
    expect(&f, "\nw.in().in().in().compute_at(output, r.z); ");
    text_free(&f.out);
}

/* A level that keeps no weights has no copy of them, and the next copy is one .in() less deep. */
static void test_halide_bypassed_tensors_have_no_copy(void **state)
{
    (void)state;
    struct fixture f;
    set_up_conv3(&f);
    f.mapping.level[1].keep = (uint8_t)(f.mapping.level[1].keep & ~1u);
    expect_not(&f, "w.in().in()");
    expect(&f, "\nw.in().compute_at(output, c2);                 // RF: 3 x 3 x 1 x 6 per PE\n");
    f.mapping.level[0].keep = 0;
    expect_not(&f, "w.in()");
    expect(&f, "// output tile level 1: 13 x 13 x 96 x 2\n");
    text_free(&f.out);
}

/* Stride and dilation in the algorithm and in the tile: (3 - 1) * 2 + (3 - 1) * 3 + 1 = 11 input columns. */
static void test_halide_strides_and_dilation(void **state)
{
    (void)state;
    struct fixture f;
    const uint32_t bound[] = {1, 3, 1, 3, 1, 1, 1};
    set_up(&f, 2, bound, "N C P*2+R Q*2+S*3");
    loops(&f, 0, "QS", (const uint32_t[]){3, 3});
    expect(&f, "input(x * 2 + r.x * 3, y * 2 + r.y, r.z, b)");
    expect(&f, "input.in().compute_root();                     // RF: 11 x 1 x 1 x 1\n");
    text_free(&f.out);
}

/* 13 channels as 4 x (2 temporal x 2 PEs): the outermost part has the guard, with a word on it; so has a loop
 * that is only unrolled. */
static void test_halide_ragged_loops_are_guarded(void **state)
{
    (void)state;
    struct fixture f;
    const uint32_t bound[] = {1, 1, 1, 3, 1, 13, 1};
    set_up(&f, 2, bound, "N C P+R Q+S");
    loops(&f, 0, "K", (const uint32_t[]){2});
    loops(&f, 1, "K", (const uint32_t[]){4});
    unrolled(&f, 1, "KQ", (const uint32_t[]){2, 4}, 1);
    expect(&f, "  .split(k, k1, k0, 4, TailStrategy::GuardWithIf)   // 4 x (2 temporal x 2 PEs), guarded: 16 "
               "> 13\n");
    expect(&f, ".unroll(k0, 2).unroll(x, 4, TailStrategy::GuardWithIf);\n");
    text_free(&f.out);
}

static void test_halide_one_multiplication_needs_no_schedule(void **state)
{
    (void)state;
    struct fixture f;
    const uint32_t bound[] = {1, 1, 1, 1, 1, 1, 1};
    set_up(&f, 2, bound, "N C P+R Q+S");
    expect_not(&f, "output.update()");
    expect(&f, "input.in().compute_root();");
    text_free(&f.out);
}

static void expect_refused(const struct problem *problem, const char *part)
{
    struct architecture arch = {.n_level = 2};
    struct dse_error err;
    assert_int_equal(mapping_text_halide.accepts(problem, &arch, &err), DSE_BAD_INPUT);
    if (!strstr(err.text, part) || strchr(err.text, '\n'))
        fail_msg("\"%s\" is not in %s", part, err.text);
}

static void test_halide_is_for_convolutions_only(void **state)
{
    (void)state;
    struct problem problem;
    const uint32_t bound[] = {3, 3, 4, 4, 2, 2, 2};
    random_case_dims(&problem, "gemm", "MNK", bound);
    random_case_tensor(&problem, "Weights", TENSOR_WEIGHT, "K N");
    random_case_tensor(&problem, "Inputs", TENSOR_INPUT, "M K");
    random_case_tensor(&problem, "Outputs", TENSOR_OUTPUT, "M N");
    expect_refused(&problem, "problem gemm has a further dimension, M = 3");
    random_case_conv(&problem, "windows apart", bound, "N C P R Q+S");
    expect_refused(&problem, "the tensors of problem windows apart are not those of a convolution");
    random_case_conv(&problem, "sums", bound, "N+C P+R Q+S");
    expect_refused(&problem, "the tensors of problem sums are not");
    random_case_dims(&problem, "batched weights", "RSPQCKN", bound);
    random_case_tensor(&problem, "Weights", TENSOR_WEIGHT, "N C K R S");
    random_case_tensor(&problem, "Inputs", TENSOR_INPUT, "N C P+R Q+S");
    random_case_tensor(&problem, "Outputs", TENSOR_OUTPUT, "N K P Q");
    expect_refused(&problem, "the tensors of problem batched weights are not");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halide_worked_example),
        cmocka_unit_test(test_halide_loops_of_one_side_are_one_call),
        cmocka_unit_test(test_halide_splits_where_a_loop_is_only_unrolled),
        cmocka_unit_test(test_halide_copies_hang_on_the_first_relevant_loop),
        cmocka_unit_test(test_halide_unrolled_loops_end_what_is_free_and_carry_no_copy),
        cmocka_unit_test(test_halide_bypassed_tensors_have_no_copy),
        cmocka_unit_test(test_halide_strides_and_dilation),
        cmocka_unit_test(test_halide_ragged_loops_are_guarded),
        cmocka_unit_test(test_halide_one_multiplication_needs_no_schedule),
        cmocka_unit_test(test_halide_is_for_convolutions_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
