/* The executor against hand counts, and the cost model against the executor.
 * Tests: traffic.c, detail.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "tests/support/executor.h"
#include "tests/support/random_case.h"

enum { N_CASE = 8000, MACS_MAX = 2000, SEED = 20240 };

/* ---------------------------------------- where Timeloop's rules must be exact */

/* Why Timeloop may differ from the executor for one tensor; derived from the mapping alone. */
enum cause {
    EXACT,
    CAUSE_HOLES, /* a tile's bounding box has words that nothing touches ("Tiles") */
    /* a loop advance costs the true walk less or more than the two-iteration walk says ("Temporal reuse") */
    CAUSE_WALK,
    /* equal words meet across levels of fan-out that Timeloop looks at one by one */
    CAUSE_SHARING,
    N_CAUSE
};

static const char *const cause_text[N_CAUSE] = {"exact", "holes in the box (4)", "two-iteration walk (5)",
                                                "sharing across levels (6)"};

/* One non-unit loop that moves the tensor's box by `move` words per rank. */
struct move_loop {
    uint32_t bound;
    int64_t move[PROBLEM_RANK_MAX];
};

struct view {
    const struct problem *problem;
    const struct mapping *mapping;
    uint32_t t;
    const struct tensor *tensor;
};

/* Extents of the tile that level `l` works on; l = -1: one iteration. */
static void tile_extents(const struct view *v, int l, uint32_t *extent)
{
    for (uint32_t d = 0; d < v->problem->n_dim; d++) {
        extent[d] = 1;
        for (int k = 0; k <= l; k++)
            extent[d] *= v->mapping->level[k].temporal[d] * v->mapping->level[k].spatial[d];
    }
}

static void set_move(const struct view *v, uint32_t dim, uint32_t step, int64_t *move)
{
    for (uint32_t r = 0; r < v->tensor->n_rank; r++) {
        move[r] = 0;
        for (uint32_t i = 0; i < v->tensor->rank[r].n_term; i++)
            if (v->tensor->rank[r].term[i].dim == dim)
                move[r] += (int64_t)v->tensor->rank[r].term[i].coefficient * step;
    }
}

/* Does every rank's box hold only touched words? Found by touching them. */
static bool has_holes(const struct view *v, const uint32_t *extent)
{
    for (uint32_t r = 0; r < v->tensor->n_rank; r++) {
        const struct tensor_rank *rank = &v->tensor->rank[r];
        uint64_t touched = 1; /* bit set; boxes here are below 64 words a side */
        uint64_t width = 1;
        for (uint32_t i = 0; i < rank->n_term; i++) {
            uint64_t next = 0;
            for (uint32_t k = 0; k < extent[rank->term[i].dim]; k++)
                next |= touched << (k * rank->term[i].coefficient);
            touched = next;
            width += (uint64_t)rank->term[i].coefficient * (extent[rank->term[i].dim] - 1);
        }
        assert_true(width < 64);
        if (touched != (UINT64_C(1) << width) - 1)
            return true;
    }
    return false;
}

/* The temporal loops outside level l, innermost first. */
static uint32_t outer_moves(const struct view *v, int l, struct move_loop *loop)
{
    uint32_t n = 0, extent[PROBLEM_DIM_MAX];
    tile_extents(v, l, extent);
    for (int k = l + 1; k < v->mapping->n_level; k++) {
        const struct mapping_level *level = &v->mapping->level[k];
        for (uint32_t d = 0; d < v->problem->n_dim; d++)
            extent[d] *= level->spatial[d];
        for (uint32_t i = 0; i < v->problem->n_dim; i++) {
            uint32_t d = level->temporal_order[i];
            if (level->temporal[d] > 1) {
                loop[n].bound = level->temporal[d];
                set_move(v, d, extent[d], loop[n++].move);
            }
            extent[d] *= level->temporal[d];
        }
    }
    return n;
}

