/* Which dataflows a layer has on a 16 x 16 array: 21 of a convolution, 3 of a fully-connected layer
 * (Interstellar, section 3.2), 10 of a 1x1 convolution, and what replication adds, by the authors' rule of
 * candidates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/interstellar/dataflow_list.h"
#include "tests/support/interstellar_case.h"

struct fixture {
    struct problem problem;
    struct architecture arch;
    struct blocking_settings settings;
    struct arena arena;
    struct engine_dataflows out;
};

/* Bounds as of interstellar_layer: B K C X Y FX FY stride. */
static void list(struct fixture *f, const char *machine, const uint32_t *bound, bool replication,
                 double threshold)
{
    struct dse_error err;
    interstellar_machine(machine, &f->arch);
    interstellar_layer(bound, &f->problem);
    f->settings = (struct blocking_settings){.rule = REUSE_COMPAT, .half_full = true, .pad = 1};
    f->settings.array.replication = replication;
    f->settings.array.loops = 2;
    f->settings.array.threshold = threshold;
    arena_init(&f->arena);
    if (dataflow_list(&f->problem, &f->arch, NULL, &f->settings, &f->arena, &f->out, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static const uint32_t conv3[8] = {16, 384, 256, 13, 13, 3, 3, 1}, fc1[8] = {16, 4096, 9216, 1, 1, 1, 1, 1},
                      reduce[8] = {16, 128, 512, 14, 14, 1, 1, 1};

static void test_dataflows_without_replication_are_pairs_of_loops(void **state)
{
    (void)state;
    static const struct {
        const uint32_t *bound;
        size_t n;
    } row[] = {{conv3, 21}, {fc1, 3}, {reduce, 10}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct fixture f;
        list(&f, "eyeriss512", row[i].bound, false, 0);
        assert_int_equal(f.out.n, row[i].n);
        assert_int_equal(f.out.level, 1);
        for (size_t k = 0; k < f.out.n; k++) {
            assert_int_equal(f.out.list[k].n, 2);
            assert_int_equal(f.out.list[k].begins, 3);
            for (size_t j = 0; j < k; j++) {
                bool swapped;
                assert_false(unrolling_is(&f.out.list[j], &f.out.list[k], &swapped));
            }
        }
        arena_free(&f.arena);
    }
}

/* Of 16, 12 or more: X, Y (13), K, C, B (16, 12, ...) stand alone, FX and FY (3) need a second loop. */
static void test_dataflows_with_replication_share_sides(void **state)
{
    (void)state;
    struct fixture f;
    size_t shared = 0;
    list(&f, "eyeriss512", conv3, true, 0.75);
    for (size_t k = 0; k < f.out.n; k++) {
        assert_true(f.out.list[k].n >= 2 && f.out.list[k].n <= 4);
        shared += f.out.list[k].n > 2;
        assert_true(k == 0 || f.out.list[k].n >= f.out.list[k - 1].n);
    }
    assert_true(shared > 21);
    arena_free(&f.arena);
}

/* A search kept to one dataflow has its choices only, with the sides as they are asked for. */
static void test_dataflows_asked_for_are_the_only_choices(void **state)
{
    (void)state;
    struct fixture f;
    struct blocking_space *space;
    struct unrolling asked;
    struct dse_error err;
    list(&f, "eyeriss512", conv3, true, 0.75);
    for (int any = 0; any < 2; any++) {
        assert_int_equal(unrolling_parse("K|CB", &f.problem, &asked, &err), DSE_OK);
        f.settings.array.any = any;
        f.settings.array.threshold = 0.5;
        f.settings.array.only[1] = &asked;
        space = arena_alloc(&f.arena, 1, sizeof *space);
        memset(space, 0, sizeof *space);
        assert_int_equal(blocking_space_build(&f.problem, &f.arch, NULL, &f.settings, &f.arena, space, &err),
                         DSE_OK);
        assert_true(space->array[1].list.n > 0);
        for (uint32_t c = 0; c < space->array[1].list.n; c++) {
            const struct array_choice *choice = &space->array[1].list.choice[c];
            assert_int_equal(choice->n, 3);
            assert_int_equal(choice->begins, 3);
            assert_memory_equal(choice->loop, asked.loop, 3);
        }
        blocking_space_free(space);
    }
    arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dataflows_without_replication_are_pairs_of_loops),
        cmocka_unit_test(test_dataflows_with_replication_share_sides),
        cmocka_unit_test(test_dataflows_asked_for_are_the_only_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
