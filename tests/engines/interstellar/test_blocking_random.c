/* Random small spaces: branch and bound and the enumeration find what a plain search of every permutation
 * finds, priced by the accounting, and no bound on the way is above it. With a number: so many spaces.
 *
 * Tests: blocking_model.c, blocking_space.c, blocking_search.c, blocking_walk.c, blocking_proof.c,
 * proof_bound.c, proof_inwards.c, proof_sorted.c, loop_paths.c, array_choice.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/interstellar/accounting_interstellar.h"
#include "engines/interstellar/blocking_search.h"
#include "tests/engines/interstellar/blocking_brute.h"
#include "tests/engines/small_cases.h"

static long n_space = 2000; /* main may set another, before any test */

struct task {
    struct problem problem;
    struct architecture arch;
    struct interstellar_hint hint;
    struct blocking_settings settings;
    bool compat;
};

static uint32_t pick(struct random_stream *stream, const uint32_t *from, uint32_t n)
{
    return from[random_below(stream, n)];
}

/* A convolution of at most 150 steps, with a stride now and then. */
static void draw_problem(struct random_stream *stream, struct problem *problem)
{
    static const uint32_t sizes[] = {2, 3, 4, 5, 6};
    static const char *const inputs[] = {"N C P+R Q+S", "N C P*2+R Q*2+S", "N C P*3+R Q*2+S"};
    uint32_t bound[7] = {1, 1, 1, 1, 1, 1, 1}, macs = 1;
    for (int i = 0; i < 4; i++) {
        uint32_t *b = &bound[random_below(stream, 7)], size = pick(stream, sizes, 5);
        if (macs / *b * size <= 150) {
            macs = macs / *b * size;
            *b = size;
        }
    }
    random_case_conv(problem, "small", bound, inputs[random_below(stream, 3)]);
}

/* Memories side by side, of which one tensor may lack its own. */
static void split(struct random_stream *stream, struct storage_level *level)
{
    level->n_part = 1 + random_below(stream, 3);
    level->size_word = 0;
    for (uint32_t p = 0; p < level->n_part; p++) {
        level->part[p] = (struct storage_part){2 + random_below(stream, 40), 1 + random_unit(stream)};
        level->size_word += level->part[p].size_word;
    }
    for (uint32_t r = 0; r < TENSOR_ROLE_COUNT; r++)
        level->part_of[r] = (uint8_t)random_below(stream, level->n_part);
    if (random_below(stream, 3) == 0)
        level->keep_role &= ~(1u << random_below(stream, TENSOR_ROLE_COUNT));
}

static void draw_machine(struct random_stream *stream, struct architecture *arch)
{
    static const char *const names[] = {"A", "B", "C", "D"};
    const uint32_t n = 2 + random_below(stream, 3);
    const uint32_t array = random_below(stream, n), x = 1 + random_below(stream, 4);
    const uint32_t y = 1 + random_below(stream, 4);
    const bool apart = random_below(stream, 4) == 0;
    *arch = (struct architecture){.name = "small", .clock_hz = 1e9, .n_level = n, .strict_fanout = true};
    for (uint32_t l = 0; l < n; l++) {
        struct storage_level *level = &arch->level[l];
        const bool spread = l <= array && array + 1 < n;
        small_level(level, names[l], (2 + random_below(stream, 12)) << (2 * l), spread ? x : 1,
                    spread ? y : 1, (1 + random_unit(stream)) * (double)(1u << 2 * l));
        level->min_utilization = random_below(stream, 2) ? 0.5 * random_unit(stream) : 0;
        if (l > 0 && l == array + 1) {
            level->hop_energy_j = random_unit(stream) * (random_below(stream, 2) ? 1 : 20);
            level->link = random_below(stream, ARRAY_LINK_COUNT);
        }
        if (apart && l + 1 < n)
            split(stream, level);
    }
    arch->level[n - 1].is_dram = true;
    arch->level[n - 1].min_utilization = 0;
    arch->mac = (struct mac_array){.name = "MAC",
                                   .word_bit = 8,
                                   .instances = arch->level[0].instances,
                                   .mesh_x = arch->level[0].mesh_x,
                                   .mesh_y = arch->level[0].mesh_y,
                                   .energy_j = 0.5,
                                   .capacity = random_below(stream, 2)};
}

/* One or two loops unrolled at the level that is an array, maybe with a loop that shares. */
static void draw_hint(struct random_stream *stream, const struct problem *problem,
                      const struct architecture *arch, struct interstellar_hint *hint)
{
    uint64_t x = 1, y = 1;
    uint32_t level = 0;
    *hint = (struct interstellar_hint){.present = false};
    for (uint32_t l = 1; l < arch->n_level && x * y == 1; l++) {
        architecture_fanout(arch, l, &x, &y);
        level = l - 1;
    }
    for (uint32_t i = 1 + random_below(stream, 2), d; i > 0 && x * y > 1; i--) {
        d = random_below(stream, problem->n_dim);
        hint->loop[d] =
            (struct loop_hint){.present = true,
                               .level = (uint8_t)level,
                               .partition = 1 + random_below(stream, problem->bound[d] < 4 ? 2 : 4),
                               .blocking = random_below(stream, 4) ? 0 : 1};
        hint->present = true;
    }
    hint->has_partition_loops = true;
    hint->n_partition_loop = (uint8_t)random_below(stream, 4);
    for (uint32_t i = 0; i < hint->n_partition_loop; i++)
        hint->partition_loop[i] = (uint8_t)((random_below(stream, problem->n_dim) + i * 3) % problem->n_dim);
    for (uint32_t i = 0; i < hint->n_partition_loop; i++) /* each once */
        for (uint32_t k = i + 1; k < hint->n_partition_loop; k++)
            if (hint->partition_loop[k] == hint->partition_loop[i])
                hint->n_partition_loop = (uint8_t)k;
}