static uint64_t new_words(const struct view *v, const uint32_t *extent, const int64_t *move)
{
    uint64_t whole = 1, shared = 1;
    for (uint32_t r = 0; r < v->tensor->n_rank; r++) {
        uint64_t width = 1;
        for (uint32_t i = 0; i < v->tensor->rank[r].n_term; i++)
            width += (uint64_t)v->tensor->rank[r].term[i].coefficient *
                     (extent[v->tensor->rank[r].term[i].dim] - 1);
        uint64_t distance = (uint64_t)llabs(move[r]);
        whole *= width;
        shared *= width > distance ? width - distance : 0;
    }
    return whole - shared;
}

/* Does each loop advance cost what the true walk costs? Timeloop supposes that the inner loops stand at
 * iteration 1 and reuses only along the same move as loop 0; in truth they stand at their last iteration. */
static bool walk_is_true(const struct view *v, int l)
{
    struct move_loop loop[64];
    uint32_t extent[PROBLEM_DIM_MAX], n = outer_moves(v, l, loop);
    tile_extents(v, l, extent);
    if (l >= 0 && (v->mapping->level[l].no_temporal_reuse >> v->t & 1u))
        return true;
    int64_t short_sum[PROBLEM_RANK_MAX] = {0}, true_sum[PROBLEM_RANK_MAX] = {0};
    for (uint32_t j = 0; j < n; j++) {
        int64_t short_move[PROBLEM_RANK_MAX], true_move[PROBLEM_RANK_MAX], far_move[PROBLEM_RANK_MAX];
        bool same = true;
        for (uint32_t r = 0; r < v->tensor->n_rank; r++) {
            short_move[r] = loop[j].move[r] - short_sum[r];
            true_move[r] = loop[j].move[r] - true_sum[r];
            same = same && short_move[r] == loop[0].move[r];
            short_sum[r] += loop[j].move[r];
            true_sum[r] += loop[j].move[r] * (loop[j].bound - 1);
            far_move[r] = INT32_MAX;
        }
        if (new_words(v, extent, same ? loop[0].move : far_move) != new_words(v, extent, true_move))
            return false;
    }
    return true;
}

/* Offsets of the children below levels `from`..`to`, as one number each. */
static uint64_t count_offsets(const struct view *v, int from, int to)
{
    uint64_t offset[4096], n = 1, n_distinct = 0, lane[4096] = {0};
    uint32_t extent[PROBLEM_DIM_MAX];
    offset[0] = 0;
    for (int k = from; k <= to; k++) {
        tile_extents(v, k - 1, extent);
        bool apart = v->mapping->level[k].no_multicast >> v->t & 1u;
        for (uint32_t d = 0; d < v->problem->n_dim; d++) {
            int64_t move[PROBLEM_RANK_MAX];
            uint64_t step = 0, width = v->mapping->level[k].spatial[d], n_before = n;
            set_move(v, d, extent[d], move);
            for (uint32_t r = 0; r < v->tensor->n_rank; r++)
                step = step * 1024 + (uint64_t)move[r];
            for (uint64_t i = 0; i < n_before * width; i++) {
                offset[i] = offset[i % n_before] + i / n_before * step;
                lane[i] = apart ? lane[i % n_before] * 64 + i / n_before : lane[i % n_before];
            }
            n = n_before * width;
        }
    }
    for (uint64_t i = 0; i < n; i++) {
        bool seen = false;
        for (uint64_t k = 0; k < i && !seen; k++)
            seen = offset[k] == offset[i] && lane[k] == lane[i];
        n_distinct += !seen;
    }
    return n_distinct;
}

static bool sharing_is_true(const struct view *v, int child, int parent)
{
    uint64_t by_level = 1;
    for (int k = child + 1; k <= parent; k++)
        by_level *= count_offsets(v, k, k);
    return by_level == count_offsets(v, child + 1, parent);
}

static enum cause find_cause(const struct view *v)
{
    int child = -1;
    for (int l = 0; l < v->mapping->n_level; l++) {
        if (!(v->mapping->level[l].keep >> v->t & 1u))
            continue;
        uint32_t extent[PROBLEM_DIM_MAX];
        tile_extents(v, child, extent);
        if (has_holes(v, extent))
            return CAUSE_HOLES;
        if (child >= 0 && !walk_is_true(v, child))
            return CAUSE_WALK;
        if (!sharing_is_true(v, child, l))
            return CAUSE_SHARING;
        child = l;
    }
    return EXACT;
}
/* Does a move of the innermost loop keep a part of the tile (a sliding window at work)? */
static bool slides(const struct view *v)
{
    for (int l = 0; l < v->mapping->n_level; l++) {
        struct move_loop loop[64];
        uint32_t extent[PROBLEM_DIM_MAX], n = outer_moves(v, l, loop);
        int64_t far_move[PROBLEM_RANK_MAX];
        tile_extents(v, l, extent);
        for (uint32_t r = 0; r < PROBLEM_RANK_MAX; r++)
            far_move[r] = INT32_MAX;
        if (!(v->mapping->level[l].keep >> v->t & 1u) || n == 0 ||
            v->mapping->level[l].no_temporal_reuse >> v->t & 1u)
            continue;
        uint64_t moved = new_words(v, extent, loop[0].move);
        if (moved > 0 && moved < new_words(v, extent, far_move))
            return true;
    }
    return false;
}

/* ---------------------------------------- the comparison */

struct tally {
    long n_tensor, n_slide, n_more, n_less;
    double most, least; /* words moved by the model / by the executor */
};

/* All words that a tensor moves anywhere; compares every count. */
static bool compare_counts(const struct evaluation_detail *model, const struct executor_result *truth,
                           uint32_t n_level, uint32_t t, double *model_words, double *true_words)
{
    bool equal = true;
    *model_words = *true_words = 0;
    for (uint32_t l = 0; l < n_level; l++) {
        const struct tensor_counts *a = &model->level[l].tensor[t];
        const struct executor_counts *b = &truth->count[l][t];
        uint64_t n = a->instances_used;
        equal = equal && a->reads * n == b->reads && a->fills * n == b->fills && a->updates * n == b->updates;
        *model_words += (double)((a->reads + a->fills + a->updates) * n);
        *true_words += (double)(b->reads + b->fills + b->updates);
    }
    return equal;
}

static void compare_tensor(const struct view *v, const struct evaluation_detail *model,
                           const struct executor_result *truth, uint64_t which, struct tally *tally)
{
    double model_words, true_words;
    enum cause cause = find_cause(v);
    struct tally *own = &tally[cause];
    bool equal = compare_counts(model, truth, v->mapping->n_level, v->t, &model_words, &true_words);
    if (cause == EXACT && !equal)
        fail_msg("case %d (%s): %s differs where it must not", (int)which, v->problem->name, v->tensor->name);
    own->n_tensor++;
    own->n_slide += slides(v);
    own->n_more += model_words > true_words;
    own->n_less += model_words < true_words;
    own->most = own->most > model_words / true_words ? own->most : model_words / true_words;
    own->least = own->least < model_words / true_words ? own->least : model_words / true_words;
    /* Even where the model errs it never moves less than each word once (docs/lower-bounds.md). */
    for (uint32_t l = 0; l < v->mapping->n_level && !v->tensor->read_write; l++) {
        const struct tensor_counts *a = &model->level[l].tensor[v->t];
        if (a->keep && truth->count[l][v->t].fills > 0)
            assert_true(a->fills * a->instances_used >= truth->count[l][v->t].first);
    }
}

static void run_case(uint64_t which, struct arena *arena, struct tally *tally)
{
    struct random_stream stream = random_stream_make(SEED, which, RANDOM_TEST);
    struct random_case_options options = {.roles = which % 2};
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct evaluator *evaluator;
    struct evaluation_detail model;
    struct executor_result truth;
    struct dse_error err;
    random_case_problem(&stream, MACS_MAX, &problem);
    random_case_architecture(&stream, &options, &arch);
    random_case_mapping(&stream, &problem, &arch, true, &mapping);
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_OK);
    assert_int_equal(evaluator_detail(evaluator, &mapping, arena, &model, &err), DSE_OK);
    assert_int_equal(model.total.fit.what, FITS);
    assert_int_equal(executor_run(&problem, &mapping, which, arena, &truth, &err), DSE_OK);
    assert_true(truth.each_mac_once);
    assert_true(truth.output_is_right);
    for (uint32_t t = 0; t < problem.n_tensor; t++) {
        const struct view view = {&problem, &mapping, t, &problem.tensor[t]};
        compare_tensor(&view, &model, &truth, which, tally);
    }
    evaluator_delete(evaluator);
    arena_reset(arena);
}