static void draw(struct random_stream *stream, struct task *task)
{
    static const double thresholds[] = {0, 0, 0.4, 0.5, 0.75};
    draw_problem(stream, &task->problem);
    draw_machine(stream, &task->arch);
    draw_hint(stream, &task->problem, &task->arch, &task->hint);
    task->hint.present = task->hint.present && random_below(stream, 2) == 0;
    task->compat = random_below(stream, 2) == 0;
    if (!task->compat && task->arch.level[0].n_part == 0 && random_below(stream, 3) == 0) {
        for (uint32_t l = 0; l < task->arch.n_level; l++)
            task->arch.level[l].min_utilization = 0;
        small_banks(stream, &task->problem, &task->arch);
    }
    task->settings = (struct blocking_settings){.rule = task->compat ? REUSE_COMPAT : REUSE_SANE,
                                                .half_full = task->compat,
                                                .pad = 1,
                                                .array = {.any = !task->compat,
                                                          .replication = random_below(stream, 3) > 0,
                                                          .loops = 2,
                                                          .threshold = thresholds[random_below(stream, 5)]}};
}

/* Search by one of the two; every bound on the way must hold. */
static void search(const struct task *task, long i, bool prove, double optimum, struct blocking_search *out,
                   double *again_j)
{
    struct arena arena;
    struct dse_error err;
    struct mapping mapping;
    struct blocking_space *space = calloc(1, sizeof *space);
    assert_non_null(space);
    arena_init(&arena);
    assert_int_equal(blocking_space_build(&task->problem, &task->arch,
                                          task->hint.present ? &task->hint : NULL, &task->settings, &arena,
                                          space, &err),
                     DSE_OK);
    assert_int_equal(prove ? blocking_prove(space, out, &err) : blocking_enumerate(space, out, &err), DSE_OK);
    while (!out->done) {
        assert_int_equal(blocking_search_step(out, &err), DSE_OK);
        if (space->model.exact && out->bound_j > optimum * (1 + 1e-9))
            fail_msg("space %ld: a bound of %.17g is above the optimum of %.17g", i, out->bound_j, optimum);
    }
    *again_j = INFINITY;
    if (out->found) {
        struct evaluator *evaluator;
        struct eval_workspace *workspace;
        struct evaluation evaluation;
        const struct accounting *by =
            task->compat ? &accounting_interstellar_compat : &accounting_interstellar;
        assert_int_equal(evaluator_new(by, &task->problem, &task->arch, &evaluator, &err), DSE_OK);
        assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
        blocking_point_mapping(space, &task->arch, &out->best, &mapping);
        if (evaluator_run(evaluator, workspace, &mapping, &evaluation))
            *again_j = evaluation.energy_j;
        eval_workspace_delete(workspace);
        evaluator_delete(evaluator);
    }
    if (!space->model.exact)
        out->n_point = UINT64_MAX;
    blocking_search_free(out);
    blocking_space_free(space);
    free(space);
    arena_free(&arena);
}

static void expect(long i, const char *who, double found, double wanted)
{
    if (!(found == wanted || fabs(found - wanted) <= 1e-9 * wanted))
        fail_msg("space %ld: %s says %.17g, every permutation %.17g", i, who, found, wanted);
}

static void test_random_spaces(void **state)
{
    long n_found = 0, n_exact = 0;
    (void)state;
    for (long i = 0; i < n_space; i++) {
        struct random_stream stream = random_stream_make(13, (uint64_t)i, RANDOM_TEST);
        struct task task;
        struct evaluator *evaluator;
        struct dse_error err;
        struct blocking_search proof, walk;
        double proof_j, walk_j;
        draw(&stream, &task);
        struct brute brute = {.problem = &task.problem,
                              .arch = &task.arch,
                              .hint = task.hint.present ? &task.hint : NULL,
                              .compat = task.compat,
                              .replication = task.settings.array.replication,
                              .loops = task.settings.array.loops,
                              .threshold = task.settings.array.threshold};
        assert_int_equal(
            evaluator_new(task.compat ? &accounting_interstellar_compat : &accounting_interstellar,
                          &task.problem, &task.arch, &evaluator, &err),
            DSE_OK);
        brute.evaluator = evaluator;
        assert_int_equal(eval_workspace_new(evaluator, &brute.workspace, &err), DSE_OK);
        const double optimum = brute_search(&brute);
        search(&task, i, true, optimum, &proof, &proof_j);
        search(&task, i, false, optimum, &walk, &walk_j);
        eval_workspace_delete(brute.workspace);
        evaluator_delete(evaluator);
        n_found += proof.found;
        if (proof.n_point == UINT64_MAX)
            continue;
        n_exact++;
        expect(i, "the proof", proof.found ? proof.best_j : INFINITY, optimum);
        expect(i, "the enumeration", walk.found ? walk.best_j : INFINITY, optimum);
        expect(i, "the accounting of the proof's mapping", proof_j, optimum);
        expect(i, "the accounting of the enumeration's mapping", walk_j, optimum);
        if (task.hint.present && task.compat) {
            if (walk.n_point != brute.n_point)
                fail_msg("space %ld: the enumeration prices %lu points, there are %lu", i,
                         (unsigned long)walk.n_point, (unsigned long)brute.n_point);
        }
    }
    print_message("%ld spaces, %ld with a mapping, %ld priced exactly\n", n_space, n_found, n_exact);
    assert_true(n_exact > n_space / 2 && n_found > n_space / 3);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_spaces)};
    if (argc > 1)
        n_space = strtol(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