/* The figures printed here are those of docs/cost-model-exactness.md. */
static void test_executor_agrees_with_the_model_where_it_is_exact(void **state)
{
    (void)state;
    struct tally tally[N_CAUSE];
    struct arena arena;
    arena_init(&arena);
    for (int c = 0; c < N_CAUSE; c++)
        tally[c] = (struct tally){.most = 0, .least = 1e300};
    for (uint64_t i = 0; i < N_CASE; i++)
        run_case(i, &arena, tally);
    arena_free(&arena);
    for (int c = 0; c < N_CAUSE; c++)
        print_message("%-30s %6ld tensors, %5ld with a sliding window; model moves more %4ld, less %4ld; "
                      "model / true from %.3f to %.3f\n",
                      cause_text[c], tally[c].n_tensor, tally[c].n_slide, tally[c].n_more, tally[c].n_less,
                      tally[c].least, tally[c].most);
    assert_true(tally[EXACT].n_tensor >= 5000);
    assert_true(tally[EXACT].n_slide >= 100);
    for (int c = EXACT + 1; c < N_CAUSE; c++)
        assert_true(tally[c].n_tensor > 0);
}

/* ---------------------------------------- hand counts */

/* conv1d K=4 P=8 R=3 on two levels; the inner one holds R=3 P=2 (input tile 4 words), the loops of the outer
 * one are given innermost first. */
struct slide_case {
    const char *order; /* letters of "KPR" */
    uint32_t k;        /* bound of K, all outside */
    uint64_t fills;    /* of the inputs at the inner level */
};

static void test_executor_counts_sliding_windows_by_hand(void **state)
{
    (void)state;
    /* P innermost, K outside: 4 sweeps of 4 + 7 * 2 (Timeloop agrees, docs/cost-model.md, "Temporal
     * reuse"). K inside P: the tile stays while K runs, so one sweep, the 18 words of the input; Timeloop
     * charges 8 whole tiles, 32. Without K: 18. */
    static const struct slide_case known[] = {{"PKR", 4, 72}, {"KPR", 4, 18}, {"KPR", 1, 18}};
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const uint32_t bound[] = {known[i].k, 16, 3};
        struct problem problem;
        struct mapping mapping = {.n_level = 2, .n_dim = 3};
        struct executor_result truth;
        struct dse_error err;
        random_case_dims(&problem, "conv1d", "KPR", bound);
        random_case_tensor(&problem, "Weights", TENSOR_WEIGHT, "K R");
        random_case_tensor(&problem, "Inputs", TENSOR_INPUT, "P+R");
        random_case_tensor(&problem, "Outputs", TENSOR_OUTPUT, "K P");
        for (uint32_t l = 0; l < 2; l++) {
            mapping.level[l] =
                (struct mapping_level){{1, 1, 1}, {1, 1, 1}, {0, 1, 2}, {0, 1, 2}, .keep = 7, .split = 3};
            for (uint8_t k = 0; k < 3; k++)
                mapping.level[l].temporal_order[k] =
                    (uint8_t)problem_find_dim(&problem, (char[]){known[i].order[k], 0});
        }
        mapping.level[0].temporal[1] = 2;
        mapping.level[0].temporal[2] = 3;
        mapping.level[1].temporal[0] = known[i].k;
        mapping.level[1].temporal[1] = 8;
        assert_int_equal(executor_run(&problem, &mapping, 1, &arena, &truth, &err), DSE_OK);
        assert_true(truth.each_mac_once && truth.output_is_right);
        assert_int_equal(truth.count[0][1].fills, known[i].fills);
        assert_int_equal(truth.count[1][1].reads, known[i].fills);
        assert_int_equal(truth.count[0][1].reads, problem_macs(&problem));
        assert_int_equal(truth.count[1][1].fills, 0);
        /* outputs: each of the K * 16 words stays until it is done, so it goes out once and never comes
         * back */
        assert_int_equal(truth.count[0][2].fills, 0);
        assert_int_equal(truth.count[1][2].updates, 16 * known[i].k);
        assert_int_equal(truth.count[1][2].reads, 0);
        arena_reset(&arena);
    }
    arena_free(&arena);
}

/* Where the model is known to differ, by hand (docs/cost-model.md, "Temporal reuse"): tile R=2 P=2, loops
 * R=3 inside P=4. Timeloop says 28; in truth P's advance goes from words 4..6 back to 2..4, where word 4
 * is still there: 3 + 4 * 2 * 2 + 3 * 2 = 25. */
static void test_executor_knows_the_true_walk(void **state)
{
    (void)state;
    const uint32_t bound[] = {1, 8, 6};
    struct problem problem;
    struct mapping mapping = {.n_level = 2, .n_dim = 3};
    struct executor_result truth;
    struct dse_error err;
    struct arena arena;
    arena_init(&arena);
    random_case_dims(&problem, "conv1d", "KPR", bound);
    random_case_tensor(&problem, "Weights", TENSOR_WEIGHT, "K R");
    random_case_tensor(&problem, "Inputs", TENSOR_INPUT, "P+R");
    random_case_tensor(&problem, "Outputs", TENSOR_OUTPUT, "K P");
    for (uint32_t l = 0; l < 2; l++)
        mapping.level[l] =
            (struct mapping_level){{1, 2, 2}, {1, 1, 1}, {2, 1, 0}, {0, 1, 2}, .keep = 7, .split = 3};
    mapping.level[1].temporal[1] = 4;
    mapping.level[1].temporal[2] = 3;
    assert_int_equal(executor_run(&problem, &mapping, 1, &arena, &truth, &err), DSE_OK);
    assert_int_equal(truth.count[0][1].fills, 25);
    assert_int_equal(truth.count[0][1].first, 13);
    arena_free(&arena);
}

static void test_executor_refuses_what_it_cannot_run(void **state)
{
    (void)state;
    const uint32_t bound[] = {4, 4, 4};
    struct problem problem;
    struct mapping mapping = {.n_level = 1, .n_dim = 3};
    struct executor_result truth;
    struct dse_error err;
    struct arena arena;
    arena_init(&arena);
    random_case_dims(&problem, "gemm", "MNK", bound);
    random_case_tensor(&problem, "A", TENSOR_INPUT, "M K");
    random_case_tensor(&problem, "Weights", TENSOR_WEIGHT, "K N");
    random_case_tensor(&problem, "Z", TENSOR_OUTPUT, "M N");
    mapping.level[0] =
        (struct mapping_level){{4, 4, 2}, {1, 1, 1}, {0, 1, 2}, {0, 1, 2}, .keep = 7, .split = 3};
    assert_int_equal(executor_run(&problem, &mapping, 1, &arena, &truth, &err), DSE_BAD_INPUT);
    mapping.level[0].temporal[2] = 4;
    mapping.level[0].keep = 3;
    assert_int_equal(executor_run(&problem, &mapping, 1, &arena, &truth, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "Z is kept on no level");
    problem.bound[0] = mapping.level[0].temporal[0] = 1u << 20;
    assert_int_equal(executor_run(&problem, &mapping, 1, &arena, &truth, &err), DSE_LIMIT);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_executor_agrees_with_the_model_where_it_is_exact),
        cmocka_unit_test(test_executor_counts_sliding_windows_by_hand),
        cmocka_unit_test(test_executor_knows_the_true_walk),
        cmocka_unit_test(test_executor_refuses_what_it_cannot_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
